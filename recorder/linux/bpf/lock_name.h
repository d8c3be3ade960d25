/* Lock files: a program holds the lock if it has created a file under an agreed name, in a way that
 * fails while the name exists: open() with O_CREAT and O_EXCL, mkdir(), link(), symlink(). It
 * releases the lock by removing the name.
 *
 * The kernel keeps no list of such locks, and a path in user memory is all that a refused call has.
 * So a name is identified by hashes: of the path, together with the folder in which a relative path
 * begins; and of folder and last component, where the call has shown both. Only names that were
 * asked for like this are recorded when they are removed.
 */
#ifndef ARGUS_BPF_LOCK_NAME_H
#define ARGUS_BPF_LOCK_NAME_H

#include "object.h"

#define NAME_EEXIST   17
#define NAME_AT_FDCWD (-100)
#define NAME_O_CREAT  00000100
#define NAME_O_EXCL   00000200

#define NAME_BYTES        256 /* longer paths are cut off */
#define NAME_WORDS        (NAME_BYTES / 8)
#define NAME_RECORD_WORDS 4

/* Combined with the result in one argument of emit_lock_name(). */
#define NAME_OPENED (1ull << 8) /* the call's result is a descriptor */

struct name_scratch {
    union {
        char text[NAME_BYTES];
        uint64_t words[NAME_WORDS];
    };
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct name_scratch);
} name_scratches SEC(".maps");

/* The identities of names that were asked for, each at the place that its low bits say. If two
 * share a place, the older one is forgotten. */
#define NAMES_ASKED 8192

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, NAMES_ASKED);
    __type(key, uint32_t);
    __type(value, uint64_t);
} names_asked SEC(".maps");

static __always_inline uint32_t name_call(uint64_t number)
{
    if (number >= BPF_SYSCALLS)
        return 0;
    return settings.name_calls[bounded(number, BPF_SYSCALLS)];
}

static __always_inline void name_clear(struct name_scratch *scratch)
{
#pragma unroll
    for (uint32_t i = 0; i < NAME_WORDS; i++)
        scratch->words[i] = 0;
}

