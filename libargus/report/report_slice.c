/* A backward slice. */
#include <stdio.h>

#include "report/json.h"
#include "report/lines.h"
#include "slice/timeline.h"

static const char *edge_text(const struct argus_report_context *context, uint32_t edge,
                             char *buffer, size_t bytes)
{
    struct view view = view_of(context->graph);
    const struct argus_rule *rules;
    size_t count = argus_graph_rules(context->graph, &rules);
    const struct argus_edge *e = &view.edges[edge];
    snprintf(buffer, bytes, "%s, %s (%s)", argus_edge_name(e), e->strong ? "strong" : "weak",
             e->rule < count ? rules[e->rule].name : "no rule");
    return buffer;
}

static json_t *slice_json(const struct argus_report_context *context,
                          const struct argus_slice *slice)
{
    json_t *json = json_object(), *list = json_array();
    char edge[128];
    for (size_t i = 0; i < slice->step_count; i++) {
        const struct argus_step *step = &slice->steps[i];
        json_t *item = json_object();
        json_put(item, "vertex", json_vertex(context, step->vertex, ARGUS_HANG_THRESHOLD_NS));
        json_put(item, "edge",
                 step->edge == ARGUS_NONE
                     ? json_null()
                     : json_text(edge_text(context, step->edge, edge, sizeof(edge))));
        json_put(item, "alternatives", json_integer(step->alternatives));
        json_put(item, "explains_ns", json_ns(step->explains_ns));
        json_add(list, item);
    }
    json_put(json, "path", list);
    json_put(json, "end", json_text(argus_slice_end_name(slice->end)));
    json_put(json, "questions", json_questions(slice->asked, slice->asked_count));
    return json;
}

struct argus_error *argus_report_slice(const struct argus_report_context *context,
                                       const struct argus_slice *slice, bool json)
{
    if (json)
        return json_write(context->sink, slice_json(context, slice));
    char edge[128];
    for (size_t i = 0; i < slice->step_count; i++) {
        const struct argus_step *step = &slice->steps[i];
        if (step->edge != ARGUS_NONE)
            argus_sink_printf(context->sink, "  ^ %s\n",
                              edge_text(context, step->edge, edge, sizeof(edge)));
        report_vertex_line(context, step->vertex, "");
        if (step->alternatives > 0)
            argus_sink_printf(context->sink, "    %u other causes were not followed\n",
                              step->alternatives);
    }
    argus_sink_printf(context->sink, "End: %s.\n", argus_slice_end_name(slice->end));
    report_questions(context->sink, slice->asked, slice->asked_count);
    return NULL;
}
