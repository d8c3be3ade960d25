#include "plugin/commands/hang_list.h"
#include "plugin/hang_options.h"

static const struct command_option options[] = {
    HANG_OPTIONS,
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

#define NOTICED_NS 20000000u /* shorter absences are normal */

/* Reports what was searched, and the longest stretches down to the shortest that a person can
 * notice. */
static struct argus_error *report_none(struct analysis *analysis,
                                       const struct argus_hang_options *wanted)
{
    struct argus_hang_options shorter = *wanted;
    struct argus_hangs hangs;
    struct argus_loops loops;
    uint64_t threshold_ns = argus_hang_threshold_ns(wanted);
    shorter.threshold_ns = NOTICED_NS < threshold_ns ? NOTICED_NS : threshold_ns;
    shorter.at_least_one = false;
    struct argus_error *error = argus_hangs_find(analysis->graph, &shorter, &hangs);
    if (error)
        return error;
    error = argus_loops_find(analysis->graph, wanted, &loops);
    if (!error) {
        error = argus_report_no_hangs(&analysis->report, threshold_ns, &hangs, &loops);
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
    hang_options_drop_short(&hang_options, &hangs);
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
    .details = "Windows with pending input come first, then other threads with pending input,\n"
               "then hangs that another thread or the user had set off. Among equals, windows\n"
               "come first, then the longest. 'argus diagnose FILE 2' explains the second one.\n"
               "\n"
               "Without pending input, these do not count as hangs: a worker thread away from\n"
               "its loop, a wait for child processes, and a wait of a thread for which another\n"
               "thread polls.\n"
               "\n"
               "If a process, a thread or a time is given and no event loop hung, the longest\n"
               "stretch there is listed; if that was idle, the command says so.\n"
               "\n"
               "If there is no hang, the command prints the longest stretches and why they do\n"
               "not count: too short, or idle. It says so if a trace has no event loops.\n"
               "\n"
               "With a folder instead of FILE, it lists the folder's traces, one hang each,\n"
               "the newest first: the files that 'argus start --on-hang' has kept, without\n"
               "analysing them again.",
    .example = "argus hangs freeze.argus\n"
               "argus hangs --threshold=500ms --process=gedit freeze.argus\n"
               "argus hangs --time=14:32:10 freeze.argus\n"
               "argus hangs ~/hangs",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
