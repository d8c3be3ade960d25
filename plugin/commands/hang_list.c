#include "plugin/commands/hang_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ends_in.h"
#include "base/vec.h"
#include "plugin/commands/hang_explain.h"
#include "plugin/commands/hang_folder.h"
#include "plugin/paths.h"
#include "plugin/trace_folder.h"

struct reading {
    struct session *session;
    const struct arguments *arguments;
    struct argus_kept_hang wanted; /* process, pid, duration_ns to list; "" and 0 for all */
    VEC(char *) names;
    VEC(struct hang_list_row) rows;
    VEC(struct hang_list_rest) rest;
    uint64_t other_count;
};

bool hang_list_wanted(const struct arguments *arguments)
{
    const char *word = arguments_word(arguments, 0);
    char *path = word ? paths_expand_home(word) : NULL;
    struct stat status;
    bool is_folder = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
                     !trace_folder_is(path, &status);
    free(path);
    return is_folder;
}

void hang_list_deinit(struct hang_list *list)
{
    for (size_t i = 0; i < list->row_count; i++)
        free(list->rows[i].file);
    for (size_t i = 0; i < list->rest_count; i++) {
        free(list->rest[i].file);
        free(list->rest[i].why);
    }
    free(list->rows);
    free(list->rest);
}

/* --- file names --- */

/* Files that Argus itself puts next to a trace are not reported. */
static bool is_sidecar(const char *name)
{
    static const char *const ends[] = {".argus.graph", ".argus.answers", ".argus.html"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_in(name, ends[i]))
            return true;
    return name[0] == '.';
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct argus_error *read_names(struct reading *reading, const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool good = true;
    if (!folder)
        return argus_error_os(errno, "cannot read the folder %s", path);
    while (good && (entry = readdir(folder))) {
        char *name = NULL;
        if (ends_in(entry->d_name, ".argus"))
            good = (name = strdup(entry->d_name)) && vec_push(&reading->names, name);
        else
            reading->other_count += !is_sidecar(entry->d_name);
        if (!good)
            free(name);
    }
    closedir(folder);
    if (reading->names.length)
        qsort(reading->names.data, reading->names.length, sizeof(char *), compare_names);
    return good ? NULL : argus_error_memory();
}

/* --- reading one file --- */

static bool is_wanted(const struct reading *reading, const struct argus_kept_hang *hang)
{
    const struct argus_kept_hang *wanted = &reading->wanted;
    return (!wanted->process[0] || strcmp(wanted->process, hang->process) == 0) &&
           (!wanted->pid || wanted->pid == hang->pid) && hang->duration_ns >= wanted->duration_ns;
}

static struct argus_error *add_row(struct reading *reading, const char *name,
                                   struct hang_list_row row)
{
    if (!is_wanted(reading, &row.hang))
        return NULL;
    row.file = strdup(name);
    if (row.file && vec_push(&reading->rows, row))
        return NULL; // cppcheck-suppress memleak // the vector has it
    free(row.file);
    return argus_error_memory();
}

static struct argus_error *add_rest(struct reading *reading, const char *name, const char *why)
{
    struct hang_list_rest rest = {strdup(name), strdup(why)};
    if (rest.file && rest.why && vec_push(&reading->rest, rest))
        return NULL;
    free(rest.file);
    free(rest.why);
    return argus_error_memory();
}

/* Reads the file's notes about the hang it was kept for. `*ret_known`: no analysis is needed. */
static struct argus_error *read_notes(const char *path, struct hang_list_row *ret, bool *ret_known)
{
    struct argus_trace *trace;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    *ret_known = argus_kept_hang_get(trace, &ret->hang) && ret->hang.diagnosed;
    ret->wall_ns = argus_trace_ns_to_wall_ns(trace, ret->hang.start_ns);
    argus_trace_close(trace);
    return NULL;
}

static struct argus_error *take_first(struct session *session, struct session_trace *trace,
                                      const struct argus_hang *hang, struct hang_list_row *ret)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_threads(trace->graph, &threads);
    argus_graph_processes(trace->graph, &processes);
    const struct argus_thread *thread = &threads[hang->thread];
    const struct argus_process *process = &processes[thread->process];
    ret->hang = (struct argus_kept_hang){.pid = process->pid,
                                         .tid = thread->tid,
                                         .start_ns = hang->start_ns,
                                         .duration_ns = hang->end_ns - hang->start_ns,
                                         .over = !hang->ongoing};
    snprintf(ret->hang.process, sizeof(ret->hang.process), "%s", process->name);
    ret->wall_ns = argus_trace_ns_to_wall_ns(trace->trace, hang->start_ns);
    return hang_explain(session, trace, hang, &ret->hang);
}

