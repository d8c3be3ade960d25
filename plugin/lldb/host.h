/* The front end's side of a session inside LLDB: one session for each debugger, and its host functions. */
#ifndef ARGUS_PLUGIN_LLDB_HOST_H
#define ARGUS_PLUGIN_LLDB_HOST_H

#include <lldb/API/LLDB.h>

#include "plugin/session.h"

/* The session of `debugger`, made at its first use; nullptr without memory. It lives until the debugger is destroyed,
 * where LLDB tells us so (19 and later), or until the process ends. */
struct session *host_session(lldb::SBDebugger &debugger);

/* What the running command talks to: the host functions' `data`. */
struct host_call {
    lldb::SBDebugger &debugger;
    lldb::SBCommandReturnObject &result;
};

/* Points `session` at the command that begins, with `out` for its text. */
void host_begin(struct session *session, struct host_call *call, FILE *out);

#endif
