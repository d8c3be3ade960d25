/* Stacks, samples and objects: records just before or after the wait or wake-up that they
 * describe. */
#include "graph/build/on_stack.h"

#include <stdlib.h>

#include "event/syscalls.h"
#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/wait_details.h"

struct sightings *sightings_create(void)
{
    return calloc(1, sizeof(struct sightings));
}

void sightings_destroy(struct sightings *sightings)
{
    if (!sightings)
        return;
    idmap_deinit(&sightings->use_by_key);
    vec_deinit(&sightings->use_next);
    vec_deinit(&sightings->sample_slots);
    free(sightings);
}

static void note_waker(struct builder *builder, struct cpu_state *cpu, uint32_t stack)
{
    if (cpu->wakee == ARGUS_NONE) {
        cpu->wake_stack = stack;
        return;
    }
    struct thread_state *wakee = thread_at(builder, cpu->wakee);
    struct cause *cause = wakee->activity == THREAD_RUNNING ? &wakee->early : &wakee->cause;
    if (cause->known && cause->edge.stack == ARGUS_NONE)
        cause->edge.stack = stack;
    cpu->wakee = ARGUS_NONE;
}

void graph_on_stack(struct builder *builder, struct cpu_state *cpu,
                    const struct argus_record *record)
{
    bool ours = record->arg[2] == ARGUS_STACK_WAKE || record->arg[2] == ARGUS_STACK_BLOCK;
    if (!ours) /* the many samples of --call-stacks are for libargus/context */
        return;
    uint32_t user = stacks_use(&builder->graph->stacks, record->arg[0]);
    if (record->arg[2] == ARGUS_STACK_WAKE) {
        note_waker(builder, cpu, user);
        return;
    }
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->tid);
    if (thread == ARGUS_NONE || thread >= builder->threads.length)
        return;
    if (record->arg[2] == ARGUS_STACK_BLOCK)
        wait_note_stack(builder, thread, user, stacks_use(&builder->graph->stacks, record->arg[1]));
    else if (record->arg[2] == ARGUS_STACK_WAITED && builder->os == ARGUS_OS_DARWIN)
        wait_note_stack_of_last(builder, thread, user,
                                stacks_use(&builder->graph->stacks, record->arg[1]));
}

void graph_on_sample(struct builder *builder, struct cpu_state *cpu,
                     const struct argus_record *record)
{
    if (cpu->thread == ARGUS_NONE || thread_at(builder, cpu->thread)->slot == ARGUS_NONE)
        return;
    struct argus_graph *graph = builder->graph;
    struct argus_sample sample = {
        .time_ns = builder->now_ns,
        .pc = record->arg[2],
        .user_stack = stacks_use(&graph->stacks, record->arg[0]),
        .kernel_stack = stacks_use(&graph->stacks, record->arg[1]),
    };
    if (graph->samples.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_reserve(&graph->samples, 1) ||
             !vec_push(&builder->sightings->sample_slots, thread_at(builder, cpu->thread)->slot))
        builder->no_memory = true;
    else
        graph->samples.data[graph->samples.length++] = sample;
}

/* --- objects ---
 * Uses are found by a hash of inode and thread; uses with the same hash are chained in use_next. */

static uint32_t find_use(struct builder *builder, uint64_t inode, uint32_t thread)
{
    uint64_t key = (inode ^ (uint64_t)thread << 40) * 0x9e3779b97f4a7c15u + thread;
    uint32_t head = idmap_get(&builder->sightings->use_by_key, key);
    for (uint32_t i = head; i != ARGUS_NONE; i = builder->sightings->use_next.data[i])
        if (builder->graph->uses.data[i].inode == inode &&
            builder->graph->uses.data[i].thread == thread)
            return i;
    uint32_t made = (uint32_t)builder->graph->uses.length;
    struct argus_object_use use = {.inode = inode, .thread = thread};
    if (!vec_push(&builder->sightings->use_next, head) || !vec_push(&builder->graph->uses, use) ||
        !idmap_put(&builder->sightings->use_by_key, key, made)) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    return made;
}

/* A program that waits in fsync() mostly has written to the file, by calls that did not wait, of
 * which the trace has no objects. But it may wait for what another program wrote. */
static void note_call(struct argus_object_use *use, const struct syscall_row *row, uint64_t now_ns)
{
    bool writes = row->wait == ARGUS_WAIT_WRITE || (row->flags & SYSCALL_SEND);
    if (writes || !use->wrote)
        use->last_ns = now_ns;
    use->wrote |= writes;
    use->changed |= (row->flags & SYSCALL_CHANGE) != 0;
}

void graph_on_object(struct builder *builder, struct cpu_state *cpu,
                     const struct argus_record *record)
{
    (void)cpu;
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->tid);
    uint64_t inode = record->arg[1];
    if (thread == ARGUS_NONE || thread >= builder->threads.length || !inode)
        return;
    wait_note_object(builder, thread, record);
    uint32_t index = find_use(builder, inode, thread);
    if (index == ARGUS_NONE)
        return;
    struct argus_object_use *use = &builder->graph->uses.data[index];
    use->peer_inode = record->arg[2];
    uint16_t call = thread_at(builder, thread)->syscall;
    note_call(use, syscall_row(builder->os, builder->arch, call), builder->now_ns);
}
