/* The threads seen in records, for a backend whose kernel side keeps no such table: names,
 * processes, and the number of live threads of a process. If there are many, those that ended first
 * are dropped first.
 */
#ifndef ARGUS_RECORDER_LINUX_SEEN_THREADS_H
#define ARGUS_RECORDER_LINUX_SEEN_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linux/threads.h"

struct seen_threads;

struct seen_threads *seen_threads_create(void); /* NULL without memory */
void seen_threads_destroy(struct seen_threads *threads);

/* NULL if unknown; valid until the next call that is not const. */
const struct bpf_thread *seen_threads_find(const struct seen_threads *threads, uint32_t tid);
/* Adds or replaces; without memory the thread has no name. */
void seen_threads_put(struct seen_threads *threads, uint32_t tid, const struct bpf_thread *thread);
/* The thread ended at `died_ns`; true if it was the last known thread of its process. */
bool seen_threads_end(struct seen_threads *threads, uint32_t tid, uint64_t died_ns);

/* For thread_list_write(). */
struct thread_source seen_threads_source(struct seen_threads *threads);

#endif
