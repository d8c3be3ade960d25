/* Compares the graph with the plain causal graph: see argus/compare.h. */
#include "argus/compare.h"

#include <stdlib.h>
#include <string.h>

#include "argus/inspect.h"
#include "base/lower_bound.h"
#include "graph/graph_data.h"
#include "graph/inspect/network.h"
#include "graph/inspect/peers.h"

const char *argus_edge_fate_name(enum argus_edge_fate fate)
{
    static const char *const names[ARGUS_FATES] = {
        [ARGUS_FATE_STRONG] = "kept, strong", [ARGUS_FATE_WEAK] = "kept, weak",
        [ARGUS_FATE_MOVED] = "another cause", [ARGUS_FATE_CULLED] = "culled",
        [ARGUS_FATE_MERGED] = "merged",
    };
    return (unsigned)fate < ARGUS_FATES ? names[fate] : "unknown";
}

struct comparing {
    const struct argus_graph *graph;
    const struct argus_plain *plain;
    const struct argus_plain_vertex *plain_vertices;
    const struct argus_plain_edge *plain_edges;
    const struct argus_thread *threads;
    size_t plain_vertex_count, plain_edge_count, process_count;
    uint32_t *applications;                      /* owned */
    struct network_start *starts, *plain_starts; /* owned: where the backward walks start */
    size_t start_count;
    struct argus_comparison *result;
};

/* --- fates of edges --- */

static uint32_t thread_of(const struct comparing *comparing, uint32_t vertex)
{
    return comparing->graph->vertices.data[vertex].thread;
}

/* The fate of an edge from a vertex of `thread`, according to the edges into `vertex`. MERGED:
 * these do not tell. */
static enum argus_edge_fate fate_among(const struct comparing *comparing, uint32_t vertex,
                                       uint32_t thread, bool message)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(comparing->graph, vertex, &edges);
    enum argus_edge_fate fate = ARGUS_FATE_MERGED;
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &edges[i];
        bool counts = message ? edge->message || edge->kind == ARGUS_EDGE_MESSAGE
                              : edge->kind != ARGUS_EDGE_SEQUENCE &&
                                    edge->to_ns == comparing->graph->vertices.data[vertex].start_ns;
        if (!counts)
            continue;
        if (thread_of(comparing, edge->from) == thread && edge->strong)
            return ARGUS_FATE_STRONG;
        if (thread_of(comparing, edge->from) == thread)
            fate = ARGUS_FATE_WEAK;
        else if (fate == ARGUS_FATE_MERGED && !message)
            fate = ARGUS_FATE_MOVED;
    }
    return fate;
}

/* Several vertices of a thread can begin at the same time, because some have no length. */
static enum argus_edge_fate fate_of_wakeup(const struct comparing *comparing, uint32_t last,
                                           uint32_t thread, uint64_t to_ns)
{
    const struct argus_vertex *vertices = comparing->graph->vertices.data;
    enum argus_edge_fate best = ARGUS_FATE_CULLED;
    uint32_t own = vertices[last].thread;
    if (vertices[last].flags & ARGUS_VERTEX_FORKED) /* it begins with the fork, just before that */
        to_ns = vertices[last].start_ns;
    if (vertices[last].start_ns != to_ns)
        return ARGUS_FATE_MERGED;
    for (uint32_t v = last; vertices[v].thread == own && vertices[v].start_ns == to_ns; v--) {
        enum argus_edge_fate fate = fate_among(comparing, v, thread, false);
        if (fate < best)
            best = fate;
        if (v == 0)
            break;
    }
    return best;
}

static enum argus_edge_fate fate_of(const struct comparing *comparing,
                                    const struct argus_plain_edge *edge)
{
    uint32_t from = comparing->plain_vertices[edge->from].thread;
    uint32_t to = comparing->plain_vertices[edge->to].thread;
    uint32_t vertex = graph_vertex_started(comparing->graph, to, edge->to_ns);
    if (vertex == ARGUS_NONE)
        return ARGUS_FATE_MERGED;
    return edge->message ? fate_among(comparing, vertex, from, true)
                         : fate_of_wakeup(comparing, vertex, from, edge->to_ns);
}

