/* Prints whether a recording is running, since when, how full it is, and what it costs. */
#include "plugin/commands/recorder_report.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    {"verbose", 0, NULL, "say also why the kernel refused a program"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_report report;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = recorder_report_get(&report);
    if (error)
        return error;
    if (arguments_has(arguments, "json"))
        error = json_output(session, "argus-status 1", recorder_report_json(&report));
    else
        recorder_report_print(session, &report, arguments_has(arguments, "verbose"));
    recorder_report_deinit(&report);
    return error;
}

const struct command command_status = {
    .name = "status",
    .summary = "say what is being recorded, since when, how full it is, and what is missing",
    .details = "In memory, \"kept\" is the number of records that the ring holds, and \"of\" the\n"
               "number it has received; \"span\" is how far back all CPUs are complete. The\n"
               "rates are those of the newest records. Notes say what could not be attached\n"
               "and why, and which names in --unwind no process or thread has had so far.\n"
               "--verbose adds the kernel verifier's messages about each BPF program that it\n"
               "refused. JSON: docs/schema/status.json.",
    .example = "argus status\nargus status --verbose\nargus status --json",
    .options = options,
    .run = run,
};
