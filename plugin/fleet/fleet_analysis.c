#include "plugin/fleet/fleet_analysis.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash64.h"
#include "fleet/fleet_row.h"
#include "plugin/hang_of_file.h"
#include "plugin/session_trace.h"
#include "report/json.h"

struct file_analysis {
    struct argus_report_context context;
    struct fleet_source source;
    json_t *rows;
};

/* 0 for a folder, or if it cannot be read. */
static uint64_t hash_file(const char *path)
{
    enum { BLOCK = 1 << 20 };
    uint64_t hash = 0;
    ssize_t got = 0;
    char *block = malloc(BLOCK);
    int fd = block ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    while (fd >= 0 && (got = read(fd, block, BLOCK)) > 0)
        hash = hash64(hash, block, (size_t)got);
    if (fd >= 0)
        close(fd);
    free(block);
    return got < 0 ? 0 : hash;
}

static struct argus_error *add_hang(struct file_analysis *analysis, const struct argus_hang *hang,
                                    uint64_t number)
{
    const struct argus_diagnose_options options = {.threshold_ns = 0};
    struct argus_diagnosis diagnosis;
    if (hang->nature == ARGUS_NATURE_IDLE)
        return NULL;
    struct argus_error *error = argus_diagnose(analysis->context.graph, analysis->context.symbols,
                                               hang, &options, argus_asker_auto(), &diagnosis);
    if (error)
        return error;
    analysis->source.number = number;
    json_add(analysis->rows, fleet_row(&analysis->context, &diagnosis, &analysis->source));
    argus_diagnosis_deinit(&diagnosis);
    return NULL;
}

static bool contains(const struct argus_hangs *hangs, const struct argus_hang *hang)
{
    for (size_t i = 0; i < hangs->count; i++)
        if (hangs->items[i].thread == hang->thread && hangs->items[i].start_ns < hang->end_ns &&
            hang->start_ns < hangs->items[i].end_ns)
            return true;
    return false;
}

static struct argus_error *add_hangs(struct file_analysis *analysis)
{
    const struct argus_graph *graph = analysis->context.graph;
    struct argus_hang_options options = {.symbols = analysis->context.symbols};
    struct argus_hangs hangs;
    struct argus_hang kept;
    bool found = false;
    struct argus_error *error = argus_hangs_find(graph, &options, &hangs);
    if (error)
        return error;
    for (size_t i = 0; !error && i < hangs.count; i++)
        error = add_hang(analysis, &hangs.items[i], i + 1);
    if (!error)
        error = hang_of_file_find(graph, analysis->context.symbols, &kept, &found);
    if (!error && found && !contains(&hangs, &kept))
        error = add_hang(analysis, &kept, 0);
    argus_hangs_deinit(&hangs);
    return error;
}

static bool is_damaged(const struct session_trace *trace)
{
    const struct argus_damage *damage;
    return !argus_trace_complete(trace->trace) || argus_trace_damage(trace->trace, &damage) ||
           argus_graph_damaged_chunks(trace->graph);
}

static struct argus_error *analyse_trace(const struct session_trace *trace, const char *path,
                                         json_t **ret)
{
    struct file_analysis analysis = {
        .context = {.graph = trace->graph},
        .source = {.path = path, .content = hash_file(path), .damaged = is_damaged(trace)},
        .rows = json_array()};
    struct argus_error *error = argus_symbols_create(trace->graph, &analysis.context.symbols);
    if (!error)
        error = add_hangs(&analysis);
    argus_symbols_destroy(analysis.context.symbols);
    if (error)
        json_decref(analysis.rows);
    else
        *ret = analysis.rows;
    return error;
}

struct argus_error *fleet_analyse(struct session *session, const struct arguments *arguments,
                                  const char *path, json_t **ret)
{
    struct session_trace *trace;
    struct argus_error *error = session_trace_load(session, arguments, path, &trace);
    if (error)
        return error;
    error = analyse_trace(trace, path, ret);
    session_trace_destroy(trace);
    return error;
}
