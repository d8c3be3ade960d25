/* One vertex with its causes and effects; a list of vertices. */
#include <inttypes.h>
#include <stdio.h>

#include "report/json.h"
#include "report/json_stream.h"
#include "report/lines.h"
#include "report/programs_32_bit.h"
#include "report/report_callbacks.h"
#include "report/report_unnamed.h"
#include "slice/timeline.h"

/* The number of effects in text; JSON has all. */
#define MAX_SHOWN 20

static const char *rule_name(const struct argus_graph *graph, const struct argus_edge *edge)
{
    const struct argus_rule *rules;
    return edge->rule < argus_graph_rules(graph, &rules) ? rules[edge->rule].name : "none";
}

/* The flag's name, or its address; null when neither is known. */
static json_t *flag_json(const struct argus_graph *graph, const struct argus_edge *edge)
{
    char text[24];
    uint64_t address;
    const struct argus_flag_entry *flag = argus_graph_edge_flag(graph, edge, &address);
    if (!flag && !address)
        return json_null();
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    return json_text(flag ? flag->label : text);
}

static json_t *edge_json(const struct argus_report_context *context, const struct argus_edge *edge)
{
    json_t *json = json_object();
    json_put(json, "from", json_vertex(context, edge->from, ARGUS_HANG_THRESHOLD_NS));
    json_put(json, "to", json_vertex(context, edge->to, ARGUS_HANG_THRESHOLD_NS));
    json_put(json, "kind", json_text(argus_edge_kind_name((enum argus_edge_kind)edge->kind)));
    json_put(json, "strong", json_boolean(edge->strong));
    json_put(json, "message", json_boolean(edge->message || edge->kind == ARGUS_EDGE_MESSAGE));
    json_put(json, "rule", json_text(rule_name(context->graph, edge)));
    if (edge->kind == ARGUS_EDGE_FLAG)
        json_put(json, "flag", flag_json(context->graph, edge));
    json_put(json, "from_ns", json_ns(edge->from_ns));
    json_put(json, "to_ns", json_ns(edge->to_ns));
    return json;
}

static json_t *vertex_json(const struct argus_report_context *context, const struct view *view,
                           uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_edge *in;
    const uint32_t *out;
    size_t in_count = argus_graph_in_edges(context->graph, vertex, &in);
    size_t out_count = argus_graph_out_edges(context->graph, vertex, &out);
    json_t *json = json_vertex(context, vertex, ARGUS_HANG_THRESHOLD_NS);
    json_t *causes = json_array(), *effects = json_array();
    for (size_t i = 0; i < in_count; i++)
        json_add(causes, edge_json(context, &in[i]));
    for (size_t i = 0; i < out_count; i++)
        json_add(effects, edge_json(context, &view->edges[out[i]]));
    json_put(json, "end_ns", json_ns(v->end_ns));
    json_put(json, "repeat", json_integer(v->repeat));
    json_put(json, "samples", json_integer(v->sample_count));
    json_put(json, "outcome",
             v->wait.kind == ARGUS_WAIT_NONE
                 ? json_null()
                 : json_text(argus_outcome_name((enum argus_outcome)v->wait.outcome)));
    json_put(json, "wait_stack", json_stack(context, vertex, v->wait.user_stack));
    json_put(json, "callbacks", json_callbacks(context, vertex));
    json_put(json, "causes", causes);
    json_put(json, "effects", effects);
    return json;
}

/* ", did_reconfigure in settings" for a data flag's edge; "" for others. Into `buffer`, which is
 * returned. */
static const char *flag_text(const struct argus_graph *graph, const struct argus_edge *edge,
                             char *buffer, size_t bytes)
{
    uint64_t address;
    const struct argus_flag_entry *flag = argus_graph_edge_flag(graph, edge, &address);
    buffer[0] = '\0';
    if (flag)
        snprintf(buffer, bytes, ", %s", flag->label);
    else if (address)
        snprintf(buffer, bytes, ", at 0x%" PRIx64, address);
    return buffer;
}

