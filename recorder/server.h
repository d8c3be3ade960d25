/* The privileged side of the control socket: one instance on the machine, one recording, several clients. */
#ifndef ARGUS_RECORDER_SERVER_H
#define ARGUS_RECORDER_SERVER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "argus/error.h"
#include "platform.h"

struct server;

/* Takes the lock and listens. Clients may be root or `starter`. BUSY when another recorder has the lock. */
struct argus_error *server_create(uid_t starter, struct server **ret);
/* Serves until the recording has ended (or nobody has asked for one in ten seconds), or SIGTERM, SIGINT or SIGHUP. */
struct argus_error *server_run(struct server *server);
void server_destroy(struct server *server);

/* The parts of these, which the tests call one by one: a server that has no lock, listens nowhere and hears no signals; a
 * connected socket of `who`, which is taken; and one turn of the loop, in which it waits `longest_ms` at most (false: the
 * last one). */
struct argus_error *server_create_unlisted(uid_t starter, struct server **ret);
void server_adopt(struct server *server, int fd, const struct peer *who);
bool server_turn(struct server *server, int longest_ms);

#endif
