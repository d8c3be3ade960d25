#include "plugin/lldb/host.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>

#include "plugin/answers/prompt.h"
#include "plugin/flags/flag_session.h"
#include "plugin/lldb/lldb_stepper.h"
#include "plugin/lldb/watch.h"

namespace
{

/* One per debugger of the process, because an IDE may have several. */
struct entry {
    lldb::user_id_t debugger_id;
    struct session session;
    unsigned users; /* threads that use it apart from the debugger's own; the last one ends it if
                       is_gone */
    bool is_gone;
    struct entry *next;
};

enum { MOST_DEBUGGERS = 64, MOST_FLAGS = 16 };

std::mutex entries_lock;
struct entry *entries;
pid_t creator; /* the process whose sessions these are: a child that it forks has copies */

bool interrupted(void *data)
{
    auto *call = static_cast<host_call *>(data);
    return call->debugger.GetCommandInterpreter().WasInterrupted();
}

void remark(void *data, const char *level, const char *text)
{
    auto *call = static_cast<host_call *>(data);
    if (*level || call->is_json) /* warnings are not part of the output */
        call->result.AppendWarning(text);
    else
        call->result.AppendMessage(text);
}

bool is_terminal(FILE *file)
{
    return file && isatty(fileno(file));
}

/* Only on a terminal. Elsewhere, LLDB's output is a protocol or a log. */
void progress(void *data, const char *what, uint64_t done, uint64_t total)
{
    auto *call = static_cast<host_call *>(data);
    FILE *out = call->debugger.GetOutputFileHandle();
    if (!is_terminal(out))
        return;
    fprintf(out, "\r\033[K");
    if (what && total)
        fprintf(out, "argus: %s %u %%", what, static_cast<unsigned>(100 * done / total));
    else if (what)
        fprintf(out, "argus: %s", what);
    fflush(out);
}

/* LLDB's input may be a script, a pipe of -o commands or a DAP stream. Reading from it would
 * consume the next command or block the host. Only a terminal under an active interpreter is safe.
 * Xcode runs commands in lldb-rpc-server, whose reader thread holds the file's lock. */
bool can_ask(void *data)
{
    auto *call = static_cast<host_call *>(data);
#ifdef __APPLE__
    if (!strcmp(getprogname(), "lldb-rpc-server"))
        return false;
#endif
    return is_terminal(call->debugger.GetInputFileHandle()) &&
           call->debugger.GetOutputFileHandle() &&
           call->debugger.GetCommandInterpreter().IsActive();
}

bool read_line(void *data, const char *text, const char *prompt, char *ret, size_t ret_bytes)
{
    auto *call = static_cast<host_call *>(data);
    FILE *out = call->debugger.GetOutputFileHandle();
    fputs(text, out);
    return prompt_read_line(call->debugger.GetInputFileHandle(), out, prompt, interrupted, data,
                            ret, ret_bytes);
}

/* With the lock. */
struct entry *find_entry(lldb::user_id_t debugger_id)
{
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (entry->debugger_id == debugger_id)
            return entry;
    return nullptr;
}

void end_entry(struct entry *entry)
{
    session_deinit(&entry->session);
    free(entry);
}

void release_entry(struct entry *entry)
{
    std::unique_lock<std::mutex> guard(entries_lock);
    bool ends = --entry->users == 0 && entry->is_gone;
    guard.unlock();
    if (ends)
        end_entry(entry);
}

/* While a flag is watched, the process would end at its next access: LLDB leaves watchpoints
 * behind. */
void end_watches(struct entry *entry, bool stops)
{
    lldb::SBDebugger debugger =
        lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(entry->debugger_id));
    if (debugger.IsValid())
        watch_end(&entry->session, debugger, 0, stops);
}

void forget(lldb::user_id_t debugger_id, void *)
{
    std::unique_lock<std::mutex> guard(entries_lock);
    struct entry *gone = find_entry(debugger_id);
    if (!gone)
        return;
    gone->users++;
    guard.unlock();
    end_watches(gone, true);
    guard.lock();
    for (struct entry **link = &entries; *link; link = &(*link)->next)
        if (*link == gone) {
            *link = gone->next;
            break;
        }
    gone->is_gone = true;
    guard.unlock();
    release_entry(gone);
}

/* SBDebugger::AddDestroyCallback exists since LLDB 19, SetDestroyCallback before. They are looked
 * up by name, so that the plugin loads in all versions. */
