/* The order of the list: the most urgent hang first (enum argus_urgency), then the longest.
 *
 * A window whose thread waits for a server that hangs itself is what the user sees. It is as urgent
 * as if something were pending for it: its own request is, at the server.
 */
#include <stdlib.h>

#include "diagnose/hangs/finder.h"

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

void hangs_order(const struct view *view, hang_list *list)
{
    for (size_t i = 0; i < list->length; i++)
        raise_if_server_hangs(view, list, &list->data[i]);
    if (list->length)
        qsort(list->data, list->length, sizeof(*list->data), compare_hangs);
}
