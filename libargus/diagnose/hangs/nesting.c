/* Tells a wait inside a handler from the loop's own wait.
 *
 * Counted from the thread's first function, both stacks are equal as far as the function that is
 * the loop. There they part: the loop's own wait reaches the system call through a few frames of
 * the toolkit, the other wait through the dispatching function and the handler, which takes more
 * frames. So of two places that part, the deeper one is *nested* in the other.
 *
 *   poll ← iterate ← run ← main                                   the home
 *   poll ← library ← handler ← dispatch ← iterate ← run ← main    nested in it
 *
 * A nested wait may still be a loop that does the home's work, as in a modal dialog. What it takes
 * from shows this, without answers: the same set of descriptors as the home wait, descriptors that
 * both found ready (if none are known, the threads that wake both), or a condition that both wait
 * for. A place that takes nothing that the home takes is part of a handler. So is a place that
 * takes from the same descriptors but does not take what the home would have taken
 * (ignored_pending.c). What such a place does not share with a loop that serves the home and rests
 * says nothing about that loop: both may be in the same handlers (replies of the display server,
 * and a prompt that reads keys).
 *
 * Two loops that follow each other also part somewhere, and the second may be the deeper one. The
 * second is not in a handler if the first place is never visited again, and if threads that the
 * thread had not asked keep ending the waits at the second place.
 *
 * Some loops do not poll themselves: another thread polls, and the loop waits for a condition
 * (Tcl). Then the loop's handlers poll (for replies of the display server), and the condition
 * encloses them. Or no place of the thread polls (brought_input.c). This is assumed of main threads
 * only: other threads wait for work like this.
 */
#include "diagnose/hangs/nesting.h"

/* The most used places are compared. A thread that waits at more places has no small number of
 * loops. */
#define MOST_OUTER 64
/* Other threads end so many waits of a place if it serves them. */
#define SERVES 3
/* Most replies take less. */
#define SERVING_NS 1000000ull

/* Frames that two stacks have in common, counted from the thread's first function. The innermost
 * frames are not compared. */
static uint32_t common_frames(struct argus_stack a, struct argus_stack b)
{
    uint32_t common = 0;
    while (common + 1 < a.count && common + 1 < b.count &&
           a.frames[a.count - 1 - common] == b.frames[b.count - 1 - common])
        common++;
    return common;
}

static bool is_below(const struct habits *habits, const struct habit *inner,
                     const struct habit *outer)
{
    if (!habit_is_clear(habits->graph, inner->user_stack))
        return false;
    struct argus_stack in = argus_graph_stack(habits->graph, inner->user_stack);
    struct argus_stack out = argus_graph_stack(habits->graph, outer->user_stack);
    return in.count > out.count && common_frames(in, out) > 0;
}

bool habit_takes_from(const struct habit *habit, uint64_t source)
{
    for (uint8_t i = 0; i < habit->source_count; i++)
        if (habit->sources[i] == source)
            return true;
    return false;
}

static bool share(const struct habit *a, const struct habit *b, bool sets_only)
{
    for (uint8_t i = 0; i < a->source_count; i++)
        if ((!sets_only || a->sets >> i & 1) && habit_takes_from(b, a->sources[i]))
            return true;
    return false;
}

uint32_t habits_shared_ends(const struct habit *a, const struct habit *b)
{
    uint32_t ends = 0;
    for (uint8_t i = 0; i < a->source_count; i++)
        if (habit_takes_from(b, a->sources[i]))
            ends += a->source_counts[i];
    /* with so many sources, not all of them are known */
    return a->source_count == HABIT_SOURCES || ends > a->ended ? a->ended : ends;
}

bool habits_share_source(const struct habit *a, const struct habit *b)
{
    return share(a, b, false);
}

bool habits_share_set(const struct habit *a, const struct habit *b)
{
    return share(a, b, true);
}

static bool is_next_loop(const struct habit *inner, const struct habit *outer)
{
    return outer->last_ns < inner->first_ns && inner->ended >= inner->replies + SERVES;
}

static bool is_handler_of(const struct habits *habits, const struct habit *inner,
                          const struct habit *outer)
{
    return inner != outer && is_below(habits, inner, outer) && outer->first_ns < inner->last_ns &&
           !is_next_loop(inner, outer);
}

/* Whether a condition is where the thread rests, and all places at which it polls are deeper. */
static bool is_root(const struct habits *habits, const struct habit *habit)
{
    if (habit->kind != ARGUS_WAIT_FUTEX || habit->count < SERVES || habit->longest_ns < RESTING_NS)
        return false;
    uint32_t depth = habit_depth(habits, habit);
    for (size_t i = 0; i < habits->items.length; i++) {
        const struct habit *other = &habits->items.data[i];
        if (other->kind == ARGUS_WAIT_POLL && habit_is_clear(habits->graph, other->user_stack) &&
            habit_depth(habits, other) <= depth)
            return false;
    }
    return true;
}

/* Whether anything ever came at the place. If not, the place does not show that others take
 * something else. */
static bool is_told(const struct habits *habits, const struct habit *habit)
{
    return habit->source_count || !searching_looks(habits, habit);
}

static bool may_enclose(const struct habits *habits, const struct habit *habit)
{
    return habit_is_clear(habits->graph, habit->user_stack) &&
           (habit->kind == ARGUS_WAIT_FUTEX ? is_root(habits, habit)
                                            : habit->home && is_told(habits, habit));
}

