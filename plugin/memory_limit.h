/* The memory of the shell's process, limited by the sizes of the files that a command reads.
 *
 * The library checks its memory while it reads records (argus_trace_check_memory()). What is built
 * from them later (an analysis, a page, symbols) has no such check: there, the kernel refuses
 * memory beyond this limit, and the command ends with an error. Inside LLDB there is no limit: it
 * would be the debugger's.
 */
#ifndef ARGUS_PLUGIN_MEMORY_LIMIT_H
#define ARGUS_PLUGIN_MEMORY_LIMIT_H

#include "argus/trace.h"
#include "plugin/session.h"

/* Before `path` is opened: lets the process take what such a file may ask for, besides what it has
 * taken already. Does nothing inside LLDB, and if the user's own limit is lower. */
void memory_limit_for(const struct session *session, const char *path);

/* argus_trace_open(), inside LLDB and other hosts argus_trace_open_shared(). */
struct argus_error *memory_limit_open(const struct session *session, const char *path,
                                      struct argus_trace **ret);

/* After a trace was opened: lets the process also map the files of the programs that it names.
 * libelf maps them writable, which counts as data although it takes no memory, and their debug
 * information may be in second files, or compressed. Does nothing inside LLDB or without a limit.
 */
void memory_limit_for_images(const struct session *session, const struct argus_trace *trace);

/* The same for a file of executed instructions: as much as half of the memory that is free. */
void memory_limit_for_programs(const struct session *session);

/* What to add to the message of an error: how to lift the limit, if that is why there was no
 * memory; otherwise "". */
const char *memory_limit_hint(const struct argus_error *error);

/* In a process that will execute another program: no limit. */
void memory_limit_lift(void);

#endif
