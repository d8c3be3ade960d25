/* The privileged side of the control socket: one instance on the machine, one recording, several clients. */
#ifndef ARGUS_RECORDER_SERVER_H
#define ARGUS_RECORDER_SERVER_H

#include <sys/types.h>

#include "argus/error.h"

struct server;

/* Takes the lock and listens. Clients may be root or `starter`. BUSY when another recorder has the lock. */
struct argus_error *server_create(uid_t starter, struct server **ret);
/* Serves until the recording has ended (or nobody has asked for one in ten seconds), or SIGTERM, SIGINT or SIGHUP. */
struct argus_error *server_run(struct server *server);
void server_destroy(struct server *server);

#endif
