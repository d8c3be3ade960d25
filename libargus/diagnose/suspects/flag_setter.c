/* The thread that should have set the variable for which a loop waits, by the program's code alone:
 * the only one, beside the waiter, whose recorded stacks have a function that sets it, or a caller
 * of one. Then the walk goes on from that thread as if its write had been watched.
 *
 * That is a guess. Its result is taken only if it tells more than the loop does:
 *   - the setter took a request of the waiter and went back to its home wait;
 *   - the setter was busy;
 *   - another thread is behind the setter's wait.
 * If the setter only waited meanwhile, the loop is blamed, as without the guess.
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

/* The variable that the setter sets. */
static const struct argus_loop_variable *set_variable(const struct argus_code_loop *loop)
{
    size_t at = 0;
    while (loop->variables[at].thread_count == 0)
        at++;
    return &loop->variables[at];
}

static struct argus_error *note_guess(struct diagnoser *d, uint32_t vertex, uint32_t setter,
                                      const struct argus_code_loop *loop)
{
    char who[128], whom[128], writers[512], name[512] = "", command[768] = "";
    const struct argus_loop_variable *variable = set_variable(loop);
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

/* The guess, and what was found by it. */
struct attempt {
    uint32_t vertex, setter;
    struct window part;
    struct mark mark;
    bool is_taken;
};

static struct argus_error *explain_busy(struct diagnoser *d, struct attempt *attempt)
{
    struct argus_error *error =
        diagnoser_explain_by_setter(d, attempt->vertex, attempt->part, attempt->setter);
    attempt->is_taken = !error && tells_more(d, &attempt->mark, attempt->vertex, attempt->setter);
    return error;
}

static struct argus_error *say_forgot(struct diagnoser *d, const struct attempt *attempt,
                                      struct argus_culprit *culprit, const char *name)
{
    char whose[128], text[400];
    argus_wait_text(d->view.graph, culprit->vertex, text, sizeof(text));
    text_thread(&d->view, d->view.vertices[attempt->vertex].thread, whose, sizeof(whose));
    char *why = text_print("took what %s had asked for and went back to its wait for requests "
                           "(%s) without setting %s",
                           whose, text, name);
    if (!why)
        return argus_error_memory();
    free(culprit->why);
    culprit->why = why;
    return NULL;
}

/* A setter in its home wait: whether it took a request of the loop's thread and forgot the
 * variable. */
static struct argus_error *explain_idle(struct diagnoser *d, struct attempt *attempt,
                                        const struct argus_code_loop *loop)
{
    struct walk_position position = {
        .vertex = attempt->vertex, .window = attempt->part, .requester = attempt->vertex};
    if (!diagnoser_examine_thread(d, attempt->setter, attempt->part).idle)
        return NULL;
    d->guessed = true;
    struct argus_error *error = diagnoser_explain_missing_message(
        d, &position, attempt->setter, "by the program's code, it sets the variable");
    if (error || d->culprits.length == attempt->mark.culprits)
        return error;
    struct argus_culprit *root = &d->culprits.data[attempt->mark.culprits];
    char name[512] = "";
    append_loop_name(name, sizeof(name), set_variable(loop));
    attempt->is_taken = root->silent && d->view.vertices[root->vertex].thread == attempt->setter;
    return attempt->is_taken ? say_forgot(d, attempt, root, name) : NULL;
}

static struct argus_error *try_setter(struct diagnoser *d, struct attempt *attempt,
                                      const struct argus_code_loop *loop)
{
    struct argus_error *error = NULL;
    attempt->mark = mark_take(d);
    for (unsigned i = 0; !error && !attempt->is_taken && i < 2; i++) {
        mark_restore(&attempt->mark, d);
        error = note_guess(d, attempt->vertex, attempt->setter, loop);
        if (!error)
            error = i == 0 ? explain_idle(d, attempt, loop) : explain_busy(d, attempt);
    }
    if (!error && !attempt->is_taken)
        mark_restore(&attempt->mark, d);
    return error;
}

struct argus_error *diagnoser_explain_by_code(struct diagnoser *d, uint32_t vertex,
                                              struct window part)
{
    struct argus_code_loop loop;
    struct argus_error *error = read_code_loop(d, vertex, &loop);
    if (error)
        return error;
    struct attempt attempt = {.vertex = vertex, .setter = only_setter(&loop), .part = part};
    if (attempt.setter != ARGUS_NONE && diagnoser_find_step(d, attempt.setter) < 0)
        error = try_setter(d, &attempt, &loop);
    if (error) {
        code_loop_free(&loop);
        return error;
    }
    if (!attempt.is_taken)
        return diagnoser_blame_loop(d, vertex, part, &loop);
    struct argus_code_loop *place = &d->culprits.data[attempt.mark.culprits].loop;
    code_loop_free(place);
    *place = loop;
    return NULL;
}
