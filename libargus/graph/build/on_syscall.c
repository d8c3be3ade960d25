#include <string.h>

#include "event/pairing/pairing.h"
#include "event/syscalls.h"
#include "graph/build/absence.h"
#include "graph/build/activity.h"
#include "graph/build/cut_points.h"
#include "graph/build/handlers.h"
#include "graph/build/on_file_lock.h"
#include "graph/build/on_ipc.h"
#include "graph/build/path_lookup.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait.h"

/* include/linux/errno.h: restart_syscall() continues the call if no signal handler runs. */
#define ERESTART_RESTARTBLOCK 516

/* Whether restart_syscall() continues another call. `*ret` is then that call's record, to be
 * counted instead. */
static bool is_restart(const struct builder *builder, const struct thread_state *state,
                       const struct argus_record *record, struct argus_record *ret)
{
    bool begins = ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START;
    bool continues = begins ? state->restart.syscall != ARGUS_NO_SYSCALL : state->restart.continues;
    const struct syscall_row *row =
        syscall_row(builder->os, builder->arch, ARGUS_DEBUGID_CODE(record->debugid));
    if (!continues || !(row->flags & SYSCALL_RESTART))
        return false;
    uint32_t number = begins ? state->restart.syscall : state->syscall;
    *ret = *record;
    ret->debugid = ARGUS_ID_SYSCALL(number) | ARGUS_DEBUGID_FUNC(record->debugid);
    if (begins)
        memcpy(ret->arg, state->restart.arg, sizeof(state->restart.arg));
    return true;
}

static void note_restart(struct thread_state *state, const struct argus_record *record)
{
    bool interrupted = (record->arg[0] & 0xffff) == ERESTART_RESTARTBLOCK &&
                       state->syscall == ARGUS_DEBUGID_CODE(record->debugid);
    state->restart.continues = false;
    state->restart.syscall = interrupted ? state->syscall : ARGUS_NO_SYSCALL;
    memcpy(state->restart.arg, state->arg, sizeof(state->arg));
}

static void enter(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    struct thread_state *state = thread_at(builder, thread);
    const struct syscall_row *row =
        syscall_row(builder->os, builder->arch, ARGUS_DEBUGID_CODE(record->debugid));
    state->may_message = row->flags & (SYSCALL_FD | SYSCALL_MESSAGES);
    if (state->may_message)
        pairing_thread_works(&builder->cut_points->pairing, thread, builder->now_ns);
    for (int i = 0; i < 4; i++)
        state->arg[i] = record->arg[i];
    state->syscall = (uint16_t)ARGUS_DEBUGID_CODE(record->debugid);
    state->restart.syscall = ARGUS_NO_SYSCALL;
    state->call = (struct pairing_call){.enter_ns = record->timestamp};
    if (state->may_message)
        cut_points_call_begins(builder, thread);
    state->op_open = true;
    state->has_word = false;
    state->trapped = false;
    state->wait_open = false;
    path_lookup_call_begins(builder, thread);
}

/* The result as it is shown: an error is negative. Linux's errors have 16 bits, Mach's
 * kern_return_t 32. */
static int64_t result_of(const struct builder *builder, const struct argus_record *record)
{
    uint64_t mask = builder->os == ARGUS_OS_LINUX ? 0xffff : 0xffffffff;
    return record->arg[0] ? -(int64_t)(record->arg[0] & mask) : (int64_t)record->arg[1];
}

/* How many calls of sched_yield() the recorder left out before this one. */
static uint32_t yields_left_out(const struct builder *builder, const struct argus_record *record)
{
    return builder->os == ARGUS_OS_LINUX ? (uint32_t)record->arg[2] : 0;
}

static void leave(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    struct thread_state *state = thread_at(builder, thread);
    uint32_t number = ARGUS_DEBUGID_CODE(record->debugid);
    bool failed = record->arg[0] != 0;
    const struct syscall_row *row = syscall_row(builder->os, builder->arch, number);
    if (row->wait == ARGUS_WAIT_POLL && state->syscall == number)
        absence_polled(builder, thread, state->wait_open);
    if (state->wait_open)
        wait_result(builder, thread, number, result_of(builder, record));
    if (state->op_open && state->syscall == number)
        vertex_op(builder, thread, ARGUS_OP_SYSCALL << 24 | (failed ? 1u << 16 : 0) | number);
    if (row->flags & SYSCALL_CLOSE && state->syscall == number)
        file_lock_closed(builder, thread, state->arg[0]);
    if (row->flags & SYSCALL_IPC && state->syscall == number && !failed)
        ipc_note_call(builder, thread, row, state->arg[0], record->arg[1]);
    if (row->flags & SYSCALL_YIELD)
        slot_at(builder, state->slot)->yield_calls += 1 + yields_left_out(builder, record);
    note_restart(state, record);
    state->op_open = false;
    cut_points_call_ends(builder, thread);
    state->syscall = ARGUS_NO_SYSCALL;
    state->call = (struct pairing_call){0};
    thread_rests(builder, thread);
    machine_belongs(&builder->graph->machine, thread, record->arg[3]);
}

void graph_on_syscall(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    uint32_t thread = cpu->thread;
    builder->has_calls = true;
    if (thread == ARGUS_NONE)
        return;
    struct thread_state *state = thread_at(builder, thread);
    if (state->slot == ARGUS_NONE)
        return;
    struct argus_record other;
    bool restart = is_restart(builder, state, record, &other);
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START) {
        enter(builder, thread, restart ? &other : record);
        state->restart.continues = restart;
    } else if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_END) {
        leave(builder, thread, restart ? &other : record);
    }
    state->syscall_known = true;
    state->own_timer = ARGUS_NONE;
    state->early_ns = 0;
    wait_forget_notes(state);
}

/* The fifth and sixth arguments: nothing in the graph needs them yet. */
void graph_on_syscall_more(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}
