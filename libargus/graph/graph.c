#include "argus/graph_file.h"
#include "base/lower_bound.h"
#include "graph/graph_data.h"

#include <stdlib.h>
#include <sys/mman.h>

static void free_arrays(struct argus_graph *graph)
{
#define ARRAY(name, type)
#define GRAPH_ARRAY(name, type) vec_deinit(&graph->name);
#include "graph/file/graph_arrays.def"
#undef ARRAY
    free(graph->in_first);
    free(graph->out_first);
    free(graph->out_edges);
}

void argus_graph_destroy(struct argus_graph *graph)
{
    if (!graph)
        return;
    machine_deinit(&graph->machine);
    stacks_deinit(&graph->stacks);
    if (graph->mapped)
        munmap(graph->mapped, graph->mapped_bytes);
    else
        free_arrays(graph);
    rules_deinit(graph);
    free(graph->loaded_from);
    free(graph);
}

const struct argus_trace *argus_graph_trace(const struct argus_graph *graph)
{
    return graph->trace;
}

uint64_t argus_graph_start_ns(const struct argus_graph *graph)
{
    return graph->start_ns;
}

uint64_t argus_graph_end_ns(const struct argus_graph *graph)
{
    return graph->end_ns;
}

double argus_graph_build_seconds(const struct argus_graph *graph)
{
    return graph->build_seconds;
}

const char *argus_graph_loaded_from(const struct argus_graph *graph)
{
    return graph->loaded_from;
}

uint64_t argus_graph_damaged_chunks(const struct argus_graph *graph)
{
    return graph->damaged_chunks;
}

const struct argus_message_counts *argus_graph_messages(const struct argus_graph *graph)
{
    return &graph->messages;
}

#define ARRAY_ACCESSOR(function, type, vec)                                                        \
    size_t function(const struct argus_graph *graph, const type **ret)                             \
    {                                                                                              \
        *ret = graph->vec.data;                                                                    \
        return graph->vec.length;                                                                  \
    }

ARRAY_ACCESSOR(argus_graph_processes, struct argus_process, machine.processes)
ARRAY_ACCESSOR(argus_graph_threads, struct argus_thread, machine.threads)
ARRAY_ACCESSOR(argus_graph_vertices, struct argus_vertex, vertices)
ARRAY_ACCESSOR(argus_graph_edges, struct argus_edge, edges)
ARRAY_ACCESSOR(argus_graph_ops, struct argus_op, ops)
ARRAY_ACCESSOR(argus_graph_samples, struct argus_sample, samples)
ARRAY_ACCESSOR(argus_graph_details, struct argus_wait_detail, details)
ARRAY_ACCESSOR(argus_graph_object_uses, struct argus_object_use, uses)
ARRAY_ACCESSOR(argus_graph_visits, struct argus_visits, visits)
ARRAY_ACCESSOR(argus_graph_unread, struct argus_unread, unread)
ARRAY_ACCESSOR(argus_graph_arrivals, struct argus_arrival, arrivals)
ARRAY_ACCESSOR(argus_graph_flag_sets, struct argus_flag_set, flag_sets)
ARRAY_ACCESSOR(argus_graph_flag_uses, struct argus_flag_use, flag_uses)
ARRAY_ACCESSOR(argus_graph_pings, struct argus_ping, pings)
ARRAY_ACCESSOR(argus_graph_file_locks, struct argus_file_lock, file_locks)
ARRAY_ACCESSOR(argus_graph_ipc_uses, struct argus_ipc_use, ipc_uses)
ARRAY_ACCESSOR(argus_graph_open_ends, struct argus_open_end, open_ends)
ARRAY_ACCESSOR(argus_graph_shared_memory, struct argus_shared_memory, shared_memory)
ARRAY_ACCESSOR(argus_graph_lock_names, struct argus_lock_name, lock_names)
ARRAY_ACCESSOR(argus_graph_remotes, struct argus_remote, remotes)
ARRAY_ACCESSOR(argus_graph_file_names, struct argus_file_name, file_names)
ARRAY_ACCESSOR(argus_graph_suspensions, struct argus_suspension, suspensions)
ARRAY_ACCESSOR(argus_graph_left_out, struct argus_left_out, left_out)

bool argus_graph_calls_left_out(const struct argus_graph *graph, uint64_t from_ns, uint64_t to_ns)
{
    const struct argus_left_out *left;
    size_t count = argus_graph_left_out(graph, &left);
    for (size_t i = 0; i < count && left[i].from_ns <= to_ns; i++)
        if (left[i].categories & ARGUS_LEFT_OUT_CALLS && left[i].to_ns >= from_ns)
            return true;
    return false;
}

