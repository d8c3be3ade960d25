/* Finds the processes that have the other end open of a pipe or socket for which a thread waits.
 *
 * They count only if no thread was seen to use that end. Each of them could have ended the wait, so
 * what they did is a guess: a pipe's end that was inherited is open in processes that never write.
 */
#include "base/lower_bound.h"
#include "diagnose/suspects/suspect_search.h"
#include "graph/text/object_text.h"

size_t open_ends_of(const struct view *view, uint64_t inode, const struct argus_open_end **ret)
{
    const struct argus_open_end *ends;
    size_t first, last, count = argus_graph_open_ends(view->graph, &ends);
    LOWER_BOUND(first, count, ends[first].inode < inode);
    for (last = first; last < count && ends[last].inode == inode; last++)
        ;
    *ret = ends + first;
    return inode ? last - first : 0;
}

bool is_other_process(const struct suspect_search *search, uint32_t thread)
{
    const struct view *view = &search->d->view;
    return view->threads[thread].process !=
           view->threads[view->vertices[search->vertex].thread].process;
}

/* The inode of the other end; 0: not known. */
static uint64_t other_end(const struct argus_wait *wait)
{
    return object_is_pipe(wait->object_type) ? wait->inode : wait->peer_inode;
}

/* Whether the process could end the wait by its end. */
static bool could_end(const struct argus_wait *wait, const struct argus_open_end *end)
{
    if (!object_is_pipe(wait->object_type))
        return true;
    return wait->kind == ARGUS_WAIT_WRITE ? end->reads : end->writes;
}

/* Whether a thread of another process was seen to use that end. */
static bool is_used(const struct view *view, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    const struct argus_object_use *uses;
    uint64_t inode = other_end(wait);
    uint32_t process = view->threads[view->vertices[vertex].thread].process;
    size_t first, count = argus_graph_object_uses(view->graph, &uses);
    LOWER_BOUND(first, count, uses[first].inode < inode);
    for (size_t i = first; i < count && uses[i].inode == inode; i++) {
        bool is_other = view->threads[uses[i].thread].process != process;
        bool is_same_side =
            object_is_pipe(wait->object_type) && uses[i].wrote == (wait->kind == ARGUS_WAIT_WRITE);
        if (is_other && !is_same_side)
            return true;
    }
    return false;
}

struct argus_error *find_openers(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    const struct argus_wait *wait = &view->vertices[search->vertex].wait;
    const struct argus_open_end *ends;
    size_t count = open_ends_of(view, other_end(wait), &ends);
    if (count == 0 || is_used(view, search->vertex))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (could_end(wait, &ends[i]) && is_other_process(search, ends[i].thread) &&
            !suspect_search_add(search, ends[i].thread, ARGUS_REASON_HAS_OTHER_END))
            return argus_error_memory();
    return NULL;
}

uint32_t find_silent_opener(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_open_end *ends;
    size_t count = open_ends_of(view, other_end(&v->wait), &ends);
    uint32_t found = ARGUS_NONE;
    if (count == 0 || is_used(view, vertex))
        return ARGUS_NONE;
    for (size_t i = 0; i < count; i++) {
        const struct argus_thread *thread = &view->threads[ends[i].thread];
        if (!could_end(&v->wait, &ends[i]) || thread->process == view->threads[v->thread].process)
            continue;
        if (thread->vertex_count || found != ARGUS_NONE) /* not the only one */
            return ARGUS_NONE;
        found = ends[i].thread;
    }
    return found;
}
