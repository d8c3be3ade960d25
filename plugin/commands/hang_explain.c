#include "plugin/commands/hang_explain.h"

#include <stdio.h>

struct argus_error *hang_explain(struct session *session, struct session_trace *trace,
                                 const struct argus_hang *hang, struct argus_kept_hang *ret)
{
    const struct argus_diagnose_options options = {.threshold_ns = 0};
    struct argus_diagnosis diagnosis;
    struct argus_symbols *symbols;
    struct argus_error *error = session_trace_symbols(session, trace, &symbols);
    if (!error)
        error =
            argus_diagnose(trace->graph, symbols, hang, &options, argus_asker_auto(), &diagnosis);
    if (error)
        return error;
    snprintf(ret->type, sizeof(ret->type), "%s",
             argus_vertex_type_name((enum argus_vertex_type)hang->type));
    argus_diagnosis_cause_text(trace->graph, &diagnosis, ret->cause, sizeof(ret->cause));
    ret->signature = argus_hang_signature(trace->graph, symbols, &diagnosis);
    ret->diagnosed = true;
    argus_diagnosis_deinit(&diagnosis);
    return NULL;
}

/* The recorder only knows the returns from poll calls; the analysis knows when the thread froze. If
 * the ring lost the beginning, only the recorder has it. */
static void correct_times(const struct argus_graph *graph, const struct argus_hang *hang,
                          struct argus_kept_hang *ret)
{
    uint64_t start_ns, end_ns;
    argus_trace_time_range(argus_graph_trace(graph), &start_ns, &end_ns);
    if (ret->start_ns < start_ns || hang->end_ns <= hang->start_ns)
        return;
    ret->start_ns = hang->start_ns;
    ret->duration_ns = hang->end_ns - hang->start_ns;
}

static struct argus_error *explain_kept(struct session *session, struct session_trace *trace,
                                        struct argus_kept_hang *ret,
                                        enum hang_standing *ret_standing)
{
    struct argus_hang hang;
    struct argus_symbols *symbols;
    bool found = false;
    struct argus_error *error = session_trace_symbols(session, trace, &symbols);
    if (!error)
        error = hang_of_file_find(trace->graph, symbols, &hang, &found);
    if (!error)
        error = hang_of_file_standing(trace->graph, symbols, ret_standing);
    if (error || !found)
        return error;
    if (*ret_standing == HANG_LISTED)
        correct_times(trace->graph, &hang, ret);
    return hang_explain(session, trace, &hang, ret);
}

struct argus_error *hang_explain_file(struct session *session, const struct arguments *arguments,
                                      const char *path, struct argus_kept_hang *ret,
                                      enum hang_standing *ret_standing)
{
    struct session_trace *trace;
    struct argus_error *error = session_trace_load(session, arguments, path, &trace);
    if (error)
        return error;
    error = explain_kept(session, trace, ret, ret_standing);
    session_trace_destroy(trace);
    return error;
}
