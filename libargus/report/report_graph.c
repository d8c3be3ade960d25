/* The composition of a graph: counts, rules. */
#include "argus/graph_file.h"
#include "report/json.h"
#include "slice/timeline.h"

static void count_edges(const struct view *view, uint64_t *kinds, uint64_t *ret_weak)
{
    *ret_weak = 0;
    for (size_t i = 0; i < view->edge_count; i++) {
        if (view->edges[i].kind < ARGUS_EDGE_KINDS)
            kinds[view->edges[i].kind]++;
        *ret_weak += !view->edges[i].strong;
    }
}

/* The number of threads that have a vertex; the others were only named. */
static uint64_t count_threads(const struct view *view)
{
    uint64_t threads = 0;
    for (size_t i = 0; i < view->thread_count; i++)
        threads += view->threads[i].vertex_count > 0;
    return threads;
}

static uint64_t sum_reasons(const uint64_t *reasons)
{
    uint64_t sum = 0;
    for (int i = 0; i < ARGUS_UNPAIRED_REASONS; i++)
        sum += reasons[i];
    return sum;
}

static json_t *messages_json(const struct argus_message_counts *counts)
{
    json_t *json = json_object();
    json_put(json, "sends", json_ns(counts->sends));
    json_put(json, "receives", json_ns(counts->receives));
    json_put(json, "exact", json_ns(counts->exact));
    json_put(json, "ambiguous", json_ns(counts->ambiguous));
    json_put(json, "unpaired_sends", json_ns(sum_reasons(counts->unpaired_sends)));
    json_put(json, "unpaired_receives", json_ns(sum_reasons(counts->unpaired_receives)));
    return json;
}

static void messages_text(const struct argus_sink *sink, const struct argus_message_counts *counts)
{
    if (!counts->sends && !counts->receives)
        return;
    argus_sink_printf(sink,
                      "messages   %llu sent, %llu received; %llu pairs, and %llu ambiguous; "
                      "without a partner: %llu sent, %llu received\n",
                      (unsigned long long)counts->sends, (unsigned long long)counts->receives,
                      (unsigned long long)counts->exact, (unsigned long long)counts->ambiguous,
                      (unsigned long long)sum_reasons(counts->unpaired_sends),
                      (unsigned long long)sum_reasons(counts->unpaired_receives));
}

static json_t *summary_json(const struct argus_report_context *context, const struct view *view)
{
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    uint64_t kinds[ARGUS_EDGE_KINDS] = {0}, weak;
    json_t *json = json_object(), *edges = json_object();
    count_edges(view, kinds, &weak);
    for (int kind = 0; kind < ARGUS_EDGE_KINDS; kind++)
        json_put(edges, argus_edge_kind_name((enum argus_edge_kind)kind), json_ns(kinds[kind]));
    json_put(json, "file", json_text(argus_trace_name(trace)));
    json_put(json, "records", json_ns(argus_trace_record_count(trace)));
    json_put(json, "lost", json_ns(argus_trace_lost_count(trace)));
    json_put(json, "processes", json_ns(argus_graph_process_count(context->graph)));
    json_put(json, "threads", json_ns(count_threads(view)));
    json_put(json, "vertices", json_ns(view->vertex_count));
    json_put(json, "edges", json_ns(view->edge_count));
    json_put(json, "weak_edges", json_ns(weak));
    json_put(json, "edges_by_kind", edges);
    json_put(json, "messages", messages_json(argus_graph_messages(context->graph)));
    json_put(json, "start_ns", json_ns(argus_graph_start_ns(context->graph)));
    json_put(json, "end_ns", json_ns(argus_graph_end_ns(context->graph)));
    const char *loaded_from = argus_graph_loaded_from(context->graph);
    json_put(json, "build_seconds", json_real(argus_graph_build_seconds(context->graph)));
    json_put(json, "loaded_from", loaded_from ? json_text(loaded_from) : json_null());
    return json;
}

static void summary_text(const struct argus_report_context *context, const struct view *view)
{
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    const struct argus_sink *sink = context->sink;
    uint64_t kinds[ARGUS_EDGE_KINDS] = {0}, weak;
    count_edges(view, kinds, &weak);
    argus_sink_printf(sink, "records    %llu\n",
                      (unsigned long long)argus_trace_record_count(trace));
    argus_sink_printf(sink, "lost       %llu\n", (unsigned long long)argus_trace_lost_count(trace));
    argus_sink_printf(sink, "processes  %zu\n", argus_graph_process_count(context->graph));
    argus_sink_printf(sink, "threads    %llu that ran\n", (unsigned long long)count_threads(view));
    argus_sink_printf(sink, "vertices   %zu\n", view->vertex_count);
    argus_sink_printf(sink, "edges      %zu, of them %llu weak\n", view->edge_count,
                      (unsigned long long)weak);
    for (int kind = 0; kind < ARGUS_EDGE_KINDS; kind++)
        if (kinds[kind] > 0)
            argus_sink_printf(sink, "  %-12s %llu\n",
                              argus_edge_kind_name((enum argus_edge_kind)kind),
                              (unsigned long long)kinds[kind]);
    messages_text(sink, argus_graph_messages(context->graph));
    double seconds = argus_graph_build_seconds(context->graph);
    const char *loaded_from = argus_graph_loaded_from(context->graph);
    if (loaded_from)
        argus_sink_printf(sink, "loaded in  %.2f s, from %s\n", seconds, loaded_from);
    else
        argus_sink_printf(sink, "built in   %.2f s\n", seconds);
}

struct argus_error *argus_report_graph_summary(const struct argus_report_context *context,
                                               bool json)
{
    struct view view = view_of(context->graph);
    if (json)
        return json_write(context->sink, "argus-graph 1", summary_json(context, &view));
    summary_text(context, &view);
    return NULL;
}
