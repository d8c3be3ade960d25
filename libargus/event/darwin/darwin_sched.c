/* Switches, wake-ups, interrupts and idling: osfmk/kern/sched_prim.c. */
#include "event/darwin/darwin.h"
#include "event/merge.h"

/* Bits of a thread's state: osfmk/kern/thread.h. */
enum { TH_SUSPENDED = 0x02, TH_RUN = 0x04, TH_UNINT = 0x08, TH_TERMINATE = 0x10, TH_IDLE = 0x80 };

/* The MACH_DISPATCH of the thread that leaves with this switch; NULL: not within the look-ahead. */
static const struct argus_record *find_dispatch(const struct darwin *darwin,
                                                const struct argus_record *record)
{
    for (size_t i = 0; i < darwin->ahead_count; i++) {
        const struct argus_record *next = &darwin->ahead[i];
        bool same_cpu = next->cpu == record->cpu;
        if (same_cpu && ARGUS_DEBUGID_EVENT(next->debugid) == DARWIN_ID_DISPATCH)
            return next->arg[0] == record->tid ? next : NULL;
    }
    return NULL;
}

static uint64_t state_of_bits(uint64_t bits)
{
    if (bits & TH_TERMINATE)
        return ARGUS_LINUX_STATE_DEAD;
    if (bits & TH_RUN)
        return ARGUS_LINUX_STATE_RUNNING;
    if (bits & TH_SUSPENDED)
        return ARGUS_LINUX_STATE_STOPPED;
    return bits & TH_UNINT ? ARGUS_LINUX_STATE_UNINTERRUPTIBLE : ARGUS_LINUX_STATE_INTERRUPTIBLE;
}

/* The state of the leaving thread from now on. */
static uint64_t state_after(const struct darwin *darwin, const struct darwin_cpu *cpu,
                            const struct argus_record *record)
{
    const struct argus_record *dispatch = find_dispatch(darwin, record);
    if (dispatch)
        return state_of_bits(dispatch->arg[2]);
    bool blocks = darwin->has_blocks ? cpu->blocking == record->tid : record->arg[0] == 0;
    return blocks ? ARGUS_LINUX_STATE_INTERRUPTIBLE : ARGUS_LINUX_STATE_RUNNING;
}

static uint64_t without_idle(struct darwin *darwin, uint64_t tid)
{
    const struct darwin_thread *thread = tid ? darwin_thread(darwin, tid) : NULL;
    return thread && thread->idle ? 0 : tid;
}

static void change_thread(struct darwin *darwin, struct darwin_cpu *cpu,
                          const struct argus_record *record, uint64_t next, uint64_t state)
{
    const uint64_t arg[4] = {state, next, record->arg[2], record->arg[3]};
    darwin_message_sent(darwin, cpu, record);
    darwin_emit(darwin, cpu, record, ARGUS_ID_SWITCH, arg);
    cpu->tid = next;
    cpu->known = true;
    cpu->idles = false;
    cpu->blocking = 0;
    cpu->interrupts = 0; /* no switch happens inside an interrupt */
    cpu->moment = DARWIN_MOMENT_ANY;
}

void darwin_on_switch(struct darwin *darwin, struct darwin_cpu *cpu,
                      const struct argus_record *record)
{
    uint64_t next = without_idle(darwin, record->arg[1]);
    darwin->has_switches = true;
    if (cpu->idles || !cpu->tid)
        change_thread(darwin, cpu, record, next, 0);
    else
        change_thread(darwin, cpu, record, next, state_after(darwin, cpu, record));
}

/* kperf reports the thread that comes; why the previous thread left is unknown. */
void darwin_on_perf_switch(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[0]);
    if (!thread)
        return;
    if (!thread->has_pid && record->arg[1]) {
        thread->pid = record->arg[1];
        thread->has_pid = true;
    }
    uint64_t next = without_idle(darwin, record->arg[0]);
    if (darwin->has_switches || (cpu->known && cpu->tid == next))
        return;
    const struct darwin_thread *leaves = darwin_current(darwin, cpu);
    uint64_t state = leaves && leaves->exited ? ARGUS_LINUX_STATE_DEAD
                     : leaves                 ? ARGUS_LINUX_STATE_INTERRUPTIBLE
                                              : ARGUS_LINUX_STATE_RUNNING;
    change_thread(darwin, cpu, record, next, state);
}

