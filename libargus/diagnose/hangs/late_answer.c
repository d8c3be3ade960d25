/* Which wait of a stretch was ended by the answer to what the thread had asked long before.
 *
 * A handler that asks another process for something may run the loop again until the answer comes (the text of the clipboard, in most
 * toolkits). Such a loop takes all that comes, and each of its waits is short. What tells it from a dialog that waits
 * for a person is what ends it: causes are followed back from there, over whoever passed the question and the answer on (a
 * display server, a thread that reads for another one), and if they lead to the thread itself, before the loop began to
 * wait, then it waited for an answer.
 *
 * The same tells, in a handler with many short waits, which of them to explain: the one that the answer ended.
 */
#include "diagnose/hangs/finder.h"

/* Vertices looked at on the path back. */
#define MOST_STEPS 256
/* Waits looked at in one stretch, from its end. */
#define MOST_ENDS 64

#define NO_STEP SIZE_MAX

struct step {
    uint64_t before_ns; /* when it passed the answer on; what came to it later does not count */
    size_t next;        /* the step that it passed it on to; NO_STEP: the thread itself */
    uint32_t vertex;
};

/* The path back from an answer. */
struct answer_path {
    const struct view *view;
    struct step steps[MOST_STEPS];
    size_t count;
    uint64_t from_ns;  /* nothing before that is looked at */
    uint64_t asked_ns; /* the first question that leads to it; UINT64_MAX: none */
    size_t asked;      /* the step that was asked */
    uint32_t thread;
};

/* Timers are nobody's answer, a fork or a signal is no message, and who gives a lock free (weak) tells nothing. */
static bool carries_answer(const struct argus_edge *edge)
{
    return edge->message || edge->kind == ARGUS_EDGE_MESSAGE ||
           (edge->kind == ARGUS_EDGE_WAKE && edge->strong);
}

/* Also a thread on the path that went on with what it was doing, after a wait that something else ended (a lock), or in a callback that
 * it or another one had left for later. */
static bool leads_back(const struct argus_edge *edge)
{
    bool goes_on = edge->kind == ARGUS_EDGE_SEQUENCE || edge->kind == ARGUS_EDGE_DISPATCH;
    return carries_answer(edge) || (goes_on && edge->strong);
}

static bool is_known(const struct answer_path *path, uint32_t vertex)
{
    for (size_t i = 0; i < path->count; i++)
        if (path->steps[i].vertex == vertex)
            return true;
    return false;
}

static void go_back(struct answer_path *path, size_t at)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(path->view->graph, path->steps[at].vertex, &edges);
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &edges[i];
        if (!leads_back(edge) || edge->to_ns > path->steps[at].before_ns ||
            edge->from_ns < path->from_ns)
            continue;
        bool own = path->view->vertices[edge->from].thread == path->thread;
        if (own && edge->from_ns < path->asked_ns) {
            path->asked_ns = edge->from_ns;
            path->asked = at;
        }
        if (!own && path->count < MOST_STEPS && !is_known(path, edge->from))
            path->steps[path->count++] =
                (struct step){.before_ns = edge->from_ns, .next = at, .vertex = edge->from};
    }
}

/* Finds the path back from the end of the wait of `vertex`; false if it does not lead to a question of its thread. */
static bool find_path(struct answer_path *path, const struct view *view, uint32_t vertex,
                      uint64_t from_ns)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    path->view = view;
    path->count = 0;
    path->from_ns = from_ns;
    path->asked_ns = UINT64_MAX;
    path->thread = view->vertices[vertex].thread;
    if (cause == ARGUS_NONE || !carries_answer(&view->edges[cause]))
        return false;
    const struct argus_edge *edge = &view->edges[cause];
    if (view->vertices[edge->from].thread == path->thread)
        return false;
    path->steps[path->count++] =
        (struct step){.before_ns = edge->from_ns, .next = NO_STEP, .vertex = edge->from};
    for (size_t i = 0; i < path->count; i++)
        go_back(path, i);
    return path->asked_ns != UINT64_MAX;
}

uint64_t answer_asked_ns(const struct view *view, uint32_t vertex, uint64_t from_ns)
{
    struct answer_path path;
    return find_path(&path, view, vertex, from_ns) ? path.asked_ns : UINT64_MAX;
}

/* Steps of one thread, one after the other, are one hold: it went on with the same after a short wait. */
bool answer_holder(const struct view *view, uint32_t vertex, uint64_t from_ns,
                   struct answer_hold *ret)
{
    struct answer_path path;
    if (!find_path(&path, view, vertex, from_ns))
        return false;
    struct answer_hold hold = {.end_ns = path.asked_ns, .thread = ARGUS_NONE};
    *ret = (struct answer_hold){.thread = ARGUS_NONE};
    for (size_t i = path.asked; i != NO_STEP; i = path.steps[i].next) {
        uint32_t thread = view->vertices[path.steps[i].vertex].thread;
        if (thread != hold.thread)
            hold.start_ns = hold.end_ns;
        hold.thread = thread;
        hold.vertex = path.steps[i].vertex;
        hold.end_ns = path.steps[i].before_ns;
        if (hold.end_ns - hold.start_ns > ret->end_ns - ret->start_ns)
            *ret = hold;
    }
    return ret->end_ns > ret->start_ns;
}

uint32_t late_answer(const struct view *view, const struct argus_hang *hang)
{
    uint32_t v = timeline_before(view, hang->thread, hang->end_ns);
    uint32_t found = ARGUS_NONE;
    uint64_t longest_ns = (hang->end_ns - hang->start_ns) / 2;
    for (int i = 0; i < MOST_ENDS && v != ARGUS_NONE; i++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        uint64_t end_ns = timeline_wait_end(view, v);
        if (vertex->end_ns < hang->start_ns)
            break;
        uint64_t question_ns = vertex->wait.kind == ARGUS_WAIT_NONE || end_ns > hang->end_ns
                                   ? UINT64_MAX
                                   : answer_asked_ns(view, v, hang->start_ns);
        if (question_ns < end_ns && end_ns - question_ns > longest_ns) {
            longest_ns = end_ns - question_ns;
            found = v;
        }
        v = argus_graph_previous(view->graph, v);
    }
    return found;
}
