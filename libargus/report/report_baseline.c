/* The expected path compared with the actual one. */
#include "diagnose/baseline/paths_compared.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/report_diagnosis.h"
#include "slice/timeline.h"

#define MAX_ROWS 3

/* The baseline may be of another trace: its vertices are described with that trace's graph. */
static struct argus_report_context normal_context(const struct argus_report_context *context,
                                                  const struct argus_diagnosis *diagnosis)
{
    struct argus_report_context normal = *context;
    if (diagnosis->baseline_graph && diagnosis->baseline_graph != context->graph) {
        normal.graph = diagnosis->baseline_graph;
        normal.symbols = NULL;
    }
    return normal;
}

/* How long the baseline waited; or ran, if the hang was a run. */
static uint64_t normal_ns(const struct argus_diagnosis *diagnosis)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(diagnosis->baseline_graph, &vertices);
    const struct argus_vertex *v = &vertices[diagnosis->baseline];
    return diagnosis->hang.type == ARGUS_TYPE_LONG_RUNNING ? v->run_ns + v->runnable_ns
                                                           : argus_vertex_wait_ns(v);
}

static void print_row(const struct argus_report_context *context,
                      const struct argus_diagnosis *diagnosis, const struct argus_path_part *row)
{
    struct argus_report_context normal = normal_context(context, diagnosis);
    bool happened = row->actual != ARGUS_NONE;
    const struct argus_report_context *of = happened ? context : &normal;
    const struct argus_vertex *vertices;
    char thread[128], actual[32], usual[32];
    argus_graph_vertices(of->graph, &vertices);
    report_thread(of, vertices[happened ? row->actual : row->normal].thread, thread,
                  sizeof(thread));
    argus_sink_printf(
        context->sink, "     %s: %s instead of %s\n", thread,
        happened ? argus_duration_text(row->actual_ns, actual, sizeof(actual)) : "nothing",
        row->normal != ARGUS_NONE ? argus_duration_text(row->normal_ns, usual, sizeof(usual))
                                  : "nothing");
}

/* Whether a row says more than that both paths have it. Of those that only the actual path has, the
 * noteworthy ones were kept. */
static bool is_told(const struct argus_diagnosis *diagnosis, const struct argus_path_part *row)
{
    uint64_t hang_ns = diagnosis->hang.end_ns - diagnosis->hang.start_ns;
    return row->actual == ARGUS_NONE || path_part_differs(row, hang_ns);
}

/* Finds the rows to print, those that differ most first; returns their number. */
static size_t told_rows(const struct argus_diagnosis *diagnosis,
                        const struct argus_path_part *ret[MAX_ROWS])
{
    size_t count = 0;
    for (size_t i = 0; i < diagnosis->comparison_count && count < MAX_ROWS; i++)
        if (is_told(diagnosis, &diagnosis->comparison[i]))
            ret[count++] = &diagnosis->comparison[i];
    return count;
}

void report_baseline(const struct argus_report_context *context,
                     const struct argus_diagnosis *diagnosis)
{
    char lasted[32];
    if (diagnosis->baseline == ARGUS_NONE)
        return;
    const struct argus_path_part *rows[MAX_ROWS];
    size_t count = told_rows(diagnosis, rows);
    bool other = diagnosis->baseline_graph != context->graph;
    const char *path = other ? argus_trace_name(argus_graph_trace(diagnosis->baseline_graph)) : "";
    argus_sink_printf(context->sink, "  Normally, as in v%u%s%s, such a %s takes %s.%s\n",
                      diagnosis->baseline, other ? " of " : "", path,
                      diagnosis->hang.type == ARGUS_TYPE_LONG_RUNNING ? "turn" : "wait",
                      argus_duration_text(normal_ns(diagnosis), lasted, sizeof(lasted)),
                      count > 0 ? " Where this hang differs:" : "");
    for (size_t i = 0; i < count; i++)
        print_row(context, diagnosis, rows[i]);
}

json_t *json_baseline(const struct argus_report_context *context,
                      const struct argus_diagnosis *diagnosis)
{
    struct argus_report_context normal = normal_context(context, diagnosis);
    return json_vertex_or_null(&normal, diagnosis->baseline, ARGUS_HANG_THRESHOLD_NS);
}

json_t *json_comparison(const struct argus_report_context *context,
                        const struct argus_diagnosis *diagnosis)
{
    struct argus_report_context normal = normal_context(context, diagnosis);
    json_t *list = json_array();
    for (size_t i = 0; i < diagnosis->comparison_count; i++) {
        const struct argus_path_part *row = &diagnosis->comparison[i];
        json_t *json = json_object();
        json_put(json, "actual",
                 json_vertex_or_null(context, row->actual, ARGUS_HANG_THRESHOLD_NS));
        json_put(json, "actual_ns", json_ns(row->actual_ns));
        json_put(json, "normal",
                 json_vertex_or_null(&normal, row->normal, ARGUS_HANG_THRESHOLD_NS));
        json_put(json, "normal_ns", json_ns(row->normal_ns));
        json_add(list, json);
    }
    return list;
}
