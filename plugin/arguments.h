/* The parsed words of one command line: what plugin/dispatch.c makes and plugin/command.h's accessors read. */
#ifndef ARGUS_PLUGIN_ARGUMENTS_H
#define ARGUS_PLUGIN_ARGUMENTS_H

#include "plugin/command.h"

/* Parses what follows the command's name. `argv` is copied; `argv[argc]` need not be NULL.
 * "--help" is known to every command: arguments_has(…, "help"). */
struct argus_error *arguments_parse(const struct command *command, int argc,
                                    const char *const *argv, struct arguments **ret);
void arguments_destroy(struct arguments *arguments);

/* What every command with COMMAND_GRAPH takes besides its own: arguments_has(…, "no-cache"). A row here, and a line in the section
 * GRAPH OPTIONS of argus.1.md. */
extern const struct command_option command_options_graph[];

/* --help itself. */
extern const struct command_option command_option_help;

#endif
