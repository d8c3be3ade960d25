/* The hangs of --on-hang. The server looks for hangs and reports them to one client, the watcher,
 * one at a time. The watcher is an ordinary process of the user's. It requests a snapshot into a
 * file of its own and reports when that is written; then the server reports the next hang.
 * Meanwhile the watcher finishes the file (stacks, names, cause), and reports when it is done.
 */
#include "server/requests.h"

#include <stdlib.h>

#include "platform.h"
#include "server/clocks.h"

#define LOOK_INTERVAL_NS 150000000ull
#define MOST_POLLERS     8192

struct argus_error *hangs_check(const struct request_start *start)
{
    if (!start->hang_ms || platform_may_see_windows())
        return NULL;
    return argus_error_create(ARGUS_ERROR_PERMISSION,
                              "--on-hang needs CAP_SYS_PTRACE, which the recorder lacks: it cannot "
                              "see which programs have windows; argus-recorder(8) tells how to "
                              "give it");
}

struct argus_error *hangs_begin(struct server *server)
{
    const struct request_start *start = &server->started_with;
    if (!start->hang_ms)
        return NULL;
    server->pollers = malloc(MOST_POLLERS * sizeof(*server->pollers));
    server->hangs =
        hang_watch_create(start->hang_ms * 1000000ull, start->hang_name, &hang_system_proc);
    if (!server->pollers || !server->hangs)
        return argus_error_memory();
    size_t count; /* fails now if the backend does not support it */
    return backend_pollers(recording_backend(server->recording), server->pollers, MOST_POLLERS,
                           &count);
}

void hangs_end(struct server *server)
{
    hang_watch_destroy(server->hangs);
    free(server->pollers);
    server->hangs = NULL;
    server->pollers = NULL;
}

static void tell_watcher(struct server *server)
{
    struct reply reply = {
        .magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .verb = REQUEST_WATCH};
    if (!server->watcher || server->watcher_is_busy || !hang_watch_next(server->hangs, &reply.hang))
        return;
    server->watcher_is_busy = true;
    reply_send(server->watcher, &reply, NULL);
}

struct argus_error *hangs_look(struct server *server)
{
    uint64_t now = clock_ns(TRACE_CLOCK);
    if (now - server->looked_ns < LOOK_INTERVAL_NS)
        return NULL;
    size_t count;
    struct argus_error *error = backend_pollers(recording_backend(server->recording),
                                                server->pollers, MOST_POLLERS, &count);
    if (error)
        return error;
    server->looked_ns = now;
    if (!hang_watch_look(server->hangs, server->pollers, count, clock_ns(TRACE_CLOCK)))
        return argus_error_memory();
    return NULL;
}

struct argus_error *hangs_step(struct server *server)
{
    struct argus_error *error = server->hangs ? hangs_look(server) : NULL;
    if (server->hangs && !error)
        tell_watcher(server);
    return error;
}

struct argus_error *handle_watch(struct server *server, struct client *client,
                                 const struct request *request, struct handed *handed,
                                 struct reply *reply)
{
    (void)request, (void)handed;
    if (!server->hangs)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "this recording does not look for hangs");
    if (server->watcher && server->watcher != client)
        return argus_error_create(ARGUS_ERROR_BUSY, "pid %d already receives the hangs",
                                  server->watcher->who.pid);
    server->watcher = client;
    server->watcher_is_busy = false;
    server->hangs_taken = 0;
    hang_watch_leave_out(server->hangs, (uint32_t)client->who.pid); /* it waits for this process */
    reply->verb = REQUEST_STATUS; /* marks this reply as no hang */
    return NULL;
}

struct argus_error *handle_watched(struct server *server, struct client *client,
                                   const struct request *request, struct handed *handed,
                                   struct reply *reply)
{
    (void)reply, (void)handed;
    if (server->watcher != client)
        return argus_error_create(ARGUS_ERROR_USAGE, "this connection does not receive hangs");
    const struct request_watched *watched = &request->watched;
    struct backend *backend = recording_backend(server->recording);
    switch ((enum watched_outcome)watched->outcome) {
    case WATCHED_NOT_KEPT:
        server->watcher_is_busy = false;
        backend_note(backend, "a hang was not kept: %s", watched->reason);
        break;
    case WATCHED_TAKEN:
        server->watcher_is_busy = false;
        server->hangs_taken++;
        break;
    case WATCHED_KEPT:
        server->hangs_taken -= server->hangs_taken > 0;
        server->hang_files++;
        break;
    case WATCHED_NO_HANG:
        server->hangs_taken -= server->hangs_taken > 0;
        server->no_hangs++;
        break;
    case WATCHED_REMARK:
        backend_note(backend, "%s", watched->reason);
        break;
    case WATCHED_OUTCOMES:
        break;
    }
    return NULL;
}
