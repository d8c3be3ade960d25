#include "diagnose/hangs/habits.h"

#include <string.h>

#include "diagnose/hangs/answered_waits.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/keys.h"
#include "diagnose/hangs/nesting.h"
#include "diagnose/vertex_deeds.h"

/* A poll is believed to be an event loop's after so many returns to it; a read or a lock, which is
 * more often for an answer, needs more. */
#define HOME_POLLS  3
#define HOME_OTHERS 5
/* Vertices of a signal handler that did not wait. */
#define MAX_HANDLER 8

/* A shorter stack names a function of the C library and not its caller (code without frame
 * pointers). */
#define TELLING_FRAMES 3

/* In by_call: polls with these arguments occur at several places. */
#define AT_SEVERAL (IDMAP_NONE - 1)

/* A hash of the stack. For a poll, the address of the direct caller does not count: a loop that
 * polls here with a time-out and there without one is one loop, and a poll in a handler has more
 * frames below it. */
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

/* The place of a wait: its stack; if that does not tell enough, also the object. For poll(), the
 * object is only an address. */
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

uint32_t habit_depth(const struct habits *habits, const struct habit *habit)
{
    return argus_graph_stack(habits->graph, habit->user_stack).count;
}

bool habit_is_clear(const struct argus_graph *graph, uint32_t user_stack)
{
    return user_stack != ARGUS_NONE && argus_graph_stack(graph, user_stack).count >= TELLING_FRAMES;
}

/* A key from the arguments of a poll; 0 is never a key. */
static uint64_t call_key(const struct argus_wait *wait)
{
    return (uint64_t)wait->syscall << 48 | 1ull << 47 | (wait->object & 0x7fffffffffffull);
}

/* The habit of a wait as far as it is known. A poll whose stack does not tell the place gets the
 * habit of another poll with the same arguments. */
static uint32_t known_habit(const struct habits *habits, const struct argus_wait *wait)
{
    uint32_t at = IDMAP_NONE;
    if (wait->kind == ARGUS_WAIT_NONE)
        return IDMAP_NONE;
    if (wait->kind == ARGUS_WAIT_POLL && !habit_is_clear(habits->graph, wait->user_stack))
        at = idmap_get(&habits->by_call, call_key(wait));
    if (at == IDMAP_NONE || at == AT_SEVERAL)
        at = idmap_get(&habits->by_key, habit_key(habits->graph, wait));
    return at;
}

const struct habit *habits_of(const struct habits *habits, const struct argus_vertex *vertex)
{
    uint32_t at = known_habit(habits, &vertex->wait);
    return at == IDMAP_NONE ? NULL : &habits->items.data[at];
}

static void add_source(struct habit *habit, uint64_t source, bool is_set, bool responds)
{
    uint8_t at = 0;
    while (at < habit->source_count && habit->sources[at] != source)
        at++;
    if (at == HABIT_SOURCES)
        return;
    if (at == habit->source_count) {
        habit->sets |= (uint16_t)(is_set << at);
        habit->sources[habit->source_count++] = source;
    }
    habit->source_counts[at]++;
    habit->source_responses[at] += responds;
}

/* Adds the descriptors that a poll found ready; false if they are not known. */
static bool add_ready(const struct view *view, const struct argus_wait *wait, struct habit *habit,
                      bool responds)
{
    const struct argus_wait_detail *details;
    size_t count = argus_graph_details(view->graph, &details);
    bool any = false;
    for (uint32_t i = wait->first_detail; i < count; i = details[i].next) {
        if (details[i].kind != ARGUS_DETAIL_READY)
            continue;
        add_source(habit, details[i].arg[1] ? details[i].arg[1] : details[i].arg[0], false,
                   responds);
        any = true;
    }
    return any;
}

/* It is the address of an array, or an epoll set. (The array of a handler that is still running has
 * another address than the loop's array.) */
bool call_names_set(const struct argus_graph *graph, uint16_t syscall)
{
    char buffer[32];
    const char *name =
        argus_syscall_name(argus_graph_trace(graph), syscall, buffer, sizeof(buffer));
    return strcmp(name, "poll") == 0 || strcmp(name, "ppoll") == 0 ||
           strncmp(name, "epoll_", 6) == 0;
}

/* Adds the set of descriptors that a poll looks at, if it is known. For a futex, adds the
 * condition. */
