#include "plugin/hang_contexts.h"

#include <stdio.h>

#include "plugin/hang_options.h"

bool hang_contexts_wanted(const struct arguments *arguments)
{
    return arguments_has(arguments, "hang") || arguments_has(arguments, "culprit");
}

/* Finds the hang by its index in `argus hangs`; with --process, among those of the process, or its
 * longest one. */
static struct argus_error *find_hang(const struct analysis *analysis, struct argus_hang *ret)
{
    struct argus_hang_options options = {.symbols = analysis->report.symbols};
    struct argus_hangs hangs;
    uint64_t number = 1;
    struct argus_error *error = hang_options_process(analysis, &options);
    options.at_least_one = hang_options_name(&options);
    if (!error)
        error = arguments_number(analysis->arguments, "hang", &number);
    if (!error)
        error = arguments_duration_ns(analysis->arguments, "threshold", &options.threshold_ns);
    if (!error)
        error = argus_hangs_find(analysis->graph, &options, &hangs);
    if (error)
        return error;
    if (number >= 1 && number <= hangs.count)
        *ret = hangs.items[number - 1];
    else
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                   "no hang %llu: there are %zu; --process=NAME takes the longest "
                                   "stretch of a program, --threshold finds shorter ones",
                                   (unsigned long long)number, hangs.count);
    argus_hangs_deinit(&hangs);
    return error;
}

/* What the culprit's thread did in the normal case: its largest part of the baseline's wait. */
static uint32_t normal_part(const struct analysis *analysis,
                            const struct argus_diagnosis *diagnosis, uint32_t culprit)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(analysis->graph, &vertices);
    for (size_t i = 0; i < diagnosis->comparison_count; i++) {
        const struct argus_path_part *part = &diagnosis->comparison[i];
        if (part->actual != ARGUS_NONE && part->normal != ARGUS_NONE &&
            vertices[part->actual].thread == vertices[culprit].thread)
            return part->normal;
    }
    return ARGUS_NONE;
}

static void tell(const struct analysis *analysis, const struct hang_contexts *found,
                 const char *what)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_vertices(analysis->graph, &vertices);
    argus_graph_threads(analysis->graph, &threads);
    argus_graph_processes(analysis->graph, &processes);
    const struct argus_thread *thread = &threads[vertices[found->vertex].thread];
    session_end_progress(analysis->session);
    session_note(analysis->session, "v%u of %s [%llu], %s; %s%s", found->vertex,
                 processes[thread->process].name, (unsigned long long)thread->tid, what,
                 found->base_name[0] ? "its baseline is " : "no baseline of it was found",
                 found->base_name);
}

static struct argus_error *take(const struct analysis *analysis,
                                const struct argus_diagnosis *diagnosis, struct hang_contexts *ret)
{
    bool culprit = arguments_has(analysis->arguments, "culprit");
    if (culprit && !diagnosis->culprit_count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "the diagnosis of this hang names no culprit");
    ret->vertex = culprit ? diagnosis->culprits[0].vertex : diagnosis->hang.vertex;
    ret->base_vertex = ARGUS_NONE;
    if (diagnosis->baseline != ARGUS_NONE && diagnosis->baseline_graph == analysis->graph)
        ret->base_vertex = culprit && ret->vertex != diagnosis->hang.vertex
                               ? normal_part(analysis, diagnosis, ret->vertex)
                               : diagnosis->baseline;
    ret->base_name[0] = 0;
    if (ret->base_vertex != ARGUS_NONE)
        snprintf(ret->base_name, sizeof(ret->base_name), "v%u", ret->base_vertex);
    tell(analysis, ret, culprit ? "the culprit of the hang" : "the spinning vertex of the hang");
    return NULL;
}

struct argus_error *hang_contexts_find(const struct analysis *analysis, struct hang_contexts *ret)
{
    struct argus_diagnose_options options = {.threshold_ns = 0};
    struct argus_diagnosis diagnosis;
    struct argus_hang hang;
    struct argus_error *error = find_hang(analysis, &hang);
    if (!error)
        error = argus_diagnose(analysis->graph, analysis->report.symbols, &hang, &options,
                               argus_asker_auto(), &diagnosis);
    if (error)
        return error;
    error = take(analysis, &diagnosis, ret);
    argus_diagnosis_deinit(&diagnosis);
    return error;
}
