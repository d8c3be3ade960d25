#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/idmap.h"
#include "event/merge.h"
#include "event/pairing/pairing.h"
#include "event/tracepoints.h"
#include "graph/build/absence.h"
#include "graph/build/activity.h"
#include "graph/build/cut_points.h"
#include "graph/build/finish.h"
#include "graph/build/handlers.h"
#include "graph/file/graph_arrays.h"
#include "graph/flag_code.h"
#include "graph/known_code.h"
#include "graph/rules/message_edge.h"
#include "graph/schema/rule_binding.h"

typedef void (*handler)(struct builder *, struct cpu_state *, const struct argus_record *);

static const handler handlers[TRACEPOINT_COUNT] = {
#define TRACEPOINT(symbol, ...) [TRACEPOINT_##symbol] = graph_on_##symbol,
#include "event/tracepoints.def"
#undef TRACEPOINT
};

/* Records between two calls of the progress function. */
enum { PROGRESS_EVERY = 1 << 17 };

/* The thread that emitted a record runs on the cpu, whatever was believed before. */
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

/* Such a record may follow the switch by which its thread left the cpu, or belong to no cpu. */
static bool is_note(const struct builder *builder, const struct argus_record *record,
                    enum tracepoint_id id)
{
    if (id == TRACEPOINT_flag_write || id == TRACEPOINT_flag_read)
        return ARGUS_FLAG_BY(record->arg[2]) >= ARGUS_FLAG_BY_DEBUGGER;
    bool of_another = id == TRACEPOINT_exec || id == TRACEPOINT_name_exec ||
                      id == TRACEPOINT_name_thread || id == TRACEPOINT_thread_exit;
    /* the kernel writes such records on behalf of other threads */
    if (of_another && builder->os == ARGUS_OS_DARWIN)
        return true;
    return id == TRACEPOINT_stack || id == TRACEPOINT_object || id == TRACEPOINT_lock ||
           id == TRACEPOINT_file_lock || id == TRACEPOINT_file_lock_name ||
           id == TRACEPOINT_open_end || id == TRACEPOINT_waiting || id == TRACEPOINT_flag_shared ||
           id == TRACEPOINT_shared_memory || id == TRACEPOINT_remote ||
           id == TRACEPOINT_file_name || id == TRACEPOINT_call_path || id == TRACEPOINT_suspended ||
           id == TRACEPOINT_clock_step || id == TRACEPOINT_left_out;
}

/* Forgets what only the directly following record may refer to. Between a wake-up and what the
 * kernel then says about its reason, the scheduler may arm a timer for the end of the time slice
 * (hrtick_start() in kernel/sched/core.c; seen on Linux 7.3). */
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
    struct cpu_state *cpu = builder_cpu(builder, record->cpu);
    if (!cpu)
        return;
    if (!is_note(builder, record, id)) {
        if (!cpu->known || cpu->tid != record->tid)
            find_thread(builder, cpu, record->tid);
        cpu->position++;
        forget_last(cpu, id);
    }
    if (id != TRACEPOINT_left_out)
        builder->forgotten = 0;
    handlers[id](builder, cpu, record);
}

static void handle(struct builder *builder, const struct idmap *ids,
                   const struct argus_record *record)
{
    builder->now_ns = record->timestamp;
    if (builder->graph->machine.next_row_ns <= record->timestamp) {
        machine_apply_tables(&builder->graph->machine, record->timestamp);
        if (!builder_add_threads(builder))
            builder->no_memory = true;
    }
    uint32_t id = TRACEPOINT_syscall;
    if (!tracepoint_is_syscall(record->debugid))
        id = idmap_get(ids, ARGUS_DEBUGID_EVENT(record->debugid));
    if (id != IDMAP_NONE) {
        dispatch(builder, record, (enum tracepoint_id)id);
    } else if (record->debugid == MERGE_ID_LOST) {
        builder->graph->damaged_chunks += record->arg[2] != 0;
        pairing_lost(&builder->cut_points->pairing);
        struct cpu_state *cpu = builder_cpu(builder, record->cpu);
        if (cpu)
            graph_on_lost(builder, cpu, record);
    }
}

static struct argus_error *check_state(const struct builder *builder)
{
    const struct argus_graph *graph = builder->graph;
    if (builder->no_memory || builder->cut_points->pairing.no_memory || graph->machine.no_memory ||
        graph->stacks.no_memory)
        return machine_memory_error(&graph->machine);
    if (builder->full)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "%s: the graph needs more than 2^32 vertices, edges or samples",
                                  argus_trace_name(graph->trace));
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

static struct argus_error *finish(struct builder *builder)
{
    machine_finish(&builder->graph->machine);
    struct argus_error *error = check_state(builder);
    if (error)
        return error;
    if (!builder_add_threads(builder))
        return argus_error_memory();
    finish_open_ends(builder);
    finish_shared_memory(builder);
    pairing_finish(&builder->cut_points->pairing);
    builder->graph->messages = builder->cut_points->pairing.counts;
    if (builder_close_all(builder) && !finish_vertices(builder)) {
        error = builder->stopped ? interrupted() : check_state(builder);
        return error ? error : argus_error_memory();
    }
    finish_uses(builder);
    finish_object_names(builder);
    finish_left_out(builder);
    if (!absence_finish(builder))
        return argus_error_memory();
    return check_state(builder);
}

/* Turns paired messages into edges, and notes the messages that no thread has received. */
static void listen_to_messages(struct builder *builder)
{
    struct pairing *pairing = &builder->cut_points->pairing;
    pairing_init(pairing, argus_trace_header(builder->graph->trace)->page_bytes, rule_message,
                 builder);
    pairing->unread = absence_unread;
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

    struct rule_binding binding = {0};
    struct builder builder = {
        .graph = graph,
        .binding = &binding,
        .os = argus_trace_header(trace)->os,
        .arch = argus_trace_header(trace)->arch,
    };
    graph->rule_set = graph_rule_set_identity(options);
    const struct argus_rule_set *rules = options ? options->rules : NULL;
    bool ready = builder_init(&builder) && rules_init(graph, rules) &&
                 rule_binding_init(&binding, rules, trace);
    if (ready)
        listen_to_messages(&builder);
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
    rule_binding_deinit(&binding);
    if (error) {
        argus_graph_destroy(graph);
        return error;
    }
    graph->build_seconds = seconds_since(&start);
    *ret = graph;
    return NULL;
}