void darwin_on_block(struct darwin *darwin, struct darwin_cpu *cpu,
                     const struct argus_record *record)
{
    darwin->has_blocks = true;
    cpu->blocking = record->tid;
    cpu->moment = DARWIN_MOMENT_BLOCK;
}

/* Its state was used at the switch before it; here it tells which threads are idle threads. */
void darwin_on_dispatch(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[0]);
    (void)cpu;
    if (thread && (record->arg[2] & TH_IDLE))
        thread->idle = true;
}

/* A CPU without work idles in the thread that has just begun to wait, or in its own idle thread. */
void darwin_on_idle(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    uint32_t func = ARGUS_DEBUGID_FUNC(record->debugid);
    if (func == ARGUS_FUNC_START && !cpu->idles) {
        if (cpu->tid)
            change_thread(darwin, cpu, record, 0, ARGUS_LINUX_STATE_INTERRUPTIBLE);
        cpu->idles = true;
    } else if (func == ARGUS_FUNC_END && cpu->idles && record->arg[2] == record->arg[0]) {
        change_thread(darwin, cpu, record, without_idle(darwin, record->arg[2]), 0);
    }
}

/* How the wait ended: osfmk/kern/kern_types.h. */
enum { THREAD_AWAKENED, THREAD_TIMED_OUT, THREAD_INTERRUPTED };

/* What the records tell about a wake-up, as arg3 of the emitted record. A thread whose wait is
 * interrupted is woken whatever it waits for: clear_wait(). */
static uint64_t wake_bits(struct darwin_thread *thread, uint64_t result)
{
    uint64_t bits = result == THREAD_TIMED_OUT     ? ARGUS_WAKE_TIMED_OUT
                    : result == THREAD_INTERRUPTED ? ARGUS_WAKE_INTERRUPTED
                                                   : 0;
    uint8_t wake = thread ? thread->wake : DARWIN_WAKE_UNKNOWN;
    bool cleared = wake == DARWIN_WAKE_CLEARED ||
                   (wake == DARWIN_WAKE_UNKNOWN && result == THREAD_INTERRUPTED);
    if (thread)
        thread->wake = DARWIN_WAKE_UNKNOWN;
    return bits | (cleared ? ARGUS_WAKE_CLEARED : 0) |
           (wake == DARWIN_WAKE_MAINTENANCE ? ARGUS_WAKE_MAINTENANCE : 0);
}

void darwin_on_wake(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    bool lazy = ARGUS_DEBUGID_EVENT(record->debugid) == DARWIN_ID_LAZY_WAKE;
    bool interrupted = cpu->interrupts || (lazy && record->arg[2]);
    uint64_t context = interrupted ? ARGUS_CONTEXT_HARDIRQ : ARGUS_CONTEXT_TASK;
    uint64_t woken = without_idle(darwin, record->arg[0]);
    struct darwin_thread *thread = woken ? darwin_thread(darwin, woken) : NULL;
    const uint64_t arg[4] = {woken, record->arg[1], wake_bits(thread, lazy ? 0 : record->arg[2]),
                             context};
    if (!arg[0])
        return;
    if (!interrupted)
        darwin_message_wakes(darwin, cpu, record);
    darwin_emit(darwin, cpu, record, ARGUS_ID_MAKE_RUNNABLE, arg);
    cpu->moment = DARWIN_MOMENT_WAKE;
}

void darwin_on_interrupt(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START)
        cpu->interrupts++;
    else if (cpu->interrupts)
        cpu->interrupts--;
    darwin_emit(darwin, cpu, record, record->debugid, record->arg);
}

/* The record does not give the number of lost records; at least one. */
void darwin_on_lost(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    const uint64_t arg[4] = {1, 0, 0, 0};
    darwin_emit_of(darwin, record, 0, MERGE_ID_LOST, arg);
    *cpu = (struct darwin_cpu){.cpu = cpu->cpu};
}
