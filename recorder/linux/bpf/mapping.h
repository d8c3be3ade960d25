/* The mapping at which a thread is about to wait. A futex shared by several processes is identified
 * by the mapped file, not by its address. A page fault tells the address at which it waits.
 *
 * The mapping of a futex is looked up at the begin of the call. The context switch would be a
 * cheaper moment, but there interrupts are off. bpf_find_vma() must then leave the release of the
 * process's mmap_lock to an interrupt, which on one test machine could be late by 100 ms. It only
 * tries the lock: if another thread changes the mappings at this moment, the lookup fails, and the
 * file is unknown. bpf_find_vma() exists since Linux 5.17. On older kernels the tree of mappings is
 * walked without a lock, so a mapping that moves meanwhile can be missed. The file behind a page
 * fault is known from the images of the process, or from the request to the disk (block.h).
 */
#ifndef ARGUS_BPF_MAPPING_H
#define ARGUS_BPF_MAPPING_H

#include "kernel_read.h"
#include "lock.h"
#include "ring.h"

#define FUTEX_PRIVATE_FLAG 128

struct mapping {
    uint64_t address, inode, offset, device;
};

static long look_at_vma(struct task_struct *task, struct vm_area_struct *vma, struct mapping *ret)
{
    (void)task;
    struct file *file = BPF_CORE_READ(vma, vm_file);
    if (!file)
        return 0;
    ret->inode = BPF_CORE_READ(file, f_inode, i_ino);
    ret->device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
    ret->offset = ret->address - BPF_CORE_READ(vma, vm_start) +
                  (BPF_CORE_READ(vma, vm_pgoff) << settings.page_shift);
    return 0;
}

#define TREE_DEPTH_MOST 32

/* The mapping that contains `address`, in the tree of kernels before 6.1; 0: none found. */
static __always_inline uint64_t mapping_in_tree(const void *mm, uint64_t address)
{
    uint64_t node = kernel_word(kernel_place(mm_struct___before_6_1, mm, mm_rb.rb_node));
    for (uint64_t i = 0; i < TREE_DEPTH_MOST && node; i++) {
        const void *place = (const void *)node;
        const void *vma = place - bpf_core_field_offset(struct vm_area_struct___before_6_1, vm_rb);
        if (address < kernel_read(vm_area_struct___before_6_1, vma, vm_start))
            node = kernel_word(kernel_place(rb_node, place, rb_left));
        else if (address >= kernel_read(vm_area_struct___before_6_1, vma, vm_end))
            node = kernel_word(kernel_place(rb_node, place, rb_right));
        else
            return (uint64_t)vma;
    }
    return 0;
}

static __always_inline void look_in_tree(struct task_struct *task, struct mapping *ret)
{
    uint64_t vma = task->mm ? mapping_in_tree(task->mm, ret->address) : 0;
    if (vma)
        look_at_vma(task, (struct vm_area_struct *)vma, ret);
}

static __always_inline void emit_mapping(const struct moment *now, uint64_t address,
                                         enum argus_mapping_why why)
{
    struct mapping mapping = {.address = address};
    if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
        bpf_find_vma(now->task, address, look_at_vma, &mapping, 0);
    else if (bpf_core_field_exists(struct mm_struct___before_6_1, mm_rb))
        look_in_tree(now->task, &mapping);
    emit(now, ARGUS_ID_MAPPING, address, mapping.inode, mapping.offset,
         (uint64_t)why | mapping.device << 32);
}

/* At the begin of futex(). */
static __always_inline void emit_shared_futex(const struct moment *now, uint64_t address,
                                              uint32_t operation)
{
    if (waits_for_lock(operation) && !(operation & FUTEX_PRIVATE_FLAG))
        emit_mapping(now, address, ARGUS_MAPPING_FUTEX);
}

/* After a page fault that had to wait. (A tracepoint at the start of every page fault costs more
 * than all others together while programs are compiled: 170,000 a second, of which hardly one
 * waits.) */
SEC("perf_event")
int on_major_fault(uint64_t *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    if (is_own(task))
        return 0;
    struct moment now = moment_now(task);
    emit(&now, ARGUS_ID_MAPPING, ctx[ARCH_FAULT_ADDRESS], 0, 0, ARGUS_MAPPING_FAULT);
    return 0;
}

#endif
