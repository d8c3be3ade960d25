/* What came for a thread while it did not look.
 *
 *   - Messages and callbacks: edges into vertices of the thread whose cause is in the hang (or
 *     before) and whose effect comes when the hang is over; also within the hang, if the effect
 *     came long after the cause. Messages that were never taken have no edge
 *     (argus_graph_unread()).
 *   - Descriptors of timers and devices, to which no thread sends: what the first poll afterwards
 *     found ready (argus_graph_arrivals()).
 *   - UI events: those read in the first moments afterwards, and user input that is handed to the
 *     program long after it came.
 * What the thread does not take in the wait that ended the hang, either, is not meant for it.
 *
 * Not seen: messages of channels that no other traced thread sends to, if the loop finds them by
 * reading without a poll.
 */
#include <stdlib.h>

#include "base/lower_bound.h"
#include "base/overlap.h"
#include "base/vec.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/nesting.h"

/* What came less than this before the end of the hang may have ended it. */
#define SHORT_PENDING_NS 5000000ull
/* After the hang, the thread takes what was pending within this time and so many vertices. */
#define TAKEN_WITHIN_NS   5000000000ull
#define MOST_VERTICES     4096
#define UI_READ_WITHIN_NS 100000000ull
/* The number of different senders, kinds and descriptors. */
#define MOST_ITEMS 32

typedef VEC(struct argus_pending) pending_list;

struct search {
    struct view view;
    const struct argus_hang *hang;
    pending_list found;
    bool no_memory;
    bool is_looked, takes; /* takes_messages() was asked, and its answer */
};

static bool is_same(const struct argus_pending *a, const struct argus_pending *b)
{
    return a->kind == b->kind && a->sender == b->sender && a->ready.type == b->ready.type &&
           a->ready.fd == b->ready.fd && a->ready.inode == b->ready.inode;
}

static void add(struct search *search, struct argus_pending pending)
{
    pending.count = 1;
    for (size_t i = 0; i < search->found.length; i++) {
        struct argus_pending *known = &search->found.data[i];
        if (!is_same(known, &pending))
            continue;
        known->count++;
        known->unread |= pending.unread;
        known->ui_events |= pending.ui_events;
        known->first_ns = known->first_ns < pending.first_ns ? known->first_ns : pending.first_ns;
        return;
    }
    if (search->found.length < MOST_ITEMS && !vec_push(&search->found, pending))
        search->no_memory = true;
}

static uint32_t sender_of(const struct search *search, const struct argus_edge *edge)
{
    return search->view.vertices[edge->from].thread;
}

/* Whether what `edge` brings was pending, and not taken, for a part of the hang that counts. */
static bool was_pending(const struct argus_hang *hang, const struct argus_edge *edge)
{
    uint64_t waited_ns = overlap_ns(edge->from_ns, edge->to_ns, hang->start_ns, hang->end_ns);
    return waited_ns >= (edge->to_ns >= hang->end_ns ? SHORT_PENDING_NS : LONG_PENDING_NS);
}

static void add_edges(struct search *search, uint32_t vertex)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(search->view.graph, vertex, &edges);
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &edges[i];
        bool message = edge->message || edge->kind == ARGUS_EDGE_MESSAGE;
        if ((!message && edge->kind != ARGUS_EDGE_DISPATCH) ||
            sender_of(search, edge) == search->hang->thread || !was_pending(search->hang, edge))
            continue;
        add(search, (struct argus_pending){.first_ns = edge->from_ns,
                                           .sender = sender_of(search, edge),
                                           .kind = (uint8_t)(message ? ARGUS_PENDING_MESSAGE
                                                                     : ARGUS_PENDING_CALLBACK)});
    }
}

static void add_ui_reads(struct search *search, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(search->view.graph, vertex, &callbacks);
    for (size_t i = 0; i < count; i++) {
        const struct argus_callback *callback = &callbacks[i];
        if (callback->what != ARGUS_CALLBACK_UI_READ || callback->time_ns < search->hang->end_ns ||
            callback->time_ns - search->hang->end_ns > UI_READ_WITHIN_NS)
            continue;
        add(search, (struct argus_pending){.first_ns = callback->time_ns,
                                           .sender = ARGUS_NONE,
                                           .ui_events = 1u << callback->ui_event,
                                           .kind = ARGUS_PENDING_UI_EVENT});
    }
}

