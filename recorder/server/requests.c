#include "server/requests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"
#include "server/clocks.h"
#include "server/hang_thread.h"
#include "server/measure.h"
#include "server/probe_guard.h"

/* --- replies --- */

static void put_numbers(struct reply *reply, const struct recording_numbers *numbers)
{
    reply->records = numbers->records;
    reply->lost = numbers->lost;
    reply->stacks_lost = numbers->stacks_lost;
    reply->bytes = numbers->bytes;
    reply->emitted = numbers->emitted;
    reply->ring_bytes = numbers->ring_bytes;
    reply->duration_ns = numbers->duration_ns;
    reply->oldest_ns = numbers->oldest_ns;
    reply->newest_ns = numbers->now_ns;
}

static void put_path(struct reply *reply, const struct recording *recording)
{
    bool gone;
    recording_path(recording, reply->text, sizeof(reply->text), &gone);
    reply->file_gone = gone;
}

static void put_overhead(struct reply *reply, const struct server *server)
{
    struct recording_overhead overhead = recording_overhead(server->recording);
    reply->max_overhead = server->started_with.max_overhead;
    reply->overhead = overhead.share;
    reply->left_out = overhead.left_out;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        reply->left_ns[i] = overhead.left_ns[i];
}

struct reply reply_make(const struct server *server, uint16_t verb)
{
    struct reply reply = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .verb = verb,
        .recorder_pid = (uint32_t)getpid(),
        .own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
        .waiting_ns = server->recording ? recording_waiting_ns(server->recording) : 0,
    };
    if (!server->recording)
        return reply;
    struct recording_numbers numbers = recording_numbers(server->recording);
    put_numbers(&reply, &numbers);
    reply.own_cpu_ns += recording_writer_cpu_ns(server->recording);
    reply.mode = recording_mode(server->recording);
    reply.cpu_count = recording_cpu_count(server->recording);
    reply.starter_uid = server->started_by.uid;
    reply.starter_pid = (uint32_t)server->started_by.pid;
    reply.started_wall_ns = server->started_wall_ns;
    reply.categories = server->started_with.categories;
    reply.rate_hz = server->started_with.rate_hz;
    reply.start_cpu_ns = server->start_cpu_ns;
    reply.hang_ms = server->started_with.hang_ms;
    reply.file_ring_bytes = server->started_with.file_ring_bytes;
    reply.backend = recording_backend(server->recording)->ops->kind;
    reply.failed = server->failure != NULL;
    put_overhead(&reply, server);
    reply.key.is_kept = server->started_with.key.is_kept;
    if (server->hangs)
        reply.hangs_seen =
            hang_watch_seen(server->hangs) + hang_watch_doubts(server->hangs) - server->no_hangs;
    reply.hang_files = server->hang_files;
    if (server->hangs && server->watcher)
        reply.hangs_pending =
            hang_watch_waiting(server->hangs) + server->watcher_is_busy + server->hangs_taken;
    reply.watcher_pid = server->watcher ? (uint32_t)server->watcher->who.pid : 0;
    const char *const *notes;
    reply.note_count = (uint32_t)recording_notes(server->recording, &notes);
    return reply;
}

/* Takes ownership of `error`, which may be NULL. */
bool reply_send(struct client *client, struct reply *reply, struct argus_error *error)
{
    if (error) {
        reply->error = 1 + (uint32_t)error->code;
        snprintf(reply->text, sizeof(reply->text), "%s", error->message);
        argus_error_destroy(error);
    }
    struct argus_error *failed = message_send(client->fd, reply, sizeof(*reply), -1);
    argus_error_destroy(failed);
    return !failed;
}

/* --- requests --- */

static const char *mode_text(enum recording_mode mode)
{
    return mode == RECORDING_STREAM ? "streaming to a file through a ring"
           : mode == RECORDING_RING ? "into a ring file through a ring"
                                    : "ring in memory";
}

