/* Finds the process that owes an answer to a handler that waits in many pieces at one place: it was
 * sent a message before the first of these waits, and has sent nothing back since. A display server
 * is also sent messages then, but it keeps sending input. It is a guess, because not every message
 * wants an answer. */
#include "diagnose/suspects/suspect_search.h"
#include "diagnose/vertex_deeds.h"

#define MAX_OUT 256

/* Whether `vertex` took a message that `process` had sent after `since_ns`. */
static bool takes_from(const struct view *view, uint32_t vertex, uint32_t process,
                       uint64_t since_ns)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (edge_is_message(&edges[i]) && edges[i].from_ns > since_ns &&
            view->threads[view->vertices[edges[i].from].thread].process == process)
            return true;
    return false;
}

/* Whether the searched wait's thread got anything from the receiver of `edge` since. */
static bool has_answered(const struct suspect_search *search, const struct argus_edge *edge)
{
    const struct view *view = &search->d->view;
    uint32_t process = view->threads[view->vertices[edge->to].thread].process;
    uint32_t v = edge->from, last = timeline_next(view, search->vertex);
    for (; v != ARGUS_NONE; v = timeline_next(view, v)) {
        if (takes_from(view, v, process, edge->from_ns))
            return true;
        if (v == (last == ARGUS_NONE ? search->vertex : last))
            break;
    }
    return false;
}

struct argus_error *find_unanswered(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint32_t first = first_piece(search);
    const uint32_t *out;
    if (first == timeline_wait_begin(view, search->vertex))
        return NULL;
    size_t count = argus_graph_out_edges(view->graph, first, &out);
    for (size_t i = count; i > 0 && count - i < MAX_OUT; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        uint32_t thread = view->vertices[edge->to].thread;
        size_t before = search->list->length;
        if (edge_is_message(edge) && is_other_process(search, thread) &&
            !has_answered(search, edge) &&
            !suspect_search_add(search, thread, ARGUS_REASON_OWES_ANSWER))
            return argus_error_memory();
        if (search->list->length > before)
            search->list->data[before].owes = true;
    }
    return NULL;
}
