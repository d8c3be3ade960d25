/* Block I/O: the issuer of a request causes the wake-ups by its completion (rules/block.c).
 *
 * A request may wait in a queue until a kernel worker gives it to the driver, and the driver may
 * refuse it (if its own queue is full), so that it is issued again. The thread that queued it, or
 * issued it first, is the issuer. The sector tells that it is still the same request: one that was
 * merged with another is never issued, and its memory is used again.
 *
 * A request can be completed in parts. A request that was never issued can be completed too: to
 * flush a disk's cache, the kernel issues a request of its own, and after that completes the
 * requests that needed the flush (block/blk-flush.c). So a wake-up by an unknown request in the
 * same interrupt is attributed to the request completed before it. A stacked device (loop, device
 * mapper) completes its request just after the lower device's request, which says who issued it.
 * That happens in the same softirq, in the next one, or, if the kernel defers softirqs, in one that
 * ksoftirqd runs (kernel/softirq.c, wakeup_softirqd()).
 */
#include "graph/build/on_block.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build/actor.h"
#include "graph/build/handlers.h"

/* A request to a block device. */
struct request_state {
    struct actor issuer;
    uint64_t target; /* arg4 of block_issued */
    uint64_t inode;  /* inode of the file; 0: not known */
    uint64_t bytes, done_bytes;
    bool issued;     /* but not yet completed */
    bool queued;     /* but not yet issued */
    uint64_t sector; /* the first one */
};

struct requests {
    VEC(struct request_state) all;
    struct idmap by_key;
};

struct requests *requests_create(void)
{
    return calloc(1, sizeof(struct requests));
}

void requests_destroy(struct requests *requests)
{
    if (!requests)
        return;
    vec_deinit(&requests->all);
    idmap_deinit(&requests->by_key);
    free(requests);
}

static struct request_state *request_of(struct builder *builder, uint64_t key)
{
    uint32_t index =
        builder_place(builder, &builder->requests->all, &builder->requests->by_key, key);
    return index == ARGUS_NONE ? NULL : &builder->requests->all.data[index];
}

void graph_on_block_queued(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    struct request_state *request = request_of(builder, record->arg[0]);
    if (request && !request->issued)
        *request = (struct request_state){
            .issuer = actor_now(builder, cpu, ARGUS_CONTEXT_UNKNOWN),
            .queued = true,
            .sector = record->arg[1],
        };
}

void graph_on_block_issued(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    struct request_state *request = request_of(builder, record->arg[0]);
    if (!request)
        return;
    bool is_same = (request->queued || request->issued) && request->sector == record->arg[1];
    *request = (struct request_state){
        .issuer = is_same ? request->issuer : actor_now(builder, cpu, ARGUS_CONTEXT_UNKNOWN),
        .target = record->arg[3],
        .bytes = record->arg[2],
        .issued = true,
        .sector = record->arg[1],
    };
}

void graph_on_block_file(struct builder *builder, struct cpu_state *cpu,
                         const struct argus_record *record)
{
    (void)cpu;
    uint32_t index = idmap_get(&builder->requests->by_key, record->arg[0]);
    if (index != IDMAP_NONE)
        builder->requests->all.data[index].inode = record->arg[1];
}

/* Whether a request was completed and, since then, only records that graph_block_allow_record()
 * allows were written on the cpu. */
static bool is_just_behind(const struct cpu_state *cpu)
{
    return cpu->completion.position && cpu->completion.position + 1 == cpu->position;
}

void graph_block_allow_record(struct cpu_state *cpu)
{
    if (is_just_behind(cpu))
        cpu->completion.position = cpu->position;
}

void graph_block_defer(const struct builder *builder, struct cpu_state *cpu, uint32_t thread)
{
    if (!is_just_behind(cpu))
        return;
    if (machine_is_kernel_thread(&builder->graph->machine, thread, "ksoftirqd/"))
        cpu->completion.position = cpu->position;
}

static bool is_stacked(const struct cpu_state *cpu, const struct request_state *request)
{
    return is_just_behind(cpu) && cpu_interrupted(cpu) &&
           (uint32_t)cpu->completion.target != (uint32_t)request->target;
}

void graph_on_block_completed(struct builder *builder, struct cpu_state *cpu,
                              const struct argus_record *record)
{
    uint32_t index = idmap_get(&builder->requests->by_key, record->arg[0]);
    struct request_state *request =
        index == IDMAP_NONE ? NULL : &builder->requests->all.data[index];
    if (!request || !request->issued) {
        if (!cpu_interrupted(cpu))
            cpu->completing = false;
        return;
    }
    request->issued = record->arg[2] < request->bytes - request->done_bytes;
    request->done_bytes += record->arg[2];
    cpu->completion = (struct completion){
        .issuer = is_stacked(cpu, request) ? cpu->completion.issuer : request->issuer,
        .target = request->target,
        .inode = request->inode,
        .bytes = request->done_bytes,
        .position = cpu->position,
    };
    cpu->completing = true;
}
