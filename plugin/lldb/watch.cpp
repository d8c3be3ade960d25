/* Watchpoints by the SB API.
 *
 * No version of the API has a watchpoint callback in C++. The only callback that lets the process
 * continue and prints nothing is a Python function that returns False. So each watchpoint gets one
 * that passes its number and the thread to a command of the plugin, and everything else is done
 * here. (Measured in shared/reference/lldb.md: 1.5 ms per hit; a loop in the plugin that continues
 * the process would take 1.1 ms and print four lines each time.)
 */
#include "plugin/lldb/watch.h"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "plugin/flags/flag_session.h"
#include "plugin/lldb/host.h"
#include "plugin/lldb/leaving.h"

namespace
{

const char CALLBACK[] =
    "script exec('''def argus_watch_hit(frame, watchpoint, values):\\n"
    "    import lldb\\n"
    "    thread = frame.GetThread()\\n"
    "    debugger = thread.GetProcess().GetTarget().GetDebugger()\\n"
    "    line = 'argus watchflag " WATCH_HIT
    " %d %d %d' % (watchpoint.GetID(), thread.GetThreadID(), "
    "thread.GetProcess().GetProcessID())\\n"
    "    debugger.GetCommandInterpreter().HandleCommand(line, lldb.SBCommandReturnObject())\\n"
    "    return False\\n''', globals())";

lldb::SBDebugger &debugger_of(void *data)
{
    return static_cast<host_call *>(data)->debugger;
}

lldb::SBTarget target_of(void *data)
{
    return debugger_of(data).GetSelectedTarget();
}

/* Not by SBProcess::IsValid(): of a process that LLDB is about to let go of it says no. */
lldb::SBTarget target_with(lldb::SBDebugger &debugger, uint64_t pid)
{
    for (uint32_t i = 0; i < debugger.GetNumTargets(); i++) {
        lldb::SBTarget target = debugger.GetTargetAtIndex(i);
        if (target.GetProcess().GetProcessID() == pid)
            return target;
    }
    return lldb::SBTarget();
}

bool has_process(void *data, uint64_t pid)
{
    lldb::SBTarget target = target_with(debugger_of(data), pid);
    lldb::StateType state = target.IsValid() ? target.GetProcess().GetState() : lldb::eStateInvalid;
    return state != lldb::eStateInvalid && state != lldb::eStateExited &&
           state != lldb::eStateDetached && state != lldb::eStateUnloaded;
}

struct argus_error *wrong(const char *what, const char *why)
{
    return argus_error_create(ARGUS_ERROR_USAGE, "%s: %s", what,
                              why && *why ? why : "LLDB does not say why");
}

struct argus_error *run(lldb::SBDebugger &debugger, const char *line)
{
    lldb::SBCommandReturnObject result;
    debugger.GetCommandInterpreter().HandleCommand(line, result);
    return result.Succeeded() ? nullptr : wrong("LLDB cannot call back", result.GetError());
}

uint64_t selected_pid(void *data)
{
    lldb::SBProcess process = target_of(data).GetProcess();
    lldb::pid_t pid = process.IsValid() ? process.GetProcessID() : LLDB_INVALID_PROCESS_ID;
    return pid != LLDB_INVALID_PROCESS_ID && has_process(data, pid) ? pid : 0;
}

struct argus_error *process(void *data, uint64_t *ret_pid, char *ret_name, size_t room)
{
    lldb::SBProcess process = target_of(data).GetProcess();
    if (!process.IsValid() || process.GetProcessID() == LLDB_INVALID_PROCESS_ID)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "there is no process yet: run or attach first (argus watchflag "
                                  "PID … watches other processes)");
    if (process.GetState() != lldb::eStateStopped)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the process runs: stop it first (process interrupt)");
    const char *name = target_of(data).GetExecutable().GetFilename();
    *ret_pid = process.GetProcessID();
    snprintf(ret_name, room, "%.15s", name ? name : "");
    return nullptr;
}

/* "libfoo" matches libfoo.so.1, as in the shell. */
bool is_meant(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);
    return name && strncmp(name, wanted, length) == 0 &&
           (!name[length] || name[length] == '.' || name[length] == '-');
}