size_t argus_graph_rules(const struct argus_graph *graph, const struct argus_rule **ret)
{
    *ret = graph->rules;
    return graph->rule_count;
}

struct argus_stack argus_graph_stack(const struct argus_graph *graph, uint32_t stack)
{
    return stacks_get(&graph->stacks, stack);
}

size_t argus_graph_in_edges(const struct argus_graph *graph, uint32_t vertex,
                            const struct argus_edge **ret)
{
    *ret = NULL;
    if (vertex >= graph->vertices.length)
        return 0;
    *ret = graph->edges.data + graph->in_first[vertex];
    return graph->in_first[vertex + 1] - graph->in_first[vertex];
}

size_t argus_graph_out_edges(const struct argus_graph *graph, uint32_t vertex, const uint32_t **ret)
{
    *ret = NULL;
    if (vertex >= graph->vertices.length)
        return 0;
    *ret = graph->out_edges + graph->out_first[vertex];
    return graph->out_first[vertex + 1] - graph->out_first[vertex];
}

static uint64_t covered_until(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    uint64_t end_ns = vertex->wait.kind == ARGUS_WAIT_NONE ? vertex->end_ns : vertex->wait.end_ns;
    /* A vertex or wait that lasts until the end of the trace includes the last moment. */
    return end_ns >= graph->end_ns ? UINT64_MAX : end_ns;
}

uint32_t graph_vertex_started(const struct argus_graph *graph, uint32_t thread, uint64_t time_ns)
{
    const struct argus_thread *life = &graph->machine.threads.data[thread];
    const struct argus_vertex *vertices = graph->vertices.data + life->first_vertex;
    uint32_t behind;
    if (!life->vertex_count)
        return ARGUS_NONE;
    LOWER_BOUND(behind, life->vertex_count, vertices[behind].start_ns <= time_ns);
    return life->first_vertex + (behind ? behind - 1 : 0);
}

uint32_t argus_graph_vertex_at(const struct argus_graph *graph, uint32_t thread, uint64_t time_ns)
{
    if (thread >= graph->machine.threads.length || time_ns > graph->end_ns)
        return ARGUS_NONE;
    uint32_t vertex = graph_vertex_started(graph, thread, time_ns);
    if (vertex == ARGUS_NONE || graph->vertices.data[vertex].start_ns > time_ns)
        return ARGUS_NONE;
    const struct argus_thread *life = &graph->machine.threads.data[thread];
    bool last = vertex + 1 == life->first_vertex + life->vertex_count;
    return last && time_ns >= covered_until(graph, &graph->vertices.data[vertex]) ? ARGUS_NONE
                                                                                  : vertex;
}

static bool begins_a_vertex(uint8_t kind)
{
    static const bool begins[ARGUS_EDGE_KINDS] = {
        [ARGUS_EDGE_WAKE] = true,   [ARGUS_EDGE_TIMER] = true, [ARGUS_EDGE_FORK] = true,
        [ARGUS_EDGE_SIGNAL] = true, [ARGUS_EDGE_WORK] = true,  [ARGUS_EDGE_BLOCK] = true,
    };
    return begins[kind];
}

/* Whether a message can have ended the wait that ended when `vertex` began. */
static bool ends_by_message(const struct argus_vertex *waited)
{
    bool for_input = waited->wait.kind == ARGUS_WAIT_READ || waited->wait.kind == ARGUS_WAIT_POLL;
    return for_input && waited->wait.outcome == ARGUS_OUTCOME_SATISFIED && !waited->wait.by_timer;
}

/* The message that began `vertex`, if no wake-up tells. For a piece of a split vertex, this is the
 * first message that it received. After a wait with an unknown waker (a softirq that ran for
 * ksoftirqd or for another sender), it is the first message that was sent during the wait. */
static uint32_t find_message(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_vertex *v = &graph->vertices.data[vertex];
    bool piece = v->flags & ARGUS_VERTEX_PIECE;
    uint32_t before = argus_graph_previous(graph, vertex);
    if (before == ARGUS_NONE || !(piece || ends_by_message(v - 1)))
        return ARGUS_NONE;
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(graph, vertex, &edges);
    for (size_t i = 0; i < count; i++) {
        bool in_time =
            piece || ((v - 1)->end_ns <= edges[i].from_ns && edges[i].from_ns <= v->start_ns);
        if (edges[i].kind == ARGUS_EDGE_MESSAGE && in_time)
            return (uint32_t)(edges + i - graph->edges.data);
        if (piece && edges[i].rule == RULE_DISPATCH_REQUEST)
            return (uint32_t)(edges + i - graph->edges.data);
    }
    return ARGUS_NONE;
}