static struct argus_error *analyse_trace(struct reading *reading, struct session_trace *trace,
                                         struct hang_list_row *ret)
{
    struct argus_hang_options options = {.process_name = NULL};
    struct argus_hangs hangs;
    struct argus_error *error = session_trace_symbols(reading->session, trace, &options.symbols);
    if (reading->wanted.process[0])
        options.process_name = reading->wanted.process;
    options.pid = reading->wanted.pid;
    options.threshold_ns = reading->wanted.duration_ns;
    if (!error)
        error = argus_hangs_find(trace->graph, &options, &hangs);
    if (error)
        return error;
    ret->hang_count = hangs.count;
    if (hangs.count)
        error = take_first(reading->session, trace, &hangs.items[0], ret);
    argus_hangs_deinit(&hangs);
    return error;
}

static struct argus_error *analyse(struct reading *reading, const char *path,
                                   struct hang_list_row *ret)
{
    struct session_trace *trace;
    enum hang_standing standing;
    /* the file was kept for a hang but not diagnosed; do not take another hang */
    if (ret->hang.pid) {
        uint64_t seen_ns = ret->hang.start_ns;
        struct argus_error *error =
            hang_explain_file(reading->session, reading->arguments, path, &ret->hang, &standing);
        ret->wall_ns += ret->hang.start_ns - seen_ns; /* the analysis knows the beginning better */
        ret->hang_count = 1;
        return error;
    }
    struct argus_error *error =
        session_trace_load(reading->session, reading->arguments, path, &trace);
    if (error)
        return error;
    error = analyse_trace(reading, trace, ret);
    session_trace_destroy(trace);
    return error;
}

/* Keeps the error of one file with that file, so that the others are still listed. */
static struct argus_error *read_file(struct reading *reading, const char *name, const char *path)
{
    struct hang_list_row row = {.hang_count = 0};
    bool known = false;
    if (hang_folder_is_unfinished(path))
        return add_rest(reading, name, "it is still being written: list the folder again later");
    struct argus_error *error = read_notes(path, &row, &known);
    bool wanted = !row.hang.pid || is_wanted(reading, &row.hang);
    if (!error && !known && wanted)
        error = analyse(reading, path, &row);
    if (session_interrupted(reading->session)) {
        argus_error_destroy(error);
        return session_interrupt_error();
    }
    if (error) {
        struct argus_error *failed = add_rest(reading, name, error->message);
        argus_error_destroy(error);
        return failed;
    }
    if (known || row.hang_count)
        return add_row(reading, name, row);
    return wanted ? add_rest(reading, name, "it contains no hang") : NULL;
}

/* --- reading the folder --- */

static int compare_newest_first(const void *a, const void *b)
{
    const struct hang_list_row *x = a, *y = b;
    if (x->wall_ns != y->wall_ns)
        return x->wall_ns > y->wall_ns ? -1 : 1;
    return strcmp(x->file, y->file);
}

static struct argus_error *read_files(struct reading *reading, const char *folder)
{
    struct argus_error *error = read_names(reading, folder);
    for (size_t i = 0; !error && i < reading->names.length; i++) {
        char *path;
        if (asprintf(&path, "%s/%s", folder, reading->names.data[i]) < 0)
            return argus_error_memory();
        session_progress(reading->session, "reading traces", i, reading->names.length);
        error = read_file(reading, reading->names.data[i], path);
        free(path);
    }
    session_end_progress(reading->session);
    return error;
}

/* A thread or a time identifies a hang in one file, but means something else in each of many
 * files. */
static struct argus_error *check_options(struct reading *reading)
{
    static const char *const refused[] = {"tid", "thread", "time", "with"};
    const char *process = arguments_option(reading->arguments, "process");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (arguments_has(reading->arguments, refused[i]))
            return argus_error_create(ARGUS_ERROR_USAGE, "--%s goes with FILE, not with a folder",
                                      refused[i]);
    snprintf(reading->wanted.process, sizeof(reading->wanted.process), "%s",
             process ? process : "");
    struct argus_error *error = arguments_expect(reading->arguments, 1, 1);
    if (!error)
        error = arguments_number(reading->arguments, "pid", &reading->wanted.pid);
    return error ? error
                 : arguments_duration_ns(reading->arguments, "threshold",
                                         &reading->wanted.duration_ns);
}

struct argus_error *hang_list_read(struct session *session, const struct arguments *arguments,
                                   struct hang_list *ret)
{
    struct reading reading = {.session = session, .arguments = arguments};
    const char *folder = arguments_word(arguments, 0);
    char *path = paths_expand_home(folder);
    struct argus_error *error = path ? check_options(&reading) : argus_error_memory();
    if (!error)
        error = read_files(&reading, path);
    if (reading.rows.length)
        qsort(reading.rows.data, reading.rows.length, sizeof(*reading.rows.data),
              compare_newest_first);
    for (size_t i = 0; i < reading.names.length; i++)
        free(reading.names.data[i]);
    vec_deinit(&reading.names);
    free(path);
    *ret = (struct hang_list){.folder = folder,
                              .rows = reading.rows.data,
                              .row_count = reading.rows.length,
                              .rest = reading.rest.data,
                              .rest_count = reading.rest.length,
                              .other_count = reading.other_count};
    return error;
}
