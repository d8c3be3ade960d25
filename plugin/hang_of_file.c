#include "plugin/hang_of_file.h"

#include "argus/report.h"
#include "base/overlap.h"

#define SOON_NS 100000000u

/* How much of the hang that the recorder saw this one explains; 0: too little. The recorder only
 * knows the returns from poll calls; the analysis knows more, so the times differ, and one hang of
 * the recorder may be several ones, with a moment in between. */
static uint64_t explained_ns(const struct argus_kept_hang *kept, const struct argus_hang *hang)
{
    uint64_t ns = overlap_ns(kept->start_ns, kept->start_ns + kept->duration_ns, hang->start_ns,
                             hang->end_ns);
    bool is_part = ns > (hang->end_ns - hang->start_ns) / 2 && ns > kept->duration_ns / 4;
    return is_part || ns > kept->duration_ns / 2 ? ns : 0;
}

static bool take_best(const struct argus_kept_hang *kept, const struct argus_hangs *hangs,
                      struct argus_hang *ret)
{
    uint64_t best_ns = 0;
    bool found = false;
    for (size_t i = 0; i < hangs->count; i++) {
        uint64_t ns = explained_ns(kept, &hangs->items[i]);
        if (ns <= best_ns)
            continue;
        best_ns = ns;
        *ret = hangs->items[i];
        found = true;
    }
    return found;
}

/* A hang that is longer than what the ring could hold is explained by the part that it holds. */
static void drop_part_before(const struct argus_trace *trace, struct argus_kept_hang *kept)
{
    uint64_t start_ns, end_ns, kept_end_ns = kept->start_ns + kept->duration_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    if (kept->start_ns >= start_ns || kept_end_ns <= start_ns)
        return;
    kept->start_ns = start_ns;
    kept->duration_ns = kept_end_ns - start_ns;
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
    drop_part_before(trace, &kept);
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

void hang_of_file_warn(struct session *session, const struct argus_trace *trace)
{
    char lost[32], lasted[32];
    struct argus_kept_hang kept;
    uint64_t start_ns, end_ns;
    if (!trace || !argus_kept_hang_get(trace, &kept))
        return;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    argus_duration_text(kept.duration_ns, lasted, sizeof(lasted));
    if (kept.start_ns >= start_ns) {
        session_warn(session,
                     "the records do not show the hang of %s [%llu], of %s, for which this file "
                     "was kept",
                     kept.process, (unsigned long long)kept.pid, lasted);
        return;
    }
    argus_duration_text(start_ns - kept.start_ns, lost, sizeof(lost));
    session_warn(session,
                 "the hang of %s [%llu], of %s, for which this file was kept, began %s before the "
                 "first record, so it is not explained (a larger ring: argus start --ring-size)",
                 kept.process, (unsigned long long)kept.pid, lasted, lost);
}

/* Whether other programs had filled the ring again when the hang was over. */
static bool begins_after(const struct argus_trace *trace, const struct argus_kept_hang *kept)
{
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    return kept->start_ns + kept->duration_ns <= start_ns;
}

static bool has_kept(const struct argus_graph *graph, const struct argus_kept_hang *kept,
                     const struct argus_hangs *hangs)
{
    const struct argus_thread *threads;
    argus_graph_threads(graph, &threads);
    for (size_t i = 0; i < hangs->count; i++)
        if (threads[hangs->items[i].thread].tid == kept->tid &&
            explained_ns(kept, &hangs->items[i]))
            return true;
    return false;
}

/* Whether `argus hangs` lists the hang, or lists it with a threshold of half its duration. */
static struct argus_error *is_listed(const struct argus_graph *graph, struct argus_symbols *symbols,
                                     const struct argus_kept_hang *kept, bool *ret)
{
    struct argus_hangs hangs;
    struct argus_hang_options options = {.symbols = symbols};
    if (kept->duration_ns / 2 < ARGUS_HANG_THRESHOLD_NS)
        options.threshold_ns = kept->duration_ns / 2;
    struct argus_error *error = argus_hangs_find(graph, &options, &hangs);
    if (error)
        return error;
    *ret = has_kept(graph, kept, &hangs);
    argus_hangs_deinit(&hangs);
    return NULL;
}

/* The longest time between two UI events that the thread took, within the kept hang. */
static uint64_t longest_without_event_ns(const struct argus_graph *graph,
                                         const struct argus_thread *thread,
                                         const struct argus_kept_hang *kept)
{
    const struct argus_vertex *vertices;
    uint64_t longest_ns = 0, at_ns = kept->start_ns, until_ns = at_ns + kept->duration_ns;
    struct argus_callback event;
    argus_graph_vertices(graph, &vertices);
    for (uint32_t v = thread->first_vertex; v < thread->first_vertex + thread->vertex_count; v++) {
        uint64_t start_ns = vertices[v].start_ns;
        if (start_ns < at_ns || start_ns > until_ns || !argus_graph_ui_event(graph, v, &event))
            continue;
        longest_ns = start_ns - at_ns > longest_ns ? start_ns - at_ns : longest_ns;
        at_ns = start_ns;
    }
    return until_ns - at_ns > longest_ns ? until_ns - at_ns : longest_ns;
}

static const struct argus_thread *thread_of(const struct argus_graph *graph,
                                            const struct argus_kept_hang *kept)
{
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(graph, &threads);
    for (size_t i = 0; i < count; i++)
        if (threads[i].tid == kept->tid)
            return &threads[i];
    return NULL;
}

/* Whether the thread took the events of its window all the time, as in a menu or a prompt. */
static bool took_events(const struct argus_graph *graph, const struct argus_kept_hang *kept)
{
    const struct argus_thread *thread = thread_of(graph, kept);
    return thread && longest_without_event_ns(graph, thread, kept) < kept->duration_ns / 2;
}

/* Whether the thread had left its loop in order to end: it ended as soon as it was back, by itself.
 * A program that the user ends because it is frozen is killed in its wait. */
static bool ended_itself(const struct argus_graph *graph, const struct argus_kept_hang *kept)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *thread = thread_of(graph, kept);
    argus_graph_vertices(graph, &vertices);
    if (!thread || !thread->vertex_count ||
        thread->end_ns > kept->start_ns + kept->duration_ns + SOON_NS)
        return false;
    for (uint32_t v = 0; v < thread->vertex_count; v++)
        if (vertices[thread->first_vertex + v].wait.outcome == ARGUS_OUTCOME_KILLED)
            return false;
    return true;
}

