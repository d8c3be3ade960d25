#include "client/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/launch.h"
#include "control_place.h"
#include "platform.h"
#include "protocol.h"
#if defined(__linux__)
#include "linux/host_header.h"
#endif

struct recorder_client {
    int fd;
    struct reply_hang hang; /* arrived while the client waited for another reply */
    bool has_hang;
};

/* The socket belongs to the user who started the recorder. Other users cannot tell whether a
 * recorder still listens. */
static struct argus_error *not_allowed(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return argus_error_os(errno, "cannot connect to %s", path);
    return argus_error_create(
        ARGUS_ERROR_PERMISSION,
        "the recorder serves only root and uid %u, who started it; run argus with "
        "sudo",
        status.st_uid);
}

/* Connects to the recorder that runs as `uid`. */
static struct argus_error *connect_socket(uid_t uid, int *ret_fd)
{
    const struct control_place place = control_place(uid);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", place.socket);
    int fd = platform_socket();
    if (fd < 0)
        return argus_error_os(errno, "cannot make a socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
        *ret_fd = fd;
        return NULL;
    }
    int failed = errno;
    close(fd);
    if (failed == ENOENT || failed == ECONNREFUSED)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no recorder is running: argus start begins a recording");
    if (failed == EACCES)
        return not_allowed(place.socket);
    return argus_error_os(failed, "cannot connect to %s", place.socket);
}

struct argus_error *recorder_connect(struct recorder_client **ret)
{
    int fd = -1;
    struct argus_error *error = connect_socket(geteuid(), &fd);
    if (error && geteuid() != 0) {
        argus_error_destroy(error);
        error = connect_socket(0, &fd);
    }
    if (error)
        return error;
    struct recorder_client *client = calloc(1, sizeof(*client));
    if (!client) {
        close(fd);
        return argus_error_memory();
    }
    client->fd = fd;
    *ret = client;
    return NULL;
}

/* Sends a START, which the running recorder refuses: its error says since when it runs and who
 * started it. */
static struct argus_error *refuse_second(struct recorder_client *client)
{
    struct recorder_status status = {0};
    struct argus_error *error = recorder_status(client, &status);
    if (!error && status.mode == RECORDER_IDLE)
        error = argus_error_create(ARGUS_ERROR_BUSY,
                                   "another argus is just starting the recorder (pid %d)",
                                   status.recorder_pid);
    if (error)
        return error;
    struct recorder_options options = RECORDER_OPTIONS_MEMORY;
    error = recorder_start(client, &options, -1, &status);
    return error ? error : argus_error_create(ARGUS_ERROR_BUSY, "a recorder is running already");
}

struct argus_error *recorder_launch(struct recorder_client **ret)
{
    struct recorder_client *running = NULL;
    struct argus_error *error = recorder_connect(&running);
    if (running) {
        error = refuse_second(running);
        recorder_close(running);
        return error;
    }
    if (error->code != ARGUS_ERROR_NOT_FOUND && error->code != ARGUS_ERROR_PERMISSION)
        return error;
    argus_error_destroy(error);
    error = launch_recorder(); /* which checks whether another user's recorder still runs */
    return error ? error : recorder_connect(ret);
}

void recorder_close(struct recorder_client *client)
{
    if (!client)
        return;
    close(client->fd);
    free(client);
}

int recorder_poll_fd(const struct recorder_client *client)
{
    return client->fd;
}

