#include "graph/build/builder.h"
#include "graph/flag_code.h"
#include "graph/known_code.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/idmap.h"
#include "graph/file/graph_arrays.h"

typedef void (*handler)(struct builder *, struct cpu_state *, const struct argus_record *);

static const handler handlers[TRACEPOINT_COUNT] = {
#define TRACEPOINT(symbol, ...) [TRACEPOINT_##symbol] = graph_on_##symbol,
#include "event/tracepoints.def"
#undef TRACEPOINT
};

/* Records between two calls of the progress function. */
enum { PROGRESS_EVERY = 1 << 17 };

static struct cpu_state *cpu_of(struct builder *builder, uint32_t number)
{
    uint32_t index = idmap_get(&builder->cpu_by_number, number);
    if (index != IDMAP_NONE)
        return &builder->cpus.data[index];
    struct cpu_state made = {
        .cpu = number,
        .thread = ARGUS_NONE,
        .bh_queuer = {.thread = ARGUS_NONE, .slot = ARGUS_NONE},
        .itimer = ARGUS_NONE,
        .last_new = ARGUS_NONE,
        .wakee = ARGUS_NONE,
        .wake_stack = ARGUS_NONE,
    };
    index = (uint32_t)builder->cpus.length;
    if (!vec_push(&builder->cpus, made) || !idmap_put(&builder->cpu_by_number, number, index)) {
        builder->no_memory = true;
        return NULL;
    }
    return &builder->cpus.data[index];
}

/* States for all threads that the machine knows. */
static bool add_states(struct builder *builder)
{
    size_t wanted = builder->graph->machine.threads.length;
    if (!vec_reserve(&builder->threads, wanted - builder->threads.length))
        return false;
    while (builder->threads.length < wanted) {
        struct thread_state *state = &builder->threads.data[builder->threads.length++];
        *state = (struct thread_state){
            .slot = ARGUS_NONE,
            .previous = ARGUS_NONE,
            .older = ARGUS_NONE,
            .spare = {ARGUS_NONE, ARGUS_NONE},
            .own_timer = ARGUS_NONE,
            .marks = {.begun = {.slot = ARGUS_NONE},
                      .ended = {.slot = ARGUS_NONE},
                      .last = {.slot = ARGUS_NONE}},
            .open = {.loop = {.thread = ARGUS_NONE, .slot = ARGUS_NONE}},
            .syscall = ARGUS_NO_SYSCALL,
            .restart.syscall = ARGUS_NO_SYSCALL,
        };
        wait_forget_notes(state);
    }
    return true;
}

uint32_t builder_thread(struct builder *builder, uint64_t tid)
{
    uint32_t thread = machine_thread(&builder->graph->machine, tid);
    if (builder->threads.length < builder->graph->machine.threads.length && !add_states(builder)) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    return thread;
}

/* The thread that emitted a record is on the cpu, whatever was thought before. */
static void find_thread(struct builder *builder, struct cpu_state *cpu, uint64_t tid)
{
    if (cpu->known && cpu->thread != ARGUS_NONE)
        thread_lose(builder, cpu->thread, 0);
    cpu->tid = tid;
    cpu->known = true;
    cpu->thread = builder_thread(builder, tid);
    if (cpu->thread != ARGUS_NONE)
        thread_run(builder, cpu->thread, cpu, false);
}

/* These may stand behind the switch by which their thread left, or belong to no cpu. */
static bool is_note(const struct builder *builder, const struct argus_record *record,
                    enum tracepoint_id id)
{
    if (id == TRACEPOINT_flag_write || id == TRACEPOINT_flag_read)
        return ARGUS_FLAG_BY(record->arg[2]) >= ARGUS_FLAG_BY_DEBUGGER;
    bool of_another = id == TRACEPOINT_exec || id == TRACEPOINT_name_exec ||
                      id == TRACEPOINT_name_thread || id == TRACEPOINT_thread_exit;
    if (of_another && builder->os == ARGUS_OS_DARWIN) /* the kernel writes them for other threads */
        return true;
    return id == TRACEPOINT_stack || id == TRACEPOINT_object || id == TRACEPOINT_lock ||
           id == TRACEPOINT_suspended || id == TRACEPOINT_clock_step;
}

