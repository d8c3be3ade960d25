#include "plugin/command.h"

#include <jansson.h>

#include "argus/trace.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    {"short", 0, NULL, "print only the version"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

/* What CMake found when it configured this build (cmake/built_with.cmake). */
static json_t *built_with(void)
{
    return json_pack("{s:s, s:s, s:s}", "compiler", ARGUS_BUILT_COMPILER, "recorder",
                     ARGUS_BUILT_RECORDER, "libraries", ARGUS_BUILT_LIBRARIES);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (error)
        return error;
    const char *host = session->host_version ? session->host_version : "";
    if (arguments_has(arguments, "json"))
        return json_output(session, "argus-version 1",
                           json_pack("{s:s, s:s, s:s, s:o}", "version", ARGUS_VERSION,
                                     "trace_format", ARGUS_TRACE_VERSION_TEXT, "host", host,
                                     "built_with", built_with()));
    session_printf(session, "argus %s, trace format %s%s%s\n", ARGUS_VERSION,
                   ARGUS_TRACE_VERSION_TEXT, *host ? ", in " : "", host);
    if (!arguments_has(arguments, "short"))
        session_printf(session, "compiler: %s\nrecorder: %s\nlibraries: %s\n", ARGUS_BUILT_COMPILER,
                       ARGUS_BUILT_RECORDER, ARGUS_BUILT_LIBRARIES);
    return NULL;
}

const struct command command_version = {
    .name = "version",
    .summary = "print the versions of Argus, of the trace format and of the host",
    .details = "Also what this build was made with: the compilers (of the program, and of the\n"
               "BPF programs in argus-recorder) and the libraries. 'argus --version' is the\n"
               "same, and 'argus -V' and 'argus -v' print only the version.",
    .example = "argus version",
    .options = options,
    .run = run,
};
