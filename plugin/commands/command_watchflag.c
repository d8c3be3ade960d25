/* Data flags of a running process: watched by the recorder, whose trace then has each read and write. */
#include "plugin/commands/recording_command.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/flag_place.h"
#include "plugin/json_output.h"
#include "recorder/client.h"

static const struct command_option add_options[] = {
    {"size", 0, "BYTES", "1, 2, 4 or 8 (the variable's, where its file says it; else 4)"},
    {"access", 0, "ACCESS", "w: writes alone; rw: reads and writes (rw)"},
    {"tid", 0, "TID", "of a thread-local variable, the copy of this thread (the main thread's)"},
    COMMAND_OPTIONS_END,
};

static struct argus_error *parse_access(const char *text, uint32_t *ret)
{
    *ret = FLAG_READS_AND_WRITES;
    if (!text || strcmp(text, "rw") == 0)
        return NULL;
    *ret = FLAG_WRITES;
    if (strcmp(text, "w") == 0)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "'%s' is no kind of access: w or rw (no processor of this kind can "
                              "watch reads alone)",
                              text);
}

/* The most of the variable that one register can watch. */
static uint32_t natural_size(const struct flag_place *place)
{
    uint64_t room = place->size_bytes ? place->size_bytes : 4;
    uint32_t size = 8;
    while (size > 1 && (size > room || place->address % size))
        size /= 2;
    return size;
}

static struct argus_error *parse_place(const struct arguments *arguments, uint32_t *ret_pid,
                                       struct flag_place *ret)
{
    uint64_t pid;
    const char *where = arguments_word(arguments, 1);
    struct argus_error *error =
        flag_place_number("a process id", arguments_word(arguments, 0), &pid);
    if (!error && (pid == 0 || pid > INT32_MAX))
        error = argus_error_create(ARGUS_ERROR_USAGE, "there is no process %llu",
                                   (unsigned long long)pid);
    if (error)
        return error;
    *ret_pid = (uint32_t)pid;
    uint64_t tid = pid;
    error = arguments_number(arguments, "tid", &tid);
    if (error)
        return error;
    if (arguments_count(arguments) == 3)
        return flag_place_symbol(*ret_pid, (uint32_t)tid, where, arguments_word(arguments, 2), ret);
    *ret = (struct flag_place){0};
    snprintf(ret->label, sizeof(ret->label), "%s", where);
    return flag_place_number("an address (PID IMAGE SYMBOL, or PID ADDRESS)", where, &ret->address);
}

static struct argus_error *add(struct session *session, const struct request_flag *wanted)
{
    struct recorder_client *client;
    uint32_t number = 0;
    struct argus_error *error = recorder_connect(&client);
    if (error)
        return error;
    error = recorder_flag_add(client, wanted, &number);
    recorder_close(client);
    if (!error)
        session_printf(session, "flag %u: %s of process %u, %u bytes at 0x%llx, %s\n", number,
                       wanted->label, wanted->pid, wanted->bytes,
                       (unsigned long long)wanted->address,
                       wanted->access == FLAG_WRITES ? "writes" : "reads and writes");
    return error;
}

static struct argus_error *run_add(struct session *session, const struct arguments *arguments)
{
    struct flag_place place;
    struct request_flag wanted = {0};
    uint64_t size = 0;
    struct argus_error *error = arguments_expect(arguments, 2, 3);
    if (!error)
        error = parse_access(arguments_option(arguments, "access"), &wanted.access);
    if (!error)
        error = arguments_number(arguments, "size", &size);
    if (!error)
        error = parse_place(arguments, &wanted.pid, &place);
    if (error)
        return error;
    if (arguments_has(arguments, "size") && size != 1 && size != 2 && size != 4 && size != 8)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%llu bytes cannot be watched: choose 1, 2, 4 or 8",
                                  (unsigned long long)size);
    wanted.address = place.address;
    wanted.bytes = size ? (uint32_t)size : natural_size(&place);
    memcpy(wanted.label, place.label, sizeof(wanted.label));
    return add(session, &wanted);
}

static json_t *flag_json(const struct reply_flag *flag)
{
    return json_pack("{s:i, s:i, s:I, s:i, s:s, s:I, s:o}", "number", (int)flag->number, "pid",
                     (int)flag->pid, "address", (json_int_t)flag->address, "bytes",
                     (int)flag->bytes, "access", flag->access == FLAG_WRITES ? "w" : "rw", "hits",
                     (json_int_t)flag->hits, "label", json_text(flag->label));
}

static struct argus_error *print_json(struct session *session, const struct reply_flag *flags,
                                      size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, flag_json(&flags[i]));
    return json_output(session, json_pack("{s:o}", "flags", list));
}

static const struct command_option list_options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run_list(struct session *session, const struct arguments *arguments)
{
    struct recorder_client *client;
    struct reply_flag flags[FLAG_NUMBERS];
    size_t count = 0;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = recorder_connect(&client);
    if (error)
        return error;
    error = recorder_flags(client, flags, &count);
    recorder_close(client);
    if (error)
        return error;
    if (arguments_has(arguments, "json"))
        return print_json(session, flags, count);
    for (size_t i = 0; i < count; i++)
        session_printf(session, "%2u  %8llu hits  %u bytes at 0x%llx  %-2s  process %u  %s\n",
                       flags[i].number, (unsigned long long)flags[i].hits, flags[i].bytes,
                       (unsigned long long)flags[i].address,
                       flags[i].access == FLAG_WRITES ? "w" : "rw", flags[i].pid, flags[i].label);
    if (!count)
        session_note(session, "no flags are watched");
    return NULL;
}

static struct argus_error *run_remove(struct session *session, const struct arguments *arguments)
{
    struct recorder_client *client;
    uint64_t number;
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error)
        error = flag_place_number("a flag's number", arguments_word(arguments, 0), &number);
    if (!error && number > FLAG_LIMIT)
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no flag %llu",
                                   (unsigned long long)number);
    if (!error)
        error = recorder_connect(&client);
    if (error)
        return error;
    error = recorder_flag_remove(client, (uint32_t)number);
    recorder_close(client);
    if (!error)
        session_note(session, "flag %u is not watched any more", (unsigned)number);
    return error;
}

const struct command command_watchflag = {
    .name = "watchflag",
    .arguments = "PID (ADDRESS | IMAGE SYMBOL[+OFFSET])",
    .summary = "record each read and write of a variable of a running process",
    .details = "Needs a recording ('argus start'), into whose trace the reads and writes go.\n"
               "IMAGE is a file that the process has mapped: its name, or the beginning of it.\n"
               "SYMBOL is a variable, in C++ as people write it, or an address in the file.\n"
               "The processor has four registers for this, and debuggers use the same ones.\n"
               "It has none for reads alone: with rw, what changes the value is a write, and\n"
               "what does not is a read, or the same value once more.\n"
               "\n"
               "A hit costs the process about 10 to 20 us here. On some virtual machines about\n"
               "one hit in a million was seen to end the process by SIGTRAP.",
    .example = "argus watchflag 4711 editor need_display\n"
               "argus watchflag 4711 libfoo state+8 --size=4 --access=w",
    .options = add_options,
    .run = run_add,
};

const struct command command_watchflag_list = {
    .name = "watchflag list",
    .arguments = "",
    .summary = "list the variables that are watched",
    .example = "argus watchflag list",
    .options = list_options,
    .run = run_list,
};

const struct command command_watchflag_remove = {
    .name = "watchflag remove",
    .arguments = "N",
    .summary = "watch a variable no longer",
    .example = "argus watchflag remove 1",
    .run = run_remove,
};
