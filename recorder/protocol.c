#include "protocol.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "argus/trace.h"
#include "platform.h"
#include "probe_check.h"

_Static_assert(sizeof(struct request) == 1024, "a request has no hidden padding");
_Static_assert(offsetof(struct request, room) == 16, "a request has no hidden padding");
_Static_assert(sizeof(struct reply) == 512 + FLAG_NUMBERS * sizeof(struct reply_flag),
               "a reply has no hidden padding");

const char *backend_kind_name(enum backend_kind kind)
{
    return kind == BACKEND_BPF      ? "bpf"
           : kind == BACKEND_PERF   ? "perf"
           : kind == BACKEND_KDEBUG ? "kdebug"
                                    : "none";
}

static struct argus_error *check_version(uint32_t magic, uint16_t version)
{
    if (magic != PROTOCOL_MAGIC)
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "the message is not one of Argus: it begins with 0x%08x", magic);
    if (version != PROTOCOL_VERSION)
        return argus_error_create(ARGUS_ERROR_VERSION,
                                  "argus and argus-recorder are of different versions (%u and %u): "
                                  "end the running recorder with the argus that started it",
                                  version, PROTOCOL_VERSION);
    return NULL;
}

static struct argus_error *check_sizes(const struct request_start *start)
{
    if (start->ring_bytes < PROTOCOL_RING_MIN || start->ring_bytes > PROTOCOL_RING_MAX)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a ring of %llu bytes is not possible: choose 1M to 1024G",
                                  (unsigned long long)start->ring_bytes);
    if (start->mode == RECORDING_RING && (start->file_ring_bytes < PROTOCOL_FILE_RING_MIN ||
                                          start->file_ring_bytes > PROTOCOL_FILE_RING_MAX))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a ring file of %llu bytes is not possible: choose 1M or more",
                                  (unsigned long long)start->file_ring_bytes);
    if (start->rate_hz > PROTOCOL_RATE_MAX)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%u samples a second are too many: choose 0 to %u",
                                  start->rate_hz, PROTOCOL_RATE_MAX);
    return NULL;
}

static struct argus_error *check_choices(const struct request_start *start)
{
    if (start->mode < RECORDING_STREAM || start->mode > RECORDING_RING ||
        start->backend >= BACKEND_KIND_COUNT || start->categories & ~CATEGORIES_ALL)
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "invalid request to start: mode %u, backend %u, categories %x",
                                  start->mode, start->backend, start->categories);
    if (!(start->categories & CATEGORY_BIT(CATEGORY_SCHED)))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "sched cannot be switched off: without it nothing can be known");
    if (start->hang_ms && start->mode != RECORDING_MEMORY)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "hangs are kept by snapshots, which need the ring in memory");
    if (start->hang_ms &&
        (start->hang_ms < PROTOCOL_HANG_MIN_MS || start->hang_ms > PROTOCOL_HANG_MAX_MS))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a hang of %u ms cannot be watched for: choose 10 ms to an hour",
                                  start->hang_ms);
    return NULL;
}

static struct argus_error *check_overhead(const struct request_start *start)
{
    if (start->max_overhead > 10000)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "an overhead of %.2f %% is none: choose up to 100 %%",
                                  start->max_overhead / 100.0);
    return NULL;
}

static struct argus_error *check_codec(const struct request_start *start)
{
    if (start->codec && !argus_codec_is_built((enum argus_codec)start->codec))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "cannot pack with %s: this argus-recorder was built without it",
                                  argus_codec_name((enum argus_codec)start->codec));
    return NULL;
}

static struct argus_error *check_stacks(const struct request_start *start)
{
    if (start->call_stacks > 1)
        return argus_error_create(ARGUS_ERROR_FORMAT, "call_stacks must be 0 or 1");
    return NULL;
}

static struct argus_error *check_unwind(const struct request_start *start)
{
    if (start->unwind_count > PROTOCOL_UNWIND_MAX)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%u processes to unwind are too many: choose at most %u",
                                  start->unwind_count, PROTOCOL_UNWIND_MAX);
    if ((start->unwind_count || start->late_ns) &&
        (start->unwind_bytes < PROTOCOL_UNWIND_MIN || start->unwind_bytes > PROTOCOL_UNWIND_LIMIT))
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "%u bytes of a stack cannot be copied: choose an --unwind-size of 1K "
            "to 64K",
            start->unwind_bytes);
    return NULL;
}

