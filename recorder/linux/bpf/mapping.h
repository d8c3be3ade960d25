/* What is mapped where a thread is about to wait: a futex that several processes share has its identity in the file that
 * is mapped, not in the address; a page fault says at which address it waits.
 *
 * The mapping of a futex is looked up at the begin of the call. When the thread leaves the cpu would be cheaper, but there
 * interrupts are off, bpf_find_vma() has to leave the release of the process's mmap_lock to an interrupt, and on one of the
 * machines this was tried on that interrupt could be late by 100 ms. The lock is only tried: whoever changes the mappings
 * at this moment makes the lookup fail, and then the file is unknown. bpf_find_vma() is there since Linux 5.17. The file
 * behind a page fault is known from the images of the process, or from the request to the disk (block.h).
 */
#ifndef ARGUS_BPF_MAPPING_H
#define ARGUS_BPF_MAPPING_H

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

static __always_inline void emit_mapping(const struct moment *now, uint64_t address,
                                         enum argus_mapping_why why)
{
    struct mapping mapping = {.address = address};
    if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
        bpf_find_vma(now->task, address, look_at_vma, &mapping, 0);
    emit(now, ARGUS_ID_MAPPING, address, mapping.inode, mapping.offset,
         (uint64_t)why | mapping.device << 32);
}

/* At the begin of futex(). */
static __always_inline void emit_shared_futex(const struct moment *now, struct pt_regs *regs)
{
    if (waits_for_lock((uint32_t)arch_argument1(regs)) &&
        !(arch_argument1(regs) & FUTEX_PRIVATE_FLAG))
        emit_mapping(now, arch_argument0(regs), ARGUS_MAPPING_FUTEX);
}

/* Behind a page fault that had to wait. (A tracepoint that says the address at the begin of every page fault costs more than
 * all others together while programs are compiled: 170,000 a second, of which hardly one waits.) */
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
