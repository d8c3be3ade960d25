#include "diagnose/habits.h"

#include <string.h>

/* So often an event loop has come back when it is believed to be one; a read or a lock is an answer more often. */
#define HOME_POLLS  3
#define HOME_OTHERS 5
/* Out edges looked at, from the last: a vertex that wakes more threads than that is no question to one of them. */
#define MAX_ASKED 16

/* A shorter stack names the C library's function and not who called it (code without frame pointers). */
#define TELLING_FRAMES 3

/* A stack as a number. Of a poll's the direct caller's address does not count: a loop that polls here with a timeout and there without
 * one is one loop, and a poll in a handler has more frames below it. */
static uint64_t place_of_stack(const struct argus_graph *graph, const struct argus_wait *wait)
{
    struct argus_stack stack = argus_graph_stack(graph, wait->user_stack);
    uint64_t hash = stack.count;
    if (wait->kind != ARGUS_WAIT_POLL || stack.count <= TELLING_FRAMES)
        return wait->user_stack + 1ull;
    for (uint32_t i = 0; i < stack.count; i++)
        if (i != 1)
            hash = (hash ^ stack.frames[i]) * 0x9e3779b97f4a7c15ull;
    return hash >> 24 | 1ull << 39; /* apart from the small numbers above */
}

/* The place of a wait: its stack, and where that does not tell enough, the object as well. poll()'s is only an address. */
static uint64_t habit_key(const struct argus_graph *graph, const struct argus_wait *wait)
{
    uint64_t object = wait->inode ? wait->inode : wait->object, where = 0;
    bool tells = false;
    if (wait->user_stack != ARGUS_NONE) {
        where = place_of_stack(graph, wait);
        tells = argus_graph_stack(graph, wait->user_stack).count >= TELLING_FRAMES ||
                wait->kind == ARGUS_WAIT_POLL;
    }
    if (!tells)
        where ^= (object * 0x9e3779b97f4a7c15ull) >> 24;
    return (uint64_t)wait->kind << 56 | (uint64_t)wait->syscall << 40 | (where & 0xffffffffffull);
}

const struct habit *habits_of(const struct habits *habits, const struct argus_vertex *vertex)
{
    uint32_t at = vertex->wait.kind == ARGUS_WAIT_NONE
                      ? IDMAP_NONE
                      : idmap_get(&habits->by_key, habit_key(habits->graph, &vertex->wait));
    return at == IDMAP_NONE ? NULL : &habits->items.data[at];
}

/* Whether `vertex` made a thread run that then ended its wait, and that had not begun it. */
static bool is_reply(const struct view *view, uint32_t vertex, uint32_t waker)
{
    uint32_t cause = argus_graph_cause(view->graph, vertex);
    if (cause != ARGUS_NONE && view->vertices[view->edges[cause].from].thread == waker)
        return false;
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0 && i + MAX_ASKED > count; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if (edge->kind != ARGUS_EDGE_SEQUENCE && view->vertices[edge->to].thread == waker)
            return true;
    }
    return false;
}

bool is_answered_wait(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return false;
    uint32_t waker = view->vertices[view->edges[cause].from].thread;
    return waker != view->vertices[vertex].thread && is_reply(view, vertex, waker);
}

static void count_ending(const struct view *view, uint32_t vertex, struct habit *habit)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return;
    uint32_t waker = view->vertices[view->edges[cause].from].thread;
    if (waker == view->vertices[vertex].thread)
        return;
    habit->ended++;
    habit->replies += is_reply(view, vertex, waker);
}

/* The habit of a wait, made if it is new; IDMAP_NONE without memory. */
static uint32_t find_habit(struct habits *habits, const struct argus_wait *wait)
{
    uint64_t key = habit_key(habits->graph, wait);
    uint32_t at = idmap_get(&habits->by_key, key);
    if (at != IDMAP_NONE)
        return at;
    at = (uint32_t)habits->items.length;
    if (!vec_push(&habits->items, (struct habit){.kind = wait->kind}) ||
        !idmap_put(&habits->by_key, key, at))
        return IDMAP_NONE;
    return at;
}

struct duration {
    uint64_t ns;
    uint32_t habit;
};

static int compare_durations(const void *a, const void *b)
{
    const struct duration *x = a, *y = b;
    if (x->habit != y->habit)
        return x->habit < y->habit ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void set_medians(struct habits *habits, struct duration *durations, size_t count)
{
    if (count > 0)
        qsort(durations, count, sizeof(*durations), compare_durations);
    for (size_t first = 0, i = 0; i < count; i++) {
        if (i + 1 < count && durations[i + 1].habit == durations[first].habit)
            continue;
        struct habit *habit = &habits->items.data[durations[first].habit];
        habit->median_ns = durations[first + (i - first) / 2].ns;
        habit->longest_ns = durations[i].ns;
        first = i + 1;
    }
}

static void set_homes(struct habits *habits)
{
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *habit = &habits->items.data[i];
        bool answers = habit->ended > 0 && habit->replies * 10ull >= habit->ended * 6ull;
        bool may_be = habit->kind == ARGUS_WAIT_POLL ? habit->count >= HOME_POLLS
                      : habit->kind == ARGUS_WAIT_READ || habit->kind == ARGUS_WAIT_FUTEX ||
                              habit->kind == ARGUS_WAIT_OTHER || habit->kind == ARGUS_WAIT_SIGNAL
                          ? habit->count >= HOME_OTHERS
                          : false;
        habit->answers = answers;
        habit->home = may_be && !answers;
    }
}

bool habits_find(const struct view *view, uint32_t thread, struct habits *ret)
{
    const struct argus_thread *t = &view->threads[thread];
    struct duration *durations = malloc((t->vertex_count + 1) * sizeof(*durations));
    size_t count = 0;
    *ret = (struct habits){.graph = view->graph};
    bool done = durations != NULL;
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        if (vertex->wait.kind == ARGUS_WAIT_NONE)
            continue;
        uint32_t at = find_habit(ret, &vertex->wait);
        done = at != IDMAP_NONE;
        if (!done)
            break;
        ret->items.data[at].count += vertex->repeat ? vertex->repeat : 1;
        count_ending(view, v, &ret->items.data[at]);
        durations[count++] = (struct duration){timeline_wait_end(view, v) - vertex->end_ns, at};
    }
    if (done) {
        set_medians(ret, durations, count);
        set_homes(ret);
    }
    free(durations);
    return done;
}

void habits_deinit(struct habits *habits)
{
    vec_deinit(&habits->items);
    idmap_deinit(&habits->by_key);
}

bool is_home_wait(const struct view *view, uint32_t vertex)
{
    struct habits habits;
    const struct habit *habit = NULL;
    if (view->vertices[vertex].wait.holder_tid) /* somebody has the lock: that is not idleness */
        return false;
    if (habits_find(view, view->vertices[vertex].thread, &habits))
        habit = habits_of(&habits, &view->vertices[vertex]);
    bool home = habit && habit->home && !is_answered_wait(view, vertex);
    habits_deinit(&habits);
    return home;
}