static void status_from_reply(const struct reply *reply, struct recorder_status *ret)
{
    *ret = (struct recorder_status){
        .mode = (enum recorder_mode)reply->mode,
        .starter_uid = reply->starter_uid,
        .starter_pid = (pid_t)reply->starter_pid,
        .recorder_pid = (pid_t)reply->recorder_pid,
        .watcher_pid = (pid_t)reply->watcher_pid,
        .cpu_count = reply->cpu_count,
        .started_wall_ns = reply->started_wall_ns,
        .duration_ns = reply->duration_ns,
        .ring_bytes = reply->ring_bytes,
        .file_ring_bytes = reply->file_ring_bytes,
        .records = reply->records,
        .lost = reply->lost,
        .stacks_lost = reply->stacks_lost,
        .bytes = reply->bytes,
        .emitted = reply->emitted,
        .own_cpu_ns = reply->own_cpu_ns,
        .start_cpu_ns = reply->start_cpu_ns,
        .oldest_ns = reply->oldest_ns,
        .newest_ns = reply->newest_ns,
        .categories = reply->categories,
        .backend = (enum backend_kind)reply->backend,
        .rate_hz = reply->rate_hz,
        .hang_ms = reply->hang_ms,
        .hangs_seen = reply->hangs_seen,
        .hangs_pending = reply->hangs_pending,
        .hang_files = reply->hang_files,
        .file_gone = reply->file_gone != 0,
        .failed = reply->failed != 0,
        .waiting_ns = reply->waiting_ns,
        .max_overhead = reply->max_overhead,
        .overhead = reply->overhead,
        .left_out = reply->left_out,
        .key = reply->key.key,
        .key_is_kept = reply->key.is_kept != 0,
    };
    if (reply->verb == REQUEST_STATUS || reply->verb == REQUEST_STOP)
        memcpy(ret->path, reply->text, sizeof(ret->path));
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        ret->category_rates[i] = reply->category_rates[i];
        ret->left_ns[i] = reply->left_ns[i];
    }
}

/* The recorder answers at once, also while its file system is stuck (outlet.h). Attaching, and
 * packing a large ring, take long. */
#define PATIENCE_MS      20000
#define PATIENCE_LONG_MS 600000

static int patience_ms(uint16_t verb)
{
    bool is_long = verb == REQUEST_START || verb == REQUEST_STOP || verb == REQUEST_SNAPSHOT;
    return is_long ? PATIENCE_LONG_MS : PATIENCE_MS;
}

static struct argus_error *wait_for_reply(const struct recorder_client *client, int ms)
{
    struct pollfd polled = {.fd = client->fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&polled, 1, ms);
    while (ready < 0 && errno == EINTR);
    if (ready != 0)
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_IO,
        "the recorder (pid %d) has not answered for %d s: 'sudo kill %d' ends "
        "it",
        (int)platform_acceptor(client->fd), ms / 1000, (int)platform_acceptor(client->fd));
}

/* Reads one reply. An error that the reply carries is in `ret`, not in the result. */
static struct argus_error *receive_reply(struct recorder_client *client, struct reply *ret)
{
    char bytes[sizeof(struct reply) + 1];
    size_t length = 0;
    int fd = -1;
    struct argus_error *error = message_receive(client->fd, bytes, sizeof(bytes), &length, &fd);
    if (fd >= 0)
        close(fd); /* the recorder never sends one */
    if (!error && length == 0)
        error = argus_error_create(ARGUS_ERROR_IO, "the recorder has ended without an answer");
    return error ? error : reply_parse(bytes, length, ret);
}

static struct argus_error *receive_within(struct recorder_client *client, int ms, struct reply *ret)
{
    struct argus_error *error = wait_for_reply(client, ms);
    return error ? error : receive_reply(client, ret);
}

/* After a package upgrade the running recorder is older than this argus and may not understand a
 * request. So a signal ends it. */
static struct argus_error *name_recorder(const struct recorder_client *client,
                                         struct argus_error *error)
{
    int pid = (int)platform_acceptor(client->fd);
    if (!error || error->code != ARGUS_ERROR_VERSION || pid <= 0)
        return error;
    argus_error_destroy(error);
    return argus_error_create(ARGUS_ERROR_VERSION,
                              "the running recorder, process %d, is from another version of argus: "
                              "'sudo kill %d' ends it; records that are only in memory are lost",
                              pid, pid);
}

