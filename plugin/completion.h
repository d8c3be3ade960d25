/* Shell completion of an argus command line, made from the same tables as --help.
 *
 * The scripts in share/completion run `argus --complete WORD…` each time that Tab is pressed. So
 * they know every option of the installed program and are never out of date.
 */
#ifndef ARGUS_PLUGIN_COMPLETION_H
#define ARGUS_PLUGIN_COMPLETION_H

#include "plugin/session.h"

#define COMPLETION_WORD "--complete"

/* Prints the possible completions of the last word in `argv`. The words before it (without "argus")
 * are complete. Each printed line is one of
 *
 *     WORD <tab> HELP          the whole word, which begins with what was typed; the shell appends
 *                              a blank unless it ends in "="
 *     :files <tab> PATTERN     names of files that match PATTERN, and folders
 *     :command <tab> N         from argv[N] on, the words are the command line of another program
 *
 * For "--option=VALUE", candidates include "--option=", and :files refers to VALUE.
 */
void completion_print(struct session *session, int argc, const char *const *argv);

/* Completes one position of a usage line, which says what it takes: "FILE|none", "CATEGORIES",
 * "w|rw". Lower case and digits are literal values (completion_values.c). `name` is that of an
 * option or of a command. `given` is the part of the value that was typed, and `prefix` is what
 * precedes it in the same word ("--format=" or ""). */
void completion_print_values(struct session *session, const char *name, const char *value,
                             const char *prefix, const char *given);

/* Offers the candidate `prefix` + `word`, if it begins with `prefix` + `given`. */
void completion_offer(struct session *session, const char *prefix, const char *word,
                      const char *given, const char *help);

/* The arguments of a usage line ("[NORMAL] BAD", "PID (ADDRESS | IMAGE SYMBOL)") at a position,
 * counted from 0; alternatives are joined by "|". False after the last position. Options and their
 * arguments are skipped. */
bool completion_usage_word(const char *usage, size_t position, char *ret, size_t room);

#endif
