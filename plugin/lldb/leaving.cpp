#include "plugin/lldb/leaving.h"

#include <cstdio>
#include <cstring>
#include <lldb/API/LLDB.h>
#include <mutex>

#include "plugin/lldb/host.h"

namespace
{

/* ProcessGDBRemote.cpp of LLDB 14 to 22: "ProcessGDBRemote::DoDetach(keep_stopped: 0)". */
const char DETACHES[] = "::DoDetach(keep_stopped";

thread_local bool is_inside; /* to remove a watchpoint writes to the log, too */

void on_log(const char *text, void *)
{
    if (is_inside || !text || !strstr(text, DETACHES))
        return;
    is_inside = true;
    host_end_watches();
    is_inside = false;
}

} // namespace

void leaving_watch()
{
    static std::once_flag once;
    static lldb::SBDebugger *listener; /* exists as long as the process does */
    std::call_once(once, [] {
        listener = new lldb::SBDebugger(lldb::SBDebugger::Create(false, on_log, nullptr));
        FILE *nothing = fopen("/dev/null", "w");
        if (!listener->IsValid() || !nothing)
            return;
        /* else LLDB's diagnostics for all debuggers also come from this one */
        listener->SetOutputFileHandle(nothing, false);
        listener->SetErrorFileHandle(nothing, false);
    });
    const char *categories[] = {"process", nullptr};
    if (listener->IsValid())
        listener->EnableLog("gdb-remote", categories);
}
