/* Work in equal parts on all cpus, for a library that lives in somebody else's process: the threads take no signals and
 * are gone when the call returns.
 */
#ifndef ARGUS_BASE_PARALLEL_H
#define ARGUS_BASE_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Calls `work(context, i)` once for each i below `count`, in any order and several at a time, the caller's own thread
 * included. Where no thread can be made, the caller does it all. */
void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context);

/* How many threads make sense here: the online cpus, at most `most`. */
unsigned parallel_threads(unsigned most);

/* A thread that no signal of the host is delivered to. False: it could not be made. */
bool parallel_start(pthread_t *ret, void *(*body)(void *), void *context);

#endif
