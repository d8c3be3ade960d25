/* Algorithm 1 of the Argus paper, with the recursion.
 *
 * The hang's type chooses the way:
 *   - long_running.c: a busy thread; what it ran, and what set it off. For a yield loop: on which
 *     flag.
 *   - long_wait.c: from wait to wait to the thread that is behind them.
 * In all cases the whole hang is accounted for. Threads with a noteworthy share of it are named
 * after the root cause.
 */
#include "diagnose/diagnoser.h"

#include <string.h>

#include "diagnose/reasons.h"
#include "diagnose/without_task.h"

typedef struct argus_error *(*diagnose_type)(struct diagnoser *d);

/* To add a type of hang: a row and a file. */
static const diagnose_type by_type[] = {
    [ARGUS_TYPE_NORMAL] = diagnose_long_wait,
    [ARGUS_TYPE_LONG_RUNNING] = diagnose_long_running,
    [ARGUS_TYPE_REPEATED_YIELD] = diagnose_repeated_yield,
    [ARGUS_TYPE_LONG_WAIT] = diagnose_long_wait,
};

/* Moves the results to the caller; the diagnoser is empty afterwards. */
static void give(struct diagnoser *d, struct argus_diagnosis *ret)
{
    *ret = (struct argus_diagnosis){.hang = d->hang,
                                    .baseline = d->baseline,
                                    .baseline_graph = d->baseline_graph,
                                    .comparison = d->comparison,
                                    .comparison_count = d->comparison_count,
                                    .path = d->path.data,
                                    .path_count = d->path.length,
                                    .culprits = d->culprits.data,
                                    .culprit_count = d->culprits.length,
                                    .cycle = d->cycle.data,
                                    .cycle_count = d->cycle.length,
                                    .cycle_broken_by_timeout = d->cycle_broken_by_timeout,
                                    .guessed = d->guessed,
                                    .accounting = d->accounting,
                                    .origin = d->origin.data,
                                    .origin_count = d->origin.length,
                                    .uncertain = d->uncertain.data,
                                    .uncertain_count = d->uncertain.length};
    ret->asked = ask_list_take(&d->questions, &ret->asked_count);
}

/* A lack of memory explains waits and work alike: both are the kernel's, on behalf of the thread.
 */
static struct argus_error *explain_memory(struct diagnoser *d, bool *ret_done)
{
    struct window whole = {d->hang.start_ns, d->hang.end_ns};
    *ret_done = false;
    if (d->hang.runnable_ns >= window_ns(whole) / 2) /* it got no CPU to free memory */
        return NULL;
    struct argus_error *error =
        diagnoser_blame_memory(d, d->hang.vertex, d->hang.type, whole, ret_done);
    if (!error && *ret_done && !diagnoser_add_step(d, d->hang.vertex, ARGUS_NONE, false))
        error = argus_error_memory();
    return error;
}

/* Without records of wake-ups and system calls, no thread can be named: only that it waited. */
static bool is_untold(const struct diagnoser *d)
{
    return d->hang.type != ARGUS_TYPE_LONG_RUNNING && argus_graph_lacks_wakeups(d->view.graph) &&
           argus_graph_lacks_calls(d->view.graph);
}

static struct argus_error *blame_untold(struct diagnoser *d)
{
    struct window whole = {d->hang.start_ns, d->hang.end_ns};
    if (!diagnoser_add_step(d, d->hang.vertex, ARGUS_NONE, false))
        return argus_error_memory();
    return diagnoser_blame_waiting(d, d->hang.vertex, whole, ARGUS_REASON_NO_WAKEUPS, ARGUS_NONE);
}

static struct argus_error *run(struct diagnoser *d)
{
    struct argus_error *error = argus_account(d->view.graph, d->hang.thread, d->hang.start_ns,
                                              d->hang.end_ns, &d->accounting);
    if (error || d->hang.nature == ARGUS_NATURE_IDLE) /* an idle thread has no culprit */
        return error;
    if (is_untold(d))
        return blame_untold(d);
    bool is_memory, is_in_scheduler = hang_is_in_scheduler(d);
    struct task_asker asker = {.d = d, .user = d->questions.asker};
    if (is_in_scheduler)
        d->questions.asker = without_task_asker(&asker);
    error = explain_memory(d, &is_memory);
    if (!error && !is_memory)
        error = by_type[d->hang.type](d);
    if (!error && !is_memory && is_in_scheduler)
        error = without_task_review(d);
    if (!error)
        error = diagnoser_blame_other_shares(d);
    if (!error && !d->disk_explains)
        error = diagnoser_compare_paths(d);
    d->questions.asker = asker.user;
    return error;
}

struct argus_error *argus_diagnose(const struct argus_graph *graph, struct argus_symbols *symbols,
                                   const struct argus_hang *hang,
                                   const struct argus_diagnose_options *options,
                                   struct argus_asker asker, struct argus_diagnosis *ret)
{
    struct diagnoser d = {.view = view_of(graph),
                          .symbols = symbols,
                          .questions = {.asker = asker},
                          .hang = *hang,
                          .baseline = ARGUS_NONE};
    if (hang->thread >= d.view.thread_count || hang->vertex >= d.view.vertex_count ||
        hang->start_ns > hang->end_ns || hang->type > ARGUS_TYPE_LONG_WAIT)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "this hang is not from this trace");
    if (options)
        d.options = *options;
    struct argus_error *error = run(&d);
    bool open = error && error->code == ARGUS_ERROR_QUESTION;
    struct argus_error *tell = !error || open ? diagnoser_note_uncertain(&d) : NULL;
    struct argus_diagnosis found;
    give(&d, &found);
    if (tell || (error && !open)) {
        argus_diagnosis_deinit(&found);
        if (error && tell)
            argus_error_destroy(tell);
        return error ? error : tell;
    }
    *ret = found;
    return error;
}

void argus_diagnosis_deinit(struct argus_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        culprit_deinit(&diagnosis->culprits[i]);
    for (size_t i = 0; i < diagnosis->uncertain_count; i++)
        reason_deinit(&diagnosis->uncertain[i]);
    free(diagnosis->culprits);
    free(diagnosis->uncertain);
    free(diagnosis->comparison);
    free(diagnosis->path);
    free(diagnosis->cycle);
    free(diagnosis->origin);
    argus_account_deinit(&diagnosis->accounting);
    asked_free(diagnosis->asked, diagnosis->asked_count);
    *diagnosis = (struct argus_diagnosis){.baseline = ARGUS_NONE};
}
