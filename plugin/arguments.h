/* The parsed words of a command line. plugin/dispatch.c creates them, and the accessors of
 * plugin/command.h read them. */
#ifndef ARGUS_PLUGIN_ARGUMENTS_H
#define ARGUS_PLUGIN_ARGUMENTS_H

#include "plugin/command.h"

/* Parses what follows the command's name. `argv` is copied; `argv[argc]` need not be NULL. Every
 * command accepts "--help": arguments_has(…, "help"). */
struct argus_error *arguments_parse(const struct command *command, int argc,
                                    const char *const *argv, struct arguments **ret);
void arguments_destroy(struct arguments *arguments);

/* The command that these arguments are for. */
const struct command *arguments_command(const struct arguments *arguments);
/* The option with index `index` in the order of the command line; `*ret_value` is NULL for a
 * switch. False after the last one. Borrowed. */
bool arguments_given(const struct arguments *arguments, size_t index, const char **ret_name,
                     const char **ret_value);
/* Inserts `word` (from malloc; ownership passes) before the other words. */
struct argus_error *arguments_insert_first(struct arguments *arguments, char *word);
/* Moves the word `index` to the front. */
void arguments_move_first(struct arguments *arguments, size_t index);
/* Writes a word so that a shell reads it back. */
void arguments_write_quoted(const char *word, FILE *out);

/* The options of every command with COMMAND_GRAPH, in addition to its own: arguments_has(…,
 * "no-cache"). To add one: a row here, and a line in the section GRAPH OPTIONS of argus.1.md. */
extern const struct command_option command_options_graph[];

/* The option --help itself. */
extern const struct command_option command_option_help;

#endif
