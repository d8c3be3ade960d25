#include <stddef.h>
#include <stdint.h>

#include "linux/load/syscall_bitmaps.h"

#include <sys/syscall.h>

/* Calls whose first argument is a file descriptor, and that can wait for it or wake its waiters. To
 * add a call, add its number. Numbers that an architecture or an older header lacks are left
 * out. */
static const uint16_t object_syscalls[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_accept,
    SYS_accept4,
    SYS_connect,
    SYS_shutdown,
    SYS_sendfile,
    SYS_splice,
    SYS_tee,
    SYS_vmsplice,
    SYS_ioctl,
    SYS_fcntl,
    SYS_flock,
    SYS_fsync,
    SYS_fdatasync,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_syncfs,
    SYS_epoll_pwait,
    SYS_timerfd_settime,
    SYS_copy_file_range,
    SYS_mq_timedsend,
    SYS_mq_timedreceive,
    SYS_getdents64,
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
#ifdef SYS_pidfd_send_signal
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_io_uring_enter
    SYS_io_uring_enter,
#endif
};

/* Calls with five or six arguments, of which the fifth or sixth is informative. */
static const uint16_t long_syscalls[] = {
    SYS_futex,
    SYS_mmap,
    SYS_pselect6,
    SYS_ppoll,
    SYS_epoll_pwait,
    SYS_recvfrom,
    SYS_sendto,
    SYS_recvmmsg,
    SYS_splice,
    SYS_clone,
    SYS_prctl,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_waitid,
    SYS_copy_file_range,
    SYS_mq_timedsend,
    SYS_mq_timedreceive,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_mremap,
    SYS_linkat,
    SYS_renameat2,
    SYS_statx,
    SYS_execveat,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
#ifdef SYS_select
    SYS_select,
#endif
#ifdef SYS_io_uring_enter
    SYS_io_uring_enter,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
};

/* What a call does with messages. To add a call, add its number; shared.h describes the arguments
 * of each operation. */
static const struct {
    uint16_t number;
    enum message_operation operation;
} message_calls[] = {
    {SYS_read, MESSAGE_READ},
    {SYS_write, MESSAGE_WRITE},
    {SYS_pwrite64, MESSAGE_WRITE}, /* for inotify */
    {SYS_readv, MESSAGE_READV},
    {SYS_writev, MESSAGE_WRITEV},
    {SYS_preadv2, MESSAGE_READV}, /* also used to read at the file's position */
    {SYS_pwritev, MESSAGE_WRITEV},
    {SYS_pwritev2, MESSAGE_WRITEV},
    {SYS_sendto, MESSAGE_SEND},
    {SYS_sendmsg, MESSAGE_SEND},
    {SYS_recvfrom, MESSAGE_RECVFROM},
    {SYS_recvmsg, MESSAGE_RECVMSG},
    {SYS_recvmmsg, MESSAGE_RECVMMSG},
    {SYS_sendmmsg, MESSAGE_SENDMMSG},
    {SYS_vmsplice, MESSAGE_VMSPLICE},
    {SYS_splice, MESSAGE_SPLICE},
    {SYS_tee, MESSAGE_TEE},
    {SYS_sendfile, MESSAGE_SENDFILE},
    {SYS_mq_timedsend, MESSAGE_QUEUE_SEND},
    {SYS_mq_timedreceive, MESSAGE_QUEUE_RECEIVE},
};

#define NAME_CALL(path, folder) ((path) | (folder) << 3)

/* Calls that create a name if it does not exist, or remove one (bpf/lock_name.h). To add a call,
 * add a row. */
static const struct {
    uint16_t number;
    uint8_t form; /* NAME_CALL_… */
} name_calls[] = {
    {SYS_openat, NAME_CALL(1, 1) | NAME_CALL_CREATES | NAME_CALL_OPENS},
    {SYS_mkdirat, NAME_CALL(1, 1) | NAME_CALL_CREATES},
    {SYS_linkat, NAME_CALL(3, 3) | NAME_CALL_CREATES},
    {SYS_symlinkat, NAME_CALL(2, 2) | NAME_CALL_CREATES},
    {SYS_unlinkat, NAME_CALL(1, 1) | NAME_CALL_REMOVES},
    {SYS_renameat2, NAME_CALL(1, 1) | NAME_CALL_REMOVES},
#ifdef SYS_renameat
    {SYS_renameat, NAME_CALL(1, 1) | NAME_CALL_REMOVES},
#endif
#ifdef SYS_open
    {SYS_open, NAME_CALL(0, 0) | NAME_CALL_CREATES | NAME_CALL_OPENS},
#endif
#ifdef SYS_mkdir
    {SYS_mkdir, NAME_CALL(0, 0) | NAME_CALL_CREATES},
#endif
#ifdef SYS_link
    {SYS_link, NAME_CALL(1, 0) | NAME_CALL_CREATES},
#endif
#ifdef SYS_symlink
    {SYS_symlink, NAME_CALL(1, 0) | NAME_CALL_CREATES},
#endif
#ifdef SYS_unlink
    {SYS_unlink, NAME_CALL(0, 0) | NAME_CALL_REMOVES},
#endif
#ifdef SYS_rmdir
    {SYS_rmdir, NAME_CALL(0, 0) | NAME_CALL_REMOVES},
#endif
#ifdef SYS_rename
    {SYS_rename, NAME_CALL(0, 0) | NAME_CALL_REMOVES},
#endif
};

