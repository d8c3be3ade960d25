/* Creation, names and end of threads and processes: osfmk/kern/thread.c, bsd/kern/kern_exec.c.
 *
 * An exec creates a new thread in the same process, into which the program is loaded
 * (is_exec_copy); the old thread then terminates. A process is new if its ID has not occurred
 * before.
 */
#include "event/darwin/darwin.h"

static void belong(struct darwin *darwin, uint64_t tid, uint64_t pid)
{
    struct darwin_thread *thread = darwin_thread(darwin, tid);
    if (!thread)
        return;
    *thread = (struct darwin_thread){
        .tid = tid, .pid = pid, .has_pid = true, .call = ARGUS_NONE, .idle = thread->idle};
    darwin_put(darwin, &darwin->known_pids, pid, 1);
}

void darwin_on_new_thread(struct darwin *darwin, struct darwin_cpu *cpu,
                          const struct argus_record *record)
{
    uint64_t pid = record->arg[1];
    bool is_copy = record->arg[2] == 1;
    const struct darwin_thread *creator = darwin_thread(darwin, record->tid);
    if (!creator)
        return;
    bool is_new = !is_copy && idmap_get(&darwin->known_pids, pid) == IDMAP_NONE;
    const uint64_t arg[4] = {record->arg[0], pid, is_new, creator->has_pid ? creator->pid : 0};
    if (!cpu->known || cpu->tid != record->tid) {
        cpu->tid = record->tid;
        cpu->known = true;
    }
    belong(darwin, record->arg[0], pid);
    darwin_emit(darwin, cpu, record, ARGUS_ID_NEW_THREAD, arg);
}

/* The record's thread is the one into which the program was loaded; it need not be on the CPU. */
void darwin_on_exec(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    (void)cpu;
    darwin_emit_of(darwin, record, record->tid, ARGUS_ID_EXEC, record->arg);
}

/* Written when the kernel reaps the thread, usually by another thread. */
void darwin_on_terminate(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[0]);
    const uint64_t arg[4] = {record->arg[0], 0};
    (void)cpu;
    if (thread)
        thread->exited = true;
    darwin_emit_of(darwin, record, record->tid, ARGUS_ID_THREAD_EXIT, arg);
}

/* The last thread calls proc_exit(); TERMINATE_PID comes when the process is reaped. */
void darwin_on_proc_exit(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    const uint64_t arg[4] = {cpu->tid, 1};
    bool is_end = record->debugid == (DARWIN_ID_PROC_EXIT | ARGUS_FUNC_END);
    darwin_put(darwin, &darwin->known_pids, record->arg[0], IDMAP_NONE);
    if (is_end && cpu->tid)
        darwin_emit(darwin, cpu, record, ARGUS_ID_THREAD_EXIT, arg);
}

/* Longer names continue in further records, but Argus uses only the first 32 bytes. */
void darwin_on_name(struct darwin *darwin, struct darwin_cpu *cpu,
                    const struct argus_record *record)
{
    uint32_t func = ARGUS_DEBUGID_FUNC(record->debugid);
    (void)cpu;
    bool begins = func == ARGUS_FUNC_NONE || (func & ARGUS_FUNC_START);
    if (begins && record->arg[0])
        darwin_emit_of(darwin, record, record->tid, ARGUS_DEBUGID_EVENT(record->debugid),
                       record->arg);
}
