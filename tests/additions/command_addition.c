/* Added by tests/additions: a command. */
#include "plugin/command.h"

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        session_printf(session, "the addition works\n");
    return error;
}

const struct command command_addition = {
    .name = "addition",
    .summary = "say that the addition works",
    .example = "argus addition",
    .run = run,
};
