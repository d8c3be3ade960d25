#include "api/api.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/arguments.h"

/* The options of a command that reads a graph, none of which is given. */
static const struct command_option options[] = {COMMAND_OPTIONS_END};
static const struct command command_open = {
    .name = "open", .options = options, .flags = COMMAND_TRACE | COMMAND_GRAPH};

const char *argus_library_version(void)
{
    return ARGUS_VERSION;
}

/* --- the host of the session: no terminal, warnings are kept --- */

static bool is_interrupted(void *data)
{
    return ((struct argus_file *)data)->stopped;
}

static void keep_remark(void *data, const char *level, const char *text)
{
    struct argus_file *file = data;
    (void)level;
    for (size_t i = 0; i < file->warning_count; i++)
        if (strcmp(file->warnings[i], text) == 0)
            return; /* each call can find the same */
    char **warnings = realloc(file->warnings, (file->warning_count + 1) * sizeof(*warnings));
    if (!warnings)
        return; /* a warning less */
    file->warnings = warnings;
    if ((warnings[file->warning_count] = strdup(text)))
        file->warning_count++;
}

static void show_progress(void *data, const char *what, uint64_t done, uint64_t total)
{
    struct argus_file *file = data;
    double share = total ? (double)done / (double)total : -1;
    if (what && file->options.go_on && !file->options.go_on(file->options.data, what, share))
        file->stopped = true;
}

static bool read_no_line(void *data, const char *text, const char *prompt, char *ret, size_t bytes)
{
    (void)data, (void)text, (void)prompt, (void)ret, (void)bytes;
    return false;
}

static bool cannot_ask(void *data)
{
    (void)data;
    return false;
}

void api_file_begin(struct argus_file *file)
{
    file->stopped = false;
    session_begin(&file->session);
    session_trace_forget_shown(file->trace);
}

struct argus_error *api_file_end(struct argus_file *file, struct argus_error *error)
{
    session_end_progress(&file->session);
    if (!file->stopped) {
        session_trace_note_fetched(&file->session, file->trace);
        return error;
    }
    if (error && error->code != ARGUS_ERROR_INTERRUPTED)
        return error;
    argus_error_destroy(error);
    return argus_error_create(ARGUS_ERROR_INTERRUPTED, "the function go_on ended the call");
}

bool api_file_progress(void *context, const char *what, double share)
{
    struct argus_file *file = context;
    session_progress(&file->session, what, (uint64_t)(share * 100), 100);
    return !file->stopped;
}

/* --- options --- */

struct argus_error *api_take_options(const void *given, void *ret, size_t bytes)
{
    size_t given_bytes = given ? *(const size_t *)given : 0;
    memset(ret, 0, bytes);
    if (given && given_bytes < sizeof(size_t))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the member size_bytes of the options is not set to their size");
    if (given)
        memcpy(ret, given, given_bytes < bytes ? given_bytes : bytes);
    return NULL;
}

/* --- open and close --- */

static bool is_whole(const struct argus_file *file)
{
    const struct argus_damage *damage;
    return argus_trace_complete(file->trace->trace) &&
           !argus_trace_damage(file->trace->trace, &damage) &&
           !argus_graph_damaged_chunks(file->trace->graph);
}

static void describe(struct argus_file *file)
{
    const struct argus_trace *trace = file->trace->trace;
    const struct argus_graph *graph = file->trace->graph;
    const struct argus_trace_header *header = argus_trace_header(trace);
    file->info = (struct argus_file_info){
        .path = file->trace->path,
        .format = argus_trace_format(trace, file->format, sizeof(file->format)),
        .os = header->os == ARGUS_OS_LINUX ? "linux" : "darwin",
        .host = header->host,
        .cpus = header->cpu_count,
        .start_ns = argus_graph_start_ns(graph),
        .end_ns = argus_graph_end_ns(graph),
        .start_wall_ns = argus_trace_ns_to_wall_ns(trace, argus_graph_start_ns(graph)),
        .records = argus_trace_record_count(trace),
        .lost = argus_trace_lost_count(trace),
        .complete = is_whole(file),
        .imported = session_trace_is_imported(file->trace),
    };
}

static void warn_of_loss(struct argus_file *file)
{
    if (file->info.lost)
        session_warn(&file->session,
                     "%llu records were lost while recording: parts of an answer may be missing",
                     (unsigned long long)file->info.lost);
}

static struct argus_error *load(struct argus_file *file, const char *path)
{
    static const char *const no_words[] = {NULL};
    struct arguments *arguments;
    struct argus_error *error = arguments_parse(&command_open, 0, no_words, &arguments);
    if (error)
        return error;
    error = session_trace_load(&file->session, arguments, path, &file->trace);
    arguments_destroy(arguments);
    if (!error)
        error = session_trace_symbols(&file->session, file->trace, &file->symbols);
    return error;
}

struct argus_error *argus_file_open(const char *path, const struct argus_open_options *given,
                                    struct argus_file **ret)
{
    struct argus_file *file = calloc(1, sizeof(*file));
    if (!file)
        return argus_error_memory();
    struct session_host host = {file,         is_interrupted, keep_remark, show_progress,
                                read_no_line, cannot_ask,     NULL};
    session_init(&file->session, &host, NULL);
    file->session.in_lldb = true; /* the process is not ours: its memory limits stay as they are */
    atomic_init(&file->references, 1);
    struct argus_error *error = api_take_options(given, &file->options, sizeof(file->options));
    api_file_begin(file);
    if (!error)
        error = load(file, path);
    error = api_file_end(file, error);
    if (error) {
        argus_file_close(file);
        return error;
    }
    describe(file);
    warn_of_loss(file);
    *ret = file;
    return NULL;
}

struct argus_file *api_file_keep(struct argus_file *file)
{
    atomic_fetch_add(&file->references, 1);
    return file;
}

void argus_file_close(struct argus_file *file)
{
    if (!file || atomic_fetch_sub(&file->references, 1) > 1)
        return;
    session_trace_destroy(file->trace);
    session_deinit(&file->session);
    for (size_t i = 0; i < file->warning_count; i++)
        free(file->warnings[i]);
    free(file->warnings);
    free(file);
}

const struct argus_file_info *argus_file_info_get(const struct argus_file *file)
{
    return &file->info;
}

const char *argus_file_warning(const struct argus_file *file, size_t index)
{
    return index < file->warning_count ? file->warnings[index] : NULL;
}
