/* The parts of the search for hangs: one file per indicator. */
#ifndef ARGUS_DIAGNOSE_FINDER_H
#define ARGUS_DIAGNOSE_FINDER_H

#include "argus/hangs.h"
#include "diagnose/hangs/habits.h"

/* A vertex with more calls to sched_yield() than this is a loop that waits for something (as in
 * argus_vertex_type()). */
#define MANY_YIELDS 20

typedef VEC(struct argus_hang) hang_list;

/* [start_ns, end_ns): the machine ran nothing, because it was going to sleep or waking up. */
struct frozen {
    uint64_t start_ns, end_ns;
    struct argus_suspension suspension;
};

/* By thread: whether it has windows, once that has been asked. */
enum window_answer { WINDOWS_NOT_ASKED, WINDOWS_NONE, WINDOWS_SOME };
/* By process: whether its threads take keys of a terminal, once that has been asked. */
enum key_answer { KEYS_NOT_ASKED, KEYS_NONE, KEYS_SOME };

/* The state of a search. */
struct finder {
    const struct view *view;
    uint8_t *windows; /* enum window_answer by thread; owned */
    uint8_t *keys;    /* enum key_answer by process; owned */
    const struct argus_hang_options *options;
    VEC(struct frozen) frozen;
    hang_list found;
    bool sees_pending; /* the trace shows what was pending for threads */
};

/* How long a stretch must be to be a hang: the threshold plus the time for which the machine was
 * frozen in it. Sets `hang->suspended_ns`. */
uint64_t finder_threshold(const struct finder *finder, struct argus_hang *hang);
/* Adds a measured hang, unless the options exclude it. False without memory. */
bool finder_add(struct finder *finder, struct argus_hang *hang);

/* A moment at which a program was noticed not to answer. */
struct sign {
    uint64_t time_ns;
    uint32_t process; /* ARGUS_NONE: the sign does not say which */
    uint8_t indicator;
};
/* Marks the hangs that a sign confirms; if there are none, adds the stretch around the sign. False
 * without memory. */
bool finder_add_sign(struct finder *finder, const struct sign *sign);

/* --- hang_measure.c --- */

/* Whether `vertex`, in its own time, is a loop that polls for something. A loop that makes other
 * threads run in each turn is not: it works, however much it sleeps. */
bool is_yielding(const struct view *view, uint32_t vertex);

/* Fills the figures, the type, the nature and the spinning vertex of a hang whose thread and times
 * are set. Keeps `hang->vertex` if it is set already. */
void hang_measure(const struct view *view, struct argus_hang *hang);

/* --- stepped.c --- */

/* Whether the thread was stopped after `vertex` because Argus stepped it. `*steps`: whether that
 * was so at the last stop before, false at first; is updated. */
bool stepping_holds(const struct view *view, uint32_t vertex, bool *steps);

/* --- indicators: false without memory --- */

/* Adds the stretches of at least the threshold in which `thread` did not come back to its event
 * loop. */
bool indicator_loop(struct finder *finder, uint32_t thread);
/* Adds the one stretch of the wanted threads that looks most like a hang. */
bool indicator_longest(struct finder *finder);
/* Whether anything is pending besides what set the hang off and the kinds whose bit is in
 * `besides`. */
bool pendings_any(const struct argus_pendings *pendings, unsigned besides);
/* Finds, in the wanted threads, the longest time for which something that was sent to one of them
 * was not taken. Sets times and thread. False if no such time is long enough. */
bool pending_longest(const struct finder *finder, struct argus_hang *ret);
/* Finds requests for the spinning cursor in call stacks. */
bool indicator_stack(struct finder *finder);
/* The indicators that look at the whole trace. */
#define HANG_INDICATOR(symbol, find, name) bool find(struct finder *finder);
#include "argus/hang_indicators.def"
#undef HANG_INDICATOR

/* window_threads.c: whether the thread serves a window. Looks at its vertices the first time that
 * it is asked about a thread. */
bool finder_has_windows(const struct finder *finder, uint32_t thread);
/* Whether probes saw it hand UI events to the program: then its callbacks are known, too. */
bool thread_hands_events(const struct view *view, uint32_t thread);
/* Whether it takes events or answers from a display server, or sends it requests. */
bool thread_uses_display(const struct view *view, uint32_t thread);
/* Whether the thread is of a display server. */
bool thread_serves_display(const struct view *view, uint32_t thread);
/* Whether a display server sent the thread something in [first_ns, last_ns) that it never took. */
bool thread_leaves_display_unread(const struct view *view, uint32_t thread, uint64_t first_ns,
                                  uint64_t last_ns);
/* Whether `vertex` sends something to a display server, or wakes one. */
bool vertex_sends_to_display(const struct view *view, uint32_t vertex);
/* Adds the stretches until `until_ns` in which a thread with windows computed before it first
 * reached its event loop. */
bool busy_before_loop(struct finder *finder, const struct habits *habits, uint32_t thread,
                      uint64_t until_ns);
/* Adds the wait in which a thread that hands on UI events is when the trace ends, and has left
 * unread what the display server sent. False without memory. */
