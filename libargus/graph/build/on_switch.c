/* Switches, wake-ups and lost records: the transitions between running, runnable and waiting. */
#include "event/pairing/pairing.h"
#include "graph/build/activity.h"
#include "graph/build/handlers.h"
#include "graph/build/on_block.h"
#include "graph/build/wait_details.h"
#include "graph/rules/wakeup.h"

static void leave(struct builder *builder, uint32_t thread, uint64_t os_state)
{
    thread_account(builder, thread, builder->now_ns);
    if (os_state == 0)
        thread_preempt(builder, thread);
    else if (os_state & ARGUS_LINUX_STATE_DEAD)
        thread_gone(builder, thread);
    else
        thread_block(builder, thread, os_state);
}

void graph_on_switch(struct builder *builder, struct cpu_state *cpu,
                     const struct argus_record *record)
{
    uint32_t out = cpu->thread;
    if (out != ARGUS_NONE)
        leave(builder, out, record->arg[0]);
    cpu_end_interrupts(cpu);
    cpu->tid = record->arg[1];
    cpu->thread = builder_thread(builder, record->arg[1]);
    cpu->known = true;
    if (cpu->thread == ARGUS_NONE)
        return;
    thread_run(builder, cpu->thread, cpu, true);
    graph_block_defer(builder, cpu, cpu->thread);
}

static uint32_t name_hash(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash & 0xffffff;
}

/* Adds an operation to the waker: it made a thread of another process runnable. */
static void add_wake_op(struct builder *builder, uint32_t waker, uint32_t wakee)
{
    const struct machine *machine = &builder->graph->machine;
    uint32_t process = machine->threads.data[wakee].process;
    if (process == machine->threads.data[waker].process)
        return;
    uint32_t main_thread = machine_find_thread(machine, machine->processes.data[process].pid);
    bool known = main_thread != ARGUS_NONE && machine->threads.data[main_thread].process == process;
    const char *name = machine->threads.data[known ? main_thread : wakee].name;
    vertex_op(builder, waker, ARGUS_OP_WAKE << 24 | name_hash(name));
}

/* The request that has just been completed is what the wakee waited for. */
static void note_request(struct builder *builder, const struct cpu_state *cpu, uint32_t wakee)
{
    if (!cpu->completing || thread_at(builder, wakee)->activity != THREAD_WAITING)
        return;
    const struct completion *done = &cpu->completion;
    uint64_t arg[4] = {done->target, done->bytes, 1, done->inode};
    wait_add_detail(builder, wakee, ARGUS_DETAIL_BLOCK, arg);
}

/* Notes the waker's call, because the waker may have handed over a message in it. */
static void note_waker_call(struct builder *builder, const struct cpu_state *cpu,
                            const struct argus_record *record, uint32_t wakee)
{
    const struct thread_state *waker =
        cpu->thread == ARGUS_NONE ? NULL : thread_at(builder, cpu->thread);
    bool by_call = waker && waker->may_message && record->arg[3] == ARGUS_CONTEXT_TASK;
    pairing_call_woken(&thread_at(builder, wakee)->call, by_call ? &waker->call : NULL,
                       builder->now_ns);
}

void graph_on_make_runnable(struct builder *builder, struct cpu_state *cpu,
                            const struct argus_record *record)
{
    uint32_t wakee = builder_thread(builder, record->arg[0]);
    bool is_new = record->arg[2] == 1;
    cpu->wakee = ARGUS_NONE;
    if (wakee == ARGUS_NONE || wakee == cpu->thread)
        return;
    /* The first wake-up of a new thread is part of its creation. */
    if (is_new && thread_at(builder, wakee)->activity == THREAD_RUNNABLE)
        return;

    graph_block_defer(builder, cpu, wakee);
    note_waker_call(builder, cpu, record, wakee);
    struct cause cause;
    rule_wakeup(builder, cpu, record, wakee, &cause);
    note_request(builder, cpu, wakee);
    if (cpu->woken_count < MOST_WOKEN)
        cpu->woken[cpu->woken_count++] = wakee;
    if (cause.by_waker)
        add_wake_op(builder, cpu->thread, wakee);
    thread_wake(builder, wakee, &cause);
    if (cause.by_waker && cpu->wake_stack == ARGUS_NONE)
        cpu->wakee = wakee;
    cpu->wake_stack = ARGUS_NONE;
}

/* CPU limits change no vertex. The diagnosis reads these records again when it asks what kept a
 * thread from the cpus (diagnose/suspects/cpu_records.c). */
void graph_on_cpu_limits(struct builder *builder, struct cpu_state *cpu,
                         const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}

void graph_on_cpu_group(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}

/* Nor do stalls for memory and sizes of programs (diagnose/suspects/memory_records.c). */
void graph_on_memory_stall(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}

void graph_on_memory_group(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}

void graph_on_memory_size(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    (void)builder, (void)cpu, (void)record;
}

void graph_on_lost(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    builder->last_lost_ns = builder->now_ns;
    if (cpu->known && cpu->thread != ARGUS_NONE)
        thread_lose(builder, cpu->thread, record->arg[1]);
    cpu_end_interrupts(cpu);
    cpu->known = false;
    cpu->thread = cpu->last_new = ARGUS_NONE;
}
