#include "report/report_run_times.h"

#include <stdlib.h>

#include "report/lines.h"
#include "slice/timeline.h"

#define MOST_TOLD 8

const char *report_missing_kinds(const struct argus_graph *graph)
{
    bool wakeups = argus_graph_lacks_wakeups(graph), calls = argus_graph_lacks_calls(graph);
    return wakeups && calls ? "wake-ups and system calls"
           : wakeups        ? "wake-ups"
           : calls          ? "system calls"
                            : NULL;
}

struct thread_time {
    uint64_t run_ns, samples;
    uint32_t thread;
};

static int by_run_time(const void *left, const void *right)
{
    const struct thread_time *a = left, *b = right;
    if (a->run_ns != b->run_ns)
        return a->run_ns > b->run_ns ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* One entry for each thread, the one that ran most first. NULL without memory. */
static struct thread_time *times_of(const struct view *view)
{
    struct thread_time *times = calloc(view->thread_count + 1, sizeof(*times));
    for (uint32_t i = 0; times && i < view->thread_count; i++)
        times[i].thread = i;
    for (size_t i = 0; times && i < view->vertex_count; i++) {
        const struct argus_vertex *vertex = &view->vertices[i];
        times[vertex->thread].run_ns += vertex->run_ns;
        times[vertex->thread].samples += vertex->sample_count;
    }
    if (times)
        qsort(times, view->thread_count, sizeof(*times), by_run_time);
    return times;
}

static void print_time(const struct argus_report_context *context, const struct thread_time *time)
{
    char lasted[32], name[128];
    argus_sink_printf(context->sink, "  %9s  %6llu  %s\n",
                      argus_duration_text(time->run_ns, lasted, sizeof(lasted)),
                      (unsigned long long)time->samples,
                      report_thread(context, time->thread, name, sizeof(name)));
}

struct argus_error *report_run_times(const struct argus_report_context *context)
{
    const char *missing = report_missing_kinds(context->graph);
    if (!missing)
        return NULL;
    struct view view = view_of(context->graph);
    struct thread_time *times = times_of(&view);
    if (!times)
        return argus_error_memory();
    argus_sink_printf(
        context->sink,
        "\nThe trace has no records of %s. So it does not tell %s. What it tells:\n"
        "   run time  samples\n",
        missing,
        argus_graph_lacks_wakeups(context->graph)
            ? "for what a thread\nwaited, who ended the wait, or whether it was a freeze"
            : "which threads\nare event loops, or in which call a thread waited");
    for (size_t i = 0; i < view.thread_count && i < MOST_TOLD && times[i].run_ns; i++)
        print_time(context, &times[i]);
    free(times);
    argus_sink_printf(context->sink, "argus contexts FILE ranks the functions of the samples; "
                                     "argus graph stats FILE says what else is missing.\n");
    return NULL;
}