/* Adds input that the toolkit held back. */
static void add_late_input(struct search *search, uint32_t vertex)
{
    const struct argus_hang *hang = search->hang;
    struct argus_callback input;
    uint64_t came_ns = input_came_ns(&search->view, vertex, &input);
    if (came_ns == 0 || came_ns < hang->start_ns || input.time_ns - came_ns < LONG_PENDING_NS ||
        came_ns >= hang->end_ns)
        return;
    add(search, (struct argus_pending){.first_ns = came_ns,
                                       .sender = ARGUS_NONE,
                                       .ui_events = 1u << input.ui_event,
                                       .kind = ARGUS_PENDING_UI_EVENT});
}

static void add_from_vertices(struct search *search)
{
    const struct argus_hang *hang = search->hang;
    const struct argus_thread *t = &search->view.threads[hang->thread];
    uint32_t v = timeline_before(&search->view, hang->thread, hang->start_ns + 1), after = 0;
    if (v == ARGUS_NONE)
        v = t->first_vertex;
    for (; v < t->first_vertex + t->vertex_count && after < MOST_VERTICES; v++) {
        uint64_t start_ns = search->view.vertices[v].start_ns;
        after += start_ns >= hang->end_ns;
        if (start_ns > hang->end_ns && start_ns - hang->end_ns > TAKEN_WITHIN_NS)
            break;
        add_edges(search, v);
        add_late_input(search, v);
        if (timeline_wait_end(&search->view, v) >= hang->end_ns)
            add_ui_reads(search, v);
    }
}

/* Whether the thread waited in a poll just before the hang, or just after it, with the message
 * pending: its loop does not take it. */
static bool is_left_in_loop(const struct search *search, uint64_t sent_ns)
{
    const struct view *view = &search->view;
    const struct argus_hang *hang = search->hang;
    uint32_t before = timeline_before(view, hang->thread, hang->start_ns);
    uint32_t behind = argus_graph_vertex_at(view->graph, hang->thread, hang->end_ns);
    uint32_t at[] = {before, hang->ongoing ? ARGUS_NONE : behind};
    for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
        if (at[i] == ARGUS_NONE || view->vertices[at[i]].wait.kind != ARGUS_WAIT_POLL)
            continue;
        uint64_t start_ns = view->vertices[at[i]].end_ns, end_ns = timeline_wait_end(view, at[i]);
        bool outside = end_ns <= hang->start_ns || start_ns >= hang->end_ns;
        if (outside && sent_ns < start_ns && end_ns - start_ns >= SHORT_PENDING_NS)
            return true;
    }
    return false;
}

static void add_unread(struct search *search)
{
    const struct argus_unread *unread;
    size_t first, count = argus_graph_unread(search->view.graph, &unread);
    LOWER_BOUND(first, count, unread[first].receiver < search->hang->thread);
    for (size_t i = first; i < count && unread[i].receiver == search->hang->thread; i++)
        if (unread[i].sent_ns < search->hang->end_ns && unread[i].sender != search->hang->thread &&
            !is_left_in_loop(search, unread[i].sent_ns))
            add(search, (struct argus_pending){.first_ns = unread[i].sent_ns,
                                               .sender = unread[i].sender,
                                               .unread = true,
                                               .kind = ARGUS_PENDING_MESSAGE});
}

static bool has_messages(const struct search *search)
{
    for (size_t i = 0; i < search->found.length; i++)
        if (search->found.data[i].kind == ARGUS_PENDING_MESSAGE)
            return true;
    return false;
}

/* Whether the trace shows messages that the thread took: then those of this machine are edges. */
static bool takes_messages(struct search *search)
{
    const struct view *view = &search->view;
    const struct argus_thread *t = &view->threads[search->hang->thread];
    for (uint32_t v = t->first_vertex; !search->is_looked && v < t->first_vertex + t->vertex_count;
         v++) {
        const struct argus_edge *edges;
        size_t count = argus_graph_in_edges(view->graph, v, &edges);
        for (size_t i = 0; i < count; i++)
            search->takes |= edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE;
        search->is_looked = search->takes;
    }
    search->is_looked = true;
    return search->takes;
}

