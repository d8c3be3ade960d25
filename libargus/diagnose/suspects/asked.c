/* Finds the threads to which a thread sent a request before it waited: the receivers of the
 * messages that it sent in the vertex that ends in the wait, or in which the wait began if signals
 * interrupted it since, or if it is one in pieces (find_unanswered() looks for those of the hung
 * thread); if it sent nothing there, in the callbacks just before.
 *
 * A message that was received is an edge of the graph, also if it was received much later, or if it
 * woke no thread because the receiver was busy. A message that was never received has no edge. Its
 * intended receiver is known if that thread had received from the channel before (struct
 * argus_unread). If the channel was never received from, the records of the vertex are read again
 * for the channel, and the threads that use the other end of the socket are taken. If no thread
 * ever used it, the processes that have it open are taken, or the process that was stopped
 * meanwhile (stopped.c). Otherwise the best guess is a thread that already waits on the path and
 * has had no contact with the sender: it would have had to receive on this channel, and does not
 * get to it.
 */
#include "diagnose/suspects/sent.h"
#include "diagnose/suspects/suspect_search.h"

#define MAX_OUT 256

/* --- received messages --- */

static bool add_receivers(struct suspect_search *search, uint32_t vertex)
{
    const struct view *view = &search->d->view;
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0 && count - i < MAX_OUT; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        bool message = edge->kind == ARGUS_EDGE_MESSAGE || edge->message;
        if (message &&
            !suspect_search_add(search, view->vertices[edge->to].thread, ARGUS_REASON_WAS_SENT))
            return false;
    }
    return true;
}

static bool add_unread(struct suspect_search *search, uint32_t vertex)
{
    const struct argus_vertex *v = &search->d->view.vertices[vertex];
    const struct argus_unread *unread;
    size_t count = argus_graph_unread(search->d->view.graph, &unread);
    for (size_t i = count; i > 0; i--)
        if (unread[i - 1].sender == v->thread && unread[i - 1].sent_ns >= v->start_ns &&
            unread[i - 1].sent_ns <= v->end_ns &&
            !suspect_search_add(search, unread[i - 1].receiver, ARGUS_REASON_HAS_NOT_READ))
            return false;
    return true;
}

/* --- messages that were never received --- */

/* Adds the threads that use the receiving end; `*ret_known`: there is at least one. */
static bool add_readers(struct suspect_search *search, const struct sent *sent, bool *ret_known)
{
    const struct argus_object_use *uses;
    uint64_t inode = sent_receiving_inode(&search->d->view, sent);
    size_t count = argus_graph_object_uses(search->d->view.graph, &uses);
    uint32_t waiter = search->d->view.vertices[search->vertex].thread;
    for (size_t i = 0; inode && i < count; i++) {
        bool writes = sent->kind == ARGUS_CHANNEL_PIPE && uses[i].wrote;
        if (uses[i].inode != inode || uses[i].thread == waiter || writes)
            continue;
        *ret_known = true;
        if (!suspect_search_add(search, uses[i].thread, ARGUS_REASON_USES_WRITTEN_END))
            return false;
    }
    return true;
}

/* The same for processes that have the other end open, if no thread is known to use it. */
static bool add_openers(struct suspect_search *search, const struct sent *sent, bool *ret_known)
{
    const struct argus_open_end *ends;
    uint64_t inode = sent_receiving_inode(&search->d->view, sent);
    size_t count = open_ends_of(&search->d->view, inode, &ends);
    for (size_t i = 0; i < count; i++) {
        if (!ends[i].reads || !is_other_process(search, ends[i].thread))
            continue;
        *ret_known = true;
        if (!suspect_search_add(search, ends[i].thread, ARGUS_REASON_HAS_WRITTEN_END))
            return false;
    }
    return true;
}

/* Whether it was sent over a connection that the server had not accepted: its end has no inode. */
static bool is_unaccepted(const struct sent *sent)
{
    return sent->channel == 0 &&
           (sent->kind == ARGUS_CHANNEL_UNIX_STREAM || sent->kind == ARGUS_CHANNEL_UNIX_SEQPACKET);
}

