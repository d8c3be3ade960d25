/* Looks for hangs by a thread of its own, while the server is busy with something long: it writes a snapshot.
 *
 * Writing may take seconds (a large ring, a busy machine), and a hang that begins and ends meanwhile would be missed: the kernel
 * side keeps only since when a thread is away, and not how long it was away before. Between hang_thread_begin() and
 * hang_thread_end() the watch and the pollers of the server are that thread's; its only call into the backend is
 * backend_pollers(). At all other times the server has one thread.
 */
#ifndef ARGUS_RECORDER_HANG_THREAD_H
#define ARGUS_RECORDER_HANG_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct server;

struct hang_thread {
    struct server *server; /* borrowed */
    pthread_t thread;
    atomic_bool over;
    bool runs;                 /* to be joined */
    struct argus_error *error; /* of a look; owned */
};

/* Does nothing where the server does not look for hangs. Without a thread hangs may be missed, and nothing else happens. */
void hang_thread_begin(struct hang_thread *looks, struct server *server);
/* The error of a look, if there was one. */
struct argus_error *hang_thread_end(struct hang_thread *looks);

#endif
