/* Threads that waited from before the first record to after the last one. When the recording ends
 * the recorder says what each thread waits for (ARGUS_ID_WAITING); a thread that has no other
 * record gets its one vertex from that: it begins with the trace, has no length, and ends in a wait
 * that never ends. So an application that froze before the recording began, or before the oldest
 * record of a ring, is in the graph.
 */
#include "graph/build/activity.h"
#include "graph/build/handlers.h"
#include "graph/build/on_open_end.h"
#include "graph/build/thread_state.h"
#include "graph/build/wait.h"

/* The call's first argument is a descriptor of a pipe or socket. */
static void note_object(struct builder *builder, struct cpu_state *cpu, uint32_t thread)
{
    const struct thread_state *state = thread_at(builder, thread);
    const struct machine *machine = &builder->graph->machine;
    const struct argus_thread *waiting = &machine->threads.data[thread];
    uint32_t main_thread =
        machine_find_thread(machine, machine->processes.data[waiting->process].pid);
    const struct open_fd *fd = main_thread == ARGUS_NONE
                                   ? NULL
                                   : open_fd_find(builder->open_fds, main_thread, state->arg[0]);
    if (!fd)
        return;
    const struct argus_record object = {.tid = waiting->tid,
                                        .arg = {state->arg[0], fd->inode, 0, fd->mode}};
    graph_on_object(builder, cpu, &object);
}

static void note_call(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    struct thread_state *state = thread_at(builder, thread);
    uint32_t call = ARGUS_WAITING_CALL(record->arg[0]);
    state->syscall_known = call < ARGUS_NO_SYSCALL;
    if (!state->syscall_known)
        return;
    state->syscall = (uint16_t)call;
    state->op_open = true;
    state->arg[0] = record->arg[1];
    state->arg[1] = record->arg[2];
}

static bool uses_descriptor(const struct builder *builder, uint16_t call)
{
    return call != ARGUS_NO_SYSCALL &&
           syscall_row(builder->os, builder->arch, call)->flags & SYSCALL_FD;
}

void graph_on_waiting(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    uint32_t thread = builder_thread(builder, record->tid);
    if (thread == ARGUS_NONE || thread_at(builder, thread)->activity != THREAD_UNSEEN)
        return;
    uint64_t now_ns = builder->now_ns;
    builder->now_ns = builder->graph->start_ns;
    note_call(builder, thread, record);
    thread_begin_waiting(builder, thread, ARGUS_WAITING_STATE(record->arg[0]));
    wait_note_stack(builder, thread, stacks_use(&builder->graph->stacks, record->arg[3]),
                    ARGUS_NONE);
    if (uses_descriptor(builder, thread_at(builder, thread)->syscall))
        note_object(builder, cpu, thread);
    builder->now_ns = now_ns;
}
