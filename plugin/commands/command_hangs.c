#include "plugin/commands/hang_list.h"
#include "plugin/hang_options.h"

static const struct command_option options[] = {
    HANG_OPTIONS,
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

#define NOTICED_NS 20000000u /* away for less is as it should be */

/* What was named has its longest stretch listed only if it is long. */
static void drop_short(const struct argus_hang_options *wanted, struct argus_hangs *hangs)
{
    uint64_t threshold_ns = wanted->threshold_ns ? wanted->threshold_ns : ARGUS_HANG_THRESHOLD_NS;
    const struct argus_hang *hang = hangs->items;
    if (hangs->count == 1 && hang->indicator == ARGUS_INDICATOR_LONGEST && !wanted->has_time &&
        hang->end_ns - hang->start_ns < threshold_ns)
        hangs->count = 0;
}

/* Says what was looked at, down to what can be noticed at all. */
static struct argus_error *report_none(struct analysis *analysis,
                                       const struct argus_hang_options *wanted)
{
    struct argus_hang_options shorter = *wanted;
    struct argus_hangs hangs;
    struct argus_loops loops;
    uint64_t threshold_ns = wanted->threshold_ns ? wanted->threshold_ns : ARGUS_HANG_THRESHOLD_NS;
    shorter.threshold_ns = NOTICED_NS < threshold_ns ? NOTICED_NS : threshold_ns;
    shorter.at_least_one = false;
    struct argus_error *error = argus_hangs_find(analysis->graph, &shorter, &hangs);
    if (error)
        return error;
    error = argus_loops_find(analysis->graph, wanted, &loops);
    if (!error) {
        argus_report_no_hangs(&analysis->report, threshold_ns, &hangs, &loops);
        argus_loops_deinit(&loops);
    }
    argus_hangs_deinit(&hangs);
    return error;
}

static struct argus_error *list_folder(struct session *session, const struct arguments *arguments)
{
    struct hang_list list;
    struct argus_error *error = hang_list_read(session, arguments, &list);
    if (!error)
        error = hang_list_print(session, &list, arguments_has(arguments, "json"));
    hang_list_deinit(&list);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    if (hang_list_wanted(arguments))
        return list_folder(session, arguments);
    struct analysis analysis;
    struct argus_hang_options hang_options;
    struct argus_hangs hangs;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = hang_options_get(&analysis, &hang_options);
    hang_options.at_least_one = !error && hang_options_name(&hang_options);
    if (!error)
        error = argus_hangs_find(analysis.graph, &hang_options, &hangs);
    if (error)
        return error;
    drop_short(&hang_options, &hangs);
    if (hangs.count || analysis.json)
        error = argus_report_hangs(&analysis.report, &hangs, analysis.json);
    else
        error = report_none(&analysis, &hang_options);
    argus_hangs_deinit(&hangs);
    return error;
}

const struct command command_hangs = {
    .name = "hangs",
    .summary = "list the hangs: event loops that did not come back to their wait",
    .details = "Windows for which something was pending come first, then other threads for\n"
               "which something was, then those that another thread had set off. Of equals,\n"
               "windows come first, then the longest. 'argus diagnose FILE 2' explains the\n"
               "second of the list.\n"
               "\n"
               "With nothing pending, these are no hangs: a worker thread away from its loop,\n"
               "a wait for child processes, and a wait of a thread for which another one\n"
               "polls.\n"
               "\n"
               "Of what is named (a process, a thread, a time) the longest stretch is listed\n"
               "when no event loop hung; if that was idle, the command says so.\n"
               "\n"
               "Without a hang it says which stretches were the longest, and why they do not\n"
               "count: too short, or idle. In a trace without event loops it says that.\n"
               "\n"
               "A folder in place of FILE lists its traces, one hang each, the newest first:\n"
               "what 'argus start --on-hang' has kept, without analysing it again.",
    .example = "argus hangs freeze.argus\n"
               "argus hangs --threshold=500ms --process=gedit freeze.argus\n"
               "argus hangs --time=14:32:10 freeze.argus\n"
               "argus hangs ~/hangs",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
