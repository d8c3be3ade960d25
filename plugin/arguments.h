/* The parsed words of one command line: what plugin/dispatch.c makes and plugin/command.h's accessors read. */
#ifndef ARGUS_PLUGIN_ARGUMENTS_H
#define ARGUS_PLUGIN_ARGUMENTS_H

#include "plugin/command.h"

/* Parses what follows the command's name. `argv` is copied; `argv[argc]` need not be NULL.
 * "--help" is known to every command: arguments_has(…, "help"). */
struct argus_error *arguments_parse(const struct command *command, int argc,
                                    const char *const *argv, struct arguments **ret);
void arguments_destroy(struct arguments *arguments);

/* The command whose words they are. */
const struct command *arguments_command(const struct arguments *arguments);
/* The option that was given as number `index`; `*ret_value` is NULL for a switch. False behind the last. Borrowed. */
bool arguments_given(const struct arguments *arguments, size_t index, const char **ret_name,
                     const char **ret_value);
/* Puts `word` (from malloc, taken) in front of the words. */
struct argus_error *arguments_insert_first(struct arguments *arguments, char *word);
/* Moves the word `index` to the front. */
void arguments_move_first(struct arguments *arguments, size_t index);
/* Writes a word as a shell takes it. */
void arguments_write_quoted(const char *word, FILE *out);

/* What every command with COMMAND_GRAPH takes besides its own: arguments_has(…, "no-cache"). A row here, and a line in the section
 * GRAPH OPTIONS of argus.1.md. */
extern const struct command_option command_options_graph[];

/* --help itself. */
extern const struct command_option command_option_help;

#endif
