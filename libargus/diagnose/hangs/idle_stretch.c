/* Stretches in which a thread was idle although its place is not known as its loop, because the
 * trace has too few waits there. Nothing is pending for the thread. One of these is true:
 *   - it has no windows and polls outside any callback, once its loop has called some: it is a
 *     service that waits for whatever may come;
 *   - it takes turns: its own timers end its waits, and in most turns it sends something to another
 *     process, as a window does whose cursor blinks. It is in a loop inside a handler (a dialogue,
 *     a prompt); or
 *   - its loop only looks for input, and never rests in a poll (a game or an emulator, which sleeps
 * by a timer between its frames), and it looked all the time as it does at other times;
 *   - it reads its standard input: the program that started it writes there what to do next;
 *   - it waits in polls that a key of its terminal ended, or in the function in which such a poll
 *     was: an editor reads keys in one function, for commands as well as in prompts (what it takes
 *     until a command has ended are no keys); or
 *   - it waits in the poll that no other poll of the thread is around, and all processes to which
 * it sent something have sent something since; and it started no process that could end the wait.
 *     A window manager that rarely waits there mostly waits for the display server's replies.
 */
#include "base/overlap.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/hangs/keys.h"
#include "diagnose/vertex_deeds.h"

/* A thread takes turns if it takes so many in a stretch, and its waits between them, without the
 * short ones, are so much of it. */
#define FEWEST_TURNS     3
#define SHORTEST_TURN_NS 100000000ull
#define TURNS_PERCENT    80u
/* The longest time between two looks of a loop that only looks, on a busy machine; the runs of
 * looks of which the call may be that of such a loop. */
#define LONGEST_LOOK_NS 500000000ull
#define MOST_LOOKS      16
/* Waits at a place that is taken for the loop's own, and vertices before one that may have asked.
 */
#define FEWEST_WAITS_AT_BASE 2
/* So many calls around two polls are the same if both are in the function that reads keys. A
 * function that only polls, and has many callers, is around fewer. */
#define FEWEST_KEY_FRAMES 6
/* Places of polls for keys that a poll is compared with: programs have few, a hostile trace can
 * have thousands. */
#define MOST_KEY_PLACES      256
#define MOST_ASKING_VERTICES 16

static bool sends(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    uint32_t process = view->threads[view->vertices[vertex].thread].process;
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &view->edges[out[i]];
        uint32_t receiver = view->vertices[edge->to].thread;
        if ((edge->message || edge->kind == ARGUS_EDGE_MESSAGE) &&
            view->threads[receiver].process != process)
            return true;
    }
    return false;
}

/* Whether a timer of the thread ended the wait of `vertex`, or nothing did before the trace
 * ended. */
static bool is_turn(const struct view *view, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    bool by_timer = wait->by_timer || wait->outcome == ARGUS_OUTCOME_TIMED_OUT;
    return timeline_wait_end(view, vertex) - view->vertices[vertex].end_ns >= SHORTEST_TURN_NS &&
           (by_timer || timeline_next(view, vertex) == ARGUS_NONE);
}

/* Whether the thread takes turns by its own timers, and sends something in most of them. */
static bool takes_turns(const struct view *view, const struct argus_hang *hang)
{
    uint64_t waited_ns = 0;
    unsigned turns = 0, active = 0;
    bool sent = false;
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    for (; v != ARGUS_NONE && view->vertices[v].start_ns < hang->end_ns;
         v = timeline_next(view, v)) {
        sent |= sends(view, v);
        if (!is_turn(view, v))
            continue;
        turns++;
        active += sent;
        sent = false;
        waited_ns += timeline_wait_end(view, v) - view->vertices[v].end_ns;
    }
    return turns >= FEWEST_TURNS && active >= turns - turns / 4 &&
           waited_ns >= (hang->end_ns - hang->start_ns) / 100 * TURNS_PERCENT;
}

/* Whether the thread looked for input again and again, from the beginning of the stretch to its
 * end, by the call of `kind`. */
static bool looks_throughout(const struct argus_hang *hang, const struct argus_visits *kind,
                             const struct argus_visits *end)
{
    uint64_t last_ns = hang->start_ns;
    for (const struct argus_visits *visits = kind; visits < end; visits++) {
        if (visits->syscall != kind->syscall || visits->object != kind->object ||
            visits->last_ns < hang->start_ns)
            continue;
        if (visits->first_ns >= hang->end_ns)
            break;
        if ((visits->first_ns > last_ns && visits->first_ns - last_ns > LONGEST_LOOK_NS) ||
            visits->gap_end_ns - visits->gap_start_ns > LONGEST_LOOK_NS)
            return false;
        last_ns = visits->last_ns;
    }
    return last_ns + LONGEST_LOOK_NS >= hang->end_ns;
}

