/* Which threads wait by poll, select or epoll, and since when they are outside that wait: for a
 * recorder that watches for hangs. Without --on-hang the verifier removes all of this code.
 *
 * A poll inside a handler is no return to the loop. It is recognized by its stack pointer: the loop
 * has called the handler, so the stack is deeper than at the loop's own poll, which has the highest
 * stack pointer of all polls of the thread. A nested loop that polls the same array or the same
 * epoll set counts as the loop, because it takes the loop's input. The sets of both polls are kept,
 * so that the recorder can check whether a nested loop with its own array also takes the loop's
 * input, and whether such input is pending (hang_watch.c).
 *
 * A signal without a handler (from a debugger, or after suspend) interrupts a poll, which then
 * continues by restart_syscall().
 *
 * A handler that waits for a command may do so in a loop: it checks whether the child has ended
 * (wait4() with WNOHANG returns 0), and runs the program's own event loop for a moment, so that the
 * window is drawn. Such polls do not count as the loop's, whatever their set and depth. No event
 * loop makes that check in each turn: the end of a child wakes it.
 *
 * A program may poll at its start, and have its loop in a deeper function. So an inner poll that
 * was ended by input often enough, without a return to the outer one, becomes the loop's. Inner
 * polls for replies are at several places, most of them deeper.
 *
 * A nested loop may wait for an answer (GTK runs GLib's loop until the owner of a clipboard has
 * answered), and a handler may wait in a loop for one event of the display server. By these rules
 * both are loops. So the place (the stack pointer) where the loop has waited most often is kept,
 * and when the thread last came back from there. The other place may be nearer to main(): the usual
 * one may be in a deep function, too.
 *
 * Some programs also look for input without waiting (a time-out of zero), often nearer to main()
 * than where they wait: emacs, vim and mc do, and would seem to be in a handler whenever they wait.
 * A program is responsive while it looks, so a look is a return, but it is not the loop's own poll
 * unless the thread does nothing else.
 *
 * A library waits until it can send a request, often nearer to main() than where the loop waits:
 * XCB does, in each flush, and programs of Motif and FLTK would seem to be in a handler whenever
 * they wait. A poll of one descriptor that asks for writing is no poll of a loop and no nested
 * loop's.
 *
 * The loop of a game or an emulator only looks. Once a thread has looked often without a wait of
 * its loop in between, a wait that shares no descriptor with those looks is in a handler, however
 * deep it is: it cannot take the loop's input. Replies to such waits count only until the next
 * look.
 */
#ifndef ARGUS_BPF_POLLER_H
#define ARGUS_BPF_POLLER_H

#include "ready.h"
#include "ring.h"

#define POLLER_ADOPTS 16        /* inner polls that found something; looks that are the loop */
#define POLLER_OTHERS 64        /* deeper inner polls that found something: no more adopts */
#define POLLER_MOVES  64        /* waits at another place: it may become the usual one … */
#define POLLER_LEADS  8         /* … or so many times those at the usual place */
#define POLLER_WAITS  2048      /* waits that are counted at a place: then all counts are halved */
#define POLLER_STACK  0x800000u /* farther apart: another stack */

#define POLLER_ASKS_NS 250000000u /* the longest time between two checks */

#define POLLER_POLLOUT 4 /* uapi/asm-generic/poll.h */

#define ERESTART_RESTARTBLOCK 516 /* include/linux/errno.h */

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, BPF_POLLERS);
    __type(key, uint32_t);
    __type(value, struct bpf_poller);
} pollers SEC(".maps");

/* All zero, and too large for the stack. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct bpf_poller);
} new_pollers SEC(".maps");

static __always_inline struct bpf_poller *add_poller(uint32_t tid)
{
    uint32_t zero = 0;
    const struct bpf_poller *made = bpf_map_lookup_elem(&new_pollers, &zero);
    if (!made)
        return NULL;
    bpf_map_update_elem(&pollers, &tid, made, BPF_ANY);
    return bpf_map_lookup_elem(&pollers, &tid);
}

/* What a poll, select or epoll_wait() was called with. */
struct poll_call {
    uint64_t number, first, second; /* arguments */
    uint64_t sp;                    /* stack pointer */
    uint64_t timeout;               /* argument, as poll_timeout(); POLL_WAITS: unknown */
};

