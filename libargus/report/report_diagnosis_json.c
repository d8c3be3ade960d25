/* The object that `argus diagnose --json` prints (DESIGN section 8, docs/schema/diagnose.json). */
#include "graph/text/object_name.h"
#include "report/diagnosis_words.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/reason_words.h"
#include "report/report_diagnosis.h"
#include "report/report_hangs.h"
#include "report/report_limits.h"
#include "report/report_unnamed.h"
#include "slice/timeline.h"

/* What counts as long in this diagnosis: half of the hang. */
static uint64_t threshold(const struct argus_diagnosis *diagnosis)
{
    return (diagnosis->hang.end_ns - diagnosis->hang.start_ns) / 2;
}

static json_t *trace_json(const struct argus_trace *trace)
{
    json_t *json = json_object();
    json_put(json, "file", json_text(argus_trace_name(trace)));
    json_put(json, "records", json_ns(argus_trace_record_count(trace)));
    json_put(json, "lost", json_ns(argus_trace_lost_count(trace)));
    return json;
}

static json_t *spinning_json(const struct argus_report_context *context,
                             const struct argus_diagnosis *diagnosis)
{
    json_t *json = json_object();
    json_put(json, "vertex", json_vertex(context, diagnosis->hang.vertex, threshold(diagnosis)));
    json_put(json, "type",
             json_text(argus_vertex_type_name((enum argus_vertex_type)diagnosis->hang.type)));
    return json;
}

static json_t *path_json(const struct argus_report_context *context,
                         const struct argus_diagnosis *diagnosis)
{
    struct view view = view_of(context->graph);
    json_t *list = json_array();
    for (size_t i = 0; i < diagnosis->path_count; i++) {
        const struct argus_path_step *step = &diagnosis->path[i];
        json_t *json = json_vertex(context, step->vertex, threshold(diagnosis));
        const struct argus_edge *edge = step->edge == ARGUS_NONE ? NULL : &view.edges[step->edge];
        json_put(json, "edge",
                 edge ? json_text(argus_edge_kind_name((enum argus_edge_kind)edge->kind))
                      : json_null());
        json_put(json, "strong", edge ? json_boolean(edge->strong) : json_null());
        json_put(json, "expected", json_boolean(step->expected));
        json_add(list, json);
    }
    return list;
}

static json_t *functions_json(const struct argus_report_context *context,
                              const struct argus_culprit *culprit)
{
    json_t *list = json_array();
    for (size_t i = 0; i < culprit->function_count; i++) {
        const struct argus_costly_function *function = &culprit->functions[i];
        json_t *json = json_object();
        report_count_frame(context, culprit->vertex, function->address, function->is_return);
        json_put(json, "name", json_text(function->name));
        json_put(json, "image", json_text(function->image));
        json_put(json, "inlined", json_boolean(function->inlined));
        json_put(json, "self", json_integer(function->self));
        json_put(json, "inclusive", json_integer(function->inclusive));
        json_put(json, "samples", json_integer(function->samples));
        json_add(list, json);
    }
    return list;
}

static json_t *signals_json(uint64_t signals)
{
    json_t *list = json_array();
    for (unsigned n = 1; signals; n++, signals >>= 1)
        if (signals & 1)
            json_add(list, json_integer(n));
    return list;
}

static json_t *writers_json(const struct argus_report_context *context,
                            const struct argus_loop_variable *variable)
{
    struct view view = view_of(context->graph);
    json_t *list = json_array();
    for (size_t i = 0; i < variable->writer_count; i++) {
        const struct argus_flag_writer *writer = &variable->writers[i];
        json_t *item = json_object();
        json_put(item, "place", json_text(writer->place));
        json_put(item, "value", writer->has_value ? json_integer(writer->value) : json_null());
        json_put(item, "possible", json_boolean(writer->is_possible));
        json_put(item, "signals", signals_json(writer->signals));
        json_put(item, "pid",
                 writer->process == ARGUS_NONE ? json_null()
                                               : json_ns(view.processes[writer->process].pid));
        json_add(list, item);
    }
    return list;
}