static void edge_text(const struct argus_report_context *context, const struct argus_edge *edge,
                      bool incoming)
{
    struct view view = view_of(context->graph);
    uint32_t other = incoming ? edge->from : edge->to;
    char thread[128], time[32], flag[240];
    argus_sink_printf(
        context->sink, "  %s  %-9s %-6s v%u %s (%s%s)\n",
        argus_time_text(argus_graph_trace(context->graph), edge->from_ns, time, sizeof(time)),
        argus_edge_name(edge), edge->strong ? "strong" : "weak", other,
        report_thread(context, view.vertices[other].thread, thread, sizeof(thread)),
        rule_name(context->graph, edge), flag_text(context->graph, edge, flag, sizeof(flag)));
}

/* The kernel function that ran a work item; `code` is the low 24 bits of its address. */
static const char *work_name(const struct argus_trace *trace, uint32_t code, char *buffer,
                             size_t bytes)
{
    const struct argus_kernel_symbol *symbols;
    size_t count = argus_trace_kernel_symbols(trace, &symbols);
    for (size_t i = 0; i < count; i++) {
        if ((symbols[i].address & 0xffffff) != (code & 0xffffff))
            continue;
        snprintf(buffer, bytes, "(work %s)", symbols[i].name);
        return buffer;
    }
    return "(work)";
}

static const char *flag_op_name(const struct argus_graph *graph, uint32_t vertex, uint32_t code,
                                char *buffer, size_t bytes)
{
    const struct argus_flag_entry *flag = argus_graph_op_flag(graph, vertex, code);
    snprintf(buffer, bytes, "(%s %s)", code >> 24 == ARGUS_OP_FLAG_READ ? "read" : "wrote",
             flag ? flag->label : "a flag");
    return buffer;
}

static const char *op_name(const struct argus_graph *graph, uint32_t vertex, uint32_t code,
                           char *buffer, size_t bytes)
{
    const struct argus_trace *trace = argus_graph_trace(graph);
    switch (code >> 24) {
    case ARGUS_OP_SYSCALL:
        return argus_syscall_name(trace, code & 0xffff, buffer, bytes);
    case ARGUS_OP_WORK:
        return work_name(trace, code, buffer, bytes);
    case ARGUS_OP_WAKE:
        return "(woke somebody)";
    case ARGUS_OP_FORK:
        return "(created a thread)";
    case ARGUS_OP_CALLBACK:
        return "(callback)";
    case ARGUS_OP_UI_EVENT:
        return "(UI event)";
    case ARGUS_OP_FLAG_WRITE:
    case ARGUS_OP_FLAG_READ:
        return flag_op_name(graph, vertex, code, buffer, bytes);
    default:
        return "(something)";
    }
}

static void ops_text(const struct argus_report_context *context, const struct argus_vertex *v,
                     uint32_t vertex)
{
    const struct argus_op *ops;
    char name[240];
    argus_graph_ops(context->graph, &ops);
    argus_sink_printf(context->sink, "did      ");
    for (uint32_t i = 0; i < v->op_count && i < MAX_SHOWN; i++) {
        const struct argus_op *op = &ops[v->first_op + i];
        argus_sink_printf(context->sink, " %s",
                          op_name(context->graph, vertex, op->code, name, sizeof(name)));
        if (op->repeat > 1)
            argus_sink_printf(context->sink, "×%u", op->repeat);
    }
    argus_sink_printf(context->sink, v->op_count > MAX_SHOWN ? " …\n" : "\n");
}

static void vertex_text(const struct argus_report_context *context, const struct view *view,
                        uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_edge *in;
    const uint32_t *out;
    size_t in_count = argus_graph_in_edges(context->graph, vertex, &in);
    size_t out_count = argus_graph_out_edges(context->graph, vertex, &out);
    char from[32], to[32];
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    report_vertex_line(context, vertex, "");
    argus_sink_printf(context->sink, "time      %s to %s\n",
                      argus_time_text(trace, v->start_ns, from, sizeof(from)),
                      argus_time_text(trace, v->end_ns, to, sizeof(to)));
    if (v->op_count > 0)
        ops_text(context, v, vertex);
    report_callbacks(context, vertex);
    if (in_count > 0)
        report_heading(context->sink, "Caused by");
    for (size_t i = 0; i < in_count; i++)
        edge_text(context, &in[i], true);
    if (out_count > 0)
        report_heading(context->sink, "Caused");
    for (size_t i = 0; i < out_count && i < MAX_SHOWN; i++)
        edge_text(context, &view->edges[out[i]], false);
    if (out_count > MAX_SHOWN)
        argus_sink_printf(context->sink, "  … %zu more\n", out_count - MAX_SHOWN);
    if (v->wait.user_stack != ARGUS_NONE)
        report_heading(context->sink, "Waited");
    report_stack(context, vertex, v->wait.user_stack, 2, MAX_SHOWN);
}

