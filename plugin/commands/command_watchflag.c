/* Watches a data flag of a running process: the recorder then records each read and write. */
#include "plugin/commands/recording_command.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "plugin/flags/flag_file.h"
#include "plugin/flags/flag_mappings.h"
#include "plugin/flags/flag_place.h"
#include "plugin/flags/flag_watch.h"
#include "plugin/steps/loop_variable.h"

static const struct command_option options[] = {
    {"file", 0, "PATH+OFFSET", "watch shared memory: this file, in each process that maps it"},
    {"loop", 0, NULL, "watch the variable for which the thread's loop waits now"},
    {"size", 0, "1|2|4|8", "watch so many bytes (the variable's size, if its file has it; else 4)"},
    {"access", 0, "w|rw", "watch writes alone, or reads and writes (rw; flip and queue: w)"},
    {"semantics", 0, "value|flip|queue",
     "it has a value, is set and cleared, or counts work (value)"},
    {"name", 0, "NAME", "call it NAME in the trace (SYMBOL in IMAGE)"},
    {"tid", 0, "TID", "use this thread's loop, or thread-local variable (the main thread's)"},
    {"output", 'o', "FILE", "in LLDB: write its hits to FILE (flags-PID.argus)"},
    {"save", 0, "FILE", "save the request in FILE, for 'argus start --flags FILE'"},
    COMMAND_OPTIONS_END,
};

struct chosen {
    uint32_t pid, tid;
    uint64_t size; /* 0: not given */
    uint32_t access, semantics;
    struct flag_place place;
    const char *image, *symbol; /* NULL: an address was given */
};

static struct argus_error *parse_options(const struct arguments *arguments, struct chosen *ret)
{
    const char *access = arguments_option(arguments, "access"),
               *semantics = arguments_option(arguments, "semantics");
    struct argus_error *error = arguments_number(arguments, "size", &ret->size);
    if (!error && arguments_has(arguments, "size") && ret->size != 1 && ret->size != 2 &&
        ret->size != 4 && ret->size != 8)
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "%llu bytes cannot be watched: choose 1, 2, 4 or 8",
                                   (unsigned long long)ret->size);
    if (!error && semantics)
        error = flag_wish_semantics(semantics, &ret->semantics);
    ret->access = ret->semantics ? FLAG_WRITES : FLAG_READS_AND_WRITES;
    if (!error && access)
        error = flag_wish_access(access, &ret->access);
    return error;
}

static struct argus_error *parse_process(const struct arguments *arguments, struct chosen *ret)
{
    uint64_t pid;
    struct argus_error *error =
        flag_place_number("a process id", arguments_word(arguments, 0), &pid);
    if (!error && (pid == 0 || pid > INT32_MAX))
        error = argus_error_create(ARGUS_ERROR_USAGE, "there is no process %llu",
                                   (unsigned long long)pid);
    if (error)
        return error;
    uint64_t tid = pid;
    error = arguments_number(arguments, "tid", &tid);
    ret->pid = (uint32_t)pid;
    ret->tid = (uint32_t)tid;
    return error;
}

/* Pointers and the layout of thread-local variables are different in a 32-bit program. */
static struct argus_error *check_bits(const struct chosen *chosen)
{
    char path[32];
    struct argus_data_image image;
    if (!chosen->place.step_count && !chosen->place.is_thread_local)
        return NULL;
    snprintf(path, sizeof(path), "/proc/%u/exe", chosen->pid);
    struct argus_error *error = argus_data_image_read(path, &image);
    if (!error && !image.is_64_bit)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "process %u is a 32-bit program, whose pointers and thread-local "
                                  "variables are not looked up: give the variable's address",
                                  chosen->pid);
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *find_place(const struct arguments *arguments, struct chosen *ret)
{
    const char *where = arguments_word(arguments, 1);
    if (arguments_count(arguments) == 2)
        return flag_place_address(where, &ret->place);
    ret->image = where;
    ret->symbol = arguments_word(arguments, 2);
    struct argus_error *error =
        flag_place_symbol(ret->pid, ret->tid, ret->image, ret->symbol, &ret->place);
    return error ? error : check_bits(ret);
}

