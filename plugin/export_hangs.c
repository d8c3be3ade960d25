#include "plugin/export_hangs.h"

#include <stdlib.h>

/* Further ones are not diagnosed. */
enum { MOST_DIAGNOSES = 50 };

void export_hangs_deinit(struct export_hangs *hangs)
{
    for (size_t i = 0; i < hangs->count; i++)
        argus_diagnosis_deinit(&hangs->diagnoses[i]);
    free(hangs->items);
    free(hangs->diagnoses);
    argus_hangs_deinit(&hangs->hangs);
}

static struct argus_error *diagnose(struct analysis *analysis, uint64_t threshold_ns, size_t at,
                                    struct export_hangs *hangs)
{
    struct argus_diagnose_options options = {.threshold_ns = threshold_ns};
    session_progress(analysis->session, "diagnosing", at, hangs->hangs.count);
    if (session_interrupted(analysis->session))
        return session_interrupt_error();
    struct argus_error *error =
        argus_diagnose(analysis->graph, analysis->report.symbols, hangs->items[at].hang, &options,
                       argus_asker_auto(), &hangs->diagnoses[at]);
    if (!error)
        hangs->items[at].diagnosis = &hangs->diagnoses[at];
    else if (error->code == ARGUS_ERROR_MEMORY || error->code == ARGUS_ERROR_INTERRUPTED)
        return error;
    argus_error_destroy(error);
    return NULL;
}

struct argus_error *export_hangs_find(struct analysis *analysis, const struct vertex_filter *filter,
                                      struct export_hangs *ret)
{
    struct argus_hang_options options = {
        .process_name = filter->process,
        .pid = filter->pid,
        .symbols = analysis->report.symbols,
    };
    struct argus_error *error =
        arguments_duration_ns(analysis->arguments, "threshold", &options.threshold_ns);
    if (!error)
        error = argus_hangs_find(analysis->graph, &options, &ret->hangs);
    if (error)
        return error;
    ret->items = calloc(ret->hangs.count + 1, sizeof(*ret->items));
    ret->diagnoses = calloc(ret->hangs.count + 1, sizeof(*ret->diagnoses));
    if (!ret->items || !ret->diagnoses)
        return argus_error_memory();
    for (size_t i = 0; i < ret->hangs.count; i++) {
        const struct argus_hang *hang = &ret->hangs.items[i];
        if (hang->end_ns >= filter->from_ns && hang->start_ns <= filter->to_ns)
            ret->items[ret->count++].hang = hang;
    }
    for (size_t i = 0; !error && i < ret->count && i < MOST_DIAGNOSES; i++)
        error = diagnose(analysis, options.threshold_ns, i, ret);
    if (!error && ret->count > MOST_DIAGNOSES)
        session_note(analysis->session,
                     "%zu hangs written, of which only the %d most urgent are diagnosed",
                     ret->count, MOST_DIAGNOSES);
    return error;
}
