/* The Trace Event Format (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU),
 * written one event per line, so that a large part needs little memory. Kinds used: M names a
 * track, X is a slice, s and f begin and end a flow, i is an instant. A flow belongs to the slice
 * that encloses its time on its track. */
#include <stdlib.h>

#include "argus/hangs.h"
#include "export/export_edges.h"
#include "export/export_names.h"
#include "export/export_writers.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/report_callbacks.h"
#include "slice/timeline.h"

struct trace_events {
    const struct argus_report_context *context;
    const struct argus_export *part;
    struct view view;
    uint64_t start_ns;
    bool any;    /* an event was written: the next one needs a comma */
    bool closed; /* the reader accepts no more */
    bool failed; /* out of memory */
};

/* Writes `event` and frees it. */
static void put_event(struct trace_events *out, json_t *event)
{
    char *text = json_dumps(event, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
    json_decref(event);
    if (!text)
        out->failed = true;
    else if (!argus_sink_printf(out->context->sink, "%s%s", out->any ? ",\n" : "", text))
        out->closed = true;
    out->any = true;
    free(text);
}

static bool stopped(const struct trace_events *out)
{
    return out->closed || out->failed;
}

static json_t *microseconds(uint64_t ns)
{
    return json_real((double)ns / 1000);
}

/* An event on the track of a thread. */
static json_t *event_on(const struct trace_events *out, uint32_t thread, const char *phase,
                        const char *name)
{
    const struct argus_thread *t = &out->view.threads[thread];
    json_t *event = json_object();
    json_put(event, "ph", json_text(phase));
    json_put(event, "name", json_text(name));
    json_put(event, "pid", json_ns(out->view.processes[t->process].pid));
    json_put(event, "tid", json_ns(t->tid));
    return event;
}

static json_t *event_at(const struct trace_events *out, uint32_t thread, const char *phase,
                        const char *name, uint64_t ns)
{
    json_t *event = event_on(out, thread, phase, name);
    json_put(event, "ts", microseconds(ns > out->start_ns ? ns - out->start_ns : 0));
    return event;
}

static void put_name(struct trace_events *out, uint32_t thread, const char *what, const char *name)
{
    json_t *event = event_on(out, thread, "M", what), *args = json_object();
    json_put(args, "name", json_text(name));
    json_put(event, "args", args);
    put_event(out, event);
}

static void put_track(struct trace_events *out, uint32_t thread)
{
    const struct argus_thread *t = &out->view.threads[thread];
    put_name(out, thread, "process_name", out->view.processes[t->process].name);
    put_name(out, thread, "thread_name", t->name);
}

static void put_segment(struct trace_events *out, uint32_t vertex)
{
    const struct argus_vertex *v = &out->view.vertices[vertex];
    enum argus_vertex_type type = argus_vertex_type(v, ARGUS_HANG_THRESHOLD_NS);
    const char *ui_event = report_ui_event(out->context->graph, vertex);
    char name[128];
    snprintf(name, sizeof(name), "v%u%s%s%s%s", vertex, type == ARGUS_TYPE_NORMAL ? "" : " ",
             type == ARGUS_TYPE_NORMAL ? "" : argus_vertex_type_name(type), ui_event ? " " : "",
             ui_event ? ui_event : "");
    json_t *event = event_at(out, v->thread, "X", name, v->start_ns), *args = json_object();
    json_put(event, "dur", microseconds(v->end_ns - v->start_ns));
    json_put(event, "cat", json_text("segment"));
    json_put(args, "run_ns", json_ns(v->run_ns));
    json_put(args, "runnable_ns", json_ns(v->runnable_ns));
    json_put(args, "turns", json_integer(v->repeat));
    json_put(args, "records_missing", json_boolean(v->flags & ARGUS_VERTEX_GAP));
    json_put(event, "args", args);
    put_event(out, event);
}

static void put_wait(struct trace_events *out, uint32_t vertex)
{
    const struct argus_vertex *v = &out->view.vertices[vertex];
    char name[512];
    if (v->wait.kind == ARGUS_WAIT_NONE)
        return;
    argus_wait_text(out->context->graph, vertex, name, sizeof(name));
    json_t *event = event_at(out, v->thread, "X", name, v->end_ns), *args = json_object();
    json_put(event, "dur", microseconds(argus_vertex_wait_ns(v)));
    json_put(event, "cat", json_text("wait"));
    json_put(args, "vertex", json_integer(vertex));
    json_put(args, "outcome", json_text(argus_outcome_name((enum argus_outcome)v->wait.outcome)));
    json_put(args, "stack", export_stack(out->context, vertex, v->wait.user_stack));
    json_put(event, "args", args);
    put_event(out, event);
}

static void put_samples(struct trace_events *out, uint32_t vertex)
{
    const struct argus_vertex *v = &out->view.vertices[vertex];
    const struct argus_sample *samples;
    char name[512];
    argus_graph_samples(out->context->graph, &samples);
    for (uint32_t i = 0; i < v->sample_count && !stopped(out); i++) {
        const struct argus_sample *sample = &samples[v->first_sample + i];
        report_named(out->context, vertex, sample->pc, false, name, sizeof(name));
        json_t *event = event_at(out, v->thread, "i", name, sample->time_ns);
        json_put(event, "s", json_text("t"));
        json_put(event, "cat", json_text("sample"));
        put_event(out, event);
    }
}

/* Writes the two ends of an edge. `number` is the same in both, and unique to the edge. */
static void put_flow(struct trace_events *out, const struct argus_edge *edge, size_t number)
{
    const struct argus_vertex *vertices = out->view.vertices;
    char name[48];
    snprintf(name, sizeof(name), "%s%s", argus_edge_name(edge), edge->strong ? "" : " (weak)");
    json_t *from = event_at(out, vertices[edge->from].thread, "s", name, edge->from_ns);
    json_t *to = event_at(out, vertices[edge->to].thread, "f", name, edge->to_ns);
    json_put(to, "bp", json_text("e"));
    json_put(from, "cat", json_text("edge"));
    json_put(to, "cat", json_text("edge"));
    json_put(from, "id", json_integer((json_int_t)number));
    json_put(to, "id", json_integer((json_int_t)number));
    put_event(out, from);
    put_event(out, to);
}

static void put_flows(struct trace_events *out, uint32_t vertex)
{
    const struct argus_edge *in;
    size_t count = argus_graph_in_edges(out->context->graph, vertex, &in);
    for (size_t i = 0; i < count && !stopped(out); i++)
        if (export_draws(out->part, &in[i]))
            put_flow(out, &in[i], (size_t)(&in[i] - out->view.edges));
}

struct argus_error *argus_export_trace_events(const struct argus_report_context *context,
                                              const struct argus_export *part,
                                              uint64_t *ret_edges_cut)
{
    struct trace_events out = {
        .context = context,
        .part = part,
        .view = view_of(context->graph),
        .start_ns = argus_graph_start_ns(context->graph),
    };
    uint32_t thread = ARGUS_NONE;
    argus_sink_printf(context->sink, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (size_t i = 0; i < part->count && !stopped(&out); i++) {
        uint32_t vertex = part->vertices[i];
        if (out.view.vertices[vertex].thread != thread)
            put_track(&out, thread = out.view.vertices[vertex].thread);
        put_segment(&out, vertex);
        put_wait(&out, vertex);
        put_samples(&out, vertex);
        put_flows(&out, vertex);
    }
    argus_sink_printf(context->sink, "\n]}\n");
    *ret_edges_cut = export_count_cut(context->graph, part);
    return out.failed ? argus_error_memory() : NULL;
}