struct argus_error *find_symbol(void *data, const char *image, const char *name,
                                uint64_t *ret_address, uint64_t *ret_bytes)
{
    lldb::SBTarget target = target_of(data);
    const char *slash = strrchr(image, '/');
    for (uint32_t i = 0; i < target.GetNumModules(); i++) {
        lldb::SBModule module = target.GetModuleAtIndex(i);
        if (!is_meant(module.GetFileSpec().GetFilename(), slash ? slash + 1 : image))
            continue;
        lldb::SBSymbol symbol = module.FindSymbol(name, lldb::eSymbolTypeData);
        if (!symbol.IsValid())
            return argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s has no variable '%s'", image,
                                      name);
        *ret_address = symbol.GetStartAddress().GetLoadAddress(target);
        *ret_bytes =
            symbol.GetEndAddress().GetFileAddress() - symbol.GetStartAddress().GetFileAddress();
        return nullptr;
    }
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the process has no file '%s' mapped", image);
}

struct argus_error *find_value(lldb::SBValue value, uint64_t *ret_address, uint64_t *ret_bytes)
{
    *ret_address = value.GetLoadAddress();
    *ret_bytes = value.GetByteSize();
    return *ret_address == LLDB_INVALID_ADDRESS || !*ret_address
               ? argus_error_create(ARGUS_ERROR_USAGE,
                                    "it is not in memory: a register, or a value")
               : nullptr;
}

/* "$rip", "$1". LLDB gives a result of its own an address, where nothing of the program is. */
bool is_register(const char *name)
{
    if (name[0] != '$')
        return false;
    for (const char *at = name + 1; *at; at++)
        if (!isalnum(static_cast<unsigned char>(*at)) && *at != '_')
            return false;
    return true;
}

/* Tries a path as for `frame variable`, then a global variable, then an expression. */
struct argus_error *find(void *data, const char *image, const char *name, uint64_t *ret_address,
                         uint64_t *ret_bytes)
{
    if (image)
        return find_symbol(data, image, name, ret_address, ret_bytes);
    if (is_register(name))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%s: it is a register or a value of LLDB, not in memory", name);
    lldb::SBTarget target = target_of(data);
    lldb::SBFrame frame = target.GetProcess().GetSelectedThread().GetSelectedFrame();
    lldb::SBValue value = frame.GetValueForVariablePath(name);
    if (!value.IsValid() || value.GetError().Fail())
        value = target.FindFirstGlobalVariable(name);
    if (!value.IsValid() || value.GetError().Fail())
        value = frame.IsValid() ? frame.EvaluateExpression(name) : target.EvaluateExpression(name);
    if (!value.IsValid() || value.GetError().Fail())
        return wrong(name, value.GetError().GetCString());
    struct argus_error *error = find_value(value, ret_address, ret_bytes);
    return error ? argus_error_context(error, "%s", name) : nullptr;
}

bool read(void *data, uint64_t address, uint32_t bytes, uint64_t *ret)
{
    lldb::SBError error;
    *ret = 0;
    return target_of(data).GetProcess().ReadMemory(address, ret, bytes, error) == bytes &&
           error.Success();
}

void unset(void *data, uint64_t pid, uint32_t watch)
{
    lldb::SBTarget target = target_with(debugger_of(data), pid);
    if (target.IsValid())
        target.DeleteWatchpoint(static_cast<lldb::watch_id_t>(watch));
}

/* From LLDB 19 on, a write-only watchpoint does not report writes of the same value; no version
 * says so. */
struct argus_error *set(void *data, uint64_t address, uint32_t bytes, bool writes_only,
                        uint32_t *ret_watch)
{
    char line[160];
    lldb::SBError failed;
    lldb::SBDebugger &debugger = debugger_of(data);
    if (debugger.GetScriptLanguage() != lldb::eScriptLanguagePython)
        return argus_error_create(
            ARGUS_ERROR_UNSUPPORTED,
            "this LLDB has no Python, which calls back at a watchpoint: use the "
            "recorder (argus watchflag PID …)");
    struct argus_error *error = run(debugger, CALLBACK);
    if (error)
        return error;
    lldb::SBWatchpoint watchpoint =
        target_of(data).WatchAddress(address, bytes, !writes_only, true, failed);
    if (failed.Fail() || !watchpoint.IsValid())
        return wrong("no watchpoint could be set (the processor has four)", failed.GetCString());
    *ret_watch = static_cast<uint32_t>(watchpoint.GetID());
    /* Not -F argus_watch_hit: LLDB 14 and 16 do not look at what that returns, and stops. */
    snprintf(line, sizeof(line),
             "watchpoint command add -s python -o "
             "'return argus_watch_hit(frame, wp, internal_dict)' %u",
             *ret_watch);
    leaving_watch();
    error = run(debugger, line);
    if (error)
        target_of(data).DeleteWatchpoint(static_cast<lldb::watch_id_t>(*ret_watch));
    return error;
}

