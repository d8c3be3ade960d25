#include "diagnose/suspects/similar_writers.h"

#include <string.h>

#include "steps/loops/code_similar.h"

enum { KNOWN = 1024 }; /* stacks that are remembered */

struct collecting {
    struct view view;
    const struct argus_sample *samples;
    struct elf_file *file; /* borrowed */
    uint64_t bias;
    struct similar_starts *starts;
    uint32_t known[KNOWN]; /* by the stack's index; ARGUS_NONE: none */
};

static void add_frame(const struct collecting *collecting, uint64_t address)
{
    uint64_t start, bytes;
    struct similar_starts *starts = collecting->starts;
    if (!elf_file_function_range(collecting->file, address - collecting->bias, &start, &bytes))
        return;
    for (uint32_t i = 0; i < starts->count; i++)
        if (starts->all[i] == start)
            return;
    if (starts->count < SIMILAR_STARTS_MAX)
        starts->all[starts->count++] = start;
    else
        starts->is_cut = true;
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
    for (uint32_t i = 0; i < thread->vertex_count && !collecting->starts->is_cut; i++) {
        const struct argus_vertex *v = &collecting->view.vertices[thread->first_vertex + i];
        add_stack(collecting, v->wait.user_stack);
        for (uint32_t k = 0; k < v->sample_count; k++)
            add_stack(collecting, collecting->samples[v->first_sample + k].user_stack);
    }
}

static void collect(struct diagnoser *d, const struct argus_vertex *waiter, struct elf_file *file,
                    uint64_t bias, struct similar_starts *ret)
{
    struct collecting collecting = {.view = d->view, .file = file, .bias = bias, .starts = ret};
    uint32_t process = d->view.threads[waiter->thread].process;
    *ret = (struct similar_starts){.file = file};
    argus_graph_samples(d->view.graph, &collecting.samples);
    memset(collecting.known, 0xff, sizeof(collecting.known)); /* ARGUS_NONE */
    for (uint32_t i = 0; i < d->view.thread_count && !ret->is_cut; i++)
        if (i != waiter->thread && d->view.threads[i].process == process)
            add_thread(&collecting, &d->view.threads[i]);
}

void similar_writers_find(struct diagnoser *d, const struct argus_vertex *waiter,
                          const struct loop_flag *flag, uint64_t bias, uint64_t code,
                          struct similar_starts *starts, struct code_writers *ret)
{
    const struct argus_trace_header *header = argus_trace_header(argus_graph_trace(d->view.graph));
    bool is_arm64 = header->arch == ARGUS_ARCH_AARCH64, is_cut;
    uint64_t all[SIMILAR_STARTS_MAX + CODE_HANDED_MAX];
    if (starts->file != flag->file)
        collect(d, waiter, flag->file, bias, starts);
    memcpy(all, starts->all, starts->count * sizeof(all[0]));
    uint32_t count = starts->count + code_handed_find(flag, is_arm64, all + starts->count, &is_cut);
    (void)code_similar_find(flag, code, all, count, is_arm64, ret);
    ret->is_cut |= starts->is_cut || is_cut;
}