static struct argus_error *busy_error(const struct server *server)
{
    char since[16];
    time_t seconds = (time_t)(server->started_wall_ns / 1000000000u);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(since, sizeof(since), "%H:%M:%S", &local);
    struct recording_numbers numbers = recording_numbers(server->recording);
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "already recording since %s, started by uid %u, pid %d (%s, %llu MB)",
                              since, server->started_by.uid, server->started_by.pid,
                              mode_text(recording_mode(server->recording)),
                              (unsigned long long)(numbers.ring_bytes >> 20));
}

/* Each handler may take what was handed with the request, and may change `reply`, which holds the
 * numbers. */

int handed_take(struct handed *handed, const struct client *client)
{
    char bytes[sizeof(struct request) + 1];
    size_t length;
    int fd = handed->fd;
    if (handed->message)
        argus_error_destroy(message_receive(client->fd, bytes, sizeof(bytes), &length, &fd));
    *handed = (struct handed){.fd = -1};
    return fd;
}

void handed_drop(struct handed *handed, const struct client *client)
{
    if (handed->message)
        platform_drop(client->fd);
    if (handed->fd >= 0)
        close(handed->fd);
    *handed = (struct handed){.fd = -1};
}

/* Hands the file to a process that writes it; see outlet.h. */
static struct argus_error *open_outlet(struct server *server, struct client *client,
                                       struct handed *handed, struct outlet **ret)
{
    const struct outlet_waiter waiter = {server_wait, server};
    const struct outlet_source source = {
        .socket = handed->message ? client->fd : -1,
        .fd = handed->fd,
    };
    *handed = (struct handed){.fd = -1};
    return outlet_create(&source, client->who.uid, &waiter, ret);
}

static struct argus_error *failed_error(const struct server *server)
{
    return argus_error_create(server->failure->code, "the recording has ended: %s (argus stop)",
                              server->failure->message);
}

static struct argus_error *check_start(const struct server *server, const struct request *request,
                                       bool with_fd)
{
    if (server->failure)
        return failed_error(server);
    if (server->recording)
        return busy_error(server);
    if (request->start.mode == RECORDING_MEMORY)
        return with_fd ? argus_error_create(ARGUS_ERROR_USAGE,
                                            "a recording into memory takes no output file")
                       : hangs_check(&request->start);
    return with_fd ? NULL
                   : argus_error_create(ARGUS_ERROR_USAGE, "a recording needs an output file");
}

/* A copied stack takes one or two KB. A busy desktop has some hundred new ones a second, and
 * 100,000 records of 64 bytes. */
#define SNAPSHOT_SHARE_OF_RING 8

static struct backend_options backend_options_of(const struct request_start *start)
{
    struct backend_options options = {
        .kind = (enum backend_kind)start->backend,
        .ring_bytes = start->ring_bytes,
        .rate_hz = start->rate_hz,
        .categories = start->categories,
        .watch_polls = start->hang_ms != 0,
        .call_stacks = start->call_stacks != 0,
        .late_ns = start->late_ns,
        .may_leave_out = start->max_overhead != 0,
        .snapshot_bytes =
            start->mode == RECORDING_STREAM ? 0 : start->ring_bytes / SNAPSHOT_SHARE_OF_RING,
        .unwind_bytes = start->unwind_bytes,
        .unwind_count = start->unwind_count,
    };
    for (uint32_t i = 0; i < start->unwind_count; i++) {
        options.unwind[i].pid = start->unwind_pids[i];
        memcpy(options.unwind[i].name, start->unwind_names[i], PROTOCOL_COMM_BYTES);
    }
    return options;
}

/* Root, and one other user at most, can send something. */
static void note_client(struct server *server, const struct client *client)
{
    if (client->who.uid)
        server->probes.client = client->who.uid;
}

