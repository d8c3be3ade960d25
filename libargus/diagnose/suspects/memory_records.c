/* Stalls for memory and sizes of processes are not in the graph, which they do not change. So the
 * records of the window are read once more.
 *
 * What a process took is known in two ways: by how much it grew, and by how much its own threads
 * freed before they got it. A process that goes through more memory than there is takes all of it
 * without growing; one that grows while others free memory for it frees none itself.
 *
 * A page that comes back from the swap space is a page fault that waited for a disk request without
 * a file.
 */
#include "diagnose/suspects/memory_records.h"

#include "argus/record.h"
#include "base/idmap.h"
#include "diagnose/suspects/chunk_records.h"
#include "diagnose/vertex_deeds.h"
#include "event/tracepoints.h"

#define LOOK_BACK_NS   10000000000ull /* for the sizes of processes before the window */
#define OPERATION(arg) ((arg) >> 32 & 0xff)

struct reader {
    const struct view *view;
    const struct argus_trace *trace;
    struct window window;
    struct window part; /* whose records are kept */
    uint64_t tid;
    struct memory_want *want;
    VEC(struct argus_record) records; /* times in ns */
    struct idmap threads;             /* by ID: those that lived in the window */
    struct idmap takers;              /* process → index into want->takers */
    struct idmap members;             /* processes that were at the limit of the thread's group */
};

/* --- chunks --- */

static bool is_of_memory(uint32_t debugid)
{
    return debugid == ARGUS_ID_MEMORY_STALL || debugid == ARGUS_ID_MEMORY_GROUP ||
           debugid == ARGUS_ID_MEMORY_SIZE;
}

static bool keep(void *context, struct argus_record *records, size_t count)
{
    struct reader *reader = context;
    for (size_t i = 0; i < count; i++) {
        if (!is_of_memory(records[i].debugid))
            continue;
        struct argus_record record = records[i];
        record.timestamp = argus_trace_ticks_to_ns(reader->trace, record.timestamp);
        if (record.timestamp >= reader->part.start_ns && record.timestamp < reader->part.end_ns &&
            !vec_push(&reader->records, record))
            return false;
    }
    return true;
}

static struct argus_error *read_records(struct reader *reader, struct window part)
{
    reader->part = part;
    return chunk_records_read_window(reader->trace, part, keep, reader);
}

/* --- the thread --- */

static uint64_t overlap_ns(struct window window, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t from = start_ns > window.start_ns ? start_ns : window.start_ns;
    uint64_t to = end_ns < window.end_ns ? end_ns : window.end_ns;
    return to > from ? to - from : 0;
}

/* A stall ends at its record. */
static uint64_t stall_ns(const struct reader *reader, const struct argus_record *record)
{
    uint64_t length = record->arg[1] < record->timestamp ? record->arg[1] : record->timestamp;
    return overlap_ns(reader->window, record->timestamp - length, record->timestamp);
}

static void note_own(struct reader *reader)
{
    struct memory_want *want = reader->want;
    bool is_named = false; /* the record before was of the group that is kept */
    for (size_t i = 0; i < reader->records.length; i++) {
        const struct argus_record *record = &reader->records.data[i];
        uint32_t kind = ARGUS_MEMORY_STALL_KIND(record->arg[0]);
        if (record->tid != reader->tid)
            continue;
        if (record->debugid == ARGUS_ID_MEMORY_GROUP && is_named)
            tracepoint_name_bytes(record, want->group_name);
        is_named = false;
        if (record->debugid != ARGUS_ID_MEMORY_STALL || kind > ARGUS_MEMORY_COMPACTION)
            continue;
        uint64_t ns = stall_ns(reader, record);
        want->kind_ns[kind] += ns;
        if (!ns || !record->arg[2])
            continue;
        want->group = record->arg[2];
        want->limit_bytes = record->arg[3];
        is_named = true;
    }
}

/* Whether the wait of a page fault was for a page without a file. */
static bool is_swap_wait(const struct view *view, const struct argus_wait *wait)
{
    const struct argus_wait_detail *block =
        wait->kind == ARGUS_WAIT_FAULT ? wait_detail(view, wait, ARGUS_DETAIL_BLOCK) : NULL;
    return block && !block->arg[3] && OPERATION(block->arg[0]) == 0;
}

static void note_vertices(struct reader *reader, const struct diagnoser *d, uint32_t thread)
{
    struct memory_want *want = reader->want;
    for (uint32_t v = timeline_before(&d->view, thread, reader->window.start_ns + 1);
         v != ARGUS_NONE && d->view.vertices[v].start_ns < reader->window.end_ns;
         v = timeline_next(&d->view, v)) {
        const struct argus_vertex *vertex = &d->view.vertices[v];
        uint64_t most_ns = overlap_ns(reader->window, vertex->start_ns, vertex->end_ns);
        want->runnable_ns += vertex->runnable_ns < most_ns ? vertex->runnable_ns : most_ns;
        if (is_swap_wait(&d->view, &vertex->wait))
            want->swap_ns +=
                overlap_ns(reader->window, vertex->end_ns, timeline_wait_end(&d->view, v));
    }
}

/* --- the takers --- */

static bool map_threads(struct reader *reader)
{
    const struct view *view = reader->view;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct argus_thread *t = &view->threads[i];
        if (!t->idle && t->start_ns < reader->window.end_ns &&
            t->end_ns + LOOK_BACK_NS > reader->window.start_ns &&
            !idmap_put(&reader->threads, t->tid, i))
            return false;
    }
    return true;
}

