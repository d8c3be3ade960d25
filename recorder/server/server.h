/* The privileged side of the control socket: one instance on the machine, one recording, several
 * clients. */
#ifndef ARGUS_RECORDER_SERVER_H
#define ARGUS_RECORDER_SERVER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "argus/error.h"
#include "platform.h"

struct server;

/* Takes the lock and listens. Clients may be root or `starter`. BUSY when another recorder has the
 * lock. */
struct argus_error *server_create(uid_t starter, struct server **ret);
/* Serves until the recording has ended (or nobody has asked for one in ten seconds), or SIGTERM,
 * SIGINT or SIGHUP. */
struct argus_error *server_run(struct server *server);
void server_destroy(struct server *server);

/* Parts of the above, for tests: create a server without lock, listening socket and signals; add a
 * connected socket of `who`, whose ownership is taken; run one turn of the loop, which waits at
 * most `longest_ms` (false: it was the last turn). */
struct argus_error *server_create_unlisted(uid_t starter, struct server **ret);
void server_adopt(struct server *server, int fd, const struct peer *who);
bool server_turn(struct server *server, int longest_ms);

#endif
