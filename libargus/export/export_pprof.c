/* pprof's format (pprof_writer.h): values of a sample are CPU samples, time on a CPU, and time in
 * waits. Labels: process, thread, and their numbers. */
#include "export/export_edges.h"
#include "export/export_writers.h"
#include "export/pprof_writer.h"
#include "export/profile.h"

/* The items of one thread in one stack. */
struct sum {
    uint64_t samples, cpu_ns, wait_ns;
    uint32_t node, thread;
};

struct pprof {
    struct profile profile;
    struct pprof_writer writer;
    VEC(struct sum) sums;
    struct idmap sum_numbers;
    bool failed;
};

static void put_types(struct pprof *pprof)
{
    const struct argus_graph *graph = pprof->profile.context->graph;
    uint64_t start_ns = argus_graph_start_ns(graph);
    pprof_add_type(&pprof->writer, "samples", "count");
    pprof_add_type(&pprof->writer, "cpu", "nanoseconds");
    pprof_add_type(&pprof->writer, "waits", "nanoseconds");
    pprof_choose_type(&pprof->writer, "cpu");
    pprof_add_time(&pprof->writer, argus_trace_ns_to_wall_ns(argus_graph_trace(graph), start_ns),
                   argus_graph_end_ns(graph) - start_ns);
}

static void put_sum(struct pprof *pprof, const struct sum *sum)
{
    const struct profile *profile = &pprof->profile;
    const struct argus_thread *thread = &profile->view.threads[sum->thread];
    const struct argus_process *process = &profile->view.processes[thread->process];
    for (uint32_t node = sum->node; node != ARGUS_NONE; node = profile->nodes.data[node].parent)
        pprof_add_frame_of_sample(&pprof->writer, profile->nodes.data[node].frame);
    pprof_add_value(&pprof->writer, (int64_t)sum->samples);
    pprof_add_value(&pprof->writer, (int64_t)sum->cpu_ns);
    pprof_add_value(&pprof->writer, (int64_t)sum->wait_ns);
    pprof_add_label(&pprof->writer, "process", process->name, 0);
    pprof_add_label(&pprof->writer, "thread", thread->name, 0);
    pprof_add_label(&pprof->writer, "pid", NULL, process->pid);
    pprof_add_label(&pprof->writer, "tid", NULL, thread->tid);
    pprof_end_sample(&pprof->writer);
}

static void sum_up(struct pprof *pprof)
{
    for (size_t i = 0; i < pprof->profile.items.length && !pprof->failed; i++) {
        const struct profile_item *item = &pprof->profile.items.data[i];
        uint64_t id = (uint64_t)item->node << 32 | item->thread;
        uint32_t number = idmap_get(&pprof->sum_numbers, id);
        if (number == IDMAP_NONE) {
            number = (uint32_t)pprof->sums.length;
            pprof->failed |=
                !vec_push(&pprof->sums, (struct sum){.node = item->node, .thread = item->thread}) ||
                !idmap_put(&pprof->sum_numbers, id, number);
        }
        if (pprof->failed)
            return;
        struct sum *sum = &pprof->sums.data[number];
        sum->samples += item->is_sample;
        sum->cpu_ns += item->cpu_ns;
        sum->wait_ns += item->wait_ns;
    }
}

static void write_all(struct pprof *pprof)
{
    put_types(pprof);
    sum_up(pprof);
    for (size_t i = 0; i < pprof->sums.length && !pprof->failed && !pprof->writer.closed; i++)
        put_sum(pprof, &pprof->sums.data[i]);
    for (uint32_t i = 0; i < pprof->profile.frames.length && !pprof->failed; i++)
        pprof_add_frame(&pprof->writer, i, pprof->profile.frames.data[i].name,
                        pprof->profile.frames.data[i].image);
}

struct argus_error *argus_export_pprof(const struct argus_report_context *context,
                                       const struct argus_export *part, uint64_t *ret_edges_cut)
{
    struct pprof pprof = {.failed = false};
    struct argus_error *error = profile_collect(context, part, &pprof.profile);
    if (!error)
        error = pprof_init(&pprof.writer, context->sink, pprof.profile.names);
    if (!error) {
        write_all(&pprof);
        error = pprof_end(&pprof.writer);
    }
    if (!error && pprof.failed)
        error = argus_error_memory();
    *ret_edges_cut = export_count_cut(context->graph, part);
    vec_deinit(&pprof.sums);
    idmap_deinit(&pprof.sum_numbers);
    profile_deinit(&pprof.profile);
    return error;
}
