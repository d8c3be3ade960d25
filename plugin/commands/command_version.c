#include "plugin/command.h"

#include <jansson.h>

#include "argus/trace.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (error)
        return error;
    const char *host = session->host_version ? session->host_version : "";
    if (arguments_has(arguments, "json"))
        return json_output(session, json_pack("{s:s, s:s, s:s}", "version", ARGUS_VERSION, "format",
                                              ARGUS_TRACE_VERSION_TEXT, "host", host));
    session_printf(session, "argus %s, trace format %s%s%s\n", ARGUS_VERSION,
                   ARGUS_TRACE_VERSION_TEXT, *host ? ", in " : "", host);
    return NULL;
}

const struct command command_version = {
    .name = "version",
    .summary = "print the versions of Argus, of the trace format and of the host",
    .example = "argus version",
    .options = options,
    .run = run,
};