/* What only the record just behind may refer to. Between a wake-up and what the kernel says next of its reason, the scheduler may arm a
 * timer for the end of the time slice (hrtick_start() in kernel/sched/core.c; seen on Linux 7.3). */
static void forget_last(struct cpu_state *cpu, enum tracepoint_id id)
{
    cpu->wakee = ARGUS_NONE;
    if (id == TRACEPOINT_make_runnable || id == TRACEPOINT_timer_armed)
        return;
    cpu->wake_stack = ARGUS_NONE;
    if (!cpu_interrupted(cpu))
        cpu->completing = false;
    if (id == TRACEPOINT_signal_sent)
        return;
    cpu->woken_count = 0;
    cpu->itimer = ARGUS_NONE;
}

static void dispatch(struct builder *builder, const struct argus_record *record,
                     enum tracepoint_id id)
{
    struct cpu_state *cpu = cpu_of(builder, record->cpu);
    if (!cpu)
        return;
    if (!is_note(builder, record, id)) {
        if (!cpu->known || cpu->tid != record->tid)
            find_thread(builder, cpu, record->tid);
        cpu->position++;
        forget_last(cpu, id);
    }
    handlers[id](builder, cpu, record);
}

static void handle(struct builder *builder, const struct idmap *ids,
                   const struct argus_record *record)
{
    builder->now_ns = record->timestamp;
    if (builder->graph->machine.next_row_ns <= record->timestamp) {
        machine_apply_tables(&builder->graph->machine, record->timestamp);
        if (!add_states(builder))
            builder->no_memory = true;
    }
    uint32_t id = TRACEPOINT_syscall;
    if (!tracepoint_is_syscall(record->debugid))
        id = idmap_get(ids, ARGUS_DEBUGID_EVENT(record->debugid));
    if (id != IDMAP_NONE) {
        dispatch(builder, record, (enum tracepoint_id)id);
    } else if (record->debugid == MERGE_ID_LOST) {
        builder->graph->damaged_chunks += record->arg[2] != 0;
        pairing_lost(&builder->pairing);
        struct cpu_state *cpu = cpu_of(builder, record->cpu);
        if (cpu)
            graph_on_lost(builder, cpu, record);
    }
}

static struct argus_error *check_state(const struct builder *builder)
{
    const struct argus_graph *graph = builder->graph;
    if (builder->no_memory || builder->pairing.no_memory || graph->machine.no_memory ||
        graph->stacks.no_memory)
        return argus_error_memory();
    if (builder->full)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "%s: the graph needs more than 2^32 vertices, edges or samples",
                                  argus_trace_path(graph->trace));
    return NULL;
}

static bool fill_ids(struct idmap *ids)
{
    for (uint32_t i = 0; i < TRACEPOINT_COUNT; i++)
        if (!idmap_put(ids, tracepoints[i].debugid, i))
            return false;
    return true;
}

static struct argus_error *interrupted(void)
{
    return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
}

static struct argus_error *run(struct builder *builder, struct merge *merge,
                               const struct idmap *ids, argus_progress progress, void *context)
{
    uint64_t total = argus_trace_record_count(builder->graph->trace), next_report = 0;
    for (;;) {
        const struct argus_record *record;
        struct argus_error *error = merge_next(merge, &record);
        if (error)
            return error;
        if (merge_position(merge) >= next_report || !record) {
            next_report = merge_position(merge) + PROGRESS_EVERY;
            double share = total ? (double)merge_position(merge) / (double)total : 1.0;
            if (progress && !progress(context, "building the graph", share))
                return interrupted();
            error = check_state(builder);
            if (error)
                return error;
        }
        if (!record)
            return NULL;
        handle(builder, ids, record);
    }
}

static struct argus_error *read_all(struct builder *builder, argus_progress progress, void *context)
{
    struct idmap ids = {0};
    struct merge *merge = NULL;
    struct argus_error *error = fill_ids(&ids) ? NULL : argus_error_memory();
    if (!error)
        error = merge_create(builder->graph->trace, &merge);
    if (!error)
        error = run(builder, merge, &ids, progress, context);
    merge_destroy(merge);
    idmap_deinit(&ids);
    return error;
}