/* If `reply` is a hang and not an answer, keeps it for recorder_next_hang(). The recorder may
 * report the next hang before the watcher has finished earlier ones. */
static bool take_hang(struct recorder_client *client, const struct request *request,
                      const struct reply *reply)
{
    if (request->verb != REQUEST_WATCHED || reply->verb != REQUEST_WATCH || reply->error)
        return false;
    client->hang = reply->hang;
    client->has_hang = true;
    return true;
}

/* A recorder that has failed sends the reason unasked and closes. Sending then fails with EPIPE,
 * but the reply can be read. If there is none, the recorder was killed, and what was received says
 * so. */
static struct argus_error *ask_for(struct recorder_client *client, const struct request *request,
                                   int fd, struct reply *ret)
{
    struct argus_error *sent = message_send(client->fd, request, sizeof(*request), fd);
    struct argus_error *received;
    do
        received = receive_within(client, patience_ms(request->verb), ret);
    while (!received && take_hang(client, request, ret));
    argus_error_destroy(sent);
    if (received)
        return name_recorder(client, received);
    if (ret->error)
        return name_recorder(
            client, argus_error_create((enum argus_error_code)(ret->error - 1), "%s", ret->text));
    return NULL;
}

static struct argus_error *ask(struct recorder_client *client, const struct request *request,
                               int fd, struct recorder_status *ret)
{
    struct reply reply;
    struct argus_error *error = ask_for(client, request, fd, &reply);
    if (!error)
        status_from_reply(&reply, ret);
    return error;
}

static struct request make_request(enum request_verb verb)
{
    return (struct request){
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .verb = (uint16_t)verb};
}

static void put_unwind(const struct recorder_options *options, struct request_start *start)
{
    start->unwind_count = options->unwind_count;
    start->unwind_bytes = options->unwind_bytes;
    start->late_ns = options->late_ns;
    for (uint32_t i = 0; i < options->unwind_count && i < PROTOCOL_UNWIND_MAX; i++) {
        start->unwind_pids[i] = options->unwind[i].pid;
        memcpy(start->unwind_names[i], options->unwind[i].name, PROTOCOL_COMM_BYTES);
    }
}

/* The key of the file `fd`. It is kept before the recorder gets it, and thus before anything is
 * written. */
static struct argus_error *make_key(int fd, struct file_key *ret)
{
    if (fd < 0 || !argus_snapshot_key_is_built())
        return NULL;
    struct argus_error *error = argus_snapshot_key_make(&ret->key);
    if (!error)
        ret->is_kept = argus_snapshot_key_keep(&ret->key);
    return error;
}

/* Of a file with nothing in it. */
static struct argus_error *forget_after(struct argus_error *error, const struct file_key *key)
{
    if (error)
        argus_snapshot_key_forget(&key->key);
    return error;
}

struct argus_error *recorder_start(struct recorder_client *client,
                                   const struct recorder_options *options, int fd,
                                   struct recorder_status *ret)
{
    struct request request = make_request(REQUEST_START);
    struct request_start *start = &request.start;
    request.flags = options->owned ? REQUEST_OWNED : 0;
    start->mode = options->mode;
    start->ring_bytes = options->ring_bytes;
    start->file_ring_bytes = options->file_ring_bytes;
    start->rate_hz = options->rate_hz;
    start->categories = options->categories;
    start->backend = options->backend;
    start->codec = options->codec;
    start->hang_ms = options->hang_ms;
    start->call_stacks = options->call_stacks;
    start->max_overhead = options->max_overhead;
    memcpy(start->hang_name, options->hang_name, sizeof(start->hang_name));
    put_unwind(options, start);
    struct argus_error *error = make_key(fd, &start->key);
    return error ? error : forget_after(ask(client, &request, fd, ret), &start->key);
}

struct argus_error *recorder_probe(struct recorder_client *client,
                                   const struct request_probe *probe, int fd)
{
    struct request request = make_request(REQUEST_PROBE);
    struct recorder_status status;
    request.probe = *probe;
    return ask(client, &request, fd, &status);
}

