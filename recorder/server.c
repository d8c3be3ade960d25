/* The life of a server: it waits for a START; then it records until a STOP, or until the client that streams has closed
 * its connection (so a front end that is killed leaves nothing attached), or until a signal; then it ends.
 */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"
#include "recording.h"

#define CLIENT_LIMIT 8
#define IDLE_LIMIT_S 10

struct client {
    int fd; /* -1: free */
    struct ucred who;
};

struct server {
    uid_t starter;
    int lock_fd, listen_fd, signal_fd;
    struct client clients[CLIENT_LIMIT];
    struct recording *recording; /* NULL: none yet */
    struct client *owner;        /* the client that streams; NULL in memory mode */
    struct ucred started_by;
    uint64_t started_wall_ns;
    bool finished; /* nothing is left to do */
};

/* /run/argus must be root's alone, or somebody could put another socket there. */
static struct argus_error *open_directory(void)
{
    struct stat status;
    if (mkdir(PROTOCOL_DIRECTORY, 0755) < 0 && errno != EEXIST)
        return argus_error_os(errno, "cannot make " PROTOCOL_DIRECTORY);
    if (lstat(PROTOCOL_DIRECTORY, &status) < 0)
        return argus_error_os(errno, "cannot look at " PROTOCOL_DIRECTORY);
    if (!S_ISDIR(status.st_mode) || status.st_uid != 0 || (status.st_mode & 022))
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  PROTOCOL_DIRECTORY " is not a directory that only root can "
                                                     "write to: remove it");
    return NULL;
}

/* A recorder that is just ending has already removed its socket, but the kernel takes its time with the programs. */
static bool lock_within(int fd, unsigned seconds)
{
    for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if (errno != EWOULDBLOCK || access(PROTOCOL_SOCKET, F_OK) == 0 || tries == seconds * 20)
            return false;
        poll(NULL, 0, 50);
    }
    return true;
}

static struct argus_error *take_lock(struct server *server)
{
    server->lock_fd =
        open(PROTOCOL_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (server->lock_fd < 0)
        return argus_error_os(errno, "cannot open " PROTOCOL_LOCK);
    if (lock_within(server->lock_fd, 10))
        return NULL;
    if (errno != EWOULDBLOCK)
        return argus_error_os(errno, "cannot lock " PROTOCOL_LOCK);
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "another argus-recorder is running: see argus status");
}

static struct argus_error *listen_at_socket(struct server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = PROTOCOL_SOCKET};
    server->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(PROTOCOL_SOCKET); /* of a recorder that was killed: we have the lock */
    if (server->listen_fd < 0 ||
        bind(server->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        chmod(PROTOCOL_SOCKET, 0666) < 0 || listen(server->listen_fd, CLIENT_LIMIT) < 0)
        return argus_error_os(errno, "cannot listen at " PROTOCOL_SOCKET);
    return NULL;
}

static struct argus_error *open_signals(struct server *server)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    server->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return server->signal_fd < 0 ? argus_error_os(errno, "cannot wait for signals") : NULL;
}

struct argus_error *server_create(uid_t starter, struct server **ret)
{
    struct server *server = calloc(1, sizeof(*server));
    if (!server)
        return argus_error_memory();
    server->starter = starter;
    server->lock_fd = server->listen_fd = server->signal_fd = -1;
    for (size_t i = 0; i < CLIENT_LIMIT; i++)
        server->clients[i].fd = -1;
    struct argus_error *error = open_directory();
    if (!error)
        error = take_lock(server);
    if (!error)
        error = listen_at_socket(server);
    if (!error)
        error = open_signals(server);
    if (error) {
        server_destroy(server);
        return error;
    }
    *ret = server;
    return NULL;
}

/* From now on this server is over: whoever connects must find none. */
static void finish(struct server *server)
{
    server->finished = true;
    if (server->listen_fd < 0)
        return;
    unlink(PROTOCOL_SOCKET);
    close(server->listen_fd);
    server->listen_fd = -1;
}

static void client_close(struct server *server, struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    if (server->owner == client)
        server->owner = NULL;
}

void server_destroy(struct server *server)
{
    if (!server)
        return;
    recording_destroy(server->recording);
    for (size_t i = 0; i < CLIENT_LIMIT; i++)
        client_close(server, &server->clients[i]);
    finish(server);
    if (server->signal_fd >= 0)
        close(server->signal_fd);
    if (server->lock_fd >= 0)
        close(server->lock_fd);
    free(server);
}

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
}

static void put_notes(struct reply *reply, const struct recording *recording)
{
    const char *const *notes;
    size_t count = recording_notes(recording, &notes), at = 0;
    for (size_t i = 0; i < count && at < sizeof(reply->text); i++) {
        int length = snprintf(reply->text + at, sizeof(reply->text) - at, "%s\n", notes[i]);
        at += length > 0 ? (size_t)length : 0;
    }
}