/* Finds the places that may be homes; if there are too many, the most used ones. */
static size_t find_outer(struct habits *habits, bool is_main, struct habit *ret[MOST_OUTER])
{
    size_t count = 0;
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *habit = &habits->items.data[i];
        if (!may_enclose(habits, habit) ||
            (habit->kind == ARGUS_WAIT_FUTEX && !is_main && !input_is_brought(habit)))
            continue;
        size_t at = count < MOST_OUTER ? count++ : MOST_OUTER - 1;
        if (at == MOST_OUTER - 1 && ret[at] && count == MOST_OUTER && ret[at]->count > habit->count)
            continue;
        for (; at > 0 && ret[at - 1]->count < habit->count; at--)
            ret[at] = ret[at - 1];
        ret[at] = habit;
    }
    return count;
}

bool habit_rests(const struct habit *habit)
{
    bool long_waits = habit->longest_ns >= RESTING_NS && habit->median_ns >= SERVING_NS;
    return habit->count >= SERVES && (long_waits || habit->ended < habit->count / 2);
}

/* Whether `outer` shows nothing about `inner`: the thread rests at `inner`, not for replies, and
 * never rested at `outer`. Then `outer` is rather a wait for the display server's replies: not all
 * of them are known as such, because a busy server answers several requests at once. */
static bool shows_nothing(const struct habit *inner, const struct habit *outer)
{
    return outer->kind == ARGUS_WAIT_POLL && inner->kind == ARGUS_WAIT_POLL && !inner->answers &&
           outer->longest_ns < SURELY_RESTING_NS && !habit_rests(outer) && habit_rests(inner) &&
           inner->longest_ns >= RESTING_NS;
}

/* What the places that enclose a place show about it. */
struct verdict {
    bool unlike_home;   /* takes nothing that an enclosing place takes */
    bool unlike_nested; /* the same, for an enclosing place that is nested itself */
    /* the same, for an enclosing place that was last visited before this one was first visited */
    bool unlike_past;
    bool serves;        /* takes what a home takes */
    bool is_polled_for; /* polls inside a loop that waits for a condition */
    bool loop;
};

/* Notes what `outer` shows about `inner`, which is deeper in the same loop. */
static void relate(const struct habit *inner, struct habit *outer, bool outer_is_nested,
                   struct verdict *verdict)
{
    bool same = inner->kind == outer->kind;
    /* another thread may wake both the loop and, with an answer, its handler */
    bool by_condition = outer->kind == ARGUS_WAIT_FUTEX;
    /* a runtime has one condition for all waits of a thread, so that it counts only if others end
     * waits at both places */
    bool told = !by_condition || inner->ended > 0 || inner->count < SERVES;
    bool shares = same && told && share(inner, outer, by_condition);
    if (outer->kind == ARGUS_WAIT_FUTEX) {
        bool polls = inner->kind == ARGUS_WAIT_POLL;
        outer->loop |= polls;
        verdict->loop |= shares;
        verdict->is_polled_for |= polls;
    }
    if (same && !shares && outer_is_nested)
        verdict->unlike_nested = true;
    else if (same && !shares && outer->last_ns < inner->first_ns)
        verdict->unlike_past = true;
    else if (same && !shares)
        verdict->unlike_home = true;
    verdict->serves |= shares && !outer_is_nested;
}

/* A place in the same handlers that does not enclose it, or one that is not visited any more, shows
 * nothing about a loop that serves the home. */
static bool is_nested(const struct verdict *verdict, const struct habit *inner)
{
    bool unlike_others = (verdict->unlike_nested && !(verdict->serves && habit_rests(inner))) ||
                         (verdict->unlike_past && !verdict->serves);
    return verdict->is_polled_for || verdict->unlike_home || unlike_others ||
           (verdict->serves && inner->ignores_pending);
}

/* `nested`: for each of `outer`, whether it is nested itself. */
static void judge(struct habits *habits, struct habit *const *outer, const bool *nested,
                  size_t count)
{
    for (size_t i = 0; i < habits->items.length; i++) {
        struct habit *inner = &habits->items.data[i];
        struct verdict verdict = {.loop = false};
        for (size_t k = 0; k < count; k++)
            if (is_handler_of(habits, inner, outer[k]) && !shows_nothing(inner, outer[k]))
                relate(inner, outer[k], nested[k], &verdict);
        inner->loop |= verdict.loop;
        inner->serves = verdict.serves || verdict.loop;
        inner->nested = is_nested(&verdict, inner);
    }
}

static void judge_again(struct habits *habits, struct habit *const *outer, size_t count)
{
    bool nested[MOST_OUTER] = {false};
    for (size_t k = 0; k < count; k++)
        nested[k] = outer[k]->nested;
    judge(habits, outer, nested, count);
}

/* Marks the loops that do not poll and whose input is brought to them: conditions among `outer`,
 * and all places at which the thread reads its terminal. */
static void mark_brought(struct habits *habits, struct habit *const *outer, size_t count)
{
    for (size_t k = 0; k < count; k++)
        outer[k]->loop |= input_is_brought(outer[k]);
    for (size_t i = 0; i < habits->items.length; i++)
        if (habits->items.data[i].kind == ARGUS_WAIT_READ)
            habits->items.data[i].loop |= input_is_brought(&habits->items.data[i]);
}

bool nesting_find(const struct view *view, uint32_t thread, struct habits *habits)
{
    bool is_main = view->processes[view->threads[thread].process].main_thread == thread;
    struct habit *outer[MOST_OUTER] = {NULL};
    bool nested[MOST_OUTER] = {false};
    brought_input_find(view, thread, habits);
    size_t count = find_outer(habits, is_main, outer);
    mark_brought(habits, outer, count);
    judge(habits, outer, nested, count);
    judge_again(habits, outer, count);
    if (!ignored_pending_find(view, thread, habits))
        return false;
    judge_again(habits, outer, count);
    searching_find(view, thread, habits);
    unanswered_find(view, thread, habits);
    return true;
}
