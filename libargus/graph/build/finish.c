/* The steps after the last record: open vertices are closed, and all arrays get their final order.
 *
 * Vertices are moved in place, because they are the bulk of the memory: first each slot gets its
 * new id, then the cycles of that permutation are followed. Slots that were given back move to the
 * end and are cut off.
 */
#include "graph/build/finish.h"

#include <stdlib.h>
#include <string.h>

#include "base/compat.h"
#include "graph/build/activity.h"
#include "graph/build/on_stack.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/rules/split.h"

static void close_waiting(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    bool lost = builder->last_lost_ns && builder->last_lost_ns >= vertex->end_ns;
    vertex->wait.end_ns = builder->graph->end_ns;
    vertex->wait.outcome = lost ? ARGUS_OUTCOME_UNKNOWN : ARGUS_OUTCOME_NEVER;
    vertex->flags |= ARGUS_VERTEX_LAST | (lost ? ARGUS_VERTEX_GAP : 0);
    vertex_settle(builder, thread);
}

static void close_thread(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    uint64_t end_ns = builder->graph->end_ns;
    if (state->slot == ARGUS_NONE || state->activity == THREAD_GONE)
        return;
    builder_count(builder, RULE_BOUNDARY_LAST);
    switch ((enum thread_activity)state->activity) {
    case THREAD_WAITING:
        close_waiting(builder, thread);
        return;
    case THREAD_RUNNING:
        thread_account(builder, thread, end_ns);
        break;
    case THREAD_RUNNABLE:
        slot_at(builder, state->slot)->runnable_ns += end_ns - state->since_ns;
        break;
    case THREAD_LOST:
        end_ns = state->since_ns;
        break;
    default:
        break;
    }
    vertex_end(builder, thread, end_ns, ARGUS_VERTEX_LAST);
}

bool builder_close_all(struct builder *builder)
{
    if (builder->graph->end_ns < builder->now_ns)
        builder->graph->end_ns = builder->now_ns;
    for (size_t i = 0; i < builder->threads.length; i++)
        close_thread(builder, (uint32_t)i);
    return !builder->no_memory && !builder->full;
}

/* The order of vertices of one thread that begin at the same time. Some have no length. */
static int rank(const struct argus_vertex *vertex)
{
    if (vertex->flags & (ARGUS_VERTEX_FIRST | ARGUS_VERTEX_FORKED))
        return 0;
    return vertex->flags & ARGUS_VERTEX_LAST ? 2 : 1;
}

static uint64_t until_ns(const struct argus_vertex *vertex)
{
    return vertex->wait.kind == ARGUS_WAIT_NONE ? vertex->end_ns : vertex->wait.end_ns;
}

static int by_time(const void *left, const void *right, void *context)
{
    const struct argus_vertex *vertices = context;
    const struct argus_vertex *a = &vertices[*(const uint32_t *)left];
    const struct argus_vertex *b = &vertices[*(const uint32_t *)right];
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (rank(a) != rank(b))
        return rank(a) - rank(b);
    if (until_ns(a) != until_ns(b))
        return until_ns(a) < until_ns(b) ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Sorts one thread's slots. They are mostly in order already, except for those that were reused. */
static void sort_thread(uint32_t *slots, size_t count, struct argus_vertex *vertices)
{
    for (size_t i = 1; i < count; i++) {
        if (by_time(&slots[i - 1], &slots[i], vertices) <= 0)
            continue;
        qsort_r(slots, count, sizeof(*slots), by_time, vertices);
        return;
    }
}

/* Fills `order` with the live slots by thread and time, then the dead ones, and sets the threads'
 * ranges. Returns the number of live slots. */
static size_t order_slots(struct argus_graph *graph, uint32_t *order)
{
    struct argus_thread *threads = graph->machine.threads.data;
    size_t thread_count = graph->machine.threads.length;
    size_t slots = graph->vertices.length, live = 0;
    for (size_t i = 0; i < slots; i++)
        if (graph->vertices.data[i].repeat)
            threads[graph->vertices.data[i].thread].vertex_count++;
    for (size_t i = 0; i < thread_count; i++) {
        threads[i].first_vertex = (uint32_t)live;
        live += threads[i].vertex_count;
        threads[i].vertex_count = 0;
    }
    size_t dead = live;
    for (size_t i = 0; i < slots; i++) {
        if (!graph->vertices.data[i].repeat) {
            order[dead++] = (uint32_t)i;
            continue;
        }
        struct argus_thread *thread = &threads[graph->vertices.data[i].thread];
        order[thread->first_vertex + thread->vertex_count++] = (uint32_t)i;
    }
    for (size_t i = 0; i < thread_count; i++)
        sort_thread(order + threads[i].first_vertex, threads[i].vertex_count, graph->vertices.data);
    return live;
}

/* Moves every vertex to its new id. `order` holds the slot for each place; it is overwritten. */
static void permute(struct argus_vertex *vertices, uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (order[i] == ARGUS_NONE)
            continue;
        struct argus_vertex moving = vertices[i];
        size_t at = i;
        while (order[at] != i) {
            size_t from = order[at];
            vertices[at] = vertices[from];
            order[at] = ARGUS_NONE;
            at = from;
        }
        vertices[at] = moving;
        order[at] = ARGUS_NONE;
    }
}

