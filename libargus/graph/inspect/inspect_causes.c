/* Wake-ups with an unknown cause, and long waits that ended without an edge (argus/inspect.h). */
#include "graph/inspect/inspector.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

const char *argus_no_cause_name(enum argus_no_cause why)
{
    static const char *const names[ARGUS_NO_CAUSES] = {
        [ARGUS_NO_CAUSE_TIMER] = "by time alone",
        [ARGUS_NO_CAUSE_DEVICE] = "by a device",
        [ARGUS_NO_CAUSE_KERNEL] = "by the kernel's own work or a thread that is not recorded",
        [ARGUS_NO_CAUSE_UNSEEN] = "without a wake-up on record",
        [ARGUS_NO_CAUSE_LOST] = "where records are missing",
    };
    return (unsigned)why < ARGUS_NO_CAUSES ? names[why] : "unknown";
}

/* The name of the recorder's process. */
#define RECORDER_NAME "argus-recorder"

/* A long wait without an edge, or a polling loop. */
struct candidate {
    uint64_t lasted_ns;
    uint32_t vertex, thread, stack;
    bool polls;
};

struct causes {
    struct inspector *inspector;
    struct argus_unexplained *threads; /* owned: by thread; later only those that are shown */
    struct example_list *examples;     /* owned: by thread */
    VEC(struct candidate) candidates;
    bool no_memory;
};

/* Whether the wait that ended before `vertex` has a cause in the graph. */
static bool has_cause(const struct causes *causes, uint32_t vertex)
{
    const struct inspector *inspector = causes->inspector;
    if (argus_graph_cause(inspector->graph, vertex) != ARGUS_NONE)
        return true;
    const struct argus_edge *in;
    size_t count = argus_graph_in_edges(inspector->graph, vertex, &in);
    for (size_t i = 0; i < count; i++)
        if (in[i].kind != ARGUS_EDGE_SEQUENCE &&
            in[i].to_ns == inspector->vertices[vertex].start_ns)
            return true;
    return false;
}

/* Whether the wait's result says that it timed out, even if no timer is on record. */
static bool ends_by_time(const struct argus_wait *wait)
{
    return wait->outcome == ARGUS_OUTCOME_TIMED_OUT ||
           (wait->kind == ARGUS_WAIT_SLEEP && wait->outcome == ARGUS_OUTCOME_SATISFIED);
}

/* Why the wait has no cause. If even the switch by which the thread continued is missing, more than
 * a waker's record is missing; then the vertex after the wait is marked. */
static enum argus_no_cause why_not(const struct argus_vertex *waited)
{
    bool no_switch = waited->wait.no_wakeup && (waited[1].flags & ARGUS_VERTEX_GAP);
    if (waited->wait.outcome == ARGUS_OUTCOME_UNKNOWN)
        return ARGUS_NO_CAUSE_LOST;
    if (waited->wait.by_device)
        return ARGUS_NO_CAUSE_DEVICE;
    if (waited->wait.by_timer || ends_by_time(&waited->wait))
        return ARGUS_NO_CAUSE_TIMER;
    if (no_switch)
        return ARGUS_NO_CAUSE_LOST;
    return waited->wait.no_wakeup ? ARGUS_NO_CAUSE_UNSEEN : ARGUS_NO_CAUSE_KERNEL;
}

/* Whether the thread's waits are listed. Those of kernel threads are not, nor those of the
 * recorder, which does not record its own wakers. */
static bool is_listed(const struct inspector *inspector, uint32_t vertex)
{
    const struct argus_process *process =
        &inspector->processes[inspector_process(inspector, vertex)];
    return !process->kernel && strcmp(process->name, RECORDER_NAME) != 0;
}

static void add_candidate(struct causes *causes, uint32_t vertex, uint64_t lasted_ns, bool polls)
{
    const struct argus_vertex *v = &causes->inspector->vertices[vertex];
    struct candidate candidate = {lasted_ns, vertex, v->thread, v->wait.user_stack, polls};
    if (!vec_push(&causes->candidates, candidate))
        causes->no_memory = true;
}

/* Notes the wait of `vertex`, which has ended, if the next vertex has no cause. */
static void note_unexplained(struct causes *causes, uint32_t vertex)
{
    const struct inspector *inspector = causes->inspector;
    const struct argus_vertex *waited = &inspector->vertices[vertex];
    enum argus_no_cause why = why_not(waited);
    uint64_t wait_ns = argus_vertex_wait_ns(waited);
    struct argus_unexplained *thread = &causes->threads[waited->thread];
    inspector->result->unexplained_totals[why]++;
    thread->counts[why]++;
    if (why < ARGUS_NO_CAUSE_KERNEL)
        return;
    thread->waited_ns += wait_ns;
    examples_offer(&causes->examples[waited->thread], vertex, wait_ns);
    if (why != ARGUS_NO_CAUSE_LOST && wait_ns >= inspector->options->long_ns &&
        waited->wait.kind != ARGUS_WAIT_STOPPED)
        add_candidate(causes, vertex, wait_ns, false);
}

static bool reads_a_flag(const struct causes *causes, uint32_t vertex)
{
    const struct argus_edge *in;
    size_t count = argus_graph_in_edges(causes->inspector->graph, vertex, &in);
    for (size_t i = 0; i < count; i++)
        if (in[i].kind == ARGUS_EDGE_FLAG)
            return true;
    return false;
}

static void look_at_polling(struct causes *causes, uint32_t vertex)
{
    const struct inspector *inspector = causes->inspector;
    const struct argus_vertex *v = &inspector->vertices[vertex];
    uint64_t long_ns = inspector->options->long_ns;
    if (argus_vertex_type(v, long_ns) == ARGUS_TYPE_REPEATED_YIELD && !reads_a_flag(causes, vertex))
        add_candidate(causes, vertex, v->end_ns - v->start_ns, true);
}

