/* What the system call in progress works on: descriptor → file → inode, and for a socket its kind
 * and peer.
 *
 * Files without an inode of their own (eventfd, epoll, timerfd …) all share one inode; there the
 * address of the file's private data is the identity instead, which is the same for every
 * descriptor of the object.
 */
#ifndef ARGUS_BPF_OBJECT_H
#define ARGUS_BPF_OBJECT_H

#include "call.h"
#include "kernel_read.h"
#include "ring.h"

#define S_IFMT   0170000
#define S_IFSOCK 0140000
#define S_IFREG  0100000
#define S_IFIFO  0010000
#define S_IFCHR  0020000
#define AF_UNIX  1

struct object {
    uint64_t descriptor, inode, peer, kind; /* arg1 to arg4 of the record */
    const void *file;
    const void *data; /* the file's private data */
};

/* The file behind a descriptor of the current thread; NULL: none. */
static __always_inline const void *file_of_descriptor(struct task_struct *task, uint32_t descriptor)
{
    struct fdtable *table = task->files->fdt;
    if (descriptor >= table->max_fds)
        return NULL;
    uint64_t files = kernel_word(kernel_place(fdtable, table, fd));
    return (const void *)kernel_word((const void *)(files + descriptor * sizeof(void *)));
}

/* 0: it belongs to no file, as before accept(). */
static __always_inline uint64_t socket_inode(const void *sock)
{
    uint64_t socket = kernel_word(kernel_place(sock, sock, sk_socket));
    const void *inode = (const void *)socket - bpf_core_field_offset(struct socket_alloc, socket) +
                        bpf_core_field_offset(struct socket_alloc, vfs_inode);
    return socket ? kernel_read(inode, inode, i_ino) : 0;
}

/* The socket at the other end of a unix socket; NULL: none, or none in particular. */
static __always_inline const void *unix_peer(const void *sock)
{
    return (const void *)kernel_word(kernel_place(unix_sock, sock, peer));
}

static __always_inline void object_add_socket(struct object *object)
{
    const void *sock = (const void *)kernel_word(kernel_place(socket, object->data, sk));
    uint64_t family = kernel_read(sock, sock, __sk_common.skc_family);
    object->kind |= family << 16 | (uint64_t)kernel_read(sock, sock, sk_type) << 32;
    const void *peer = family == AF_UNIX ? unix_peer(sock) : NULL;
    if (peer)
        object->peer = socket_inode(peer);
}

/* The first 8 bytes of the kernel's name for what an anonymous file is, such as "[eventfd]", as a
 * number. */
static __always_inline uint64_t anonymous_name(const void *file)
{
    const void *entry = (void *)kernel_word(kernel_place(file, file, f_path.dentry));
    return kernel_word((void *)kernel_word(kernel_place(dentry, entry, d_name.name)));
}

/* Six letters of it, without the bracket. */
static __always_inline uint64_t anonymous_letters(const void *file)
{
    uint64_t name = anonymous_name(file);
    return ((name & 0xff) == '[' ? name >> 8 : name) & 0xffffffffffffull;
}

static __always_inline bool object_of_descriptor(struct task_struct *task, uint32_t descriptor,
                                                 struct object *ret)
{
    const void *file = file_of_descriptor(task, descriptor);
    if (!file)
        return false;
    const struct inode *inode = kernel_read(file, file, f_inode);
    *ret = (struct object){
        .descriptor = descriptor,
        .file = file,
        .kind = kernel_read(inode, inode, i_mode) & S_IFMT,
        .data = (const void *)kernel_word(kernel_place(file, file, private_data)),
    };
    ret->inode = ret->kind ? kernel_read(inode, inode, i_ino) : (uint64_t)ret->data;
    if (!ret->kind)
        ret->kind = anonymous_letters(file) << 16;
    if (ret->kind == S_IFSOCK)
        object_add_socket(ret);
    return true;
}

/* Writes the object record for the current thread, which is in `call`, if that one's first argument
 * is a descriptor. `ret` is set when it is. */
static __always_inline bool emit_object(const struct moment *now, const struct call *call,
                                        struct object *ret)
{
    if (!bit_is_set(settings.object_syscalls, call->number) ||
        !object_of_descriptor(now->task, call->arguments[0], ret))
        return false;
    emit(now, ARGUS_ID_OBJECT, ret->descriptor, ret->inode, ret->peer, ret->kind);
    return true;
}

#endif
