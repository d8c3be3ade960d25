/* Vertices that are similar to another one. */
#include "report/json.h"
#include "report/lines.h"

static json_t *similars_json(const struct argus_report_context *context, uint32_t vertex,
                             const struct argus_report_context *other,
                             const struct argus_similars *similars)
{
    json_t *json = json_object(), *list = json_array();
    char why[ARGUS_LIKENESS_TEXT_BYTES];
    for (size_t i = 0; i < similars->count; i++) {
        const struct argus_similar *similar = &similars->items[i];
        json_t *item = json_object();
        json_put(item, "vertex", json_vertex(other, similar->vertex, ARGUS_HANG_THRESHOLD_NS));
        json_put(item, "score", json_real(similar->score));
        json_put(item, "different_outcome", json_boolean(similar->different_outcome));
        json_put(item, "why", json_text(argus_likeness_text(&similar->likeness, why, sizeof(why))));
        json_add(list, item);
    }
    json_put(json, "vertex", json_vertex(context, vertex, ARGUS_HANG_THRESHOLD_NS));
    json_put(json, "similar", list);
    return json;
}

struct argus_error *argus_report_similars(const struct argus_report_context *context,
                                          uint32_t vertex, const struct argus_report_context *other,
                                          const struct argus_similars *similars, bool json)
{
    char why[ARGUS_LIKENESS_TEXT_BYTES];
    if (json)
        return json_write(context->sink, "argus-similar 1",
                          similars_json(context, vertex, other, similars));
    report_vertex_line(context, vertex, "");
    if (similars->count == 0)
        argus_sink_printf(context->sink, "No vertex is like it.\n");
    for (size_t i = 0; i < similars->count; i++) {
        const struct argus_similar *similar = &similars->items[i];
        argus_sink_printf(context->sink, "\n%3zu  %3.0f %%%s\n", i + 1, similar->score * 100,
                          similar->different_outcome ? "  can be a baseline" : "");
        report_vertex_line(other, similar->vertex, "     ");
        argus_sink_printf(context->sink, "     ");
        report_wrapped(context->sink, 5, argus_likeness_text(&similar->likeness, why, sizeof(why)));
    }
    return NULL;
}