static void look_at(struct causes *causes, uint32_t vertex)
{
    const struct inspector *inspector = causes->inspector;
    const struct argus_vertex *v = &inspector->vertices[vertex];
    inspector->result->gap_vertices += (v->flags & ARGUS_VERTEX_GAP) != 0;
    bool last = vertex + 1 == inspector->vertex_count || v[1].thread != v->thread;
    bool ended = !last && v->wait.kind != ARGUS_WAIT_NONE && v->wait.outcome != ARGUS_OUTCOME_NEVER;
    bool unexplained = ended && !has_cause(causes, vertex + 1);
    if (!is_listed(inspector, vertex)) {
        inspector->result->kernel_unexplained += unexplained;
        return;
    }
    look_at_polling(causes, vertex);
    causes->threads[v->thread].wakeups += ended;
    inspector->result->wakeups += ended;
    if (unexplained)
        note_unexplained(causes, vertex);
}

/* --- threads --- */

static uint64_t sum_counts(const struct argus_unexplained *thread)
{
    uint64_t sum = 0;
    for (int i = 0; i < ARGUS_NO_CAUSES; i++)
        sum += thread->counts[i];
    return sum;
}

/* Orders waits with an unknown cause before those whose waker is known but not in the trace. */
static int by_waiting(const void *left, const void *right)
{
    const struct argus_unexplained *a = left, *b = right;
    if (a->waited_ns != b->waited_ns)
        return a->waited_ns > b->waited_ns ? -1 : 1;
    uint64_t counts[2] = {sum_counts(a), sum_counts(b)};
    if (counts[0] != counts[1])
        return counts[0] > counts[1] ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* Moves the threads with findings to the front, the worst first. */
static void choose_threads(struct causes *causes)
{
    struct argus_inspection *result = causes->inspector->result;
    size_t limit = causes->inspector->options->limit, kept = 0;
    for (size_t i = 0; i < causes->inspector->thread_count; i++) {
        struct argus_unexplained *thread = &causes->threads[i];
        thread->thread = (uint32_t)i;
        thread->example_count = causes->examples[i].count;
        memcpy(thread->examples, causes->examples[i].vertices, sizeof(thread->examples));
        if (sum_counts(thread))
            causes->threads[kept++] = *thread;
    }
    qsort(causes->threads, kept, sizeof(*causes->threads), by_waiting);
    result->unexplained_threads = kept;
    result->unexplained_count = kept < limit ? kept : limit;
    result->unexplained = causes->threads;
    causes->threads = NULL;
}

/* --- places in the code --- */

static int by_place(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->polls != b->polls)
        return a->polls ? 1 : -1;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return a->vertex < b->vertex ? -1 : a->vertex > b->vertex;
}

static bool is_same_place(const struct candidate *a, const struct candidate *b)
{
    return a->thread == b->thread && a->polls == b->polls && a->stack == b->stack;
}

static int by_total(const void *left, const void *right)
{
    const struct argus_missing_edge *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return a->examples[0] < b->examples[0] ? -1 : a->examples[0] > b->examples[0];
}

/* Makes one entry of all candidates of one place. Returns how many there are. */
static size_t merge_place(const struct candidate *candidates, size_t count,
                          struct argus_missing_edge *ret)
{
    struct example_list examples = {0};
    size_t same = 0;
    *ret = (struct argus_missing_edge){
        .thread = candidates->thread, .stack = candidates->stack, .polls = candidates->polls};
    for (; same < count && is_same_place(candidates, &candidates[same]); same++) {
        uint64_t lasted_ns = candidates[same].lasted_ns;
        ret->waits++;
        ret->total_ns += lasted_ns;
        if (ret->longest_ns < lasted_ns)
            ret->longest_ns = lasted_ns;
        examples_offer(&examples, candidates[same].vertex, lasted_ns);
    }
    ret->example_count = examples.count;
    memcpy(ret->examples, examples.vertices, sizeof(ret->examples));
    return same;
}

static struct argus_error *choose_places(struct causes *causes)
{
    struct argus_inspection *result = causes->inspector->result;
    struct candidate *candidates = causes->candidates.data;
    size_t count = causes->candidates.length, limit = causes->inspector->options->limit;
    result->missing = calloc(count + 1, sizeof(*result->missing));
    if (!result->missing)
        return argus_error_memory();
    if (count)
        qsort(candidates, count, sizeof(*candidates), by_place);
    for (size_t i = 0; i < count;)
        i += merge_place(candidates + i, count - i, &result->missing[result->missing_places++]);
    qsort(result->missing, result->missing_places, sizeof(*result->missing), by_total);
    result->missing_count = result->missing_places < limit ? result->missing_places : limit;
    return NULL;
}

struct argus_error *inspect_causes(struct inspector *inspector)
{
    struct causes causes = {
        .inspector = inspector,
        .threads = calloc(inspector->thread_count + 1, sizeof(*causes.threads)),
        .examples = calloc(inspector->thread_count + 1, sizeof(*causes.examples)),
    };
    struct argus_error *error = NULL;
    causes.no_memory = !causes.threads || !causes.examples;
    for (size_t i = 0; i < inspector->vertex_count && !causes.no_memory; i++)
        look_at(&causes, (uint32_t)i);
    if (causes.no_memory) {
        error = argus_error_memory();
    } else {
        choose_threads(&causes);
        error = choose_places(&causes);
    }
    free(causes.threads);
    free(causes.examples);
    vec_deinit(&causes.candidates);
    return error;
}
