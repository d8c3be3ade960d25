/* Finds the wait of a stretch that was ended by the answer to a request which the thread had sent
 * long before.
 *
 * A handler that sends a request to another process may run the loop again until the answer comes
 * (most toolkits do so for the text of the clipboard). Such a loop takes all that comes, and each
 * of its waits is short. It differs from a dialog that waits for the user in what ends it. So
 * causes are followed back from the end of the wait, through the threads that passed the request
 * and the answer on (a display server, a thread that reads for another one). If they lead to the
 * thread itself, before the loop began to wait, then the thread waited for an answer.
 *
 * In a handler with many short waits, the same search shows which of them to explain: the one that
 * the answer ended.
 */
#include "diagnose/hangs/finder.h"

/* Vertices that are looked at on the path back. */
#define MOST_STEPS 256
/* Waits that are looked at in one stretch, from its end. */
#define MOST_ENDS 64

/* A busy thread polled for an answer if it came in the last such part of the hang, and was asked
 * for before the end of the first one. */
#define SPAN_PART 10

#define NO_STEP SIZE_MAX

struct step {
    uint64_t before_ns; /* when it passed the answer on; what came to it later does not count */
    size_t next;        /* the step to which it passed the answer; NO_STEP: the thread itself */
    uint32_t vertex;
};

/* The path back from an answer. */
struct answer_path {
    const struct view *view;
    struct step steps[MOST_STEPS];
    size_t count;
    uint64_t from_ns;  /* nothing before that is looked at */
    uint64_t asked_ns; /* the first request that leads to the answer; UINT64_MAX: none */
    size_t asked;      /* the step that received the request */
    uint32_t thread;
};

/* Timers carry no answer, a fork or a signal is not a message, and which thread releases a lock
 * (weak) says nothing. */
static bool carries_answer(const struct argus_edge *edge)
{
    return edge->message || edge->kind == ARGUS_EDGE_MESSAGE ||
           (edge->kind == ARGUS_EDGE_WAKE && edge->strong);
}

/* Whether the path continues through `edge`. Also through a thread that continued its work after a
 * wait that something unrelated ended (a lock), or in a callback that had been queued for later. */
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

/* Finds the path back from what `edge` brought to `thread`; false if it does not lead to a request
 * of that thread. */
static bool find_path_of(struct answer_path *path, const struct view *view, uint32_t thread,
                         const struct argus_edge *edge, uint64_t from_ns)
{
    path->view = view;
    path->count = 0;
    path->from_ns = from_ns;
    path->asked_ns = UINT64_MAX;
    path->thread = thread;
    if (!carries_answer(edge) || view->vertices[edge->from].thread == thread)
        return false;
    path->steps[path->count++] =
        (struct step){.before_ns = edge->from_ns, .next = NO_STEP, .vertex = edge->from};
    for (size_t i = 0; i < path->count; i++)
        go_back(path, i);
    return path->asked_ns != UINT64_MAX;
}

/* The same for the end of the wait of `vertex`. */
static bool find_path(struct answer_path *path, const struct view *view, uint32_t vertex,
                      uint64_t from_ns)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return cause != ARGUS_NONE &&
           find_path_of(path, view, view->vertices[vertex].thread, &view->edges[cause], from_ns);
}

uint64_t answer_asked_ns(const struct view *view, uint32_t vertex, uint64_t from_ns)
{
    struct answer_path path;
    return find_path(&path, view, vertex, from_ns) ? path.asked_ns : UINT64_MAX;
}

/* Consecutive steps of one thread are one hold: it continued the same work after a short wait. */
static bool longest_hold(const struct answer_path *path, struct answer_hold *ret)
{
    struct answer_hold hold = {.end_ns = path->asked_ns, .thread = ARGUS_NONE};
    *ret = (struct answer_hold){.thread = ARGUS_NONE};
    for (size_t i = path->asked; i != NO_STEP; i = path->steps[i].next) {
        uint32_t thread = path->view->vertices[path->steps[i].vertex].thread;
        if (thread != hold.thread)
            hold.start_ns = hold.end_ns;
        hold.thread = thread;
        hold.vertex = path->steps[i].vertex;
        hold.end_ns = path->steps[i].before_ns;
        if (hold.end_ns - hold.start_ns > ret->end_ns - ret->start_ns)
            *ret = hold;
    }
    return ret->end_ns > ret->start_ns;
}

bool answer_holder(const struct view *view, uint32_t vertex, uint64_t from_ns,
                   struct answer_hold *ret)
{
    struct answer_path path;
    return find_path(&path, view, vertex, from_ns) && longest_hold(&path, ret);
}

/* Whether the answer that `edge` brought came at the end of a hang, and was asked for before most
 * of it. */
static bool spans(const struct argus_hang *hang, const struct argus_edge *edge, uint64_t asked_ns)
{
    uint64_t part_ns = (hang->end_ns - hang->start_ns) / SPAN_PART;
    return edge->from_ns + part_ns >= hang->end_ns && edge->from_ns <= hang->end_ns &&
           asked_ns <= hang->start_ns + part_ns;
}

bool busy_answer_holder(const struct view *view, const struct argus_hang *hang,
                        struct answer_hold *ret)
{
    struct answer_path path;
    const struct argus_edge *edges;
    uint64_t length_ns = hang->end_ns - hang->start_ns;
    uint64_t from_ns = hang->start_ns > length_ns / 2 ? hang->start_ns - length_ns / 2 : 0;
    size_t count = argus_graph_in_edges(view->graph, hang->vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (spans(hang, &edges[i], 0) &&
            find_path_of(&path, view, hang->thread, &edges[i], from_ns) &&
            spans(hang, &edges[i], path.asked_ns) && longest_hold(&path, ret) &&
            ret->end_ns - ret->start_ns >= length_ns / 2)
            return true;
    return false;
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
