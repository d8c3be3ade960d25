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
    struct entry *next;
};

enum { MOST_DEBUGGERS = 64 };

std::mutex entries_lock;
struct entry *entries;

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

/* While a flag is watched, the process would end at its next access: LLDB leaves watchpoints behind. */
void end_watches(lldb::user_id_t debugger_id, bool stops)
{
    lldb::SBDebugger debugger = lldb::SBDebugger::FindDebuggerWithID(static_cast<int>(debugger_id));
    struct session *session = debugger.IsValid() ? host_session(debugger) : nullptr;
    if (session)
        watch_end(session, debugger, 0, stops);
}

void forget(lldb::user_id_t debugger_id, void *)
{
    end_watches(debugger_id, true);
    std::lock_guard<std::mutex> guard(entries_lock);
    for (struct entry **link = &entries; *link; link = &(*link)->next) {
        if ((*link)->debugger_id != debugger_id)
            continue;
        struct entry *gone = *link;
        *link = gone->next;
        session_deinit(&gone->session);
        free(gone);
        return;
    }
}

/* SBDebugger::AddDestroyCallback exists since LLDB 19, SetDestroyCallback before. They are looked up
 * by name, so that the plugin loads in all versions. */
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
    entry->next = entries;
    entries = entry;
    return entry;
}

} // namespace

void host_end_watches()
{
    lldb::user_id_t ids[MOST_DEBUGGERS];
    size_t count = 0;
    std::unique_lock<std::mutex> guard(entries_lock);
    for (struct entry *entry = entries; entry && count < MOST_DEBUGGERS; entry = entry->next)
        ids[count++] = entry->debugger_id;
    guard.unlock();
    for (size_t i = 0; i < count; i++)
        end_watches(ids[i], false);
}

/* At exit() nobody else has ended the files where LLDB does not report its end. Other threads of LLDB may still run. */
__attribute__((destructor)) static void end_files()
{
    std::lock_guard<std::mutex> guard(entries_lock);
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (entry->session.flags)
            flag_session_end_file(entry->session.flags);
}

struct session *host_session(lldb::SBDebugger &debugger)
{
    std::unique_lock<std::mutex> guard(entries_lock);
    for (struct entry *entry = entries; entry; entry = entry->next)
        if (entry->debugger_id == debugger.GetID())
            return &entry->session;
    struct entry *entry = create_entry(debugger);
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