/* Never 0. By words, since the verifier would follow a loop over bytes through many states. */
static __always_inline uint64_t name_hash(const struct name_scratch *scratch, uint64_t folder)
{
    uint64_t hash = folder;
#pragma unroll
    for (uint32_t i = 0; i < NAME_WORDS; i++) {
        hash = (hash ^ scratch->words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash ? hash : 1;
}

static __always_inline uint64_t folder_identity(const void *inode)
{
    const void *files = (void *)kernel_word(kernel_place(inode, inode, i_sb));
    return kernel_read(inode, inode, i_ino) << 32 ^ kernel_read(inode, inode, i_ino) >> 32 ^
           kernel_read(super_block, files, s_dev);
}

/* The folder in which a relative path begins; 0: not known. */
static __always_inline uint64_t folder_of_call(struct task_struct *task, uint64_t descriptor)
{
    if ((int32_t)descriptor != NAME_AT_FDCWD) {
        const void *file = file_of_descriptor(task, (uint32_t)descriptor);
        return file ? folder_identity(kernel_read(file, file, f_inode)) : 0;
    }
    const void *entry = (void *)kernel_word(kernel_place(fs_struct, task->fs, pwd.dentry));
    return folder_identity(kernel_read(dentry, entry, d_inode));
}

/* By folder and last component, of the file that the call has opened; 0: not known. */
static __always_inline uint64_t opened_name(struct task_struct *task, struct name_scratch *scratch,
                                            uint64_t descriptor)
{
    const void *file = file_of_descriptor(task, (uint32_t)descriptor);
    if (!file)
        return 0;
    const void *entry = (void *)kernel_word(kernel_place(file, file, f_path.dentry));
    const void *folder = (void *)kernel_word(kernel_place(dentry, entry, d_parent));
    name_clear(scratch);
    if (bpf_probe_read_kernel_str(scratch->text, NAME_BYTES,
                                  (void *)kernel_word(kernel_place(dentry, entry, d_name.name))) <=
        0)
        return 0;
    return name_hash(scratch, folder_identity(kernel_read(dentry, folder, d_inode)));
}

static __always_inline uint64_t *name_place(uint64_t name)
{
    uint32_t place = (uint32_t)name & (NAMES_ASKED - 1);
    return bpf_map_lookup_elem(&names_asked, &place);
}

static __always_inline void remember_name(uint64_t name)
{
    uint64_t *place = name ? name_place(name) : NULL;
    if (place)
        *place = name;
}

static __always_inline bool forget_name(uint64_t name)
{
    uint64_t *place = name_place(name);
    bool asked = place && *place == name;
    if (asked)
        *place = 0;
    return asked;
}

static __always_inline void emit_path(const struct moment *now, uint32_t debugid,
                                      const struct name_scratch *scratch, uint32_t bytes)
{
    for (uint32_t i = 0; i < NAME_WORDS / NAME_RECORD_WORDS; i++) {
        const uint64_t *words = scratch->words + (uint64_t)i * NAME_RECORD_WORDS;
        if (i * NAME_RECORD_WORDS * 8 >= bytes)
            break;
        emit(now, debugid, words[0], words[1], words[2], words[3]);
    }
}

/* Of the current thread, which has asked for the name `path` in `folder` (a descriptor, or
 * AT_FDCWD), or has removed it. `how`: ARGUS_FILE_LOCK_… and NAME_… bits. Not inlined, so that the
 * verifier analyses it once. */
__attribute__((noinline)) int emit_lock_name(uint64_t path, uint64_t folder, uint64_t how,
                                             uint64_t descriptor, uint64_t time_ns)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = {.time_ns = time_ns, .tid = (uint32_t)task->pid, .task = task};
    uint32_t zero = 0, what = how & 0xff;
    struct name_scratch *scratch = bpf_map_lookup_elem(&name_scratches, &zero);
    if (!scratch)
        return 0;
    name_clear(scratch);
    int64_t bytes = bpf_probe_read_user_str(scratch->text, NAME_BYTES, (const void *)path);
    if (bytes <= 1)
        return 0;
    uint64_t name, place;
    if (scratch->text[0] == '/') {
        name = name_hash(scratch, 0);
        place = 0;
    } else {
        name = place = name_hash(scratch, folder_of_call(task, folder));
    }
    if (what == ARGUS_FILE_LOCK_RELEASED && !forget_name(name))
        return 0;
    if (how & NAME_OPENED)
        place = opened_name(task, scratch, descriptor);
    if (what != ARGUS_FILE_LOCK_RELEASED) {
        remember_name(name);
        remember_name(place);
    }
    emit(&now, ARGUS_ID_FILE_LOCK, name,
         ARGUS_FILE_LOCK(0, what, ARGUS_FILE_LOCK_NAME, ARGUS_FILE_LOCK_EXCLUSIVE), place, 0);
    if (what == ARGUS_FILE_LOCK_REFUSED)
        emit_path(&now, ARGUS_ID_FILE_LOCK_NAME, scratch, (uint32_t)bytes - 1);
    return 0;
}

/* Of the current thread, which waits in a call with this path. Not inlined, so that the verifier
 * analyses it once. */
__attribute__((noinline)) int emit_call_path(uint64_t path, uint64_t time_ns)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = {.time_ns = time_ns, .tid = (uint32_t)task->pid, .task = task};
    uint32_t zero = 0;
    struct name_scratch *scratch = bpf_map_lookup_elem(&name_scratches, &zero);
    if (!scratch)
        return 0;
    name_clear(scratch);
    int64_t bytes = bpf_probe_read_user_str(scratch->text, NAME_BYTES, (const void *)path);
    if (bytes > 1)
        emit_path(&now, ARGUS_ID_CALL_PATH, scratch, (uint32_t)bytes - 1);
    return 0;
}

static __always_inline uint64_t name_argument(const struct call *call, uint32_t index)
{
    return index == 0   ? call->arguments[0]
           : index == 1 ? call->arguments[1]
           : index == 2 ? call->arguments[2]
                        : call->arguments[3];
}

/* At the end of `call`, of which name_call() is `form`. */
static __always_inline void lock_name_of_call(const struct moment *now, const struct call *call,
                                              uint32_t form, int64_t result)
{
    uint32_t path = form & NAME_CALL_PATH, folder = (form & NAME_CALL_FOLDER) >> 3;
    uint64_t how = ARGUS_FILE_LOCK_GOT;
    if (form & NAME_CALL_REMOVES)
        how = ARGUS_FILE_LOCK_RELEASED;
    else if (result == -NAME_EEXIST)
        how = ARGUS_FILE_LOCK_REFUSED;
    if (result < 0 && how != ARGUS_FILE_LOCK_REFUSED)
        return;
    if (form & NAME_CALL_OPENS) {
        uint64_t flags = name_argument(call, path + 1);
        if (!(flags & NAME_O_CREAT) || !(flags & NAME_O_EXCL))
            return;
        if (how == ARGUS_FILE_LOCK_GOT)
            how |= NAME_OPENED;
    }
    emit_lock_name(name_argument(call, path),
                   folder ? name_argument(call, folder - 1) : (uint64_t)NAME_AT_FDCWD, how,
                   (uint64_t)result, now->time_ns);
}

/* Of the current thread, which waits in `call`. */
static __always_inline void path_of_call(const struct moment *now, const struct call *call)
{
    if (call->number >= BPF_SYSCALLS)
        return;
    uint32_t at = settings.path_calls[bounded(call->number, BPF_SYSCALLS)];
    if (at)
        emit_call_path(name_argument(call, at - 1), now->time_ns);
}

#endif
