/* Runs work in equal parts on all CPUs. Because the library runs inside another program's process,
 * its threads block all signals and have ended when the call returns.
 */
#ifndef ARGUS_BASE_PARALLEL_H
#define ARGUS_BASE_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Calls `work(context, i)` once for each i below `count`, in any order and several at a time, also
 * on the calling thread. If no thread can be created, the calling thread does all of it. */
void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context);

/* The number of threads to use: the number of online CPUs, at most `most`. */
unsigned parallel_threads(unsigned most);

/* Creates a thread that blocks all signals. False: it could not be created. */
bool parallel_start(pthread_t *ret, void *(*body)(void *), void *context);

#endif
