#include "plugin/analysis.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "plugin/nearest.h"

static bool write_out(void *context, const char *text, size_t bytes)
{
    struct session *session = context;
    return fwrite(text, 1, bytes, session->out) == bytes && !session_interrupted(session);
}

struct argus_sink session_sink(struct session *session)
{
    return (struct argus_sink){write_out, session, (int)session->width, session->colour};
}

/* Notes without a category, from another backend. A stranger's trace can have thousands. */
static void warn_of_notes(struct session *session, const struct argus_trace *trace)
{
    const char *const *notes;
    size_t count = argus_trace_notes(trace, &notes), warnings = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(notes[i], "recorded ", 9) != 0 || warnings++ >= SHOWN_WARNINGS)
            continue;
        size_t length = strlen(notes[i]), bytes = shown_note_bytes(notes[i], length);
        session_warn(session, "%.*s%s", (int)bytes, notes[i], bytes < length ? "…" : "");
    }
    if (warnings > SHOWN_WARNINGS)
        session_warn(session, "and %zu more notes like these (argus info --json prints all)",
                     warnings - SHOWN_WARNINGS);
}

/* Warns of what is missing in the trace, because results depend on it. Once per loaded trace. */
static void warn_of_gaps(struct session *session, struct session_trace *trace)
{
    uint64_t lost = argus_trace_lost_count(trace->trace);
    if (trace->warned)
        return;
    trace->warned = true;
    if (lost)
        session_warn(session,
                     "%llu records were lost while recording: parts of the answer may be missing "
                     "(argus info says where)",
                     (unsigned long long)lost);
    warn_of_notes(session, trace->trace);
}

static void clear(struct session *session, const struct arguments *arguments, struct analysis *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->session = session;
    ret->arguments = arguments;
    ret->json = arguments_has(arguments, "json");
}

/* With ret->trace, whose graph is built. */
static struct argus_error *begin(struct analysis *ret)
{
    struct argus_error *error =
        session_trace_symbols(ret->session, ret->trace, &ret->report.symbols);
    if (error)
        return error;
    argus_symbols_forget_shown(ret->report.symbols);
    warn_of_gaps(ret->session, ret->trace);
    ret->graph = ret->trace->graph;
    ret->sink = session_sink(ret->session);
    ret->report.graph = ret->graph;
    ret->report.sink = &ret->sink;
    return NULL;
}

struct argus_error *analysis_begin(struct session *session, const struct arguments *arguments,
                                   size_t least, size_t most, struct analysis *ret)
{
    const char *path;
    clear(session, arguments, ret);
    struct argus_error *error = session_trace_path(session, arguments, &ret->next, &path);
    if (!error) /* before the graph is built, because that takes a while */
        error = arguments_expect(arguments, ret->next + least, ret->next + most);
    if (!error)
        error = session_trace_get_graph(session, arguments, &ret->next, &ret->trace);
    return error ? error : begin(ret);
}

struct argus_error *analysis_begin_file(struct session *session, const struct arguments *arguments,
                                        const char *path, struct analysis *ret)
{
    clear(session, arguments, ret);
    struct argus_error *error = session_trace_load(session, arguments, path, &ret->trace);
    if (error)
        return error;
    session_trace_destroy(session->once);
    session->once = ret->trace;
    return begin(ret);
}

void analysis_note_unnamed(const struct analysis *analysis)
{
    char text[512];
    if (argus_report_unnamed(analysis->report.symbols, text, sizeof(text)))
        session_note(analysis->session, "%s", text);
}

const char *analysis_word(const struct analysis *analysis, size_t index)
{
    return arguments_word(analysis->arguments, analysis->next + index);
}

struct argus_error *analysis_vertex(const struct analysis *analysis, const char *word,
                                    uint32_t *ret)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(analysis->graph, &vertices);
    char *end = NULL;
    errno = 0;
    unsigned long long id =
        word[0] == 'v' && isdigit((unsigned char)word[1]) ? strtoull(word + 1, &end, 10) : 0;
    if (!end || *end)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "'%s' is not a vertex: a vertex is written v1234", word);
    if (errno || id >= count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no vertex %s: the graph has %zu, from v0",
                                  word, count);
    *ret = (uint32_t)id;
    return NULL;
}

bool analysis_has_process(const struct analysis *analysis, uint64_t pid)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(analysis->graph, &processes);
    for (size_t i = 0; i < count; i++)
        if (processes[i].pid == pid)
            return true;
    return false;
}

bool analysis_has_thread(const struct analysis *analysis, uint64_t tid)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(analysis->graph, &threads);
    for (size_t i = 0; i < count; i++)
        if (threads[i].tid == tid)
            return true;
    return false;
}

struct argus_error *analysis_check_process(const struct analysis *analysis, const char *name)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(analysis->graph, &processes);
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(processes[i].name, name))
            return NULL;
        nearest_offer(&nearest, processes[i].name);
    }
    if (nearest.best)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no process '%s' in the trace; did you mean '%s'?", name,
                                  nearest.best);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "no process '%s' in the trace (the kernel keeps 15 bytes of a name)",
                              name);
}

struct argus_error *analysis_check_thread(const struct analysis *analysis, const char *text)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(analysis->graph, &threads);
    struct nearest nearest;
    nearest_init(&nearest, text);
    for (size_t i = 0; i < count; i++) {
        char tid[32];
        snprintf(tid, sizeof(tid), "%llu", (unsigned long long)threads[i].tid);
        if (!strcmp(threads[i].name, text) || !strcmp(tid, text))
            return NULL;
        nearest_offer(&nearest, threads[i].name);
    }
    if (nearest.best)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no thread '%s' in the trace; did you mean '%s'?", text,
                                  nearest.best);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "no thread '%s' in the trace, neither by id nor by name (the kernel "
                              "keeps 15 bytes of a name)",
                              text);
}
