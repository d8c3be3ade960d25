/* The data flag that an edge or an operation is about, and its name, from the trace's table of
 * flags. */
#include "graph/graph_data.h"

#include "base/lower_bound.h"

/* If several flags had the same address, the one that was watched last before `time_ns`. `mask`:
 * the bits of the address that are known. */
static const struct argus_flag_entry *find(const struct argus_graph *graph, uint64_t pid,
                                           uint64_t address, uint64_t mask, uint64_t time_ns)
{
    const struct argus_flag_entry *flags, *found = NULL;
    size_t count = argus_trace_flags(graph->trace, &flags);
    for (size_t i = 0; i < count; i++) {
        bool fits = flags[i].pid == pid && (flags[i].address & mask) == (address & mask) &&
                    argus_trace_ticks_to_ns(graph->trace, flags[i].since_ticks) <= time_ns;
        if (fits && (!found || flags[i].since_ticks >= found->since_ticks))
            found = &flags[i];
    }
    return found;
}

static uint64_t pid_of(const struct argus_graph *graph, uint32_t thread)
{
    const struct machine *machine = &graph->machine;
    return machine->processes.data[machine->threads.data[thread].process].pid;
}

const struct argus_flag_entry *argus_graph_flag(const struct argus_graph *graph, uint64_t pid,
                                                uint64_t address, uint64_t time_ns)
{
    return find(graph, pid, address, UINT64_MAX, time_ns);
}

static const struct argus_flag_use *find_use(const struct argus_graph *graph, uint64_t time_ns,
                                             uint32_t thread)
{
    const struct argus_flag_use *uses = graph->flag_uses.data;
    size_t first;
    LOWER_BOUND(first, graph->flag_uses.length, uses[first].time_ns < time_ns);
    for (; first < graph->flag_uses.length && uses[first].time_ns == time_ns; first++)
        if (uses[first].thread == thread)
            return &uses[first];
    return NULL;
}

uint64_t argus_graph_flag_address(const struct argus_graph *graph, uint64_t time_ns,
                                  uint32_t thread)
{
    const struct argus_flag_use *use = find_use(graph, time_ns, thread);
    return use ? use->address : 0;
}

const struct argus_flag_entry *argus_graph_edge_flag(const struct argus_graph *graph,
                                                     const struct argus_edge *edge,
                                                     uint64_t *ret_address)
{
    const struct argus_flag_use *use = NULL;
    if (edge->kind == ARGUS_EDGE_FLAG && edge->to < graph->vertices.length)
        use = find_use(graph, edge->to_ns, graph->vertices.data[edge->to].thread);
    if (ret_address)
        *ret_address = use ? use->address : 0;
    return use ? find(graph, pid_of(graph, use->thread), use->address, UINT64_MAX, use->time_ns)
               : NULL;
}

const struct argus_flag_entry *argus_graph_op_flag(const struct argus_graph *graph, uint32_t vertex,
                                                   uint32_t code)
{
    uint32_t kind = code >> 24;
    if ((kind != ARGUS_OP_FLAG_READ && kind != ARGUS_OP_FLAG_WRITE) ||
        vertex >= graph->vertices.length)
        return NULL;
    const struct argus_vertex *v = &graph->vertices.data[vertex];
    return find(graph, pid_of(graph, v->thread), code, 0xffffff, v->end_ns);
}
