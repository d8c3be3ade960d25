/* Timers (osfmk/kern/timer_call.c) and thread calls (osfmk/kern/thread_call.c). Deadlines are in
 * ticks in the file, and in ns after this stage. */
#include "event/darwin/darwin.h"

void darwin_on_timer_enter(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    uint64_t deadline_ns = argus_trace_ticks_to_ns(darwin->trace, record->arg[2]);
    const uint64_t arg[4] = {record->arg[0], record->arg[1], deadline_ns, record->arg[3]};
    if (ARGUS_DEBUGID_FUNC(record->debugid) != ARGUS_FUNC_END)
        darwin_emit(darwin, cpu, record, ARGUS_ID_TIMER_ARMED, arg);
}

void darwin_on_timer_cancel(struct darwin *darwin, struct darwin_cpu *cpu,
                            const struct argus_record *record)
{
    const uint64_t arg[4] = {record->arg[0]};
    if (ARGUS_DEBUGID_FUNC(record->debugid) != ARGUS_FUNC_END)
        darwin_emit(darwin, cpu, record, ARGUS_ID_TIMER_CANCEL, arg);
}

void darwin_on_timer_fired(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    const uint64_t arg[4] = {record->arg[0], record->arg[1], record->timestamp};
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START)
        cpu->interrupts++;
    else if (cpu->interrupts)
        cpu->interrupts--;
    darwin_emit(darwin, cpu, record, record->debugid, arg);
}

/* A kernel worker calls a function that another thread queued; the key is function and parameters
 * together. */
void darwin_on_callout(struct darwin *darwin, struct darwin_cpu *cpu,
                       const struct argus_record *record)
{
    const uint64_t arg[4] = {record->arg[0] ^ record->arg[1] << 1 ^ record->arg[2] << 2,
                             record->arg[0]};
    darwin_emit(darwin, cpu, record, ARGUS_ID_WORK | ARGUS_DEBUGID_FUNC(record->debugid), arg);
}
