/* Records that only a kernel with xnu-patch/ writes, and what follows from them; messages are in
 * darwin_messages.c. Records without a function here are printed (argus dump) and have no meaning
 * for the graph: docs/macos.md lists them. */
#include "event/darwin/darwin.h"

/* `how` of wait_ended, bits 0 to 7: xnu-patch/tracepoints.md. */
enum { WOKEN_WHATEVER = 4 };

/* Comes directly before the thread's MACH_MAKE_RUNNABLE. */
void darwin_on_wait_ended(struct darwin *darwin, struct darwin_cpu *cpu,
                          const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[0]);
    (void)cpu;
    if (thread)
        thread->wake =
            (record->arg[3] & 0xff) == WOKEN_WHATEVER ? DARWIN_WAKE_CLEARED : DARWIN_WAKE_MEANT;
}

/* The kernel's maintenance work: the thread that does it is arbitrary. */
void darwin_on_maintenance_due(struct darwin *darwin, struct darwin_cpu *cpu,
                               const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[2]);
    (void)cpu;
    if (thread)
        thread->wake = DARWIN_WAKE_MAINTENANCE;
}

/* A thread call is work for a kernel thread. If it is queued inside an interrupt, a timer has
 * fired: then the thread that armed the timer is its cause. */
void darwin_on_call_queued(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    const uint64_t arg[4] = {record->arg[0], record->arg[1], 0, ARGUS_CONTEXT_TASK};
    if (!cpu->interrupts && cpu->tid)
        darwin_emit(darwin, cpu, record, ARGUS_ID_WORK_QUEUED, arg);
}

void darwin_on_call_run(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    const uint64_t arg[4] = {record->arg[0], record->arg[1]};
    darwin_emit(darwin, cpu, record, ARGUS_ID_WORK | ARGUS_DEBUGID_FUNC(record->debugid), arg);
}

/* The kernel itself sends this message. If the message has its own record, that was emitted
 * already. */
void darwin_on_mk_timer_fired(struct darwin *darwin, struct darwin_cpu *cpu,
                              const struct argus_record *record)
{
    struct darwin_message message = {.id = record->arg[2], .bytes = 1};
    bool sent = idmap_get(&darwin->size_by_message, message.id) != IDMAP_NONE;
    darwin->has_messages = darwin->is_patched = true;
    if (message.id && cpu->tid && !sent)
        darwin_emit_message(darwin, cpu, record, &message);
}

void darwin_on_kmsg_freed(struct darwin *darwin, struct darwin_cpu *cpu,
                          const struct argus_record *record)
{
    (void)cpu;
    if (record->arg[0])
        darwin_put(darwin, &darwin->size_by_message, record->arg[0], IDMAP_NONE);
}
