#include "macos/threads_of_kdebug.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compat.h"

#define FIRST_ROOM 8192u
#define MOST_ROOM  (1u << 20)
#define KEPT       4u /* readings of the map for which an ended thread stays */
#define KERNEL     "kernel_task"

void kdebug_threads_deinit(struct kdebug_threads *threads)
{
    vec_deinit(&threads->known);
    idmap_deinit(&threads->by_tid);
}

/* More threads may have started since the kernel reported their number: then the map is read again
 * with more room. */
static struct argus_error *read_map(const struct kdebug_os *os, struct kdebug_thread **ret,
                                    size_t *ret_count)
{
    for (size_t room = FIRST_ROOM; room <= MOST_ROOM; room *= 4) {
        struct kdebug_thread *map = calloc(room, sizeof(*map));
        size_t bytes = room * sizeof(*map);
        if (!map)
            return argus_error_memory();
        int number = os->kdebug(os->context, KDEBUG_READ_THREADS, 0, map, &bytes);
        if (!number && bytes <= room * sizeof(*map)) {
            *ret = map;
            *ret_count = bytes / sizeof(*map);
            return NULL;
        }
        free(map);
        if (number && number != ENOMEM && number != EINVAL)
            return argus_error_os(number, "cannot read kdebug's map of threads");
    }
    return argus_error_create(ARGUS_ERROR_FORMAT, "kdebug's map has more than %u threads",
                              MOST_ROOM);
}

static bool put(struct kdebug_threads *threads, const struct kdebug_thread *entry, uint64_t now_ns)
{
    struct kdebug_known_thread thread = {.tid = entry->tid, .seen_ns = now_ns};
    memcpy(thread.name, entry->name, sizeof(entry->name));
    /* The map has 1 for launchd and for the kernel. */
    thread.is_kernel = entry->pid == 1 && strcmp(thread.name, KERNEL) == 0;
    thread.pid = thread.is_kernel ? 0 : (uint32_t)entry->pid;
    uint32_t index = idmap_get(&threads->by_tid, entry->tid);
    if (index != IDMAP_NONE) {
        threads->known.data[index] = thread;
        return true;
    }
    return vec_push(&threads->known, thread) &&
           idmap_put(&threads->by_tid, entry->tid, (uint32_t)threads->known.length - 1);
}

/* Rebuilds the table of tids without threads that have been missing for long. */
static bool drop_old(struct kdebug_threads *threads)
{
    size_t kept = 0;
    idmap_clear(&threads->by_tid);
    for (size_t i = 0; i < threads->known.length; i++) {
        struct kdebug_known_thread thread = threads->known.data[i];
        if (thread.missed > KEPT)
            continue;
        threads->known.data[kept] = thread;
        if (!idmap_put(&threads->by_tid, thread.tid, (uint32_t)kept))
            return false;
        kept++;
    }
    threads->known.length = kept;
    return true;
}

struct argus_error *kdebug_threads_read(struct kdebug_threads *threads, const struct kdebug_os *os,
                                        uint64_t now_ns)
{
    struct kdebug_thread *map = NULL;
    size_t count = 0;
    struct argus_error *error = read_map(os, &map, &count);
    if (error)
        return error;
    for (size_t i = 0; i < threads->known.length; i++)
        threads->known.data[i].missed++;
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = map[i].pid <= 0 || put(threads, &map[i], now_ns);
    free(map);
    return good && drop_old(threads) ? NULL : argus_error_memory();
}

struct argus_error *kdebug_threads_write(const struct kdebug_threads *threads,
                                         struct argus_writer *writer)
{
    size_t count = threads->known.length;
    struct argus_thread_entry *entries = calloc(count ? count : 1, sizeof(*entries));
    if (!entries)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++) {
        const struct kdebug_known_thread *thread = &threads->known.data[i];
        entries[i] = (struct argus_thread_entry){
            .tid = thread->tid,
            .pid = thread->pid,
            .seen_ticks = thread->seen_ns,
            .name = thread->name,
            .kernel = thread->is_kernel,
        };
    }
    struct argus_error *error = argus_writer_threads(writer, entries, count);
    free(entries);
    return error;
}

static int compare_pids(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

bool kdebug_threads_processes(const struct kdebug_threads *threads, uint32_t **ret,
                              size_t *ret_count)
{
    size_t count = threads->known.length, kept = 0;
    uint32_t *pids = reallocarray(NULL, count ? count : 1, sizeof(*pids));
    if (!pids)
        return false;
    for (size_t i = 0; i < count; i++)
        pids[i] = threads->known.data[i].pid;
    qsort(pids, count, sizeof(*pids), compare_pids);
    for (size_t i = 0; i < count; i++)
        if (pids[i] && (kept == 0 || pids[kept - 1] != pids[i]))
            pids[kept++] = pids[i];
    *ret = pids;
    *ret_count = kept;
    return true;
}
