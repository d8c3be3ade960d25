/* The wait that ends a vertex: what for, how long at most, and how it ended.
 *
 * Two records tell how it ended: the wake-up, at once, and the result of the system call, later.
 * The result takes precedence, because a timer and the event can come at the same time.
 */
#include "graph/build/wait.h"

#include <errno.h>
#include <string.h>

#include "event/syscalls.h"
#include "graph/build/on_interrupt.h"
#include "graph/build/on_signal.h"
#include "graph/build/path_lookup.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/rules/yield.h"
#include "graph/text/object_text.h"

/* Timeouts are shorter than this; a longer one is of another clock, or means "never". */
#define LONGEST_TIMEOUT_NS (10ull * 365 * 86400 * 1000000000)

/* The results for "interrupted by a signal" inside the Linux kernel (include/linux/errno.h). */
enum { FIRST_ERESTART = 512, LAST_ERESTART = 516 };

/* Nanoseconds until `expiry_ns` of a timer's clock: CLOCK_MONOTONIC, the trace's own, or
 * CLOCK_REALTIME. */
static uint64_t time_left(struct builder *builder, uint64_t expiry_ns)
{
    uint64_t now_ns = builder->now_ns;
    if (expiry_ns >= now_ns && expiry_ns - now_ns < LONGEST_TIMEOUT_NS)
        return expiry_ns - now_ns;
    uint64_t wall_ns = argus_trace_ns_to_wall_ns(builder->graph->trace, now_ns);
    if (expiry_ns >= wall_ns && expiry_ns - wall_ns < LONGEST_TIMEOUT_NS)
        return expiry_ns - wall_ns;
    return UINT64_MAX;
}

/* The kind of a wait outside of known system calls. A Darwin trace need not have system calls at
 * all. */
static uint8_t kind_outside_calls(const struct builder *builder, const struct thread_state *state,
                                  bool kernel)
{
    if (kernel)
        return ARGUS_WAIT_KERNEL;
    if (!builder->has_calls && builder->os == ARGUS_OS_DARWIN)
        return ARGUS_WAIT_OTHER;
    return state->syscall_known ? ARGUS_WAIT_FAULT : ARGUS_WAIT_OTHER;
}

static uint8_t kind_in_call(struct builder *builder, const struct thread_state *state,
                            uint64_t os_state)
{
    const struct syscall_row *row = syscall_row(builder->os, builder->arch, state->syscall);
    bool uninterruptible = os_state & ARGUS_LINUX_STATE_UNINTERRUPTIBLE;
    if (row->flags & SYSCALL_MESSAGES)
        return (uint8_t)syscall_message_wait(state->arg[1]);
    switch (row->wait) {
    case ARGUS_WAIT_POLL:
        return syscall_polls_nothing(row, state->arg) ? ARGUS_WAIT_SLEEP : ARGUS_WAIT_POLL;
    case ARGUS_WAIT_READ:
    /* waits for pipes and sockets are interruptible, those for disks are not */
    case ARGUS_WAIT_WRITE:
        return uninterruptible ? ARGUS_WAIT_DISK : row->wait;
    case ARGUS_WAIT_DISK: /* e.g. open() of a FIFO */
        return uninterruptible ? ARGUS_WAIT_DISK : ARGUS_WAIT_OTHER;
    default:
        return row->wait;
    }
}

/* The first argument of waitid() says what the second one is (waitid(2)): P_ALL is 0. */
static uint64_t awaited_object(struct builder *builder, const struct thread_state *state)
{
    const struct syscall_row *row = syscall_row(builder->os, builder->arch, state->syscall);
    if (builder->os == ARGUS_OS_DARWIN)
        return wait_darwin_object(row, state->syscall, state->arg);
    if (row->wait != ARGUS_WAIT_CHILD || strcmp(row->name, "waitid") != 0)
        return state->arg[0];
    return state->arg[0] ? state->arg[1] : 0;
}

