#include "perfetto_others.h"

#include <stdio.h>

/* A field that perfetto_trace.proto leaves out. */
struct other_field {
    uint32_t tag;
    const char *name;
};

/* Packets with contents; those that describe the recording itself are not counted. Names and
 * numbers: protos/perfetto/trace/trace_packet.proto. To add one: a row. */
static const struct other_field packets[] = {
    {5, "chrome_events"},
    {7, "sys_stats"},
    {9, "process_stats"},
    {11, "track_event"},
    {37, "profile_packet"},
    {38, "battery"},
    {39, "android_log"},
    {40, "power_rails"},
    {49, "perfetto_metatrace"},
    {52, "gpu_counter_event"},
    {53, "gpu_render_stage_event"},
    {54, "streaming_profile_packet"},
    {56, "heap_graph"},
    {57, "graphics_frame_event"},
    {62, "vulkan_memory_event"},
    {65, "vulkan_api_event"},
    {68, "smaps_packet"},
    {71, "gpu_mem_total_event"},
    {73, "memory_tracker_snapshot"},
    {74, "streaming_allocation"},
    {76, "frame_timeline_event"},
    {84, "statsd_atom"},
    {91, "entity_state_residency"},
    {93, "surfaceflinger_layers_snapshot"},
    {94, "surfaceflinger_transactions"},
    {95, "etw_events"},
    {112, "winscope_extensions"},
    {117, "generic_kernel_task_state_event"},
    {132, "journald_event"},
    {135, "stack_sample"},
};

/* Events of the kernel; protos/perfetto/trace/ftrace/ftrace_event.proto has 600 of them. */
static const struct other_field events[] = {
    {3, "print"},
    {11, "cpu_frequency"},
    {13, "cpu_idle"},
    {18, "sched_blocked_reason"},
    {26, "softirq_raise"},
    {50, "binder_transaction"},
    {51, "binder_transaction_received"},
    {80, "tracing_mark_write"},
    {113, "suspend_resume"},
    {313, "rss_stat"},
    {327, "generic"},
    {359, "rss_stat_throttled"},
    {437, "funcgraph_entry"},
    {438, "funcgraph_exit"},
};

static const char *name_of(const struct other_field *fields, size_t count, uint32_t tag)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].tag == tag)
            return fields[i].name;
    return NULL;
}

void perfetto_others_take_packet(struct sink *sink, const PerfettoPart__TracePacket *packet)
{
    for (unsigned i = 0; i < packet->base.n_unknown_fields; i++) {
        const char *name = name_of(packets, sizeof(packets) / sizeof(*packets),
                                   packet->base.unknown_fields[i].tag);
        if (name)
            sink_other(sink, name, 1);
    }
}

void perfetto_others_take_event(struct sink *sink, const PerfettoPart__FtraceEvent *event)
{
    char made[40];
    for (unsigned i = 0; i < event->base.n_unknown_fields; i++) {
        uint32_t tag = event->base.unknown_fields[i].tag;
        const char *name = name_of(events, sizeof(events) / sizeof(*events), tag);
        if (!name)
            snprintf(made, sizeof(made), "event %u of the kernel", tag);
        sink_other(sink, name ? name : made, 1);
    }
}