/* Whether the thread looks in this way at other times, too. If it looks only in other ways then, a
 * handler waits for an answer in this way. */
static bool looks_usually(const struct argus_hang *hang, const struct argus_visits *kind,
                          const struct argus_visits *visits, size_t count)
{
    bool otherwise = false;
    for (size_t i = 0; i < count; i++) {
        if (visits[i].first_ns >= hang->start_ns && visits[i].last_ns <= hang->end_ns)
            continue;
        if (visits[i].syscall == kind->syscall && visits[i].object == kind->object)
            return true;
        otherwise = true;
    }
    return !otherwise;
}

/* A thread that rests in a poll has its loop there; its handlers may look for something else. */
static bool only_looks(const struct view *view, const struct habits *habits,
                       const struct argus_hang *hang)
{
    const struct argus_visits *visits;
    size_t count = argus_graph_thread_visits(view->graph, hang->thread, &visits);
    for (size_t i = 0; i < habits->items.length; i++)
        if (habits->items.data[i].kind == ARGUS_WAIT_POLL &&
            habits->items.data[i].longest_ns >= LONG_PENDING_NS)
            return false;
    for (size_t i = 0, kinds = 0; i < count && kinds < MOST_LOOKS; i++) {
        if (visits[i].last_ns < hang->start_ns)
            continue;
        if (looks_throughout(hang, &visits[i], visits + count) &&
            looks_usually(hang, &visits[i], visits, count))
            return true;
        kinds++;
    }
    return false;
}

/* Whether the toolkit's loop called a function of the program in the vertex, or in the one that it
 * continues. */
static bool is_in_callback(const struct view *view, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    uint32_t whole = argus_graph_whole(view->graph, vertex);
    return argus_graph_callbacks(view->graph, whole, &callbacks) > 0;
}

static bool is_resting_service(const struct view *view, const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT ||
        view->vertices[hang->vertex].wait.kind != ARGUS_WAIT_POLL ||
        is_in_callback(view, hang->vertex) || thread_hands_events(view, hang->thread))
        return false;
    uint32_t first = view->threads[hang->thread].first_vertex;
    for (uint32_t v = hang->vertex; v > first; v--)
        if (is_in_callback(view, v - 1))
            return true;
    return false;
}

static bool reads_standard_input(const struct view *view, const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT)
        return false;
    const struct argus_wait *wait = &view->vertices[hang->vertex].wait;
    return wait->kind == ARGUS_WAIT_READ && wait->object == 0;
}

/* --- keys of a terminal --- */

/* Frames that two stacks have in common, counted from the innermost one. */
static uint32_t innermost_in_common(struct argus_stack a, struct argus_stack b)
{
    uint32_t common = 0;
    while (common < a.count && common < b.count && a.frames[common] == b.frames[common])
        common++;
    return common;
}

/* Whether polls in the function of this one were ended by keys. */
static bool is_where_keys_come(const struct view *view, const struct habits *habits,
                               uint32_t user_stack)
{
    if (!habit_is_clear(view->graph, user_stack))
        return false;
    struct argus_stack stack = argus_graph_stack(view->graph, user_stack);
    for (size_t i = 0, looked = 0; i < habits->items.length && looked < MOST_KEY_PLACES; i++) {
        const struct habit *other = &habits->items.data[i];
        if (other->kind != ARGUS_WAIT_POLL || !other->keys || other->awaits ||
            !habit_is_clear(view->graph, other->user_stack))
            continue;
        looked++;
        if (innermost_in_common(stack, argus_graph_stack(view->graph, other->user_stack)) >=
            FEWEST_KEY_FRAMES)
            return true;
    }
    return false;
}

static bool is_for_keys(const struct view *view, const struct habits *habits, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    const struct habit *habit = habits_of(habits, &view->vertices[vertex]);
    return wait->kind == ARGUS_WAIT_POLL && !(habit && habit->awaits) &&
           (was_ended_by_keys(view, vertex) || is_where_keys_come(view, habits, wait->user_stack));
}