uint32_t finish_vertex_for(const struct argus_graph *graph, uint32_t vertex, uint64_t time_ns)
{
    return graph_vertex_started(graph, graph->vertices.data[vertex].thread, time_ns);
}

/* Copies the operations in the order of the vertices, without those of dropped vertices. */
static bool order_ops(struct argus_graph *graph)
{
    size_t total = 0;
    for (size_t i = 0; i < graph->vertices.length; i++)
        total += graph->vertices.data[i].op_count;
    struct argus_op *ops = malloc((total + 1) * sizeof(*ops));
    if (!ops)
        return false;
    size_t at = 0;
    for (size_t i = 0; i < graph->vertices.length; i++) {
        struct argus_vertex *vertex = &graph->vertices.data[i];
        if (vertex->op_count)
            memcpy(ops + at, graph->ops.data + vertex->first_op, vertex->op_count * sizeof(*ops));
        vertex->first_op = (uint32_t)at;
        at += vertex->op_count;
    }
    free(graph->ops.data);
    graph->ops.data = ops;
    graph->ops.length = at;
    graph->ops.capacity = total + 1;
    return true;
}

/* The vertex of a sample: the one in its slot if the time fits, else found by time. */
static uint32_t vertex_of_sample(const struct argus_graph *graph, uint32_t id, uint64_t time_ns)
{
    const struct argus_vertex *vertex = &graph->vertices.data[id];
    if (vertex->repeat && vertex->start_ns <= time_ns && time_ns <= vertex->end_ns)
        return id;
    return finish_vertex_for(graph, id, time_ns);
}

/* Groups the samples, which are in time order, by vertex. The order within a vertex stays. */
static bool order_samples(struct builder *builder, const uint32_t *new_id)
{
    struct argus_graph *graph = builder->graph;
    size_t count = graph->samples.length, kept = 0;
    struct argus_sample *sorted = malloc((count + 1) * sizeof(*sorted));
    if (!sorted)
        return false;
    uint32_t *vertices = builder->sightings->sample_slots.data;
    for (size_t i = 0; i < count; i++) {
        vertices[i] = vertex_of_sample(graph, new_id[vertices[i]], graph->samples.data[i].time_ns);
        if (vertices[i] != ARGUS_NONE)
            graph->vertices.data[vertices[i]].sample_count++;
    }
    for (size_t i = 0; i < graph->vertices.length; i++) {
        graph->vertices.data[i].first_sample = (uint32_t)kept;
        kept += graph->vertices.data[i].sample_count;
        graph->vertices.data[i].sample_count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (vertices[i] == ARGUS_NONE)
            continue;
        struct argus_vertex *vertex = &graph->vertices.data[vertices[i]];
        sorted[vertex->first_sample + vertex->sample_count++] = graph->samples.data[i];
    }
    free(graph->samples.data);
    graph->samples.data = sorted;
    graph->samples.length = kept;
    graph->samples.capacity = count + 1;
    return true;
}

static int by_vertex(const void *left, const void *right)
{
    const struct argus_callback *a = left, *b = right;
    if (a->vertex != b->vertex)
        return a->vertex < b->vertex ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* A cut and the callback that it is for have the same time, so the slot decides where it can. */
static void order_callbacks(struct argus_graph *graph, const uint32_t *new_id)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->callbacks.length; i++) {
        struct argus_callback callback = graph->callbacks.data[i];
        callback.vertex = vertex_of_sample(graph, new_id[callback.vertex], callback.time_ns);
        if (callback.vertex != ARGUS_NONE)
            graph->callbacks.data[kept++] = callback;
    }
    graph->callbacks.length = kept;
    if (kept)
        qsort(graph->callbacks.data, kept, sizeof(*graph->callbacks.data), by_vertex);
}

static int by_use_time(const void *left, const void *right)
{
    const struct argus_flag_use *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static void order_flag_uses(struct argus_graph *graph)
{
    if (graph->flag_uses.length)
        qsort(graph->flag_uses.data, graph->flag_uses.length, sizeof(*graph->flag_uses.data),
              by_use_time);
}

bool finish_vertices(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    size_t slots = graph->vertices.length;
    uint32_t *order = calloc(slots + 1, sizeof(*order));
    uint32_t *new_id = malloc((slots + 1) * sizeof(*new_id));
    bool done = order && new_id;
    if (done) {
        builder_report_progress(builder, 0.0);
        size_t live = order_slots(graph, order);
        for (size_t i = 0; i < slots; i++)
            new_id[order[i]] = (uint32_t)i;
        permute(graph->vertices.data, order, slots);
        for (size_t i = 0; i < live; i++)
            graph->vertices.data[i].flags &= ~VERTEX_SELF_TIMED;
        /* Dead slots stay behind the live ones: a reference to one still yields its thread. */
        graph->vertices.length = live;
        done = builder_report_progress(builder, 0.2) && rule_split(builder, new_id, slots);
    }
    if (done) {
        order_callbacks(graph, new_id);
        order_flag_uses(graph);
        done = builder_report_progress(builder, 0.3) && order_ops(graph) &&
               order_samples(builder, new_id) && builder_report_progress(builder, 0.4) &&
               finish_edges(builder, new_id);
    }
    free(order);
    free(new_id);
    return done;
}

static int by_inode(const void *left, const void *right)
{
    const struct argus_object_use *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

void finish_uses(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    if (graph->uses.length)
        qsort(graph->uses.data, graph->uses.length, sizeof(*graph->uses.data), by_inode);
}