void watch_for_destruction(lldb::SBDebugger &debugger)
{
    /* lldb::callback_token_t, which older headers lack, is int32_t. */
    using add_callback = int32_t (*)(lldb::SBDebugger *, void (*)(lldb::user_id_t, void *), void *);
    void *symbol = dlsym(RTLD_DEFAULT, "_ZN4lldb10SBDebugger18AddDestroyCallbackEPFvmPvES1_");
    if (symbol)
        reinterpret_cast<add_callback>(symbol)(&debugger, forget, nullptr);
    using set_callback = void (*)(lldb::SBDebugger *, void (*)(lldb::user_id_t, void *), void *);
    void *older = dlsym(RTLD_DEFAULT, "_ZN4lldb10SBDebugger18SetDestroyCallbackEPFvmPvES1_");
    if (!symbol && older)
        reinterpret_cast<set_callback>(older)(&debugger, forget, nullptr);
}

struct entry *create_entry(lldb::SBDebugger &debugger)
{
    auto *entry = static_cast<struct entry *>(calloc(1, sizeof(struct entry)));
    if (!entry)
        return nullptr;
    struct session_host host = {nullptr,   interrupted, remark,   progress,
                                read_line, can_ask,     lldb_step};
    session_init(&entry->session, &host, nullptr);
    entry->session.in_lldb = true;
    entry->session.watches = &lldb_watches;
    entry->session.host_version = lldb::SBDebugger::GetVersionString();
    entry->debugger_id = debugger.GetID();
    creator = getpid();
    entry->next = entries;
    entries = entry;
    return entry;
}

/* The process whose flags the session watches; 0: there are none, or several. With the lock. */
uint64_t watched_process(const struct session *session)
{
    struct flag_session_row rows[MOST_FLAGS];
    size_t count = session->flags ? flag_session_rows(session->flags, rows, MOST_FLAGS) : 0;
    for (size_t i = 1; i < count; i++)
        if (rows[i].pid != rows[0].pid)
            return 0;
    return count ? rows[0].pid : 0;
}

bool has_flags(const struct session *session)
{
    struct flag_session_row row;
    return session->flags && flag_session_rows(session->flags, &row, 1);
}

/* The only session with flags, if these are of one process. It has a user more. */
struct entry *hold_lone_watcher(uint64_t *ret_pid)
{
    struct entry *found = nullptr;
    std::lock_guard<std::mutex> guard(entries_lock);
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (!has_flags(&entry->session))
            continue;
        if (found)
            return nullptr;
        found = entry;
    }
    *ret_pid = found ? watched_process(&found->session) : 0;
    if (!*ret_pid)
        return nullptr;
    found->users++;
    return found;
}

/* Whether a debugger with a session has another process. No call here waits for a target's lock,
 * which another thread may have. */
bool has_other_process(uint64_t pid)
{
    lldb::user_id_t ids[MOST_DEBUGGERS];
    size_t count = 0;
    std::unique_lock<std::mutex> guard(entries_lock);
    for (struct entry *entry = entries; entry; entry = entry->next) {
        if (count == MOST_DEBUGGERS)
            return true;
        ids[count++] = entry->debugger_id;
    }
    guard.unlock();
    for (size_t i = 0; i < count; i++) {
        lldb::SBDebugger debugger = lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(ids[i]));
        for (uint32_t k = 0; debugger.IsValid() && k < debugger.GetNumTargets(); k++) {
            lldb::pid_t other = debugger.GetTargetAtIndex(k).GetProcess().GetProcessID();
            if (other != LLDB_INVALID_PROCESS_ID && other != pid)
                return true;
        }
    }
    return false;
}

} // namespace

void host_end_watches()
{
    uint64_t pid;
    struct entry *entry = hold_lone_watcher(&pid);
    if (!entry)
        return;
    if (!has_other_process(pid))
        end_watches(entry, false);
    release_entry(entry);
}

/* At exit() nobody else has ended the files where LLDB does not report its end. Other threads of
 * LLDB may still run, or may have ended while they had a lock. */
__attribute__((destructor)) static void end_files()
{
    if (getpid() != creator)
        return;
    std::unique_lock<std::mutex> guard(entries_lock, std::try_to_lock);
    if (!guard.owns_lock())
        return;
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (entry->session.flags)
            flag_session_end_file(entry->session.flags);
}

struct session *host_known_session(lldb::SBDebugger &debugger)
{
    std::lock_guard<std::mutex> guard(entries_lock);
    struct entry *entry = find_entry(debugger.GetID());
    return entry ? &entry->session : nullptr;
}

struct session *host_session(lldb::SBDebugger &debugger)
{
    std::unique_lock<std::mutex> guard(entries_lock);
    struct entry *entry = find_entry(debugger.GetID());
    if (entry)
        return &entry->session;
    entry = create_entry(debugger);
    guard.unlock();
    if (!entry)
        return nullptr;
    watch_for_destruction(debugger);
    watch_for_detach(debugger);
    return &entry->session;
}

void host_begin(struct session *session, struct host_call *call, FILE *out)
{
    session->host.data = call;
    session->out = out;
    session->colour =
        call->debugger.GetUseColor() && is_terminal(call->debugger.GetOutputFileHandle());
    session->width = session->colour ? call->debugger.GetTerminalWidth() : 0;
}
