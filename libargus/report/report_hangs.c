/* The hangs that were found. */
#include <stdio.h>

#include "report/json.h"
#include "report/lines.h"
#include "report/report_hangs.h"
#include "slice/timeline.h"

json_t *json_hang(const struct argus_report_context *context, const struct argus_hang *hang)
{
    struct view view = view_of(context->graph);
    const struct argus_thread *thread = &view.threads[hang->thread];
    const struct argus_process *process = &view.processes[thread->process];
    char time[32];
    json_t *json = json_object();
    json_put(json, "process", json_text(process->name));
    json_put(json, "pid", json_ns(process->pid));
    json_put(json, "tid", json_ns(thread->tid));
    json_put(json, "thread", json_text(thread->name));
    json_put(json, "start_ns", json_ns(hang->start_ns));
    json_put(json, "duration_ns", json_ns(hang->end_ns - hang->start_ns));
    json_put(json, "indicator",
             json_text(argus_indicator_name((enum argus_indicator)hang->indicator)));
    json_put(json, "type", json_text(argus_vertex_type_name((enum argus_vertex_type)hang->type)));
    json_put(json, "ongoing", json_boolean(hang->ongoing));
    json_put(json, "time",
             json_text(argus_time_text(argus_graph_trace(context->graph), hang->start_ns, time,
                                       sizeof(time))));
    json_put(json, "run_ns", json_ns(hang->run_ns));
    json_put(json, "runnable_ns", json_ns(hang->runnable_ns));
    json_put(json, "wait_ns", json_ns(hang->wait_ns));
    json_put(json, "yield_ns", json_ns(hang->yield_ns));
    return json;
}

static void hang_text(const struct argus_report_context *context, size_t number,
                      const struct argus_hang *hang)
{
    char time[32], lasted[32], thread[128], id[16];
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    snprintf(id, sizeof(id), "v%u", hang->vertex);
    argus_sink_printf(context->sink, "%3zu  %s  %9s  %-13s  %-8s  %s%s\n", number,
                      argus_time_text(trace, hang->start_ns, time, sizeof(time)),
                      argus_duration_text(hang->end_ns - hang->start_ns, lasted, sizeof(lasted)),
                      argus_vertex_type_name((enum argus_vertex_type)hang->type), id,
                      report_thread(context, hang->thread, thread, sizeof(thread)),
                      hang->ongoing ? " (not over when the trace ended)" : "");
}

struct argus_error *argus_report_hangs(const struct argus_report_context *context,
                                       const struct argus_hangs *hangs, bool json)
{
    json_t *list = json ? json_array() : NULL;
    if (!json && hangs->count == 0)
        argus_sink_printf(context->sink,
                          "No hangs: no event loop stayed away from its wait for so long.\n"
                          "A program without an event loop is explained by "
                          "argus diagnose --process NAME.\n");
    for (size_t i = 0; i < hangs->count; i++) {
        if (!json) {
            hang_text(context, i + 1, &hangs->items[i]);
            continue;
        }
        json_t *hang = json_hang(context, &hangs->items[i]);
        json_put(hang, "vertex",
                 json_vertex(context, hangs->items[i].vertex, ARGUS_HANG_THRESHOLD_NS));
        json_add(list, hang);
    }
    if (!json)
        return NULL;
    json_t *whole = json_object();
    json_put(whole, "hangs", list);
    return json_write(context->sink, whole);
}
