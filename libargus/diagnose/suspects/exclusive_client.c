/* A server that one client has for itself: an X server that is grabbed, a database in a transaction of another's.
 *
 * Such a server waits at home, as if nobody had asked it, but leaves the requests of all others unread. Nothing in the trace says for whom.
 * That is mostly the client whose request it took last, since it has taken nobody else's from then on.
 */
#include "diagnose/suspects/suspect_search.h"

/* Vertices of the server that are searched for its last request. */
#define MAX_BACK 100000

/* Whether a message of `client` to `server` lay there unread for at least half of `wait`. */
static bool leaves_unread(const struct view *view, uint32_t client, uint32_t server,
                          struct window wait)
{
    const struct argus_unread *unread;
    size_t count = argus_graph_unread(view->graph, &unread);
    for (size_t i = 0; i < count; i++)
        if (unread[i].sender == client && unread[i].receiver == server &&
            unread[i].sent_ns <= wait.start_ns + window_ns(wait) / 2)
            return true;
    return false;
}

/* Of another process, the thread whose message `vertex` received last; ARGUS_NONE. */
static uint32_t last_sender(const struct view *view, uint32_t vertex)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    uint32_t process = view->threads[view->vertices[vertex].thread].process;
    uint32_t found = ARGUS_NONE;
    uint64_t latest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t sender = view->vertices[edges[i].from].thread;
        bool is_request = edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE;
        if (is_request && edges[i].to_ns >= latest_ns && view->threads[sender].process != process) {
            latest_ns = edges[i].to_ns;
            found = sender;
        }
    }
    return found;
}

uint32_t find_exclusive_client(const struct view *view, uint32_t client, uint32_t server,
                               struct window wait)
{
    if (!leaves_unread(view, client, server, wait))
        return ARGUS_NONE;
    uint32_t v = timeline_before(view, server, wait.end_ns);
    for (unsigned i = 0; i < MAX_BACK && v != ARGUS_NONE; i++) {
        uint32_t sender = last_sender(view, v);
        if (sender != ARGUS_NONE)
            return sender == client ? ARGUS_NONE : sender;
        v = argus_graph_previous(view->graph, v);
    }
    return ARGUS_NONE;
}