static uint64_t own_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static struct reply reply_make(const struct server *server, uint16_t verb)
{
    struct reply reply = {
        .magic = PROTOCOL_MAGIC,
        .version = PROTOCOL_VERSION,
        .verb = verb,
        .recorder_pid = (uint32_t)getpid(),
        .own_cpu_ns = own_cpu_ns(),
    };
    if (!server->recording)
        return reply;
    struct recording_numbers numbers = recording_numbers(server->recording);
    put_numbers(&reply, &numbers);
    put_notes(&reply, server->recording);
    reply.mode = recording_mode(server->recording);
    reply.cpu_count = recording_cpu_count(server->recording);
    reply.starter_uid = server->started_by.uid;
    reply.starter_pid = (uint32_t)server->started_by.pid;
    reply.started_wall_ns = server->started_wall_ns;
    return reply;
}

/* Takes `error`, which may be NULL. */
static void reply_send(struct client *client, struct reply *reply, struct argus_error *error)
{
    if (error) {
        reply->error = 1 + (uint32_t)error->code;
        snprintf(reply->text, sizeof(reply->text), "%s", error->message);
        argus_error_destroy(error);
    }
    /* a client that has gone does not matter */
    argus_error_destroy(message_send(client->fd, reply, sizeof(*reply), -1));
}

/* --- requests --- */

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct argus_error *busy_error(const struct server *server)
{
    char since[16];
    time_t seconds = (time_t)(server->started_wall_ns / 1000000000u);
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(since, sizeof(since), "%H:%M:%S", &local);
    struct recording_numbers numbers = recording_numbers(server->recording);
    bool stream = recording_mode(server->recording) == RECORDING_STREAM;
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "already recording since %s, started by uid %u, pid %d (%s, %llu MB)",
                              since, server->started_by.uid, server->started_by.pid,
                              stream ? "streaming to a file through a ring" : "ring in memory",
                              (unsigned long long)(numbers.ring_bytes >> 20));
}

/* Whoever sent the descriptor has opened the file; all that is checked is that it is one for a trace. */
static struct argus_error *check_output(int fd)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);
    if (fstat(fd, &status) < 0 || flags < 0)
        return argus_error_os(errno, "cannot look at the output file");
    if (!S_ISREG(status.st_mode) || status.st_size != 0 || (flags & O_ACCMODE) == O_RDONLY)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the output is not an empty regular file open for writing");
    return NULL;
}

/* Each of these takes `fd` (-1: none came with the request), and may change `reply`. */

static struct argus_error *handle_start(struct server *server, struct client *client,
                                        const struct request *request, int fd, struct reply *reply)
{
    struct argus_error *error = server->recording ? busy_error(server) : NULL;
    if (!error && fd >= 0)
        error = check_output(fd);
    if (error) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    struct backend_options options = {
        .ring_bytes = request->ring_bytes,
        .rate_hz = request->rate_hz,
        .stacks = request->flags & REQUEST_STACKS,
    };
    server->started_by = client->who;
    server->started_wall_ns = wall_ns();
    error = recording_create(fd >= 0 ? RECORDING_STREAM : RECORDING_MEMORY, &options, fd,
                             &server->recording);
    if (error) {
        finish(server);
        return error;
    }
    server->owner = fd >= 0 ? client : NULL;
    *reply = reply_make(server, request->verb);
    return NULL;
}

static struct argus_error *check_snapshot(const struct server *server, int fd)
{
    if (!server->recording)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "nothing is being recorded: argus start");
    if (recording_mode(server->recording) != RECORDING_MEMORY)
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "the recording goes to a file already (argus record, pid %d)",
                                  server->started_by.pid);
    if (fd < 0)
        return argus_error_create(ARGUS_ERROR_USAGE, "a snapshot needs a file to go to");
    return check_output(fd);
}

static struct argus_error *handle_snapshot(struct server *server, struct client *client,
                                           const struct request *request, int fd,
                                           struct reply *reply)
{
    (void)client;
    (void)request;
    struct argus_error *error = check_snapshot(server, fd);
    if (error) {
        if (fd >= 0)
            close(fd);
        return error;
    }
    struct recording_numbers numbers;
    error = recording_snapshot(server->recording, fd, &numbers);
    if (!error)
        put_numbers(reply, &numbers);
    return error;
}

static struct argus_error *handle_stop(struct server *server, struct client *client,
                                       const struct request *request, int fd, struct reply *reply)
{
    if (server->recording && server->owner && server->owner != client) {
        if (fd >= 0)
            close(fd);
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "the recording belongs to argus record, pid %d: end that",
                                  server->started_by.pid);
    }
    struct argus_error *error = NULL;
    if (fd >= 0)
        error = handle_snapshot(server, client, request, fd, reply);
    if (error)
        return error; /* the ring is all there is: keep it until a snapshot works */
    finish(server);
    if (server->recording)
        error = recording_stop(server->recording);
    if (fd < 0)
        *reply = reply_make(server, request->verb);
    return error;
}

