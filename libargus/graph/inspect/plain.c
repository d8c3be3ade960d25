/* The plain causal graph: the result of causal tracing that trusts all wake-ups and messages.
 *
 * It has the same threads as the Argus graph, so that both can be compared: an id and a time
 * identify a thread's life. A wake-up can be recorded shortly before the switch of the thread that
 * it wakes (the reason is in libargus/graph/build/activity.c); then it ends the wait at once. Lost
 * records make the plain vertices longer, as they would for any such tool.
 */
#include "argus/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/compat.h"
#include "base/idmap.h"
#include "base/lower_bound.h"
#include "base/vec.h"
#include "event/merge.h"
#include "event/tracepoints.h"

/* As in activity.c. */
#define EARLY_WAKEUP_NS 1000000u

/* Records between two calls of the progress function. */
enum { PROGRESS_EVERY = 1 << 17 };

struct plain_thread {
    uint64_t left_ns;  /* when it last left the cpu */
    uint64_t early_ns; /* time of a wake-up while it ran; 0: none */
    uint32_t early_from;
    uint32_t vertex; /* its latest vertex; ARGUS_NONE: none yet */
    bool waits, on_cpu;
};

struct argus_plain {
    VEC(struct argus_plain_vertex) vertices;
    VEC(struct argus_plain_edge) edges;
};

struct plain_builder {
    struct argus_plain *plain;
    const struct argus_thread *threads;
    size_t thread_count;
    struct plain_thread *states; /* owned; by thread */
    uint32_t *by_tid;            /* owned: threads by id, then start */
    struct idmap first_by_tid;   /* thread id → index into by_tid */
    uint32_t *first_vertex;      /* owned: by thread, once the vertices are sorted */
    bool no_memory, full, stopped;
    argus_progress progress;
    void *context;
    uint64_t now_ns;
};

/* --- finding threads --- */

static int by_tid(const void *left, const void *right, void *context)
{
    const struct argus_thread *threads = context;
    uint32_t ids[2] = {*(const uint32_t *)left, *(const uint32_t *)right};
    const struct argus_thread *a = &threads[ids[0]], *b = &threads[ids[1]];
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return ids[0] < ids[1] ? -1 : ids[0] > ids[1];
}

static bool index_threads(struct plain_builder *builder)
{
    builder->by_tid = malloc((builder->thread_count + 1) * sizeof(*builder->by_tid));
    if (!builder->by_tid)
        return false;
    for (size_t i = 0; i < builder->thread_count; i++)
        builder->by_tid[i] = (uint32_t)i;
    qsort_r(builder->by_tid, builder->thread_count, sizeof(*builder->by_tid), by_tid,
            (void *)builder->threads);
    for (size_t i = builder->thread_count; i-- > 0;)
        if (!idmap_put(&builder->first_by_tid, builder->threads[builder->by_tid[i]].tid,
                       (uint32_t)i))
            return false;
    return true;
}

/* The thread that `tid` named at `time_ns`; ARGUS_NONE for the idle thread and unknown ones. */
static uint32_t find_thread(const struct plain_builder *builder, uint64_t tid, uint64_t time_ns)
{
    uint32_t at = tid ? idmap_get(&builder->first_by_tid, tid) : ARGUS_NONE;
    if (at == ARGUS_NONE)
        return ARGUS_NONE;
    /* the first thread also counts for all earlier times */
    const uint32_t *later = builder->by_tid + at + 1;
    size_t behind;
    LOWER_BOUND(behind, builder->thread_count - at - 1,
                builder->threads[later[behind]].tid == tid &&
                    builder->threads[later[behind]].start_ns <= time_ns);
    return builder->by_tid[at + behind];
}

/* --- vertices and wake-ups --- */

static void begin_vertex(struct plain_builder *builder, uint32_t thread)
{
    struct argus_plain_vertex vertex = {builder->now_ns, builder->now_ns, thread};
    builder->states[thread].vertex = (uint32_t)builder->plain->vertices.length;
    builder->states[thread].waits = false;
    if (builder->plain->vertices.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&builder->plain->vertices, vertex))
        builder->no_memory = true;
}

static bool is_usable(const struct plain_builder *builder)
{
    return !builder->no_memory && !builder->full;
}

static void add_edge(struct plain_builder *builder, const struct argus_plain_edge *edge)
{
    if (builder->plain->edges.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&builder->plain->edges, *edge))
        builder->no_memory = true;
}

