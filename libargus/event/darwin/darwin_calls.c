/* System calls. Those of BSD already have Argus's format; Mach traps become calls with numbers from
 * DARWIN_TRAP on. */
#include "event/darwin/darwin.h"

#include <string.h>

static const struct syscall_row *row_of(const struct darwin *darwin, uint32_t number)
{
    const struct argus_trace_header *header = argus_trace_header(darwin->trace);
    return syscall_row(header->os, header->arch, number);
}

static void begin(struct darwin *darwin, const struct darwin_cpu *cpu,
                  const struct argus_record *record, uint32_t number)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread)
        return;
    thread->call = number;
    thread->sent = false;
    memcpy(thread->arg, record->arg, sizeof(thread->arg));
}

static void end(struct darwin *darwin, const struct darwin_cpu *cpu,
                const struct argus_record *record, bool failed)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread)
        return;
    if (!failed) {
        darwin_message_sent(darwin, cpu, record);
        darwin_message_received(darwin, cpu, record);
        thread = darwin_current(darwin, cpu);
    }
    thread->call = ARGUS_NONE;
    thread->turnstile = 0;
}

/* Ends of calls that are none of an error number (bsd/sys/errno.h), and what they are to the graph.
 * The kernel sets the registers of a thread by itself where a call does not return to its caller: a
 * worker that leaves workq_kernreturn() for its next item, or sigreturn(). A call that is to start
 * again has ended without a result. docs/macos-calls.md has each way in which a call ends, with its
 * source. */
static const struct {
    int32_t says, means;
} special_ends[] = {
    {-2 /* EJUSTRETURN */, 0},
    {-1 /* ERESTART */, 4 /* EINTR */},
};

/* Bits that psynch_cvwait() adds to a time-out or an interruption, for its caller in libpthread. */
#define PSYNCH_CVWAIT 305u

static uint64_t error_of(const struct argus_record *record)
{
    if (ARGUS_DEBUGID_CODE(record->debugid) == PSYNCH_CVWAIT && (int32_t)record->arg[0] > 0)
        return record->arg[0] & ~(uint64_t)DARWIN_CVWAIT_BITS;
    for (size_t i = 0; i < sizeof(special_ends) / sizeof(*special_ends); i++)
        if ((int32_t)record->arg[0] == special_ends[i].says)
            return (uint64_t)special_ends[i].means;
    return record->arg[0];
}

/* The end record has the error, two results, and the process. */
static void end_bsd_call(struct darwin *darwin, const struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    const uint64_t arg[4] = {error_of(record), record->arg[1], record->arg[2], record->arg[3]};
    end(darwin, cpu, record, arg[0] != 0);
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (thread && record->arg[3]) {
        thread->pid = record->arg[3];
        thread->has_pid = true;
    }
    darwin_emit(darwin, cpu, record, record->debugid, arg);
}

void darwin_on_bsd_call(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    uint32_t func = ARGUS_DEBUGID_FUNC(record->debugid);
    if (func == ARGUS_FUNC_END) {
        end_bsd_call(darwin, cpu, record);
        return;
    }
    if (func == ARGUS_FUNC_START)
        begin(darwin, cpu, record, ARGUS_DEBUGID_CODE(record->debugid));
    darwin_emit(darwin, cpu, record, record->debugid, record->arg);
}

void darwin_on_trap(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    uint32_t func = ARGUS_DEBUGID_FUNC(record->debugid);
    uint32_t number = DARWIN_TRAP + ARGUS_DEBUGID_CODE(record->debugid);
    uint32_t debugid = ARGUS_ID_SYSCALL(number) | func;
    if (number >= DARWIN_TRAP + 0x400)
        return;
    if (func != ARGUS_FUNC_END) {
        begin(darwin, cpu, record, number);
        darwin_emit(darwin, cpu, record, debugid, record->arg);
        return;
    }
    bool failed = (row_of(darwin, number)->flags & SYSCALL_KERN_RETURN) && record->arg[0];
    end(darwin, cpu, record, failed);
    const struct darwin_thread *thread = darwin_current(darwin, cpu);
    const uint64_t arg[4] = {failed ? record->arg[0] : 0, record->arg[0], 0,
                             thread && thread->has_pid ? thread->pid : 0};
    darwin_emit(darwin, cpu, record, debugid, arg);
}
