/* Describes a trace: machine, time, size, losses. Reads only the index and the tables. */
#include "plugin/analysis.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "plugin/darwin_contents.h"
#include "plugin/info_gaps.h"
#include "plugin/json_output.h"
#include "plugin/note.h"
#include "plugin/session_trace.h"
#include "plugin/steps/steps_shown.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

struct population {
    size_t threads, processes;
};

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t count_distinct(uint64_t *ids, size_t count)
{
    size_t distinct = 0;
    qsort(ids, count, sizeof(*ids), compare_ids);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || ids[i] != ids[i - 1];
    return distinct;
}

/* Counts each thread once, although the tables contain it once for each time they were written.
 * Tables of Darwin are those of the beginning, and have process 1 for the kernel's threads. */
static struct argus_error *count_population(const struct argus_trace *trace,
                                            const struct argus_contents *contents,
                                            struct population *ret)
{
    bool darwin = argus_trace_header(trace)->os == ARGUS_OS_DARWIN;
    const struct argus_thread_entry *threads;
    size_t count = argus_trace_threads(trace, &threads);
    uint64_t *ids = calloc(count + contents->spawn_count + 1, sizeof(*ids));
    if (!ids)
        return argus_error_memory();
    for (size_t i = 0; i < count; i++)
        ids[i] = threads[i].tid;
    ret->threads = count_distinct(ids, count);
    for (size_t i = 0; i < count; i++)
        ids[i] = darwin && threads[i].kernel ? 0 : threads[i].pid;
    for (size_t i = 0; i < contents->spawn_count; i++)
        ids[count + i] = contents->spawns[i].pid;
    ret->processes = count_distinct(ids, count + contents->spawn_count);
    free(ids);
    return NULL;
}

static const char *os_name(enum argus_os os)
{
    return os == ARGUS_OS_LINUX ? "linux" : os == ARGUS_OS_DARWIN ? "darwin" : "unknown";
}

static const char *arch_name(enum argus_arch arch)
{
    return arch == ARGUS_ARCH_X86_64    ? "x86_64"
           : arch == ARGUS_ARCH_AARCH64 ? "aarch64"
                                        : "unknown";
}

static json_t *counters_json(const struct argus_trace *trace)
{
    const struct argus_counter *counters;
    size_t count = argus_trace_counters(trace, &counters);
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(json, counters[i].name, json_integer((json_int_t)counters[i].value));
    return json;
}

static json_t *notes_json(const struct argus_trace *trace)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes);
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(json, note_json(notes[i], strlen(notes[i])));
    return json;
}

/* null: there are none, as in each finished trace. */
static json_t *copies_json(const struct argus_trace *trace)
{
    struct argus_snapshot_counts copies = argus_trace_count_snapshots(trace);
    if (!copies.plain && !copies.encrypted && !copies.locked)
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "plain", (json_int_t)copies.plain, "encrypted",
                     (json_int_t)copies.encrypted, "locked", (json_int_t)copies.locked);
}

static struct argus_error *print_json(struct session *session, const struct argus_trace *trace,
                                      const struct population *population,
                                      const struct argus_contents *contents)
{
    const struct argus_trace_header *header = argus_trace_header(trace);
    char format[32];
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    json_t *json = json_pack(
        "{s:o, s:s, s:s, s:s, s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:b, s:o, s:o}",
        "file", json_text(argus_trace_name(trace)), "trace_format",
        argus_trace_format(trace, format, sizeof(format)), "os", os_name(header->os), "arch",
        arch_name(header->arch), "host", json_text(header->host), "cpus", (int)header->cpu_count,
        "records", (json_int_t)argus_trace_record_count(trace), "lost",
        (json_int_t)argus_trace_lost_count(trace), "threads", (json_int_t)population->threads,
        "processes", (json_int_t)population->processes, "stacks",
        (json_int_t)argus_trace_stack_count(trace), "file_bytes",
        (json_int_t)argus_trace_file_bytes(trace), "start_ns", (json_int_t)start_ns, "end_ns",
        (json_int_t)end_ns, "start_wall_ns", (json_int_t)argus_trace_ns_to_wall_ns(trace, start_ns),
        "complete", argus_trace_complete(trace), "counters", counters_json(trace), "notes",
        notes_json(trace));
    if (json && strcmp(argus_trace_path(trace), argus_trace_name(trace)) != 0)
        json_object_set_new(json, "copy", json_text(argus_trace_path(trace)));
    if (json)
        json_object_set_new(json, "copied_stacks", copies_json(trace));
    if (json)
        json_object_set_new(json, "missing", info_gaps_json(trace));
    if (json && header->os == ARGUS_OS_DARWIN)
        json_object_set_new(json, "darwin", darwin_contents_json(contents));
    return json_output(session, "argus-info 1", json);
}

static void print_copies(struct session *session, const struct argus_trace *trace)
{
    struct argus_snapshot_counts copies = argus_trace_count_snapshots(trace);
    if (copies.plain)
        session_printf(session, "copies     %llu of stacks, not encrypted\n",
                       (unsigned long long)copies.plain);
    if (copies.encrypted)
        session_printf(session,
                       "copies     %llu of stacks, encrypted; their key is in the key ring "
                       "of this user\n",
                       (unsigned long long)copies.encrypted);
    if (copies.locked)
        session_printf(session,
                       "copies     %llu of stacks, encrypted; their key is not in the key "
                       "ring of this user\n",
                       (unsigned long long)copies.locked);
}

static void print_time(struct session *session, const struct argus_trace *trace)
{
    uint64_t start_ns, end_ns;
    char start[WALL_TIME_BYTES], end[32];
    argus_trace_time_range(trace, &start_ns, &end_ns);
    session_printf(session, "time       %s to %.12s, %.3f s\n",
                   argus_moment_text(trace, start_ns, start, sizeof(start)),
                   clock_text(trace, end_ns, end, sizeof(end)), (double)(end_ns - start_ns) / 1e9);
}

