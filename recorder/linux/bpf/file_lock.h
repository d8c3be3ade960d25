/* File locks: acquired, refused and released ones, at the end of flock() and of fcntl() with a lock
 * command.
 *
 * fcntl() takes a struct flock in user memory, of which type and range are read. In a 32-bit
 * program the fields after the type have other sizes: there the range counts as the whole file. So
 * does a range relative to the file's position or end.
 */
#ifndef ARGUS_BPF_FILE_LOCK_H
#define ARGUS_BPF_FILE_LOCK_H

#include "naming.h"

#define LOCK_SH 1 /* include/uapi/asm-generic/fcntl.h */
#define LOCK_EX 2
#define LOCK_UN 8

#define F_SETLK      6
#define F_SETLKW     7
#define F_SETLK64    13 /* of 32-bit programs */
#define F_SETLKW64   14
#define F_OFD_SETLK  37
#define F_OFD_SETLKW 38

#define F_WRLCK 1
#define F_UNLCK 2

#define LOCK_EAGAIN 11
#define LOCK_EACCES 13

/* Combined with the operation in one argument of emit_file_lock(). */
#define LOCK_BY_FLOCK (1ull << 32)
#define LOCK_REFUSED  (1ull << 33)
#define LOCK_COMPAT   (1ull << 34)

/* The parts of struct flock. */
struct lock_head {
    int16_t type, whence;
};

struct lock_range {
    int64_t start, length; /* length 0: to the end of the file; negative: the bytes before start */
};

#define LOCK_RANGE_AT 8 /* in 64-bit programs */

struct lock_wanted {
    uint32_t what, kind, flags; /* what 0: not a lock command */
    uint64_t first, last;
};

static __always_inline bool is_lock_call(uint64_t number)
{
    return number == ARCH_FCNTL || number == ARCH_FLOCK;
}

static __always_inline uint32_t lock_result(uint64_t how, bool releases)
{
    return releases             ? ARGUS_FILE_LOCK_RELEASED
           : how & LOCK_REFUSED ? ARGUS_FILE_LOCK_REFUSED
                                : ARGUS_FILE_LOCK_GOT;
}

static __always_inline void wanted_by_flock(uint64_t how, struct lock_wanted *ret)
{
    ret->what = lock_result(how, how & LOCK_UN);
    ret->kind = ARGUS_FILE_LOCK_FLOCK;
    ret->flags = how & LOCK_EX ? ARGUS_FILE_LOCK_EXCLUSIVE : 0;
}

static __always_inline void add_range(uint64_t address, struct lock_wanted *ret)
{
    struct lock_range range = {0};
    if (bpf_probe_read_user(&range, sizeof(range), (const void *)(address + LOCK_RANGE_AT)) < 0)
        return;
    uint64_t start = (uint64_t)range.start, length = (uint64_t)range.length;
    ret->first = range.length < 0 ? start + length : start;
    if (range.length < 0)
        ret->last = start - 1;
    else if (length)
        ret->last = start + length - 1;
}

static __always_inline void wanted_by_fcntl(uint64_t how, uint64_t address, struct lock_wanted *ret)
{
    struct lock_head head = {0};
    uint32_t command = (uint32_t)how;
    bool of_process =
        command == F_SETLK || command == F_SETLKW || command == F_SETLK64 || command == F_SETLKW64;
    bool of_open = command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (!(of_process || of_open) ||
        bpf_probe_read_user(&head, sizeof(head), (const void *)address) < 0)
        return;
    ret->what = lock_result(how, head.type == F_UNLCK);
    ret->kind = of_open ? ARGUS_FILE_LOCK_OPEN : ARGUS_FILE_LOCK_PROCESS;
    ret->flags = head.type == F_WRLCK ? ARGUS_FILE_LOCK_EXCLUSIVE : 0;
    if (!(how & LOCK_COMPAT) && head.whence == 0) /* SEEK_SET */
        add_range(address, ret);
}

/* Of the current thread. `how`: the operation of flock() or the command of fcntl(), and LOCK_…
 * bits; `address` of the struct flock. Not inlined, so that the verifier analyses it once. */
__attribute__((noinline)) int emit_file_lock(uint64_t descriptor, uint64_t how, uint64_t address,
                                             uint64_t time_ns)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct moment now = {.time_ns = time_ns, .tid = (uint32_t)task->pid, .task = task};
    struct lock_wanted wanted = {.last = (uint64_t)-1};
    if (how & LOCK_BY_FLOCK)
        wanted_by_flock(how, &wanted);
    else
        wanted_by_fcntl(how, address, &wanted);
    const void *file = wanted.what ? file_of_descriptor(task, (uint32_t)descriptor) : NULL;
    if (!file)
        return 0;
    const struct inode *inode = kernel_read(file, file, f_inode);
    const void *files = (void *)kernel_word(kernel_place(inode, inode, i_sb));
    emit(&now, ARGUS_ID_FILE_LOCK, kernel_read(inode, inode, i_ino),
         ARGUS_FILE_LOCK(kernel_read(super_block, files, s_dev), wanted.what, wanted.kind,
                         wanted.flags),
         wanted.first, wanted.last);
    if (wanted.what == ARGUS_FILE_LOCK_REFUSED && file_name_is_due(&now, file))
        emit_file_name((uint64_t)file, kernel_read(inode, inode, i_ino), time_ns);
    return 0;
}

/* At the end of `call`, for which is_lock_call() is true. A call that failed for another reason
 * changed nothing. */
static __always_inline void file_lock_of_call(const struct moment *now, const struct call *call,
                                              int64_t result)
{
    uint64_t how = (uint32_t)call->arguments[1];
    if (result == -LOCK_EAGAIN || result == -LOCK_EACCES)
        how |= LOCK_REFUSED;
    else if (result != 0)
        return;
    if (call->number == ARCH_FLOCK)
        how |= LOCK_BY_FLOCK;
    if (call->is_compat)
        how |= LOCK_COMPAT;
    emit_file_lock(call->arguments[0], how, call->arguments[2], now->time_ns);
}

#endif
