/* LLDB's watchpoints for plugin/flags/flag_watch.c. */
#ifndef ARGUS_PLUGIN_LLDB_WATCH_H
#define ARGUS_PLUGIN_LLDB_WATCH_H

#include <lldb/API/LLDB.h>

#include "plugin/session.h"

extern const struct session_watches lldb_watches;

/* The command that a watchpoint's callback runs: "argus watchflag" WATCH_HIT NUMBER TID. */
#define WATCH_HIT "_hit"
void watch_on_hit(struct session *session, lldb::SBDebugger &debugger, char **argv);

#endif
