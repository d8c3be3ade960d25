/* The threads that records have told of, for a backend whose kernel side keeps no such table: names, processes, and how
 * many threads a process has left. Those that ended first are forgotten first, when there are many.
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

/* NULL when it is not known; valid until the next call that is not const. */
const struct bpf_thread *seen_threads_find(const struct seen_threads *threads, uint32_t tid);
/* Adds or replaces; without memory the thread has no name. */
void seen_threads_put(struct seen_threads *threads, uint32_t tid, const struct bpf_thread *thread);
/* The thread ended at `died_ns`; true when it was the last that is known of its process. */
bool seen_threads_end(struct seen_threads *threads, uint32_t tid, uint64_t died_ns);

/* For thread_list_write(). */
struct thread_source seen_threads_source(struct seen_threads *threads);

#endif
