/* A loop that tries to get a lock on a file that another process holds, or to create a lock file
 * that exists, and sleeps or polls in between: a package manager, a database, an editor. It polls no data flag but waits
 * for the holder; so what the holder did is explained. */
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/diagnoser.h"
#include "diagnose/words.h"

/* "package [20]": locks are of processes. */
static const char *text_holder(const struct view *view, uint32_t thread, char *buffer, size_t bytes)
{
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    snprintf(buffer, bytes, "%s [%llu]", process->name, (unsigned long long)process->pid);
    return buffer;
}

const char *text_lock_tries(const struct view *view, uint32_t thread, uint64_t start_ns,
                            uint64_t end_ns, char *buffer, size_t bytes)
{
    struct lock_tries tries;
    char file[256], holder[128] = "";
    if (!lock_tries_find(view, thread, start_ns, end_ns, &tries))
        return NULL;
    if (tries.holder != ARGUS_NONE)
        text_holder(view, tries.holder, holder, sizeof(holder));
    snprintf(buffer, bytes, "%s %s%s%s, %llu times in a row",
             tries.is_name ? "tried to create the lock file" : "tried to lock",
             text_lock_file(view, thread, &tries, file, sizeof(file)), *holder ? ", held by " : "",
             holder, (unsigned long long)tries.count);
    return buffer;
}

/* Blames the loop itself. Takes `because`. */
static struct argus_error *blame_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                      char *because)
{
    char tries[400], call[400], name[300], lasted[32];
    const struct argus_vertex *v = &d->view.vertices[vertex];
    const char *looked =
        text_lock_tries(&d->view, v->thread, part.start_ns, part.end_ns, tries, sizeof(tries));
    text_callers(&d->view, d->symbols, vertex, v->wait.user_stack, name, sizeof(name));
    argus_wait_text(d->view.graph, vertex, call, sizeof(call));
    char *why =
        because
            ? text_print("%s (%s%s) for %s: %s", looked ? looked : "tried to get the lock", call,
                         name, text_duration(window_ns(part), lasted, sizeof(lasted)), because)
            : NULL;
    free(because);
    return diagnoser_add_culprit(d, vertex, ARGUS_TYPE_REPEATED_YIELD, part, window_ns(part), why);
}

struct argus_error *diagnoser_blame_idle_holder(struct diagnoser *d, uint32_t vertex,
                                                struct window part)
{
    char call[400], lasted[32];
    argus_wait_text(d->view.graph, vertex, call, sizeof(call));
    return diagnoser_add_culprit(
        d, vertex, ARGUS_TYPE_LONG_WAIT, part, window_ns(part),
        text_print("held the lock on the file, and waited for new requests for %s (%s)",
                   text_duration(window_ns(part), lasted, sizeof(lasted)), call));
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
    char lasted[32];
    uint32_t vertex = d->view.threads[thread].first_vertex;
    uint64_t start_ns = d->view.vertices[vertex].start_ns;
    struct window unseen = {part.start_ns, start_ns < part.end_ns ? start_ns : part.end_ns};
    return diagnoser_add_culprit(
        d, vertex, ARGUS_TYPE_LONG_WAIT, unseen, window_ns(unseen),
        text_print("held the lock on the file, and waited for %s for something: that "
                   "wait is older than the recording",
                   text_duration(window_ns(unseen), lasted, sizeof(lasted))));
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
    char who[128];
    if (!tries->is_name)
        return blame_loop(d, vertex, part,
                          text_print("the records do not show which process held it"));
    if (tries->creator == ARGUS_NONE)
        return blame_loop(d, vertex, part,
                          text_print("the records do not show which process created it"));
    return blame_loop(d, vertex, part,
                      text_print("%s had created it, and ended without removing it",
                                 text_holder(&d->view, tries->creator, who, sizeof(who))));
}

/* The creator of the lock file has ended, and its parent counts as the holder. */
static struct argus_error *note_parent(struct diagnoser *d, const struct lock_tries *tries)
{
    char who[128], parent[128];
    bool is_parent = tries->creator != ARGUS_NONE && d->view.threads[tries->creator].process !=
                                                         d->view.threads[tries->holder].process;
    if (!is_parent)
        return NULL;
    d->guessed = true;
    return diagnoser_add_uncertain(
        d,
        text_print("that %s had the lock file is a guess: its child %s had created it, and ended",
                   text_holder(&d->view, tries->holder, parent, sizeof(parent)),
                   text_holder(&d->view, tries->creator, who, sizeof(who))));
}

struct argus_error *diagnoser_explain_polled_lock(struct diagnoser *d, uint32_t vertex,
                                                  struct window part,
                                                  const struct lock_tries *tries)
{
    char who[128];
    if (tries->holder == ARGUS_NONE)
        return blame_without_holder(d, vertex, part, tries);
    struct argus_error *error = tries->is_name ? note_parent(d, tries) : NULL;
    if (error)
        return error;
    text_holder(&d->view, tries->holder, who, sizeof(who));
    long at = diagnoser_find_step(d, tries->holder);
    if (at >= 0 && tries->holder == d->view.vertices[vertex].thread)
        return blame_loop(d, vertex, part, text_print("its own process held it"));
    if (at >= 0)
        return diagnoser_close_circle(d, (size_t)at);
    struct examined examined = diagnoser_examine_thread(d, tries->holder, part);
    if (examined.figures.vertex == ARGUS_NONE)
        return blame_loop(d, vertex, part,
                          text_print("%s held it, and did nothing in this recording", who));
    return explain_holder(d, vertex, part, &examined);
}
