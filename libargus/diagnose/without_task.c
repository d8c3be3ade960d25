/* Tasks of some runtimes (Go's goroutines) that wait have no thread. The threads that ran them look
 * for other tasks, and wait on the scheduler's own stack when there are none; one of them waits for
 * the next timer or input of any task. They wake each other, but none of them waits for another
 * one. So a walk that ends among them explains nothing, while one that leads to another process, or
 * to a thread that works, may be right. */
#include "diagnose/without_task.h"

#include "diagnose/reasons.h"
#include "graph/stack_beginnings.h"

enum {
    OUTERMOST_FRAMES =
        4, /* a scheduler's stack begins in a function of that table, called by a few of its like */
    MOST_AWAY =
        10, /* a thread that did something else for less than one part in so many had no task */
};

/* Whether the thread waited on a scheduler's stack after `vertex`, perhaps for its own task. */
static bool waits_in_scheduler(const struct diagnoser *d, uint32_t vertex, bool *ret_has_task)
{
    const struct argus_vertex *v = &d->view.vertices[vertex];
    bool is_found = false;
    *ret_has_task = false;
    if (!d->symbols || v->wait.kind == ARGUS_WAIT_NONE || v->wait.user_stack == ARGUS_NONE)
        return false;
    struct argus_stack stack = argus_graph_stack(d->view.graph, v->wait.user_stack);
    uint32_t process = d->view.threads[v->thread].process;
    for (uint32_t i = 0; i < stack.count && (is_found || i < OUTERMOST_FRAMES); i++) {
        uint32_t at = stack.count - 1 - i;
        const char *function =
            argus_symbols_function(d->symbols, process, v->end_ns, stack.frames[at], at > 0);
        is_found |= stack_schedules_in(function);
        *ret_has_task |= stack_keeps_task(function);
    }
    return is_found;
}

static bool waits_without_task(const struct diagnoser *d, uint32_t vertex)
{
    bool has_task;
    return waits_in_scheduler(d, vertex, &has_task) && !has_task;
}

bool hang_is_in_scheduler(const struct diagnoser *d)
{
    bool has_task;
    return d->hang.type != ARGUS_TYPE_LONG_RUNNING &&
           waits_in_scheduler(d, d->hang.vertex, &has_task);
}

/* --- questions --- */

static int ask_of_task(void *context, const struct argus_question *question,
                       enum argus_answer_by *ret_by)
{
    const struct task_asker *asker = context;
    if (question->vertex != ARGUS_NONE && waits_without_task(asker->d, question->vertex)) {
        *ret_by = ARGUS_BY_AUTO;
        return ARGUS_ANSWER_DEFAULT;
    }
    return asker->user.ask(asker->user.context, question, ret_by);
}

struct argus_asker without_task_asker(struct task_asker *asker)
{
    return (struct argus_asker){.ask = ask_of_task, .context = asker};
}

/* --- what was found --- */

static bool is_told_by_threads(const struct diagnoser *d, const struct argus_culprit *culprit)
{
    const struct argus_vertex *v = &d->view.vertices[culprit->vertex];
    return d->view.threads[v->thread].process != d->view.threads[d->hang.thread].process ||
           culprit->type == ARGUS_TYPE_LONG_RUNNING || culprit->remote != ARGUS_NONE ||
           (v->thread != d->hang.thread && !waits_without_task(d, culprit->vertex));
}

/* How long the thread waited at `vertex`, within the hang; also between the turns of a yield run.
 */
static uint64_t wait_ns_of(const struct diagnoser *d, uint32_t vertex)
{
    const struct argus_vertex *v = &d->view.vertices[vertex];
    uint64_t from_ns = v->repeat > 1 ? v->start_ns : v->end_ns;
    uint64_t to_ns = timeline_wait_end(&d->view, vertex);
    uint64_t busy_ns = v->repeat > 1 ? v->run_ns + v->runnable_ns : 0;
    struct window wait = {from_ns > d->hang.start_ns ? from_ns : d->hang.start_ns,
                          to_ns < d->hang.end_ns ? to_ns : d->hang.end_ns};
    return window_ns(wait) > busy_ns ? window_ns(wait) - busy_ns : 0;
}

/* How long the thread waited without a task, within the hang. */
static uint64_t without_task_ns(const struct diagnoser *d, uint32_t thread)
{
    uint64_t ns = 0;
    for (uint32_t v = timeline_before(&d->view, thread, d->hang.start_ns + 1);
         v != ARGUS_NONE && d->view.vertices[v].start_ns < d->hang.end_ns;
         v = timeline_next(&d->view, v))
        if (waits_without_task(d, v))
            ns += wait_ns_of(d, v);
    return ns;
}

/* Whether no thread of the hung one's process ran or waited for a task. What the records do not
 * show counts as a task. */
static bool has_process_no_task(const struct diagnoser *d)
{
    uint32_t process = d->view.threads[d->hang.thread].process;
    uint64_t hang_ns = d->hang.end_ns - d->hang.start_ns;
    for (uint32_t i = 0; i < d->view.thread_count; i++) {
        const struct argus_thread *thread = &d->view.threads[i];
        bool lives = thread->process == process && thread->end_ns > d->hang.start_ns;
        if (lives && without_task_ns(d, i) < hang_ns - hang_ns / MOST_AWAY)
            return false;
    }
    return true;
}

/* Keeps the questions that a person answered, or a list of answers. */
static void take_back_questions(struct diagnoser *d)
{
    size_t kept = 0;
    struct argus_asked *asked = d->questions.asked.data;
    for (size_t i = 0; i < d->questions.asked.length; i++)
        if (asked[i].by == ARGUS_BY_AUTO)
            asked_free_options(&asked[i]);
        else
            asked[kept++] = asked[i];
    d->questions.asked.length = kept;
}

static void take_back(struct diagnoser *d)
{
    while (d->culprits.length)
        culprit_deinit(&d->culprits.data[--d->culprits.length]);
    while (d->uncertain.length)
        reason_deinit(&d->uncertain.data[--d->uncertain.length]);
    take_back_questions(d);
    d->path.length = d->cycle.length = 0;
    d->guessed = d->cycle_broken_by_timeout = d->disk_explains = false;
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
    enum argus_reason_kind why = !waits_without_task(d, d->hang.vertex) ? ARGUS_REASON_ONLY_TASK
                                 : has_process_no_task(d)               ? ARGUS_REASON_NO_TASKS
                                                                        : ARGUS_REASON_NO_TASK;
    return diagnoser_blame_waiting(d, d->hang.vertex, whole, why, ARGUS_NONE);
}
