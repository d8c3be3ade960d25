/* A thread that should have set a variable, and did not:
 *   - it took a request of the waiter and went back to its home wait: it forgot the variable;
 *   - it was busy, or another thread is behind its wait;
 *   - it only waited for requests: then no request of the waiter reached it, and nothing is told.
 */
#include "diagnose/suspects/setter_attempt.h"

#include "diagnose/reasons.h"

static struct attempt_mark mark_take(const struct diagnoser *d)
{
    return (struct attempt_mark){
        d->path.length, d->culprits.length,         d->cycle.length, d->uncertain.length,
        d->guessed,     d->cycle_broken_by_timeout, d->baseline,     d->baseline_graph};
}

static void mark_restore(const struct attempt_mark *mark, struct diagnoser *d)
{
    while (d->culprits.length > mark->culprits)
        culprit_deinit(&d->culprits.data[--d->culprits.length]);
    while (d->uncertain.length > mark->uncertain)
        reason_deinit(&d->uncertain.data[--d->uncertain.length]);
    d->path.length = mark->path;
    d->cycle.length = mark->cycle;
    d->guessed = mark->guessed;
    d->cycle_broken_by_timeout = mark->is_broken;
    d->baseline = mark->baseline;
    d->baseline_graph = mark->baseline_graph;
}

/* Whether what was found since the mark is more than that the setter waited. */
static bool tells_more(const struct diagnoser *d, const struct setter_attempt *attempt,
                       bool is_idle)
{
    bool has_circle = d->cycle.length > attempt->mark.cycle;
    /* the attempt itself is one guess; with another one, the setter may have waited for anything */
    bool is_sure = d->uncertain.length <= attempt->mark.uncertain + 1;
    if (has_circle && !is_sure)
        return false;
    bool may_wait = attempt->is_recorded && !is_idle && is_sure;
    if (has_circle || d->culprits.length == attempt->mark.culprits)
        return has_circle && may_wait;
    const struct argus_culprit *root = &d->culprits.data[attempt->mark.culprits];
    uint32_t thread = d->view.vertices[root->vertex].thread;
    bool is_waiter = thread == d->view.vertices[attempt->vertex].thread;
    bool has_waited =
        thread == attempt->setter && (root->type == ARGUS_TYPE_LONG_WAIT ||
                                      (root->type == ARGUS_TYPE_REPEATED_YIELD && is_idle));
    return d->stopped || (!is_waiter && (!has_waited || may_wait) && root->share >= 0.5);
}

static struct argus_error *explain_busy(struct diagnoser *d, struct setter_attempt *attempt,
                                        bool is_idle)
{
    struct argus_error *error =
        diagnoser_explain_by_setter(d, attempt->vertex, attempt->part, attempt->setter);
    attempt->is_taken = !error && tells_more(d, attempt, is_idle);
    return error;
}

static struct argus_error *say_forgot(struct diagnoser *d, const struct setter_attempt *attempt,
                                      struct argus_culprit *culprit)
{
    struct argus_reason forgot = {.kind = ARGUS_REASON_FORGOT,
                                  .vertex = culprit->vertex,
                                  .waiter = d->view.vertices[attempt->vertex].thread,
                                  .name = attempt->name,
                                  .write = attempt->write};
    reason_deinit(&culprit->why);
    return reason_copy(&forgot, &culprit->why) ? NULL : argus_error_memory();
}

/* A setter in its home wait, which may be too rare to be known as that: whether it took a request
 * of the loop's thread and forgot the variable. */
static struct argus_error *explain_idle(struct diagnoser *d, struct setter_attempt *attempt)
{
    struct walk_position position = {
        .vertex = attempt->vertex, .window = attempt->part, .requester = attempt->vertex};
    d->guessed = true;
    struct argus_error *error =
        diagnoser_explain_missing_message(d, &position, attempt->setter, attempt->why);
    if (error || d->culprits.length == attempt->mark.culprits)
        return error;
    struct argus_culprit *root = &d->culprits.data[attempt->mark.culprits];
    attempt->is_taken = root->silent && d->view.vertices[root->vertex].thread == attempt->setter;
    return attempt->is_taken ? say_forgot(d, attempt, root) : NULL;
}

struct argus_error *setter_attempt_run(struct diagnoser *d, struct setter_attempt *attempt)
{
    struct argus_error *error = NULL;
    bool is_idle = diagnoser_examine_thread(d, attempt->setter, attempt->part).idle;
    attempt->mark = mark_take(d);
    for (unsigned i = 0; !error && !attempt->is_taken && i < 2; i++) {
        mark_restore(&attempt->mark, d);
        error = attempt->note(d, attempt);
        if (!error && i > 0)
            error = explain_busy(d, attempt, is_idle);
        else if (!error)
            error = explain_idle(d, attempt);
    }
    if (!error && !attempt->is_taken)
        mark_restore(&attempt->mark, d);
    return error;
}
