/* Signals: from the sender to the thread that takes the signal.
 *
 * The kernel first wakes the receiver and then writes signal_sent: the wake-ups just before that
 * record belong to the signal (kernel/signal.c, __send_signal_locked()). A receiver that runs, or
 * whose wait a signal does not end, is not woken; then the edge leads into the middle of the vertex
 * in which it takes the signal. A process is stopped by the latest stop signal that was sent to it.
 * Debuggers stop a thread without a signal.
 */
#include "graph/build/on_signal.h"

#include <signal.h>
#include <stdlib.h>

#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait_details.h"

/* The latest signal of one number that was sent to a thread or process. */
struct sent_signal {
    struct actor sender;
    uint64_t number, code;
    bool woke; /* it woke a thread */
};

struct signals {
    VEC(struct sent_signal) sent; /* includes those that stopped a process */
    struct idmap sent_by_key;
    VEC(struct actor) itimers; /* the thread that armed each */
    struct idmap itimer_by_key;
};

struct signals *signals_create(void)
{
    return calloc(1, sizeof(struct signals));
}

void signals_destroy(struct signals *signals)
{
    if (!signals)
        return;
    vec_deinit(&signals->sent);
    idmap_deinit(&signals->sent_by_key);
    vec_deinit(&signals->itimers);
    idmap_deinit(&signals->itimer_by_key);
    free(signals);
}

void signals_forget_sent(struct signals *signals)
{
    signals->sent.length = 0;
    idmap_deinit(&signals->sent_by_key);
}

void signals_forget_itimers(struct signals *signals)
{
    signals->itimers.length = 0;
    idmap_deinit(&signals->itimer_by_key);
}

#define TO_PROCESS  (1ull << 32)
#define KEY_PROCESS (1ull << 63)
#define KEY_STOP    (1ull << 62)

/* Signals are remembered by their number and by the thread or process they are sent to. */
static uint64_t signal_key(uint64_t id, uint64_t number, uint64_t flags)
{
    return flags | (id & UINT32_MAX) << 8 | (number & 0xff);
}

static void remember(struct builder *builder, uint64_t key, const struct sent_signal *signal)
{
    uint32_t index =
        builder_place(builder, &builder->signals->sent, &builder->signals->sent_by_key, key);
    if (index != ARGUS_NONE)
        builder->signals->sent.data[index] = *signal;
}

static struct sent_signal *find_signal(struct builder *builder, uint64_t key)
{
    uint32_t index = idmap_get(&builder->signals->sent_by_key, key);
    return index == IDMAP_NONE ? NULL : &builder->signals->sent.data[index];
}

