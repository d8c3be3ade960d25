/* Prints records as text: in time order with names, or raw, as they are in the file. */
#include <stdlib.h>
#include <string.h>

#include "event/darwin/darwin_text.h"
#include "event/merge.h"
#include "event/tracepoints.h"
#include "plugin/json_output.h"
#include "plugin/session_trace.h"
#include "plugin/steps/steps_shown.h"
#include "trace/kdebug_strings.h"

static const struct command_option options[] = {
    {"raw", 0, NULL, "in the file's order, with numbers only"},
    {"limit", 'n', "N", "end after N records"},
    {"thread", 0, "TID", "only records of this thread"},
    {"json", 0, NULL, "print one JSON object for each record, one a line"},
    COMMAND_OPTIONS_END,
};

enum { CHECK_EVERY = 4096 };

struct dump {
    struct session *session;
    const struct argus_trace *trace;
    uint64_t limit;
    uint64_t tid;
    bool any_thread;
    bool raw;
    bool json;
    struct kdebug_strings strings;    /* Darwin: texts that span several records */
    const struct kdebug_string *text; /* the text that the current record completes; NULL: none */
};

static const char *func_text(uint32_t debugid)
{
    static const char *const texts[] = {"", " start", " end", " start+end"};
    return texts[ARGUS_DEBUGID_FUNC(debugid)];
}

/* Name records carry 32 bytes of text. */
static bool carries_name(uint32_t event)
{
    return event == ARGUS_ID_NAME_NEW || event == ARGUS_ID_NAME_EXEC ||
           event == ARGUS_ID_NAME_THREAD || event == ARGUS_ID_CPU_GROUP ||
           event == ARGUS_ID_MEMORY_GROUP || event == ARGUS_ID_FILE_LOCK_NAME ||
           event == ARGUS_ID_CALL_PATH;
}

static void print_arguments(FILE *out, const struct tracepoint *row,
                            const struct argus_record *record)
{
    for (int i = 0; i < 4; i++) {
        const char *name = row ? row->arg[i] : "";
        bool hexadecimal = *name == '#';
        if (!*name && !record->arg[i])
            continue;
        fprintf(out, " %s", *name ? name + hexadecimal : "");
        if (!*name)
            fprintf(out, "arg%d", i + 1);
        fprintf(out, hexadecimal || !*name ? "=0x%llx" : "=%llu",
                (unsigned long long)record->arg[i]);
    }
}

static void print_syscall(const struct dump *dump, const struct argus_record *record)
{
    FILE *out = dump->session->out;
    char buffer[32];
    uint32_t number = ARGUS_DEBUGID_CODE(record->debugid);
    if (dump->raw)
        fprintf(out, " number=%u", number);
    else
        fprintf(out, " %s", argus_syscall_name(dump->trace, number, buffer, sizeof(buffer)));
    if (ARGUS_DEBUGID_FUNC(record->debugid) != ARGUS_FUNC_END) {
        for (int i = 0; i < 4; i++)
            fprintf(out, " arg%d=0x%llx", i + 1, (unsigned long long)record->arg[i]);
        return;
    }
    fprintf(out, " error=%llu result=%lld pid=%llu", (unsigned long long)record->arg[0],
            (long long)record->arg[1], (unsigned long long)record->arg[3]);
}

/* Whether the record is Darwin's own. Records of Argus's class are the same on all systems. */
static bool is_darwin(const struct dump *dump, const struct argus_record *record)
{
    return argus_trace_header(dump->trace)->os == ARGUS_OS_DARWIN &&
           (ARGUS_DEBUGID_CLASS(record->debugid) != ARGUS_CLASS ||
            darwin_tracepoint_find(record->debugid));
}

static void print_darwin(const struct dump *dump, const struct argus_record *record)
{
    char name[64], arguments[512];
    darwin_record_arguments(record, arguments, sizeof(arguments));
    if (darwin_record_name(dump->trace, record->debugid, name, sizeof(name)))
        fprintf(dump->session->out, "%s%s%s", name, func_text(record->debugid), arguments);
    else
        fprintf(dump->session->out, "%08x%s%s", ARGUS_DEBUGID_EVENT(record->debugid),
                func_text(record->debugid), arguments);
    if (dump->text && dump->text->records > 1)
        fprintf(dump->session->out, " whole=%s", dump->text->text);
}

