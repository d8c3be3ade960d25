/* The first line of the answer, for readers who do not know Argus. */
#include <stdio.h>
#include <string.h>

#include "diagnose/file_locks.h"
#include "graph/text/detail_text.h"
#include "report/device_words.h"
#include "report/diagnosis_words.h"
#include "report/phrases.h"

/* A sentence that is built piece by piece. */
struct sentence {
    char text[1024];
    size_t length;
};

static void sentence_add(struct sentence *sentence, const char *text)
{
    int written = snprintf(sentence->text + sentence->length,
                           sizeof(sentence->text) - sentence->length, "%s", text);
    sentence->length += written > 0 ? (size_t)written : 0;
    if (sentence->length >= sizeof(sentence->text))
        sentence->length = sizeof(sentence->text) - 1;
}

/* Names a process that is waited for; with its pid if the waiter's process has the same name. */
static void sentence_add_process(struct sentence *sentence, const struct argus_process *process,
                                 const struct argus_process *waiter)
{
    char pid[32];
    sentence_add(sentence, process->name);
    if (process == waiter || strcmp(process->name, waiter->name) != 0)
        return;
    snprintf(pid, sizeof(pid), " [%llu]", (unsigned long long)process->pid);
    sentence_add(sentence, pid);
}

/* Names a thread that is waited for: by its program if it is the main thread. */
static void sentence_add_thread(struct sentence *sentence, const struct view *view, uint32_t thread,
                                uint32_t waiter)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct argus_process *process = &view->processes[t->process];
    char name[128];
    if (t->tid == process->pid) {
        sentence_add_process(sentence, process, &view->processes[view->threads[waiter].process]);
    } else if (t->process == view->threads[waiter].process) {
        if (strcmp(t->name, process->name) == 0)
            snprintf(name, sizeof(name), "its thread %llu", (unsigned long long)t->tid);
        else
            snprintf(name, sizeof(name), "its thread %s", t->name);
        sentence_add(sentence, name);
    } else {
        sentence_add(sentence, text_thread(view, thread, name, sizeof(name)));
    }
}

/* For a culprit that took a CPU or a quota: what this did to the thread that was runnable. */
static void sentence_add_cpu_lack(struct sentence *sentence, const struct view *view,
                                  const struct argus_culprit *root)
{
    sentence_add(sentence, "got no cpu: ");
    if (root->lack >= ARGUS_CPU_TOOK)
        sentence_add(sentence, timeline_process(view, root->vertex)->name);
    sentence_add(sentence, root->lack == ARGUS_CPU_TOOK ? " ran instead"
                           : root->lack == ARGUS_CPU_TOOK_QUOTA
                               ? " had used up the cpu quota of their "
                                 "control group"
                           : root->lack == ARGUS_CPU_QUOTA
                               ? "the cpu quota of its control group was used up"
                               : "probably the cpu quota of its control group was used up");
}

/* "waited for a cpu for 76 % of the time, and ": the larger share comes first. The hang's time is
 * meant, of which the thread may have been blocked for a part. */
static void sentence_add_cpu_wait(struct sentence *sentence, const struct argus_culprit *root)
{
    char text[80];
    uint64_t wanted_ns = root->why.wanted_ns, all_ns = root->why.whole_ns;
    if (all_ns < wanted_ns + root->why.run_ns)
        all_ns = wanted_ns + root->why.run_ns;
    snprintf(text, sizeof(text), "waited for a cpu for %.0f %% of the time, and ",
             all_ns ? 100.0 * (double)wanted_ns / (double)all_ns : 0);
    sentence_add(sentence, text);
}

static void sentence_add_busy(struct sentence *sentence, const struct view *view,
                              const struct argus_culprit *root)
{
    const struct argus_vertex *v = &view->vertices[root->vertex];
    if (root->lack >= ARGUS_CPU_QUOTA) {
        sentence_add_cpu_lack(sentence, view, root);
        return;
    }
    if (v->runnable_ns / 4 > v->run_ns) {
        sentence_add(sentence, "got no cpu");
        return;
    }
    bool waited = root->lack == ARGUS_CPU_BUSY;
    if (waited)
        sentence_add_cpu_wait(sentence, root);
    sentence_add(sentence, root->polled ? "polled a variable on the cpu" : "was busy on the cpu");
    if (root->function_count > 0 && strncmp(root->functions[0].name, "0x", 2) != 0) {
        bool is_script = root->functions[0].script; /* its name ends with its file */
        sentence_add(sentence, is_script ? ", in " : " (");
        sentence_add(sentence, root->functions[0].name);
        sentence_add(sentence, is_script ? "" : ")");
    }
    if (!waited && v->runnable_ns > v->run_ns)
        sentence_add(sentence, ", and others wanted the cpu too");
}