static void print_losses(struct session *session, const struct argus_trace *trace)
{
    const struct argus_loss *losses;
    size_t count = argus_trace_losses(trace, &losses);
    char from[32], to[32];
    for (size_t i = 0; i < count; i++)
        session_printf(
            session, "  lost     %llu on cpu %u between %s and %s\n",
            (unsigned long long)losses[i].count, losses[i].cpu,
            losses[i].from_ticks
                ? clock_text(trace, argus_trace_ticks_to_ns(trace, losses[i].from_ticks), from,
                             sizeof(from))
                : "the beginning",
            clock_text(trace, argus_trace_ticks_to_ns(trace, losses[i].to_ticks), to, sizeof(to)));
}

static void print_remarks(struct session *session, const struct argus_trace *trace)
{
    const struct argus_counter *counters;
    const char *const *notes;
    size_t count = argus_trace_counters(trace, &counters);
    for (size_t i = 0; i < count; i++)
        session_printf(session, "counter    %s %llu\n", counters[i].name,
                       (unsigned long long)counters[i].value);
    count = argus_trace_notes(trace, &notes);
    for (size_t i = 0; i < count && i < SHOWN_NOTES; i++)
        note_print(session, notes[i], strlen(notes[i]), true);
    if (count > SHOWN_NOTES)
        session_printf(session, "note       and %zu more (argus info --json prints all)\n",
                       count - SHOWN_NOTES);
}

/* Apple's formats have no mark for the end: a file that was cut between two records looks whole. */
static const char *wholeness(const struct argus_trace *trace)
{
    const struct argus_damage *damage;
    if (!argus_trace_complete(trace))
        return "cut off";
    if (!argus_trace_is_kdebug(trace))
        return "complete";
    return argus_trace_damage(trace, &damage) ? "cut off or damaged"
                                              : "complete as far as this format can tell";
}

/* A trace of another tool is read through a copy in the cache. */
static void print_file(struct session *session, const struct argus_trace *trace, uint64_t bytes)
{
    const char *name = argus_trace_name(trace), *path = argus_trace_path(trace);
    bool is_copy = strcmp(name, path) != 0;
    if (is_copy)
        session_printf(session, "file       %s\n", name);
    session_printf(session, "%s       %s, %llu bytes, %s\n", is_copy ? "copy" : "file", path,
                   (unsigned long long)bytes, wholeness(trace));
}

static void print_text(struct session *session, const struct argus_trace *trace,
                       const struct population *population, const struct argus_contents *contents)
{
    const struct argus_trace_header *header = argus_trace_header(trace);
    uint64_t records = argus_trace_record_count(trace), bytes = argus_trace_file_bytes(trace);
    print_file(session, trace, bytes);
    char format[32];
    session_printf(session, "format     %s%s\n", argus_trace_format(trace, format, sizeof(format)),
                   argus_trace_is_kdebug(trace) ? ""
                   : header->ring_bytes         ? ", ring"
                                                : ", stream");
    session_printf(session, "machine    %s (%s, %s, %u cpus)\n", header->host, os_name(header->os),
                   arch_name(header->arch), header->cpu_count);
    print_time(session, trace);
    session_printf(session, "records    %llu, %.2f bytes each in the file\n",
                   (unsigned long long)records, records ? (double)bytes / (double)records : 0.0);
    session_printf(session, "lost       %llu\n", (unsigned long long)argus_trace_lost_count(trace));
    print_losses(session, trace);
    session_printf(session, "threads    %zu in %zu processes\n", population->threads,
                   population->processes);
    if (header->os == ARGUS_OS_DARWIN)
        darwin_contents_print(session, contents);
    else
        session_printf(session, "stacks     %zu\n", argus_trace_stack_count(trace));
    print_copies(session, trace);
    info_gaps_print(session, trace);
    print_remarks(session, trace);
}

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

static struct argus_error *describe_steps(struct session *session,
                                          const struct arguments *arguments,
                                          struct argus_steps *steps)
{
    struct argus_sink sink = session_sink(session);
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error && arguments_has(arguments, "json"))
        error = argus_report_steps_about_json(&sink, steps);
    else if (!error)
        argus_report_steps_about(&sink, steps);
    argus_steps_close(steps);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_steps *steps;
    struct argus_error *steps_error = steps_of_arguments(arguments, &steps);
    if (steps_error || steps)
        return steps_error ? steps_error : describe_steps(session, arguments, steps);
    size_t next;
    struct session_trace *trace;
    struct population population = {0};
    struct argus_error *error = session_trace_get(session, arguments, &next, &trace);
    if (!error)
        error = arguments_expect(arguments, next, next);
    struct argus_contents contents = {0};
    if (!error)
        error = argus_contents_read(trace->trace, show_progress, session, &contents);
    if (!error)
        error = count_population(trace->trace, &contents, &population);
    if (error) {
        argus_contents_deinit(&contents);
        return error;
    }
    session_end_progress(session);
    if (arguments_has(arguments, "json"))
        error = print_json(session, trace->trace, &population, &contents);
    else
        print_text(session, trace->trace, &population, &contents);
    argus_contents_deinit(&contents);
    return error;
}

const struct command command_info = {
    .name = "info",
    .summary = "say what is in a trace: machine, time, records, losses",
    .details = "Reads only the file's index and tables, so it is quick for any file size. The\n"
               "threads and processes are those named in these tables. For a trace of macOS or\n"
               "iOS all records are read, because much of the information is only in them.\n"
               "\n"
               "FILE can also be a step file of argus step.",
    .example = "argus info freeze.argus\nargus info --json freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
