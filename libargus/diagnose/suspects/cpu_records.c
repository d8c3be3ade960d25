/* Two passes over the chunks of the window. The first finds when the thread was runnable, on which
 * CPU it ran next (the CPU in whose run queue it was), and what the records say of its limits. The
 * second adds up which threads ran on each CPU in these spans.
 *
 * A runnable thread is in the run queue of one CPU, and such a CPU is not idle. If the CPU is idle
 * for most of a span, something other than threads held the thread back. On Linux that is nearly
 * always a quota.
 */
#include "diagnose/suspects/cpu_records.h"

#include <stdlib.h>

#include "base/overlap.h"
#include "diagnose/suspects/chunk_records.h"
#include "event/order.h"
#include "event/tracepoints.h"

#define NOWHERE UINT32_MAX
/* No machine that runs this has more; a damaged file could claim more. */
#define MOST_CPUS 1024
/* In so long a span, another thread that has no higher priority cannot run on the same CPU for
 * UNFAIR_NS if scheduling is fair: a turn takes a few milliseconds. */
#define LONG_SPAN_NS 500000000ull
#define UNFAIR_NS    200000000ull
/* What a thread did before the window is looked for so far back. */
#define LOOK_BACK_NS 2000000000ull

/* The state in which a record leaves the thread. */
enum change { CHANGE_WOKEN, CHANGE_RUNS, CHANGE_PREEMPTED, CHANGE_WAITS };

struct event {
    uint64_t time_ns;
    uint32_t cpu;
    uint8_t change; /* enum change */
    bool throttled;
};

/* A stretch in which the thread was runnable. */
struct span {
    uint64_t start_ns, end_ns, idle_ns;
    uint32_t cpu; /* the CPU of its run queue; NOWHERE */
    bool throttled;
    bool unfair;
};

struct cpu {
    uint32_t number;
    bool own;          /* the thread may use it, as far as known */
    uint64_t since_ns; /* its time is accounted for up to this moment */
    uint64_t next_tid; /* the thread that has run since then */
    size_t span;       /* the first span that has not ended by then */
};

struct reader;
typedef void (*on_record)(struct reader *reader, const struct argus_record *record);

struct reader {
    const struct argus_trace *trace;
    struct window window;
    uint64_t tid;
    struct cpu_want *want;
    on_record on; /* of the pass */
    VEC(struct event) events;
    VEC(struct span) spans;
    VEC(struct cpu) cpus;
    VEC(uint64_t) turns_ns; /* how long one thread ran during a long span, on that span's CPU */
    struct idmap turns;     /* span << 32 | user → its index */
    struct idmap cpu_numbers, users, groups; /* group: tid → index into group_ids */
    VEC(uint64_t) group_ids;
    bool throttled;         /* the thread's latest limits say so, and the switch is still to come */
    uint64_t name_of;       /* the group to which the next name belongs; 0: another one */
    uint32_t last_cpu;      /* on which the thread ran last before the window; NOWHERE */
    uint64_t last_ns;       /* when */
    uint64_t limits_far_ns; /* how far from the window want->cpus was recorded; 0: in it */
    bool no_memory;
};

/* --- chunks --- */

/* The affinity in the window was probably that of the nearest record. */
static void note_limits_outside(struct reader *reader, const struct argus_record *record)
{
    uint64_t time_ns = record->timestamp;
    uint64_t far_ns = time_ns < reader->window.start_ns ? reader->window.start_ns - time_ns
                                                        : time_ns - reader->window.end_ns + 1;
    if (record->tid != reader->tid || far_ns >= reader->limits_far_ns)
        return;
    reader->limits_far_ns = far_ns;
    reader->want->cpus = record->arg[0];
}

static void note_outside(struct reader *reader, const struct argus_record *record)
{
    bool is_before = record->timestamp < reader->window.start_ns;
    if (record->debugid == ARGUS_ID_CPU_LIMITS)
        note_limits_outside(reader, record);
    if (record->debugid != ARGUS_ID_SWITCH || !is_before || record->timestamp < reader->last_ns ||
        !(record->tid == reader->tid || record->arg[1] == reader->tid))
        return;
    reader->last_ns = record->timestamp;
    reader->last_cpu = record->cpu;
}

