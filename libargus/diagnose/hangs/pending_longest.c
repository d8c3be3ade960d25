/* In a program that did not hang, finds something better to explain than its idleness: the longest
 * time for which something was pending. */
#include "diagnose/hangs/finder.h"

/* On a busy machine, a message is normally pending for up to this time. */
#define SHORTEST_PENDING_NS 50000000ull

struct search {
    const struct finder *finder;
    struct argus_hang *longest;
    uint64_t longest_ns;
    bool in_start_up; /* what was pending before the thread first asked for input also counts */
};

static void consider(struct search *search, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
    const struct view *view = search->finder->view;
    const struct argus_thread *t = &view->threads[thread];
    uint64_t first_ns = view->vertices[t->first_vertex].start_ns;
    uint64_t asked_ns = search->in_start_up ? 0 : start_up_end(view, thread);
    first_ns = first_ns > asked_ns ? first_ns : asked_ns;
    from_ns = from_ns > first_ns ? from_ns : first_ns;
    if (from_ns + search->longest_ns >= to_ns ||
        !hang_is_at_time(search->finder->options, from_ns, to_ns))
        return;
    search->longest_ns = to_ns - from_ns;
    *search->longest = (struct argus_hang){.start_ns = from_ns,
                                           .end_ns = to_ns,
                                           .thread = thread,
                                           .vertex = ARGUS_NONE,
                                           .indicator = ARGUS_INDICATOR_LONGEST};
}

static void look_at_thread(struct search *search, uint32_t thread)
{
    const struct view *view = search->finder->view;
    const struct argus_thread *t = &view->threads[thread];
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_edge *edges;
        size_t count = argus_graph_in_edges(view->graph, v, &edges);
        for (size_t i = 0; i < count; i++) {
            bool brings = edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE ||
                          edges[i].kind == ARGUS_EDGE_DISPATCH;
            if (brings && view->vertices[edges[i].from].thread != thread)
                consider(search, thread, edges[i].from_ns, edges[i].to_ns);
        }
    }
}

static bool is_looked_at(const struct finder *finder, uint32_t thread)
{
    const struct view *view = finder->view;
    bool by_thread = finder->options->thread_name || finder->options->tid;
    bool is_main = view->processes[view->threads[thread].process].main_thread == thread;
    return (is_main || by_thread) && hang_is_wanted(view, finder->options, thread);
}

static void look(struct search *search)
{
    const struct finder *finder = search->finder;
    const struct view *view = finder->view;
    const struct argus_unread *unread;
    for (uint32_t thread = 0; thread < view->thread_count; thread++)
        if (is_looked_at(finder, thread))
            look_at_thread(search, thread);
    size_t count = argus_graph_unread(view->graph, &unread);
    for (size_t i = 0; i < count; i++) {
        uint32_t thread = unread[i].receiver;
        if (is_looked_at(finder, thread))
            consider(search, thread, unread[i].sent_ns, argus_graph_end_ns(view->graph));
    }
}

bool pending_longest(const struct finder *finder, struct argus_hang *ret)
{
    struct search search = {
        .finder = finder, .longest = ret, .longest_ns = SHORTEST_PENDING_NS - 1};
    look(&search);
    search.in_start_up = true;
    if (search.longest_ns < SHORTEST_PENDING_NS)
        look(&search);
    return search.longest_ns >= SHORTEST_PENDING_NS;
}