/* --- saving the flag to a file --- */

/* The file that contains the flag. If the program has a copy of a library's variable, this is the
 * program. */
static struct argus_error *make_wish(const struct chosen *chosen, const struct request_flag *flag,
                                     struct flag_wish *ret)
{
    uint64_t base;
    struct argus_data_image image;
    *ret = (struct flag_wish){
        .bytes = flag->bytes, .access = flag->access, .semantics = flag->semantics};
    memcpy(ret->name, flag->label, sizeof(ret->name));
    if (chosen->place.is_thread_local)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a thread-local variable cannot be kept for other processes");
    struct argus_error *error =
        argus_image_at(chosen->pid, chosen->place.address, ret->image, sizeof(ret->image), &base);
    if (error)
        return argus_error_context(error, "it cannot be kept for other processes (name a variable "
                                          "and the pointers that lead to it)");
    if (chosen->symbol)
        snprintf(ret->place, sizeof(ret->place), "%s", chosen->symbol);
    else
        snprintf(ret->place, sizeof(ret->place), "0x%llx",
                 (unsigned long long)(chosen->place.address - base));
    for (uint32_t i = 0; !chosen->symbol && i < chosen->place.step_count; i++)
        snprintf(ret->place + strlen(ret->place), sizeof(ret->place) - strlen(ret->place),
                 "->0x%llx", (unsigned long long)chosen->place.steps[i]);
    error = argus_data_image_read(ret->image, &image);
    if (!error) {
        memcpy(ret->build_id, image.build_id, sizeof(ret->build_id));
        ret->build_id_bytes = image.build_id_bytes;
    }
    return error;
}

static struct argus_error *save(struct session *session, const struct chosen *chosen,
                                const struct request_flag *flag, const char *path)
{
    struct flag_wish wish;
    bool added;
    struct argus_error *error = make_wish(chosen, flag, &wish);
    if (!error)
        error = flag_wish_save(&wish, path, &added);
    if (!error)
        session_note(session, added ? "kept in %s: argus start --flags=%s" : "%s has it already",
                     path, path);
    return error;
}

/* --- watching the flag --- */

static struct argus_error *watch_by(struct session *session, struct recorder_client *client,
                                    const struct request_flag *wanted)
{
    uint32_t number = 0;
    struct argus_error *error = recorder_flag_add(client, wanted, &number);
    if (!error)
        session_printf(session, "flag %u: %s of process %u, %u bytes at 0x%llx%s, %s\n", number,
                       wanted->label, wanted->pid, wanted->bytes,
                       (unsigned long long)wanted->address,
                       wanted->step_count ? " and behind pointers" : "",
                       wanted->access == FLAG_WRITES ? "writes" : "reads and writes");
    return error;
}

static struct argus_error *watch(struct session *session, const struct request_flag *wanted)
{
    struct recorder_client *client;
    struct argus_error *error = recorder_connect(&client);
    if (error)
        return error;
    error = watch_by(session, client, wanted);
    recorder_close(client);
    return error;
}

static struct request_flag make_request(const struct arguments *arguments,
                                        const struct chosen *chosen)
{
    const struct flag_place *place = &chosen->place;
    const char *name = arguments_option(arguments, "name");
    struct request_flag wanted = {
        .pid = chosen->pid,
        .address = place->address,
        .bytes = chosen->size ? (uint32_t)chosen->size : flag_natural_size(place),
        .access = chosen->access,
        .semantics = chosen->semantics,
        .step_count = place->step_count,
    };
    memcpy(wanted.steps, place->steps, sizeof(wanted.steps));
    snprintf(wanted.label, sizeof(wanted.label), "%s", name ? name : place->label);
    return wanted;
}

/* --- shared memory --- */