/* Whether the thread is a loop that was in its own wait for most of the part of the hang that the
 * trace has. */
static struct argus_error *was_idle(const struct argus_graph *graph, struct argus_symbols *symbols,
                                    const struct argus_kept_hang *kept, bool *ret)
{
    struct argus_hang_options options = {.tid = kept->tid,
                                         .has_time = true,
                                         .time_ns = kept->start_ns,
                                         .until_ns = kept->start_ns + kept->duration_ns,
                                         .symbols = symbols};
    struct argus_loops loops;
    struct argus_error *error = argus_loops_find(graph, &options, &loops);
    if (error)
        return error;
    *ret = loops.count > 0 && loops.items[0].idle_ns > kept->duration_ns / 2;
    argus_loops_deinit(&loops);
    return NULL;
}

struct argus_error *hang_of_file_standing(const struct argus_graph *graph,
                                          struct argus_symbols *symbols, enum hang_standing *ret)
{
    struct argus_kept_hang kept;
    const struct argus_trace *trace = argus_graph_trace(graph);
    bool listed = false, idle = false;
    *ret = HANG_UNCLEAR;
    if (!trace || !argus_kept_hang_get(trace, &kept))
        return NULL;
    if (begins_after(trace, &kept)) {
        *ret = HANG_UNRECORDED;
        return NULL;
    }
    drop_part_before(trace, &kept);
    struct argus_error *error = is_listed(graph, symbols, &kept, &listed);
    if (!error && !listed)
        error = was_idle(graph, symbols, &kept, &idle);
    idle |= !error && !listed && (took_events(graph, &kept) || ended_itself(graph, &kept));
    *ret = listed ? HANG_LISTED : idle ? HANG_REFUTED : HANG_UNCLEAR;
    return error;
}
