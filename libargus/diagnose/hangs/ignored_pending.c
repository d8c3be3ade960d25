/* Finds the waits during which something was pending for the thread and stayed pending: the thread
 * was not waiting for that.
 *
 * Two observations show it:
 *   - a message that came before a wait began and was taken after that wait had ended;
 *   - a UI event (a key, a button) that is handed to the program a while after anything has come to
 *     the thread: its toolkit held the event back, since a nested loop leaves the user's input out.
 * What stays pending during a whole home wait as well does not count: it is for another thread.
 */
#include "argus/record.h"
#include "base/lower_bound.h"
#include "diagnose/hangs/nesting.h"

/* At most so many waits are looked at for one message, and so many vertices for one UI event. */
#define MOST_WAITS    256
#define MOST_VERTICES 256

struct home_wait {
    uint64_t start_ns, end_ns;
};

/* The search in one thread. */
struct pending_scan {
    const struct view *view;
    struct habits *habits;
    VEC(struct home_wait) home_waits; /* in time order */
    uint32_t thread;
};

/* The home with the fewest frames that is in no handler; NULL: none. */
static const struct habit *find_root(const struct habits *habits)
{
    const struct habit *root = NULL;
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *habit = &habits->items.data[i];
        if (!(habit->home || habit->loop) || habit->nested || habit->longest_ns < RESTING_NS ||
            !habit_is_clear(habits->graph, habit->user_stack))
            continue;
        if (!root || habit_depth(habits, habit) < habit_depth(habits, root))
            root = habit;
    }
    return root;
}

/* Collects the home waits of `root`; false without memory. */
static bool find_home_waits(struct pending_scan *scan, const struct habit *root)
{
    const struct view *view = scan->view;
    const struct argus_thread *t = &view->threads[scan->thread];
    bool done = true;
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        struct home_wait wait = {view->vertices[v].end_ns, timeline_wait_end(view, v)};
        if (habits_of(scan->habits, &view->vertices[v]) == root)
            done = vec_push(&scan->home_waits, wait);
    }
    return done;
}

/* Whether something was pending during a whole home wait. */
static bool is_pending_at_home(const struct pending_scan *scan, uint64_t from_ns, uint64_t to_ns)
{
    size_t first;
    LOWER_BOUND(first, scan->home_waits.length, scan->home_waits.data[first].start_ns < from_ns);
    return first < scan->home_waits.length && scan->home_waits.data[first].end_ns <= to_ns;
}

/* Marks the places of the waits that are wholly in [from_ns, to_ns], while something was
 * pending. */
static void mark_places(const struct pending_scan *scan, uint64_t from_ns, uint64_t to_ns)
{
    const struct view *view = scan->view;
    if (to_ns < from_ns + LONG_PENDING_NS || is_pending_at_home(scan, from_ns, to_ns))
        return;
    uint32_t v = timeline_before(view, scan->thread, from_ns + 1);
    if (v == ARGUS_NONE)
        v = view->threads[scan->thread].first_vertex;
    for (int i = 0; i < MOST_WAITS && v != ARGUS_NONE; i++, v = timeline_next(view, v)) {
        const struct habit *habit = habits_of(scan->habits, &view->vertices[v]);
        if (timeline_wait_end(view, v) > to_ns)
            break;
        if (habit && view->vertices[v].end_ns >= from_ns)
            scan->habits->items.data[habit - scan->habits->items.data].ignores_pending = true;
    }
}

static void mark_by_messages(const struct pending_scan *scan, uint32_t vertex)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(scan->view->graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if ((edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE) &&
            scan->view->vertices[edges[i].from].thread != scan->thread)
            mark_places(scan, edges[i].from_ns, edges[i].to_ns);
}

static void mark_by_unread(const struct pending_scan *scan)
{
    const struct argus_unread *unread;
    size_t first, count = argus_graph_unread(scan->view->graph, &unread);
    LOWER_BOUND(first, count, unread[first].receiver < scan->thread);
    for (; first < count && unread[first].receiver == scan->thread; first++)
        mark_places(scan, unread[first].sent_ns, argus_graph_end_ns(scan->view->graph));
}

/* Whether the wait before `vertex` ended for an unknown reason, or by something that no thread
 * sends. */
static bool was_begun_by_unknown(const struct view *view, uint32_t vertex)
{
    uint32_t before = argus_graph_previous(view->graph, vertex);
    if (before == ARGUS_NONE || argus_graph_cause(view->graph, vertex) != ARGUS_NONE)
        return false;
    const struct argus_wait *wait = &view->vertices[before].wait;
    return wait->kind != ARGUS_WAIT_NONE && !wait->by_timer &&
           wait->outcome != ARGUS_OUTCOME_TIMED_OUT;
}

/* When, in `vertex` and until `time_ns`, something last came to the thread; 0: nothing did. */
static uint64_t last_came_ns(const struct view *view, uint32_t vertex, uint64_t time_ns)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    uint64_t last_ns = 0;
    if (was_begun_by_unknown(view, vertex))
        last_ns = view->vertices[vertex].start_ns;
    for (size_t i = 0; i < count; i++)
        if (edges[i].kind != ARGUS_EDGE_SEQUENCE && edges[i].to_ns <= time_ns &&
            edges[i].to_ns > last_ns &&
            view->vertices[edges[i].from].thread != view->vertices[vertex].thread)
            last_ns = edges[i].to_ns;
    return last_ns;
}

static bool is_input(const struct argus_callback *callback)
{
    return callback->what == ARGUS_CALLBACK_UI_EVENT &&
           (callback->ui_event == ARGUS_UI_KEY_PRESS ||
            callback->ui_event == ARGUS_UI_BUTTON_PRESS || callback->ui_event == ARGUS_UI_TOUCH);
}

uint64_t input_came_ns(const struct view *view, uint32_t vertex, struct argus_callback *ret)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(view->graph, vertex, &callbacks), at = 0;
    uint64_t came_ns = 0;
    while (at < count && !is_input(&callbacks[at]))
        at++;
    if (at == count)
        return 0;
    *ret = callbacks[at];
    uint32_t v = vertex;
    for (int i = 0; i < MOST_VERTICES && v != ARGUS_NONE && !came_ns; i++) {
        came_ns = last_came_ns(view, v, ret->time_ns);
        v = argus_graph_previous(view->graph, v);
    }
    return came_ns;
}

static void mark_by_input(const struct pending_scan *scan, uint32_t vertex)
{
    struct argus_callback input;
    uint64_t came_ns = input_came_ns(scan->view, vertex, &input);
    if (came_ns)
        mark_places(scan, came_ns, input.time_ns);
}

bool ignored_pending_find(const struct view *view, uint32_t thread, struct habits *habits)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct habit *root = find_root(habits);
    struct pending_scan scan = {.view = view, .habits = habits, .thread = thread};
    if (!root)
        return true;
    bool done = find_home_waits(&scan, root);
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        mark_by_messages(&scan, v);
        mark_by_input(&scan, v);
    }
    if (done)
        mark_by_unread(&scan);
    vec_deinit(&scan.home_waits);
    return done;
}