bool builder_goes_on(struct builder *builder, double share)
{
    if (!builder->stopped && builder->progress &&
        !builder->progress(builder->progress_context, "putting the graph in order", share))
        builder->stopped = true;
    return !builder->stopped;
}

static struct argus_error *finish(struct builder *builder)
{
    machine_finish(&builder->graph->machine);
    struct argus_error *error = check_state(builder);
    if (error)
        return error;
    if (!add_states(builder))
        return argus_error_memory();
    pairing_finish(&builder->pairing);
    builder->graph->messages = builder->pairing.counts;
    if (builder_close_all(builder) && !finish_vertices(builder))
        return builder->stopped ? interrupted() : argus_error_memory();
    finish_uses(builder);
    if (!absence_finish(builder))
        return argus_error_memory();
    return check_state(builder);
}

static void builder_deinit(struct builder *builder)
{
    for (size_t i = 0; i < builder->threads.length; i++)
        vec_deinit(&builder->threads.data[i].ops);
    vec_deinit(&builder->threads);
    pairing_deinit(&builder->pairing);
    vec_deinit(&builder->cpus);
    vec_deinit(&builder->timers);
    vec_deinit(&builder->works);
    vec_deinit(&builder->queued);
    vec_deinit(&builder->queue_order);
    rule_binding_deinit(&builder->binding);
    vec_deinit(&builder->ui_reads);
    vec_deinit(&builder->requests);
    vec_deinit(&builder->signals);
    vec_deinit(&builder->itimers);
    vec_deinit(&builder->away);
    vec_deinit(&builder->talks);
    vec_deinit(&builder->flags);
    vec_deinit(&builder->flag_readers);
    flag_code_destroy(builder->flag_code);
    vec_deinit(&builder->vouchers);
    vec_deinit(&builder->looked_up);
    vec_deinit(&builder->use_next);
    vec_deinit(&builder->sample_slots);
    idmap_deinit(&builder->cpu_by_number);
    idmap_deinit(&builder->timer_by_key);
    idmap_deinit(&builder->work_by_key);
    idmap_deinit(&builder->queued_by_key);
    idmap_deinit(&builder->ui_read_by_key);
    idmap_deinit(&builder->request_by_key);
    idmap_deinit(&builder->signal_by_key);
    idmap_deinit(&builder->itimer_by_key);
    idmap_deinit(&builder->flag_by_key);
    idmap_deinit(&builder->flag_reader_by_key);
    idmap_deinit(&builder->voucher_by_key);
    idmap_deinit(&builder->looked_up_by_thread);
    idmap_deinit(&builder->use_by_key);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

struct argus_error *argus_graph_build(const struct argus_trace *trace,
                                      const struct argus_graph_options *options,
                                      argus_progress progress, void *context,
                                      struct argus_graph **ret)
{
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    struct argus_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return argus_error_memory();
    graph->trace = trace;
    graph->stacks.trace = trace;
    argus_trace_time_range(trace, &graph->start_ns, &graph->end_ns);

    struct builder builder = {
        .graph = graph,
        .os = argus_trace_header(trace)->os,
        .arch = argus_trace_header(trace)->arch,
    };
    graph->rule_set = graph_rule_set_identity(options);
    pairing_init(&builder.pairing, argus_trace_header(trace)->page_bytes, rule_message, &builder);
    builder.pairing.unread = absence_unread;
    const struct argus_rule_set *rules = options ? options->rules : NULL;
    bool ready = rules_init(graph, rules) && rule_binding_init(&builder.binding, rules, trace);
    struct argus_error *error = machine_init(&graph->machine, trace);
    if (!error && !ready)
        error = argus_error_memory();
    builder.progress = progress;
    builder.progress_context = context;
    if (!error)
        error = read_all(&builder, progress, context);
    if (!error)
        error = finish(&builder);
    if (!error)
        error = graph_keep_code(graph);
    builder_deinit(&builder);
    if (error) {
        argus_graph_destroy(graph);
        return error;
    }
    graph->build_seconds = seconds_since(&start);
    *ret = graph;
    return NULL;
}
