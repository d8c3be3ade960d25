/* The thread that should have set the variable for which a loop waits, by the program's code alone:
 * the only one, beside the waiter, whose recorded stacks have a function that sets it, or a caller
 * of one. Then the walk goes on from that thread as if its write had been watched.
 *
 * That is a guess, and what such a walk finds is taken only where it tells more than the loop: the
 * thread itself was busy, or another thread is behind its wait. That the thread waited meanwhile,
 * and nothing more, is no cause; then the loop is blamed, as without the guess.
 */
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/diagnoser.h"
#include "diagnose/suspects/flag_writers.h"
#include "diagnose/words.h"

/* How far the answer had come. */
struct mark {
    size_t path, culprits, cycle, uncertain;
    bool guessed, is_broken;
};

static struct mark mark_take(const struct diagnoser *d)
{
    return (struct mark){d->path.length,      d->culprits.length, d->cycle.length,
                         d->uncertain.length, d->guessed,         d->cycle_broken_by_timeout};
}

static void culprit_free(struct argus_culprit *culprit)
{
    costly_functions_free(culprit->functions, culprit->function_count);
    free(culprit->functions);
    code_loop_free(&culprit->loop);
    free(culprit->why);
}

static void mark_restore(const struct mark *mark, struct diagnoser *d)
{
    while (d->culprits.length > mark->culprits)
        culprit_free(&d->culprits.data[--d->culprits.length]);
    while (d->uncertain.length > mark->uncertain)
        free(d->uncertain.data[--d->uncertain.length]);
    d->path.length = mark->path;
    d->cycle.length = mark->cycle;
    d->guessed = mark->guessed;
    d->cycle_broken_by_timeout = mark->is_broken;
}

/* --- the thread --- */

static bool is_set_for_sure(const struct argus_loop_variable *variable)
{
    for (size_t i = 0; i < variable->writer_count; i++)
        if (!variable->writers[i].is_possible)
            return true;
    return false;
}

/* ARGUS_NONE: several, or none, or the code does not tell everything that may end the loop. */
static uint32_t only_setter(const struct argus_code_loop *loop)
{
    uint32_t found = ARGUS_NONE;
    for (size_t i = 0; i < loop->variable_count; i++) {
        const struct argus_loop_variable *variable = &loop->variables[i];
        for (size_t k = 0; k < variable->thread_count; k++) {
            if (!is_set_for_sure(variable) ||
                (found != ARGUS_NONE && found != variable->threads[k]))
                return ARGUS_NONE;
            found = variable->threads[k];
        }
    }
    return loop->is_whole ? found : ARGUS_NONE;
}

/* --- the guess --- */

/* Of the variable that the thread sets. */
static struct argus_error *note_guess(struct diagnoser *d, uint32_t vertex, uint32_t setter,
                                      const struct argus_code_loop *loop)
{
    char who[128], whom[128], writers[512], name[512] = "", command[768] = "";
    size_t at = 0;
    while (loop->variables[at].thread_count == 0)
        at++;
    const struct argus_loop_variable *variable = &loop->variables[at];
    text_thread(&d->view, setter, who, sizeof(who));
    text_thread(&d->view, d->view.vertices[vertex].thread, whom, sizeof(whom));
    flag_writers_text(variable, writers, sizeof(writers));
    append_loop_name(name, sizeof(name), variable);
    if (variable->command[0])
        append_loop_command(command, sizeof(command), variable->command);
    return diagnoser_add_uncertain(
        d,
        text_print("that %s should have ended the loop of %s is a guess from the program's "
                   "code: the loop in %s ends when %s changes; %s may set it; no other thread "
                   "was seen in that code%s%s%s",
                   who, whom, loop->place, name, writers, command[0] ? "; a recording with " : "",
                   command, command[0] ? " makes it certain" : ""));
}

/* Whether what was found since `mark` is more than that the setter waited. */
static bool tells_more(const struct diagnoser *d, const struct mark *mark, uint32_t vertex,
                       uint32_t setter)
{
    if (d->culprits.length == mark->culprits || d->cycle.length > mark->cycle)
        return false;
    const struct argus_culprit *root = &d->culprits.data[mark->culprits];
    uint32_t thread = d->view.vertices[root->vertex].thread;
    bool is_waiter = thread == d->view.vertices[vertex].thread;
    bool is_idle = thread == setter && root->type == ARGUS_TYPE_LONG_WAIT;
    return d->stopped || (!is_waiter && !is_idle && root->share >= 0.5);
}

static struct argus_error *try_setter(struct diagnoser *d, uint32_t vertex, struct window part,
                                      uint32_t setter, struct argus_code_loop *loop)
{
    struct mark mark = mark_take(d);
    struct argus_error *error = note_guess(d, vertex, setter, loop);
    if (!error)
        error = diagnoser_explain_by_setter(d, vertex, part, setter);
    if (error) {
        code_loop_free(loop);
    } else if (tells_more(d, &mark, vertex, setter)) {
        struct argus_code_loop *place = &d->culprits.data[mark.culprits].loop;
        code_loop_free(place);
        *place = *loop;
    } else {
        mark_restore(&mark, d);
        error = diagnoser_blame_loop(d, vertex, part, loop);
    }
    return error;
}

struct argus_error *diagnoser_explain_by_code(struct diagnoser *d, uint32_t vertex,
                                              struct window part)
{
    struct argus_code_loop loop;
    struct argus_error *error = read_code_loop(d, vertex, &loop);
    if (error)
        return error;
    uint32_t setter = only_setter(&loop);
    if (setter == ARGUS_NONE || diagnoser_find_step(d, setter) >= 0)
        return diagnoser_blame_loop(d, vertex, part, &loop);
    return try_setter(d, vertex, part, setter, &loop);
}
