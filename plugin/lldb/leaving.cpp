#include "plugin/lldb/leaving.h"

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
    std::call_once(once, [] {
        const char *categories[] = {"process", nullptr};
        lldb::SBDebugger listener = lldb::SBDebugger::Create(false, on_log, nullptr);
        if (listener.IsValid())
            listener.EnableLog("gdb-remote", categories);
    });
}