static void sentence_add_lock_holder(struct sentence *sentence, const struct view *view,
                                     uint32_t holder, uint32_t waiter)
{
    sentence_add(sentence, ", which ");
    sentence_add_thread(sentence, view, holder, waiter);
    sentence_add(sentence, " had");
}

/* "tried to lock a file again and again, which B had". */
static void sentence_add_loop(struct sentence *sentence, const struct view *view,
                              const struct argus_culprit *root)
{
    struct lock_tries tries;
    uint32_t thread = view->vertices[root->vertex].thread;
    bool locks = lock_tries_find(view, thread, root->start_ns, root->end_ns, &tries);
    bool again = locks && tries.count > 1;
    sentence_add(sentence, !locks   ? "polled a data flag again and again"
                           : !again ? "waited before it tried again to "
                                    : "tried to ");
    if (locks)
        sentence_add(sentence, tries.is_name ? "create a lock file" : "lock a file");
    sentence_add(sentence, again ? " again and again" : "");
    if (!locks || tries.holder == ARGUS_NONE)
        return;
    sentence_add_lock_holder(sentence, view, tries.holder, thread);
}

/* The wait of a runtime's thread that had no task to run, or NULL. */
static const char *wait_without_task(enum argus_reason_kind because)
{
    switch (because) {
    case ARGUS_REASON_NO_TASK:
    case ARGUS_REASON_NO_TASKS:
        return "had no task to run, and the records do not show for what tasks of the program "
               "waited";
    case ARGUS_REASON_ONLY_TASK:
        return "waited for the one task that may run on it, and the records do not show for what "
               "that task waited";
    default:
        return NULL;
    }
}

/* Who let a stopped thread go on. */
static void sentence_add_release(struct sentence *sentence, const struct view *view,
                                 uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE || timeline_is_kernel(view, view->edges[cause].from))
        return;
    sentence_add(sentence, ", until ");
    sentence_add_thread(sentence, view, view->vertices[view->edges[cause].from].thread,
                        view->vertices[vertex].thread);
    sentence_add(sentence, " let it go on");
}

/* A wait in which the thread was stopped: by whose signal, or with its control group. */
static void sentence_add_stop(struct sentence *sentence, const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_wait_detail *details;
    size_t count = argus_graph_details(view->graph, &details);
    uint32_t i = v->wait.first_detail;
    while (i < count && details[i].kind != ARGUS_DETAIL_FROZEN &&
           (details[i].kind != ARGUS_DETAIL_SIGNAL || !details[i].arg[1]))
        i = details[i].next;
    bool is_frozen = i < count && details[i].kind == ARGUS_DETAIL_FROZEN;
    uint32_t sender = i < count && !is_frozen
                          ? detail_thread(view->graph, details[i].arg[1], v->end_ns)
                          : ARGUS_NONE;
    if (is_frozen && detail_is_of_sleep(view->graph, v)) {
        sentence_add(sentence, "was stopped, probably because the machine went to sleep");
        return;
    }
    sentence_add(sentence, is_frozen ? "was in a control group that was frozen" : "was stopped");
    if (sender == ARGUS_NONE) {
        sentence_add_release(sentence, view, vertex);
        return;
    }
    sentence_add(sentence, " by ");
    sentence_add_thread(sentence, view, sender, v->thread);
}

/* `own`: the waiter is the frozen thread itself, whose wait is to be explained. */
static void sentence_add_wait(struct sentence *sentence, const struct view *view,
                              const struct argus_culprit *root, bool own)
{
    const struct argus_wait *wait = &view->vertices[root->vertex].wait;
    if (root->silent) {
        sentence_add(sentence, "took the request and did not answer");
        return;
    }
    if (root->remote != ARGUS_NONE) {
        char address[80];
        sentence_add(sentence, "waited for ");
        sentence_add(sentence, text_remote(view, root->remote, address, sizeof(address)));
        sentence_add(sentence, root->answered ? ", which answered late" : ", which did not answer");
        return;
    }
    const char *of_task = wait_without_task(root->why.because);
    if (of_task) {
        sentence_add(sentence, of_task);
        return;
    }
    uint32_t holder = file_lock_find_holder(view, root->vertex);
    if (holder != ARGUS_NONE) {
        sentence_add(sentence, "waited for a lock on a file");
        sentence_add_lock_holder(sentence, view, holder, view->vertices[root->vertex].thread);
        return;
    }
    switch (wait->kind) {
    case ARGUS_WAIT_SLEEP:
        sentence_add(sentence, "slept");
        break;
    case ARGUS_WAIT_STOPPED:
        sentence_add_stop(sentence, view, root->vertex);
        break;
    case ARGUS_WAIT_DISK:
    case ARGUS_WAIT_FAULT:
        sentence_add(sentence, "waited for the disk");
        break;
    default:
        if (argus_graph_lacks_wakeups(view->graph)) {
            sentence_add(sentence, "waited, and the trace has no records of wake-ups, so it does "
                                   "not tell for what");
            break;
        }
        if (wait->by_device) {
            char device[96];
            sentence_add(sentence, "waited for ");
            sentence_add(sentence, text_device(view, root->vertex, device, sizeof(device)));
            break;
        }
        sentence_add(sentence, !own && wait->outcome == ARGUS_OUTCOME_TIMED_OUT
                                   ? "waited until its own time-out"
                                   : "waited for something that did not come");
        break;
    }
}