/* Calls that look a path up, which can take long: the disk or a server is slow. `path` is which
 * argument it is, from 1 on. To add a call, add a row. */
static const struct {
    uint16_t number;
    uint8_t path;
} path_calls[] = {
    {SYS_openat, 2},     {SYS_newfstatat, 2}, {SYS_statx, 2},    {SYS_faccessat, 2},
    {SYS_readlinkat, 2}, {SYS_unlinkat, 2},   {SYS_mkdirat, 2},  {SYS_renameat2, 2},
    {SYS_linkat, 2},     {SYS_utimensat, 2},  {SYS_execveat, 2}, {SYS_inotify_add_watch, 2},
    {SYS_truncate, 1},   {SYS_statfs, 1},     {SYS_chdir, 1},    {SYS_execve, 1},
    {SYS_getxattr, 1},   {SYS_lgetxattr, 1},  {SYS_setxattr, 1}, {SYS_listxattr, 1},
#ifdef SYS_openat2
    {SYS_openat2, 2},
#endif
#ifdef SYS_faccessat2
    {SYS_faccessat2, 2},
#endif
#ifdef SYS_open
    {SYS_open, 1},       {SYS_creat, 1},      {SYS_stat, 1},     {SYS_lstat, 1},
    {SYS_access, 1},     {SYS_readlink, 1},   {SYS_unlink, 1},   {SYS_mkdir, 1},
    {SYS_rmdir, 1},      {SYS_rename, 1},     {SYS_chmod, 1},
#endif
};

/* Event loops wait by these. */
static const uint16_t poll_syscalls[] = {
    SYS_ppoll,        SYS_pselect6, SYS_epoll_pwait,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_select
    SYS_select,
#endif
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
    SYS_epoll_pwait2,
#endif
};

static void set_bits(uint64_t *words, const uint16_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] < BPF_SYSCALL_WORDS * 64)
            words[numbers[i] / 64] |= 1ull << numbers[i] % 64;
    }
}

void syscalls_fill(struct bpf_settings *settings)
{
    set_bits(settings->object_syscalls, object_syscalls,
             sizeof(object_syscalls) / sizeof(object_syscalls[0]));
    /* their end tells what was ready (bpf/ready.h), the holder of a lock (bpf/file_lock.h), or the
     * other end of a socket (bpf/naming.h) */
    static const uint16_t more[] = {SYS_epoll_ctl, SYS_flock, SYS_fcntl, SYS_connect};
    set_bits(settings->end_syscalls, poll_syscalls,
             sizeof(poll_syscalls) / sizeof(poll_syscalls[0]));
    set_bits(settings->end_syscalls, more, sizeof(more) / sizeof(more[0]));
    set_bits(settings->poll_syscalls, poll_syscalls,
             sizeof(poll_syscalls) / sizeof(poll_syscalls[0]));
    set_bits(settings->long_syscalls, long_syscalls,
             sizeof(long_syscalls) / sizeof(long_syscalls[0]));
    for (size_t i = 0; i < sizeof(name_calls) / sizeof(name_calls[0]); i++) {
        settings->name_calls[name_calls[i].number] = name_calls[i].form;
        set_bits(settings->end_syscalls, &name_calls[i].number, 1);
    }
    for (size_t i = 0; i < sizeof(path_calls) / sizeof(path_calls[0]); i++)
        settings->path_calls[path_calls[i].number] = path_calls[i].path;
    for (size_t i = 0; i < sizeof(message_calls) / sizeof(message_calls[0]); i++)
        settings->message_operations[message_calls[i].number] = message_calls[i].operation;
}