static bool stops(uint64_t number)
{
    return number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* TRACE_SIGNAL_DELIVERED, TRACE_SIGNAL_LOSE_INFO (include/trace/events/signal.h) */
static bool reaches(uint64_t result)
{
    return result == 0 || result == 4;
}

/* Attributes the wake-ups just before this record to the signal, if they are of threads of
 * `process`. Returns whether there were any. */
static bool claim_wakeups(struct builder *builder, struct cpu_state *cpu, uint32_t process)
{
    bool woke = false;
    for (uint32_t i = 0; i < cpu->woken_count; i++) {
        uint32_t thread = cpu->woken[i];
        struct thread_state *state = thread_at(builder, thread);
        struct cause *cause = state->activity == THREAD_RUNNING ? &state->early : &state->cause;
        if (builder->graph->machine.threads.data[thread].process != process)
            continue;
        woke = true;
        if (!cause->known || cause->edge.kind != ARGUS_EDGE_WAKE)
            continue;
        cause->edge.kind = ARGUS_EDGE_SIGNAL;
        cause->edge.strong = true;
        cause->edge.rule = RULE_SIGNAL_SENT;
    }
    cpu->woken_count = 0;
    return woke;
}

/* An interval timer that counts cpu time has no timer of its own: the thread that set it is the
 * sender. */
static struct actor sender_of(const struct builder *builder, const struct cpu_state *cpu,
                              const struct argus_record *record)
{
    return cpu->itimer != ARGUS_NONE ? builder->signals->itimers.data[cpu->itimer]
                                     : actor_now(builder, cpu, record->arg[3]);
}

void graph_on_signal_sent(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    uint64_t tid = record->arg[1] & UINT32_MAX;
    uint32_t target = machine_find_thread(&builder->graph->machine, tid);
    if (target == ARGUS_NONE)
        return;
    uint32_t process = builder->graph->machine.threads.data[target].process;
    uint64_t pid = builder->graph->machine.processes.data[process].pid;
    if (!reaches(record->arg[2] & 0xff))
        return;
    struct sent_signal signal = {
        .woke = claim_wakeups(builder, cpu, process),
        .sender = sender_of(builder, cpu, record),
        .number = record->arg[0],
        .code = record->arg[2] >> 32,
    };
    if (signal.sender.slot == ARGUS_NONE)
        return;
    struct thread_state *sender = thread_at(builder, signal.sender.thread);
    sender->trapped |=
        signal.number == SIGTRAP && target == cpu->thread && signal.sender.thread == target;
    /* it tells a debugger that the thread has stopped */
    if (sender->trapped && signal.number == SIGCHLD)
        return;
    bool to_process = record->arg[1] & TO_PROCESS;
    remember(builder,
             signal_key(to_process ? pid : tid, signal.number, to_process ? KEY_PROCESS : 0),
             &signal);
    if (stops(signal.number))
        remember(builder, signal_key(pid, 0, KEY_STOP), &signal);
    if (signal.number == SIGCONT)
        remember(builder, signal_key(pid, 0, KEY_STOP), &(struct sent_signal){.number = 0});
}

static void detail_of(const struct builder *builder, const struct sent_signal *signal,
                      uint64_t ret[4])
{
    uint32_t thread = signal->sender.thread;
    ret[0] = signal->number;
    ret[1] = thread == ARGUS_NONE ? 0 : builder->graph->machine.threads.data[thread].tid;
    ret[2] = signal->code;
    ret[3] = 0;
}

/* Adds an edge from the sender to the vertex in which `thread` takes the signal, unless the
 * signal's wake-up began that vertex. */
static void add_edge(struct builder *builder, uint32_t thread, const struct sent_signal *signal)
{
    if (signal->woke || signal->sender.thread == thread)
        return;
    struct cause cause = actor_cause(&signal->sender, ARGUS_EDGE_SIGNAL, RULE_SIGNAL_TAKEN);
    if (cause.known)
        vertex_add_edge(builder, thread, &cause);
}

/* The first signal after an interrupted wait is the one that interrupted it. */
static void note_interruption(struct builder *builder, uint32_t thread,
                              const struct sent_signal *signal)
{
    const struct thread_state *state = thread_at(builder, thread);
    if (state->previous == ARGUS_NONE || state->ops.length > 1)
        return;
    const struct argus_wait *wait = &slot_at(builder, state->previous)->wait;
    uint64_t arg[4];
    detail_of(builder, signal, arg);
    if (wait->outcome == ARGUS_OUTCOME_INTERRUPTED && wait->first_detail == ARGUS_NONE)
        wait_add_detail_to(builder, state->previous, ARGUS_DETAIL_SIGNAL, arg);
}

void graph_on_signal_delivered(struct builder *builder, struct cpu_state *cpu,
                               const struct argus_record *record)
{
    const struct machine *machine = &builder->graph->machine;
    if (cpu->thread == ARGUS_NONE || thread_at(builder, cpu->thread)->slot == ARGUS_NONE)
        return;
    const struct argus_thread *thread = &machine->threads.data[cpu->thread];
    uint64_t pid = machine->processes.data[thread->process].pid;
    struct sent_signal *signal = find_signal(builder, signal_key(thread->tid, record->arg[0], 0));
    if (!signal || !signal->number)
        signal = find_signal(builder, signal_key(pid, record->arg[0], KEY_PROCESS));
    if (!signal || !signal->number)
        return;
    note_interruption(builder, cpu->thread, signal);
    add_edge(builder, cpu->thread, signal);
    signal->number = 0;
}

void signal_note_stop(struct builder *builder, uint32_t thread)
{
    const struct machine *machine = &builder->graph->machine;
    uint64_t pid = machine->processes.data[machine->threads.data[thread].process].pid;
    const struct sent_signal *signal = find_signal(builder, signal_key(pid, 0, KEY_STOP));
    uint64_t arg[4];
    if (!signal || !signal->number)
        return;
    detail_of(builder, signal, arg);
    wait_add_detail_to(builder, thread_at(builder, thread)->slot, ARGUS_DETAIL_SIGNAL, arg);
}

/* --- interval timers --- */

static uint64_t itimer_key(uint64_t pid, uint64_t which)
{
    return pid << 8 | (which & 0xff);
}

void graph_on_itimer_armed(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    const struct machine *machine = &builder->graph->machine;
    if (cpu->thread == ARGUS_NONE)
        return;
    uint64_t pid = machine->processes.data[machine->threads.data[cpu->thread].process].pid;
    uint32_t index =
        builder_place(builder, &builder->signals->itimers, &builder->signals->itimer_by_key,
                      itimer_key(pid, record->arg[0]));
    if (index != ARGUS_NONE)
        builder->signals->itimers.data[index] = actor_now(builder, cpu, ARGUS_CONTEXT_TASK);
}

void graph_on_itimer_fired(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    cpu->itimer =
        idmap_get(&builder->signals->itimer_by_key, itimer_key(record->arg[1], record->arg[0]));
}
