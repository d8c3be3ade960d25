/* Looks for hangs on a separate thread while the server is busy writing a snapshot.
 *
 * Writing may take seconds (a large ring, a busy machine), and a hang that begins and ends in that
 * time would be missed: the kernel side keeps only since when a thread is away, not how long it was
 * away before. Between hang_thread_begin() and hang_thread_end() that thread owns the server's
 * watch and pollers; its only call into the backend is backend_pollers(). At all other times the
 * server has one thread.
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
    bool runs;                 /* has to be joined */
    struct argus_error *error; /* from looking; owned */
};

/* Does nothing if the server does not look for hangs. If no thread can be created, hangs may be
 * missed; that is no error. */
void hang_thread_begin(struct hang_thread *looks, struct server *server);
/* Ends the thread; returns the error from looking, if any. */
struct argus_error *hang_thread_end(struct hang_thread *looks);

#endif
