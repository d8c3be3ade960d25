#include "plugin/command.h"

#include <string.h>

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    int count = (int)arguments_count(arguments), words;
    if (arguments_has(arguments, "json")) {
        struct argus_error *error = arguments_expect(arguments, 0, 0);
        return error ? error : help_print_json(session);
    }
    if (!count) {
        help_print_all(session);
        return NULL;
    }
    const char *const *argv = (const char *const *)arguments_argv(arguments, 0);
    const struct command *command = command_find(count, argv, &words);
    if (!command || words != count)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "help: no command '%s%s%s' ('argus help' lists them)", argv[0],
                                  count > 1 ? " " : "", count > 1 ? argv[1] : "");
    help_print_command(session, command);
    return NULL;
}

const struct command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "list the commands, or explain one",
    .details = "With --json: what --help says of every command, and the man pages are made of.",
    .example = "argus help graph\nargus help graph show",
    .options = options,
    .run = run,
};