static struct argus_error *check_vertex(const struct view *view, uint32_t vertex)
{
    if (vertex < view->vertex_count)
        return NULL;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no vertex v%u: the last is v%zu",
                              vertex, view->vertex_count ? view->vertex_count - 1 : 0);
}

static json_t *steps_json(const struct argus_report_steps *steps, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put(json, "file", json_text(steps[i].path));
        json_put(json, "pid", json_integer((json_int_t)steps[i].pid));
        json_put(json, "tid", json_integer((json_int_t)steps[i].tid));
        json_put(json, "wall_ns", json_ns(steps[i].wall_ns));
        json_put(json, "steps", json_integer(steps[i].steps));
        json_put(json, "end", json_text(steps[i].end_text));
        json_add(list, json);
    }
    return list;
}

static void steps_text(const struct argus_report_context *context,
                       const struct argus_report_steps *steps, size_t count)
{
    if (count > 0)
        report_heading(context->sink, "Stepped");
    for (size_t i = 0; i < count; i++)
        argus_sink_printf(context->sink, "  %s: %u instruction%s of process %llu; %s\n",
                          steps[i].path, steps[i].steps, steps[i].steps == 1 ? "" : "s",
                          (unsigned long long)steps[i].pid,
                          steps[i].end_text[0] ? steps[i].end_text : "the file was cut off");
}

static void touch_vertex(const struct argus_report_context *context, uint32_t vertex,
                         struct programs_32_bit *ret)
{
    struct view view = view_of(context->graph);
    const struct argus_edge *in;
    const uint32_t *out;
    size_t in_count = argus_graph_in_edges(context->graph, vertex, &in);
    size_t out_count = argus_graph_out_edges(context->graph, vertex, &out);
    programs_32_bit_init(ret, context->graph);
    programs_32_bit_touch_vertex(ret, vertex);
    for (size_t i = 0; i < in_count; i++)
        programs_32_bit_touch_vertex(ret, in[i].from);
    for (size_t i = 0; i < out_count; i++)
        programs_32_bit_touch_vertex(ret, view.edges[out[i]].to);
}

struct argus_error *argus_report_vertex(const struct argus_report_context *context, uint32_t vertex,
                                        const struct argus_report_steps *steps, size_t step_count,
                                        bool json)
{
    struct view view = view_of(context->graph);
    struct argus_error *error = check_vertex(&view, vertex);
    struct programs_32_bit programs;
    if (error)
        return error;
    touch_vertex(context, vertex, &programs);
    if (json) {
        json_t *object = vertex_json(context, &view, vertex);
        json_put(object, "step_files", steps_json(steps, step_count));
        json_put(object, "programs_32_bit", programs_32_bit_json(&programs));
        programs_32_bit_deinit(&programs);
        json_put(object, "unnamed_frames", json_unnamed(context->symbols));
        return json_write(context->sink, "argus-graph-show 1", object);
    }
    vertex_text(context, &view, vertex);
    steps_text(context, steps, step_count);
    programs_32_bit_print(&programs, context->sink);
    programs_32_bit_deinit(&programs);
    report_unnamed(context->sink, context->symbols);
    return NULL;
}

static struct argus_error *vertices_json(const struct argus_report_context *context,
                                         const uint32_t *vertices, size_t count)
{
    struct json_stream stream;
    json_stream_begin(&stream, context->sink, "argus-graph-find 1");
    json_stream_list(&stream, "vertices");
    for (size_t i = 0; i < count; i++)
        if (!json_stream_add(&stream, json_vertex(context, vertices[i], ARGUS_HANG_THRESHOLD_NS)))
            break;
    json_stream_list_end(&stream);
    return json_stream_end(&stream);
}

struct argus_error *argus_report_vertices(const struct argus_report_context *context,
                                          const uint32_t *vertices, size_t count, bool json)
{
    struct view view = view_of(context->graph);
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++)
        error = check_vertex(&view, vertices[i]);
    if (error || json)
        return error ? error : vertices_json(context, vertices, count);
    for (size_t i = 0; i < count; i++)
        report_vertex_line(context, vertices[i], "");
    return NULL;
}