/* `thread` is woken by the thread whose vertex is `from`. */
static void wake(struct plain_builder *builder, uint32_t thread, uint32_t from, uint64_t from_ns)
{
    begin_vertex(builder, thread);
    struct argus_plain_edge edge = {.from_ns = from_ns,
                                    .to_ns = builder->now_ns,
                                    .from = from,
                                    .to = builder->states[thread].vertex};
    if (is_usable(builder) && from != ARGUS_NONE)
        add_edge(builder, &edge);
}

static void end_vertex(struct plain_builder *builder, uint32_t thread, uint64_t now_ns)
{
    struct plain_thread *state = &builder->states[thread];
    if (state->vertex != ARGUS_NONE && !state->waits)
        builder->plain->vertices.data[state->vertex].end_ns = now_ns;
}

/* The thread was seen on a cpu. */
static void see(struct plain_builder *builder, uint32_t thread)
{
    struct plain_thread *state = &builder->states[thread];
    if (state->vertex == ARGUS_NONE || state->waits)
        begin_vertex(builder, thread);
    state->on_cpu = true;
}

static void leave(struct plain_builder *builder, uint32_t thread, bool blocks)
{
    struct plain_thread *state = &builder->states[thread];
    see(builder, thread);
    if (!is_usable(builder))
        return;
    end_vertex(builder, thread, builder->now_ns);
    state->on_cpu = false;
    state->left_ns = builder->now_ns;
    uint64_t early_ns = state->early_ns;
    state->early_ns = 0;
    if (!blocks)
        return;
    state->waits = true;
    if (early_ns && builder->now_ns - early_ns <= EARLY_WAKEUP_NS)
        wake(builder, thread, state->early_from, early_ns);
}

static void on_switch(struct plain_builder *builder, const struct argus_record *record)
{
    uint32_t out = find_thread(builder, record->tid, record->timestamp);
    uint32_t in = find_thread(builder, record->arg[1], record->timestamp);
    if (out != ARGUS_NONE)
        leave(builder, out, record->arg[0]);
    if (in != ARGUS_NONE && is_usable(builder)) {
        see(builder, in);
        builder->states[in].early_ns = 0;
    }
}

static void on_make_runnable(struct plain_builder *builder, const struct argus_record *record)
{
    uint32_t waker = find_thread(builder, record->tid, record->timestamp);
    uint32_t wakee = find_thread(builder, record->arg[0], record->timestamp);
    if (wakee == ARGUS_NONE || wakee == waker)
        return;
    if (waker != ARGUS_NONE)
        see(builder, waker);
    uint32_t from = waker == ARGUS_NONE ? ARGUS_NONE : builder->states[waker].vertex;
    struct plain_thread *state = &builder->states[wakee];
    if (state->vertex == ARGUS_NONE || state->waits) {
        wake(builder, wakee, from, builder->now_ns);
    } else if (state->on_cpu) {
        state->early_ns = builder->now_ns;
        state->early_from = from;
    }
}

/* Such a record may follow the switch by which its thread left the cpu, or belong to no cpu. */
static bool is_note(uint32_t debugid)
{
    return debugid == ARGUS_ID_STACK || debugid == ARGUS_ID_OBJECT || debugid == ARGUS_ID_LOCK ||
           debugid == ARGUS_ID_FILE_LOCK || debugid == ARGUS_ID_OPEN_END ||
           debugid == ARGUS_ID_SHARED_MEMORY || debugid == ARGUS_ID_REMOTE ||
           debugid == ARGUS_ID_FILE_NAME || debugid == ARGUS_ID_CALL_PATH ||
           debugid == ARGUS_ID_SUSPENDED || debugid == ARGUS_ID_CLOCK_STEP ||
           debugid == ARGUS_ID_LEFT_OUT || debugid == MERGE_ID_LOST;
}

static void on_record(struct plain_builder *builder, const struct argus_record *record)
{
    uint32_t debugid = ARGUS_DEBUGID_EVENT(record->debugid);
    if (record->timestamp > builder->now_ns)
        builder->now_ns = record->timestamp;
    if (debugid == ARGUS_ID_SWITCH) {
        on_switch(builder, record);
    } else if (debugid == ARGUS_ID_MAKE_RUNNABLE) {
        on_make_runnable(builder, record);
    } else if (!is_note(debugid)) {
        uint32_t thread = find_thread(builder, record->tid, record->timestamp);
        if (thread != ARGUS_NONE)
            see(builder, thread);
    }
}

