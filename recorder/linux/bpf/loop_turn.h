/* Detects the turns of event loops by their polls: when a callback has ended, and whether a nested
 * loop runs inside a callback.
 *
 * A loop polls once a turn, always from the same frames and so with the same stack pointer.
 * Everything that it has called before has returned by then. A handler's own poll (for the reply of
 * a display server) is deeper in the stack. So is that of a nested loop in a handler (a dialog),
 * which mostly polls the same array or epoll set.
 *
 * The start of a callback tells which poll is the loop's: the last poll before the callback is a
 * loop's poll if the same poll also preceded the previous callback that had one. For consecutive
 * callbacks it is the loop's; for a callback inside another it is a nested loop's. A deeper poll
 * replaces the loop's poll only if that is no longer called, because consecutive handlers can poll
 * at the same depth.
 *
 * A probe in the toolkit would give the same information, but costs 1 to 10 us a turn. This costs a
 * lookup per poll.
 */
#ifndef ARGUS_BPF_LOOP_TURN_H
#define ARGUS_BPF_LOOP_TURN_H

#include "ring.h"

#define LOOP_MISSED 8 /* after this many callbacks without a poll of the loop, another loop runs */

struct poll_place {
    uint64_t sp, object; /* stack pointer; array or set. All 0: none */
};

/* What a thread has begun (callbacks and UI events). Stacks grow downward: a function whose frame
 * began at `sp` has returned when a probe is hit with a stack pointer at or above it. */
struct probe_thread {
    uint64_t outermost_sp; /* 0: nothing has begun */
    uint64_t seen;         /* key of the last UI event of this turn */
    uint64_t function;     /* the last handler */
    uint32_t open;         /* 1: something has begun since the last turn of the loop */
    uint32_t handlers;     /* since the last begin */
    /* The last poll, and the last one that was followed by a begin. */
    struct poll_place last, before;
    struct poll_place loop, inner; /* the loop's poll, and that of one inside a callback */
    uint64_t inner_sp;             /* the outermost that the inner loop has begun; 0: nothing */
    uint32_t has_inner;            /* 1: an inner loop has turned since the outermost began */
    uint32_t polled;               /* 1: since the last begin */
    uint32_t missed;               /* begins since the loop's last poll */
    uint32_t unused;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 8192);
    __type(key, uint32_t);
    __type(value, struct probe_thread);
} probe_threads SEC(".maps");

/* Classifies the last poll when a callback begins: outermost, or nested. */
static __always_inline void learn_place(struct probe_thread *thread, bool outermost)
{
    bool again = thread->polled && thread->last.sp == thread->before.sp;
    bool higher = thread->last.sp > thread->loop.sp;
    if (thread->polled)
        thread->before = thread->last;
    thread->polled = 0;
    thread->missed++;
    if (!again)
        return;
    if (!outermost && !higher)
        thread->inner = thread->last;
    else if (outermost && (higher || thread->missed > LOOP_MISSED))
        thread->loop = thread->last;
}

/* A callback or UI event begins at `sp`. */
static __always_inline void turn_begun(struct probe_thread *thread, uint64_t sp)
{
    bool outermost = sp >= thread->outermost_sp;
    learn_place(thread, outermost);
    thread->open = 1;
    if (outermost) {
        thread->outermost_sp = sp;
        thread->has_inner = 0;
        thread->inner_sp = 0;
    } else if (thread->has_inner && sp > thread->inner_sp) {
        thread->inner_sp = sp;
    }
}

/* A turn at `sp`; returns whether everything that was open has ended. */
static __always_inline bool turn_ends(struct probe_thread *thread, uint64_t sp)
{
    bool ended = thread->outermost_sp && sp >= thread->outermost_sp;
    thread->open = 0;
    thread->seen = 0;
    if (ended)
        thread->outermost_sp = 0;
    return ended;
}

static __always_inline bool is_inner_poll(const struct probe_thread *thread, uint64_t sp,
                                          uint64_t object)
{
    return sp == thread->inner.sp || (thread->loop.sp && object == thread->loop.object);
}

/* A thread polls. All callbacks at or below the record's stack pointer have ended. */
static __always_inline void turn_polls(const struct moment *now, uint64_t sp, uint64_t object)
{
    uint32_t tid = (uint32_t)now->tid;
    struct probe_thread *thread = bpf_map_lookup_elem(&probe_threads, &tid);
    if (!thread)
        return;
    bool open = thread->open, in_loop = sp == thread->loop.sp;
    thread->last.sp = sp;
    thread->last.object = object;
    thread->polled = 1;
    if (in_loop) {
        thread->missed = 0;
        thread->loop.object = object; /* an array can move */
    }
    if (!in_loop && sp < thread->outermost_sp) {
        if (!is_inner_poll(thread, sp, object))
            return;
        thread->has_inner = 1;
        sp = thread->inner_sp > sp ? thread->inner_sp : sp;
    } else if (sp < thread->outermost_sp) {
        sp = thread->outermost_sp;
    }
    if (turn_ends(thread, sp) || open)
        emit(now, ARGUS_ID_CALLBACK | ARGUS_FUNC_END, 0, 0, ARGUS_PROBE_POLL, sp);
}

#endif