static bool read_records(void *context, struct argus_record *records, size_t count)
{
    struct reader *reader = context;
    for (size_t i = 1; i < count; i++) {
        if (records[i - 1].timestamp <= records[i].timestamp)
            continue;
        reader->no_memory |= !order_records(records, count);
        break;
    }
    for (size_t i = 0; i < count && !reader->no_memory; i++) {
        records[i].timestamp = argus_trace_ticks_to_ns(reader->trace, records[i].timestamp);
        if (records[i].timestamp >= reader->window.start_ns &&
            records[i].timestamp < reader->window.end_ns)
            reader->on(reader, &records[i]);
        else
            note_outside(reader, &records[i]);
    }
    return !reader->no_memory;
}

static struct argus_error *read_window(struct reader *reader, on_record on, uint64_t look_back_ns)
{
    uint64_t start_ns = reader->window.start_ns;
    struct window near = {start_ns > look_back_ns ? start_ns - look_back_ns : 0,
                          reader->window.end_ns};
    reader->on = on;
    return chunk_records_read_window(reader->trace, near, read_records, reader);
}

/* --- the first pass --- */

static void add_event(struct reader *reader, const struct argus_record *record, enum change change,
                      bool throttled)
{
    if (!vec_push(&reader->events,
                  (struct event){record->timestamp, record->cpu, (uint8_t)change, throttled}))
        reader->no_memory = true;
}

static void note_switch(struct reader *reader, const struct argus_record *record)
{
    if (record->tid == reader->tid) {
        add_event(reader, record, record->arg[0] ? CHANGE_WAITS : CHANGE_PREEMPTED,
                  reader->throttled);
        reader->throttled = false;
        if (record->arg[2])
            reader->want->priority = (int32_t)record->arg[2];
    }
    if (record->arg[1] == reader->tid) {
        add_event(reader, record, CHANGE_RUNS, false);
        if (record->arg[3])
            reader->want->priority = (int32_t)record->arg[3];
    }
}

static void note_limits(struct reader *reader, const struct argus_record *record)
{
    struct cpu_want *want = reader->want;
    uint64_t group = record->arg[1];
    if (group &&
        (!vec_push(&reader->group_ids, group) ||
         !idmap_put(&reader->groups, record->tid, (uint32_t)(reader->group_ids.length - 1))))
        reader->no_memory = true;
    reader->name_of = 0;
    if (record->tid != reader->tid)
        return;
    want->cpus = record->arg[0];
    reader->limits_far_ns = 0;
    reader->throttled = group != 0;
    if (!group)
        return;
    want->group = reader->name_of = group;
    want->quota_ns = record->arg[2];
    want->period_ns = record->arg[3];
}

static void find_changes(struct reader *reader, const struct argus_record *record)
{
    if (record->debugid == ARGUS_ID_SWITCH)
        note_switch(reader, record);
    else if (record->debugid == ARGUS_ID_MAKE_RUNNABLE && record->arg[0] == reader->tid)
        add_event(reader, record, CHANGE_WOKEN, false);
    else if (record->debugid == ARGUS_ID_CPU_LIMITS)
        note_limits(reader, record);
    else if (record->debugid == ARGUS_ID_CPU_GROUP && record->tid == reader->tid && reader->name_of)
        tracepoint_name_bytes(record, reader->want->group_name);
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (int)x->change - (int)y->change;
}

static void add_span(struct reader *reader, struct span span)
{
    if (span.end_ns > span.start_ns && !vec_push(&reader->spans, span))
        reader->no_memory = true;
}

static bool is_wanting(enum change change)
{
    return change == CHANGE_WOKEN || change == CHANGE_PREEMPTED;
}

/* The state before the first event. */
static enum change state_before(enum change first)
{
    return first == CHANGE_RUNS    ? CHANGE_PREEMPTED
           : first == CHANGE_WOKEN ? CHANGE_WAITS
                                   : CHANGE_RUNS;
}

static void make_spans(struct reader *reader)
{
    if (!reader->events.length)
        return;
    qsort(reader->events.data, reader->events.length, sizeof(struct event), by_time);
    enum change state = state_before((enum change)reader->events.data[0].change);
    struct span span = {.start_ns = reader->window.start_ns, .cpu = NOWHERE};
    for (size_t i = 0; i < reader->events.length; i++) {
        const struct event *event = &reader->events.data[i];
        if (event->change == CHANGE_WOKEN && state != CHANGE_WAITS)
            continue;
        span.end_ns = event->time_ns;
        if (event->change == CHANGE_RUNS)
            span.cpu = event->cpu;
        if (is_wanting(state))
            add_span(reader, span);
        state = (enum change)event->change;
        span = (struct span){.start_ns = event->time_ns,
                             .cpu = state == CHANGE_PREEMPTED ? event->cpu : NOWHERE,
                             .throttled = event->throttled};
    }
    span.end_ns = reader->window.end_ns;
    if (is_wanting(state))
        add_span(reader, span);
}

