/* The parts of finding hangs: one file per indicator. */
#ifndef ARGUS_DIAGNOSE_FINDER_H
#define ARGUS_DIAGNOSE_FINDER_H

#include "argus/hangs.h"
#include "diagnose/hangs/habits.h"

/* More calls to sched_yield() than this in one vertex are a loop that waits for something (as argus_vertex_type()). */
#define MANY_YIELDS 20

typedef VEC(struct argus_hang) hang_list;

/* [start_ns, end_ns): the machine ran nothing, because it was going to sleep, or waking up. */
struct frozen {
    uint64_t start_ns, end_ns;
    struct argus_suspension suspension;
};

/* A search at work. */
struct finder {
    const struct view *view;
    const struct argus_hang_options *options;
    VEC(struct frozen) frozen;
    hang_list found;
    bool sees_pending; /* the trace tells what came for threads */
};

/* How long a stretch must be to be a hang: the threshold, and what it was frozen. Sets `hang->suspended_ns`. */
uint64_t finder_threshold(const struct finder *finder, struct argus_hang *hang);
/* Takes a measured hang, unless the options leave it out. False without memory. */
bool finder_add(struct finder *finder, struct argus_hang *hang);

/* A moment at which a program was found not to answer. */
struct sign {
    uint64_t time_ns;
    uint32_t process; /* ARGUS_NONE: it is not said which one */
    uint8_t indicator;
};
/* Marks the hangs that a sign confirms; without one, adds the stretch around it. False without memory. */
bool finder_sign(struct finder *finder, const struct sign *sign);

/* --- hang_measure.c --- */

/* Whether the own time of `vertex` is a loop that looks for something. A loop that makes others run in each turn is none: it
 * works, however much it sleeps. */
bool is_yielding(const struct view *view, uint32_t vertex);

/* Fills the figures, the type, the nature and the spinning vertex of a hang whose thread and times are set.
 * Keeps `hang->vertex` if it is set already. */
void hang_measure(const struct view *view, struct argus_hang *hang);

/* --- indicators: false without memory --- */

/* The stretches of at least the threshold in which `thread` did not come back to its event loop. */
bool indicator_loop(struct finder *finder, uint32_t thread);
/* The one stretch that looks most like a hang in the wanted threads. */
bool indicator_longest(struct finder *finder);
/* Whether there are any but what set the hang off, and those of a kind whose bit is in `besides`. */
bool pendings_any(const struct argus_pendings *pendings, unsigned besides);
/* Of the wanted threads: the longest time for which something sent to one of them was not taken. False if there is none to speak
 * of. Sets times and thread. */
bool pending_longest(const struct finder *finder, struct argus_hang *ret);
/* What requests for the spinning cursor the call stacks tell. */
bool indicator_stack(struct finder *finder);
/* Those that look at the whole trace. */
#define HANG_INDICATOR(symbol, find, name) bool find(struct finder *finder);
#include "argus/hang_indicators.def"
#undef HANG_INDICATOR

/* busy.c: whether the thread hands UI events to the program. */
bool thread_has_windows(const struct view *view, uint32_t thread);
/* The stretches in which a thread of windows computed before it first came to its loop, until `until_ns`. */
bool busy_before_loop(struct finder *finder, const struct habits *habits, uint32_t thread,
                      uint64_t until_ns);

/* The stretches in which a loop inside a handler waited for an answer. */
bool nested_answers(struct finder *finder, const struct habits *habits, uint32_t thread);

/* --- late_answer.c --- */

/* When the thread of `vertex` asked for what ended the wait of `vertex`, at `from_ns` or later; UINT64_MAX: it did not. */
uint64_t answer_asked_ns(const struct view *view, uint32_t vertex, uint64_t from_ns);
/* Who had the question or the answer for longest, on the way to the end of that wait, and when. */
struct answer_hold {
    uint64_t start_ns, end_ns;
    uint32_t thread;
    uint32_t vertex; /* that passed it on */
};
/* False if the wait of `vertex` was not ended by the answer to a question that its thread asked at `from_ns` or later. */
bool answer_holder(const struct view *view, uint32_t vertex, uint64_t from_ns,
                   struct answer_hold *ret);
/* The vertex in the hang whose wait was ended by the answer to a question of the thread's that took most of the hang; ARGUS_NONE. */
uint32_t late_answer(const struct view *view, const struct argus_hang *hang);

/* --- start_up.c --- */

/* When the thread first polled, or took a message of another process; 0: it never did, as far as the trace tells. */
uint64_t start_up_end(const struct view *view, uint32_t thread);

/* --- unnoticed.c --- */

bool finder_sees_pending(const struct view *view);
/* Whether a measured stretch away from the loop, which is `sure` to be the thread's, bothered nobody, so that it is no hang. */
bool hang_is_unnoticed(const struct finder *finder, const struct habits *habits,
                       const struct argus_hang *hang, bool sure);

/* Whether a message or a callback was pending for the thread and was not taken. */
bool hang_leaves_message(const struct view *view, const struct argus_hang *hang);

/* --- the rest --- */

/* Whether the thread's own timer, and nobody else, set off the hang. */
bool hang_is_set_off_by_itself(const struct view *view, const struct argus_hang *hang);

/* Whether the options name the thread. */
bool hang_is_wanted(const struct view *view, const struct argus_hang_options *options,
                    uint32_t thread);
/* Whether they name something. */
bool hang_is_named(const struct argus_hang_options *options);

/* Whether [start_ns, end_ns] has a part in the time that they name; true if they name none. */
bool hang_is_at_time(const struct argus_hang_options *options, uint64_t start_ns, uint64_t end_ns);

/* frozen.c: fills `finder->frozen` from the records of suspends. */
bool frozen_find(struct finder *finder);

#endif
