/* The tracks of threads: segments and waits as slices, and edges as flows.
 *
 * A flow begins and ends at an event. Where an edge begins or ends inside a segment, that event is
 * an instant of its own, named after the edge; where it ends at a segment's beginning, it is the
 * segment. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "export/export_edges.h"
#include "export/export_names.h"
#include "export/perfetto_writer.h"
#include "report/json.h"
#include "report/lines.h"

enum { MOST_FLOWS = 64, MOST_FRAMES = 64 };

static uint64_t track_of(uint32_t thread)
{
    return PERFETTO_THREAD_TRACK + thread;
}

static void put_thread_track(struct perfetto *out, uint32_t thread)
{
    const struct argus_thread *t = &out->view.threads[thread];
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__TrackDescriptor descriptor = ARGUS_PERFETTO__TRACK_DESCRIPTOR__INIT;
    ArgusPerfetto__ThreadDescriptor of = ARGUS_PERFETTO__THREAD_DESCRIPTOR__INIT;
    of.has_pid = of.has_tid = true;
    of.pid = (int32_t)out->view.processes[t->process].pid;
    of.tid = (int64_t)t->tid;
    of.thread_name = (char *)t->name;
    descriptor.has_uuid = true;
    descriptor.uuid = track_of(thread);
    descriptor.thread = &of;
    packet.track_descriptor = &descriptor;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}

/* The flows that end at the beginning of a vertex. */
static size_t ending_flows(const struct perfetto *out, uint32_t vertex, uint64_t *ret)
{
    const struct argus_edge *in;
    size_t count = 0, edges = argus_graph_in_edges(out->context->graph, vertex, &in);
    uint64_t start_ns = out->view.vertices[vertex].start_ns;
    for (size_t i = 0; i < edges && count < MOST_FLOWS; i++)
        if (export_draws(out->part, &in[i]) && in[i].to_ns <= start_ns)
            ret[count++] = (uint64_t)(&in[i] - out->view.edges) + 1;
    return count;
}

static void put_segment(struct perfetto *out, uint32_t vertex)
{
    const struct argus_vertex *v = &out->view.vertices[vertex];
    struct perfetto_arguments arguments = {.count = 0};
    ArgusPerfetto__TrackEvent event = ARGUS_PERFETTO__TRACK_EVENT__INIT;
    char name[EXPORT_NAME_BYTES], calls[EXPORT_NAME_BYTES], id[16];
    char *categories[] = {(char *)"segment"};
    uint64_t flows[MOST_FLOWS];
    snprintf(id, sizeof(id), "v%u", vertex);
    perfetto_argument_text(&arguments, "vertex", id);
    perfetto_argument_number(&arguments, "run_ns", v->run_ns);
    perfetto_argument_number(&arguments, "runnable_ns", v->runnable_ns);
    if (v->repeat > 1)
        perfetto_argument_number(&arguments, "turns", v->repeat);
    if (export_calls(out->context, vertex, calls, sizeof(calls))[0])
        perfetto_argument_text(&arguments, "system_calls", calls);
    if (v->flags & ARGUS_VERTEX_GAP)
        perfetto_argument_text(&arguments, "records_missing", "yes");
    event.has_type = event.has_track_uuid = true;
    event.type = PERFETTO_BEGIN;
    event.track_uuid = track_of(v->thread);
    event.name = (char *)export_segment_name(out->context, vertex, name, sizeof(name));
    event.categories = categories;
    event.n_categories = 1;
    event.debug_annotations = arguments.pointers;
    event.n_debug_annotations = arguments.count;
    event.terminating_flow_ids = flows;
    event.n_terminating_flow_ids = ending_flows(out, vertex, flows);
    perfetto_put_event(out, &event, v->start_ns);
}

/* One end of an edge inside a vertex. */
static void put_edge_end(struct perfetto *out, const struct argus_edge *edge, bool is_begin)
{
    ArgusPerfetto__TrackEvent event = ARGUS_PERFETTO__TRACK_EVENT__INIT;
    uint64_t flow = (uint64_t)(edge - out->view.edges) + 1;
    uint32_t vertex = is_begin ? edge->from : edge->to, other = is_begin ? edge->to : edge->from;
    char name[EXPORT_NAME_BYTES], *categories[] = {(char *)"edge"};
    char thread[128];
    snprintf(name, sizeof(name), "%s%s %s %s", argus_edge_name(edge), edge->strong ? "" : " (weak)",
             is_begin ? "to" : "from",
             report_thread(out->context, out->view.vertices[other].thread, thread, sizeof(thread)));
    utf8_repair_name(name, strlen(name));
    event.has_type = event.has_track_uuid = true;
    event.type = PERFETTO_INSTANT;
    event.track_uuid = track_of(out->view.vertices[vertex].thread);
    event.name = name;
    event.categories = categories;
    event.n_categories = 1;
    event.flow_ids = is_begin ? &flow : NULL;
    event.n_flow_ids = is_begin;
    event.terminating_flow_ids = is_begin ? NULL : &flow;
    event.n_terminating_flow_ids = !is_begin;
    perfetto_put_event(out, &event, is_begin ? edge->from_ns : edge->to_ns);
}