static void count_fates(struct comparing *comparing)
{
    for (size_t i = 0; i < comparing->plain_edge_count; i++) {
        const struct argus_plain_edge *edge = &comparing->plain_edges[i];
        uint64_t *fates =
            edge->message ? comparing->result->message_fates : comparing->result->wakeup_fates;
        fates[fate_of(comparing, edge)]++;
    }
}

/* --- rules --- */

static bool count_rules(struct comparing *comparing)
{
    struct argus_comparison *result = comparing->result;
    const struct argus_graph *graph = comparing->graph;
    const struct argus_rule *rules;
    result->rule_count = argus_graph_rules(graph, &rules);
    result->rules = calloc(result->rule_count + 1, sizeof(*result->rules));
    if (!result->rules)
        return false;
    for (size_t i = 0; i < graph->edges.length; i++) {
        const struct argus_edge *edge = &graph->edges.data[i];
        if (edge->rule >= result->rule_count)
            continue;
        if (edge->strong)
            result->rules[edge->rule].strong++;
        else
            result->rules[edge->rule].weak++;
    }
    for (size_t i = 0; i < graph->vertices.length; i++)
        result->split_vertices += (graph->vertices.data[i].flags & ARGUS_VERTEX_SPLIT) != 0;
    return true;
}

/* --- starts of backward walks --- */

/* Whether a program waited here for another thread, and the wait ended before the trace did. */
static bool is_start(const struct comparing *comparing, uint32_t vertex)
{
    const struct argus_graph *graph = comparing->graph;
    const struct argus_vertex *v = &graph->vertices.data[vertex];
    uint32_t process = comparing->threads[v->thread].process;
    bool last = vertex + 1 == graph->vertices.length || v[1].thread != v->thread;
    return !last && v->wait.kind != ARGUS_WAIT_NONE && v->wait.kind != ARGUS_WAIT_SLEEP &&
           v->wait.outcome == ARGUS_OUTCOME_SATISFIED &&
           comparing->applications[process] != ARGUS_NONE;
}

/* Keeps the `most` longest waits in starts[0] …, the longest first; among equal ones the earliest
 * first. */
static void offer_start(struct comparing *comparing, uint32_t vertex, size_t most)
{
    const struct argus_vertex *vertices = comparing->graph->vertices.data;
    uint64_t wait_ns = argus_vertex_wait_ns(&vertices[vertex]);
    struct network_start *starts = comparing->starts;
    size_t count = comparing->start_count;
    if (count == most && argus_vertex_wait_ns(&vertices[starts[count - 1].vertex]) >= wait_ns)
        return;
    size_t at = count < most ? count : most - 1;
    for (; at > 0 && argus_vertex_wait_ns(&vertices[starts[at - 1].vertex]) < wait_ns; at--)
        starts[at] = starts[at - 1];
    starts[at] = (struct network_start){vertices[vertex].end_ns, vertex};
    comparing->start_count = count < most ? count + 1 : most;
}

/* The plain vertex of the same thread at the same time, found by binary search among all
 * vertices. */
static uint32_t plain_vertex_at(const struct comparing *comparing, uint32_t thread,
                                uint64_t time_ns)
{
    const struct argus_plain_vertex *vertices = comparing->plain_vertices;
    size_t behind;
    LOWER_BOUND(behind, comparing->plain_vertex_count,
                vertices[behind].thread < thread ||
                    (vertices[behind].thread == thread && vertices[behind].start_ns <= time_ns));
    return behind > 0 && vertices[behind - 1].thread == thread ? (uint32_t)(behind - 1)
                                                               : ARGUS_NONE;
}

static bool choose_starts(struct comparing *comparing, size_t most)
{
    const struct argus_vertex *vertices = comparing->graph->vertices.data;
    comparing->starts = calloc(most + 1, sizeof(*comparing->starts));
    comparing->plain_starts = calloc(most + 1, sizeof(*comparing->plain_starts));
    if (!comparing->starts || !comparing->plain_starts)
        return false;
    for (size_t i = 0; most && i < comparing->graph->vertices.length; i++)
        if (is_start(comparing, (uint32_t)i))
            offer_start(comparing, (uint32_t)i, most);
    for (size_t i = 0; i < comparing->start_count; i++) {
        uint32_t behind = ++comparing->starts[i].vertex;
        comparing->plain_starts[i] = comparing->starts[i];
        comparing->plain_starts[i].vertex =
            plain_vertex_at(comparing, vertices[behind].thread, vertices[behind].start_ns);
    }
    comparing->result->waits = comparing->start_count;
    return true;
}