uint32_t argus_graph_cause(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(graph, vertex, &edges);
    for (size_t i = 0; i < count; i++) {
        bool at_start = edges[i].to_ns == graph->vertices.data[vertex].start_ns;
        if (at_start && begins_a_vertex(edges[i].kind))
            return (uint32_t)(edges + i - graph->edges.data);
    }
    return count ? find_message(graph, vertex) : ARGUS_NONE;
}

uint32_t argus_graph_whole(const struct argus_graph *graph, uint32_t vertex)
{
    while (vertex > 0 && vertex < graph->vertices.length &&
           graph->vertices.data[vertex].flags & ARGUS_VERTEX_PIECE)
        vertex--;
    return vertex;
}

uint32_t argus_graph_previous(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_vertex *vertices = graph->vertices.data;
    if (vertex == 0 || vertex >= graph->vertices.length ||
        vertices[vertex].thread != vertices[vertex - 1].thread)
        return ARGUS_NONE;
    return vertex - 1;
}

uint64_t argus_vertex_wait_ns(const struct argus_vertex *vertex)
{
    return vertex->wait.kind == ARGUS_WAIT_NONE ? 0 : vertex->wait.end_ns - vertex->end_ns;
}

/* With more yields than this, a vertex that is no yield run still counts as mainly yielding. */
enum { MANY_YIELDS = 20 };

enum argus_vertex_type argus_vertex_type(const struct argus_vertex *vertex, uint64_t threshold_ns)
{
    uint64_t wait_ns = argus_vertex_wait_ns(vertex);
    uint64_t run_ns = vertex->run_ns + vertex->runnable_ns;
    bool yields = (vertex->flags & ARGUS_VERTEX_YIELDS) || vertex->yield_calls > MANY_YIELDS;
    if (yields) /* the waits between the turns belong to it */
        run_ns = vertex->end_ns - vertex->start_ns;
    if (wait_ns >= threshold_ns && wait_ns >= run_ns)
        return ARGUS_TYPE_LONG_WAIT;
    if (run_ns >= threshold_ns)
        return yields ? ARGUS_TYPE_REPEATED_YIELD : ARGUS_TYPE_LONG_RUNNING;
    return ARGUS_TYPE_NORMAL;
}

size_t argus_graph_thread_visits(const struct argus_graph *graph, uint32_t thread,
                                 const struct argus_visits **ret)
{
    const struct argus_visits *all = graph->visits.data;
    size_t first, behind, count = graph->visits.length;
    LOWER_BOUND(first, count, all[first].thread < thread);
    LOWER_BOUND(behind, count, all[behind].thread <= thread);
    *ret = count ? all + first : NULL;
    return behind - first;
}

size_t argus_graph_callbacks(const struct argus_graph *graph, uint32_t vertex,
                             const struct argus_callback **ret)
{
    const struct argus_callback *all = graph->callbacks.data;
    size_t first, count = 0;
    LOWER_BOUND(first, graph->callbacks.length, all[first].vertex < vertex);
    while (first + count < graph->callbacks.length && all[first + count].vertex == vertex)
        count++;
    *ret = count ? all + first : NULL;
    return count;
}

uint32_t argus_graph_callback_begin(const struct argus_graph *graph, uint32_t vertex)
{
    while (vertex > 0 && vertex < graph->vertices.length &&
           graph->vertices.data[vertex].flags & ARGUS_VERTEX_CONTINUES)
        vertex--;
    return vertex;
}

bool argus_graph_ui_event(const struct argus_graph *graph, uint32_t vertex,
                          struct argus_callback *ret)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(graph, vertex, &callbacks);
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        if (callbacks[i].what != ARGUS_CALLBACK_UI_EVENT)
            continue;
        if (!found)
            *ret = callbacks[i];
        found = true;
        if (!callbacks[i].on_purpose)
            continue;
        *ret = callbacks[i];
        break;
    }
    return found;
}

const struct argus_probe_entry *argus_graph_probe(const struct argus_graph *graph, uint32_t number)
{
    const struct argus_probe_entry *probes;
    size_t first, count = argus_trace_probes(graph->trace, &probes);
    LOWER_BOUND(first, count, probes[first].number < number);
    return first < count && probes[first].number == number ? &probes[first] : NULL;
}