static void sentence_add_disk_user(struct sentence *sentence, const struct view *view,
                                   const struct argus_culprit *root)
{
    sentence_add(sentence, "waited for the disk, which was busy for ");
    sentence_add(sentence, timeline_process(view, root->vertex)->name);
}

/* "waited for memory, which B took"; of a group: "waited for memory of its control group G". */
static void sentence_add_memory(struct sentence *sentence, const struct view *view,
                                const struct argus_culprit *root)
{
    const struct argus_memory_lack *lack = &root->memory;
    bool is_swap = lack->swap_ns > lack->stalled_ns / 2;
    sentence_add(sentence,
                 is_swap ? "waited for memory that was swapped out" : "waited for memory");
    if (lack->group) {
        sentence_add(sentence, is_swap ? ", since its control group " : " of its control group ");
        sentence_add(sentence, lack->group_name);
        sentence_add(sentence, is_swap ? " was at its limit" : ", which was at its limit");
    }
    if (lack->waiter == ARGUS_NONE)
        return;
    sentence_add(sentence, lack->group ? "; most was taken by " : ", most of which was taken by ");
    sentence_add(sentence, timeline_process(view, root->vertex)->name);
}

static void sentence_add_root_cause(struct sentence *sentence, const struct view *view,
                                    const struct argus_culprit *root, uint32_t hung)
{
    if (root->memory.stalled_ns)
        sentence_add_memory(sentence, view, root);
    else if (root->took_disk)
        sentence_add_disk_user(sentence, view, root);
    else if (root->type == ARGUS_TYPE_LONG_RUNNING)
        sentence_add_busy(sentence, view, root);
    else if (root->type == ARGUS_TYPE_REPEATED_YIELD)
        sentence_add_loop(sentence, view, root);
    else
        sentence_add_wait(sentence, view, root, view->vertices[root->vertex].thread == hung);
}

/* Whether the thread polled a variable, so that the next step of the path is who sets it. */
static bool polls_variable(const struct argus_diagnosis *found)
{
    for (size_t i = 0; i < found->culprit_count; i++)
        if (found->culprits[i].loop.variable_count)
            return true;
    return false;
}

/* "waited for B, which waited for C, which " … along the path, one step for each user thread. */
static void sentence_add_path(struct sentence *sentence, const struct argus_diagnosis *found,
                              const struct view *view)
{
    uint32_t last = found->hang.thread;
    /* The path of a run says what set it off, unless the run only polled. */
    bool ran = found->hang.type == ARGUS_TYPE_LONG_RUNNING;
    bool is_walk = found->path_count > 1 && found->path[1].expected;
    if (ran && !is_walk && found->culprits[0].type != ARGUS_TYPE_LONG_WAIT)
        return;
    for (size_t i = 1; i < found->path_count; i++) {
        uint32_t thread = view->vertices[found->path[i].vertex].thread;
        if (thread == last || timeline_is_kernel(view, found->path[i].vertex))
            continue;
        bool polled = ran && last == found->hang.thread && !polls_variable(found);
        sentence_add(sentence, polled ? "polled for an answer from " : "waited for ");
        sentence_add_thread(sentence, view, thread, last);
        sentence_add(sentence, ", which ");
        last = thread;
    }
}

