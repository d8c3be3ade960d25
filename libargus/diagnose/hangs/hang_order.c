/* The order of the list: the most urgent hang first (enum argus_urgency), then the longest.
 *
 * A window whose thread waits for a server that hangs itself is what the user sees. It is as urgent
 * as if something were pending for it: its own request is, at the server.
 *
 * A program that is started again while it is frozen hands its arguments to its first process and
 * waits for it. That is the same freeze, and is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hangs/finder.h"

/* A start begins with the process, or with the program that it executes soon afterwards. */
#define LATEST_START_NS 1000000000ull

/* Whether a message of the thread of `window` was pending for the thread of `server`. */
static bool keeps_waiting(const struct view *view, const struct argus_hang *server,
                          const struct argus_hang *window)
{
    struct argus_pendings pendings;
    bool found = false;
    struct argus_error *error = argus_pending_find(view->graph, server, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    for (size_t i = 0; i < pendings.count; i++)
        found |= pendings.items[i].kind == ARGUS_PENDING_MESSAGE &&
                 pendings.items[i].sender == window->thread;
    argus_pendings_deinit(&pendings);
    return found;
}

static bool overlap(const struct argus_hang *a, const struct argus_hang *b)
{
    return a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

static void raise_if_server_hangs(const struct view *view, const hang_list *list,
                                  struct argus_hang *window)
{
    for (size_t i = 0; i < list->length && window->urgency == ARGUS_URGENCY_WINDOW_SET_OFF; i++) {
        const struct argus_hang *server = &list->data[i];
        if (server->urgency == ARGUS_URGENCY_PENDING && overlap(server, window) &&
            keeps_waiting(view, server, window))
            window->urgency = ARGUS_URGENCY_WINDOW_PENDING;
    }
}

static int compare_hangs(const void *a, const void *b)
{
    const struct argus_hang *x = a, *y = b;
    uint64_t x_ns = x->end_ns - x->start_ns, y_ns = y->end_ns - y->start_ns;
    if (x->urgency != y->urgency)
        return x->urgency > y->urgency ? -1 : 1;
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static const char *program_of(const struct view *view, const struct argus_hang *hang)
{
    return view->processes[view->threads[hang->thread].process].name;
}

/* Whether most of `hang` is within `other`. */
static bool is_within(const struct argus_hang *hang, const struct argus_hang *other)
{
    uint64_t from_ns = hang->start_ns > other->start_ns ? hang->start_ns : other->start_ns;
    uint64_t to_ns = hang->end_ns < other->end_ns ? hang->end_ns : other->end_ns;
    return to_ns > from_ns && to_ns - from_ns >= (hang->end_ns - hang->start_ns) / 10 * 8;
}

static bool is_second_start(const struct view *view, const hang_list *list,
                            const struct argus_hang *hang)
{
    uint32_t process = view->threads[hang->thread].process;
    if (hang->start_ns > view->processes[process].start_ns + LATEST_START_NS ||
        thread_has_windows(view, hang->thread))
        return false;
    for (size_t i = 0; i < list->length; i++) {
        const struct argus_hang *first = &list->data[i];
        if (view->threads[first->thread].process != process &&
            strcmp(program_of(view, first), program_of(view, hang)) == 0 &&
            view->processes[view->threads[first->thread].process].start_ns <
                view->processes[process].start_ns &&
            is_within(hang, first) && thread_has_windows(view, first->thread))
            return true;
    }
    return false;
}

static void leave_out_second_starts(const struct view *view, hang_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->length; i++)
        if (!is_second_start(view, list, &list->data[i]))
            list->data[kept++] = list->data[i];
    list->length = kept;
}

void hangs_order(const struct view *view, hang_list *list)
{
    leave_out_second_starts(view, list);
    for (size_t i = 0; i < list->length; i++)
        raise_if_server_hangs(view, list, &list->data[i]);
    if (list->length)
        qsort(list->data, list->length, sizeof(*list->data), compare_hangs);
}