static bool has_end(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static struct argus_error *check_names(const struct request_start *start)
{
    bool good = has_end(start->hang_name, sizeof(start->hang_name));
    for (size_t i = 0; i < PROTOCOL_UNWIND_MAX; i++)
        good &= has_end(start->unwind_names[i], sizeof(start->unwind_names[i]));
    return good ? NULL
                : argus_error_create(ARGUS_ERROR_FORMAT, "a name in the request is not terminated");
}

static struct argus_error *check_start(const struct request *request)
{
    const struct request_start *start = &request->start;
    struct argus_error *error = check_sizes(start);
    if (!error)
        error = check_choices(start);
    if (!error)
        error = check_overhead(start);
    if (!error)
        error = check_codec(start);
    if (!error)
        error = check_unwind(start);
    if (!error)
        error = check_stacks(start);
    if (!error && start->mode != RECORDING_MEMORY)
        error = file_key_check(&start->key);
    return error ? error : check_names(start);
}

/* The key of a file; a build without a cipher copies no stacks. */
struct argus_error *file_key_check(const struct file_key *key)
{
    if (!argus_snapshot_key_is_built() || argus_snapshot_key_is_set(&key->key))
        return NULL;
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "invalid request: it has no key for the copied stacks of its file");
}

static struct argus_error *check_watched(const struct request *request)
{
    const struct request_watched *watched = &request->watched;
    if (watched->outcome >= WATCHED_OUTCOMES)
        return argus_error_create(ARGUS_ERROR_FORMAT, "a hang has no outcome with number %u",
                                  watched->outcome);
    return has_end(watched->reason, sizeof(watched->reason))
               ? NULL
               : argus_error_create(ARGUS_ERROR_FORMAT,
                                    "a reason in the request is not terminated");
}

static struct argus_error *check_probe(const struct request *request)
{
    return probe_request_check(&request->probe);
}

static struct argus_error *check_absent(const struct request *request)
{
    return has_end(request->absent.text, sizeof(request->absent.text))
               ? NULL
               : argus_error_create(ARGUS_ERROR_FORMAT,
                                    "a sentence in the request is not terminated");
}

/* A client may watch a flag only in a process of its own user, which the server checks. */
static struct argus_error *check_flag(const struct request *request)
{
    const struct request_flag *flag = &request->flag;
    bool size = flag->bytes == 1 || flag->bytes == 2 || flag->bytes == 4 || flag->bytes == 8;
    bool plan = !flag->pid;
    if (!has_end(flag->label, sizeof(flag->label)) || !has_end(flag->image, sizeof(flag->image)) ||
        flag->pid > INT32_MAX || flag->access < FLAG_WRITES ||
        flag->access > FLAG_READS_AND_WRITES || flag->semantics >= ARGUS_FLAG_SEMANTICS ||
        flag->step_count > FLAG_STEPS || flag->build_id_bytes > sizeof(flag->build_id) ||
        plan != (flag->image[0] != '\0'))
        return argus_error_create(ARGUS_ERROR_FORMAT, "invalid request: no such variable");
    if (!size)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%u bytes cannot be watched: choose 1, 2, 4 or 8", flag->bytes);
    if (!plan && !flag->step_count && flag->address % flag->bytes)
        return argus_error_create(
            ARGUS_ERROR_USAGE, "0x%llx is not aligned: %u bytes can be watched at multiples of %u",
            (unsigned long long)flag->address, flag->bytes, flag->bytes);
    return NULL;
}

static struct argus_error *check_interpreter(const struct request *request)
{
    const struct interpreter_spec *spec = &request->interpreter;
    bool good = has_end(spec->image, sizeof(spec->image)) && spec->image[0] &&
                spec->build_id_bytes <= sizeof(spec->build_id) &&
                spec->layout.kind < INTERPRETER_KINDS;
    return good ? NULL
                : argus_error_create(ARGUS_ERROR_FORMAT,
                                     "invalid request: it names no file of an interpreter");
}