#define POLL_WAITS ((uint64_t)-1)

/* The argument that has the time-out. */
#define poll_timeout(number, regs)                                                                 \
    (is_poll(number)     ? arch_argument2(regs)                                                    \
     : is_select(number) ? arch_argument4(regs)                                                    \
                         : arch_argument3(regs))

/* Whether the time-out is in the caller's memory. */
static __always_inline bool has_timespec(uint64_t number)
{
    return is_select(number) || number == ARCH_PPOLL || number == ARCH_EPOLL_PWAIT2;
}

/* Whether the call only looks for input, and does not wait. */
static __always_inline bool is_look(const struct poll_call *call)
{
    uint64_t number = call->number, time[2];
    if (call->timeout == POLL_WAITS)
        return false;
    if (!has_timespec(number))
        return (uint32_t)call->timeout == 0;
    return call->timeout && bpf_probe_read_user(time, sizeof(time), (void *)call->timeout) == 0 &&
           time[0] == 0 && time[1] == 0;
}

/* Whether the call waits until one descriptor can be written: such a poll rests only if what it is
 * connected to does not read. A loop that waits for its only connection, and has something to send,
 * does so at its own place or with its own array. */
static __always_inline bool is_for_writing(const struct bpf_poller *poller,
                                           const struct poll_call *call)
{
    uint64_t word;
    return is_poll(call->number) && call->second == 1 && call->sp != poller->usual_sp &&
           call->first != poller->loop_set.object &&
           bpf_probe_read_user(&word, sizeof(word), (void *)call->first) == 0 &&
           word >> 32 & POLLER_POLLOUT;
}

/* The first descriptors of an array, or the lowest of a set. */
static __always_inline void copy_poll_set(struct bpf_poll_set *set, const struct poll_call *call)
{
    uint64_t count = call->second, number = call->number;
    set->number = number;
    set->object = call->first;
    set->count = 0;
    if (is_poll(number)) {
        if (count > BPF_POLL_WORDS - 1)
            count = BPF_POLL_WORDS - 1;
        if (bpf_probe_read_user(set->words, bounded(count * 8, BPF_POLL_WORDS * 8),
                                (void *)set->object) == 0)
            set->count = count;
    } else if (is_select(number) && call->second) {
        if (bpf_probe_read_user(set->words, 16, (void *)call->second) == 0)
            set->count = 2;
    }
}

/* The descriptors of a set, each modulo 64, so that two sets without a common bit share none. All
 * bits: unknown. Without branches, whose paths the verifier would have to follow. */
static __always_inline uint64_t poll_set_fds(const struct bpf_poll_set *set,
                                             const struct poll_call *call)
{
    uint64_t fds = 0, count = set->count;
    if (is_select(call->number) && !call->second)
        return 0;
    if (is_select(call->number) && count && call->first <= 128)
        return call->first <= 64 ? set->words[0] : set->words[0] | set->words[1];
    if (!is_poll(call->number) || count != call->second)
        return ~0ull;
#pragma unroll
    for (uint64_t i = 0; i < BPF_POLL_WORDS - 1; i++) {
        uint64_t is_beyond = (count - 1 - i) >> 63, is_ignored = set->words[i] >> 31 & 1;
        fds |= (1 ^ (is_beyond | is_ignored)) << (set->words[i] & 63);
    }
    return fds;
}

/* Whether a wait takes nothing for which a loop that only looks has looked. */
static __always_inline bool is_foreign(const struct bpf_poller *poller, uint64_t fds)
{
    return poller->looks >= POLLER_ADOPTS && !(fds & poller->look_fds) &&
           poller->adopted < POLLER_ADOPTS;
}

/* Whether so many inner polls found something that the one at `sp` is the loop's. */
static __always_inline bool is_adopted(const struct bpf_poller *poller, uint64_t sp, bool looks)
{
    return poller->adopted >= POLLER_ADOPTS && sp >= poller->adopted_sp &&
           !(looks && poller->foreign);
}