/* A probe, or a sentence about one that cannot be attached: only before the recording begins. */
static struct argus_error *handle_probe(struct server *server, struct client *client,
                                        const struct request *request, struct handed *handed,
                                        struct reply *reply)
{
    struct argus_error *error = server->recording ? busy_error(server) : NULL;
    bool probe = request->verb == REQUEST_PROBE;
    (void)reply;
    int fd = !error && probe ? handed_take(handed, client) : -1;
    if (!error && probe && fd < 0)
        error = argus_error_create(ARGUS_ERROR_USAGE, "a probe needs a file");
    if (!error && probe) {
        note_client(server, client);
        return probe_list_add(&server->probes, &request->probe, fd);
    }
    return error ? error : probe_list_add_absent(&server->probes, request->absent.text);
}

static struct argus_error *handle_interpreter(struct server *server, struct client *client,
                                              const struct request *request, struct handed *handed,
                                              struct reply *reply)
{
    (void)handed, (void)reply;
    if (server->recording)
        return busy_error(server);
    note_client(server, client);
    return probe_list_add_interpreter(&server->probes, &request->interpreter);
}

/* With --on-hang system calls are needed: a hang is an event loop that does not poll. */
static uint32_t may_leave_out(const struct request_start *start)
{
    uint32_t kept = CATEGORY_BIT(CATEGORY_SCHED);
    if (start->hang_ms)
        kept |= CATEGORY_BIT(CATEGORY_SYSCALLS) | CATEGORY_BIT(CATEGORY_MESSAGES) |
                CATEGORY_BIT(CATEGORY_PROBES);
    return start->categories & ~kept;
}

/* Takes ownership of `outlet`. */
static struct argus_error *begin_recording(struct server *server, const struct request_start *start,
                                           struct outlet *outlet)
{
    struct backend_options backend_options = backend_options_of(start);
    struct recording_options options = {
        .mode = (enum recording_mode)start->mode,
        .file_ring_bytes = start->file_ring_bytes,
        .codec = (enum argus_codec)start->codec,
        .key = start->key.key,
        .max_overhead = start->max_overhead,
        .may_leave_out = may_leave_out(start),
    };
    backend_options.probes = &server->probes;
    struct backend *backend;
    struct argus_error *error = backend_create(&backend_options, &backend);
    if (!error)
        return recording_create(&options, backend, outlet, &server->recording);
    outlet_destroy(outlet);
    return error;
}

static struct argus_error *handle_start(struct server *server, struct client *client,
                                        const struct request *request, struct handed *handed,
                                        struct reply *reply)
{
    struct outlet *outlet = NULL;
    const struct outlet_waiter waiter = {server_wait, server};
    struct argus_error *error = check_start(server, request, handed->with_fd);
    if (!error)
        error = probe_guard_check(&server->probes, &waiter);
    if (!error && handed->with_fd)
        error = open_outlet(server, client, handed, &outlet);
    if (error)
        return error;
    server->started_by = client->who;
    server->started_wall_ns = clock_ns(CLOCK_REALTIME);
    server->started_with = request->start;
    error = begin_recording(server, &request->start, outlet);
    if (error) {
        server_finish(server);
        return error;
    }
    error = hangs_begin(server);
    if (error) {
        server_finish(server);
        return error;
    }
    server->start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    server->owner = request->flags & REQUEST_OWNED ? client : NULL;
    *reply = reply_make(server, request->verb);
    return NULL;
}

static struct argus_error *check_snapshot(const struct server *server,
                                          const struct request *request, bool with_fd)
{
    if (!server->recording)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "nothing is being recorded: argus start");
    if (recording_mode(server->recording) != RECORDING_MEMORY)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "the recording is already written to a file (started by pid %d)",
                                  server->started_by.pid);
    return with_fd ? file_key_check(&request->key)
                   : argus_error_create(ARGUS_ERROR_USAGE, "a snapshot needs an output file");
}

