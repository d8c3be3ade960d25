/* Finds a request that a server handed on to another process, which did not take it.
 *
 * A display server does not have the text of the clipboard: it hands the request on to the program
 * that copied the text. If that program does not read it, nothing in the trace shows that the
 * asking thread waits, since the server is idle and has answered nobody late. So the messages that
 * the server sent in the turn in which it took the request are examined. Three things show that a
 * message was not taken in time:
 *   - its edge leads to a much later moment;
 *   - it is known as unread (struct argus_unread);
 *   - no thread was seen to use the receiving end, which a process has open.
 */
#include "diagnose/hangs/handed_on.h"

#include "diagnose/suspects/sent.h"
#include "diagnose/suspects/suspect_search.h"
#include "diagnose/vertex_deeds.h"

/* Turns of servers whose records are read for one thread. */
#define MOST_TURNS 32
/* Messages of one vertex. */
#define MOST_EDGES 256

/* The turn of a server in which it took a request. */
struct turn {
    const struct view *view;
    uint32_t asker, vertex;
    uint64_t from_ns, until_ns;
};

static uint32_t process_of(const struct view *view, uint32_t thread)
{
    return view->threads[thread].process;
}

/* Whether the thread belongs neither to the asking process nor to the server. */
static bool is_third(const struct turn *turn, uint32_t thread)
{
    const struct view *view = turn->view;
    uint32_t process = process_of(view, thread);
    return process != process_of(view, turn->asker) &&
           process != process_of(view, view->vertices[turn->vertex].thread) &&
           !view->processes[process].kernel;
}

static bool find_late(const struct turn *turn, struct handed_on *ret)
{
    const struct view *view = turn->view;
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, turn->vertex, &out);
    for (size_t i = 0; i < count && i < MOST_EDGES; i++) {
        const struct argus_edge *edge = &view->edges[out[i]];
        uint32_t receiver = view->vertices[edge->to].thread;
        if (!edge_is_message(edge) || edge->from_ns < turn->from_ns ||
            edge->to_ns < turn->until_ns || !is_third(turn, receiver))
            continue;
        ret->sent_ns = edge->from_ns;
        ret->thread = receiver;
        return true;
    }
    return false;
}

static bool find_unread(const struct turn *turn, struct handed_on *ret)
{
    const struct argus_vertex *v = &turn->view->vertices[turn->vertex];
    const struct argus_unread *unread;
    size_t count = argus_graph_unread(turn->view->graph, &unread);
    for (size_t i = 0; i < count; i++) {
        if (unread[i].sender != v->thread || unread[i].sent_ns < turn->from_ns ||
            unread[i].sent_ns > v->end_ns || !is_third(turn, unread[i].receiver))
            continue;
        ret->sent_ns = unread[i].sent_ns;
        ret->thread = unread[i].receiver;
        return true;
    }
    return false;
}

/* The third process that has the receiving end of the message open, if no thread was seen to use
 * that end; ARGUS_NONE. */
static uint32_t silent_receiver(const struct turn *turn, const struct sent *sent)
{
    const struct argus_open_end *ends;
    uint64_t inode = sent_receiving_inode(turn->view, sent);
    uint32_t server = turn->view->vertices[turn->vertex].thread;
    size_t count = open_ends_of(turn->view, inode, &ends);
    if (count == 0 || sent_end_is_read(turn->view, server, inode))
        return ARGUS_NONE;
    for (size_t i = 0; i < count; i++)
        if (ends[i].reads && is_third(turn, ends[i].thread))
            return ends[i].thread;
    return ARGUS_NONE;
}

static bool find_unused(const struct turn *turn, struct handed_on *ret)
{
    struct sent_list sent;
    struct argus_error *error = sent_list_read(turn->view, turn->vertex, &sent);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    for (size_t i = 0; i < sent.count; i++) {
        uint32_t receiver = sent.items[i].time_ns < turn->from_ns
                                ? ARGUS_NONE
                                : silent_receiver(turn, &sent.items[i]);
        if (receiver == ARGUS_NONE)
            continue;
        ret->sent_ns = sent.items[i].time_ns;
        ret->thread = receiver;
        return true;
    }
    return false;
}

/* The search for a request of one thread. */
struct search {
    const struct view *view;
    struct window asked;
    uint64_t until_ns;
    uint32_t thread;
    int turns; /* looked at */
    bool has_ends;
};

/* Whether the server of `edge`, by which the asking process sent something, handed it on. */
static bool find_in_turn(struct search *search, const struct argus_edge *edge,
                         struct handed_on *ret)
{
    struct turn turn = {search->view, search->thread, edge->to, edge->to_ns, search->until_ns};
    ret->asked_ns = edge->from_ns;
    return find_late(&turn, ret) || find_unread(&turn, ret) ||
           (search->has_ends && find_unused(&turn, ret));
}

static bool is_own(const struct search *search, uint32_t vertex)
{
    return process_of(search->view, search->view->vertices[vertex].thread) ==
           process_of(search->view, search->thread);
}

/* Looks at what `vertex` sent. `hops`: also at what other threads of the process sent that it had
 * woken: a toolkit of Java has a thread that sends for the others. */
static bool find_from(struct search *search, uint32_t vertex, int hops, struct handed_on *ret)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(search->view->graph, vertex, &out);
    for (size_t i = 0; i < count && i < MOST_EDGES; i++) {
        const struct argus_edge *edge = &search->view->edges[out[i]];
        if (edge->from_ns < search->asked.start_ns)
            continue;
        if (is_own(search, edge->to)) {
            bool passes = hops > 0 && edge->kind == ARGUS_EDGE_WAKE &&
                          search->view->vertices[edge->to].thread != search->thread;
            if (passes && find_from(search, edge->to, hops - 1, ret))
                return true;
        } else if (edge_is_message(edge) && (hops == 0 || edge->from_ns <= search->asked.end_ns) &&
                   search->turns++ < MOST_TURNS && find_in_turn(search, edge, ret)) {
            return true;
        }
    }
    return false;
}

bool handed_on_find(const struct view *view, uint32_t thread, struct window asked,
                    uint64_t until_ns, struct handed_on *ret)
{
    const struct argus_open_end *ends;
    struct search search = {.view = view,
                            .asked = asked,
                            .until_ns = until_ns,
                            .thread = thread,
                            .has_ends = argus_graph_open_ends(view->graph, &ends) > 0};
    uint32_t v = timeline_before(view, thread, asked.start_ns + 1);
    v = v == ARGUS_NONE ? view->threads[thread].first_vertex : v;
    for (;
         v != ARGUS_NONE && view->vertices[v].start_ns <= asked.end_ns && search.turns < MOST_TURNS;
         v = timeline_next(view, v))
        if (find_from(&search, v, 1, ret))
            return true;
    return false;
}
