/* Call stacks of kperf: osfmk/kperf/kperf.c, callstack.c.
 *
 * A sample is everything between the start and the end of a PERF_Event: up to two stacks and facts
 * about the thread. kperf takes samples by a timer, as the action of a tracepoint, or lazily for
 * threads that waited long. The record before a sample tells which of these it is. The frames are
 * in the file's stack table (trace/kdebug_tables.c), under an ID derived from them.
 */
#include "event/darwin/darwin.h"

static void emit_sample(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    static const uint64_t why[] = {
        [DARWIN_MOMENT_WAKE] = ARGUS_STACK_WAKE,
        [DARWIN_MOMENT_BLOCK] = ARGUS_STACK_BLOCK,
        [DARWIN_MOMENT_WAITED] = ARGUS_STACK_WAITED,
    };
    uint64_t tid = cpu->stack_tid ? cpu->stack_tid : cpu->tid;
    if ((!cpu->user_stack && !cpu->kernel_stack) || !tid)
        return;
    uint64_t arg[4] = {cpu->user_stack, cpu->kernel_stack, cpu->pc};
    bool own = tid == cpu->tid;
    if (own && cpu->moment != DARWIN_MOMENT_ANY) {
        arg[2] = why[cpu->moment];
        darwin_emit_of(darwin, record, tid, ARGUS_ID_STACK, arg);
    } else if (own) {
        darwin_emit(darwin, cpu, record, ARGUS_ID_SAMPLE, arg);
    } else { /* kperf samples all threads periodically, including waiting ones */
        arg[2] = ARGUS_STACK_BLOCK;
        darwin_emit_of(darwin, record, tid, ARGUS_ID_STACK, arg);
    }
}

static void forget(struct darwin_cpu *cpu)
{
    cpu->user_stack = cpu->kernel_stack = cpu->pc = cpu->stack_tid = 0;
}

void darwin_on_perf_event(struct darwin *darwin, struct darwin_cpu *cpu,
                          const struct argus_record *record)
{
    bool begins = ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START;
    if (!begins && cpu->in_sample)
        emit_sample(darwin, cpu, record);
    forget(cpu);
    cpu->in_sample = begins;
    if (!begins)
        cpu->moment = DARWIN_MOMENT_ANY;
}

void darwin_on_sampled_thread(struct darwin *darwin, struct darwin_cpu *cpu,
                              const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[1]);
    cpu->stack_tid = record->arg[1];
    if (thread && !thread->has_pid && record->arg[0] < INT32_MAX) {
        thread->pid = record->arg[0];
        thread->has_pid = true;
    }
}

void darwin_on_frames(struct darwin *darwin, struct darwin_cpu *cpu,
                      const struct argus_record *record)
{
    const struct kdebug_stack *stack = kdebug_stacks_feed(&darwin->stacks, record);
    if (!stack)
        return;
    if (stack->kernel)
        cpu->kernel_stack = stack->id;
    else
        cpu->user_stack = stack->id;
    if (!cpu->pc || !stack->kernel)
        cpu->pc = stack->frames[0];
    if (cpu->in_sample)
        return;
    emit_sample(darwin, cpu, record);
    forget(cpu);
}

/* The following stacks show where the thread waited that has just come on the CPU. */
void darwin_on_lazy_wait(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    (void)darwin, (void)record;
    cpu->moment = DARWIN_MOMENT_WAITED;
}
