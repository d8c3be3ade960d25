/* What the object is called for which a thread waits: the path of a file, or the address of the
 * other end of a socket. The inode of the object record identifies both.
 *
 * A name is recorded at most once a second, because a busy thread waits thousands of times for the
 * same object; and again after that, because the ring may have overwritten the first record.
 */
#ifndef ARGUS_BPF_NAMING_H
#define ARGUS_BPF_NAMING_H

#include "object.h"

#define NAMED_OBJECTS   4096 /* a power of two */
#define NAMED_AGAIN_NS  1000000000ull
#define PATH_DEPTH      12
#define PIECE_WORDS     3
#define COMPONENT_BYTES (2 * PIECE_WORDS * 8)
#define CONNECT_BEGUN   115 /* EINPROGRESS */
#define NAMED_INET      2   /* AF_INET */
#define NAMED_INET6     10  /* AF_INET6 */

struct named_object {
    uint64_t identity, time_ns;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, NAMED_OBJECTS);
    __type(key, uint32_t);
    __type(value, struct named_object);
} named_objects SEC(".maps");

/* Whether the name of `identity` was not recorded within the last second; remembers that it is. Two
 * objects at the same place are named more often than necessary. */
static __always_inline bool name_is_due(uint64_t identity, uint64_t time_ns)
{
    uint32_t place = (identity * 0x9e3779b97f4a7c15ull >> 40) & (NAMED_OBJECTS - 1);
    struct named_object *named = bpf_map_lookup_elem(&named_objects, &place);
    if (!named || (named->identity == identity && time_ns - named->time_ns < NAMED_AGAIN_NS))
        return false;
    named->identity = identity;
    named->time_ns = time_ns;
    return true;
}

/* --- the other end of a socket --- */

struct remote {
    uint64_t inode;
    uint64_t high, low; /* the address */
    uint16_t port;      /* network order */
    uint16_t own_port;  /* host order */
    uint32_t protocol, version;
};

static __always_inline void emit_remote_once(const struct moment *now, const struct remote *remote,
                                             bool once)
{
    uint64_t identity =
        remote->inode ^ remote->high ^ remote->low << 7 ^ (uint64_t)remote->port << 40;
    if (!remote->inode || (!name_is_due(identity, now->time_ns) && once))
        return;
    emit(now, ARGUS_ID_REMOTE, remote->inode, remote->high, remote->low,
         ARGUS_REMOTE_WHAT(__builtin_bswap16(remote->port), remote->own_port, remote->protocol,
                           remote->version));
}

/* `once`: not if it was recorded within the last second. False: the socket is not connected, so
 * that each packet has its own address. */
static __always_inline bool emit_remote(const struct moment *now, const struct sock *sock,
                                        bool once)
{
    uint32_t family = kernel_read(sock, sock, __sk_common.skc_family);
    bool old = family == NAMED_INET;
    const void *address = kernel_place(sock, sock, __sk_common.skc_v6_daddr);
    struct remote remote = {
        .inode = socket_inode(sock),
        .high = old ? kernel_read(sock, sock, __sk_common.skc_daddr) : kernel_word(address),
        .low = old ? 0 : kernel_word(address + 8),
        .port = kernel_read(sock, sock, __sk_common.skc_dport),
        .own_port = kernel_read(sock, sock, __sk_common.skc_num),
        .protocol = kernel_read(sock, sock, sk_protocol) & 0xff,
        .version = old ? 4 : 6,
    };
    if (!remote.port || (!old && family != NAMED_INET6))
        return false;
    emit_remote_once(now, &remote, once);
    return true;
}

/* At the end of connect(). Not inlined, so that the verifier analyses it once. */
__attribute__((noinline)) int emit_connected_descriptor(uint64_t descriptor, uint64_t time_ns)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = {.time_ns = time_ns, .tid = (uint32_t)task->pid, .task = task};
    struct object object;
    if (!object_of_descriptor(task, (uint32_t)descriptor, &object) ||
        (object.kind & S_IFMT) != S_IFSOCK)
        return 0;
    emit_remote(&now, (const void *)kernel_word(kernel_place(socket, object.data, sk)), false);
    return 0;
}

static __always_inline void emit_connected(const struct moment *now, uint32_t descriptor)
{
    emit_connected_descriptor(descriptor, now->time_ns);
}

/* --- the path of a file --- */

union component {
    char text[COMPONENT_BYTES];
    uint64_t words[2 * PIECE_WORDS];
};

static __always_inline void emit_component(const struct moment *now, uint64_t inode,
                                           const void *entry)
{
    union component name = {.words = {'/'}};
    const void *text = (void *)kernel_word(kernel_place(dentry, entry, d_name.name));
    int64_t bytes = bpf_probe_read_kernel_str(name.text + 1, COMPONENT_BYTES - 1, text);
    if (bytes <= 1)
        return;
    emit(now, ARGUS_ID_FILE_NAME, inode, name.words[0], name.words[1], name.words[2]);
    if (bytes > PIECE_WORDS * 8)
        emit(now, ARGUS_ID_FILE_NAME, inode, name.words[3], name.words[4], name.words[5]);
}

/* The path of `file`, from its last component up to the root of all mounts. Not inlined, so that
 * the verifier analyses it once. */
__attribute__((noinline)) int emit_file_name(uint64_t file, uint64_t inode, uint64_t time_ns)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = {.time_ns = time_ns, .tid = (uint32_t)task->pid, .task = task};
    const void *entry = (void *)kernel_word(kernel_place(file, (void *)file, f_path.dentry));
    const void *mounted = (void *)kernel_word(kernel_place(file, (void *)file, f_path.mnt));
#pragma clang loop unroll(disable)
    for (uint64_t i = 0; i < PATH_DEPTH && entry && mounted; i++) {
        const void *mount = mounted - bpf_core_field_offset(struct mount, mnt);
        const void *parent = (void *)kernel_word(kernel_place(dentry, entry, d_parent));
        if (entry == (void *)kernel_word(kernel_place(vfsmount, mounted, mnt_root))) {
            const void *above = (void *)kernel_word(kernel_place(mount, mount, mnt_parent));
            if (above == mount)
                break;
            entry = (void *)kernel_word(kernel_place(mount, mount, mnt_mountpoint));
            mounted = above + bpf_core_field_offset(struct mount, mnt);
            continue;
        }
        if (entry == parent)
            break;
        emit_component(&now, inode, entry);
        entry = parent;
    }
    return 0;
}

static __always_inline bool file_name_is_due(const struct moment *now, const void *file)
{
    return name_is_due((uint64_t)file ^ (uint64_t)now->tid << 40, now->time_ns);
}

/* Of the object for which the current thread waits in a call. */
static __always_inline void emit_object_name(const struct moment *now, const struct object *object)
{
    uint64_t kind = object->kind & S_IFMT;
    if (kind == S_IFREG && file_name_is_due(now, object->file))
        emit_file_name((uint64_t)object->file, object->inode, now->time_ns);
    else if (kind == S_IFSOCK)
        emit_remote(now, (const void *)kernel_word(kernel_place(socket, object->data, sk)), true);
}

#endif
