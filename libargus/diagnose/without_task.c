/* Tasks of some runtimes (Go's goroutines) that wait have no thread. The threads that ran them look for other tasks, and
 * wait on the scheduler's own stack when there are none; one of them waits for the next timer or input of any
 * task. They wake each other, but none of them waits for another one. So a walk that ends among them explains
 * nothing, while one that leads to another process, or to a thread that works, may be right. */
#include "diagnose/without_task.h"

#include "diagnose/reasons.h"
#include "graph/stack_beginnings.h"

/* A scheduler's stack begins in a function of that table, called by a few of its like. */
enum { OUTERMOST_FRAMES = 4 };

static bool waits_without_task(const struct diagnoser *d, uint32_t vertex)
{
    const struct argus_vertex *v = &d->view.vertices[vertex];
    if (!d->symbols || v->wait.kind == ARGUS_WAIT_NONE || v->wait.user_stack == ARGUS_NONE)
        return false;
    struct argus_stack stack = argus_graph_stack(d->view.graph, v->wait.user_stack);
    uint32_t process = d->view.threads[v->thread].process;
    for (uint32_t i = 0; i < OUTERMOST_FRAMES && i < stack.count; i++) {
        uint32_t at = stack.count - 1 - i;
        if (stack_schedules_in(
                argus_symbols_function(d->symbols, process, v->end_ns, stack.frames[at], at > 0)))
            return true;
    }
    return false;
}

bool hang_is_without_task(const struct diagnoser *d)
{
    return d->hang.type != ARGUS_TYPE_LONG_RUNNING && waits_without_task(d, d->hang.vertex);
}

static bool is_told_by_threads(const struct diagnoser *d, const struct argus_culprit *culprit)
{
    const struct argus_vertex *v = &d->view.vertices[culprit->vertex];
    return d->view.threads[v->thread].process != d->view.threads[d->hang.thread].process ||
           culprit->type == ARGUS_TYPE_LONG_RUNNING || culprit->remote != ARGUS_NONE ||
           !waits_without_task(d, culprit->vertex);
}

static void take_back(struct diagnoser *d)
{
    size_t count;
    while (d->culprits.length)
        culprit_deinit(&d->culprits.data[--d->culprits.length]);
    while (d->uncertain.length)
        reason_deinit(&d->uncertain.data[--d->uncertain.length]);
    struct argus_asked *asked = ask_list_take(&d->questions, &count);
    asked_free(asked, count);
    d->path.length = d->cycle.length = 0;
    d->guessed = d->cycle_broken_by_timeout = false;
    d->baseline = ARGUS_NONE;
    d->baseline_graph = NULL;
}

struct argus_error *without_task_review(struct diagnoser *d)
{
    const struct window whole = {d->hang.start_ns, d->hang.end_ns};
    for (size_t i = 0; i < d->culprits.length; i++)
        if (is_told_by_threads(d, &d->culprits.data[i]))
            return NULL;
    take_back(d);
    if (!diagnoser_add_step(d, d->hang.vertex, ARGUS_NONE, false))
        return argus_error_memory();
    return diagnoser_blame_waiting(d, d->hang.vertex, whole, ARGUS_REASON_NO_TASK, ARGUS_NONE);
}