/* Without PID: each process that maps the file has a flag of its own. */
static struct argus_error *watch_file(struct session *session, const struct arguments *arguments,
                                      struct chosen *chosen)
{
    struct flag_mappings mappings;
    const char *file = arguments_option(arguments, "file");
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error && (arguments_has(arguments, "save") || arguments_has(arguments, "output")))
        error = argus_error_create(ARGUS_ERROR_USAGE, "--file goes with neither --save nor -o");
    if (!error)
        error = flag_mappings_find(file, &mappings);
    for (size_t i = 0; !error && i < mappings.count; i++) {
        chosen->pid = mappings.all[i].pid;
        chosen->place = (struct flag_place){.address = mappings.all[i].address};
        snprintf(chosen->place.label, sizeof(chosen->place.label), "%s", file);
        struct request_flag wanted = make_request(arguments, chosen);
        error = watch(session, &wanted);
    }
    if (!error && mappings.left_out)
        session_note(session, "%zu more processes map it, which are not watched",
                     mappings.left_out);
    if (!error && mappings.unreadable)
        session_note(session, "%u processes of other users were not looked at",
                     mappings.unreadable);
    return error;
}

/* --- what a loop waits for --- */

static void note_loop_variables(struct session *session, const struct chosen *chosen,
                                const struct loop_variables *found)
{
    if (found->all[0].is_local)
        session_note(session, "the address is valid only in this process%s",
                     found->all[0].is_on_stack ? ", until the function returns" : "");
    for (size_t i = 1; i < found->count; i++)
        session_note(session,
                     "the loop may also wait for %s: argus watchflag %u 0x%" PRIx64 " --size %u",
                     found->all[i].name, chosen->pid, found->all[i].address, found->all[i].bytes);
}

/* Of the variables that decide the loop, the likeliest. */
static struct argus_error *watch_likeliest(struct session *session,
                                           const struct arguments *arguments, struct chosen *chosen,
                                           struct recorder_client *client)
{
    struct loop_variables found;
    struct argus_error *error = loop_variables_find(session, chosen->pid, chosen->tid, &found);
    if (error)
        return error;
    chosen->size = chosen->size ? chosen->size : found.all[0].bytes;
    chosen->place = (struct flag_place){.address = found.all[0].address};
    snprintf(chosen->place.label, sizeof(chosen->place.label), "%s", found.all[0].name);
    struct request_flag wanted = make_request(arguments, chosen);
    error = watch_by(session, client, &wanted);
    if (!error)
        note_loop_variables(session, chosen, &found);
    return error;
}

/* The thread is stopped and stepped only if a recording can watch what is found. */
static struct argus_error *watch_loop(struct session *session, const struct arguments *arguments,
                                      struct chosen *chosen)
{
    struct recorder_client *client;
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error && session->in_lldb)
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "--loop works only in the shell: inside LLDB, 'argus step' and "
                                   "'argus diverge' tell the address");
    if (!error && (arguments_has(arguments, "save") || arguments_has(arguments, "output")))
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "--loop goes with neither --save nor -o: the address that it "
                                   "finds is that of this process");
    if (!error)
        error = parse_process(arguments, chosen);
    if (!error)
        error = recorder_connect(&client);
    if (error)
        return error;
    error = watch_likeliest(session, arguments, chosen, client);
    recorder_close(client);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct chosen chosen = {0};
    const char *path = arguments_option(arguments, "save");
    bool of_file = arguments_has(arguments, "file");
    bool of_loop = arguments_has(arguments, "loop");
    bool by_lldb = !of_file && !of_loop && flag_watch_is_meant(session, arguments);
    struct argus_error *error =
        by_lldb || of_file || of_loop ? NULL : arguments_expect(arguments, 2, 3);
    if (!error)
        error = parse_options(arguments, &chosen);
    if (!error && of_loop && of_file)
        error = argus_error_create(ARGUS_ERROR_USAGE, "--loop and --file contradict");
    if (!error && of_file)
        return watch_file(session, arguments, &chosen);
    if (!error && of_loop)
        return watch_loop(session, arguments, &chosen);
    if (!error && by_lldb)
        return flag_watch_run(session, arguments, (uint32_t)chosen.size,
                              chosen.access == FLAG_WRITES, chosen.semantics);
    if (!error && arguments_has(arguments, "output"))
        error = argus_error_create(
            ARGUS_ERROR_USAGE, "--output is for flags that LLDB watches; the recorder's are in its "
                               "trace");
    if (!error)
        error = parse_process(arguments, &chosen);
    if (!error)
        error = find_place(arguments, &chosen);
    if (error)
        return error;
    struct request_flag wanted = make_request(arguments, &chosen);
    error = watch(session, &wanted);
    return error || !path ? error : save(session, &chosen, &wanted, path);
}

