#include "diagnose/habits.h"

#include <string.h>

#include "diagnose/nesting.h"

/* So often an event loop has come back when it is believed to be one; a read or a lock is an answer more often. */
#define HOME_POLLS  3
#define HOME_OTHERS 5
/* Out edges looked at, from the last: a vertex that wakes more threads than that is no question to one of them. */
#define MAX_ASKED 16
/* Vertices of a thread looked at for what it did since it was asked. */
#define MAX_BEFORE 16

/* A shorter stack names the C library's function and not who called it (code without frame pointers). */
#define TELLING_FRAMES 3

/* A thread that waits for so long rests. */
#define RESTING_NS 20000000ull

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

/* Whether another thread made `waking` run, and neither `since` (a vertex that asked its thread) nor its thread's own questions
 * since then had made that other one do so: a thread that passes on what comes from outside. */
static bool passes_on(const struct view *view, uint32_t waking, uint32_t since)
{
    uint32_t cause = argus_graph_cause(view->graph, waking);
    if (cause == ARGUS_NONE)
        return false;
    uint32_t third = view->vertices[view->edges[cause].from].thread;
    if (third == view->vertices[since].thread || third == view->vertices[waking].thread ||
        timeline_is_kernel(view, view->edges[cause].from))
        return false;
    uint32_t before = argus_graph_previous(view->graph, waking);
    for (int i = 0; i < MAX_BEFORE && before != ARGUS_NONE; i++) {
        if (view->vertices[before].end_ns < view->vertices[since].start_ns)
            break;
        if (is_reply(view, before, third))
            return false;
        before = argus_graph_previous(view->graph, before);
    }
    return true;
}

/* Whether the wait of `vertex`, which `edge` ended, was for an answer. */
static bool is_answer(const struct view *view, uint32_t vertex, const struct argus_edge *edge)
{
    uint32_t waker = view->vertices[edge->from].thread;
    return is_reply(view, vertex, waker) && !passes_on(view, edge->from, vertex);
}

bool is_answered_wait(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return false;
    const struct argus_edge *edge = &view->edges[cause];
    uint32_t waker = view->vertices[edge->from].thread;
    return waker != view->vertices[vertex].thread && is_answer(view, vertex, edge);
}

static void add_ender(struct habit *habit, uint64_t ender)
{
    for (uint8_t i = 0; i < habit->ender_count; i++)
        if (habit->enders[i] == ender)
            return;
    if (habit->ender_count < HABIT_ENDERS)
        habit->enders[habit->ender_count++] = ender;
}

/* The descriptors that a poll found ready; false if that is not known. */
static bool add_ready(const struct view *view, const struct argus_wait *wait, struct habit *habit)
{
    const struct argus_wait_detail *details;
    size_t count = argus_graph_details(view->graph, &details);
    bool any = false;
    for (uint32_t i = wait->first_detail; i < count; i = details[i].next) {
        if (details[i].kind != ARGUS_DETAIL_READY)
            continue;
        add_ender(habit, details[i].arg[1] ? details[i].arg[1] : details[i].arg[0]);
        any = true;
    }
    return any;
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
    bool reply = is_answer(view, vertex, &view->edges[cause]);
    habit->ended++;
    habit->replies += reply;
    if (!reply && !add_ready(view, &view->vertices[vertex].wait, habit))
        add_ender(habit, waker);
}

static void count_wait(const struct view *view, uint32_t vertex, struct habit *habit)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    habit->first_ns = habit->count ? habit->first_ns : v->end_ns;
    habit->last_ns = v->end_ns;
    habit->count += v->repeat ? v->repeat : 1;
    count_ending(view, vertex, habit);
}

/* The habit of a wait, made if it is new; IDMAP_NONE without memory. */
static uint32_t find_habit(struct habits *habits, const struct argus_wait *wait)
{
    uint64_t key = habit_key(habits->graph, wait);
    uint32_t at = idmap_get(&habits->by_key, key);
    struct habit new_habit = {.kind = wait->kind, .user_stack = wait->user_stack};
    if (at != IDMAP_NONE)
        return at;
    at = (uint32_t)habits->items.length;
    if (!vec_push(&habits->items, new_habit) || !idmap_put(&habits->by_key, key, at))
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

static bool is_clear(const struct habits *habits, const struct habit *habit)
{
    return habit->user_stack != ARGUS_NONE &&
           argus_graph_stack(habits->graph, habit->user_stack).count >= TELLING_FRAMES;
}

/* Whether the thread rests somewhere where a stack was taken. Then short waits without one are elsewhere: one at the same place
 * would have got the same stack (late stacks). */
static bool rests_at_clear_place(const struct habits *habits)
{
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *habit = &habits->items.data[i];
        if (is_clear(habits, habit) && habit->longest_ns >= RESTING_NS &&
            (habit->kind == ARGUS_WAIT_POLL || habit->kind == ARGUS_WAIT_FUTEX))
            return true;
    }
    return false;
}

static void set_homes(struct habits *habits)
{
    bool any_clear = rests_at_clear_place(habits);
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *habit = &habits->items.data[i];
        bool unclear = any_clear && habit->kind == ARGUS_WAIT_POLL && !is_clear(habits, habit);
        bool answers = habit->ended > 0 && habit->replies * 10ull >= habit->ended * 6ull;
        bool may_be = habit->kind == ARGUS_WAIT_POLL ? habit->count >= HOME_POLLS
                      : habit->kind == ARGUS_WAIT_READ || habit->kind == ARGUS_WAIT_FUTEX ||
                              habit->kind == ARGUS_WAIT_OTHER || habit->kind == ARGUS_WAIT_SIGNAL
                          ? habit->count >= HOME_OTHERS
                          : false;
        habit->answers = answers;
        habit->home = may_be && !answers && !unclear;
    }
    nesting_find(habits);
    for (size_t i = 0; i < habits->items.length; i++)
        habits->items.data[i].home &= !habits->items.data[i].nested;
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
        count_wait(view, v, &ret->items.data[at]);
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
