/* What each CPU ran: switches and wake-ups, as the kernel's tracepoints that Perfetto knows. From
 * these its trace processor makes the tracks of CPUs and the states of threads. */
#include <stdlib.h>

#include "base/lower_bound.h"
#include "export/perfetto_writer.h"

/* Events of one packet: all of one CPU. */
enum { MOST_EVENTS = 512 };

struct scheduling {
    struct perfetto *out;
    uint32_t *by_tid; /* owned: threads by ID, and those with the same ID by their beginning */
    ArgusPerfetto__FtraceEvent events[MOST_EVENTS], *pointers[MOST_EVENTS];
    ArgusPerfetto__SchedSwitch switches[MOST_EVENTS];
    ArgusPerfetto__SchedWaking wakings[MOST_EVENTS];
    size_t count;
    uint32_t cpu;
    bool lost; /* records of this CPU were lost before the events */
};

static int compare_lives(const void *left, const void *right, void *context)
{
    const struct argus_thread *threads = context;
    const struct argus_thread *a = &threads[*(const uint32_t *)left];
    const struct argus_thread *b = &threads[*(const uint32_t *)right];
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool sort_threads(struct scheduling *scheduling)
{
    const struct view *view = &scheduling->out->view;
    scheduling->by_tid = malloc((view->thread_count + 1) * sizeof(*scheduling->by_tid));
    if (!scheduling->by_tid)
        return false;
    for (uint32_t i = 0; i < view->thread_count; i++)
        scheduling->by_tid[i] = i;
    if (view->thread_count)
        qsort_r(scheduling->by_tid, view->thread_count, sizeof(*scheduling->by_tid), compare_lives,
                (void *)view->threads);
    return true;
}

/* The name of the thread that has the ID at a time. */
static char *name_of(const struct scheduling *scheduling, uint64_t tid, uint64_t time_ns)
{
    const struct argus_thread *threads = scheduling->out->view.threads;
    const uint32_t *by_tid = scheduling->by_tid;
    size_t at;
    if (tid == 0)
        return (char *)"swapper";
    LOWER_BOUND(at, scheduling->out->view.thread_count,
                threads[by_tid[at]].tid < tid ||
                    (threads[by_tid[at]].tid == tid && threads[by_tid[at]].start_ns <= time_ns));
    if (at > 0 && threads[by_tid[at - 1]].tid == tid)
        return (char *)threads[by_tid[at - 1]].name;
    return at < scheduling->out->view.thread_count && threads[by_tid[at]].tid == tid
               ? (char *)threads[by_tid[at]].name
               : (char *)"";
}

static void put_bundle(struct scheduling *scheduling)
{
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__FtraceBundle bundle = ARGUS_PERFETTO__FTRACE_BUNDLE__INIT;
    bundle.has_cpu = true;
    bundle.cpu = scheduling->cpu;
    bundle.event = scheduling->pointers;
    bundle.n_event = scheduling->count;
    bundle.has_lost_events = scheduling->lost;
    bundle.lost_events = scheduling->lost;
    packet.ftrace_events = &bundle;
    if (scheduling->count)
        perfetto_put(scheduling->out, &packet, PERFETTO_EVENTS);
    scheduling->count = 0;
    scheduling->lost = false;
}

/* The state as `sched_switch` reports it since Linux 4.14: include/trace/events/sched.h,
 * TASK_REPORT in include/linux/sched.h. */
static int64_t reported_state(uint64_t state)
{
    enum { KEPT = 0xf, NO_LOAD = 0x400, EXITED = 0x10, PARKED = 0x40, IDLE = 0x80 };
    if (state & ARGUS_LINUX_STATE_DEAD)
        return EXITED;
    if ((state & NO_LOAD) && (state & ARGUS_LINUX_STATE_UNINTERRUPTIBLE))
        return IDLE;
    return (int64_t)(state & (state & KEPT ? KEPT : PARKED));
}

static void fill_switch(struct scheduling *scheduling, const struct argus_record *record,
                        uint64_t time_ns)
{
    ArgusPerfetto__SchedSwitch *to = &scheduling->switches[scheduling->count];
    argus_perfetto__sched_switch__init(to);
    to->prev_comm = name_of(scheduling, record->tid, time_ns);
    to->next_comm = name_of(scheduling, record->arg[1], time_ns);
    to->has_prev_pid = to->has_next_pid = to->has_prev_prio = true;
    to->has_next_prio = to->has_prev_state = true;
    to->prev_pid = (int32_t)record->tid;
    to->next_pid = (int32_t)record->arg[1];
    to->prev_prio = (int32_t)record->arg[2];
    to->next_prio = (int32_t)record->arg[3];
    to->prev_state = reported_state(record->arg[0]);
    scheduling->events[scheduling->count].sched_switch = to;
}

static void fill_waking(struct scheduling *scheduling, const struct argus_record *record,
                        uint64_t time_ns)
{
    ArgusPerfetto__SchedWaking *to = &scheduling->wakings[scheduling->count];
    argus_perfetto__sched_waking__init(to);
    to->comm = name_of(scheduling, record->arg[0], time_ns);
    to->has_pid = to->has_prio = to->has_success = true;
    to->pid = (int32_t)record->arg[0];
    to->prio = (int32_t)record->arg[1];
    to->success = 1;
    scheduling->events[scheduling->count].sched_waking = to;
}

static void put_record(struct scheduling *scheduling, const struct argus_record *record)
{
    const struct argus_trace *trace = argus_graph_trace(scheduling->out->context->graph);
    uint64_t time_ns = argus_trace_ticks_to_ns(trace, record->timestamp);
    if (time_ns < scheduling->out->from_ns || time_ns > scheduling->out->until_ns ||
        (record->debugid != ARGUS_ID_SWITCH && record->debugid != ARGUS_ID_MAKE_RUNNABLE))
        return;
    if (record->cpu != scheduling->cpu || scheduling->count == MOST_EVENTS)
        put_bundle(scheduling);
    scheduling->cpu = record->cpu;
    ArgusPerfetto__FtraceEvent *event = &scheduling->events[scheduling->count];
    argus_perfetto__ftrace_event__init(event);
    event->has_timestamp = event->has_pid = true;
    event->timestamp = time_ns;
    event->pid = (uint32_t)record->tid;
    if (record->debugid == ARGUS_ID_SWITCH)
        fill_switch(scheduling, record, time_ns);
    else
        fill_waking(scheduling, record, time_ns);
    scheduling->pointers[scheduling->count++] = event;
}

/* Writes what a chunk has of the time; a damaged one is left out, as it is in the graph. */
static void put_chunk(struct scheduling *scheduling, const struct argus_chunk *chunk)
{
    const struct argus_trace *trace = argus_graph_trace(scheduling->out->context->graph);
    const struct perfetto *out = scheduling->out;
    if (argus_trace_ticks_to_ns(trace, chunk->last_ticks) < out->from_ns ||
        argus_trace_ticks_to_ns(trace, chunk->first_ticks) > out->until_ns || !chunk->count)
        return;
    struct argus_record *records = malloc(chunk->count * sizeof(*records));
    if (!records) {
        scheduling->out->failed = true;
        return;
    }
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    scheduling->lost = chunk->lost || error;
    for (uint32_t i = 0; !error && i < chunk->count; i++)
        put_record(scheduling, &records[i]);
    put_bundle(scheduling);
    argus_error_destroy(error);
    free(records);
}

void perfetto_put_scheduling(struct perfetto *out)
{
    const struct argus_trace *trace = argus_graph_trace(out->context->graph);
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    if (argus_trace_header(trace)->os != ARGUS_OS_LINUX)
        return;
    struct scheduling *scheduling = calloc(1, sizeof(*scheduling));
    if (scheduling)
        scheduling->out = out;
    if (!scheduling || !sort_threads(scheduling))
        out->failed = true;
    for (size_t i = 0; i < count && !perfetto_stopped(out); i++)
        put_chunk(scheduling, &chunks[i]);
    if (scheduling)
        free(scheduling->by_tid);
    free(scheduling);
}
