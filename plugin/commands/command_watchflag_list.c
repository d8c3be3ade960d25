/* Lists the data flags that are watched, or wait for a process. */
#include "plugin/commands/recording_command.h"

#include "plugin/flags/flag_file.h"
#include "plugin/flags/flag_watch.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static json_t *flag_json(const struct reply_flag *flag)
{
    return json_pack("{s:i, s:o, s:I, s:i, s:s, s:s, s:I, s:s, s:o}", "number", (int)flag->number,
                     "pid", flag->pid ? json_integer(flag->pid) : json_null(), "address",
                     (json_int_t)flag->address, "bytes", (int)flag->bytes, "access",
                     flag->access == FLAG_WRITES ? "w" : "rw", "semantics",
                     flag_semantics_name(flag->semantics), flag->pid ? "hits" : "processes",
                     (json_int_t)flag->hits, "engine", "recorder", "label", json_text(flag->label));
}

#define MOST_ROWS 16

static json_t *row_json(const struct flag_session_row *row)
{
    return json_pack("{s:i, s:I, s:I, s:i, s:s, s:s, s:I, s:o}", "number", (int)row->watch, "pid",
                     (json_int_t)row->pid, "address", (json_int_t)row->address, "bytes",
                     (int)row->bytes, "access", row->writes_only ? "w" : "rw", "engine", "lldb",
                     "hits", (json_int_t)row->hits, "label", json_text(row->label));
}

static struct argus_error *print_json(struct session *session, const struct reply_flag *flags,
                                      size_t count)
{
    struct flag_session_row rows[MOST_ROWS];
    size_t by_lldb = flag_watch_rows(session, rows, MOST_ROWS);
    json_t *list = json_array();
    for (size_t i = 0; i < by_lldb; i++)
        json_array_append_new(list, row_json(&rows[i]));
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, flag_json(&flags[i]));
    return json_output(session, "argus-watchflag-list 1", json_pack("{s:o}", "flags", list));
}

static void print_flag(struct session *session, const struct reply_flag *flag)
{
    const char *access = flag->access == FLAG_WRITES ? "w" : "rw";
    if (!flag->pid)
        session_printf(session, "%2u  in %llu processes so far  %u bytes  %-2s  %s: %s\n",
                       flag->number, (unsigned long long)flag->hits, flag->bytes, access,
                       flag->label, "awaited in each that maps its file");
    else if (!flag->address)
        session_printf(session,
                       "%2u  a pointer to it is still null  %u bytes  %-2s  process %u  %s\n",
                       flag->number, flag->bytes, access, flag->pid, flag->label);
    else
        session_printf(session, "%2u  %8llu hits  %u bytes at 0x%llx  %-2s  process %u  %s\n",
                       flag->number, (unsigned long long)flag->hits, flag->bytes,
                       (unsigned long long)flag->address, access, flag->pid, flag->label);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct recorder_client *client;
    struct reply_flag flags[FLAG_NUMBERS];
    size_t count = 0;
    struct flag_session_row rows[MOST_ROWS];
    bool json = arguments_has(arguments, "json");
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (error)
        return error;
    size_t by_lldb = flag_watch_rows(session, rows, MOST_ROWS);
    if (by_lldb && !json)
        flag_watch_list(session, &by_lldb);
    error = recorder_connect(&client);
    if (error && by_lldb) { /* nothing is being recorded */
        argus_error_destroy(error);
        return json ? print_json(session, NULL, 0) : NULL;
    }
    if (error)
        return error;
    error = recorder_flags(client, flags, &count);
    recorder_close(client);
    if (error)
        return error;
    if (json)
        return print_json(session, flags, count);
    for (size_t i = 0; i < count; i++)
        print_flag(session, &flags[i]);
    if (!count && !by_lldb)
        session_note(session, "no flags are watched");
    return NULL;
}

const struct command command_watchflag_list = {
    .name = "watchflag list",
    .arguments = "",
    .summary = "list the variables that are watched",
    .details = "Flags of 'argus start --flags' come last, with the number of processes in\n"
               "which they were watched.",
    .example = "argus watchflag list",
    .options = options,
    .run = run,
};