static void print_text(const struct dump *dump, uint64_t ns, const struct argus_record *record)
{
    FILE *out = dump->session->out;
    const struct tracepoint *row = tracepoint_find(record->debugid);
    char time[32];
    fprintf(out, "%s cpu%u %llu ", clock_text(dump->trace, ns, time, sizeof(time)), record->cpu,
            (unsigned long long)record->tid);
    if (record->debugid == MERGE_ID_LOST) {
        fprintf(out, "(%llu records lost before this)\n", (unsigned long long)record->arg[0]);
        return;
    }
    if (is_darwin(dump, record)) {
        print_darwin(dump, record);
        fputc('\n', out);
        return;
    }
    if (row)
        fprintf(out, "%s%s", row->name, func_text(record->debugid));
    else
        fprintf(out, "%08x%s", ARGUS_DEBUGID_EVENT(record->debugid), func_text(record->debugid));
    if (tracepoint_is_syscall(record->debugid)) {
        print_syscall(dump, record);
    } else if (carries_name(ARGUS_DEBUGID_EVENT(record->debugid)) && !dump->raw) {
        char name[33];
        tracepoint_name_bytes(record, name);
        fprintf(out, " name=%s", name);
    } else if (record->debugid == ARGUS_ID_FILE_NAME && !dump->raw) {
        struct argus_record text = {.arg = {record->arg[1], record->arg[2], record->arg[3], 0}};
        char name[33];
        tracepoint_name_bytes(&text, name);
        fprintf(out, " inode=%llu name=%s", (unsigned long long)record->arg[0], name);
    } else {
        print_arguments(out, row, record);
    }
    fputc('\n', out);
}

/* Includes the quotation marks; the caller owns it. NULL without memory. */
static char *json_escaped(const char *text, size_t length)
{
    json_t *string = json_stringn(text, length);
    char *escaped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    json_decref(string);
    return escaped;
}

static void print_json(const struct dump *dump, uint64_t ns, const struct argus_record *record)
{
    const struct tracepoint *row = tracepoint_find(record->debugid);
    char buffer[64];
    const char *name = row ? row->name : "";
    if (is_darwin(dump, record))
        name = darwin_record_name(dump->trace, record->debugid, buffer, sizeof(buffer));
    char *text = dump->text ? json_escaped(dump->text->text, dump->text->length) : NULL;
    fprintf(dump->session->out,
            "{\"format\": \"argus-dump 1\", \"ns\": %llu, \"cpu\": %u, \"tid\": %llu, \"debugid\": "
            "%u, \"name\": \"%s\", "
            "\"args\": [%llu, %llu, %llu, %llu], \"text\": %s}\n",
            (unsigned long long)ns, record->cpu, (unsigned long long)record->tid, record->debugid,
            name ? name : "", (unsigned long long)record->arg[0],
            (unsigned long long)record->arg[1], (unsigned long long)record->arg[2],
            (unsigned long long)record->arg[3], text ? text : "null");
    free(text);
}

/* The merge puts a record in the place of a damaged chunk. */
static void note_damage(struct dump *dump, const struct argus_record *record)
{
    if (record->debugid != MERGE_ID_LOST || !record->arg[2])
        return;
    dump->session->damage_seen = true;
    session_warn(dump->session, "a damaged chunk of cpu %u with %llu records is left out",
                 record->cpu, (unsigned long long)record->arg[0]);
}

/* Returns false if no more records are wanted. */
static bool print_record(struct dump *dump, uint64_t ns, const struct argus_record *record)
{
    bool darwin = argus_trace_header(dump->trace)->os == ARGUS_OS_DARWIN;
    dump->text = darwin && !dump->raw ? kdebug_strings_feed(&dump->strings, record) : NULL;
    if (!dump->any_thread && record->tid != dump->tid)
        return true;
    if (!dump->limit)
        return false;
    dump->limit--;
    if (dump->json)
        print_json(dump, ns, record);
    else
        print_text(dump, ns, record);
    return !ferror(dump->session->out);
}

