/* Whose memory is read as the client asks: of which addresses, by which offsets. The recorder may
 * be root, the client may not, and the request decides what of the memory gets into the trace. So
 * of a client other than root, only processes are read that the client could inspect by ptrace(2):
 * all three user IDs are the client's, and the process has not gained rights, nor refused to be
 * inspected. The kernel sets the latter when a program with set-user-ID or capabilities is
 * executed, in the same moment in which it gets its rights.
 */
#ifndef ARGUS_BPF_CLIENT_MEMORY_H
#define ARGUS_BPF_CLIENT_MEMORY_H

#include "kernel_read.h"

#define MMF_DUMPABLE_MASK 3 /* include/linux/mm_types.h */
#define SUID_DUMP_USER    1 /* include/linux/sched/coredump.h */

static __always_inline bool may_be_inspected(const struct task_struct *task)
{
    const struct mm_struct *mm = task->mm;
    unsigned long flags = 0;
    if (bpf_core_field_exists(mm->flags))
        flags = mm->flags;
    else if (bpf_core_field_exists(((struct mm_struct___since_6_18 *)mm)->flags.__mm_flags))
        flags = ((const struct mm_struct___since_6_18 *)mm)->flags.__mm_flags[0];
    return (flags & MMF_DUMPABLE_MASK) == SUID_DUMP_USER;
}

static __always_inline bool is_of_client(const struct task_struct *task)
{
    uint32_t client = settings.client_uid;
    if (!client)
        return true;
    const struct cred *cred = task->cred;
    return cred->uid.val == client && cred->suid.val == client && cred->euid.val == client &&
           may_be_inspected(task);
}

#endif