const struct command command_watchflag = {
    .name = "watchflag",
    .arguments = "PID (ADDRESS | IMAGE SYMBOL[+OFFSET][->OFFSET…] | --loop)",
    .missing = "a process id and a variable of it are missing",
    .summary = "record each read and write of a variable of a running process",
    .details = "Needs a recording ('argus start'), whose trace gets the reads and writes.\n"
               "IMAGE is a file that the process has mapped: its name, or the beginning of its\n"
               "name. SYMBOL is a variable (in C++ by its readable name) or an address in the\n"
               "file. '->OFFSET' follows a pointer: 'display+0x8->0x18' is 0x18 after the\n"
               "address that the pointer at display+0x8 contains now. If the pointer changes\n"
               "later, the watched address stays the same. If IMAGE has debug information,\n"
               "members can be named as in C: 'display->window->state', 'jobs[3].done'.\n"
               "\n"
               "--loop finds the variable for which a thread polls now, which may be on its\n"
               "stack or in an object that no variable leads to: it steps some turns of the\n"
               "loop for up to 3 s, as 'argus step' does. Before that, it waits for up to 10 s\n"
               "until the thread is back in the program's own code. The address is valid only\n"
               "in this process.\n"
               "\n"
               "The processor has four registers for this, which debuggers use too. It cannot\n"
               "watch reads alone: with rw, an access that changes the value is a write, and\n"
               "any other is a read, or a write of the same value.\n"
               "\n"
               "A read is caused by the write whose value it sees first. With flip, the thread\n"
               "that sets the flag (not 0) causes the thread that clears it to continue. With\n"
               "queue, the thread that increments it causes the thread that decrements it to\n"
               "continue, first in, first out. Both need only the writes.\n"
               "\n"
               "Memory that processes share (MAP_SHARED) is one flag, wherever each of them\n"
               "has it: a write by one process causes the read by another one. --file watches\n"
               "it in all of them.\n"
               "\n"
               "All threads are watched, including later ones, but not processes that it\n"
               "forks. A watch ends with the process, or when the process starts another\n"
               "program (exec); argus status reports this.\n"
               "\n"
               "Inside LLDB, the words can be a variable of the debugged process without PID\n"
               "(EXPRESSION, an ADDRESS, or IMAGE SYMBOL): LLDB watches it, without a\n"
               "recording. A hit stops the process for a millisecond or two; it then continues\n"
               "by itself. The hits are in a trace of their own: 'argus load FILE --with\n"
               "FLAGS' reads both as one.\n"
               "\n"
               "A hit costs the process about 10 to 20 us. On some virtual machines,\n"
               "about one hit in a million was seen to end the process by SIGTRAP: see\n"
               "argus-flags(5).",
    .example = "argus watchflag 4711 editor need_display\n"
               "argus watchflag 4711 libfoo state+8 --size=4 --access=w\n"
               "argus watchflag 4711 editor 'app->window->state'\n"
               "argus watchflag 4711 --loop\n"
               "argus watchflag --file /dev/shm/editor-state+0x40 --size 4\n"
               "argus watchflag 4711 editor 'window->0x18' --save editor.flags",
    .options = options,
    .run = run,
};