/* Checks beyond size, version and verb; a row for each verb with contents. */
static struct argus_error *(*const checks[REQUEST_LAST + 1])(const struct request *) = {
    [REQUEST_START] = check_start,   [REQUEST_WATCHED] = check_watched,
    [REQUEST_PROBE] = check_probe,   [REQUEST_PROBE_ABSENT] = check_absent,
    [REQUEST_FLAG_ADD] = check_flag, [REQUEST_INTERPRETER] = check_interpreter,
};

struct argus_error *request_parse(const void *bytes, size_t length, struct request *ret)
{
    struct request request;
    if (length != sizeof(request))
        return argus_error_create(ARGUS_ERROR_FORMAT, "a request must have %zu bytes, but has %zu",
                                  sizeof(request), length);
    memcpy(&request, bytes, sizeof(request));
    struct argus_error *error = check_version(request.magic, request.version);
    if (error)
        return error;
    if (request.verb < REQUEST_START || request.verb > REQUEST_LAST)
        return argus_error_create(ARGUS_ERROR_FORMAT, "there is no request %u", request.verb);
    if (checks[request.verb])
        error = checks[request.verb](&request);
    if (!error)
        *ret = request;
    return error;
}

struct argus_error *reply_parse(const void *bytes, size_t length, struct reply *ret)
{
    struct reply reply;
    if (length != sizeof(reply))
        return argus_error_create(ARGUS_ERROR_FORMAT, "a reply must have %zu bytes, but has %zu",
                                  sizeof(reply), length);
    memcpy(&reply, bytes, sizeof(reply));
    struct argus_error *error = check_version(reply.magic, reply.version);
    if (error)
        return error;
    if (reply.error > 1 + ARGUS_ERROR_QUESTION || reply.mode > RECORDING_RING ||
        reply.cpu_count > 65536 || reply.count > PROTOCOL_PAGE)
        return argus_error_create(ARGUS_ERROR_FORMAT, "invalid reply: error %u, mode %u",
                                  reply.error, reply.mode);
    reply.text[sizeof(reply.text) - 1] = '\0';
    *ret = reply;
    return NULL;
}

/* Room for one descriptor, aligned as the kernel wants it. */
union one_fd {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

struct argus_error *message_send(int socket, const void *bytes, size_t length, int fd)
{
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
    union one_fd control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    ssize_t sent;
    do
        sent = platform_send(socket, &message);
    while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return argus_error_os(errno, "cannot send over the recorder's socket");
    return NULL;
}

/* Keeps the first descriptor of `message` and closes all others. */
static int take_fds(struct msghdr *message)
{
    int kept = -1;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(header) + i * sizeof(fd), sizeof(fd));
            if (kept < 0)
                kept = fd;
            else
                close(fd);
        }
    }
    return kept;
}

struct argus_error *message_receive(int socket, void *bytes, size_t room, size_t *ret_length,
                                    int *ret_fd)
{
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    union one_fd control;
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    ssize_t length;
    do
        length = platform_receive(socket, &message);
    while (length < 0 && errno == EINTR);
    if (length < 0 && errno != ECONNRESET)
        return argus_error_os(errno, "cannot receive from the recorder's socket");
    *ret_length = length > 0 ? (size_t)length : 0;
    *ret_fd = length < 0 ? -1 : take_fds(&message);
    return NULL;
}

struct argus_error *message_peek(int socket, void *bytes, size_t room, size_t *ret_length,
                                 bool *ret_with_fd)
{
    ssize_t length;
    do
        length = platform_peek(socket, bytes, room, ret_with_fd);
    while (length < 0 && errno == EINTR);
    if (length < 0 && errno == ENOTSUP)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "a message cannot be left in a socket");
    if (length < 0 && errno != ECONNRESET)
        return argus_error_os(errno, "cannot receive from the recorder's socket");
    *ret_length = length > 0 ? (size_t)length : 0;
    return NULL;
}