static json_t *writer_tids_json(const struct argus_report_context *context,
                                const struct argus_loop_variable *variable)
{
    struct view view = view_of(context->graph);
    json_t *list = json_array();
    for (size_t i = 0; i < variable->thread_count; i++)
        json_add(list, json_ns(view.threads[variable->threads[i]].tid));
    return list;
}

/* null: the code does not tell. */
static json_t *code_loop_json(const struct argus_report_context *context,
                              const struct argus_code_loop *loop)
{
    if (!loop->variable_count)
        return json_null();
    json_t *json = json_object(), *list = json_array();
    for (size_t i = 0; i < loop->variable_count; i++) {
        const struct argus_loop_variable *variable = &loop->variables[i];
        json_t *item = json_object();
        json_put(item, "name", json_text(variable->name));
        json_put(item, "image", json_text(variable->image));
        json_put(item, "command", json_text(variable->command));
        json_put(item, "writers", writers_json(context, variable));
        json_put(item, "more_writers", json_boolean(variable->has_more_writers));
        json_put(item, "writer_tids", writer_tids_json(context, variable));
        json_add(list, item);
    }
    json_put(json, "place", json_text(loop->place));
    json_put(json, "variables", list);
    json_put(json, "whole", json_boolean(loop->is_whole));
    return json;
}

static json_t *remote_json(const struct argus_report_context *context,
                           const struct argus_culprit *culprit)
{
    const struct argus_remote *remotes;
    if (culprit->remote >= argus_graph_remotes(context->graph, &remotes))
        return json_null();
    const struct argus_remote *remote = &remotes[culprit->remote];
    char address[64];
    json_t *json = json_object();
    json_put(json, "address", json_text(remote_address_text(remote, address, sizeof(address))));
    json_put(json, "port", json_integer(remote->port));
    json_put(json, "protocol", json_text(remote_protocol_text(remote)));
    json_put(json, "answered", json_boolean(culprit->answered));
    return json;
}

static json_t *memory_json(const struct argus_culprit *culprit)
{
    const struct argus_memory_lack *lack = &culprit->memory;
    if (!lack->stalled_ns)
        return json_null();
    json_t *json = json_object();
    json_put(json, "stalled_ns", json_ns(lack->stalled_ns));
    json_put(json, "reclaim_ns", json_ns(lack->reclaim_ns));
    json_put(json, "group_reclaim_ns", json_ns(lack->group_reclaim_ns));
    json_put(json, "compaction_ns", json_ns(lack->compaction_ns));
    json_put(json, "swap_ns", json_ns(lack->swap_ns));
    json_put(json, "group", lack->group ? json_text(lack->group_name) : json_null());
    json_put(json, "limit_bytes", lack->group ? json_ns(lack->limit_bytes) : json_null());
    json_put(json, "taken_bytes", json_ns(lack->taken_bytes));
    json_put(json, "all_taken_bytes", json_ns(lack->all_bytes));
    json_put(json, "grown_bytes", json_ns(lack->grown_bytes));
    json_put(json, "size_bytes", json_ns(lack->size_bytes));
    return json;
}

static json_t *culprit_json(const struct argus_report_context *context,
                            const struct argus_diagnosis *diagnosis,
                            const struct argus_culprit *culprit)
{
    char why[REASON_TEXT_BYTES];
    struct view view = view_of(context->graph);
    const struct argus_thread *thread = &view.threads[view.vertices[culprit->vertex].thread];
    const struct argus_process *process = &view.processes[thread->process];
    json_t *json = json_object();
    json_put(json, "vertex", json_vertex(context, culprit->vertex, threshold(diagnosis)));
    json_put(json, "process", json_text(process->name));
    json_put(json, "pid", json_ns(process->pid));
    json_put(json, "tid", json_ns(thread->tid));
    json_put(json, "thread", json_text(thread->name));
    json_put(json, "type",
             json_text(argus_vertex_type_name((enum argus_vertex_type)culprit->type)));
    json_put(json, "start_ns", json_ns(culprit->start_ns));
    json_put(json, "duration_ns", json_ns(culprit->end_ns - culprit->start_ns));
    json_put(json, "share", json_real(culprit->share));
    json_put(json, "stack", json_stack(context, culprit->vertex, culprit->stack));
    json_put(json, "costly_functions", functions_json(context, culprit));
    json_put(json, "code_loop", code_loop_json(context, &culprit->loop));
    json_put(json, "remote", remote_json(context, culprit));
    json_put(json, "memory", memory_json(culprit));
    json_put(json, "why", json_text(argus_culprit_why(context, culprit, why, sizeof(why))));
    return json;
}

