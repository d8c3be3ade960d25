#include "diagnose/suspects/similar_writers.h"

#include <string.h>

#include "steps/loops/code_similar.h"

enum {
    MOST_FUNCTIONS = 256,
    KNOWN = 1024, /* stacks that are remembered */
};

struct collecting {
    struct view view;
    const struct argus_sample *samples;
    struct elf_file *file; /* borrowed */
    uint64_t bias;
    uint64_t starts[MOST_FUNCTIONS]; /* addresses of the file */
    uint32_t count;
    uint32_t known[KNOWN]; /* by the stack's index; ARGUS_NONE: none */
};

static void add_frame(struct collecting *collecting, uint64_t address)
{
    uint64_t start, bytes;
    if (!elf_file_function_range(collecting->file, address - collecting->bias, &start, &bytes))
        return;
    for (uint32_t i = 0; i < collecting->count; i++)
        if (collecting->starts[i] == start)
            return;
    if (collecting->count < MOST_FUNCTIONS)
        collecting->starts[collecting->count++] = start;
}

static void add_stack(struct collecting *collecting, uint32_t index)
{
    if (index == ARGUS_NONE || collecting->known[index % KNOWN] == index)
        return;
    collecting->known[index % KNOWN] = index;
    struct argus_stack stack = argus_graph_stack(collecting->view.graph, index);
    for (uint32_t i = 0; i < stack.count; i++)
        add_frame(collecting, stack.frames[i] - (i > 0));
}

static void add_thread(struct collecting *collecting, const struct argus_thread *thread)
{
    for (uint32_t i = 0; i < thread->vertex_count; i++) {
        const struct argus_vertex *v = &collecting->view.vertices[thread->first_vertex + i];
        add_stack(collecting, v->wait.user_stack);
        for (uint32_t k = 0; k < v->sample_count; k++)
            add_stack(collecting, collecting->samples[v->first_sample + k].user_stack);
    }
}

void similar_writers_find(struct diagnoser *d, const struct argus_vertex *waiter,
                          const struct loop_flag *flag, uint64_t bias, uint64_t code,
                          struct code_writers *ret)
{
    struct collecting collecting = {.view = d->view, .file = flag->file, .bias = bias};
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(d->view.graph));
    uint32_t process = d->view.threads[waiter->thread].process;
    argus_graph_samples(d->view.graph, &collecting.samples);
    memset(collecting.known, 0xff, sizeof(collecting.known)); /* ARGUS_NONE */
    for (uint32_t i = 0; i < d->view.thread_count; i++)
        if (i != waiter->thread && d->view.threads[i].process == process)
            add_thread(&collecting, &d->view.threads[i]);
    (void)code_similar_find(flag, code, collecting.starts, collecting.count,
                            header->arch == ARGUS_ARCH_AARCH64, ret);
}