/* --- figures --- */

static bool measure(const struct comparing *comparing, const struct network *network, uint8_t skip,
                    const struct network_start *starts, struct argus_graph_figures *ret)
{
    network_count(network, skip, comparing->applications, ret);
    return network_reach(network, skip, starts, comparing->start_count, comparing->process_count,
                         ret);
}

static bool measure_plain(const struct comparing *comparing)
{
    struct network network;
    size_t vertices = comparing->plain_vertex_count, edges = comparing->plain_edge_count;
    bool ready = network_init(&network, vertices, edges);
    for (size_t i = 0; ready && i < vertices; i++)
        network.process[i] = comparing->threads[comparing->plain_vertices[i].thread].process;
    for (size_t i = 0; ready && i < edges; i++) {
        network.from[i] = comparing->plain_edges[i].from;
        network.to[i] = comparing->plain_edges[i].to;
        network.from_ns[i] = comparing->plain_edges[i].from_ns;
        network.flags[i] = NETWORK_INTERACTION;
    }
    if (ready) {
        network_finish(&network);
        ready = measure(comparing, &network, 0, comparing->plain_starts, &comparing->result->plain);
    }
    network_deinit(&network);
    return ready;
}

static uint8_t flags_of(const struct argus_edge *edge)
{
    uint8_t flags = edge->strong ? 0 : NETWORK_WEAK;
    if (edge->kind == ARGUS_EDGE_SEQUENCE)
        flags |= NETWORK_SEQUENCE;
    if (peers_interact_by(edge))
        flags |= NETWORK_INTERACTION;
    return flags;
}

static bool measure_graph(const struct comparing *comparing)
{
    const struct argus_graph *graph = comparing->graph;
    struct network network;
    size_t vertices = graph->vertices.length, edges = graph->edges.length;
    bool ready = network_init(&network, vertices, edges);
    for (size_t i = 0; ready && i < vertices; i++)
        network.process[i] = comparing->threads[graph->vertices.data[i].thread].process;
    for (size_t i = 0; ready && i < edges; i++) {
        network.from[i] = graph->edges.data[i].from;
        network.to[i] = graph->edges.data[i].to;
        network.from_ns[i] = graph->edges.data[i].from_ns;
        network.flags[i] = flags_of(&graph->edges.data[i]);
    }
    if (ready) {
        network_finish(&network);
        ready = measure(comparing, &network, NETWORK_WEAK, comparing->starts,
                        &comparing->result->strong) &&
                measure(comparing, &network, 0, comparing->starts, &comparing->result->all);
    }
    network_deinit(&network);
    return ready;
}

struct argus_error *argus_compare(const struct argus_graph *graph, size_t waits,
                                  argus_progress progress, void *context,
                                  struct argus_comparison *ret)
{
    struct argus_plain *plain = NULL;
    const struct argus_process *processes;
    struct comparing comparing = {.graph = graph, .result = ret};
    *ret = (struct argus_comparison){0};
    struct argus_error *error = argus_plain_build(graph, progress, context, &plain);
    if (error)
        return error;
    comparing.plain = plain;
    comparing.plain_vertex_count = argus_plain_vertices(plain, &comparing.plain_vertices);
    comparing.plain_edge_count = argus_plain_edges(plain, &comparing.plain_edges);
    comparing.process_count = argus_graph_processes(graph, &processes);
    argus_graph_threads(graph, &comparing.threads);
    error = argus_applications(graph, &comparing.applications);
    if (!error) {
        count_fates(&comparing);
        bool done = choose_starts(&comparing, waits) && count_rules(&comparing) &&
                    measure_plain(&comparing) && measure_graph(&comparing);
        error = done ? NULL : argus_error_memory();
    }
    free(comparing.applications);
    free(comparing.starts);
    free(comparing.plain_starts);
    argus_plain_destroy(plain);
    if (error)
        argus_comparison_deinit(ret);
    return error;
}

void argus_comparison_deinit(struct argus_comparison *comparison)
{
    free(comparison->rules);
    *comparison = (struct argus_comparison){0};
}