/* Whether the thread waited for keys in most of the stretch. */
static bool waits_for_keys(const struct view *view, const struct habits *habits,
                           const struct argus_hang *hang)
{
    uint64_t waited_ns = 0;
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    if (hang->type != ARGUS_TYPE_LONG_WAIT)
        return false;
    for (; v != ARGUS_NONE && view->vertices[v].start_ns < hang->end_ns;
         v = timeline_next(view, v)) {
        uint64_t wait_ns = overlap_ns(view->vertices[v].end_ns, timeline_wait_end(view, v),
                                      hang->start_ns, hang->end_ns);
        if (wait_ns >= SHORTEST_TURN_NS && is_for_keys(view, habits, v))
            waited_ns += wait_ns;
    }
    return waited_ns >= (hang->end_ns - hang->start_ns) / 100 * TURNS_PERCENT;
}

/* --- nothing is owed --- */

static uint32_t process_of(const struct view *view, uint32_t vertex)
{
    return view->threads[view->vertices[vertex].thread].process;
}

/* Whether the thread got a message that `process` had sent after `since_ns`, until `last`. */
static bool has_got(const struct view *view, uint32_t vertex, uint32_t last, uint32_t process,
                    uint64_t since_ns)
{
    for (uint32_t v = vertex; v != ARGUS_NONE && v <= last; v = timeline_next(view, v)) {
        const struct argus_edge *edges;
        size_t count = argus_graph_in_edges(view->graph, v, &edges);
        for (size_t i = 0; i < count; i++)
            if (edge_is_message(&edges[i]) && edges[i].from_ns > since_ns &&
                process_of(view, edges[i].from) == process)
                return true;
    }
    return false;
}

static bool is_all_answered(const struct view *view, uint32_t vertex, uint32_t last)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &view->edges[out[i]];
        uint32_t process = process_of(view, edge->to);
        if (edge_is_message(edge) && process != process_of(view, vertex) &&
            !has_got(view, vertex, last, process, edge->from_ns))
            return false;
    }
    return true;
}

/* Whether the place is known, the thread came back to it, and no other poll is around it. */
static bool is_base(const struct view *view, const struct habits *habits, const struct habit *place)
{
    if (!place || place->kind != ARGUS_WAIT_POLL || place->nested ||
        place->count < FEWEST_WAITS_AT_BASE || !habit_is_clear(view->graph, place->user_stack))
        return false;
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *other = &habits->items.data[i];
        if (other != place && habit_is_clear(view->graph, other->user_stack) &&
            (other->kind == ARGUS_WAIT_POLL || other->loop) &&
            habit_depth(habits, other) <= habit_depth(habits, place))
            return false;
    }
    return true;
}

static bool is_owed_nothing(const struct view *view, const struct habits *habits,
                            const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT)
        return false;
    const struct argus_vertex *last = &view->vertices[hang->vertex];
    uint64_t wait_ns = timeline_wait_end(view, hang->vertex) - last->end_ns;
    if (wait_ns < (hang->end_ns - hang->start_ns) / 100 * TURNS_PERCENT ||
        !is_base(view, habits, habits_of(habits, last)))
        return false;
    uint32_t v = hang->vertex, first = v;
    for (int i = 0; i < MOST_ASKING_VERTICES && v != ARGUS_NONE; i++) {
        if (!is_all_answered(view, v, hang->vertex))
            return false;
        first = v;
        v = argus_graph_previous(view->graph, v);
    }
    return !thread_left_unread(view, last->thread, view->vertices[first].start_ns, last->end_ns);
}

/* Whether the thread waits at a place where it awaits a reply (unanswered.c). */
static bool awaits_reply(const struct view *view, const struct habits *habits,
                         const struct argus_hang *hang)
{
    const struct habit *habit =
        hang->vertex == ARGUS_NONE ? NULL : habits_of(habits, &view->vertices[hang->vertex]);
    return habit && habit->awaits;
}

bool stretch_is_idle(const struct view *view, const struct habits *habits,
                     const struct argus_hang *hang, bool expects)
{
    return (!expects && is_owed_nothing(view, habits, hang)) ||
           waits_for_keys(view, habits, hang) ||
           ((takes_turns(view, hang) || only_looks(view, habits, hang)) &&
            late_answer(view, hang) == ARGUS_NONE && !awaits_reply(view, habits, hang)) ||
           is_resting_service(view, hang) || reads_standard_input(view, hang);
}
