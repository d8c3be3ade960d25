#include "plugin/commands/hang_explain.h"

#include <stdio.h>

#include "plugin/hang_of_file.h"

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

static struct argus_error *explain_kept(struct session *session, struct session_trace *trace,
                                        struct argus_kept_hang *ret, bool *ret_is_listed)
{
    struct argus_hang hang;
    struct argus_symbols *symbols;
    bool found = false;
    struct argus_error *error = session_trace_symbols(session, trace, &symbols);
    if (!error)
        error = hang_of_file_find(trace->graph, symbols, &hang, &found);
    if (!error)
        error = hang_of_file_is_listed(trace->graph, symbols, ret_is_listed);
    return error || !found ? error : hang_explain(session, trace, &hang, ret);
}

struct argus_error *hang_explain_file(struct session *session, const struct arguments *arguments,
                                      const char *path, struct argus_kept_hang *ret,
                                      bool *ret_is_listed)
{
    struct session_trace *trace;
    struct argus_error *error = session_trace_load(session, arguments, path, &trace);
    if (error)
        return error;
    error = explain_kept(session, trace, ret, ret_is_listed);
    session_trace_destroy(trace);
    return error;
}