bool waits_at_end(struct finder *finder, uint32_t thread);

/* indicator_never_ran.c: whether the thread, which has a vertex, waited from before the first
 * record to the end. */
bool thread_never_ran(const struct view *view, uint32_t thread);

/* Adds the stretches in which a loop inside a handler waited for an answer. */
bool nested_answers(struct finder *finder, const struct habits *habits, uint32_t thread);

/* --- late_answer.c --- */

/* When, at `from_ns` or later, the thread of `vertex` sent the request whose answer ended the wait
 * of `vertex`; UINT64_MAX: it did not. */
uint64_t answer_asked_ns(const struct view *view, uint32_t vertex, uint64_t from_ns);
/* The thread that had the request or the answer for longest, on the way to the end of that wait,
 * and when. */
struct answer_hold {
    uint64_t start_ns, end_ns;
    uint32_t thread;
    uint32_t vertex; /* the vertex that passed it on */
};
/* False if the wait of `vertex` was not ended by the answer to a request that its thread had sent
 * at `from_ns` or later. */
bool answer_holder(const struct view *view, uint32_t vertex, uint64_t from_ns,
                   struct answer_hold *ret);
/* The same for a hang whose thread was busy until soon after the answer to its request had come,
 * and if that took most of the hang: it polled for the answer without waiting. */
bool busy_answer_holder(const struct view *view, const struct argus_hang *hang,
                        struct answer_hold *ret);
/* The vertex in the hang whose wait was ended by the answer to a request of the thread, if waiting
 * for that answer took most of the hang; ARGUS_NONE. */
uint32_t late_answer(const struct view *view, const struct argus_hang *hang);

/* --- start_up.c --- */

/* When the thread first polled, or took a message of another process; 0: never, as far as the trace
 * tells. */
uint64_t start_up_end(const struct view *view, uint32_t thread);

/* Whether the process has mapped the library of a toolkit, which has a probe for UI events. */
bool process_has_toolkit(const struct view *view, uint32_t process);
/* Whether the process of `thread` sent something to a display server, or got something from one, or
 * has windows. */
bool process_connects_to_display(const struct finder *finder, uint32_t thread);

/* Whether a program with windows waited in a measured start for at least `threshold_ns`, half of it
 * in one wait. A program without a known toolkit gets its first events only after its start. */
bool start_up_waits(const struct finder *finder, const struct argus_hang *hang,
                    uint64_t threshold_ns);
/* Whether it wanted a cpu for that long, and for half of the start. It must have connected to a
 * display server. */
bool start_up_starves(const struct finder *finder, const struct argus_hang *hang,
                      uint64_t threshold_ns);

/* --- own_commands.c --- */

/* Whether `ancestor` started `process`, or a process that did, and so on. */
bool process_descends_from(const struct view *view, uint32_t process, uint32_t ancestor);
/* Whether the thread's process reads what is typed in its terminal, and kept the terminal while it
 * waited in the hang for processes that it had started. */
bool keeps_terminal(const struct finder *finder, const struct habits *habits,
                    const struct argus_hang *hang);

/* --- unnoticed.c --- */

bool finder_sees_pending(const struct view *view);
/* Whether a measured stretch away from the loop kept nobody waiting, so that it is not a hang.
 * `sure`: the loop is known to be the thread's. */
bool hang_is_unnoticed(const struct finder *finder, const struct habits *habits,
                       const struct argus_hang *hang, bool sure);

/* Whether the thread was idle in a measured stretch for which nothing was pending, at a place that
 * is not known as its loop. `expects`: something was pending for it, or it waited for children.
 * idle_stretch.c. */
bool stretch_is_idle(const struct view *view, const struct habits *habits,
                     const struct argus_hang *hang, bool expects);

/* Whether the thread drew frame after frame throughout the stretch, with short sleeps in between,
 * and took at once what the display server sent. drawn_frames.c. */
bool hang_draws_frames(const struct view *view, const struct argus_hang *hang);

/* Whether a message or a callback was pending for the thread and was not taken. */
bool hang_leaves_message(const struct view *view, const struct argus_hang *hang);

/* --- the rest --- */

/* Whether the thread's own timer, and no other thread, set off the hang. */
bool hang_is_set_off_by_itself(const struct view *view, const struct argus_hang *hang);

/* Whether the options name the thread. */
bool hang_is_wanted(const struct view *view, const struct argus_hang_options *options,
                    uint32_t thread);
/* Whether the options name a thread or process. */
bool hang_is_named(const struct argus_hang_options *options);

/* Whether [start_ns, end_ns] overlaps the time that the options name; true if they name none. */
bool hang_is_at_time(const struct argus_hang_options *options, uint64_t start_ns, uint64_t end_ns);

/* hang_order.c: puts the most urgent of `finder->found` first, then the longest, and leaves out
 * what is the same freeze as another one. */
void hangs_order(struct finder *finder);

/* frozen.c: fills `finder->frozen` from the records of suspends. */
bool frozen_find(struct finder *finder);

#endif
