/* A backward slice. */
#include <stdio.h>

#include "report/json.h"
#include "report/lines.h"
#include "report/programs_32_bit.h"
#include "report/report_limits.h"
#include "report/report_unnamed.h"
#include "slice/timeline.h"

static const char *end_text(enum argus_slice_end end)
{
    static const char *const names[] = {
        [ARGUS_SLICE_NO_CAUSE] = "nothing known caused the last vertex",
        [ARGUS_SLICE_WINDOW] = "the beginning of the window was reached",
        [ARGUS_SLICE_STOPPED] = "stopped by the answer",
        [ARGUS_SLICE_CYCLE] = "came back to a vertex on the path",
        [ARGUS_SLICE_HOME] = "an event loop waited for input there",
        [ARGUS_SLICE_OPEN] = "a question is open",
        [ARGUS_SLICE_LIMIT] = "the longest path was reached",
        [ARGUS_SLICE_INPUT] = "user input was handled there",
    };
    return (size_t)end < sizeof(names) / sizeof(names[0]) ? names[end] : "unknown";
}

/* NULL: the step begins the slice. */
static const char *why_text(enum argus_step_reason why)
{
    static const char *const texts[] = {
        [ARGUS_STEP_CONTINUES] = "the vertex continues what this one began",
        [ARGUS_STEP_ONLY] = "the only known cause",
        [ARGUS_STEP_ANSWER] = "chosen by the answer",
    };
    return texts[why];
}

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

/* The causes that the slice does not follow. */
static json_t *others_json(const struct argus_report_context *context,
                           const struct argus_step *step)
{
    struct view view = view_of(context->graph);
    json_t *list = json_array();
    char edge[128];
    for (size_t i = 0; i < ARGUS_SLICE_OTHERS && step->others[i] != ARGUS_NONE; i++) {
        json_t *item = json_object();
        json_put(item, "vertex",
                 json_vertex(context, view.edges[step->others[i]].from, ARGUS_HANG_THRESHOLD_NS));
        json_put(item, "edge", json_text(edge_text(context, step->others[i], edge, sizeof(edge))));
        json_add(list, item);
    }
    return list;
}

static void print_edge(const struct argus_report_context *context, const struct argus_step *step)
{
    char edge[128], explained[32], waited[32];
    argus_sink_printf(context->sink, "  ^ %s: %s\n",
                      edge_text(context, step->edge, edge, sizeof(edge)), why_text(step->why));
    if (step->waited_ns)
        argus_sink_printf(context->sink, "    at work for %s of the wait of %s\n",
                          argus_duration_text(step->explains_wait_ns, explained, sizeof(explained)),
                          argus_duration_text(step->waited_ns, waited, sizeof(waited)));
}

static void print_others(const struct argus_report_context *context, const struct argus_step *step)
{
    struct view view = view_of(context->graph);
    char edge[128], thread[128];
    uint32_t told = 0;
    for (; told < ARGUS_SLICE_OTHERS && step->others[told] != ARGUS_NONE; told++) {
        const struct argus_edge *e = &view.edges[step->others[told]];
        argus_sink_printf(
            context->sink, "    not followed: v%u of %s, %s\n", e->from,
            report_thread(context, view.vertices[e->from].thread, thread, sizeof(thread)),
            edge_text(context, step->others[told], edge, sizeof(edge)));
    }
    if (step->alternatives > told)
        argus_sink_printf(context->sink, "    not followed: %u more\n", step->alternatives - told);
}

static void touch_slice(const struct argus_report_context *context, const struct argus_slice *slice,
                        struct programs_32_bit *ret)
{
    programs_32_bit_init(ret, context->graph);
    for (size_t i = 0; i < slice->step_count; i++)
        programs_32_bit_touch_vertex(ret, slice->steps[i].vertex);
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
        json_put(item, "why", json_text(why_text(step->why)));
        json_put(item, "others", others_json(context, step));
        json_put(item, "explains_ns", json_ns(step->explains_ns));
        json_put(item, "waited_ns", json_ns(step->waited_ns));
        json_put(item, "explains_wait_ns", json_ns(step->explains_wait_ns));
        json_add(list, item);
    }
    json_put(json, "path", list);
    json_put(json, "end", json_text(end_text(slice->end)));
    json_put(json, "questions", json_questions(context->graph, slice->asked, slice->asked_count));
    json_put(json, "limits",
             json_limits(argus_graph_trace(context->graph), ARGUS_GAP_SLICE, ARGUS_GAP_ANY));
    struct programs_32_bit programs;
    touch_slice(context, slice, &programs);
    json_put(json, "programs_32_bit", programs_32_bit_json(&programs));
    programs_32_bit_deinit(&programs);
    json_put(json, "unnamed_frames", json_unnamed(context->symbols));
    return json;
}

struct argus_error *argus_report_slice(const struct argus_report_context *context,
                                       const struct argus_slice *slice, bool json)
{
    if (json)
        return json_write(context->sink, "argus-slice 1", slice_json(context, slice));
    for (size_t i = 0; i < slice->step_count; i++) {
        const struct argus_step *step = &slice->steps[i];
        if (step->edge != ARGUS_NONE)
            print_edge(context, step);
        report_vertex_line(context, step->vertex, "");
        print_others(context, step);
    }
    argus_sink_printf(context->sink, "End: %s.\n", end_text(slice->end));
    report_questions(context, slice->asked, slice->asked_count);
    struct programs_32_bit programs;
    touch_slice(context, slice, &programs);
    programs_32_bit_print(&programs, context->sink);
    programs_32_bit_deinit(&programs);
    report_unnamed(context->sink, context->symbols);
    return report_limits(context->sink, argus_graph_trace(context->graph), ARGUS_GAP_SLICE,
                         ARGUS_GAP_ANY);
}