/* --- the second pass --- */

/* NULL: too many CPUs, or no memory. */
static struct cpu *cpu_at(struct reader *reader, uint32_t number)
{
    uint32_t at = idmap_get(&reader->cpu_numbers, number);
    if (at != IDMAP_NONE)
        return &reader->cpus.data[at];
    if (reader->cpus.length == MOST_CPUS)
        return NULL;
    struct cpu cpu = {.number = number, .since_ns = reader->window.start_ns};
    if (!vec_push(&reader->cpus, cpu) ||
        !idmap_put(&reader->cpu_numbers, number, (uint32_t)(reader->cpus.length - 1))) {
        reader->no_memory = true;
        return NULL;
    }
    return &reader->cpus.data[reader->cpus.length - 1];
}

static struct cpu_user *user_at(struct reader *reader, uint64_t tid)
{
    uint32_t at = idmap_get(&reader->users, tid);
    if (at != IDMAP_NONE)
        return &reader->want->users.data[at];
    uint32_t group = idmap_get(&reader->groups, tid);
    struct cpu_user user = {.tid = tid,
                            .group = group == IDMAP_NONE ? 0 : reader->group_ids.data[group],
                            .priority = ARGUS_PRIORITY_NONE};
    if (!vec_push(&reader->want->users, user) ||
        !idmap_put(&reader->users, tid, (uint32_t)(reader->want->users.length - 1))) {
        reader->no_memory = true;
        return NULL;
    }
    return &reader->want->users.data[reader->want->users.length - 1];
}

/* Adds that `user` ran for `ns` in span `at`, on the CPU in whose run queue the thread was. */
static void add_turn(struct reader *reader, size_t at, const struct cpu_user *user, uint64_t ns)
{
    struct span *span = &reader->spans.data[at];
    int32_t own = reader->want->priority;
    if (span->end_ns - span->start_ns < LONG_SPAN_NS || own < ARGUS_PRIORITY_USUAL ||
        user->priority < own)
        return;
    uint64_t key = (uint64_t)at << 32 | (uint32_t)(user - reader->want->users.data);
    uint32_t turns = idmap_get(&reader->turns, key);
    if (turns == IDMAP_NONE) {
        turns = (uint32_t)reader->turns_ns.length;
        if (!vec_push(&reader->turns_ns, 0) || !idmap_put(&reader->turns, key, turns)) {
            reader->no_memory = true;
            return;
        }
    }
    reader->turns_ns.data[turns] += ns;
    span->unfair |= reader->turns_ns.data[turns] >= UNFAIR_NS;
}

/* Whether a thread that runs on `cpu` in that span is in the way. The thread may have begun on
 * another CPU, before its affinity was set (taskset). */
static bool is_in_way(const struct reader *reader, const struct span *span, const struct cpu *cpu)
{
    uint64_t may_use = reader->want->cpus;
    bool is_known = may_use && cpu->number < 64 && (span->cpu < 64 || span->cpu == NOWHERE);
    if (!is_known)
        return cpu->own;
    if (span->cpu != NOWHERE && !(may_use >> span->cpu & 1))
        return span->cpu == cpu->number;
    return may_use >> cpu->number & 1;
}

/* Adds the time that `tid` ran on `cpu` since `cpu` was last accounted for. */
static void add_run(struct reader *reader, struct cpu *cpu, uint64_t tid, int32_t priority,
                    uint64_t until_ns)
{
    uint64_t from_ns = cpu->since_ns;
    cpu->since_ns = until_ns;
    struct cpu_user *user = tid ? user_at(reader, tid) : NULL;
    if (until_ns <= from_ns || (tid && !user))
        return;
    if (user) {
        user->ran_ns += until_ns - from_ns;
        user->priority = priority ? priority : user->priority;
    }
    while (cpu->span < reader->spans.length && reader->spans.data[cpu->span].end_ns <= from_ns)
        cpu->span++;
    for (size_t i = cpu->span;
         i < reader->spans.length && reader->spans.data[i].start_ns < until_ns; i++) {
        struct span *span = &reader->spans.data[i];
        uint64_t ns = overlap_ns(span->start_ns, span->end_ns, from_ns, until_ns);
        if (user && is_in_way(reader, span, cpu))
            user->in_way_ns += ns;
        if (span->cpu != cpu->number)
            continue;
        if (user)
            add_turn(reader, i, user, ns);
        else
            span->idle_ns += ns;
    }
}

