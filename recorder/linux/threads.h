/* The table that names threads: from /proc for those alive, from the BPF map for those that came, changed or went. */
#ifndef ARGUS_RECORDER_LINUX_THREADS_H
#define ARGUS_RECORDER_LINUX_THREADS_H

#include "argus/error.h"
#include "argus/trace.h"

struct thread_list;

/* The threads alive now. */
struct argus_error *thread_list_create(struct thread_list **ret);
void thread_list_destroy(struct thread_list *list);

/* Writes the list, what the BPF map `map_fd` has seen since, and the threads alive now: later entries are newer. */
struct argus_error *thread_list_write(struct thread_list *list, int map_fd,
                                      struct argus_writer *writer);

/* Writes what a reader needs who has nothing of what was written before: the threads alive now, and those that have
 * ended since the call before the last (what ends may still emit a record). Older ones are forgotten. */
struct argus_error *thread_list_renew(struct thread_list *list, int map_fd,
                                      struct argus_writer *writer);

#endif