static void add_set(const struct view *view, const struct argus_wait *wait, struct habit *habit)
{
    if (call_names_set(view->graph, wait->syscall))
        add_source(habit, call_key(wait), true, false);
    /* a wait on a condition alternates between two words */
    else if (wait->kind == ARGUS_WAIT_FUTEX)
        add_source(habit, wait->object & ~7ull, true, false);
}

static bool sends_message(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0 && i + MAX_ASKED > count; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if (edge->message || edge->kind == ARGUS_EDGE_MESSAGE)
            return true;
    }
    return false;
}

/* Whether the thread sent a message between the wait of `vertex` and its next one. */
static bool responds(const struct view *view, uint32_t vertex)
{
    uint32_t v = timeline_next(view, vertex);
    for (int i = 0; i < MAX_BEFORE && v != ARGUS_NONE; i++, v = timeline_next(view, v)) {
        if (sends_message(view, v))
            return true;
        if (view->vertices[v].wait.kind != ARGUS_WAIT_NONE)
            break;
    }
    return false;
}

/* What ended the wait of `vertex`: a descriptor if a poll found one ready, a device that was read,
 * else the waker (of a device, this is any of the kernel's workers). */
static uint64_t source_of(const struct view *view, uint32_t vertex, uint32_t waker)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    const struct argus_wait_detail *ready = wait_detail(view, wait, ARGUS_DETAIL_READY);
    if (!ready)
        return wait_reads_device(wait) ? wait->inode : waker;
    return ready->arg[1] ? ready->arg[1] : ready->arg[0];
}

static void add_answer(struct habit *habit, uint64_t source)
{
    uint32_t at = 0;
    while (at < HABIT_SOURCES && habit->answer_counts[at] && habit->answer_sources[at] != source)
        at++;
    if (at == HABIT_SOURCES)
        return;
    habit->answer_sources[at] = source;
    habit->answer_counts[at]++;
}

/* Counts the wait of `vertex`, which `edge` ended, if it belongs to a conversation: its first wait
 * was for an answer, and so is each that follows at once, at whatever place. (The other thread
 * seems to begin each of these.) A display server speaks for the user. */
static void count_chat(struct habits *habits, const struct view *view, uint32_t vertex,
                       const struct argus_edge *edge, struct habit *habit)
{
    uint32_t with = view->vertices[edge->from].thread;
    struct turn turn = turn_until(view, vertex, with);
    bool answers = turn.asked != ARGUS_NONE && !is_device_input(view, vertex, edge) &&
                   !passes_on(view, edge->from, turn.asked);
    if (!answers || (turn.begun && habits->chats_with_before != with) ||
        thread_serves_display(view, with))
        return;
    habit->chats++;
    habit->partner = habits->chats_with = with;
}

bool is_in_conversation(const struct habits *habits, const struct view *view, uint32_t vertex)
{
    const struct habit *habit = habits_of(habits, &view->vertices[vertex]);
    return habit && timeline_next(view, vertex) == ARGUS_NONE && habit->chats > 0 &&
           habit->chats == habit->ended &&
           turn_until(view, vertex, habit->partner).asked != ARGUS_NONE;
}

static void count_ending(struct habits *habits, const struct view *view, uint32_t vertex,
                         struct habit *habit)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return;
    uint32_t waker = view->vertices[view->edges[cause].from].thread;
    if (waker == view->vertices[vertex].thread)
        return;
    const struct argus_edge *edge = &view->edges[cause];
    habit->ended++;
    count_chat(habits, view, vertex, edge, habit);
    bool from_child = is_from_child(view, vertex, edge);
    bool response = !from_child && responds(view, vertex);
    habit->children += from_child;
    habit->responses += response;
    habit->keys += is_key(view, vertex, edge);
    bool reply = is_reply(view, vertex, edge);
    habit->replies += reply;
    if (reply)
        add_answer(habit, source_of(view, vertex, waker));
    if (!is_answer(view, vertex, edge) &&
        !add_ready(view, &view->vertices[vertex].wait, habit, response))
        add_source(habit, source_of(view, vertex, waker), false, response);
}

/* The last wait before `vertex`, without a signal handler's own vertices; ARGUS_NONE. */
static uint32_t wait_before(const struct view *view, uint32_t vertex)
{
    for (int i = 0; i < MAX_HANDLER; i++) {
        vertex = argus_graph_previous(view->graph, vertex);
        if (vertex == ARGUS_NONE || view->vertices[vertex].wait.kind != ARGUS_WAIT_NONE)
            return vertex;
    }
    return ARGUS_NONE;
}