/* Descriptors that carry messages: their senders are already listed if they are known, and if none
 * is listed, what came through a socket of this machine was taken at once: an answer. */
static bool carries_messages(uint64_t type)
{
    const uint64_t type_mask = 0170000, pipe = 0010000, socket = 0140000;
    const uint64_t eventfd = 0x66746e657665; /* "eventf" */
    return (type & type_mask) == pipe || (type & type_mask) == socket || type >> 16 == eventfd;
}

static void add_arrivals(struct search *search)
{
    const struct argus_arrival *arrivals;
    const struct argus_hang *hang = search->hang;
    size_t count = argus_graph_arrivals(search->view.graph, &arrivals);
    bool messages = has_messages(search);
    size_t first;
    LOWER_BOUND(
        first, count,
        arrivals[first].thread < hang->thread ||
            (arrivals[first].thread == hang->thread && arrivals[first].time_ns <= hang->start_ns));
    for (size_t i = first;
         i < count && arrivals[i].thread == hang->thread && arrivals[i].time_ns <= hang->end_ns;
         i++) {
        if (carries_messages(arrivals[i].type) &&
            (messages || (arrivals[i].peer && takes_messages(search))))
            continue;
        add(search, (struct argus_pending){.first_ns = arrivals[i].time_ns,
                                           .sender = ARGUS_NONE,
                                           .kind = ARGUS_PENDING_READY,
                                           .ready = arrivals[i]});
    }
}

/* Adds what the hang began with: its first UI event, or the thread that made its first vertex
 * run. */
static void add_set_off(struct search *search)
{
    const struct argus_hang *hang = search->hang;
    struct argus_pending pending = {
        .first_ns = hang->start_ns, .sender = ARGUS_NONE, .kind = ARGUS_PENDING_SET_OFF};
    struct argus_callback event;
    uint32_t first = argus_graph_vertex_at(search->view.graph, hang->thread, hang->start_ns);
    bool whole = first != ARGUS_NONE && search->view.vertices[first].start_ns == hang->start_ns;
    uint32_t cause = !whole ? ARGUS_NONE : argus_graph_cause(search->view.graph, first);
    if (cause != ARGUS_NONE && sender_of(search, &search->view.edges[cause]) != hang->thread)
        pending.sender = sender_of(search, &search->view.edges[cause]);
    for (uint32_t v = first; v != ARGUS_NONE && v <= hang->vertex && !pending.ui_events;
         v = timeline_next(&search->view, v))
        if (argus_graph_ui_event(search->view.graph, v, &event) && event.time_ns < hang->end_ns)
            pending.ui_events = 1u << event.ui_event;
    if (pending.sender != ARGUS_NONE || pending.ui_events)
        add(search, pending);
}

static int by_first(const void *left, const void *right)
{
    const struct argus_pending *a = left, *b = right;
    bool set_off[2] = {a->kind == ARGUS_PENDING_SET_OFF, b->kind == ARGUS_PENDING_SET_OFF};
    if (set_off[0] != set_off[1])
        return set_off[0] ? -1 : 1;
    if (a->first_ns != b->first_ns)
        return a->first_ns < b->first_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->sender < b->sender ? -1 : a->sender > b->sender;
}

struct argus_error *argus_pending_find(const struct argus_graph *graph,
                                       const struct argus_hang *hang, struct argus_pendings *ret)
{
    struct search search = {.view = view_of(graph), .hang = hang};
    add_set_off(&search);
    add_from_vertices(&search);
    add_unread(&search);
    add_arrivals(&search);
    if (search.no_memory) {
        vec_deinit(&search.found);
        return argus_error_memory();
    }
    if (search.found.length)
        qsort(search.found.data, search.found.length, sizeof(*search.found.data), by_first);
    *ret = (struct argus_pendings){.items = search.found.data, .count = search.found.length};
    return NULL;
}

bool pendings_any(const struct argus_pendings *pendings, unsigned besides)
{
    besides |= 1u << ARGUS_PENDING_SET_OFF;
    for (size_t i = 0; i < pendings->count; i++)
        if (!(besides >> pendings->items[i].kind & 1))
            return true;
    return false;
}

void argus_pendings_deinit(struct argus_pendings *pendings)
{
    free(pendings->items);
    *pendings = (struct argus_pendings){0};
}
