#include "graph/inspect/network.h"

#include <stdlib.h>
#include <string.h>

#include "graph/inspect/peers.h"

bool network_init(struct network *network, size_t vertices, size_t edges)
{
    *network = (struct network){
        .vertex_count = vertices,
        .edge_count = edges,
        .process = malloc((vertices + 1) * sizeof(uint32_t)),
        .from = malloc((edges + 1) * sizeof(uint32_t)),
        .to = malloc((edges + 1) * sizeof(uint32_t)),
        .from_ns = malloc((edges + 1) * sizeof(uint64_t)),
        .flags = malloc(edges + 1),
        .in_first = calloc(vertices + 2, sizeof(uint32_t)),
        .in = malloc((edges + 1) * sizeof(uint32_t)),
        .out_first = calloc(vertices + 2, sizeof(uint32_t)),
        .out = malloc((edges + 1) * sizeof(uint32_t)),
    };
    return network->process && network->from && network->to && network->from_ns && network->flags &&
           network->in_first && network->in && network->out_first && network->out;
}

void network_deinit(struct network *network)
{
    free(network->process);
    free(network->from);
    free(network->to);
    free(network->from_ns);
    free(network->flags);
    free(network->in_first);
    free(network->in);
    free(network->out_first);
    free(network->out);
    *network = (struct network){0};
}

/* Makes lists of edges by `end`. While they are made, first[v + 1] is where the list of v
 * continues; in the end it is where that list ends. */
static void list_edges(const uint32_t *end, size_t edges, size_t vertices, uint32_t *first,
                       uint32_t *list)
{
    for (size_t i = 0; i < edges; i++)
        first[end[i] + 2]++;
    for (size_t v = 1; v < vertices + 1; v++)
        first[v + 1] += first[v];
    for (size_t i = 0; i < edges; i++)
        list[first[end[i] + 1]++] = (uint32_t)i;
}

void network_finish(struct network *network)
{
    size_t vertices = network->vertex_count, edges = network->edge_count;
    list_edges(network->to, edges, vertices, network->in_first, network->in);
    list_edges(network->from, edges, vertices, network->out_first, network->out);
}

static uint32_t causes_of(const struct network *network, uint8_t skip, uint32_t vertex)
{
    uint32_t causes = 0;
    for (uint32_t i = network->in_first[vertex]; i < network->in_first[vertex + 1]; i++)
        causes += !(network->flags[network->in[i]] & (skip | NETWORK_SEQUENCE));
    return causes;
}

/* Adds to `list` the applications that the edges list[first] … list[end - 1] lead to. Returns their
 * bits. */
static uint32_t peers_by(const struct network *network, uint8_t skip, const uint32_t *applications,
                         const uint32_t *edges, size_t count, const uint32_t *other, uint32_t own,
                         struct peer_list *list)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t flags = network->flags[edges[i]];
        uint32_t peer = applications[network->process[other[edges[i]]]];
        if ((flags & NETWORK_INTERACTION) && !(flags & skip) && peer != own && peer != ARGUS_NONE)
            bits |= peer_bit(list, peer);
    }
    return bits;
}

static bool is_mixed(const struct network *network, uint8_t skip, const uint32_t *applications,
                     uint32_t vertex)
{
    struct peer_list peers;
    uint32_t own = applications[network->process[vertex]];
    if (own == ARGUS_NONE)
        return false;
    uint32_t in = network->in_first[vertex], out = network->out_first[vertex];
    peers_clear(&peers);
    peers.causes = peers_by(network, skip, applications, network->in + in,
                            network->in_first[vertex + 1] - in, network->from, own, &peers);
    peers.effects = peers_by(network, skip, applications, network->out + out,
                             network->out_first[vertex + 1] - out, network->to, own, &peers);
    return peers_are_mixed(&peers);
}