bool habits_resumes(const struct habits *habits, const struct view *view, uint32_t vertex)
{
    uint32_t before = wait_before(view, vertex);
    return before != ARGUS_NONE &&
           view->vertices[before].wait.outcome == ARGUS_OUTCOME_INTERRUPTED &&
           habits_of(habits, &view->vertices[before]) == habits_of(habits, &view->vertices[vertex]);
}

bool habits_in_signal(const struct habits *habits, const struct view *view, uint32_t vertex)
{
    uint32_t next = vertex;
    for (int i = 0; i < MAX_HANDLER && next != ARGUS_NONE; i++) {
        if (view->vertices[next].wait.kind != ARGUS_WAIT_NONE)
            return habits_resumes(habits, view, next) &&
                   !habits_of(habits, &view->vertices[next])->home;
        next = timeline_next(view, next);
    }
    return false;
}

static void count_wait(struct habits *habits, const struct view *view, uint32_t vertex,
                       struct habit *habit)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    habits->chats_with_before = habits->chats_with;
    if (v->wait.kind != ARGUS_WAIT_FUTEX)
        habits->chats_with = ARGUS_NONE;
    bool is_run = v->flags & ARGUS_VERTEX_YIELDS;
    habit->first_ns = habit->count ? habit->first_ns : is_run ? v->start_ns : v->end_ns;
    habit->last_ns = v->end_ns;
    habit->count += v->repeat ? v->repeat : 1;
    habit->resumed += habits_resumes(habits, view, vertex);
    if (v->wait.kind == ARGUS_WAIT_POLL || v->wait.kind == ARGUS_WAIT_FUTEX)
        add_set(view, &v->wait, habit);
    if (v->wait.kind == ARGUS_WAIT_POLL && v->wait.outcome == ARGUS_OUTCOME_TIMED_OUT &&
        asks_for_children(view, vertex))
        habit->child_asks += v->repeat ? v->repeat : 1;
    count_ending(habits, view, vertex, habit);
}

/* The habit of a wait, created if it is new; IDMAP_NONE without memory. */
static uint32_t find_habit(struct habits *habits, const struct argus_wait *wait)
{
    uint32_t at = known_habit(habits, wait);
    struct habit new_habit = {
        .kind = wait->kind, .syscall = wait->syscall, .user_stack = wait->user_stack};
    if (at != IDMAP_NONE)
        return at;
    at = (uint32_t)habits->items.length;
    if (!vec_push(&habits->items, new_habit) ||
        !idmap_put(&habits->by_key, habit_key(habits->graph, wait), at))
        return IDMAP_NONE;
    return at;
}

/* Collects the polls whose stacks tell their place; false without memory. */
static bool find_clear_polls(struct habits *habits, const struct view *view, uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    bool done = true;
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_wait *wait = &view->vertices[v].wait;
        if (wait->kind != ARGUS_WAIT_POLL || !habit_is_clear(view->graph, wait->user_stack))
            continue;
        uint32_t at = find_habit(habits, wait);
        uint32_t other = idmap_get(&habits->by_call, call_key(wait));
        done = at != IDMAP_NONE;
        if (done && other != at && other != AT_SEVERAL)
            done =
                idmap_put(&habits->by_call, call_key(wait), other == IDMAP_NONE ? at : AT_SEVERAL);
    }
    return done;
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

/* Whether the thread rests at a place where a stack was taken. Then short waits without a stack are
 * elsewhere: at the same place they would have got the same stack (late stacks). */
static bool rests_at_clear_place(const struct habits *habits)
{
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *habit = &habits->items.data[i];
        if (habit_is_clear(habits->graph, habit->user_stack) && habit->longest_ns >= RESTING_NS &&
            (habit->kind == ARGUS_WAIT_POLL || habit->kind == ARGUS_WAIT_FUTEX))
            return true;
    }
    return false;
}

static bool is_mostly(uint32_t replies, uint64_t all)
{
    return replies * 10ull >= all * 6;
}

/* Whether something comes there that is mostly no answer, although most waits are for answers: in a
 * terminal's window each key is echoed. */
static bool takes_unasked(const struct habit *habit)
{
    for (uint32_t i = 0; i < habit->source_count; i++) {
        uint32_t unasked = habit->source_counts[i], answers = 0;
        for (uint32_t k = 0; k < HABIT_SOURCES; k++)
            if (habit->answer_sources[k] == habit->sources[i])
                answers += habit->answer_counts[k]; /* 0: the place is free */
        if (!(habit->sets >> i & 1) && unasked >= HOME_OTHERS &&
            !is_mostly(answers, (uint64_t)answers + unasked))
            return true;
    }
    return false;
}