/* An inner poll at `sp` has found something. */
static __always_inline void note_find(struct bpf_poller *poller, uint64_t sp)
{
    poller->served++;
    if (!poller->adopted || sp > poller->adopted_sp || poller->others >= POLLER_OTHERS) {
        poller->adopted_sp = sp;
        poller->adopted = 0;
    } else if (sp < poller->adopted_sp) {
        poller->others++;
        return;
    }
    poller->adopted++;
    poller->others = 0;
}

static __always_inline bool is_in_handler(const struct bpf_poller *poller, uint64_t sp, bool same,
                                          bool looks)
{
    return sp < poller->sp && poller->sp - sp < POLLER_STACK && !same &&
           !is_adopted(poller, sp, looks);
}

/* Notes a look of the loop, not of a handler. True: the loop's poll is another one, which may
 * wait. */
static __always_inline bool looks_beside_loop(struct bpf_poller *poller, uint64_t fds)
{
    poller->looks++;
    poller->look_fds |= fds;
    if (poller->foreign)
        poller->adopted = 0;
    bool beside = poller->may_wait && poller->adopted < POLLER_ADOPTS;
    if (beside && poller->looks >= POLLER_ADOPTS)
        poller->loop_set = poller->handler_set;
    return beside;
}

static __always_inline void poller_goes_on(uint32_t tid)
{
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (poller && poller->interrupted) {
        poller->place = poller->interrupted;
        poller->interrupted = BPF_POLLER_AWAY;
    }
}

/* restart_syscall() continues another call. */
static __always_inline void poller_interrupted_elsewhere(uint32_t tid)
{
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (poller)
        poller->interrupted = BPF_POLLER_AWAY;
}

/* The thread has called wait4(). */
static __always_inline void poller_asked_for_child(const struct moment *now, int64_t result)
{
    uint32_t tid = (uint32_t)now->tid;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (!poller)
        return;
    if (result || now->time_ns - poller->asked_ns > POLLER_ASKS_NS)
        poller->asks = 0;
    poller->asks += result == 0;
    poller->asked_ns = now->time_ns;
}

static __always_inline bool is_asking(const struct bpf_poller *poller, uint64_t now_ns)
{
    return poller->asks >= BPF_POLLER_ASKS && now_ns - poller->asked_ns <= POLLER_ASKS_NS;
}

/* Counts a wait of the loop at the usual place, at the other one, or against both: the algorithm of
 * Misra and Gries (Finding repeated elements, 1982) for two places. */
static __always_inline void count_place(struct bpf_poller *poller, uint64_t sp)
{
    bool is_usual = sp == poller->usual_sp, is_other = sp == poller->other_sp;
    if (!is_usual && !poller->usual) {
        poller->usual_sp = sp;
        poller->usual = 1;
    } else if (is_usual) {
        poller->usual++;
    } else if (is_other) {
        poller->other++;
    } else if (!poller->other) {
        poller->other_sp = sp;
        poller->other = 1;
    } else {
        poller->usual--;
        poller->other--;
    }
}

/* A wait of the loop, at any array, set or bitmap: a program may move these. */
static __always_inline void note_place(struct bpf_poller *poller, uint64_t sp)
{
    count_place(poller, sp);
    uint64_t usual_sp = poller->usual_sp, other_sp = poller->other_sp;
    uint32_t usual = poller->usual, other = poller->other;
    if (other > usual && (other >= POLLER_MOVES || other >= POLLER_LEADS * usual)) {
        poller->usual_sp = other_sp;
        poller->other_sp = usual_sp;
        poller->usual = other;
        poller->other = usual;
    }
    if (poller->usual >= POLLER_WAITS) {
        poller->usual /= 2;
        poller->other /= 2;
    }
    poller->elsewhere = poller->usual_sp - sp;
}

/* A function with a stack of its own: the caller reads the frames of interpreters, too, and the
 * kernel allows 512 bytes for a chain of calls. */