static json_t *culprits_json(const struct argus_report_context *context,
                             const struct argus_diagnosis *diagnosis)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        json_add(list, culprit_json(context, diagnosis, &diagnosis->culprits[i]));
    return list;
}

static json_t *vertices_json(const struct argus_report_context *context,
                             const struct argus_diagnosis *diagnosis, const uint32_t *vertices,
                             size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_add(list, json_vertex(context, vertices[i], threshold(diagnosis)));
    return list;
}

static json_t *accounting_json(const struct argus_report_context *context,
                               const struct argus_diagnosis *diagnosis)
{
    uint64_t whole = diagnosis->hang.end_ns - diagnosis->hang.start_ns;
    json_t *list = json_array();
    for (size_t i = 0; i < diagnosis->accounting.count; i++) {
        const struct argus_stretch *stretch = &diagnosis->accounting.stretches[i];
        uint64_t duration = stretch->end_ns - stretch->start_ns;
        json_t *json = json_object();
        json_put(json, "vertex",
                 json_vertex_or_null(context, stretch->vertex, threshold(diagnosis)));
        json_put(json, "state",
                 json_text(argus_stretch_state_name((enum argus_stretch_state)stretch->state)));
        json_put(json, "start_ns", json_ns(stretch->start_ns));
        json_put(json, "duration_ns", json_ns(duration));
        json_put(json, "share", json_real((double)duration / (double)whole));
        json_add(list, json);
    }
    return list;
}

static json_t *uncertain_json(const struct argus_report_context *context,
                              const struct argus_diagnosis *diagnosis)
{
    json_t *list = json_array();
    char text[REASON_TEXT_BYTES];
    for (size_t i = 0; i < diagnosis->uncertain_count; i++)
        json_add(list, json_text(reason_text(context, &diagnosis->uncertain[i], NULL, text,
                                             sizeof(text))));
    return list;
}

json_t *json_diagnosis(const struct argus_report_context *context,
                       const struct argus_diagnosis *diagnosis)
{
    json_t *json = json_object();
    char summary[DIAGNOSIS_SUMMARY_BYTES];
    json_put(json, "trace", trace_json(argus_graph_trace(context->graph)));
    json_put(
        json, "summary",
        json_text(diagnosis_summary_text(context->graph, diagnosis, summary, sizeof(summary))));
    json_put(json, "hang", json_hang(context, &diagnosis->hang));
    json_put(json, "spinning", spinning_json(context, diagnosis));
    json_put(json, "baseline", json_baseline(context, diagnosis));
    json_put(json, "comparison", json_comparison(context, diagnosis));
    json_put(json, "path", path_json(context, diagnosis));
    json_put(json, "root_causes", culprits_json(context, diagnosis));
    json_put(json, "cycle",
             diagnosis->cycle_count > 0
                 ? vertices_json(context, diagnosis, diagnosis->cycle, diagnosis->cycle_count)
                 : json_null());
    json_put(json, "guessed", json_boolean(diagnosis->guessed));
    json_put(json, "accounting", accounting_json(context, diagnosis));
    json_put(json, "origin",
             vertices_json(context, diagnosis, diagnosis->origin, diagnosis->origin_count));
    json_put(json, "questions",
             json_questions(context->graph, diagnosis->asked, diagnosis->asked_count));
    json_put(json, "uncertain", uncertain_json(context, diagnosis));
    json_put(json, "unnamed_frames", json_unnamed(context->symbols));
    json_put(json, "limits",
             json_limits(argus_graph_trace(context->graph), ARGUS_GAP_DIAGNOSE,
                         limits_subjects_of_diagnosis(context->graph, diagnosis)));
    struct programs_32_bit programs;
    programs_32_bit_of_diagnosis(&programs, context->graph, diagnosis);
    json_put(json, "programs_32_bit", programs_32_bit_json(&programs));
    programs_32_bit_deinit(&programs);
    return json;
}