static struct argus_error *check_state(const struct plain_builder *builder)
{
    if (builder->no_memory)
        return argus_error_memory();
    if (builder->full)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "the plain graph needs more than 2^32 vertices or edges");
    if (builder->stopped)
        return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
    return NULL;
}

static struct argus_error *read_schedule(struct plain_builder *builder,
                                         const struct argus_trace *trace)
{
    struct merge *merge = NULL;
    uint64_t total = argus_trace_record_count(trace), next_report = 0;
    struct argus_error *error = merge_create(trace, &merge);
    while (!error) {
        const struct argus_record *record;
        error = merge_next(merge, &record);
        if (error || !record)
            break;
        if (merge_position(merge) >= next_report) {
            next_report = merge_position(merge) + PROGRESS_EVERY;
            double share = total ? (double)merge_position(merge) / (double)total : 1.0;
            builder->stopped =
                builder->progress &&
                !builder->progress(builder->context, "building the plain graph", share);
        }
        on_record(builder, record);
        error = check_state(builder);
    }
    merge_destroy(merge);
    return error;
}

/* Vertices that run or are runnable last until the end of the trace. */
static void close_vertices(struct plain_builder *builder, uint64_t end_ns)
{
    for (size_t i = 0; i < builder->thread_count; i++)
        if (builder->states[i].on_cpu)
            end_vertex(builder, (uint32_t)i, end_ns);
}

/* Sorts the vertices by thread; they are already in time order. */
static bool sort_vertices(struct plain_builder *builder)
{
    struct argus_plain *plain = builder->plain;
    size_t count = plain->vertices.length;
    struct argus_plain_vertex *sorted = malloc((count + 1) * sizeof(*sorted));
    uint32_t *next = calloc(builder->thread_count + 1, sizeof(*next));
    uint32_t *new_id = malloc((count + 1) * sizeof(*new_id));
    bool ready = sorted && next && new_id;
    if (ready) {
        for (size_t i = 0; i < count; i++)
            builder->first_vertex[plain->vertices.data[i].thread + 1]++;
        for (size_t i = 0; i < builder->thread_count; i++)
            builder->first_vertex[i + 1] += builder->first_vertex[i];
        memcpy(next, builder->first_vertex, builder->thread_count * sizeof(*next));
        for (size_t i = 0; i < count; i++) {
            new_id[i] = next[plain->vertices.data[i].thread]++;
            sorted[new_id[i]] = plain->vertices.data[i];
        }
        for (size_t i = 0; i < plain->edges.length; i++) {
            plain->edges.data[i].from = new_id[plain->edges.data[i].from];
            plain->edges.data[i].to = new_id[plain->edges.data[i].to];
        }
        free(plain->vertices.data);
        plain->vertices.data = sorted;
        plain->vertices.capacity = count + 1;
    } else {
        free(sorted);
    }
    free(next);
    free(new_id);
    return ready;
}

/* --- messages --- */

/* The vertex of `thread` that began last at or before `time_ns`; ARGUS_NONE: none. */
static uint32_t vertex_at(const struct plain_builder *builder, uint32_t thread, uint64_t time_ns)
{
    if (thread == ARGUS_NONE)
        return ARGUS_NONE;
    const struct argus_plain_vertex *vertices = builder->plain->vertices.data;
    size_t behind, begin = builder->first_vertex[thread], end = builder->first_vertex[thread + 1];
    if (begin == end)
        return ARGUS_NONE;
    LOWER_BOUND(behind, end - begin, vertices[begin + behind].start_ns <= time_ns);
    return (uint32_t)(begin + (behind ? behind - 1 : 0));
}

static uint32_t end_vertex_of(const struct plain_builder *builder,
                              const struct argus_messages *messages,
                              const struct argus_message_end *end)
{
    const struct argus_thread *threads;
    if (end->thread >= argus_messages_threads(messages, &threads))
        return ARGUS_NONE;
    uint32_t thread = find_thread(builder, threads[end->thread].tid, end->time_ns);
    return vertex_at(builder, thread, end->time_ns);
}

