/* Finds the word of a command line that is the trace, and chooses a trace if none is given. */
#ifndef ARGUS_PLUGIN_TRACE_CHOICE_H
#define ARGUS_PLUGIN_TRACE_CHOICE_H

#include "plugin/arguments.h"

/* Whether `word` names a trace: it ends in .argus or names an existing file. */
bool trace_choice_is_file(const char *word);
/* Whether `word` is something a command takes in addition to the trace: "v1234", "2", or answers
 * such as "1,stop". */
bool trace_choice_is_selector(const char *word);

/* Completes the words of a command that reads a trace, so that FILE comes first:
 * - `diagnose v12 freeze.argus`: FILE moves to the front;
 * - in the shell, without FILE: inserts the newest *.argus of the current folder, and a remark says
 *   so.
 * In LLDB nothing is chosen: the loaded trace is meant, and LLDB's current folder is arbitrary. */
struct argus_error *trace_choice_complete(struct session *session, struct arguments *arguments);

/* The newest *.argus of the current folder, with a remark that says so. NOT_FOUND: none. For
 * free(). */
struct argus_error *trace_choice_newest(struct session *session, char **ret);

#endif