static struct argus_error *handle_status(struct server *server, struct client *client,
                                         const struct request *request, int fd, struct reply *reply)
{
    (void)server;
    (void)client;
    (void)request;
    (void)reply;
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* To add a request: a number in protocol.h, a function above, a row here. */
static struct argus_error *(*const handlers[])(struct server *, struct client *,
                                               const struct request *, int fd, struct reply *) = {
    [REQUEST_START] = handle_start,
    [REQUEST_STOP] = handle_stop,
    [REQUEST_SNAPSHOT] = handle_snapshot,
    [REQUEST_STATUS] = handle_status,
};

static void client_gone(struct server *server, struct client *client)
{
    bool streamed = server->owner == client;
    client_close(server, client);
    if (!streamed)
        return;
    finish(server);
    argus_error_destroy(recording_stop(server->recording));
}

static bool is_allowed(const struct server *server, const struct client *client)
{
    return client->who.uid == 0 || client->who.uid == server->starter;
}

static struct argus_error *check_allowed(const struct server *server, const struct client *client)
{
    if (is_allowed(server, client))
        return NULL;
    return argus_error_create(ARGUS_ERROR_PERMISSION,
                              "the recorder serves only root and uid %u, who started it",
                              server->starter);
}

static void client_serve(struct server *server, struct client *client)
{
    char bytes[sizeof(struct request) + 1];
    size_t length = 0;
    int fd = -1;
    struct request request = {0};
    struct argus_error *error = message_receive(client->fd, bytes, sizeof(bytes), &length, &fd);
    if (error || length == 0) {
        argus_error_destroy(error);
        client_gone(server, client);
        return;
    }
    struct reply reply = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION};
    error = check_allowed(server, client);
    if (!error)
        error = request_parse(bytes, length, &request);
    if (!error) {
        reply = reply_make(server, request.verb);
        error = handlers[request.verb](server, client, &request, fd, &reply);
    } else if (fd >= 0) {
        close(fd);
    }
    reply_send(client, &reply, error);
}

/* A free place; or else one that somebody holds whom we do not serve, so that nobody can keep us from who we do. */
static struct client *find_place(struct server *server)
{
    struct client *place = NULL;
    for (size_t i = 0; i < CLIENT_LIMIT; i++) {
        struct client *client = &server->clients[i];
        if (client->fd < 0)
            return client;
        if (!is_allowed(server, client))
            place = client;
    }
    if (place)
        client_close(server, place);
    return place;
}

static void client_accept(struct server *server)
{
    struct client newcomer = {.fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC)};
    socklen_t length = sizeof(newcomer.who);
    if (newcomer.fd < 0)
        return;
    struct client *place = find_place(server);
    if (!place || getsockopt(newcomer.fd, SOL_SOCKET, SO_PEERCRED, &newcomer.who, &length) < 0) {
        close(newcomer.fd);
        return;
    }
    *place = newcomer;
}

/* --- the loop --- */

/* A stream that cannot go on (a full disk): tells its owner, unasked, and ends. What is written stays readable. */
static void fail_recording(struct server *server, struct argus_error *error)
{
    struct reply reply = reply_make(server, REQUEST_STOP);
    if (server->owner)
        reply_send(server->owner, &reply, error);
    else
        argus_error_destroy(error);
    finish(server);
}

static void handle_signal(struct server *server)
{
    struct signalfd_siginfo signal;
    if (read(server->signal_fd, &signal, sizeof(signal)) != sizeof(signal))
        return;
    finish(server);
    struct argus_error *error = server->recording ? recording_stop(server->recording) : NULL;
    if (!error && server->owner)
        error = argus_error_create(ARGUS_ERROR_INTERRUPTED,
                                   "the recorder was ended by signal %u: the trace is complete up "
                                   "to then",
                                   signal.ssi_signo);
    if (error)
        fail_recording(server, error);
}

static void wait_and_serve(struct server *server, int wait_ms)
{
    struct pollfd polled[2 + CLIENT_LIMIT] = {
        {.fd = server->listen_fd, .events = POLLIN},
        {.fd = server->signal_fd, .events = POLLIN},
    };
    for (size_t i = 0; i < CLIENT_LIMIT; i++)
        polled[2 + i] = (struct pollfd){.fd = server->clients[i].fd, .events = POLLIN};
    if (poll(polled, 2 + CLIENT_LIMIT, wait_ms) <= 0)
        return;
    if (polled[1].revents)
        handle_signal(server);
    for (size_t i = 0; i < CLIENT_LIMIT && !server->finished; i++) {
        if (polled[2 + i].revents && server->clients[i].fd == polled[2 + i].fd)
            client_serve(server, &server->clients[i]);
    }
    if (polled[0].revents && !server->finished)
        client_accept(server);
}

static bool has_clients(const struct server *server)
{
    for (size_t i = 0; i < CLIENT_LIMIT; i++) {
        if (server->clients[i].fd >= 0)
            return true;
    }
    return false;
}

struct argus_error *server_run(struct server *server)
{
    uint64_t idle_since_ns = wall_ns();
    while (!server->finished) {
        int wait_ms = 500;
        struct argus_error *error =
            server->recording ? recording_step(server->recording, &wait_ms) : NULL;
        if (error) {
            fail_recording(server, error);
            break;
        }
        wait_and_serve(server, wait_ms);
        if (server->recording || has_clients(server))
            idle_since_ns = wall_ns();
        else if (wall_ns() - idle_since_ns > IDLE_LIMIT_S * 1000000000ull)
            break;
    }
    return NULL;
}
