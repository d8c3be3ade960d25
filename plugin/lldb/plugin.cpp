/* `argus` in LLDB: every row of the command table becomes a subcommand of the multiword command
 * "argus".
 *
 * The same file loads in LLDB 14 to 22. It is not linked against liblldb, which would load a second
 * copy. It is bound at load time, because a missing symbol that shows later would end the debugger.
 * Functions newer than LLDB 14 are called only through dlsym(). Nothing here throws, exits or
 * prints: results go into SBCommandReturnObject.
 */
#include <cstdlib>
#include <cstring>
#include <lldb/API/LLDB.h>

#include "plugin/command.h"
#include "plugin/lldb/host.h"
#include "plugin/lldb/watch.h"

namespace
{

/* Passes on the text of a finished command, and returns whether there was any. */
bool hand_over(lldb::SBCommandReturnObject &result, FILE *out, char **text, size_t *length)
{
    fclose(out);
    if (*text && *length)
        result.PutCString(*text, static_cast<int>(*length));
    free(*text);
    return *length != 0;
}

/* An open question is no failure, because the text says how to continue. `--no-ask` and `--json`
 * make it one, for scripts. */
void set_status(struct session *session, lldb::SBCommandReturnObject &result, int code,
                struct argus_error *error, bool has_text, bool is_json)
{
    if (error && !(code == EXIT_CODE_QUESTION && !session->no_ask && !is_json)) {
        result.SetError(error->message);
        result.SetStatus(lldb::eReturnStatusFailed);
        return;
    }
    if (error)
        result.AppendMessage(error->message);
    if (code != EXIT_CODE_DONE && code != EXIT_CODE_QUESTION && code != EXIT_CODE_DAMAGED)
        result.SetStatus(lldb::eReturnStatusFailed);
    else
        result.SetStatus(has_text || error ? lldb::eReturnStatusSuccessFinishResult
                                           : lldb::eReturnStatusSuccessFinishNoResult);
}

bool has_json(char **argv)
{
    for (int i = 0; argv && argv[i]; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

class row_command : public lldb::SBCommandPluginInterface
{
  public:
    explicit row_command(const struct command *row) : row_(row)
    {
    }

    bool DoExecute(lldb::SBDebugger debugger, char **argv,
                   lldb::SBCommandReturnObject &result) override
    {
        struct session *session = host_session(debugger);
        if (session && argv && argv[0] && strcmp(argv[0], WATCH_HIT) == 0 &&
            strcmp(row_->name, "watchflag") == 0) {
            watch_on_hit(session, debugger, argv); /* another command may be running */
            return true;
        }
        char *text = nullptr;
        size_t length = 0;
        FILE *out = session ? open_memstream(&text, &length) : nullptr;
        if (!out) {
            result.SetError("argus: out of memory");
            return false;
        }
        struct host_call call = {debugger, result, has_json(argv)};
        struct argus_error *error = nullptr;
        int argc = 0;
        while (argv && argv[argc])
            argc++;
        host_begin(session, &call, out);
        int code = command_run(session, row_, argc, argv, &error);
        bool has_text = hand_over(result, out, &text, &length);
        set_status(session, result, code, error, has_text, call.is_json);
        argus_error_destroy(error);
        session->out = nullptr;
        session->host.data = nullptr;
        return code == EXIT_CODE_DONE;
    }

  private:
    const struct command *row_;
};

/* The text of --help without summary and usage, which LLDB prints itself. The caller frees it. */
char *long_help(struct session *session, const struct command *row)
{
    char *text = nullptr;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return nullptr;
    session->out = out;
    help_print_details(session, row);
    session->out = nullptr;
    fclose(out);
    return text;
}

char *usage(const struct command *row)
{
    char *text = nullptr;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return nullptr;
    help_write_usage(out, row, true);
    fclose(out);
    return text;
}

/* Rows with a space in their name are reached through their group's command, which LLDB knows. */
void add_row(lldb::SBCommand &parent, struct session *session, const struct command *row)
{
    if (strchr(row->name, ' ') || !command_available(row, true))
        return;
    char *syntax = usage(row), *details = long_help(session, row);
    lldb::SBCommand added = parent.AddCommand(row->name, new row_command(row), row->summary,
                                              syntax ? syntax : row->name);
    if (details)
        added.SetHelpLong(details);
    free(details);
    free(syntax);
}

} // namespace

namespace lldb
{

__attribute__((visibility("default"))) bool PluginInitialize(lldb::SBDebugger debugger);

bool PluginInitialize(lldb::SBDebugger debugger)
{
    struct session *session = host_session(debugger);
    if (!session)
        return false;
    lldb::SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
    lldb::SBCommand argus = interpreter.AddMultiwordCommand(
        "argus", "Why did the application freeze? Explore and diagnose an Argus trace.");
    /* not because it was loaded twice: in that case LLDB replaces the commands itself */
    if (!argus.IsValid())
        return false;
    for (const struct command *const *row = commands(); *row; row++)
        add_row(argus, session, *row);
    return true;
}

} // namespace lldb
