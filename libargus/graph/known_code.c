#include "graph/known_code.h"

#include <stdlib.h>

/* An address after a call, or a mark that says why the stack ends; user space only. */
/* In a copied stack, an interpreted frame is its instruction's address + 1. Frame pointers may lead
 * to that address itself, which lies in the interpreter's frames. */
static bool is_code(const struct images *images, uint32_t process, uint64_t time_ns,
                    uint64_t address)
{
    return address < ARGUS_FRAME_ENDS ||
           images_find(images, process, time_ns, address - 1) != UINT32_MAX ||
           (process < images->process_count &&
            argus_trace_is_interpreted(images->trace, images->processes[process].pid, address - 1));
}

uint32_t known_code(const struct images *images, uint32_t process, uint64_t time_ns,
                    struct argus_stack stack)
{
    uint32_t count = 1;
    if (!stack.count || images_find(images, process, time_ns, stack.frames[0]) == UINT32_MAX)
        return stack.count;
    while (count < stack.count && is_code(images, process, time_ns, stack.frames[count]))
        count++;
    return count;
}

struct work {
    struct argus_graph *graph;
    struct images images;
    bool *seen; /* by stack */
    bool no_memory;
};

static void look_at(struct work *work, uint32_t stack, uint32_t thread, uint64_t time_ns)
{
    struct stacks *stacks = &work->graph->stacks;
    if (stack >= stacks->stacks.length || work->seen[stack] ||
        thread >= work->graph->machine.threads.length)
        return;
    work->seen[stack] = true;
    struct argus_stack whole = stacks_get(stacks, stack);
    uint32_t process = work->graph->machine.threads.data[thread].process;
    uint32_t count = known_code(&work->images, process, time_ns, whole);
    if (count < whole.count)
        work->no_memory |= !stacks_cut(stacks, stack, count, ARGUS_FRAME_ASTRAY);
}

static void look_at_vertex(struct work *work, const struct argus_vertex *vertex)
{
    const struct argus_sample *samples = work->graph->samples.data;
    look_at(work, vertex->wait.user_stack, vertex->thread, vertex->end_ns);
    for (uint32_t i = 0; i < vertex->sample_count; i++) {
        const struct argus_sample *sample = &samples[vertex->first_sample + i];
        look_at(work, sample->user_stack, vertex->thread, sample->time_ns);
    }
}

struct argus_error *graph_keep_code(struct argus_graph *graph)
{
    struct work work = {.graph = graph};
    if (!graph->stacks.stacks.length ||
        /* Darwin traces need not know all images */
        argus_trace_header(graph->trace)->os != ARGUS_OS_LINUX)
        return NULL;
    struct argus_error *error = images_init(
        &work.images, graph->trace, graph->machine.processes.data, graph->machine.processes.length);
    if (error)
        return error;
    work.seen = calloc(graph->stacks.stacks.length, sizeof(*work.seen));
    work.no_memory = !work.seen;
    for (size_t i = 0; i < graph->vertices.length && !work.no_memory; i++)
        look_at_vertex(&work, &graph->vertices.data[i]);
    for (size_t i = 0; i < graph->edges.length && !work.no_memory; i++) {
        const struct argus_edge *edge = &graph->edges.data[i];
        look_at(&work, edge->stack, graph->vertices.data[edge->from].thread, edge->from_ns);
    }
    free(work.seen);
    images_deinit(&work.images);
    return work.no_memory ? argus_error_memory() : NULL;
}
