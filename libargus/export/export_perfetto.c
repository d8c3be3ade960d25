/* Perfetto's native format (.pftrace). perfetto_writer.h says how it is written. */
#include <string.h>

#include "base/strtab.h"
#include "export/export_edges.h"
#include "export/export_writers.h"
#include "export/perfetto_writer.h"

/* builtin_clock.proto */
enum { CLOCK_OF_DAY = 1, CLOCK_OF_MONOTONIC = 3, CLOCK_OF_BOOT = 6 };

static void put_clock(struct perfetto *out)
{
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__ClockSnapshot snapshot = ARGUS_PERFETTO__CLOCK_SNAPSHOT__INIT;
    static const uint32_t ids[] = {CLOCK_OF_BOOT, CLOCK_OF_MONOTONIC, CLOCK_OF_DAY};
    ArgusPerfetto__Clock clocks[3], *pointers[3];
    for (int i = 0; i < 3; i++) {
        argus_perfetto__clock__init(&clocks[i]);
        clocks[i].has_clock_id = clocks[i].has_timestamp = true;
        clocks[i].clock_id = ids[i];
        clocks[i].timestamp = out->from_ns;
        pointers[i] = &clocks[i];
    }
    clocks[2].timestamp =
        argus_trace_ns_to_wall_ns(argus_graph_trace(out->context->graph), out->from_ns);
    snapshot.clocks = pointers;
    snapshot.n_clocks = 3;
    snapshot.has_primary_trace_clock = true;
    snapshot.primary_trace_clock = CLOCK_OF_BOOT;
    packet.clock_snapshot = &snapshot;
    packet.has_timestamp = true;
    packet.timestamp = out->from_ns;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}

/* The trace processor reads states of threads by the kernel's version. */
static void put_system(struct perfetto *out)
{
    const struct argus_trace_header *header =
        argus_trace_header(argus_graph_trace(out->context->graph));
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__SystemInfo info = ARGUS_PERFETTO__SYSTEM_INFO__INIT;
    ArgusPerfetto__Utsname name = ARGUS_PERFETTO__UTSNAME__INIT;
    char host[sizeof(header->host)], *rest = NULL;
    memcpy(host, header->host, sizeof(host));
    name.sysname = strtok_r(host, " ", &rest);
    name.release = name.sysname ? strtok_r(NULL, " ", &rest) : NULL;
    name.machine = name.release ? strtok_r(NULL, " ", &rest) : NULL;
    info.utsname = &name;
    info.has_num_cpus = true;
    info.num_cpus = header->cpu_count;
    packet.system_info = &info;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}

static void put_process(struct perfetto *out, const struct argus_process *process)
{
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__ProcessTree tree = ARGUS_PERFETTO__PROCESS_TREE__INIT;
    ArgusPerfetto__Process item = ARGUS_PERFETTO__PROCESS__INIT, *items[] = {&item};
    char *words[] = {(char *)process->name};
    item.has_pid = item.has_ppid = item.has_is_kthread = item.has_cmdline_is_comm = true;
    item.pid = (int32_t)process->pid;
    item.ppid = (int32_t)process->parent_pid;
    item.cmdline = words;
    item.n_cmdline = 1;
    item.is_kthread = process->kernel;
    item.cmdline_is_comm = true;
    tree.processes = items;
    tree.n_processes = 1;
    packet.process_tree = &tree;
    packet.has_timestamp = true;
    packet.timestamp = process->start_ns > out->from_ns ? process->start_ns : out->from_ns;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}

static void put_thread(struct perfetto *out, const struct argus_thread *thread)
{
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__ProcessTree tree = ARGUS_PERFETTO__PROCESS_TREE__INIT;
    ArgusPerfetto__Thread item = ARGUS_PERFETTO__THREAD__INIT, *items[] = {&item};
    item.has_tid = item.has_tgid = true;
    item.tid = (int32_t)thread->tid;
    item.tgid = (int32_t)out->view.processes[thread->process].pid;
    item.name = (char *)thread->name;
    tree.threads = items;
    tree.n_threads = 1;
    packet.process_tree = &tree;
    packet.has_timestamp = true;
    packet.timestamp = thread->start_ns > out->from_ns ? thread->start_ns : out->from_ns;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}

void perfetto_put_machine(struct perfetto *out)
{
    put_clock(out);
    put_system(out);
    for (size_t i = 0; i < out->view.process_count; i++)
        if (out->view.processes[i].pid)
            put_process(out, &out->view.processes[i]);
    for (size_t i = 0; i < out->view.thread_count; i++)
        if (!out->view.threads[i].idle)
            put_thread(out, &out->view.threads[i]);
}

/* The time from the first vertex to the end of the last wait. */
static void find_times(struct perfetto *out)
{
    out->from_ns = UINT64_MAX;
    for (size_t i = 0; i < out->part->count; i++) {
        uint64_t start_ns = out->view.vertices[out->part->vertices[i]].start_ns;
        uint64_t end_ns = timeline_wait_end(&out->view, out->part->vertices[i]);
        out->from_ns = start_ns < out->from_ns ? start_ns : out->from_ns;
        out->until_ns = end_ns > out->until_ns ? end_ns : out->until_ns;
    }
    if (!out->part->count)
        out->from_ns = out->until_ns = argus_graph_start_ns(out->context->graph);
}

struct argus_error *argus_export_perfetto(const struct argus_report_context *context,
                                          const struct argus_export *part, uint64_t *ret_edges_cut)
{
    struct perfetto out = {.context = context, .part = part, .view = view_of(context->graph)};
    find_times(&out);
    perfetto_put_machine(&out);
    perfetto_put_scheduling(&out);
    perfetto_put_threads(&out);
    perfetto_put_samples(&out);
    perfetto_put_diagnosis(&out);
    *ret_edges_cut = export_count_cut(context->graph, part);
    vec_deinit(&out.packed);
    strtab_destroy(out.names);
    idmap_deinit(&out.functions);
    idmap_deinit(&out.images);
    idmap_deinit(&out.frames);
    idmap_deinit(&out.stacks);
    return out.error ? out.error : out.failed ? argus_error_memory() : NULL;
}
