/* Commands that a program runs in its own terminal.
 *
 * A shell makes each command a process group of its own and gives it the terminal: what is typed
 * there is for the command, and the shell is not awaited. An interpreter or editor that waits for a
 * command keeps it in its own group, or in a session without a terminal. Then nobody reads what is
 * typed, and the user waits, as for a program with windows. It is as with a shell if the command
 * reads the terminal (a pager, an editor) or has windows. That a toolkit is mapped is not enough:
 * an editor with windows also compiles its own code, in processes that have none.
 */
#include <string.h>

#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/keys.h"
#include "diagnose/hangs/nesting.h"

/* Generations of processes that are looked at, and processes that were started in one stretch. With
 * more, the program builds something. */
#define MOST_GENERATIONS 16
#define MOST_COMMANDS    64

struct commands {
    uint32_t processes[MOST_COMMANDS];
    size_t count;
};

static uint32_t parent_of(const struct view *view, uint32_t process)
{
    const struct argus_process *child = &view->processes[process];
    if (child->forked_from < view->process_count)
        return child->forked_from;
    for (uint32_t i = 0; child->parent_pid && i < view->process_count; i++)
        if (view->processes[i].pid == child->parent_pid && i != process &&
            view->processes[i].start_ns <= child->start_ns &&
            child->start_ns <= view->processes[i].end_ns)
            return i;
    return ARGUS_NONE;
}

bool process_descends_from(const struct view *view, uint32_t process, uint32_t ancestor)
{
    uint32_t at = parent_of(view, process);
    for (int i = 0; i < MOST_GENERATIONS && at != ARGUS_NONE && at != ancestor; i++)
        at = parent_of(view, at);
    return at == ancestor;
}

/* The name of a system call that succeeded; NULL: another operation. */
static const char *call_of(const struct view *view, const struct argus_op *op, char *buffer,
                           size_t bytes)
{
    bool failed = op->code & 1u << 16;
    if (op->code >> 24 != ARGUS_OP_SYSCALL || failed)
        return NULL;
    return argus_syscall_name(argus_graph_trace(view->graph), op->code & 0xffff, buffer, bytes);
}

/* Whether `vertex` makes a process group. With a session of its own (`*left`), a process has left
 * the terminal, and its group gets none. */
static bool makes_group(const struct view *view, uint32_t vertex, bool *left)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_op *ops;
    argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count; i++) {
        char buffer[32];
        const char *call = call_of(view, &ops[v->first_op + i], buffer, sizeof(buffer));
        *left |= call && strcmp(call, "setsid") == 0;
        if (call && !*left && strcmp(call, "setpgid") == 0)
            return true;
    }
    return false;
}

/* Whether `vertex`, of a command, ends in a wait for keys. What a poll that is not over waits for
 * is not known. */
static bool reads_keys(const struct view *view, const struct argus_hang *hang, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    return wait_reads_device(wait) || was_ended_by_keys(view, vertex) ||
           (hang->ongoing && wait->kind == ARGUS_WAIT_POLL &&
            timeline_next(view, vertex) == ARGUS_NONE);
}

/* Whether a thread made a process group in the hang, or (`is_command`) waits for keys. */
static bool shares_terminal(const struct view *view, const struct argus_hang *hang, uint32_t thread,
                            bool is_command)
{
    const struct argus_thread *t = &view->threads[thread];
    uint32_t v = timeline_before(view, thread, hang->start_ns + 1);
    bool left = false;
    if (v == ARGUS_NONE)
        v = t->first_vertex;
    for (; v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < hang->end_ns; v++)
        if (makes_group(view, v, &left) || (is_command && reads_keys(view, hang, v)))
            return true;
    return false;
}

/* Adds the processes that `parent` started in the hang. False: there are too many. */
static bool add_children(const struct view *view, const struct argus_hang *hang, uint32_t parent,
                         struct commands *commands)
{
    const struct argus_process *p = &view->processes[parent];
    for (uint32_t i = 0; i < view->process_count; i++) {
        const struct argus_process *child = &view->processes[i];
        if (child->parent_pid != p->pid || i == parent || child->start_ns < p->start_ns ||
            child->start_ns > p->end_ns || child->start_ns < hang->start_ns ||
            child->start_ns >= hang->end_ns)
            continue;
        if (commands->count == MOST_COMMANDS)
            return false;
        commands->processes[commands->count++] = i;
    }
    return true;
}

static bool is_used(const struct finder *finder, const struct argus_hang *hang, uint32_t process)
{
    uint32_t thread = finder->view->processes[process].main_thread;
    return thread != ARGUS_NONE && (process_connects_to_display(finder, thread) ||
                                    shares_terminal(finder->view, hang, thread, true));
}

/* Whether a process that the thread's process started in the hang, or one that such a process
 * started, has the terminal, or windows. */
static bool command_is_used(const struct finder *finder, const struct argus_hang *hang)
{
    const struct view *view = finder->view;
    struct commands commands = {.count = 0};
    if (!add_children(view, hang, view->threads[hang->thread].process, &commands))
        return true;
    for (size_t i = 0; i < commands.count; i++)
        if (is_used(finder, hang, commands.processes[i]) ||
            !add_children(view, hang, commands.processes[i], &commands))
            return true;
    return false;
}

static bool any_keys(const struct view *view, uint32_t process)
{
    for (uint32_t thread = 0; thread < view->thread_count; thread++) {
        const struct argus_thread *t = &view->threads[thread];
        for (uint32_t v = t->first_vertex;
             t->process == process && v < t->first_vertex + t->vertex_count; v++)
            if (was_ended_by_keys(view, v))
                return true;
    }
    return false;
}

/* Whether a thread of the process, or the one of `habits`, waits for keys. */
static bool reads_terminal(const struct finder *finder, const struct habits *habits,
                           uint32_t process)
{
    uint8_t *answer = &finder->keys[process];
    for (size_t i = 0; i < habits->items.length; i++)
        if (habits->items.data[i].keys || (habits->items.data[i].kind == ARGUS_WAIT_READ &&
                                           input_is_brought(&habits->items.data[i])))
            return true;
    if (*answer == KEYS_NOT_ASKED)
        *answer = any_keys(finder->view, process) ? KEYS_SOME : KEYS_NONE;
    return *answer == KEYS_SOME;
}

bool keeps_terminal(const struct finder *finder, const struct habits *habits,
                    const struct argus_hang *hang)
{
    const struct view *view = finder->view;
    return reads_terminal(finder, habits, view->threads[hang->thread].process) &&
           !shares_terminal(view, hang, hang->thread, false) && !command_is_used(finder, hang);
}
