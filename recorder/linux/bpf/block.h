/* Block I/O: a request given to a device's driver, and its completion. The address of the request
 * links both.
 *
 * The first page of the request identifies the file that is read or written, if the page belongs to
 * the page cache. So a page fault also tells which file it waits for, without a lookup of the
 * process's mappings. Direct I/O uses the program's own pages; there the system call identifies the
 * file.
 */
#ifndef ARGUS_BPF_BLOCK_H
#define ARGUS_BPF_BLOCK_H

#include "interrupt.h"
#include "object.h"

#define REQUEST_OPERATION 0xff /* include/linux/blk_types.h, REQ_OP_MASK */
#define REQUEST_WRITE     1
#define DEVICE_MINOR_BITS 20 /* include/linux/kdev_t.h */

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

#define MAPPING_FLAGS 3 /* include/linux/page-flags.h: of a mapping that is no file's */

#define PAGE_IS_TAIL   1
#define PAGE_MASK_FROM (-(1ull << 30)) /* no struct page lies that high */

/* The first page of the block that `page` belongs to. A page behind the first one has the address
 * of the first; or, since Linux 7.2 where the size of struct page is a power of two, the mask that
 * makes it (include/linux/page-flags.h). */
static __always_inline const void *head_of(const void *page)
{
    uint64_t compound;
    if (bpf_core_field_exists(struct page___since_7_2, compound_info))
        compound = kernel_word(kernel_place(page___since_7_2, page, compound_info));
    else
        compound = kernel_word(kernel_place(page___before_7_2, page, compound_head));
    if (!(compound & PAGE_IS_TAIL))
        return page;
    return (const void *)(compound > PAGE_MASK_FROM ? (uint64_t)page & compound
                                                    : compound - PAGE_IS_TAIL);
}

/* The number of a page in its file, whose pages are one block in memory with `head` as the first.
 */
static __always_inline uint64_t index_of(const void *page, const void *head)
{
    uint64_t behind = ((uint64_t)page - (uint64_t)head) / bpf_core_type_size(struct page);
    if (bpf_core_field_exists(struct page, __folio_index))
        return kernel_word(kernel_place(page, head, __folio_index)) + behind;
    return kernel_word(kernel_place(page___before_6_16, head, index)) + behind;
}

static __always_inline void emit_block_file(const struct moment *now, struct request *request)
{
    struct bio *bio = BPF_CORE_READ(request, bio);
    if (!bio)
        return;
    uint64_t vector = (uint64_t)BPF_CORE_READ(bio, bi_io_vec) +
                      BPF_CORE_READ(bio, bi_iter.bi_idx) * bpf_core_type_size(struct bio_vec);
    const void *page = (void *)kernel_word(kernel_place(bio_vec, (void *)vector, bv_page));
    const void *head = head_of(page);
    uint64_t mapping = kernel_word(kernel_place(page, head, mapping));
    if (!page || !mapping || mapping & MAPPING_FLAGS)
        return;
    const void *inode = (void *)kernel_word(kernel_place(address_space, (void *)mapping, host));
    if ((kernel_read(inode, inode, i_mode) & S_IFMT) != S_IFREG)
        return;
    uint64_t offset =
        (index_of(page, head) << settings.page_shift) +
        kernel_read(bio_vec, (void *)vector, bv_offset) % (1u << (settings.page_shift & 31));
    const void *files = (void *)kernel_word(kernel_place(inode, inode, i_sb));
    emit(now, ARGUS_ID_BLOCK_FILE, (uint64_t)request, kernel_read(inode, inode, i_ino), offset,
         kernel_read(super_block, files, s_dev));
}

SEC("raw_tp/block_rq_issue")
int on_block_issue(struct bpf_raw_tracepoint_args *ctx)
{
    struct request *request = (void *)ctx->args[0];
    uint64_t operation = BPF_CORE_READ(request, cmd_flags) & REQUEST_OPERATION;
    struct moment now = moment_now(bpf_get_current_task_btf());
    emit(&now, ARGUS_ID_BLOCK_ISSUED, (uint64_t)request, BPF_CORE_READ(request, __sector),
         BPF_CORE_READ(request, __data_len), device_of(request) | operation << 32);
    if (operation <= REQUEST_WRITE)
        emit_block_file(&now, request);
    return 0;
}

/* A request is put into the queue of its disk, by the thread that wants it. A worker of the kernel
 * may take it from there to the driver. */
SEC("raw_tp/block_rq_insert")
int on_block_insert(struct bpf_raw_tracepoint_args *ctx)
{
    struct request *request = (void *)ctx->args[0];
    return emit_plain(ARGUS_ID_BLOCK_QUEUED, (uint64_t)request, BPF_CORE_READ(request, __sector), 0,
                      0);
}

SEC("raw_tp/block_rq_complete")
int on_block_complete(struct bpf_raw_tracepoint_args *ctx)
{
    return emit_plain(ARGUS_ID_BLOCK_COMPLETED, ctx->args[0], (uint32_t)ctx->args[1],
                      (uint32_t)ctx->args[2], 0);
}

#endif
