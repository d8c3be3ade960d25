/* A loop that tries to get a lock on a file that another process holds, or to create a lock file
 * that exists, and sleeps or polls in between: a package manager, a database, an editor. It polls
 * no data flag but waits for the holder; so what the holder did is explained. */
#include "diagnose/diagnoser.h"

/* Blames the loop itself. `thread`: the one of which `because` tells. */
static struct argus_error *blame_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                      enum argus_reason_kind because, uint32_t thread)
{
    struct argus_reason why = {.kind = ARGUS_REASON_TRIED_LOCK,
                               .because = (uint8_t)because,
                               .vertex = vertex,
                               .thread = thread,
                               .ns = window_ns(part),
                               .from_ns = part.start_ns};
    return diagnoser_add_culprit(d, vertex, ARGUS_TYPE_REPEATED_YIELD, part, window_ns(part), &why);
}

struct argus_error *diagnoser_blame_idle_holder(struct diagnoser *d, uint32_t vertex,
                                                struct window part)
{
    struct argus_reason why = {
        .kind = ARGUS_REASON_IDLE_HOLDER, .vertex = vertex, .ns = window_ns(part)};
    return diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_WAIT, part, window_ns(part), &why);
}

bool diagnoser_is_unseen_holder(const struct diagnoser *d, uint32_t thread, struct window part,
                                uint64_t known_ns)
{
    return known_ns < window_ns(part) / 2 &&
           d->view.vertices[d->view.threads[thread].first_vertex].start_ns > part.start_ns &&
           d->view.threads[thread].start_ns < part.start_ns;
}

struct argus_error *diagnoser_blame_unseen_holder(struct diagnoser *d, uint32_t thread,
                                                  struct window part)
{
    uint32_t vertex = d->view.threads[thread].first_vertex;
    uint64_t start_ns = d->view.vertices[vertex].start_ns;
    struct window unseen = {part.start_ns, start_ns < part.end_ns ? start_ns : part.end_ns};
    struct argus_reason why = {.kind = ARGUS_REASON_UNSEEN_HOLDER, .ns = window_ns(unseen)};
    return diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_WAIT, unseen, window_ns(unseen), &why);
}

static uint64_t known_ns(const struct argus_hang *figures)
{
    return figures->run_ns + figures->runnable_ns + figures->wait_ns + figures->yield_ns;
}

static struct argus_error *explain_holder(struct diagnoser *d, uint32_t vertex, struct window part,
                                          const struct examined *examined)
{
    const struct argus_hang *figures = &examined->figures;
    struct walk_position position = {
        .vertex = figures->vertex, .window = part, .requester = vertex};
    if (!diagnoser_add_step(d, figures->vertex, ARGUS_NONE, true))
        return argus_error_memory();
    if (diagnoser_is_unseen_holder(d, figures->thread, part, known_ns(figures)))
        return diagnoser_blame_unseen_holder(d, figures->thread, part);
    if (examined->idle)
        return diagnoser_blame_idle_holder(d, figures->vertex, part);
    if (figures->type == ARGUS_TYPE_LONG_RUNNING)
        return diagnoser_blame_running(d, figures->vertex, part, figures->run_ns,
                                       figures->runnable_ns);
    if (figures->type == ARGUS_TYPE_REPEATED_YIELD)
        return diagnoser_explain_yielding(d, figures->vertex, part);
    return diagnoser_explain_writer(d, &position);
}

/* Blames the loop: no living process holds the lock, or the holder is not known. */
static struct argus_error *blame_without_holder(struct diagnoser *d, uint32_t vertex,
                                                struct window part, const struct lock_tries *tries)
{
    if (!tries->is_name)
        return blame_loop(d, vertex, part, ARGUS_REASON_LOCK_HOLDER_UNKNOWN, ARGUS_NONE);
    if (tries->creator == ARGUS_NONE)
        return blame_loop(d, vertex, part, ARGUS_REASON_LOCK_CREATOR_UNKNOWN, ARGUS_NONE);
    return blame_loop(d, vertex, part, ARGUS_REASON_LOCK_CREATOR_ENDED, tries->creator);
}

/* The creator of the lock file has ended, and its parent counts as the holder. */
static struct argus_error *note_parent(struct diagnoser *d, const struct lock_tries *tries)
{
    struct argus_reason guess = {
        .kind = ARGUS_REASON_GUESS_PARENT, .thread = tries->holder, .other = tries->creator};
    bool is_parent = tries->creator != ARGUS_NONE && d->view.threads[tries->creator].process !=
                                                         d->view.threads[tries->holder].process;
    if (!is_parent)
        return NULL;
    d->guessed = true;
    return diagnoser_add_uncertain(d, &guess);
}

struct argus_error *diagnoser_explain_polled_lock(struct diagnoser *d, uint32_t vertex,
                                                  struct window part,
                                                  const struct lock_tries *tries)
{
    if (tries->holder == ARGUS_NONE)
        return blame_without_holder(d, vertex, part, tries);
    struct argus_error *error = tries->is_name ? note_parent(d, tries) : NULL;
    if (error)
        return error;
    long at = diagnoser_find_step(d, tries->holder);
    if (at >= 0 && tries->holder == d->view.vertices[vertex].thread)
        return blame_loop(d, vertex, part, ARGUS_REASON_LOCK_OF_OWN_PROCESS, tries->holder);
    if (at >= 0)
        return diagnoser_close_circle(d, (size_t)at);
    struct examined examined = diagnoser_examine_thread(d, tries->holder, part);
    if (examined.figures.vertex == ARGUS_NONE)
        return blame_loop(d, vertex, part, ARGUS_REASON_LOCK_HOLDER_ABSENT, tries->holder);
    return explain_holder(d, vertex, part, &examined);
}

struct argus_error *diagnoser_explain_lock_loop(struct diagnoser *d, uint32_t vertex,
                                                struct walk_position *position, bool *ret_done)
{
    struct lock_tries tries;
    const struct window part = {d->hang.start_ns, position->window.end_ns};
    *ret_done = lock_tries_find(&d->view, d->view.vertices[vertex].thread, part.start_ns,
                                part.end_ns, &tries) &&
                tries.is_name;
    position->ended |= *ret_done;
    return *ret_done ? diagnoser_explain_polled_lock(d, vertex, part, &tries) : NULL;
}