static void add_runs(struct reader *reader, const struct argus_record *record)
{
    if (record->debugid != ARGUS_ID_SWITCH)
        return;
    struct cpu *cpu = cpu_at(reader, record->cpu);
    if (!cpu)
        return;
    add_run(reader, cpu, record->tid, (int32_t)record->arg[2], record->timestamp);
    cpu->next_tid = record->arg[1];
}

/* Of a thread that was woken and has not run since, nothing else tells the CPU. */
static void guess_own_cpu(struct reader *reader)
{
    struct cpu *cpu = reader->last_cpu == NOWHERE ? NULL : cpu_at(reader, reader->last_cpu);
    if (!cpu || reader->want->cpus || reader->want->seen_count || !reader->spans.length)
        return;
    cpu->own = true;
    reader->want->seen_cpu = reader->last_cpu;
    reader->want->seen_before = true;
}

/* Finds the CPUs that the thread may use: by its affinity, else those on which it ran after a
 * wait. */
static void find_own_cpus(struct reader *reader)
{
    struct cpu_want *want = reader->want;
    for (size_t i = 0; i < reader->spans.length && !reader->no_memory; i++) {
        uint32_t number = reader->spans.data[i].cpu;
        struct cpu *cpu = number == NOWHERE ? NULL : cpu_at(reader, number);
        if (!cpu || cpu->own)
            continue;
        cpu->own = true;
        want->seen_cpu = number;
        want->seen_count++;
    }
    for (uint32_t number = 0; want->cpus && number < 64; number++) {
        struct cpu *cpu = want->cpus >> number & 1 ? cpu_at(reader, number) : NULL;
        if (cpu)
            cpu->own = true;
    }
    guess_own_cpu(reader);
}

static void sum_spans(struct reader *reader)
{
    struct cpu_want *want = reader->want;
    for (size_t i = 0; i < reader->spans.length; i++) {
        const struct span *span = &reader->spans.data[i];
        uint64_t ns = span->end_ns - span->start_ns;
        want->runnable_ns += ns;
        if (span->throttled)
            want->throttled_ns += ns;
        else if (span->idle_ns >= ns / 2)
            want->idle_ns += span->idle_ns;
        else if (span->unfair)
            want->unfair_ns += ns;
    }
}

static struct argus_error *read_all(struct reader *reader)
{
    struct argus_error *error = read_window(reader, find_changes, LOOK_BACK_NS);
    if (error)
        return error;
    make_spans(reader);
    find_own_cpus(reader);
    error = read_window(reader, add_runs, 0);
    for (size_t i = 0; !error && i < reader->cpus.length; i++)
        if (reader->cpus.data[i].since_ns > reader->window.start_ns)
            add_run(reader, &reader->cpus.data[i], reader->cpus.data[i].next_tid, 0,
                    reader->window.end_ns);
    sum_spans(reader);
    return error ? error : reader->no_memory ? argus_error_memory() : NULL;
}

struct argus_error *cpu_want_read(const struct diagnoser *d, uint32_t thread, struct window window,
                                  struct cpu_want *ret)
{
    const struct argus_trace *trace = argus_graph_trace(d->view.graph);
    *ret = (struct cpu_want){.priority = ARGUS_PRIORITY_NONE};
    if (!trace || argus_trace_header(trace)->os != ARGUS_OS_LINUX)
        return NULL;
    struct reader reader = {.trace = trace,
                            .window = window,
                            .tid = d->view.threads[thread].tid,
                            .want = ret,
                            .last_cpu = NOWHERE,
                            .limits_far_ns = UINT64_MAX};
    struct argus_error *error = read_all(&reader);
    vec_deinit(&reader.events);
    vec_deinit(&reader.spans);
    vec_deinit(&reader.cpus);
    vec_deinit(&reader.group_ids);
    vec_deinit(&reader.turns_ns);
    idmap_deinit(&reader.turns);
    idmap_deinit(&reader.cpu_numbers);
    idmap_deinit(&reader.users);
    idmap_deinit(&reader.groups);
    return error;
}

void cpu_want_deinit(struct cpu_want *want)
{
    vec_deinit(&want->users);
}