static struct argus_error *handle_snapshot(struct server *server, struct client *client,
                                           const struct request *request, struct handed *handed,
                                           struct reply *reply)
{
    struct outlet *outlet;
    struct argus_error *error = check_snapshot(server, request, handed->with_fd);
    if (!error)
        error = open_outlet(server, client, handed, &outlet);
    if (error)
        return error;
    struct recording_numbers numbers;
    struct hang_thread looks;
    hang_thread_begin(&looks, server);
    error = recording_snapshot(server->recording, outlet, &request->key.key, &numbers);
    /* The next look fails as well and reports the reason. */
    argus_error_destroy(hang_thread_end(&looks));
    if (!error)
        put_numbers(reply, &numbers);
    return error;
}

static struct argus_error *handle_stop(struct server *server, struct client *client,
                                       const struct request *request, struct handed *handed,
                                       struct reply *reply)
{
    bool with_fd = handed->with_fd;
    if (server->recording && server->owner && server->owner != client)
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "the recording belongs to argus record, pid %d: end that process",
                                  server->started_by.pid);
    struct argus_error *error = NULL;
    if (with_fd)
        error = handle_snapshot(server, client, request, handed, reply);
    if (error)
        return error; /* the ring is the only copy: keep it until a snapshot succeeds */
    server_finish(server);
    if (server->failure)
        return argus_error_create(server->failure->code, "the recording has ended: %s",
                                  server->failure->message);
    if (server->recording)
        error = recording_stop(server->recording);
    if (!with_fd) {
        *reply = reply_make(server, request->verb);
        reply->key = server->started_with.key;
    }
    if (server->recording)
        put_path(reply, server->recording);
    return error;
}

static struct argus_error *handle_status(struct server *server, struct client *client,
                                         const struct request *request, struct handed *handed,
                                         struct reply *reply)
{
    (void)client, (void)request, (void)handed;
    if (!server->recording)
        return NULL;
    put_path(reply, server->recording);
    return measure_rates(recording_backend(server->recording),
                         reply->newest_ns - reply->duration_ns, reply->newest_ns,
                         reply->category_rates);
}

/* Names of --unwind that were never seen. A thread of that name may still appear, so this is
 * computed for each request and is not a permanent note. If a stack was copied, a thread may have
 * had the name for a while: so nothing is reported then if there is only one name, or for a ring
 * file, which forgets threads that ended long ago. */
static bool is_missed(struct server *server, uint32_t index, char *ret, size_t room)
{
    const struct request_start *start = &server->started_with;
    struct name_search search = {.wanted = start->unwind_names[index]};
    if (start->unwind_pids[index])
        return false;
    struct argus_error *error = backend_search_name(recording_backend(server->recording), &search);
    bool unknown = error != NULL || search.found;
    argus_error_destroy(error);
    if (unknown ||
        (search.any_stack && (start->mode == RECORDING_RING || start->unwind_count == 1)))
        return false;
    name_search_write(&search, ret, room);
    return true;
}

/* The note at an index. After the last note come sentences about names of --unwind that were never
 * seen; "" after those. */
static const char *note_text(struct server *server, size_t index, char *room, size_t room_bytes)
{
    const char *const *notes;
    size_t count = recording_notes(server->recording, &notes);
    if (index < count)
        return notes[index];
    return is_missed(server, (uint32_t)(index - count), room, room_bytes) ? room : "";
}

/* As many notes as fit, from request->page.first on, one per line. */
static struct argus_error *handle_notes(struct server *server, struct client *client,
                                        const struct request *request, struct handed *handed,
                                        struct reply *reply)
{
    const char *const *notes;
    size_t count = 0, at = 0, i = request->page.first;
    char missed[256];
    (void)client, (void)handed;
    if (server->recording)
        count = recording_notes(server->recording, &notes) + server->started_with.unwind_count;
    for (; i < count; i++) {
        size_t room = sizeof(reply->text) - at;
        const char *text = note_text(server, i, missed, sizeof(missed));
        int length = snprintf(reply->text + at, room, "%s%s", text, *text ? "\n" : "");
        if (length < 0 || ((size_t)length >= room && reply->count > 0)) {
            reply->text[at] = '\0';
            break;
        }
        at += (size_t)length; /* only a single note longer than the reply is cut off */
        reply->count++;
        if (at >= sizeof(reply->text) - 1 || reply->count == PROTOCOL_PAGE)
            break;
    }
    reply->next = 0;
    if (request->page.first + reply->count < count)
        reply->next = request->page.first + reply->count;
    return NULL;
}

