/* What a shell can offer for a word of an argus command line, from the tables that --help is made of. The scripts in
 * share/completion run `argus --complete WORD…` each time that Tab is pressed, so they know every option of the program that
 * is installed and cannot be out of date.
 */
#ifndef ARGUS_PLUGIN_COMPLETION_H
#define ARGUS_PLUGIN_COMPLETION_H

#include "plugin/session.h"

#define COMPLETION_WORD "--complete"

/* Prints what the last of `argv` can become; the words before it (without "argus") are complete. A line is one of
 *
 *     WORD <tab> HELP          the whole word, which begins with what was typed; no blank behind it if it ends in "="
 *     :files <tab> PATTERN     names of files that match PATTERN, and folders
 *     :command <tab> N         argv[N] and what follows are the command line of another program
 *
 * Of "--option=VALUE" candidates have the option in front, and :files means VALUE. */
void completion_print(struct session *session, int argc, const char *const *argv);

/* One position of a usage line: which words or names it takes. "FILE|none", "CATEGORIES", "w|rw": lower case and digits stand
 * for themselves (completion_values.c). `name` is that of an option or of a command. `given` is what was typed of the value,
 * and `prefix` what stands before it in the same word ("--format=" or ""). */
void completion_print_values(struct session *session, const char *name, const char *value,
                             const char *prefix, const char *given);

/* The candidate `prefix` + `word`, if it begins with `prefix` + `given`. */
void completion_offer(struct session *session, const char *prefix, const char *word,
                      const char *given, const char *help);

/* What the arguments of a command's usage line ("[NORMAL] BAD", "PID (ADDRESS | IMAGE SYMBOL)") have at a position, counted
 * from 0, alternatives joined by "|"; false behind the last. Options are passed over with what follows them. */
bool completion_usage_word(const char *usage, size_t position, char *ret, size_t room);

#endif
