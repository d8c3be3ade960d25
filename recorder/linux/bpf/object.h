/* What the system call in progress works on: descriptor → file → inode, and for a socket its kind and peer.
 *
 * Files without an inode of their own (eventfd, epoll, timerfd …) all share one inode; there the address of the file's
 * private data is the identity instead, which is the same for every descriptor of the object.
 */
#ifndef ARGUS_BPF_OBJECT_H
#define ARGUS_BPF_OBJECT_H

#include "ring.h"

#define S_IFMT   0170000
#define S_IFSOCK 0140000
#define AF_UNIX  1

struct object {
    uint64_t descriptor, inode, peer, kind; /* arg1 to arg4 of the record */
};

static __always_inline uint64_t socket_inode(struct socket *socket)
{
    struct socket_alloc *both = (void *)socket - bpf_core_field_offset(struct socket_alloc, socket);
    return socket ? BPF_CORE_READ(both, vfs_inode.i_ino) : 0;
}

static __always_inline void object_add_socket(struct object *object, struct socket *socket)
{
    struct sock *sock = BPF_CORE_READ(socket, sk);
    uint64_t family = BPF_CORE_READ(sock, __sk_common.skc_family);
    object->kind |= family << 16 | (uint64_t)BPF_CORE_READ(sock, sk_type) << 32;
    if (family == AF_UNIX && bpf_core_type_exists(struct unix_sock))
        object->peer = socket_inode(BPF_CORE_READ((struct unix_sock *)sock, peer, sk_socket));
}

static __always_inline bool object_of_descriptor(struct task_struct *task, uint32_t descriptor,
                                                 struct object *ret)
{
    struct fdtable *table = BPF_CORE_READ(task, files, fdt);
    if (!table || descriptor >= BPF_CORE_READ(table, max_fds))
        return false;
    struct file **files = BPF_CORE_READ(table, fd);
    struct file *file = NULL;
    bpf_probe_read_kernel(&file, sizeof(file), files + descriptor);
    if (!file)
        return false;
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    ret->descriptor = descriptor;
    ret->kind = BPF_CORE_READ(inode, i_mode) & S_IFMT;
    ret->inode =
        ret->kind ? BPF_CORE_READ(inode, i_ino) : (uint64_t)BPF_CORE_READ(file, private_data);
    ret->peer = 0;
    if (ret->kind == S_IFSOCK)
        object_add_socket(ret, BPF_CORE_READ(file, private_data));
    return true;
}

/* Writes the object record for the current thread, if it is in a system call whose first argument is a descriptor. */
static __always_inline void emit_object(const struct moment *now)
{
    struct pt_regs *regs = (void *)bpf_task_pt_regs(now->task);
    struct object object;
    if (!arch_in_syscall(regs) || arch_is_compat(now->task) ||
        !bit_is_set(settings.object_syscalls, arch_syscall_nr(regs)))
        return;
    if (object_of_descriptor(now->task, arch_argument0(regs), &object))
        emit(now, ARGUS_ID_OBJECT, object.descriptor, object.inode, object.peer, object.kind);
}

#endif
