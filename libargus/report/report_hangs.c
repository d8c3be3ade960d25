/* The hangs that were found. */
#include <stdio.h>
#include <string.h>

#include "report/hang_timeline.h"
#include "report/json.h"
#include "report/json_stream.h"
#include "report/lines.h"
#include "report/programs_32_bit.h"
#include "report/report_hangs.h"
#include "report/report_limits.h"
#include "report/report_pending.h"
#include "report/report_run_times.h"
#include "report/report_unnamed.h"
#include "slice/timeline.h"

/* What distinguishes a hang from others of its type; NULL: nothing. */
static json_t *json_indicators(const struct argus_hang *hang)
{
    json_t *list = json_array();
    for (int i = 0; i < ARGUS_INDICATORS; i++)
        if (hang->indicators >> i & 1)
            json_add(list, json_text(argus_indicator_name((enum argus_indicator)i)));
    return list;
}

static void put_figures(json_t *json, const struct argus_hang *hang)
{
    json_put(json, "run_ns", json_ns(hang->run_ns));
    json_put(json, "runnable_ns", json_ns(hang->runnable_ns));
    json_put(json, "wait_ns", json_ns(hang->wait_ns));
    json_put(json, "yield_ns", json_ns(hang->yield_ns));
    json_put(json, "fault_ns", json_ns(hang->fault_ns));
    json_put(json, "fault_count", json_ns(hang->fault_count));
    json_put(json, "disk_ns", json_ns(hang->disk_ns));
    json_put(json, "stopped_ns", json_ns(hang->stopped_ns));
    json_put(json, "suspended_ns", json_ns(hang->suspended_ns));
}

json_t *json_hang(const struct argus_report_context *context, const struct argus_hang *hang)
{
    struct view view = view_of(context->graph);
    const struct argus_thread *thread = &view.threads[hang->thread];
    const struct argus_process *process = &view.processes[thread->process];
    json_t *json = json_object();
    json_put(json, "process", json_text(process->name));
    json_put(json, "pid", json_ns(process->pid));
    json_put(json, "tid", json_ns(thread->tid));
    json_put(json, "thread", json_text(thread->name));
    json_put(json, "start_ns", json_ns(hang->start_ns));
    json_put(json, "duration_ns", json_ns(hang->end_ns - hang->start_ns));
    json_put(json, "indicator",
             json_text(argus_indicator_name((enum argus_indicator)hang->indicator)));
    json_put(json, "indicators", json_indicators(hang));
    json_put(json, "type", json_text(argus_vertex_type_name((enum argus_vertex_type)hang->type)));
    json_put(json, "nature", json_text(argus_nature_name((enum argus_hang_nature)hang->nature)));
    json_put(json, "ongoing", json_boolean(hang->ongoing));
    json_put(json, "awaited", json_boolean(hang->urgency != ARGUS_URGENCY_NOBODY));
    json_put(json, "time", json_time(argus_graph_trace(context->graph), hang->start_ns));
    put_figures(json, hang);
    return json;
}

/* --- text --- */

/* Adds a figure if it is at least one percent of the hang. */
static void add_figure(char *buffer, size_t bytes, const struct argus_hang *hang, const char *what,
                       uint64_t ns)
{
    char text[32];
    size_t length = strlen(buffer);
    if (ns == 0 || ns < (hang->end_ns - hang->start_ns) / 100)
        return;
    snprintf(buffer + length, bytes - length, "%s%s %s", length ? ", " : "", what,
             argus_duration_text(ns, text, sizeof(text)));
}

