/* The life of a server: it waits for a START and records. It ends after a STOP, after a signal, or
 * when the client that streams has closed its connection (so a killed front end leaves nothing
 * attached).
 */
#include "server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/clocks.h"
#include "server/requests.h"

#define IDLE_LIMIT_S 10

/* The folder must belong to the user of this process alone (/run/argus: root), otherwise another
 * user could put a socket there. */
static struct argus_error *open_folder(const char *folder)
{
    struct stat status;
    bool made = mkdir(folder, 0755) == 0 || errno == EEXIST;
    if (!made && errno == ENOENT)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "there is no place for %s: log in so that systemd makes this "
                                  "user's folder, or run argus with sudo",
                                  folder);
    if (!made)
        return argus_error_os(errno, "cannot make %s for the control socket", folder);
    if (lstat(folder, &status) < 0)
        return argus_error_os(errno, "cannot look at %s", folder);
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 022))
        /* no lack of rights, for which the client would try sudo */
        return argus_error_create(ARGUS_ERROR_IO,
                                  "%s is not a directory that only %s can write to: remove it",
                                  folder, geteuid() ? "its user" : "root");
    return NULL;
}

/* A recorder that is ending has already removed its socket, but the kernel needs time to release
 * the programs. */
static bool lock_within(int fd, const char *socket, unsigned seconds)
{
    for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if (errno != EWOULDBLOCK || access(socket, F_OK) == 0 || tries == seconds * 20)
            return false;
        poll(NULL, 0, 50);
    }
    return true;
}

static struct argus_error *take_lock(struct server *server)
{
    const char *path = server->place.lock;
    server->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (server->lock_fd < 0)
        return argus_error_os(errno, "cannot open %s", path);
    if (lock_within(server->lock_fd, server->place.socket, 10))
        return NULL;
    if (errno != EWOULDBLOCK)
        return argus_error_os(errno, "cannot lock %s", path);
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "another argus-recorder is running: see argus status");
}

/* Only root and the starter can connect: another user could keep this process, which is root's and
 * may have real-time priority, busy with refusing connections. The directory is root's (or the
 * user's who is this process's), so no other user can have replaced the socket at the path. */
