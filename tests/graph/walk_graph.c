#include "walk_graph.h"

#include <string.h>

#include "graph/graph_data.h"

static uint64_t walk_stack(const struct argus_graph *graph, uint32_t index)
{
    struct argus_stack stack = argus_graph_stack(graph, index);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < stack.count; i++)
        sum += stack.frames[i];
    return sum;
}

static uint64_t walk_edges(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_edge *edges, *all;
    const uint32_t *out;
    const struct argus_rule *rules;
    argus_graph_edges(graph, &all);
    argus_graph_rules(graph, &rules);
    uint64_t sum = argus_graph_cause(graph, vertex);
    size_t count = argus_graph_in_edges(graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        sum += graph->vertices.data[edges[i].from].run_ns + rules[edges[i].rule].count +
               (uint64_t)argus_edge_name(&edges[i])[0] + edges[i].strong +
               walk_stack(graph, edges[i].stack);
    count = argus_graph_out_edges(graph, vertex, &out);
    for (size_t i = 0; i < count; i++)
        sum += graph->vertices.data[all[out[i]].to].run_ns;
    return sum;
}

static uint64_t walk_contents(const struct argus_graph *graph, const struct argus_vertex *vertex)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < vertex->op_count; i++)
        sum += graph->ops.data[vertex->first_op + i].code;
    for (uint32_t i = 0; i < vertex->sample_count; i++) {
        const struct argus_sample *sample = &graph->samples.data[vertex->first_sample + i];
        sum += walk_stack(graph, sample->user_stack) + walk_stack(graph, sample->kernel_stack);
    }
    for (uint32_t i = vertex->wait.first_detail; i != ARGUS_NONE; i = graph->details.data[i].next)
        sum += graph->details.data[i].arg[0];
    return sum;
}

static uint64_t walk_vertex(const struct argus_graph *graph, uint32_t id)
{
    const struct argus_vertex *vertex = &graph->vertices.data[id];
    const struct argus_callback *callbacks;
    struct argus_callback event;
    char text[256];
    uint64_t sum = walk_edges(graph, id) + walk_contents(graph, vertex);
    sum += strlen(argus_wait_text(graph, id, text, sizeof(text)));
    sum +=
        walk_stack(graph, vertex->wait.user_stack) + walk_stack(graph, vertex->wait.kernel_stack);
    sum += vertex->wait.has_result + vertex->wait.by_timer + vertex->wait.by_device;
    sum += argus_graph_previous(graph, id) + argus_graph_callback_begin(graph, id);
    sum += argus_vertex_type(vertex, 1000) + argus_vertex_wait_ns(vertex);
    size_t count = argus_graph_callbacks(graph, id, &callbacks);
    for (size_t i = 0; i < count; i++)
        sum += callbacks[i].on_purpose + callbacks[i].nested;
    return sum + argus_graph_ui_event(graph, id, &event);
}

static uint64_t walk_lives(const struct argus_graph *graph)
{
    const struct argus_process *processes;
    const struct argus_thread *threads;
    size_t count = argus_graph_processes(graph, &processes);
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += strlen(processes[i].name) + processes[i].kernel;
        for (uint32_t at = (uint32_t)i; at != ARGUS_NONE; at = processes[at].forked_from)
            sum += processes[at].pid;
    }
    count = argus_graph_threads(graph, &threads);
    for (uint32_t i = 0; i < count; i++) {
        sum += strlen(threads[i].name) + processes[threads[i].process].pid + threads[i].idle;
        sum += argus_graph_vertex_at(graph, i, argus_graph_start_ns(graph));
        sum += argus_graph_vertex_at(graph, i, argus_graph_end_ns(graph));
        for (uint32_t k = 0; k < threads[i].vertex_count; k++)
            sum += graph->vertices.data[threads[i].first_vertex + k].run_ns;
    }
    return sum;
}

uint64_t walk_graph(const struct argus_graph *graph)
{
    const struct argus_thread *threads;
    const struct argus_object_use *uses;
    const struct argus_ipc_use *ipc;
    const struct argus_open_end *ends;
    const struct argus_shared_memory *shared;
    const struct argus_remote *remotes;
    const struct argus_file_name *names;
    const struct argus_visits *visits;
    const struct argus_unread *unread;
    uint64_t sum = walk_lives(graph);
    argus_graph_threads(graph, &threads);
    for (uint32_t i = 0; i < graph->vertices.length; i++)
        sum += walk_vertex(graph, i);
    size_t count = argus_graph_object_uses(graph, &uses);
    for (size_t i = 0; i < count; i++)
        sum += threads[uses[i].thread].tid + uses[i].wrote;
    count = argus_graph_ipc_uses(graph, &ipc);
    for (size_t i = 0; i < count; i++)
        sum += threads[ipc[i].thread].tid + ipc[i].how;
    count = argus_graph_open_ends(graph, &ends);
    for (size_t i = 0; i < count; i++)
        sum += threads[ends[i].thread].tid + ends[i].reads + ends[i].writes;
    count = argus_graph_shared_memory(graph, &shared);
    for (size_t i = 0; i < count; i++)
        sum += threads[shared[i].thread].tid + shared[i].writable;
    count = argus_graph_remotes(graph, &remotes);
    for (size_t i = 0; i < count; i++)
        sum += remotes[i].thread == ARGUS_NONE ? 0 : threads[remotes[i].thread].tid;
    count = argus_graph_file_names(graph, &names);
    for (size_t i = 0; i < count; i++)
        sum += threads[names[i].thread].tid + strlen(names[i].path);
    count = argus_graph_visits(graph, &visits);
    for (size_t i = 0; i < count; i++)
        sum += threads[visits[i].thread].tid;
    count = argus_graph_unread(graph, &unread);
    for (size_t i = 0; i < count; i++)
        sum += threads[unread[i].sender].tid + threads[unread[i].receiver].tid;
    return sum;
}
