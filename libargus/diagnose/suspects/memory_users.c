/* A thread that got no memory: it had to free some first, or what it needed had been swapped out.
 * The process that took most of the memory is blamed before the thread itself. The result is
 * numbers; the report makes sentences of them (report/memory_words.c).
 */
#include <string.h>

#include "diagnose/diagnoser.h"
#include "diagnose/suspects/memory_records.h"

/* A process is blamed if it took so much of what all took … */
#define BLAMED_PERCENT 50u
/* … and not just some pages. */
#define BLAMED_BYTES (8ull << 20)

static uint64_t grown_bytes(const struct memory_taker *taker)
{
    return taker->last_ns && taker->last_bytes > taker->first_bytes
               ? taker->last_bytes - taker->first_bytes
               : 0;
}

static uint64_t taken_bytes(const struct memory_taker *taker)
{
    uint64_t grown = grown_bytes(taker);
    return grown > taker->freed_bytes ? grown : taker->freed_bytes;
}

/* The process that took most, if it is another one than `process`; NULL: none in particular. */
static const struct memory_taker *largest_taker(const struct memory_want *want,
                                                const struct view *view, uint32_t process,
                                                uint64_t *ret_all_bytes)
{
    const struct memory_taker *largest = NULL;
    *ret_all_bytes = 0;
    for (size_t i = 0; i < want->takers.length; i++) {
        const struct memory_taker *taker = &want->takers.data[i];
        *ret_all_bytes += taken_bytes(taker);
        if (!largest || taken_bytes(taker) > taken_bytes(largest))
            largest = taker;
    }
    if (!largest || largest->process == process || view->processes[largest->process].kernel ||
        taken_bytes(largest) < BLAMED_BYTES ||
        taken_bytes(largest) < *ret_all_bytes / 100 * BLAMED_PERCENT)
        return NULL;
    return largest;
}

/* The taker's thread that freed most; else its main thread. ARGUS_NONE: it did nothing. */
static uint32_t thread_of(const struct view *view, const struct memory_taker *taker)
{
    uint32_t thread = taker->thread;
    for (uint32_t i = 0; thread == ARGUS_NONE && i < view->thread_count; i++)
        if (view->threads[i].process == taker->process &&
            view->threads[i].tid == view->processes[taker->process].pid)
            thread = i;
    return thread == ARGUS_NONE || !view->threads[thread].vertex_count ? ARGUS_NONE : thread;
}

static struct argus_memory_lack lack_of(const struct memory_want *want)
{
    struct argus_memory_lack lack = {
        .stalled_ns = memory_want_stalled_ns(want),
        .reclaim_ns = want->kind_ns[ARGUS_MEMORY_RECLAIM],
        .group_reclaim_ns = want->kind_ns[ARGUS_MEMORY_GROUP_RECLAIM],
        .compaction_ns = want->kind_ns[ARGUS_MEMORY_COMPACTION],
        .swap_ns = want->swap_ns,
        .group = want->group,
        .limit_bytes = want->limit_bytes,
        .waiter = ARGUS_NONE,
    };
    memcpy(lack.group_name, want->group_name, sizeof(lack.group_name));
    return lack;
}

static struct argus_error *add(struct diagnoser *d, uint32_t vertex, uint8_t type,
                               struct window part, uint64_t ns,
                               const struct argus_memory_lack *lack)
{
    size_t before = d->culprits.length;
    struct argus_reason why = {.kind = ARGUS_REASON_MEMORY, .vertex = vertex};
    struct argus_error *error =
        diagnoser_add_culprit(d, vertex, (enum argus_vertex_type)type, part, ns, &why);
    if (!error && d->culprits.length > before)
        d->culprits.data[before].memory = *lack;
    return error;
}

static struct argus_error *blame_taker(struct diagnoser *d, const struct memory_taker *taker,
                                       struct window part, struct argus_memory_lack lack,
                                       uint32_t waiter)
{
    uint32_t thread = thread_of(&d->view, taker);
    if (thread == ARGUS_NONE)
        return NULL;
    uint32_t vertex = diagnoser_examine_thread(d, thread, part).figures.vertex;
    if (vertex == ARGUS_NONE)
        vertex = timeline_before(&d->view, thread, part.end_ns);
    if (vertex == ARGUS_NONE)
        return NULL;
    lack.waiter = waiter;
    lack.taken_bytes = taken_bytes(taker);
    lack.grown_bytes = grown_bytes(taker);
    lack.size_bytes = taker->last_bytes;
    uint64_t share = lack.all_bytes ? lack.taken_bytes * 100 / lack.all_bytes : 0;
    return add(d, vertex, ARGUS_TYPE_LONG_RUNNING, part, lack.stalled_ns / 100 * share, &lack);
}

struct argus_error *diagnoser_blame_memory(struct diagnoser *d, uint32_t vertex, uint8_t type,
                                           struct window part, bool *ret_done)
{
    struct memory_want want;
    uint32_t thread = d->view.vertices[vertex].thread;
    struct argus_error *error = memory_want_read(d, thread, part, &want);
    *ret_done = !error && memory_want_explains(&want, part);
    if (*ret_done) {
        struct argus_memory_lack lack = lack_of(&want);
        uint64_t most_ns = window_ns(part); /* a wait may be in a stall */
        lack.stalled_ns = lack.stalled_ns < most_ns ? lack.stalled_ns : most_ns;
        const struct memory_taker *taker =
            largest_taker(&want, &d->view, d->view.threads[thread].process, &lack.all_bytes);
        error = taker ? blame_taker(d, taker, part, lack, vertex) : NULL;
        if (!error)
            error = add(d, vertex, type, part, lack.stalled_ns, &lack);
    }
    memory_want_deinit(&want);
    return error;
}