/* Prints one line without disturbing what the user is typing. */
void say(lldb::SBDebugger &debugger, const char *text)
{
    lldb::SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
    lldb::SBEvent event(lldb::SBCommandInterpreter::eBroadcastBitAsynchronousErrorData, text,
                        static_cast<uint32_t>(strlen(text)));
    interpreter.GetBroadcaster().BroadcastEvent(event);
}

} // namespace

const struct session_watches lldb_watches = {find, set,     unset,       has_process,
                                             read, process, selected_pid};

static bool is_running(lldb::SBProcess process)
{
    return process.GetState() == lldb::eStateRunning || process.GetState() == lldb::eStateStepping;
}

void watch_end(struct session *session, lldb::SBDebugger &debugger, uint64_t pid, bool stops)
{
    struct flag_session_row rows[16];
    size_t count = session->flags ? flag_session_rows(session->flags, rows, 16) : 0;
    FILE *out = debugger.GetErrorFileHandle();
    for (size_t i = 0; i < count; i++) {
        lldb::SBTarget target = target_with(debugger, rows[i].pid);
        if ((pid && rows[i].pid != pid) || !target.IsValid())
            continue;
        /* Removing a watchpoint of a process that runs does not reach its processor registers. */
        bool runs = is_running(target.GetProcess());
        if (runs && !stops)
            continue;
        if (runs)
            target.GetProcess().Stop();
        target.DeleteWatchpoint(static_cast<lldb::watch_id_t>(rows[i].watch));
        flag_session_remove(session->flags, rows[i].pid, rows[i].watch);
        if (out)
            fprintf(
                out,
                "argus: warning: flag %u, %s, is not watched any more: LLDB leaves the process\n",
                rows[i].watch, rows[i].label);
    }
}

static bool on_detach(void *baton, const char **)
{
    auto id = static_cast<lldb::user_id_t>(reinterpret_cast<uintptr_t>(baton));
    lldb::SBDebugger debugger = lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(id));
    if (!debugger.IsValid())
        return false;
    struct session *session = host_known_session(debugger);
    if (session)
        watch_end(session, debugger, debugger.GetSelectedTarget().GetProcess().GetProcessID(),
                  true);
    return false; /* LLDB itself detaches */
}

void watch_for_detach(lldb::SBDebugger &debugger)
{
    void *baton = reinterpret_cast<void *>(static_cast<uintptr_t>(debugger.GetID()));
    debugger.GetCommandInterpreter().SetCommandOverrideCallback("process detach", on_detach, baton);
}

void watch_on_hit(struct session *session, lldb::SBDebugger &debugger, char **argv)
{
    struct flag_session_hit hit = {};
    lldb::SBError error;
    if (!session->flags || !argv[1] || !argv[2] || !argv[3])
        return;
    hit.pid = strtoull(argv[3], nullptr, 10);
    lldb::SBTarget target = target_with(debugger, hit.pid);
    lldb::SBProcess process = target.GetProcess();
    hit.watch = static_cast<uint32_t>(strtoul(argv[1], nullptr, 10));
    hit.tid = strtoull(argv[2], nullptr, 10);
    lldb::SBWatchpoint watchpoint =
        target.FindWatchpointByID(static_cast<lldb::watch_id_t>(hit.watch));
    lldb::SBThread thread = process.GetThreadByID(hit.tid);
    if (!watchpoint.IsValid() || !thread.IsValid())
        return;
    size_t bytes = watchpoint.GetWatchSize() < 8 ? watchpoint.GetWatchSize() : 8;
    process.ReadMemory(watchpoint.GetWatchAddress(), &hit.value, bytes, error);
    uint32_t frames = thread.GetNumFrames();
    for (; hit.frame_count < frames && hit.frame_count < FLAG_SESSION_FRAMES; hit.frame_count++)
        hit.frames[hit.frame_count] = thread.GetFrameAtIndex(hit.frame_count).GetPC();
    if (flag_session_on_hit(session->flags, &hit))
        say(debugger,
            "argus: this flag is touched more than 200 times a second, each of which stops the "
            "process: the recorder (argus watchflag PID ...) does not\n");
}