static __noinline void poller_polls(const struct moment *now, const struct poll_call *call)
{
    uint32_t tid = (uint32_t)now->tid;
    uint64_t number = call->number, sp = call->sp;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (!poller)
        return;
    poller->interrupted = BPF_POLLER_AWAY;
    if (is_for_writing(poller, call)) {
        poller->place = BPF_POLLER_WRITING;
        return;
    }
    poller->seen_ns = now->time_ns;
    bool same = poller->loop_set.number == number && poller->loop_set.object == call->first &&
                !is_select(number);
    bool looks = is_look(call), waits_first = !looks && !poller->may_wait;
    copy_poll_set(&poller->handler_set, call);
    uint64_t fds = poll_set_fds(&poller->handler_set, call);
    bool foreign = !looks && is_foreign(poller, fds);
    poller->elsewhere = 0;
    if (foreign || (!waits_first && is_in_handler(poller, sp, same, looks)) ||
        is_asking(poller, now->time_ns)) {
        poller->place = BPF_POLLER_IN_HANDLER;
        poller->inner++;
        poller->foreign = foreign;
        return;
    }
    poller->place = BPF_POLLER_IN_LOOP;
    if (looks && looks_beside_loop(poller, fds))
        return;
    if (!looks) {
        poller->looks = poller->look_fds = 0;
        note_place(poller, sp);
    }
    poller->may_wait = !looks;
    poller->adopted = poller->foreign = 0;
    if (!same || waits_first || sp > poller->sp)
        poller->sp = sp;
    poller->loop_set = poller->handler_set;
}

static __always_inline void poller_enters(const struct moment *now, struct poll_call call)
{
    if (!settings.watch_polls)
        return;
    if (call.number == ARCH_RESTART)
        poller_goes_on((uint32_t)now->tid);
    if (bit_is_set(settings.poll_syscalls, call.number))
        poller_polls(now, &call);
}

/* The facts about a call for poller_returns(). */
struct poll_result {
    uint64_t number, sp;
    int64_t result;
    uint32_t pid;
};

static __always_inline void poller_returns(const struct moment *now, struct poll_result call)
{
    uint32_t tid = (uint32_t)now->tid;
    bool restarts = call.result == -ERESTART_RESTARTBLOCK, goes_on = call.number == ARCH_RESTART;
    if (!settings.watch_polls)
        return;
    if (call.number == ARCH_WAIT4)
        poller_asked_for_child(now, call.result);
    if (!goes_on && !bit_is_set(settings.poll_syscalls, call.number)) {
        if (restarts)
            poller_interrupted_elsewhere(tid);
        return;
    }
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (goes_on && (!poller || poller->place == BPF_POLLER_AWAY))
        return;
    if (!poller) {
        poller = add_poller(tid);
        if (!poller)
            return;
        poller->pid = call.pid;
        poller->first_ns = now->time_ns;
        poller->sp = call.sp;
    }
    bool in_handler = poller->place == BPF_POLLER_IN_HANDLER;
    bool is_writing = poller->place == BPF_POLLER_WRITING;
    poller->interrupted = restarts ? poller->place : BPF_POLLER_AWAY;
    poller->place = BPF_POLLER_AWAY;
    if (is_writing)
        return;
    if (in_handler) {
        if (call.result > 0)
            note_find(poller, call.sp);
        poller->seen_ns = now->time_ns;
        return;
    }
    if (poller->seen_ns && now->time_ns - poller->seen_ns > poller->rested_ns)
        poller->rested_ns = now->time_ns - poller->seen_ns;
    if (call.sp == poller->usual_sp)
        poller->usual_ns = now->time_ns;
    poller->returned_ns = now->time_ns;
    poller->returns++;
    poller->inner = 0;
    poller->served = 0;
}

/* Something makes the thread runnable. A runnable thread is not woken again before it has run. */
static __always_inline void poller_woken(uint32_t tid, uint64_t now_ns)
{
    if (!settings.watch_polls)
        return;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (poller)
        poller->woken_ns = now_ns;
}

/* The thread ends, or executes another program. */
static __always_inline void poller_forget(uint32_t tid)
{
    if (settings.watch_polls)
        bpf_map_delete_elem(&pollers, &tid);
}

#endif