static void figures_text(const struct argus_report_context *context, const struct argus_hang *hang)
{
    char figures[256] = "", waits[160] = "", suspended[32];
    add_figure(figures, sizeof(figures), hang, "ran", hang->run_ns);
    add_figure(figures, sizeof(figures), hang, "wanted a cpu", hang->runnable_ns);
    add_figure(figures, sizeof(figures), hang, "polled again and again", hang->yield_ns);
    add_figure(figures, sizeof(figures), hang, "waited", hang->wait_ns);
    add_figure(waits, sizeof(waits), hang, "for pages", hang->fault_ns);
    add_figure(waits, sizeof(waits), hang, "for a disk", hang->disk_ns);
    add_figure(waits, sizeof(waits), hang, "stopped", hang->stopped_ns - hang->stepped_ns);
    add_figure(waits, sizeof(waits), hang, "stepped by argus", hang->stepped_ns);
    argus_sink_printf(context->sink, "       %s%s%s%s\n", figures, waits[0] ? " (" : "", waits,
                      waits[0] ? ")" : "");
    if (hang->suspended_ns)
        argus_sink_printf(context->sink,
                          "       the machine was suspended for another %s meanwhile\n",
                          argus_duration_text(hang->suspended_ns, suspended, sizeof(suspended)));
    for (int i = 0; i < ARGUS_INDICATORS; i++)
        if ((hang->indicators >> i & 1) && i != ARGUS_INDICATOR_EVENT_LOOP)
            argus_sink_printf(context->sink, "       %s\n",
                              argus_indicator_name((enum argus_indicator)i));
}

/* The JSON has all. */
#define MOST_PENDING 4

static void pending_line(const struct argus_report_context *context, const struct argus_hang *hang,
                         const struct argus_pending *pending)
{
    char text[320], line[400], when[32];
    uint64_t since_ns = pending->first_ns > hang->start_ns ? pending->first_ns : hang->start_ns;
    report_pending(context, pending, text, sizeof(text));
    if (pending->kind == ARGUS_PENDING_SET_OFF)
        snprintf(line, sizeof(line), "set off by %s", text);
    else if (pending->kind == ARGUS_PENDING_READY || pending->kind == ARGUS_PENDING_UI_EVENT)
        snprintf(line, sizeof(line), "pending: %s, found at its end", text);
    else if (since_ns == hang->start_ns && !pending->unread)
        snprintf(line, sizeof(line), "pending: %s, all the time", text);
    else
        snprintf(line, sizeof(line), "pending: %s, %s after %s", text,
                 pending->unread ? "never taken, sent" : "the first",
                 argus_duration_text(since_ns - hang->start_ns, when, sizeof(when)));
    argus_sink_printf(context->sink, "       ");
    report_wrapped(context->sink, 9, line);
}

static struct argus_error *pending_text(const struct argus_report_context *context,
                                        const struct argus_hang *hang)
{
    struct argus_pendings pendings;
    struct argus_error *error = argus_pending_find(context->graph, hang, &pendings);
    size_t pending = 0;
    if (error)
        return error;
    for (size_t i = 0; i < pendings.count; i++) {
        pending += pendings.items[i].kind != ARGUS_PENDING_SET_OFF;
        if (pending <= MOST_PENDING)
            pending_line(context, hang, &pendings.items[i]);
    }
    if (pending > MOST_PENDING)
        argus_sink_printf(context->sink, "       … and %zu more\n", pending - MOST_PENDING);
    if (!pending)
        argus_sink_printf(context->sink, "       nothing was seen to be pending%s\n",
                          hang->urgency != ARGUS_URGENCY_NOBODY ? ""
                                                                : ", and its own timer set it off");
    argus_pendings_deinit(&pendings);
    return NULL;
}

static struct argus_error *hang_text(const struct argus_report_context *context, size_t number,
                                     const struct argus_hang *hang)
{
    char time[32], lasted[32], thread[128], id[16];
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    const char *nature = argus_nature_name((enum argus_hang_nature)hang->nature);
    snprintf(id, sizeof(id), "v%u", hang->vertex);
    argus_sink_printf(context->sink, "%3zu  %s  %9s  %-13s  %-8s  %s%s%s%s\n", number,
                      argus_time_text(trace, hang->start_ns, time, sizeof(time)),
                      argus_duration_text(hang->end_ns - hang->start_ns, lasted, sizeof(lasted)),
                      argus_vertex_type_name((enum argus_vertex_type)hang->type), id,
                      report_thread(context, hang->thread, thread, sizeof(thread)),
                      nature ? ": " : "", nature ? nature : "",
                      hang->ongoing ? " (not over when the trace ended)" : "");
    figures_text(context, hang);
    return pending_text(context, hang);
}

