#include "plugin/hang_of_file.h"

#include "base/overlap.h"

/* Takes the hang that overlaps most, and by more than half, with the one that the recorder saw. The
 * recorder only knows the returns from poll calls; the analysis knows more, so the times differ. */
static bool take_best(const struct argus_kept_hang *kept, const struct argus_hangs *hangs,
                      struct argus_hang *ret)
{
    uint64_t best_ns = kept->duration_ns / 2;
    bool found = false;
    for (size_t i = 0; i < hangs->count; i++) {
        uint64_t ns = overlap_ns(kept->start_ns, kept->start_ns + kept->duration_ns,
                                 hangs->items[i].start_ns, hangs->items[i].end_ns);
        if (ns <= best_ns)
            continue;
        best_ns = ns;
        *ret = hangs->items[i];
        found = true;
    }
    return found;
}

struct argus_error *hang_of_file_find(const struct argus_graph *graph,
                                      struct argus_symbols *symbols, struct argus_hang *ret,
                                      bool *ret_found)
{
    struct argus_kept_hang kept;
    struct argus_hangs hangs;
    const struct argus_trace *trace = argus_graph_trace(graph);
    *ret_found = false;
    if (!trace || !argus_kept_hang_get(trace, &kept))
        return NULL;
    struct argus_hang_options options = {.tid = kept.tid,
                                         .has_time = true,
                                         .time_ns = kept.start_ns,
                                         .until_ns = kept.start_ns + kept.duration_ns,
                                         .at_least_one = true,
                                         .symbols = symbols};
    struct argus_error *error = argus_hangs_find(graph, &options, &hangs);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) { /* the trace has no such thread */
        argus_error_destroy(error);
        return NULL;
    }
    if (error)
        return error;
    *ret_found = take_best(&kept, &hangs, ret);
    argus_hangs_deinit(&hangs);
    return NULL;
}
