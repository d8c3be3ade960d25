/* LLDB's watchpoints for plugin/flags/flag_watch.c. */
#ifndef ARGUS_PLUGIN_LLDB_WATCH_H
#define ARGUS_PLUGIN_LLDB_WATCH_H

#include <lldb/API/LLDB.h>

#include "plugin/session.h"

extern const struct session_watches lldb_watches;

/* The command that a watchpoint's callback runs: "argus watchflag" WATCH_HIT NUMBER TID PID. */
#define WATCH_HIT "_hit"
void watch_on_hit(struct session *session, lldb::SBDebugger &debugger, char **argv);

/* Stops watching the flags of process `pid` (0: of all), and says so. LLDB leaves watchpoints in a
 * process that it detaches from, and the next access would end it by SIGTRAP. `stops`: also of
 * processes that run, which are stopped. */
void watch_end(struct session *session, lldb::SBDebugger &debugger, uint64_t pid, bool stops);
/* Does that before each "process detach" of the debugger. */
void watch_for_detach(lldb::SBDebugger &debugger);

#endif