static void idle_text(const struct argus_report_context *context, const struct argus_hang *hang)
{
    char time[32], lasted[32], thread[128];
    argus_sink_printf(
        context->sink,
        "No hang: %s was idle for %s from %s on; it waited for input, and nothing was "
        "pending.\n",
        report_thread(context, hang->thread, thread, sizeof(thread)),
        argus_duration_text(hang->end_ns - hang->start_ns, lasted, sizeof(lasted)),
        argus_time_text(argus_graph_trace(context->graph), hang->start_ns, time, sizeof(time)));
}

/* At most so many stretches of each kind are printed. */
#define MOST_TOLD 3

static void stretch_text(const struct argus_report_context *context, uint32_t thread,
                         uint64_t start_ns, uint64_t end_ns, const char *why)
{
    char lasted[32], time[32], name[128];
    argus_sink_printf(
        context->sink, "  %9s  %s, from %s on: %s\n",
        argus_duration_text(end_ns - start_ns, lasted, sizeof(lasted)),
        report_thread(context, thread, name, sizeof(name)),
        argus_time_text(argus_graph_trace(context->graph), start_ns, time, sizeof(time)), why);
}

static void shorter_text(const struct argus_report_context *context, uint64_t threshold_ns,
                         const struct argus_hangs *shorter)
{
    char threshold[32], why[96];
    argus_duration_text(threshold_ns, threshold, sizeof(threshold));
    const struct argus_hang *told = NULL;
    for (int i = 0; i < MOST_TOLD; i++) {
        const struct argus_hang *longest = NULL;
        for (size_t k = 0; k < shorter->count; k++) {
            const struct argus_hang *hang = &shorter->items[k];
            uint64_t ns = hang->end_ns - hang->start_ns;
            bool is_next = !told || ns < told->end_ns - told->start_ns;
            if (is_next && hang->nature != ARGUS_NATURE_IDLE &&
                (!longest || ns > longest->end_ns - longest->start_ns))
                longest = hang;
        }
        if (!longest)
            return;
        bool is_short = longest->end_ns - longest->start_ns < threshold_ns;
        snprintf(why, sizeof(why), "%s%s; --threshold lists it",
                 is_short ? "away for less than " : "in parts, each shorter than ", threshold);
        stretch_text(context, longest->thread, longest->start_ns, longest->end_ns, why);
        told = longest;
    }
}

struct argus_error *argus_report_no_hangs(const struct argus_report_context *context,
                                          uint64_t threshold_ns, const struct argus_hangs *shorter,
                                          const struct argus_loops *loops)
{
    char threshold[32];
    bool is_told = loops->count || (shorter->count && !report_missing_kinds(context->graph));
    if (!is_told) {
        argus_sink_printf(context->sink, "No event loop was recognised: no thread that was looked "
                                         "at came back to a poll, select or epoll\ncall again and "
                                         "again. So this does not say that nothing hung.\n");
    } else {
        argus_sink_printf(context->sink,
                          "No hangs: no event loop was away from its wait for %s or longer.\n"
                          "Event loops: %zu. The longest stretches, and why they do not count:\n",
                          argus_duration_text(threshold_ns, threshold, sizeof(threshold)),
                          loops->count);
        shorter_text(context, threshold_ns, shorter);
        for (size_t i = 0; i < loops->count && i < MOST_TOLD; i++)
            stretch_text(context, loops->items[i].thread, loops->items[i].start_ns,
                         loops->items[i].end_ns, "idle in its wait for input");
    }
    argus_sink_printf(context->sink, "A program without an event loop is explained by "
                                     "argus diagnose --process NAME.\n");
    struct argus_error *error = report_run_times(context);
    if (error)
        return error;
    return report_limits(context->sink, argus_graph_trace(context->graph), ARGUS_GAP_HANGS,
                         ARGUS_GAP_ANY);
}