/* At a known place, waits that time out are not for an answer: such loops look again for something
 * else. */
static bool are_answers(const struct habits *habits, const struct habit *habit)
{
    bool clear = habit_is_clear(habits->graph, habit->user_stack);
    uint64_t all = clear && habit->kind == ARGUS_WAIT_POLL ? habit->count : habit->ended;
    return habit->ended > 0 && is_mostly(habit->replies, all) && !takes_unasked(habit);
}

static bool may_be_home(const struct habit *habit)
{
    if (habit->count - habit->resumed <= 1) /* a single wait */
        return false;
    if (habit->kind == ARGUS_WAIT_POLL)
        return habit->count >= HOME_POLLS;
    return (habit->kind == ARGUS_WAIT_READ || habit->kind == ARGUS_WAIT_FUTEX ||
            habit->kind == ARGUS_WAIT_OTHER || habit->kind == ARGUS_WAIT_SIGNAL) &&
           habit->count >= HOME_OTHERS;
}

/* Whether the habit is a conversation, after which the thread has found another home. */
static bool is_chat(const struct habits *habits, const struct habit *habit)
{
    if (habit->chats < habit->count)
        return false;
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *other = &habits->items.data[i];
        if (other->home && other->kind == ARGUS_WAIT_POLL && other->first_ns > habit->last_ns)
            return true;
    }
    return false;
}

static bool set_homes(const struct view *view, uint32_t thread, struct habits *habits)
{
    bool any_clear = rests_at_clear_place(habits);
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *habit = &habits->items.data[i];
        bool unclear = any_clear && habit->kind == ARGUS_WAIT_POLL &&
                       !habit_is_clear(habits->graph, habit->user_stack);
        bool answers = are_answers(habits, habit);
        habit->answers = answers;
        habit->home = may_be_home(habit) && !answers && !unclear;
    }
    for (size_t i = 0; i < habits->items.length; i++)
        habits->items.data[i].answers |= is_chat(habits, &habits->items.data[i]);
    for (size_t i = 0; i < habits->items.length; i++)
        habits->items.data[i].home &= !habits->items.data[i].answers;
    if (!nesting_find(view, thread, habits))
        return false;
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *habit = &habits->items.data[i];
        habit->home = (habit->home || habit->loop) && !habit->nested;
    }
    return true;
}

bool habits_find(const struct view *view, uint32_t thread, struct habits *ret)
{
    const struct argus_thread *t = &view->threads[thread];
    struct duration *durations = malloc((t->vertex_count + 1) * sizeof(*durations));
    size_t count = 0;
    *ret = (struct habits){
        .graph = view->graph, .chats_with = ARGUS_NONE, .chats_with_before = ARGUS_NONE};
    bool done = durations != NULL && find_clear_polls(ret, view, thread);
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        if (vertex->wait.kind == ARGUS_WAIT_NONE)
            continue;
        uint32_t at = find_habit(ret, &vertex->wait);
        done = at != IDMAP_NONE;
        if (!done)
            break;
        count_wait(ret, view, v, &ret->items.data[at]);
        durations[count++] = (struct duration){timeline_wait_end(view, v) - vertex->end_ns, at};
    }
    if (done) {
        set_medians(ret, durations, count);
        done = set_homes(view, thread, ret);
    }
    free(durations);
    return done;
}

void habits_deinit(struct habits *habits)
{
    vec_deinit(&habits->items);
    idmap_deinit(&habits->by_key);
    idmap_deinit(&habits->by_call);
}

bool is_for_clients(const struct view *view, uint32_t vertex)
{
    char buffer[32];
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    return wait->kind != ARGUS_WAIT_NONE && wait->syscall != ARGUS_NO_SYSCALL &&
           strncmp(argus_syscall_name(argus_graph_trace(view->graph), wait->syscall, buffer,
                                      sizeof(buffer)),
                   "accept", 6) == 0;
}

bool is_home_wait(const struct view *view, uint32_t vertex)
{
    struct habits habits;
    const struct habit *habit = NULL;
    if (is_for_clients(view, vertex))
        return true;
    /* a thread that waits for a held lock is not idle */
    if (view->vertices[vertex].wait.holder_tid)
        return false;
    if (habits_find(view, view->vertices[vertex].thread, &habits))
        habit = habits_of(&habits, &view->vertices[vertex]);
    bool home = habit && habit->home && !is_answered_wait(view, vertex);
    habits_deinit(&habits);
    return home;
}
