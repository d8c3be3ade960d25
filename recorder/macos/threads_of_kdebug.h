/* Live and recently ended threads, from kdebug's map. */
#ifndef ARGUS_RECORDER_MACOS_THREADS_OF_KDEBUG_H
#define ARGUS_RECORDER_MACOS_THREADS_OF_KDEBUG_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "macos/kdebug_layout.h"
#include "macos/kdebug_os.h"

struct kdebug_known_thread {
    uint64_t tid, seen_ns;
    uint32_t pid, missed; /* consecutive readings of the map without it */
    bool is_kernel;
    char name[sizeof(((struct kdebug_thread *)0)->name) + 1];
};

struct kdebug_threads {
    VEC(struct kdebug_known_thread) known;
    struct idmap by_tid;
};

void kdebug_threads_deinit(struct kdebug_threads *threads);

/* Reads the kernel's current map into the table. Ended threads stay for some more readings, so that
 * records read later have a name. */
struct argus_error *kdebug_threads_read(struct kdebug_threads *threads, const struct kdebug_os *os,
                                        uint64_t now_ns);
struct argus_error *kdebug_threads_write(const struct kdebug_threads *threads,
                                         struct argus_writer *writer);
/* The processes of the table, each once, by number; the caller frees `*ret`. False without
 * memory. */
bool kdebug_threads_processes(const struct kdebug_threads *threads, uint32_t **ret,
                              size_t *ret_count);

#endif