static struct argus_error *dump_chunk(struct dump *dump, const struct argus_chunk *chunk,
                                      struct argus_record *records, bool *ret_more)
{
    struct argus_error *error = argus_trace_read_chunk(dump->trace, chunk, records);
    if (error && error->code != ARGUS_ERROR_MEMORY) {
        dump->session->damage_seen = true;
        session_warn(dump->session, "left out: %s", error->message);
        argus_error_destroy(error);
        return NULL;
    }
    for (uint32_t i = 0; !error && *ret_more && i < chunk->count; i++)
        *ret_more = print_record(dump, argus_trace_ticks_to_ns(dump->trace, records[i].timestamp),
                                 &records[i]);
    return error;
}

static struct argus_error *dump_in_file_order(struct dump *dump)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(dump->trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = NULL;
    if (!records)
        return argus_error_memory();
    bool more = true;
    for (size_t i = 0; i < count && more && !error; i++)
        error = session_interrupted(dump->session) ? session_interrupt_error()
                                                   : dump_chunk(dump, &chunks[i], records, &more);
    free(records);
    return error;
}

/* The merge converts ticks to ns, and inserts a record where others are missing. */
static struct argus_error *dump_in_time_order(struct dump *dump)
{
    struct merge *merge;
    const struct argus_record *record;
    struct argus_error *error = merge_create_raw(dump->trace, &merge);
    if (error)
        return error;
    while (!(error = merge_next(merge, &record)) && record) {
        if (merge_position(merge) % CHECK_EVERY == 0 && session_interrupted(dump->session)) {
            error = session_interrupt_error();
            break;
        }
        note_damage(dump, record);
        if (!print_record(dump, record->timestamp, record))
            break;
    }
    merge_destroy(merge);
    return error;
}

static struct argus_error *dump_steps(struct session *session, const struct arguments *arguments,
                                      struct argus_steps *steps)
{
    struct argus_report_steps_options wanted = {.wanted = {.branches = true, .instructions = true},
                                                .most_items = UINT64_MAX,
                                                .json = arguments_has(arguments, "json")};
    struct argus_error *error = arguments_number(arguments, "limit", &wanted.most_items);
    if (!error)
        error = arguments_expect(arguments, 1, 1);
    if (!error)
        error = steps_show(session, steps, &wanted);
    argus_steps_close(steps);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_steps *steps;
    struct argus_error *steps_error = steps_of_arguments(arguments, &steps);
    if (steps_error || steps)
        return steps_error ? steps_error : dump_steps(session, arguments, steps);
    size_t next;
    struct session_trace *trace;
    struct dump dump = {
        .session = session,
        .limit = UINT64_MAX,
        .any_thread = !arguments_has(arguments, "thread"),
        .raw = arguments_has(arguments, "raw"),
        .json = arguments_has(arguments, "json"),
    };
    struct argus_error *error = arguments_number(arguments, "limit", &dump.limit);
    if (!error)
        error = arguments_number(arguments, "thread", &dump.tid);
    if (!error)
        error = session_trace_get(session, arguments, &next, &trace);
    if (!error)
        error = arguments_expect(arguments, next, next);
    if (error)
        return error;
    dump.trace = trace->trace;
    error = dump.raw ? dump_in_file_order(&dump) : dump_in_time_order(&dump);
    kdebug_strings_deinit(&dump.strings);
    return error;
}

const struct command command_dump = {
    .name = "dump",
    .summary = "print the records of a trace",
    .details = "Prints one line per record: time of day (local), CPU, thread, tracepoint,\n"
               "arguments. argus-trace(5) explains the tracepoints. If a Darwin text spans\n"
               "several records, it is printed in full at the last one.\n"
               "\n"
               "FILE can also be a step file of argus step: then each instruction is printed\n"
               "('argus steps' prints calls and branches only).",
    .example = "argus dump freeze.argus | less\nargus dump --raw --limit=10 freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