static void sentence_add_circle(struct sentence *sentence, const struct argus_diagnosis *found,
                                const struct view *view)
{
    uint32_t first = view->vertices[found->cycle[0]].thread;
    bool is_member = first == found->hang.thread;
    sentence_add(sentence, is_member ? "it" : "waited at the end for ");
    if (!is_member)
        sentence_add_thread(sentence, view, first, found->hang.thread);
    for (size_t i = 1; i < found->cycle_count; i++) {
        sentence_add(sentence, i + 1 == found->cycle_count ? " and " : ", ");
        sentence_add_thread(sentence, view, view->vertices[found->cycle[i]].thread,
                            found->hang.thread);
    }
    sentence_add(sentence, is_member ? " waited for each other" : ", which waited for each other");
    if (found->cycle_broken_by_timeout)
        sentence_add(sentence, ", until a timeout ended it");
    else if (view->vertices[found->hang.vertex].wait.outcome == ARGUS_OUTCOME_TIMED_OUT)
        sentence_add(sentence, "; its own wait was ended by a timeout, theirs was not");
}

/* Names what set off a run, if it was user input or another process. */
static void sentence_add_origin(struct sentence *sentence, const struct argus_diagnosis *found,
                                const struct view *view)
{
    uint32_t edge = found->path_count > 0 ? found->path[found->path_count - 1].edge : ARGUS_NONE;
    if (found->origin_count == 0 || found->hang.type != ARGUS_TYPE_LONG_RUNNING)
        return;
    uint32_t origin = found->origin[found->origin_count - 1];
    struct argus_callback event;
    const struct argus_process *process = timeline_process(view, origin);
    if (argus_graph_ui_event(view->graph, origin, &event) && event.on_purpose) {
        sentence_add(sentence, ", set off by a ");
        sentence_add(sentence, argus_ui_event_name(event.ui_event));
        return;
    }
    if (edge == ARGUS_NONE || view->edges[edge].kind == ARGUS_EDGE_FORK)
        return;
    if (process->kernel || view->threads[view->vertices[origin].thread].process ==
                               view->threads[found->hang.thread].process)
        return;
    sentence_add(sentence, ", set off by ");
    sentence_add(sentence, process->name);
}

static void sentence_add_cause(struct sentence *sentence, const struct argus_diagnosis *found,
                               const struct view *view)
{
    if (found->cycle_count > 0) {
        if (view->vertices[found->cycle[0]].thread != found->hang.thread)
            sentence_add(sentence, "it ");
        sentence_add_circle(sentence, found, view);
    } else if (found->culprit_count > 0) {
        sentence_add(sentence, "it ");
        sentence_add_path(sentence, found, view);
        sentence_add_root_cause(sentence, view, &found->culprits[0], found->hang.thread);
        sentence_add_origin(sentence, found, view);
    } else {
        sentence_add(sentence, "of something that the records do not tell");
    }
}

static void sentence_finish_cause(struct sentence *cause, const struct argus_diagnosis *found,
                                  const struct view *view)
{
    if (found->hang.nature == ARGUS_NATURE_IDLE)
        sentence_add(cause, "it was idle and waited for input");
    else
        sentence_add_cause(cause, found, view);
}

const char *argus_diagnosis_cause_text(const struct argus_graph *graph,
                                       const struct argus_diagnosis *found, char *buffer,
                                       size_t bytes)
{
    struct view view = view_of(graph);
    struct sentence cause = {.length = 0};
    bool is_guess = found->guessed && found->hang.nature != ARGUS_NATURE_IDLE;
    sentence_finish_cause(&cause, found, &view);
    snprintf(buffer, bytes, "%s%s", is_guess ? "probably " : "", cause.text);
    return buffer;
}

/* Whether a question is open, so that the diagnosis has no answer yet. */
static bool is_open(const struct argus_diagnosis *found)
{
    for (size_t i = 0; i < found->asked_count; i++)
        if (found->asked[i].answer == ARGUS_ANSWER_OPEN)
            return true;
    return false;
}

const char *diagnosis_summary_text(const struct argus_graph *graph,
                                   const struct argus_diagnosis *found, char *buffer, size_t bytes)
{
    struct view view = view_of(graph);
    struct sentence cause = {.length = 0};
    char name[128], lasted[32];
    if (is_open(found))
        return NULL;
    text_thread(&view, found->hang.thread, name, sizeof(name));
    text_duration(found->hang.end_ns - found->hang.start_ns, lasted, sizeof(lasted));
    sentence_finish_cause(&cause, found, &view);
    if (found->hang.nature == ARGUS_NATURE_IDLE)
        snprintf(buffer, bytes, "%s did not hang: for %s %s, and none was pending.", name, lasted,
                 cause.text);
    else
        snprintf(buffer, bytes, "%s %s %s for %s%s because %s.", name,
                 found->hang.ongoing ? "has been" : "was",
                 argus_graph_lacks_wakeups(graph) ? "away" : "frozen", lasted,
                 found->guessed ? ", probably" : "", cause.text);
    return buffer;
}