static struct argus_error *listen_at_socket(struct server *server)
{
    const char *path = server->place.socket;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    server->listen_fd = platform_socket();
    unlink(path); /* left by a killed recorder: this process has the lock */
    if (server->listen_fd < 0 || fcntl(server->listen_fd, F_SETFL, O_NONBLOCK) < 0 ||
        fchmod(server->listen_fd, 0600) < 0 ||
        bind(server->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        chown(path, server->starter, (gid_t)-1) < 0 || listen(server->listen_fd, CLIENT_LIMIT) < 0)
        return argus_error_os(errno, "cannot listen at %s", path);
    return NULL;
}

static struct argus_error *open_signals(struct server *server)
{
    server->signal_fd = platform_watch_signals();
    return server->signal_fd < 0 ? argus_error_os(errno, "cannot wait for signals") : NULL;
}

struct argus_error *server_create_unlisted(uid_t starter, struct server **ret)
{
    struct server *server = calloc(1, sizeof(*server));
    if (!server)
        return argus_error_memory();
    server->starter = starter;
    server->place = control_place(geteuid());
    server->lock_fd = server->listen_fd = server->signal_fd = -1;
    for (size_t i = 0; i < CLIENT_LIMIT; i++)
        server->clients[i].fd = -1;
    *ret = server;
    return NULL;
}

struct argus_error *server_create(uid_t starter, struct server **ret)
{
    struct server *server = NULL;
    struct argus_error *error = server_create_unlisted(starter, &server);
    if (error)
        return error;
    error = open_folder(server->place.folder);
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

void server_finish(struct server *server)
{
    server->finished = true;
    if (server->listen_fd < 0)
        return;
    unlink(server->place.socket);
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
    if (server->watcher == client)
        server->watcher = NULL;
}

void server_destroy(struct server *server)
{
    if (!server)
        return;
    hangs_end(server);
    argus_error_destroy(server->failure);
    recording_destroy(server->recording);
    probe_list_deinit(&server->probes);
    for (size_t i = 0; i < CLIENT_LIMIT; i++)
        client_close(server, &server->clients[i]);
    server_finish(server);
    if (server->signal_fd >= 0)
        close(server->signal_fd);
    if (server->lock_fd >= 0)
        close(server->lock_fd);
    free(server);
}

static void client_gone(struct server *server, struct client *client)
{
    bool ends_it = server->owner == client && !server->finished;
    client_close(server, client);
    if (!ends_it)
        return;
    server_finish(server);
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
    return argus_error_create(
        ARGUS_ERROR_PERMISSION,
        "the recorder serves only root and uid %u, who started it; run argus with "
        "sudo",
        server->starter);
}

/* A recorder is started for one START: if that is refused, the recorder ends. */
static bool is_refused_start(const struct server *server, const void *bytes, size_t length,
                             const struct client *client)
{
    struct request request;
    if (server->recording || server->failure || !is_allowed(server, client) ||
        length < offsetof(struct request, flags))
        return false;
    memcpy(&request, bytes, offsetof(struct request, flags));
    return request.magic == PROTOCOL_MAGIC && request.verb == REQUEST_START;
}

/* Reads the next request, and leaves it in the socket where that is possible: what comes with it is
 * taken by its handler. */
static struct argus_error *look_at_request(const struct client *client, void *bytes, size_t room,
                                           size_t *ret_length, struct handed *handed)
{
    struct argus_error *error = message_peek(client->fd, bytes, room, ret_length, &handed->with_fd);
    handed->message = !error;
    if (!error || error->code != ARGUS_ERROR_UNSUPPORTED)
        return error;
    argus_error_destroy(error);
    error = message_receive(client->fd, bytes, room, ret_length, &handed->fd);
    handed->with_fd = handed->fd >= 0;
    return error;
}

/* What is answered while another request is being handled: it needs no more than a look, or counts
 * what the watcher of hangs has done. */
static bool is_quick(uint16_t verb)
{
    return verb == REQUEST_STATUS || verb == REQUEST_CPUS || verb == REQUEST_NOTES ||
           verb == REQUEST_FLAGS || verb == REQUEST_WATCHED;
}

static struct argus_error *refuse_when_busy(const struct server *server,
                                            const struct request *request)
{
    if (!server->busy || is_quick(request->verb))
        return NULL;
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "the recorder (pid %d) has not finished another request, such as a "
                              "snapshot: the machine is busy, or the recorder is waiting for the "
                              "file system of a file; try again in ten seconds",
                              (int)getpid());
}

/* Handles the request in `bytes`, and drops what no handler took. */
static struct argus_error *answer(struct server *server, struct client *client, const void *bytes,
                                  size_t length, struct handed *handed, struct reply *reply)
{
    struct request request = {0};
    struct argus_error *error = check_allowed(server, client);
    if (!error)
        error = request_parse(bytes, length, &request);
    bool was_busy = server->busy;
    if (!error)
        error = refuse_when_busy(server, &request);
    server->busy = client->waits = true;
    if (!error)
        error = request_handle(server, client, &request, handed, reply);
    server->busy = was_busy;
    client->waits = false;
    return error;
}

static void client_serve(struct server *server, struct client *client)
{
    char bytes[sizeof(struct request) + 1];
    size_t length = 0;
    struct handed handed = {.fd = -1};
    struct argus_error *error = look_at_request(client, bytes, sizeof(bytes), &length, &handed);
    if (error || length == 0) {
        argus_error_destroy(error);
        handed_drop(&handed, client); /* an empty message can carry a descriptor, too */
        if (!server->busy)
            client_gone(server, client);
        return;
    }
    struct reply reply = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION};
    client->turn = ++server->turns;
    error = answer(server, client, bytes, length, &handed, &reply);
    handed_drop(&handed, client);
    if (error && !server->busy && is_refused_start(server, bytes, length, client))
        server_finish(server);
    if (!reply_send(client, &reply, error) && !server->busy)
        client_gone(server, client);
}

/* Whether `client` should be closed rather than `other`: first clients that are not served, then
 * the one that has been silent longest. */
static bool goes_first(const struct server *server, const struct client *client,
                       const struct client *other)
{
    bool allowed = is_allowed(server, client), other_allowed = is_allowed(server, other);
    return allowed != other_allowed ? other_allowed : client->turn < other->turn;
}

/* Finds a free slot; or takes one from a client that loses nothing, so that idle clients cannot
 * keep others out. */
static struct client *find_place(struct server *server)
{
    struct client *place = NULL;
    for (size_t i = 0; i < CLIENT_LIMIT; i++) {
        struct client *client = &server->clients[i];
        if (client->fd < 0)
            return client;
        bool stays = client == server->owner || client == server->watcher || client->waits;
        if (!stays && (!place || goes_first(server, client, place)))
            place = client;
    }
    if (place)
        client_close(server, place);
    return place;
}

void server_adopt(struct server *server, int fd, const struct peer *who)
{
    struct client *place = find_place(server);
    if (!place) {
        close(fd);
        return;
    }
    *place = (struct client){.fd = fd, .who = *who, .turn = ++server->turns};
}

/* No client may delay the server, so its socket never blocks. */
static void client_accept(struct server *server)
{
    struct peer who;
    int fd = platform_accept(server->listen_fd, &who);
    if (fd >= 0)
        server_adopt(server, fd, &who);
}

/* --- the loop --- */

/* The recording cannot continue (a full disk). The data written so far stays readable. The owner is
 * told unasked. Without an owner the reason is kept for the next request, and everything is
 * detached. */
static void fail_recording(struct server *server, struct argus_error *error)
{
    if (!server->owner) {
        recording_give_up(server->recording, error->message);
        server->failure = error;
        return;
    }
    struct reply reply = reply_make(server, REQUEST_STOP);
    reply_send(server->owner, &reply, error);
    server_finish(server);
}

