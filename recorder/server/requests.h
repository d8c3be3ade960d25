/* How the server handles requests: the part of the server that knows the recording. */
#ifndef ARGUS_RECORDER_REQUESTS_H
#define ARGUS_RECORDER_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "argus/error.h"
#include "control_place.h"
#include "platform.h"
#include "protocol.h"
#include "server/hang_watch.h"
#include "server/probe_list.h"
#include "server/recording.h"

#define CLIENT_LIMIT 8

struct client {
    int fd; /* -1: free */
    struct peer who;
    uint64_t turn; /* value of server.turns at its last request */
    bool waits;    /* its request is being handled: server_wait() passes it over */
};

/* What came with a request, and is not taken yet. `message`: the whole request still waits in the
 * client's socket, where another process can receive it. */
struct handed {
    bool with_fd, message;
    int fd; /* owned; -1: none, or in the message */
};

struct server {
    uid_t starter;
    struct control_place place;
    int lock_fd, listen_fd, signal_fd;
    struct client clients[CLIENT_LIMIT];
    uint64_t turns;              /* counts connections and requests */
    struct recording *recording; /* NULL: none yet */
    /* The recording ends when this client closes; NULL: it does not depend on a client. */
    struct client *owner;
    struct request_start started_with;
    struct peer started_by;
    struct probe_list probes;
    uint64_t started_wall_ns;
    uint64_t start_cpu_ns;          /* cpu time of this process before the recording began */
    struct hang_watch *hangs;       /* NULL: the server does not look for hangs */
    struct backend_poller *pollers; /* buffer for looking; owned */
    uint64_t looked_ns;
    struct client *watcher; /* the client that is told of hangs; NULL: none */
    bool watcher_is_busy;   /* it still handles the last hang */
    uint32_t hangs_taken;   /* hangs whose snapshots are written but whose files are not finished */
    uint32_t hang_files;
    uint32_t no_hangs;           /* doubtful hangs that were none */
    struct argus_error *failure; /* why a recording without owner has failed; NULL: it has not */
    bool finished;               /* the server can exit */
    bool busy;                   /* a request or a step is being handled: see server_wait() */
    uint32_t signal;             /* arrived meanwhile; 0: none */
};

/* Shuts the server down for clients: removes its socket, so that new clients find no recorder. */
void server_finish(struct server *server);

/* Handles a request of `client`, and fills `reply`. Takes from `handed` what it needs. */
struct argus_error *request_handle(struct server *server, struct client *client,
                                   const struct request *request, struct handed *handed,
                                   struct reply *reply);
/* Takes the descriptor; -1: there is none, or it cannot be received. */
int handed_take(struct handed *handed, const struct client *client);
/* Drops what is not taken. */
void handed_drop(struct handed *handed, const struct client *client);
/* An outlet's waiter (`server`): answers what only reads, and refuses the rest. */
bool server_wait(void *server, int ms);

/* Looking for hangs: begins at the START of a recording with hang_ms. Call hangs_step() whenever
 * recording_step() is called. */
struct argus_error *hangs_begin(struct server *server);
/* Whether this process has the rights for it. */
struct argus_error *hangs_check(const struct request_start *start);
struct argus_error *hangs_step(struct server *server);
/* The part of hangs_step() that looks for hangs if a look is due. Requires a server that looks for
 * hangs. */
struct argus_error *hangs_look(struct server *server);
void hangs_end(struct server *server);
struct argus_error *handle_watch(struct server *server, struct client *client,
                                 const struct request *request, struct handed *handed,
                                 struct reply *reply);
struct argus_error *handle_watched(struct server *server, struct client *client,
                                   const struct request *request, struct handed *handed,
                                   struct reply *reply);

/* A reply to `verb` with the current numbers. */
struct reply reply_make(const struct server *server, uint16_t verb);
/* Sends the reply; takes ownership of `error`, which may be NULL. False: the client has closed, or
 * does not read. */
bool reply_send(struct client *client, struct reply *reply, struct argus_error *error);

#endif