struct argus_error *recorder_probe_absent(struct recorder_client *client, const char *text)
{
    struct request request = make_request(REQUEST_PROBE_ABSENT);
    struct recorder_status status;
    snprintf(request.absent.text, sizeof(request.absent.text), "%s", text);
    return ask(client, &request, -1, &status);
}

struct argus_error *recorder_interpreter(struct recorder_client *client,
                                         const struct interpreter_spec *spec)
{
    struct request request = make_request(REQUEST_INTERPRETER);
    struct recorder_status status;
    request.interpreter = *spec;
    return ask(client, &request, -1, &status);
}

#define ASK_AGAIN_MS 100

/* A request that lets the recorder write the file `fd`, if that is not -1. If the recorder is busy,
 * it is asked again for `patience_ms`. */
static struct argus_error *ask_for_file(struct recorder_client *client, uint16_t verb, int fd,
                                        unsigned patience_ms, struct recorder_status *ret)
{
    struct request request = make_request(verb);
    struct argus_error *error = make_key(fd, &request.key);
    if (error)
        return error;
    error = ask(client, &request, fd, ret);
    for (unsigned ms = 0; error && error->code == ARGUS_ERROR_BUSY && ms < patience_ms;
         ms += ASK_AGAIN_MS) {
        argus_error_destroy(error);
        poll(NULL, 0, ASK_AGAIN_MS);
        error = ask(client, &request, fd, ret);
    }
    if (!error && fd >= 0)
        ret->key = request.key.key;
    return forget_after(error, &request.key);
}

struct argus_error *recorder_stop(struct recorder_client *client, int fd,
                                  struct recorder_status *ret)
{
    return ask_for_file(client, REQUEST_STOP, fd, 0, ret);
}

struct argus_error *recorder_snapshot(struct recorder_client *client, int fd, unsigned patience_ms,
                                      struct recorder_status *ret)
{
    return ask_for_file(client, REQUEST_SNAPSHOT, fd, patience_ms, ret);
}

struct argus_error *recorder_status(struct recorder_client *client, struct recorder_status *ret)
{
    struct request request = make_request(REQUEST_STATUS);
    return ask(client, &request, -1, ret);
}

struct argus_error *recorder_flag_add(struct recorder_client *client,
                                      const struct request_flag *wanted, uint32_t *ret_number)
{
    struct request request = make_request(REQUEST_FLAG_ADD);
    struct reply reply;
    request.flag = *wanted;
    struct argus_error *error = ask_for(client, &request, -1, &reply);
    if (!error)
        *ret_number = reply.count;
    return error;
}

struct argus_error *recorder_flag_remove(struct recorder_client *client, uint32_t number)
{
    struct request request = make_request(REQUEST_FLAG_REMOVE);
    struct reply reply;
    request.page.first = number;
    return ask_for(client, &request, -1, &reply);
}

struct argus_error *recorder_flags(struct recorder_client *client,
                                   struct reply_flag ret[FLAG_NUMBERS], size_t *ret_count)
{
    struct request request = make_request(REQUEST_FLAGS);
    struct reply reply;
    struct argus_error *error = ask_for(client, &request, -1, &reply);
    if (error)
        return error;
    *ret_count = reply.count < FLAG_NUMBERS ? reply.count : FLAG_NUMBERS;
    memcpy(ret, reply.flags, *ret_count * sizeof(*ret));
    for (size_t i = 0; i < *ret_count; i++)
        ret[i].label[sizeof(ret[i].label) - 1] = '\0';
    return NULL;
}

/* Appends the text of `reply`; false without memory. */
static bool append_text(char **text, size_t *length, const struct reply *reply)
{
    size_t more = strlen(reply->text);
    char *grown = realloc(*text, *length + more + 1);
    if (!grown)
        return false;
    memcpy(grown + *length, reply->text, more + 1);
    *text = grown;
    *length += more;
    return true;
}