static void put_edges(struct perfetto *out, uint32_t vertex)
{
    const struct argus_edge *in, *all = out->view.edges;
    const uint32_t *leaving;
    uint64_t start_ns = out->view.vertices[vertex].start_ns;
    size_t ins = argus_graph_in_edges(out->context->graph, vertex, &in);
    size_t outs = argus_graph_out_edges(out->context->graph, vertex, &leaving);
    for (size_t i = 0; i < ins && !perfetto_stopped(out); i++)
        if (export_draws(out->part, &in[i]) && in[i].to_ns > start_ns)
            put_edge_end(out, &in[i], false);
    for (size_t i = 0; i < outs && !perfetto_stopped(out); i++)
        if (export_draws(out->part, &all[leaving[i]]))
            put_edge_end(out, &all[leaving[i]], true);
}

/* The frames of a stack as one text, innermost first, a line each; owned by the caller. */
static char *stack_text(const struct perfetto *out, uint32_t vertex, uint32_t stack)
{
    json_t *frames = export_stack(out->context, vertex, stack);
    VEC(char) text = {0};
    for (size_t i = 0; i < json_array_size(frames) && i < MOST_FRAMES; i++) {
        const char *frame = json_string_value(json_array_get(frames, i));
        size_t bytes = frame ? strlen(frame) : 0;
        if (!frame || !vec_reserve(&text, bytes + 2))
            break;
        memcpy(text.data + text.length, frame, bytes);
        text.length += bytes;
        text.data[text.length++] = '\n';
        text.data[text.length] = '\0';
    }
    json_decref(frames);
    return text.data;
}

static void put_wait(struct perfetto *out, uint32_t vertex)
{
    const struct argus_vertex *v = &out->view.vertices[vertex];
    struct perfetto_arguments arguments = {.count = 0};
    ArgusPerfetto__TrackEvent event = ARGUS_PERFETTO__TRACK_EVENT__INIT;
    char name[EXPORT_NAME_BYTES], *categories[] = {(char *)"wait"};
    if (v->wait.kind == ARGUS_WAIT_NONE)
        return;
    char *stack = stack_text(out, vertex, v->wait.user_stack);
    argus_wait_text(out->context->graph, vertex, name, sizeof(name));
    utf8_repair_name(name, strlen(name));
    perfetto_argument_text(&arguments, "kind",
                           argus_wait_kind_name((enum argus_wait_kind)v->wait.kind));
    perfetto_argument_text(&arguments, "outcome",
                           argus_outcome_name((enum argus_outcome)v->wait.outcome));
    if (stack)
        perfetto_argument_text(&arguments, "stack", stack);
    event.has_type = event.has_track_uuid = true;
    event.type = PERFETTO_BEGIN;
    event.track_uuid = track_of(v->thread);
    event.name = name;
    event.categories = categories;
    event.n_categories = 1;
    event.debug_annotations = arguments.pointers;
    event.n_debug_annotations = arguments.count;
    perfetto_put_event(out, &event, v->end_ns);
    perfetto_put_slice(out, PERFETTO_END, track_of(v->thread),
                       timeline_wait_end(&out->view, vertex), NULL, NULL);
    free(stack);
}

void perfetto_put_threads(struct perfetto *out)
{
    uint32_t thread = ARGUS_NONE;
    for (size_t i = 0; i < out->part->count && !perfetto_stopped(out); i++) {
        uint32_t vertex = out->part->vertices[i];
        const struct argus_vertex *v = &out->view.vertices[vertex];
        if (v->thread != thread)
            put_thread_track(out, thread = v->thread);
        put_segment(out, vertex);
        put_edges(out, vertex);
        perfetto_put_slice(out, PERFETTO_END, track_of(thread), v->end_ns, NULL, NULL);
        put_wait(out, vertex);
    }
}
