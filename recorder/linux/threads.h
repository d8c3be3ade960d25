/* The table of thread names: from /proc for live threads, from a backend for threads that began,
 * changed or ended. */
#ifndef ARGUS_RECORDER_LINUX_THREADS_H
#define ARGUS_RECORDER_LINUX_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "linux/shared.h"
#include "server/name_search.h"

struct thread_list;

/* A backend's store of threads that began, changed or ended. */
struct thread_source {
    /* Adds all of them to `list`. */
    struct argus_error *(*read)(const struct thread_source *source, struct thread_list *list);
    /* Drops an ended thread; it may be gone already. */
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

/* Passes to `search` the names in the list, those that `source` has seen since, and those of live
 * threads. */
struct argus_error *thread_list_offer_names(const struct thread_list *list,
                                            const struct thread_source *source,
                                            struct name_search *search);

/* Writes the list, the threads that `source` has seen since, and the live threads: later entries
 * are newer. */
struct argus_error *thread_list_write(struct thread_list *list, const struct thread_source *source,
                                      struct argus_writer *writer);

/* For a ring file, as backend_renew_names(): writes the live threads, and ended ones that may have
 * records not yet read at the last call. Threads that ended earlier are dropped. */
struct argus_error *thread_list_renew(struct thread_list *list, const struct thread_source *source,
                                      uint64_t taken_ns, struct argus_writer *writer);

#endif