/* A page whose `next` does not advance ends the answer: the loop must end whatever the recorder
 * sends. */
static bool leads_on(const struct request *request, const struct reply *reply)
{
    return reply->next > request->page.first;
}

struct argus_error *recorder_notes(struct recorder_client *client, char **ret)
{
    struct request request = make_request(REQUEST_NOTES);
    struct reply reply;
    size_t length = 0;
    char *text = NULL;
    bool more = true;
    while (more) {
        struct argus_error *error = ask_for(client, &request, -1, &reply);
        if (!error && !append_text(&text, &length, &reply))
            error = argus_error_memory();
        if (error) {
            free(text);
            return error;
        }
        more = leads_on(&request, &reply);
        request.page.first = reply.next;
    }
    *ret = text;
    return NULL;
}

/* The count that the recorder sent, which reply_parse() has checked. */
static void take_cpus(const struct request *request, const struct reply *reply, size_t count,
                      struct recorder_cpu *ret)
{
    for (uint32_t i = 0; i < reply->count && request->page.first + i < count; i++)
        ret[request->page.first + i] = (struct recorder_cpu){
            .emitted = reply->cpus[i].emitted,
            .lost = reply->cpus[i].lost,
            .oldest_ns = reply->cpus[i].oldest_ns,
        };
}

struct argus_error *recorder_cpus(struct recorder_client *client, struct recorder_cpu **ret,
                                  size_t *ret_count)
{
    struct request request = make_request(REQUEST_CPUS);
    struct reply reply;
    struct argus_error *error = ask_for(client, &request, -1, &reply);
    if (error)
        return error;
    size_t count = reply.cpu_count;
    struct recorder_cpu *cpus = calloc(count + 1, sizeof(*cpus));
    if (!cpus)
        return argus_error_memory();
    take_cpus(&request, &reply, count, cpus);
    while (!error && leads_on(&request, &reply)) {
        request.page.first = reply.next;
        error = ask_for(client, &request, -1, &reply);
        if (!error)
            take_cpus(&request, &reply, count, cpus);
    }
    if (error) {
        free(cpus);
        return error;
    }
    *ret = cpus;
    *ret_count = count;
    return NULL;
}

struct argus_error *recorder_watch(struct recorder_client *client)
{
    struct request request = make_request(REQUEST_WATCH);
    struct reply reply;
    return ask_for(client, &request, -1, &reply);
}

bool recorder_has_hang(const struct recorder_client *client)
{
    return client->has_hang;
}

static struct argus_error *receive_hang(struct recorder_client *client, struct reply_hang *ret)
{
    struct reply reply;
    struct argus_error *error = receive_reply(client, &reply);
    if (error)
        return error;
    if (reply.error || reply.verb != REQUEST_WATCH)
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "the recorder's reply does not fit the request");
    *ret = reply.hang;
    return NULL;
}

struct argus_error *recorder_next_hang(struct recorder_client *client, struct reply_hang *ret)
{
    struct argus_error *error = NULL;
    if (client->has_hang)
        *ret = client->hang;
    else
        error = receive_hang(client, ret);
    client->has_hang = false;
    ret->process[sizeof(ret->process) - 1] = '\0';
    return error;
}

struct argus_error *recorder_hang_done(struct recorder_client *client, enum watched_outcome outcome,
                                       const char *reason)
{
    struct request request = make_request(REQUEST_WATCHED);
    struct reply reply;
    request.watched.outcome = outcome;
    snprintf(request.watched.reason, sizeof(request.watched.reason), "%s", reason ? reason : "");
    return ask_for(client, &request, -1, &reply);
}

struct argus_error *recorder_host_header(struct argus_trace_header *ret)
{
#if defined(__linux__)
    return host_header(1, ret);
#else
    (void)ret;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "traces are written by argus-recorder alone on this system");
#endif
}