/* NULL: no memory. */
static struct memory_taker *taker_of(struct reader *reader, uint32_t process)
{
    uint32_t at = idmap_get(&reader->takers, process);
    if (at != IDMAP_NONE)
        return &reader->want->takers.data[at];
    at = (uint32_t)reader->want->takers.length;
    if (!vec_push(&reader->want->takers,
                  (struct memory_taker){.process = process, .thread = ARGUS_NONE}) ||
        !idmap_put(&reader->takers, process, at))
        return NULL;
    return &reader->want->takers.data[at];
}

static bool find_members(struct reader *reader)
{
    for (size_t i = 0; reader->want->group && i < reader->records.length; i++) {
        const struct argus_record *record = &reader->records.data[i];
        uint32_t thread = idmap_get(&reader->threads, record->tid);
        if (record->debugid == ARGUS_ID_MEMORY_STALL && record->arg[2] == reader->want->group &&
            thread != IDMAP_NONE &&
            !idmap_put(&reader->members, reader->view->threads[thread].process, 0))
            return false;
    }
    return true;
}

static bool note_freed(struct reader *reader, const struct argus_record *record, uint32_t thread)
{
    uint64_t bytes = ARGUS_MEMORY_STALL_BYTES(record->arg[0]);
    struct memory_taker *taker = taker_of(reader, reader->view->threads[thread].process);
    if (!taker)
        return false;
    taker->freed_bytes += bytes;
    if (taker->thread == ARGUS_NONE || bytes > taker->thread_most) {
        taker->thread = thread;
        taker->thread_most = bytes;
    }
    return true;
}

/* The first size is the last one before the window, or else the first one in it. */
static bool note_size(struct reader *reader, const struct argus_record *record, uint32_t thread)
{
    struct memory_taker *taker = taker_of(reader, reader->view->threads[thread].process);
    uint64_t bytes = record->arg[1] + record->arg[2] + record->arg[3];
    uint64_t time_ns = record->timestamp, start_ns = reader->window.start_ns;
    if (!taker)
        return false;
    bool is_first = !taker->last_ns || (time_ns <= start_ns && time_ns >= taker->first_ns) ||
                    (time_ns <= taker->first_ns && taker->first_ns > start_ns);
    if (is_first) {
        taker->first_ns = time_ns;
        taker->first_bytes = bytes;
    }
    if (time_ns >= taker->last_ns) {
        taker->last_ns = time_ns;
        taker->last_bytes = bytes;
    }
    return true;
}

static bool note_takers(struct reader *reader)
{
    bool good = map_threads(reader) && find_members(reader);
    for (size_t i = 0; good && i < reader->records.length; i++) {
        const struct argus_record *record = &reader->records.data[i];
        bool is_size = record->debugid == ARGUS_ID_MEMORY_SIZE;
        bool is_stall = record->debugid == ARGUS_ID_MEMORY_STALL && stall_ns(reader, record);
        uint32_t thread = idmap_get(&reader->threads, is_size ? record->arg[0] : record->tid);
        if (thread == IDMAP_NONE || (!is_size && !is_stall) ||
            (reader->want->group &&
             idmap_get(&reader->members, reader->view->threads[thread].process) == IDMAP_NONE))
            continue;
        good = is_size ? note_size(reader, record, thread) : note_freed(reader, record, thread);
    }
    return good;
}

uint64_t memory_want_stalled_ns(const struct memory_want *want)
{
    uint64_t sum_ns = want->swap_ns;
    for (size_t i = 0; i < sizeof(want->kind_ns) / sizeof(want->kind_ns[0]); i++)
        sum_ns += want->kind_ns[i];
    return sum_ns;
}

bool memory_want_explains(const struct memory_want *want, struct window window)
{
    uint64_t stalled_ns = memory_want_stalled_ns(want), all_ns = window_ns(window);
    uint64_t rest_ns = all_ns > want->runnable_ns ? all_ns - want->runnable_ns : 0;
    return stalled_ns > 0 && stalled_ns >= want->runnable_ns && stalled_ns >= rest_ns / 2;
}

/* Most threads never lack memory: then the time before the window is not read. */
static struct argus_error *read_all(struct reader *reader, const struct diagnoser *d,
                                    uint32_t thread)
{
    uint64_t start_ns = reader->window.start_ns;
    struct window whole = {start_ns, reader->window.end_ns + 1}; /* what ends with it is in it */
    struct window before = {start_ns > LOOK_BACK_NS ? start_ns - LOOK_BACK_NS : 0, start_ns};
    struct argus_error *error = read_records(reader, whole);
    if (error || !reader->records.length)
        return error;
    note_own(reader);
    note_vertices(reader, d, thread);
    if (!memory_want_explains(reader->want, reader->window))
        return NULL;
    error = read_records(reader, before);
    return error || note_takers(reader) ? error : argus_error_memory();
}

struct argus_error *memory_want_read(const struct diagnoser *d, uint32_t thread,
                                     struct window window, struct memory_want *ret)
{
    struct reader reader = {.view = &d->view,
                            .trace = argus_graph_trace(d->view.graph),
                            .window = window,
                            .tid = d->view.threads[thread].tid,
                            .want = ret};
    *ret = (struct memory_want){.group = 0};
    if (!reader.trace || argus_trace_header(reader.trace)->os != ARGUS_OS_LINUX)
        return NULL;
    struct argus_error *error = read_all(&reader, d, thread);
    vec_deinit(&reader.records);
    idmap_deinit(&reader.threads);
    idmap_deinit(&reader.takers);
    idmap_deinit(&reader.members);
    return error;
}

void memory_want_deinit(struct memory_want *want)
{
    vec_deinit(&want->takers);
}
