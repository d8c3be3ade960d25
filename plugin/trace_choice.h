/* Which word of a command line is the trace, and which trace is meant when none is. */
#ifndef ARGUS_PLUGIN_TRACE_CHOICE_H
#define ARGUS_PLUGIN_TRACE_CHOICE_H

#include "plugin/arguments.h"

/* Whether `word` names the trace: a word that ends in .argus or names an existing file. */
bool trace_choice_is_file(const char *word);
/* Whether `word` is what a command takes beside the trace: "v1234", "2", and answers such as "1,stop". */
bool trace_choice_is_selector(const char *word);

/* Completes the words of a command that reads a trace, so that FILE is the first of them:
 * - `diagnose v12 freeze.argus`: FILE moves to the front;
 * - in the shell, without FILE: the newest *.argus of the current folder is put there, and a remark says so.
 * In LLDB nothing is chosen: what is loaded is meant, and the folder that LLDB runs in is nobody's choice. */
struct argus_error *trace_choice_complete(struct session *session, struct arguments *arguments);

/* The newest *.argus of the current folder, with a remark that says so. NOT_FOUND: there is none. For free(). */
struct argus_error *trace_choice_newest(struct session *session, char **ret);

#endif