/* Otherwise the next request of a client that is connected would only meet a closed connection. */
static void tell_of_signal(struct server *server, uint32_t signal)
{
    for (size_t i = 0; i < CLIENT_LIMIT; i++) {
        struct client *client = &server->clients[i];
        struct reply reply = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION};
        if (client->fd >= 0 && client != server->owner && is_allowed(server, client))
            reply_send(
                client, &reply,
                argus_error_create(ARGUS_ERROR_IO, "the recorder was ended by signal %u", signal));
    }
}

static void handle_signal(struct server *server)
{
    uint32_t signal = server->signal ? server->signal : platform_next_signal(server->signal_fd);
    if (signal == 0)
        return;
    server_finish(server);
    tell_of_signal(server, signal);
    bool recording = server->recording && !server->failure;
    struct argus_error *error = recording ? recording_stop(server->recording) : NULL;
    if (!error && server->owner)
        error = argus_error_create(ARGUS_ERROR_INTERRUPTED,
                                   "the recorder was ended by signal %u: the trace is complete up "
                                   "to then",
                                   signal);
    if (error && server->owner)
        fail_recording(server, error);
    else
        argus_error_destroy(error);
}

/* Waits until something arrives from a client that is not waiting for an answer. */
static bool poll_all(const struct server *server, int wait_ms,
                     struct pollfd polled[2 + CLIENT_LIMIT])
{
    polled[0] = (struct pollfd){.fd = server->listen_fd, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = server->signal_fd, .events = POLLIN};
    for (size_t i = 0; i < CLIENT_LIMIT; i++)
        polled[2 + i] = (struct pollfd){
            .fd = server->clients[i].waits ? -1 : server->clients[i].fd,
            .events = POLLIN,
        };
    return poll(polled, 2 + CLIENT_LIMIT, wait_ms) > 0;
}

/* What had arrived may have been answered meanwhile, while the request of another client was being
 * handled (server_wait). */
static bool has_arrived(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    return poll(&polled, 1, 0) > 0;
}

static void serve_clients(struct server *server, const struct pollfd polled[2 + CLIENT_LIMIT])
{
    for (size_t i = 0; i < CLIENT_LIMIT && (server->busy || !server->finished); i++) {
        if (polled[2 + i].revents && server->clients[i].fd == polled[2 + i].fd &&
            has_arrived(polled[2 + i].fd))
            client_serve(server, &server->clients[i]);
    }
    if (polled[0].revents && !server->finished)
        client_accept(server);
}

/* A client that closes its connection is noticed later: until then it would be reported again and
 * again. A second signal is not waited for. */
bool server_wait(void *context, int ms)
{
    struct server *server = context;
    struct pollfd polled[2 + CLIENT_LIMIT];
    bool was_busy = server->busy;
    server->busy = true;
    bool ready = poll_all(server, ms, polled);
    bool closed = false;
    for (size_t i = 0; ready && i < CLIENT_LIMIT; i++)
        closed |= polled[2 + i].revents & POLLHUP;
    if (ready)
        serve_clients(server, polled);
    if (ready && polled[1].revents && !server->signal)
        server->signal = platform_next_signal(server->signal_fd);
    server->busy = was_busy;
    if (closed)
        poll(NULL, 0, ms);
    return server->signal == 0;
}

static void wait_and_serve(struct server *server, int wait_ms)
{
    struct pollfd polled[2 + CLIENT_LIMIT];
    if (!poll_all(server, wait_ms, polled))
        return;
    if (polled[1].revents)
        handle_signal(server);
    serve_clients(server, polled);
}

static bool has_clients(const struct server *server)
{
    for (size_t i = 0; i < CLIENT_LIMIT; i++) {
        if (server->clients[i].fd >= 0)
            return true;
    }
    return false;
}

bool server_turn(struct server *server, int longest_ms)
{
    int wait_ms = longest_ms;
    bool recording = server->recording && !server->failure;
    struct argus_error *error = recording ? recording_step(server->recording, &wait_ms) : NULL;
    if (!error && recording)
        error = hangs_step(server);
    if (error)
        fail_recording(server, error);
    else
        wait_and_serve(server, wait_ms < longest_ms ? wait_ms : longest_ms);
    if (server->signal && !server->finished)
        handle_signal(server);
    return !server->finished;
}

struct argus_error *server_run(struct server *server)
{
    uint64_t idle_since_ns = clock_ns(TRACE_CLOCK);
    bool confined = false;
    platform_confine(PLATFORM_STARTING);
    while (server_turn(server, 500)) {
        if (server->recording && !confined)
            platform_confine(PLATFORM_RECORDING);
        confined |= server->recording != NULL;
        if (server->recording || has_clients(server))
            idle_since_ns = clock_ns(TRACE_CLOCK);
        else if (clock_ns(TRACE_CLOCK) - idle_since_ns > IDLE_LIMIT_S * 1000000000ull)
            break;
    }
    return NULL;
}