static bool on_pair(void *context, const struct argus_messages *messages,
                    const struct argus_message_pair *pair)
{
    struct plain_builder *builder = context;
    uint64_t sent_ns = pair->send.time_ns, received_ns = pair->receive.time_ns;
    struct argus_plain_edge edge = {
        .from_ns = sent_ns < received_ns ? sent_ns : received_ns,
        .to_ns = received_ns,
        .from = end_vertex_of(builder, messages, &pair->send),
        .to = end_vertex_of(builder, messages, &pair->receive),
        .message = true,
    };
    if (edge.from != ARGUS_NONE && edge.to != ARGUS_NONE && edge.from != edge.to)
        add_edge(builder, &edge);
    builder->stopped = builder->progress &&
                       !builder->progress(builder->context, "pairing the plain messages", 1.0);
    return is_usable(builder) && !builder->stopped;
}

static struct argus_error *read_messages(struct plain_builder *builder,
                                         const struct argus_trace *trace)
{
    struct argus_messages *messages = NULL;
    struct argus_error *error = argus_messages_read(trace, on_pair, builder, &messages);
    argus_messages_destroy(messages);
    struct argus_error *own = check_state(builder);
    if (!own)
        return error;
    argus_error_destroy(error);
    return own;
}

/* Order by target. Many messages connect the same two vertices, but one edge is kept, as in the
 * Argus graph. */
static int by_target(const void *left, const void *right)
{
    const struct argus_plain_edge *a = left, *b = right;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->message != b->message)
        return a->message ? 1 : -1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to_ns != b->to_ns)
        return a->to_ns < b->to_ns ? -1 : 1;
    return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

static void sort_edges(struct argus_plain *plain)
{
    struct argus_plain_edge *edges = plain->edges.data;
    size_t count = plain->edges.length, kept = 0;
    if (count)
        qsort(edges, count, sizeof(*edges), by_target);
    for (size_t i = 0; i < count; i++) {
        const struct argus_plain_edge *last = kept ? &edges[kept - 1] : NULL;
        bool known = last && last->message && edges[i].message && last->from == edges[i].from &&
                     last->to == edges[i].to;
        if (!known)
            edges[kept++] = edges[i];
    }
    plain->edges.length = kept;
}

/* --- the whole graph --- */

static struct argus_error *builder_init(struct plain_builder *builder,
                                        const struct argus_graph *graph)
{
    size_t count = argus_graph_threads(graph, &builder->threads);
    builder->thread_count = count;
    builder->states = calloc(count + 1, sizeof(*builder->states));
    builder->first_vertex = calloc(count + 1, sizeof(*builder->first_vertex));
    builder->plain = calloc(1, sizeof(*builder->plain));
    if (!builder->states || !builder->first_vertex || !builder->plain || !index_threads(builder))
        return argus_error_memory();
    for (size_t i = 0; i < count; i++)
        builder->states[i].vertex = ARGUS_NONE;
    return NULL;
}

static void builder_deinit(struct plain_builder *builder)
{
    free(builder->states);
    free(builder->by_tid);
    free(builder->first_vertex);
    idmap_deinit(&builder->first_by_tid);
}

struct argus_error *argus_plain_build(const struct argus_graph *graph, argus_progress progress,
                                      void *context, struct argus_plain **ret)
{
    const struct argus_trace *trace = argus_graph_trace(graph);
    struct plain_builder builder = {.progress = progress, .context = context};
    struct argus_error *error = builder_init(&builder, graph);
    if (!error)
        error = read_schedule(&builder, trace);
    if (!error) {
        close_vertices(&builder, argus_graph_end_ns(graph));
        error = sort_vertices(&builder) ? read_messages(&builder, trace) : argus_error_memory();
    }
    if (!error)
        sort_edges(builder.plain);
    builder_deinit(&builder);
    if (error)
        argus_plain_destroy(builder.plain);
    else
        *ret = builder.plain;
    return error;
}

void argus_plain_destroy(struct argus_plain *plain)
{
    if (!plain)
        return;
    vec_deinit(&plain->vertices);
    vec_deinit(&plain->edges);
    free(plain);
}

size_t argus_plain_vertices(const struct argus_plain *plain, const struct argus_plain_vertex **ret)
{
    *ret = plain->vertices.data;
    return plain->vertices.length;
}

size_t argus_plain_edges(const struct argus_plain *plain, const struct argus_plain_edge **ret)
{
    *ret = plain->edges.data;
    return plain->edges.length;
}
