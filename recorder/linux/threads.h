/* The table that names threads: from /proc for those alive, from a backend for those that came, changed or went. */
#ifndef ARGUS_RECORDER_LINUX_THREADS_H
#define ARGUS_RECORDER_LINUX_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "linux/shared.h"
#include "name_search.h"

struct thread_list;

/* Where a backend keeps the threads that came, changed or went. */
struct thread_source {
    /* Adds all of them to `list`. */
    struct argus_error *(*read)(const struct thread_source *source, struct thread_list *list);
    /* Forgets one that has ended; perhaps it is gone by itself. */
    void (*drop)(const struct thread_source *source, uint32_t tid);
    union {
        int map_fd;                   /* thread_map.h */
        struct seen_threads *threads; /* seen_threads.h */
    };
};

/* The threads alive now. */
struct argus_error *thread_list_create(struct thread_list **ret);
void thread_list_destroy(struct thread_list *list);

/* Walks the list; `index` from 0 on. */
bool thread_list_get(const struct thread_list *list, size_t index, uint32_t *ret_tid,
                     struct bpf_thread *ret);
/* false without memory. */
bool thread_list_add(struct thread_list *list, uint32_t tid, const struct bpf_thread *thread);

/* Offers the names in the list, of what `source` has seen since, and of the threads alive now. */
struct argus_error *thread_list_offer_names(const struct thread_list *list,
                                            const struct thread_source *source,
                                            struct name_search *search);

/* Writes the list, what `source` has seen since, and the threads alive now: later entries are newer. */
struct argus_error *thread_list_write(struct thread_list *list, const struct thread_source *source,
                                      struct argus_writer *writer);

/* For a ring file, as backend_renew_names(): writes the threads alive now, and those that have ended and may have records
 * that were not yet read at the last call. Those that ended before are forgotten. */
struct argus_error *thread_list_renew(struct thread_list *list, const struct thread_source *source,
                                      uint64_t taken_ns, struct argus_writer *writer);

#endif
