#include "plugin/analysis.h"

static const struct command_option options[] = {
    {"process", 0, "NAME", "only channels that a process of this name sends to or receives from"},
    {"pairs", 0, NULL, "list every pair too: who sent when, and who received which bytes of it"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static bool write_out(void *context, const char *text, size_t bytes)
{
    struct session *session = context;
    return fwrite(text, 1, bytes, session->out) == bytes;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    size_t next;
    struct session_trace *trace;
    struct argus_report_messages_options wanted = {
        .process = arguments_option(arguments, "process"),
        .pairs = arguments_has(arguments, "pairs"),
    };
    struct argus_sink sink = {write_out, session, (int)session->width, session->colour};
    struct argus_error *error = session_trace_get(session, arguments, &next, &trace);
    if (!error)
        error = arguments_expect(arguments, next, next);
    if (!error)
        error =
            argus_report_messages(&sink, trace->trace, &wanted, arguments_has(arguments, "json"));
    return error;
}

const struct command command_messages = {
    .name = "messages",
    .summary = "list what was sent through pipes, sockets and the like, and who received it",
    .details = "One channel is one direction of a pipe, of a socket connection, or one object\n"
               "such as an eventfd. A pair joins what one thread sent and another received;\n"
               "it is exact when the records prove it, and ambiguous where several\n"
               "assignments are possible. What has no partner is counted with the reason.\n"
               "argus-trace(5), section MESSAGES, says what each kind can tell; signalfd and\n"
               "timerfd have no sending end and are only counted.",
    .example = "argus messages freeze.argus\n"
               "argus messages --process=gedit --pairs freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
