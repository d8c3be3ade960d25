/* The front end's side of sessions inside LLDB: one session per debugger, and its host
 * functions. */
#ifndef ARGUS_PLUGIN_LLDB_HOST_H
#define ARGUS_PLUGIN_LLDB_HOST_H

#include <lldb/API/LLDB.h>

#include "plugin/session.h"

/* The session of `debugger`, created at its first use; nullptr without memory. It exists until the
 * debugger is destroyed, if LLDB reports that (19 and later), or until the process ends. */
struct session *host_session(lldb::SBDebugger &debugger);

/* The same, but nullptr if there is none yet. */
struct session *host_known_session(lldb::SBDebugger &debugger);

/* LLDB is about to let go of a process, which it does not name: if there is only one, and it stands
 * still, stops watching its flags, and says so. With several it does nothing: the others' flags are
 * still needed, and other threads work with them. */
void host_end_watches();

/* Context of the running command: the `data` of the host functions. */
struct host_call {
    lldb::SBDebugger &debugger;
    lldb::SBCommandReturnObject &result;
    bool is_json; /* the output is one JSON value: remarks go elsewhere */
};

/* Prepares `session` for a command that begins; `out` gets its text. */
void host_begin(struct session *session, struct host_call *call, FILE *out);

#endif