void wait_begin(struct builder *builder, uint32_t thread, uint64_t os_state)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    const struct machine *machine = &builder->graph->machine;
    bool kernel = machine->processes.data[machine->threads.data[thread].process].kernel;
    bool in_call = state->syscall != ARGUS_NO_SYSCALL;
    bool is_frozen = os_state & ARGUS_LINUX_STATE_FROZEN && builder->os == ARGUS_OS_LINUX;

    vertex->end_ns = builder->now_ns;
    vertex->wait = (struct argus_wait){
        .end_ns = builder->now_ns,
        .object = in_call ? awaited_object(builder, state) : 0,
        .inode = state->details.inode,
        .peer_inode = state->details.peer_inode,
        .object_type = state->details.object_type,
        .holder_tid = state->details.holder_tid,
        .timeout_ns = UINT64_MAX,
        .user_stack = state->details.user_stack,
        .kernel_stack = state->details.kernel_stack,
        .first_detail = ARGUS_NONE,
        .syscall = state->syscall,
        .kind = in_call ? kind_in_call(builder, state, os_state)
                        : kind_outside_calls(builder, state, kernel),
        .outcome = ARGUS_OUTCOME_NEVER,
    };
    if (is_frozen || os_state & (ARGUS_LINUX_STATE_STOPPED | ARGUS_LINUX_STATE_TRACED))
        vertex->wait.kind = ARGUS_WAIT_STOPPED;
    if (os_state & ARGUS_LINUX_STATE_STOPPED)
        signal_note_stop(builder, thread);
    if (is_frozen)
        wait_add_detail_to(builder, state->slot, ARGUS_DETAIL_FROZEN, (const uint64_t[4]){0});
    if (state->details.mapping[3])
        wait_add_detail_to(builder, state->slot, ARGUS_DETAIL_FUTEX, state->details.mapping);
    if (state->own_timer != ARGUS_NONE)
        vertex->wait.timeout_ns =
            time_left(builder, builder->timers->all.data[state->own_timer].expiry_ns);
    path_lookup_wait_begins(builder, thread);
    wait_forget_notes(state);
    vertex_flush_ops(builder, state);
}

static struct argus_vertex *waiting_vertex(struct builder *builder, struct thread_state *state)
{
    uint32_t slot = waiting_slot(state);
    return slot == ARGUS_NONE ? NULL : slot_at(builder, slot);
}

static uint8_t outcome_of(const struct builder *builder, const struct argus_vertex *vertex,
                          const struct cause *cause)
{
    if (!cause)
        return builder->last_lost_ns >= vertex->end_ns && builder->last_lost_ns
                   ? ARGUS_OUTCOME_UNKNOWN
                   : ARGUS_OUTCOME_SATISFIED;
    if (cause->wake_flags & ARGUS_WAKE_INTERRUPTED)
        return ARGUS_OUTCOME_INTERRUPTED;
    bool timed = (cause->self_timed || (cause->wake_flags & ARGUS_WAKE_TIMED_OUT)) &&
                 vertex->wait.kind != ARGUS_WAIT_SLEEP;
    return timed ? ARGUS_OUTCOME_TIMED_OUT : ARGUS_OUTCOME_SATISFIED;
}

/* On Darwin, an interrupt wakes a kernel thread, and that one the thread that waits for the device:
 * input of the network goes through the threads of osfmk's work loops (IOWorkLoop.cpp) and of
 * bsd/net/dlil.c. Linux does that in the interrupt; its kernel threads work for a requester, whom
 * other records tell. A wait that its own time-out ended ends in an interrupt as well. */
static bool is_by_device(struct builder *builder, const struct cause *cause)
{
    const struct argus_thread *threads = builder->graph->machine.threads.data;
    if (!cause || (cause->wake_flags & ARGUS_WAKE_TIMED_OUT))
        return false;
    if (cause->by_device)
        return true;
    if (builder->os != ARGUS_OS_DARWIN || !cause->known || !cause->by_waker)
        return false;
    uint32_t waker = slot_at(builder, cause->edge.from)->thread;
    return builder->graph->machine.processes.data[threads[waker].process].kernel &&
           thread_at(builder, waker)->by_device;
}

/* The read of a timer's file, which the timer ended: a pause, as a sleep is. */
static bool is_for_timer(const struct argus_wait *wait)
{
    return wait->by_timer && object_is_timer(wait->object_type);
}

void wait_end(struct builder *builder, uint32_t thread, uint64_t now_ns, const struct cause *cause)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = waiting_vertex(builder, state);
    if (!vertex)
        return;
    vertex->wait.end_ns = now_ns;
    vertex->wait.by_timer = cause && cause->by_timer;
    vertex->wait.by_device = is_by_device(builder, cause);
    state->by_device = vertex->wait.by_device && !cause->by_clock;
    vertex->wait.no_wakeup = !cause;
    vertex->wait.outcome = outcome_of(builder, vertex, cause);
    vertex->flags &= ~VERTEX_SELF_TIMED;
    if (cause && (cause->self_timed || is_for_timer(&vertex->wait)))
        vertex->flags |= VERTEX_SELF_TIMED;
    if (vertex->wait.outcome == ARGUS_OUTCOME_UNKNOWN)
        vertex->flags |= ARGUS_VERTEX_GAP;
    state->wait_open = state->syscall != ARGUS_NO_SYSCALL || !state->syscall_known;
}

