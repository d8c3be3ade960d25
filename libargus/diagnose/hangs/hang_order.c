/* The order of the list: the most urgent hang first (enum argus_urgency), then the longest.
 *
 * A window whose thread waits for a server that hangs itself is what the user sees. It is as urgent
 * as if something were pending for it: its own request is, at the server. So is a hang that a key
 * or a button set off, if the same window hangs a second time with something pending: whether the
 * user typed more in the shorter one or in the longer one, is chance.
 *
 * A program that is started again while it is frozen hands its arguments to its first process and
 * waits for it. That is the same freeze, and is left out. So is the hang of a worker thread for
 * which only its own process waits, if the process's main thread hangs meanwhile, and the hang of a
 * worker thread that gets no CPU while the main thread gets none.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/hangs/finder.h"

/* A start begins with the process, or with the program that it executes soon afterwards. */
#define LATEST_START_NS 1000000000ull

/* What was pending for a server's thread: messages of the thread of a window, anything of its own
 * process, and anything that another process sent, or that nobody is known to have sent. */
struct waiting {
    bool window, own, others;
};

static bool waiting_for(const struct view *view, const struct argus_hang *server,
                        const struct argus_hang *window, struct waiting *ret)
{
    struct argus_pendings pendings;
    uint32_t process = view->threads[server->thread].process;
    *ret = (struct waiting){.window = false};
    struct argus_error *error = argus_pending_find(view->graph, server, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    for (size_t i = 0; i < pendings.count; i++) {
        uint32_t sender = pendings.items[i].sender;
        ret->window |= pendings.items[i].kind == ARGUS_PENDING_MESSAGE && sender == window->thread;
        if (pendings.items[i].kind == ARGUS_PENDING_SET_OFF)
            continue;
        bool own = sender != ARGUS_NONE && view->threads[sender].process == process;
        *(own ? &ret->own : &ret->others) = true;
    }
    argus_pendings_deinit(&pendings);
    return true;
}

static bool overlap(const struct argus_hang *a, const struct argus_hang *b)
{
    return a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

static void raise_if_server_hangs(const struct view *view, const hang_list *list,
                                  struct argus_hang *window)
{
    struct waiting waiting;
    for (size_t i = 0; i < list->length && window->urgency == ARGUS_URGENCY_WINDOW_SET_OFF; i++) {
        const struct argus_hang *server = &list->data[i];
        if (server->urgency == ARGUS_URGENCY_PENDING && overlap(server, window) &&
            waiting_for(view, server, window, &waiting) && waiting.window)
            window->urgency = ARGUS_URGENCY_WINDOW_PENDING;
    }
}

/* Whether the user's key or button set the hang off. */
static bool is_set_off_by_user(const struct view *view, const struct argus_hang *hang)
{
    const uint32_t by_user = 1u << ARGUS_UI_KEY_PRESS | 1u << ARGUS_UI_BUTTON_PRESS;
    struct argus_pendings pendings;
    bool is = false;
    struct argus_error *error = argus_pending_find(view->graph, hang, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    for (size_t i = 0; i < pendings.count; i++)
        is |= pendings.items[i].kind == ARGUS_PENDING_SET_OFF &&
              pendings.items[i].ui_events & by_user;
    argus_pendings_deinit(&pendings);
    return is;
}

static bool has_pending(const hang_list *list, uint32_t thread)
{
    for (size_t i = 0; i < list->length; i++)
        if (list->data[i].thread == thread && list->data[i].urgency == ARGUS_URGENCY_WINDOW_PENDING)
            return true;
    return false;
}

static void raise_if_window_hangs_twice(const struct view *view, const hang_list *list,
                                        struct argus_hang *window)
{
    if (window->urgency == ARGUS_URGENCY_WINDOW_SET_OFF && has_pending(list, window->thread) &&
        is_set_off_by_user(view, window))
        window->urgency = ARGUS_URGENCY_WINDOW_PENDING;
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

static bool is_second_start(const struct finder *finder, const struct argus_hang *hang)
{
    const struct view *view = finder->view;
    const hang_list *list = &finder->found;
    uint32_t process = view->threads[hang->thread].process;
    if (hang->start_ns > view->processes[process].start_ns + LATEST_START_NS ||
        finder_has_windows(finder, hang->thread))
        return false;
    for (size_t i = 0; i < list->length; i++) {
        const struct argus_hang *first = &list->data[i];
        if (view->threads[first->thread].process != process &&
            strcmp(program_of(view, first), program_of(view, hang)) == 0 &&
            view->processes[view->threads[first->thread].process].start_ns <
                view->processes[process].start_ns &&
            is_within(hang, first) && finder_has_windows(finder, first->thread))
            return true;
    }
    return false;
}

/* Whether the thread gets no CPU while the main thread gets none. */
static bool is_starved_with(const struct argus_hang *hang, const struct argus_hang *main_hang)
{
    return hang->nature == ARGUS_NATURE_NO_CPU && main_hang->nature == ARGUS_NATURE_NO_CPU &&
           is_within(hang, main_hang);
}

/* Whether the main thread hangs, too, and only its own process waits for this thread, or both get
 * no CPU. */
static bool is_own_worker(const struct view *view, const hang_list *list,
                          const struct argus_hang *hang)
{
    uint32_t process = view->threads[hang->thread].process;
    uint32_t main_thread = view->processes[process].main_thread;
    struct waiting waiting;
    for (size_t i = 0; hang->thread != main_thread && i < list->length; i++) {
        const struct argus_hang *main_hang = &list->data[i];
        if (main_hang->thread == main_thread && overlap(main_hang, hang) &&
            waiting_for(view, hang, main_hang, &waiting))
            return (waiting.own && !waiting.others) || is_starved_with(hang, main_hang);
    }
    return false;
}

static void leave_out_same_freezes(struct finder *finder)
{
    hang_list *list = &finder->found;
    size_t kept = 0;
    for (size_t i = 0; i < list->length; i++)
        if (!is_second_start(finder, &list->data[i]) &&
            !is_own_worker(finder->view, list, &list->data[i]))
            list->data[kept++] = list->data[i];
    list->length = kept;
}

void hangs_order(struct finder *finder)
{
    hang_list *list = &finder->found;
    leave_out_same_freezes(finder);
    for (size_t i = 0; i < list->length; i++)
        raise_if_server_hangs(finder->view, list, &list->data[i]);
    for (size_t i = 0; i < list->length; i++)
        raise_if_window_hangs_twice(finder->view, list, &list->data[i]);
    if (list->length)
        qsort(list->data, list->length, sizeof(*list->data), compare_hangs);
}