static bool is_idle(const struct argus_hang *hang)
{
    return hang->nature == ARGUS_NATURE_IDLE;
}

static struct argus_error *hangs_list(const struct argus_report_context *context,
                                      const struct argus_hangs *hangs)
{
    struct argus_error *error = NULL;
    if (hangs->count == 0)
        return NULL;
    if (is_idle(&hangs->items[0])) { /* an idle stretch is the only one */
        idle_text(context, &hangs->items[0]);
        return NULL;
    }
    for (size_t i = 0; !error && i < hangs->count; i++)
        error = hang_text(context, i + 1, &hangs->items[i]);
    if (!error)
        report_hang_timeline(context, hangs);
    return error ? error : report_run_times(context);
}

static void touch_hangs(const struct argus_report_context *context, const struct argus_hangs *hangs,
                        struct programs_32_bit *ret)
{
    programs_32_bit_init(ret, context->graph);
    for (size_t i = 0; i < hangs->count; i++)
        programs_32_bit_touch_vertex(ret, hangs->items[i].vertex);
}

static struct argus_error *hangs_text(const struct argus_report_context *context,
                                      const struct argus_hangs *hangs)
{
    struct argus_error *error = hangs_list(context, hangs);
    struct programs_32_bit programs;
    touch_hangs(context, hangs, &programs);
    programs_32_bit_print(&programs, context->sink);
    programs_32_bit_deinit(&programs);
    report_unnamed(context->sink, context->symbols);
    return error ? error
                 : report_limits(context->sink, argus_graph_trace(context->graph), ARGUS_GAP_HANGS,
                                 ARGUS_GAP_ANY);
}

static struct argus_error *hang_json(const struct argus_report_context *context,
                                     const struct argus_hang *hang, json_t **ret)
{
    struct argus_pendings pendings;
    struct argus_error *error = argus_pending_find(context->graph, hang, &pendings);
    if (error)
        return error;
    *ret = json_hang(context, hang);
    json_put(*ret, "pending", json_pendings(context, &pendings));
    json_put(*ret, "vertex", json_vertex(context, hang->vertex, ARGUS_HANG_THRESHOLD_NS));
    argus_pendings_deinit(&pendings);
    return NULL;
}

/* The hangs that are `idle`, or the others. */
static struct argus_error *list_json(const struct argus_report_context *context,
                                     const struct argus_hangs *hangs, bool idle, const char *key,
                                     struct json_stream *stream)
{
    struct argus_error *error = NULL;
    bool goes_on = true;
    json_stream_list(stream, key);
    for (size_t i = 0; !error && goes_on && i < hangs->count; i++) {
        json_t *json = NULL;
        if (is_idle(&hangs->items[i]) != idle)
            continue;
        error = hang_json(context, &hangs->items[i], &json);
        if (!error)
            goes_on = json_stream_add(stream, json);
    }
    json_stream_list_end(stream);
    return error;
}

struct argus_error *argus_report_hangs(const struct argus_report_context *context,
                                       const struct argus_hangs *hangs, bool json)
{
    struct json_stream stream;
    struct programs_32_bit programs;
    if (!json)
        return hangs_text(context, hangs);
    json_stream_begin(&stream, context->sink, "argus-hangs 1");
    struct argus_error *error = list_json(context, hangs, false, "hangs", &stream);
    if (!error)
        error = list_json(context, hangs, true, "idle", &stream);
    if (error)
        return error;
    json_stream_put(&stream, "limits",
                    json_limits(argus_graph_trace(context->graph), ARGUS_GAP_HANGS, ARGUS_GAP_ANY));
    touch_hangs(context, hangs, &programs);
    json_stream_put(&stream, "programs_32_bit", programs_32_bit_json(&programs));
    programs_32_bit_deinit(&programs);
    json_stream_put(&stream, "unnamed_frames", json_unnamed(context->symbols));
    return json_stream_end(&stream);
}