static struct argus_error *handle_cpus(struct server *server, struct client *client,
                                       const struct request *request, struct handed *handed,
                                       struct reply *reply)
{
    uint32_t first = request->page.first;
    (void)client, (void)handed;
    while (reply->count < PROTOCOL_PAGE && first + reply->count < reply->cpu_count) {
        reply->cpus[reply->count] = recording_cpu_numbers(server->recording, first + reply->count);
        reply->count++;
    }
    if (first + reply->count < reply->cpu_count)
        reply->next = first + reply->count;
    return NULL;
}

static struct argus_error *handle_flag_add(struct server *server, struct client *client,
                                           const struct request *request, struct handed *handed,
                                           struct reply *reply)
{
    (void)handed;
    if (!server->recording || server->failure)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "nothing is being recorded: argus start");
    return backend_flag_add(recording_backend(server->recording), &request->flag, client->who.uid,
                            &reply->count);
}

static struct argus_error *handle_flag_remove(struct server *server, struct client *client,
                                              const struct request *request, struct handed *handed,
                                              struct reply *reply)
{
    struct reply_flag flag;
    (void)reply, (void)handed;
    struct backend *backend = server->recording ? recording_backend(server->recording) : NULL;
    if (!backend || !backend_flag_get(backend, request->page.first, &flag))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no flag %u",
                                  request->page.first);
    if (client->who.uid != 0 && client->who.uid != server->started_by.uid)
        return argus_error_create(ARGUS_ERROR_PERMISSION, "the recording belongs to another user");
    return backend_flag_remove(backend, request->page.first);
}

static struct argus_error *handle_flags(struct server *server, struct client *client,
                                        const struct request *request, struct handed *handed,
                                        struct reply *reply)
{
    (void)client, (void)request, (void)handed;
    for (uint32_t i = 1; i <= FLAG_NUMBERS && server->recording; i++)
        if (backend_flag_get(recording_backend(server->recording), i, &reply->flags[reply->count]))
            reply->count++;
    return NULL;
}

/* To add a request: see protocol.h; then a function above, and a row here. */
static struct argus_error *(*const handlers[REQUEST_LAST + 1])(struct server *, struct client *,
                                                               const struct request *,
                                                               struct handed *, struct reply *) = {
    [REQUEST_START] = handle_start,       [REQUEST_STOP] = handle_stop,
    [REQUEST_SNAPSHOT] = handle_snapshot, [REQUEST_STATUS] = handle_status,
    [REQUEST_PROBE] = handle_probe,       [REQUEST_PROBE_ABSENT] = handle_probe,
    [REQUEST_CPUS] = handle_cpus,         [REQUEST_NOTES] = handle_notes,
    [REQUEST_WATCH] = handle_watch,       [REQUEST_WATCHED] = handle_watched,
    [REQUEST_FLAG_ADD] = handle_flag_add, [REQUEST_FLAG_REMOVE] = handle_flag_remove,
    [REQUEST_FLAGS] = handle_flags,       [REQUEST_INTERPRETER] = handle_interpreter,
};

struct argus_error *request_handle(struct server *server, struct client *client,
                                   const struct request *request, struct handed *handed,
                                   struct reply *reply)
{
    *reply = reply_make(server, request->verb);
    if (handlers[request->verb])
        return handlers[request->verb](server, client, request, handed, reply);
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "this recorder does not know request %u",
                              request->verb);
}
