/* Block I/O: a request given to a device's driver, and its completion. The address of the request links both. */
#ifndef ARGUS_BPF_BLOCK_H
#define ARGUS_BPF_BLOCK_H

#include "interrupt.h"

#define REQUEST_OPERATION 0xff /* include/linux/blk_types.h, REQ_OP_MASK */
#define DEVICE_MINOR_BITS 20   /* include/linux/kdev_t.h */

static __always_inline uint64_t device_of(struct request *request)
{
    struct gendisk *disk;
    if (bpf_core_field_exists(struct request_queue, disk))
        disk = BPF_CORE_READ(request, q, disk);
    else
        disk = BPF_CORE_READ((struct request___before_5_17 *)request, rq_disk);
    return (uint32_t)BPF_CORE_READ(disk, major) << DEVICE_MINOR_BITS |
           (uint32_t)BPF_CORE_READ(disk, first_minor);
}

SEC("raw_tp/block_rq_issue")
int on_block_issue(struct bpf_raw_tracepoint_args *ctx)
{
    struct request *request = (void *)ctx->args[0];
    uint64_t operation = BPF_CORE_READ(request, cmd_flags) & REQUEST_OPERATION;
    return emit_plain(ARGUS_ID_BLOCK_ISSUED, (uint64_t)request, BPF_CORE_READ(request, __sector),
                      BPF_CORE_READ(request, __data_len), device_of(request) | operation << 32);
}

SEC("raw_tp/block_rq_complete")
int on_block_complete(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_BLOCK_COMPLETED, ctx->args[0], (uint32_t)ctx->args[1],
                      (uint32_t)ctx->args[2], 0);
}

#endif