static uint8_t outcome_by_result(const struct argus_wait *wait, int64_t result)
{
    if (result == -EINTR || (-result >= FIRST_ERESTART && -result <= LAST_ERESTART))
        return ARGUS_OUTCOME_INTERRUPTED;
    if (wait->kind == ARGUS_WAIT_SLEEP)
        return ARGUS_OUTCOME_SATISFIED;
    if (result == -ETIMEDOUT || (result == -EAGAIN && wait->by_timer))
        return ARGUS_OUTCOME_TIMED_OUT;
    if (wait->kind == ARGUS_WAIT_POLL && result == 0)
        return ARGUS_OUTCOME_TIMED_OUT;
    return ARGUS_OUTCOME_SATISFIED;
}

void wait_result(struct builder *builder, uint32_t thread, uint32_t number, int64_t result)
{
    struct thread_state *state = thread_at(builder, thread);
    state->wait_open = false;
    if (state->previous == ARGUS_NONE)
        return;
    struct argus_vertex *vertex = slot_at(builder, state->previous);
    struct argus_wait *wait = &vertex->wait;
    if (wait->syscall == ARGUS_NO_SYSCALL) { /* the system call began before the trace */
        if (wait->kind != ARGUS_WAIT_OTHER)
            return;
        wait->syscall = (uint16_t)number;
        wait->kind = syscall_row(builder->os, builder->arch, number)->wait;
    }
    if (wait->syscall != number)
        return;
    wait->has_result = true;
    wait->result = result;
    if (wait->outcome == ARGUS_OUTCOME_UNKNOWN)
        return;
    wait->outcome = builder->os == ARGUS_OS_LINUX ? outcome_by_result(wait, result)
                                                  : wait_darwin_outcome(wait, result);
    bool timed = wait->outcome == ARGUS_OUTCOME_TIMED_OUT ||
                 (wait->kind == ARGUS_WAIT_SLEEP && wait->outcome == ARGUS_OUTCOME_SATISFIED) ||
                 is_for_timer(wait);
    if (!timed) {
        vertex->flags &= ~VERTEX_SELF_TIMED;
        /* the wake-up is missing, but the result tells how the wait ended */
    } else if (!state->cause.known) {
        vertex->flags |= VERTEX_SELF_TIMED;
        rule_yield_told(builder, thread);
    }
}

void wait_note_stack(struct builder *builder, uint32_t thread, uint32_t user, uint32_t kernel)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity == THREAD_RUNNING) {
        state->details.user_stack = user;
        state->details.kernel_stack = kernel;
        return;
    }
    struct argus_vertex *vertex = waiting_vertex(builder, state);
    if (!vertex || vertex->wait.user_stack != ARGUS_NONE || vertex->wait.kernel_stack != ARGUS_NONE)
        return;
    vertex->wait.user_stack = user;
    vertex->wait.kernel_stack = kernel;
}

void wait_note_stack_of_last(struct builder *builder, uint32_t thread, uint32_t user,
                             uint32_t kernel)
{
    const struct thread_state *state = thread_at(builder, thread);
    if (state->activity != THREAD_RUNNING || state->previous == ARGUS_NONE)
        return;
    struct argus_wait *wait = &slot_at(builder, state->previous)->wait;
    if (wait->kind == ARGUS_WAIT_NONE || wait->user_stack != ARGUS_NONE)
        return;
    wait->user_stack = user;
    wait->kernel_stack = kernel;
}

void wait_note_object(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity == THREAD_RUNNING) {
        state->details.inode = record->arg[1];
        state->details.peer_inode = record->arg[2];
        state->details.object_type = record->arg[3];
        return;
    }
    struct argus_vertex *vertex = waiting_vertex(builder, state);
    if (!vertex || vertex->wait.inode)
        return;
    vertex->wait.inode = record->arg[1];
    vertex->wait.peer_inode = record->arg[2];
    vertex->wait.object_type = record->arg[3];
}

void wait_note_holder(struct builder *builder, uint32_t thread, uint32_t holder_tid)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = waiting_vertex(builder, state);
    if (state->activity == THREAD_RUNNING)
        state->details.holder_tid = holder_tid;
    else if (vertex && !vertex->wait.holder_tid)
        vertex->wait.holder_tid = holder_tid;
}

/* A futex record describes the next wait. A page-fault record describes the wait that has just
 * ended, if the thread has done nothing since. */
void wait_note_mapping(struct builder *builder, uint32_t thread, const uint64_t arg[4])
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity != THREAD_RUNNING)
        return;
    if ((arg[3] & 0xff) == ARGUS_MAPPING_FUTEX) {
        memcpy(state->details.mapping, arg, sizeof(state->details.mapping));
        return;
    }
    if (state->previous == ARGUS_NONE || state->ops.length || state->op_open)
        return;
    if (slot_at(builder, state->previous)->wait.kind == ARGUS_WAIT_FAULT)
        wait_add_detail_to(builder, state->previous, ARGUS_DETAIL_FAULT, arg);
}

void wait_forget_notes(struct thread_state *state)
{
    state->details = (struct wait_details){.user_stack = ARGUS_NONE, .kernel_stack = ARGUS_NONE};
}
