#include "plugin/hang_options.h"

#include <string.h>

#include "plugin/time_point.h"
#include "plugin/units.h"

static struct argus_error *check_ids(const struct analysis *analysis,
                                     const struct argus_hang_options *options)
{
    if (options->pid && !analysis_has_process(analysis, options->pid))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no process with pid %llu in the trace",
                                  (unsigned long long)options->pid);
    if (options->tid && !analysis_has_thread(analysis, options->tid))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no thread with tid %llu in the trace",
                                  (unsigned long long)options->tid);
    return NULL;
}

/* A number is a thread id if the trace has such a thread, and otherwise a name. */
static struct argus_error *get_thread(const struct analysis *analysis, const char *text,
                                      struct argus_hang_options *ret)
{
    uint64_t number;
    if (units_parse(text, units_none, &number) && analysis_has_thread(analysis, number)) {
        ret->tid = number;
        return NULL;
    }
    ret->thread_name = text;
    return analysis_check_thread(analysis, text);
}

/* A number is a process id if the trace has such a process, and otherwise a name. */
struct argus_error *hang_options_process(const struct analysis *analysis,
                                         struct argus_hang_options *ret)
{
    const char *text = arguments_option(analysis->arguments, "process");
    uint64_t number;
    if (!text)
        return NULL;
    if (!ret->pid && units_parse(text, units_none, &number) &&
        analysis_has_process(analysis, number)) {
        ret->pid = number;
        return NULL;
    }
    ret->process_name = text;
    return analysis_check_process(analysis, text);
}

static struct argus_error *get_time(const struct analysis *analysis, const char *text,
                                    struct argus_hang_options *ret)
{
    uint64_t start_ns, end_ns;
    struct argus_error *error =
        time_point_range(analysis->trace->trace, text, &ret->time_ns, &ret->until_ns);
    if (error)
        return error;
    argus_trace_time_range(analysis->trace->trace, &start_ns, &end_ns);
    ret->has_time = true;
    if (ret->until_ns < start_ns || ret->time_ns > end_ns)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "--time: %s is outside the trace (argus info says when it was)",
                                  text);
    return NULL;
}

struct argus_error *hang_options_get(const struct analysis *analysis,
                                     struct argus_hang_options *ret)
{
    const struct arguments *arguments = analysis->arguments;
    const char *thread = arguments_option(arguments, "thread");
    const char *time = arguments_option(arguments, "time");
    *ret = (struct argus_hang_options){.symbols = analysis->report.symbols};
    struct argus_error *error = arguments_number(arguments, "pid", &ret->pid);
    if (!error)
        error = arguments_number(arguments, "tid", &ret->tid);
    if (!error)
        error = arguments_duration_ns(arguments, "threshold", &ret->threshold_ns);
    if (!error && thread)
        error = get_thread(analysis, thread, ret);
    if (!error && time)
        error = get_time(analysis, time, ret);
    if (!error)
        error = hang_options_process(analysis, ret);
    return error ? error : check_ids(analysis, ret);
}

void hang_options_drop_short(const struct argus_hang_options *options, struct argus_hangs *hangs)
{
    const struct argus_hang *hang = hangs->items;
    if (hangs->count == 1 && hang->indicator == ARGUS_INDICATOR_LONGEST && !options->has_time &&
        hang->end_ns - hang->start_ns < argus_hang_threshold_ns(options))
        hangs->count = 0;
}

bool hang_options_name(const struct argus_hang_options *options)
{
    return options->process_name || options->thread_name || options->pid || options->tid ||
           options->has_time;
}