void network_count(const struct network *network, uint8_t skip, const uint32_t *applications,
                   struct argus_graph_figures *ret)
{
    ret->vertices = network->vertex_count;
    for (size_t i = 0; i < network->edge_count; i++)
        ret->edges += !(network->flags[i] & skip);
    for (size_t v = 0; v < network->vertex_count; v++) {
        ret->several_causes += causes_of(network, skip, (uint32_t)v) > 1;
        ret->mixed += is_mixed(network, skip, applications, (uint32_t)v);
    }
}

/* --- reachability --- */

struct walk {
    const struct network *network;
    uint8_t skip;
    uint32_t round;
    uint32_t *seen;           /* by vertex: the last round that reached it */
    uint32_t *seen_processes; /* by process: the last round that reached it */
    uint32_t *queue;
};

static void reach_from(struct walk *walk, uint32_t start, uint64_t since_ns, uint64_t *ret_vertices,
                       uint64_t *ret_processes)
{
    const struct network *network = walk->network;
    size_t length = 0;
    *ret_vertices = *ret_processes = 0;
    walk->round++;
    walk->seen[start] = walk->round;
    walk->queue[length++] = start;
    for (size_t at = 0; at < length; at++) {
        uint32_t vertex = walk->queue[at], process = network->process[vertex];
        *ret_processes += walk->seen_processes[process] != walk->round;
        walk->seen_processes[process] = walk->round;
        for (uint32_t i = network->in_first[vertex]; i < network->in_first[vertex + 1]; i++) {
            uint32_t edge = network->in[i], from = network->from[edge];
            if ((network->flags[edge] & walk->skip) || walk->seen[from] == walk->round ||
                network->from_ns[edge] < since_ns)
                continue;
            walk->seen[from] = walk->round;
            walk->queue[length++] = from;
        }
    }
    *ret_vertices = length;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static struct argus_reach reach_of(uint64_t *values, size_t count)
{
    struct argus_reach reach = {0};
    if (!count)
        return reach;
    qsort(values, count, sizeof(*values), by_value);
    reach.median = values[count / 2];
    reach.most = values[count - 1];
    return reach;
}

/* Measures what is reachable from all starts; `windowed`: only within each start's time window. */
static void reach_from_all(struct walk *walk, const struct network_start *starts,
                           size_t start_count, bool windowed, uint64_t *vertices,
                           uint64_t *processes, struct argus_reach *ret_vertices,
                           struct argus_reach *ret_processes)
{
    size_t count = 0;
    for (size_t i = 0; i < start_count; i++) {
        if (starts[i].vertex == ARGUS_NONE)
            continue;
        reach_from(walk, starts[i].vertex, windowed ? starts[i].since_ns : 0, &vertices[count],
                   &processes[count]);
        count++;
    }
    *ret_vertices = reach_of(vertices, count);
    *ret_processes = reach_of(processes, count);
}

bool network_reach(const struct network *network, uint8_t skip, const struct network_start *starts,
                   size_t start_count, size_t process_count, struct argus_graph_figures *ret)
{
    struct walk walk = {
        .network = network,
        .skip = skip,
        .seen = calloc(network->vertex_count + 1, sizeof(*walk.seen)),
        .seen_processes = calloc(process_count + 1, sizeof(*walk.seen_processes)),
        .queue = malloc((network->vertex_count + 1) * sizeof(*walk.queue)),
    };
    uint64_t *vertices = calloc(start_count + 1, sizeof(*vertices));
    uint64_t *processes = calloc(start_count + 1, sizeof(*processes));
    bool ready = walk.seen && walk.seen_processes && walk.queue && vertices && processes;
    if (ready) {
        reach_from_all(&walk, starts, start_count, false, vertices, processes, &ret->reach,
                       &ret->processes);
        reach_from_all(&walk, starts, start_count, true, vertices, processes, &ret->window_reach,
                       &ret->window_processes);
    }
    free(walk.seen);
    free(walk.seen_processes);
    free(walk.queue);
    free(vertices);
    free(processes);
    return ready;
}