/* The earliest message of the list whose receiving end no thread was seen to use; NULL: none. */
static const struct sent *first_without_reader(const struct view *view, uint32_t sender,
                                               const struct sent_list *list)
{
    const struct sent *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t inode = sent_receiving_inode(view, &list->items[i]);
        bool unread =
            is_unaccepted(&list->items[i]) || (inode && !sent_end_is_read(view, sender, inode));
        if (unread && (!first || list->items[i].time_ns < first->time_ns))
            first = &list->items[i];
    }
    return first;
}

/* Adds the process that was stopped when something was sent whose receiver is not known. */
static bool add_stopped(struct suspect_search *search, uint32_t sender,
                        const struct sent_list *list)
{
    const struct sent *first = first_without_reader(&search->d->view, sender, list);
    uint64_t end_ns = search->d->hang.end_ns;
    uint32_t thread = first && first->time_ns < end_ns
                          ? find_stopped(&search->d->view, (struct window){first->time_ns, end_ns})
                          : ARGUS_NONE;
    size_t before = search->list->length;
    if (thread != ARGUS_NONE && !suspect_search_add(search, thread, ARGUS_REASON_STOPPED_RECEIVER))
        return false;
    if (search->list->length > before)
        search->list->data[before].guess = true;
    return true;
}

struct argus_error *find_unreceived(struct suspect_search *search, uint32_t vertex)
{
    const struct view *view = &search->d->view;
    uint32_t sender = view->vertices[vertex].thread;
    struct sent_list sent;
    bool known = false;
    if (!add_unread(search, vertex))
        return argus_error_memory();
    struct argus_error *error = sent_list_read(view, vertex, &sent);
    if (error)
        return error;
    for (size_t i = 0; i < sent.count; i++)
        if (!sent_end_is_read(view, sender, sent_receiving_inode(view, &sent.items[i])) &&
            !add_openers(search, &sent.items[i], &known))
            return argus_error_memory();
    return known || add_stopped(search, sender, &sent) ? NULL : argus_error_memory();
}

/* Adds the threads on the path with which the waiter has never communicated. */
static bool add_strangers(struct suspect_search *search)
{
    const struct diagnoser *d = search->d;
    for (size_t i = 0; i < d->path.length; i++) {
        uint32_t thread = d->view.vertices[d->path.data[i].vertex].thread;
        if (!have_interacted(&d->view, search->vertex, thread, 1) &&
            !suspect_search_add(search, thread, ARGUS_REASON_NO_OTHER_CHANNEL))
            return false;
    }
    return true;
}

/* Adds those to which `vertex` sent something. `*ret_sent`: it sent something. */
static struct argus_error *add_asked(struct suspect_search *search, uint32_t vertex, bool *ret_sent)
{
    struct sent_list sent;
    bool known = false;
    size_t before = search->list->length;
    if (!add_receivers(search, vertex) || !add_unread(search, vertex))
        return argus_error_memory();
    struct argus_error *error = sent_list_read(&search->d->view, vertex, &sent);
    *ret_sent = sent.count > 0 || search->list->length > before;
    if (error || sent.count == 0)
        return error;
    for (size_t i = 0; i < sent.count; i++)
        if (!add_readers(search, &sent.items[i], &known))
            return argus_error_memory();
    for (size_t i = 0; !known && i < sent.count; i++)
        if (!add_openers(search, &sent.items[i], &known))
            return argus_error_memory();
    if (!known && !add_stopped(search, search->d->view.vertices[vertex].thread, &sent))
        return argus_error_memory();
    if (!known && search->list->length == 0 && !add_strangers(search))
        return argus_error_memory();
    return NULL;
}

/* Callbacks of one turn of a loop are vertices of their own: one of them sends, and the loop then
 * waits. */
struct argus_error *find_asked(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    bool is_hung = view->vertices[search->vertex].thread == search->d->hang.thread;
    uint32_t vertex = is_hung ? timeline_wait_begin(view, search->vertex) : first_piece(search);
    struct argus_error *error = NULL;
    bool has_sent = false;
    for (int i = 0; !error && !has_sent && i < NEAR_VERTICES && vertex != ARGUS_NONE; i++) {
        if (i > 0 && view->vertices[vertex].wait.kind != ARGUS_WAIT_NONE)
            break;
        error = add_asked(search, vertex, &has_sent);
        vertex = argus_graph_previous(view->graph, vertex);
    }
    return error;
}
