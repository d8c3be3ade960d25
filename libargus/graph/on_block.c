/* Block I/O: who issued a request makes run whom its completion wakes (rules/block.c).
 *
 * A request can be completed in parts. One that was never issued is completed as well: to flush a disk's cache, the kernel
 * issues a request of its own, and completes behind it those for which it did that (block/blk-flush.c). So what an
 * unknown request wakes in the same interrupt is still the doing of the one before it. And a device on top of another one
 * (loop, device mapper) completes its request just behind that of the lower one, which says who had to do with it.
 */
#include "graph/builder.h"

void graph_on_block_issued(struct builder *builder, struct cpu_state *cpu,
                           const struct argus_record *record)
{
    uint32_t index =
        builder_place(builder, &builder->requests, &builder->request_by_key, record->arg[0]);
    if (index == ARGUS_NONE)
        return;
    builder->requests.data[index] = (struct request_state){
        .issuer = actor_now(builder, cpu, ARGUS_CONTEXT_UNKNOWN),
        .target = record->arg[3],
        .bytes = record->arg[2],
        .issued = true,
    };
}

void graph_on_block_file(struct builder *builder, struct cpu_state *cpu,
                         const struct argus_record *record)
{
    (void)cpu;
    uint32_t index = idmap_get(&builder->request_by_key, record->arg[0]);
    if (index != IDMAP_NONE)
        builder->requests.data[index].inode = record->arg[1];
}

/* The end of an interrupt and the begin of its softirq may stand between both completions. */
enum { BETWEEN_STACKED = 2 };

static bool is_stacked(const struct cpu_state *cpu, const struct request_state *request)
{
    const struct completion *lower = &cpu->completion;
    return lower->position && cpu_interrupted(cpu) &&
           lower->position + 1 + BETWEEN_STACKED >= cpu->position &&
           (uint32_t)lower->target != (uint32_t)request->target;
}

void graph_on_block_completed(struct builder *builder, struct cpu_state *cpu,
                              const struct argus_record *record)
{
    uint32_t index = idmap_get(&builder->request_by_key, record->arg[0]);
    struct request_state *request = index == IDMAP_NONE ? NULL : &builder->requests.data[index];
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
