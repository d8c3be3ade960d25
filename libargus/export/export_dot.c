/* Graphviz (graphviz.org/doc/info/lang.html): in a quoted string only the quote and the backslash
 * are special. */
#include <stdio.h>

#include "argus/hangs.h"
#include "export/export_edges.h"
#include "export/export_writers.h"
#include "report/lines.h"
#include "report/phrases.h"
#include "slice/timeline.h"

enum { LABEL_BYTES = 512 };

/* Writes `text` between quotes; a newline begins another line of a label. */
static void put_quoted(const struct argus_sink *sink, const char *text)
{
    char quoted[2 * LABEL_BYTES + 3];
    size_t length = 0;
    quoted[length++] = '"';
    for (const char *c = text; *c && length + 3 < sizeof(quoted); c++) {
        bool newline = *c == '\n';
        if (newline || *c == '"' || *c == '\\')
            quoted[length++] = '\\';
        quoted[length++] = newline ? 'n' : *c;
    }
    quoted[length++] = '"';
    sink->write(sink->context, quoted, length);
}

static const char *color_of(enum argus_vertex_type type)
{
    static const char *const colors[] = {
        [ARGUS_TYPE_NORMAL] = "white",
        [ARGUS_TYPE_LONG_RUNNING] = "lightsalmon",
        [ARGUS_TYPE_REPEATED_YIELD] = "khaki",
        [ARGUS_TYPE_LONG_WAIT] = "lightblue",
    };
    return colors[type];
}

static void put_vertex(const struct argus_report_context *context, uint32_t vertex)
{
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    enum argus_vertex_type type = argus_vertex_type(v, ARGUS_HANG_THRESHOLD_NS);
    char label[LABEL_BYTES], ran[32], waited[32], wait[512];
    int length = snprintf(label, sizeof(label), "v%u\nran %s", vertex,
                          text_duration(v->run_ns, ran, sizeof(ran)));
    if (v->wait.kind != ARGUS_WAIT_NONE && length > 0)
        snprintf(label + length, sizeof(label) - (size_t)length, "\nwaited %s\n%s, %s",
                 text_duration(argus_vertex_wait_ns(v), waited, sizeof(waited)),
                 argus_wait_text(context->graph, vertex, wait, sizeof(wait)),
                 argus_outcome_name((enum argus_outcome)v->wait.outcome));
    argus_sink_printf(context->sink, "    v%u [fillcolor=%s label=", vertex, color_of(type));
    put_quoted(context->sink, label);
    argus_sink_printf(context->sink, "]\n");
}

/* Writes the vertices of one thread, from `first` on; returns their number. */
static size_t put_thread(const struct argus_report_context *context,
                         const struct argus_export *part, size_t first)
{
    struct view view = view_of(context->graph);
    uint32_t thread = view.vertices[part->vertices[first]].thread;
    char name[160];
    size_t at = first;
    argus_sink_printf(context->sink, "  subgraph cluster_%u {\n    label=", thread);
    put_quoted(context->sink, report_thread(context, thread, name, sizeof(name)));
    argus_sink_printf(context->sink, "\n");
    for (; at < part->count && view.vertices[part->vertices[at]].thread == thread; at++) {
        uint32_t vertex = part->vertices[at];
        put_vertex(context, vertex);
        if (at > first && argus_graph_previous(context->graph, vertex) == vertex - 1 &&
            part->vertices[at - 1] == vertex - 1)
            argus_sink_printf(context->sink, "    v%u -> v%u [style=dotted arrowhead=none]\n",
                              vertex - 1, vertex);
    }
    argus_sink_printf(context->sink, "  }\n");
    return at - first;
}

static void put_edges(const struct argus_report_context *context, const struct argus_export *part,
                      uint32_t vertex)
{
    const struct argus_edge *in;
    size_t count = argus_graph_in_edges(context->graph, vertex, &in);
    for (size_t i = 0; i < count; i++)
        if (export_draws(part, &in[i]))
            argus_sink_printf(context->sink, "  v%u -> v%u [label=\"%s\"%s]\n", in[i].from, vertex,
                              argus_edge_name(&in[i]), in[i].strong ? "" : " style=dashed");
}

struct argus_error *argus_export_dot(const struct argus_report_context *context,
                                     const struct argus_export *part, uint64_t *ret_edges_cut)
{
    argus_sink_printf(context->sink, "digraph argus {\n  rankdir=LR\n"
                                     "  node [shape=box style=filled fontname=\"sans-serif\"]\n"
                                     "  edge [fontname=\"sans-serif\" fontsize=10]\n");
    for (size_t i = 0; i < part->count;)
        i += put_thread(context, part, i);
    for (size_t i = 0; i < part->count; i++)
        put_edges(context, part, part->vertices[i]);
    argus_sink_printf(context->sink, "}\n");
    *ret_edges_cut = export_count_cut(context->graph, part);
    return NULL;
}
