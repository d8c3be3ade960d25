/* What a server does when it is asked: the side of server.c that knows the recording. */
#ifndef ARGUS_RECORDER_REQUESTS_H
#define ARGUS_RECORDER_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "argus/error.h"
#include "hang_watch.h"
#include "platform.h"
#include "probe_list.h"
#include "protocol.h"
#include "recording.h"

#define CLIENT_LIMIT 8

struct client {
    int fd; /* -1: free */
    struct peer who;
    uint64_t turn; /* when it was last heard: server.turns then */
};

struct server {
    uid_t starter;
    int lock_fd, listen_fd, signal_fd;
    struct client clients[CLIENT_LIMIT];
    uint64_t turns;              /* counts connections and requests */
    struct recording *recording; /* NULL: none yet */
    struct client *owner;        /* the recording ends with this client; NULL: it does not */
    struct request_start started_with;
    struct peer started_by;
    struct probe_list probes;
    uint64_t started_wall_ns;
    uint64_t start_cpu_ns;          /* cpu time of this process before the recording began */
    struct hang_watch *hangs;       /* NULL: does not look for hangs */
    struct backend_poller *pollers; /* room for the looks; owned */
    uint64_t looked_ns;
    struct client *watcher; /* who is told of hangs; NULL: nobody */
    bool watcher_is_busy;   /* with the last one */
    uint32_t hangs_taken;   /* their snapshots are written, their files not finished */
    uint32_t hang_files;
    struct argus_error
        *failure;  /* why the recording, which nobody waits for, has ended; NULL: it has not */
    bool finished; /* nothing is left to do */
};

/* From now on this server is over: whoever connects must find none. */
void server_finish(struct server *server);

/* Does what `client` asks, takes `fd` (-1: none came with the request), and fills `reply`. */
struct argus_error *request_handle(struct server *server, struct client *client,
                                   const struct request *request, int fd, struct reply *reply);

/* Looking for hangs, from the START of a recording that wants it on; hangs_step() goes with recording_step(). */
struct argus_error *hangs_begin(struct server *server);
struct argus_error *hangs_step(struct server *server);
/* The part of a step that looks, if it is time to; where the server looks for hangs. */
struct argus_error *hangs_look(struct server *server);
void hangs_end(struct server *server);
struct argus_error *handle_watch(struct server *server, struct client *client,
                                 const struct request *request, int fd, struct reply *reply);
struct argus_error *handle_watched(struct server *server, struct client *client,
                                   const struct request *request, int fd, struct reply *reply);

/* The numbers as they are now, in a reply to `verb`. */
struct reply reply_make(const struct server *server, uint16_t verb);
/* Sends; takes `error`, which may be NULL. false: the client has gone, or does not read what we say. */
bool reply_send(struct client *client, struct reply *reply, struct argus_error *error);

#endif
