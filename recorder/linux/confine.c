/* Takes two things away from this process for good: capabilities, and system calls.
 *
 * The filter lists the calls that are allowed, so a call that no one has thought of is refused. A
 * refused call fails with ENOSYS, so that a C library uses the older call that does the same; with
 * EPERM if only its arguments are refused. The process is not ended, because a new C library or
 * kernel must not break a recorder. With the filter, the process starts no program, opens no file
 * for writing, attaches to no process by ptrace(2), maps no code, and makes only local connections,
 * even if an attacker controls it.
 *
 * Filters add up: each stage lists less than the one before. To allow a call: a row. To find a row
 * that is missing: `strace -f` of the recorder shows which calls fail with ENOSYS.
 *
 * Written by hand, without libseccomp: there is one architecture and one list, and a program that
 * may be root needs no further dependency.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "linux/small_file.h"
#include "platform.h"

#if defined(__x86_64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_X86_64
#define X32_CALLS       0x40000000u /* __X32_SYSCALL_BIT: other numbers for the same calls */
#elif defined(__aarch64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_AARCH64
#define X32_CALLS       UINT32_MAX
#endif

/* Called by code that the kernel puts behind a function with a probe at its return. Linux 6.11 to
 * 6.13 filter it as any other call, and a process that may not call it crashes there. Older headers
 * lack the number. */
#define URETPROBE 335

/* The stages in which a call is allowed. */
#define START  (1u << PLATFORM_STARTING)
#define RECORD (1u << PLATFORM_RECORDING)
#define WRITE  (1u << PLATFORM_WRITING)
#define READY  (START | RECORD)
#define ALWAYS (START | RECORD | WRITE)

#define NEW_NAMESPACES                                                                             \
    (CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

/* A call is allowed if the low half of argument `argument`, masked, is `value`; no mask: always. */
struct call {
    uint16_t number;
    uint8_t stages, argument;
    uint32_t mask, value;
};

static const struct call calls[] = {
    /* memory; nothing that was written can be executed */
    {__NR_brk, READY, 0, 0, 0},
    {__NR_mmap, READY, 2, PROT_EXEC, 0},
    {__NR_mprotect, READY, 2, PROT_EXEC, 0},
    {__NR_mremap, READY, 0, 0, 0},
    {__NR_munmap, READY, 0, 0, 0},
    {__NR_madvise, READY, 0, 0, 0},
    /* time, threads, signals, ending */
    {__NR_clock_gettime, ALWAYS, 0, 0, 0},
    {__NR_clock_nanosleep, READY, 0, 0, 0},
    {__NR_nanosleep, READY, 0, 0, 0},
    {__NR_gettimeofday, ALWAYS, 0, 0, 0},
    {__NR_futex, ALWAYS, 0, 0, 0},
    {__NR_set_robust_list, READY, 0, 0, 0},
    {__NR_rseq, READY, 0, 0, 0},
    {__NR_membarrier, READY, 0, 0, 0},
    {__NR_set_tid_address, READY, 0, 0, 0},
    {__NR_getpid, ALWAYS, 0, 0, 0},
    {__NR_gettid, ALWAYS, 0, 0, 0},
    {__NR_getcpu, READY, 0, 0, 0},
    {__NR_getrusage, READY, 0, 0, 0},
    {__NR_sched_yield, READY, 0, 0, 0},
    {__NR_sched_getaffinity, READY, 0, 0, 0},
    {__NR_sched_setscheduler, READY, 0, 0, 0},
    {__NR_setpriority, READY, 0, 0, 0},
    {__NR_rt_sigaction, ALWAYS, 0, 0, 0},
    {__NR_rt_sigprocmask, ALWAYS, 0, 0, 0},
    {__NR_rt_sigreturn, ALWAYS, 0, 0, 0},
    {__NR_sigaltstack, READY, 0, 0, 0},
    {__NR_restart_syscall, ALWAYS, 0, 0, 0},
    {__NR_kill, READY, 0, 0, 0},
    {__NR_tgkill, ALWAYS, 0, 0, 0},
    {__NR_exit, ALWAYS, 0, 0, 0},
    {__NR_exit_group, ALWAYS, 0, 0, 0},
    {__NR_wait4, READY, 0, 0, 0},
    {__NR_waitid, READY, 0, 0, 0},
    /* argus-writer and threads; clone3() hides its flags in memory, so it is refused */
    {__NR_clone, READY, 0, NEW_NAMESPACES, 0},
    /* rights, which these calls can only reduce, but for root's user IDs */
    {__NR_getuid, READY, 0, 0, 0},
    {__NR_geteuid, READY, 0, 0, 0},
    {__NR_getgid, READY, 0, 0, 0},
    {__NR_getegid, READY, 0, 0, 0},
    {__NR_getppid, READY, 0, 0, 0},
    {__NR_setgroups, READY, 0, 0, 0},
    {__NR_setresgid, READY, 0, 0, 0},
    {__NR_setresuid, READY, 0, 0, 0},
    {__NR_capget, READY, 0, 0, 0},
    {__NR_capset, READY, 0, 0, 0},
    {__NR_prctl, READY, 0, 0, 0},
    {__NR_seccomp, READY, 0, 0, 0},
    {__NR_prlimit64, READY, 0, 0, 0},
    {__NR_getrandom, READY, 0, 0, 0},
    {__NR_uname, READY, 0, 0, 0},
    {__NR_sysinfo, READY, 0, 0, 0},
    /* descriptors */
    {__NR_read, ALWAYS, 0, 0, 0},
    {__NR_pread64, READY, 0, 0, 0},
    {__NR_readv, READY, 0, 0, 0},
    {__NR_write, READY, 0, 0, 0},
    {__NR_writev, READY, 0, 0, 0},
    {__NR_pwrite64, ALWAYS, 0, 0, 0},
    {__NR_ftruncate, ALWAYS, 0, 0, 0},
    {__NR_lseek, READY, 0, 0, 0},
    {__NR_close, ALWAYS, 0, 0, 0},
    {__NR_close_range, READY, 0, 0, 0},
    {__NR_dup, READY, 0, 0, 0},
    {__NR_dup3, READY, 0, 0, 0},
    {__NR_fcntl, READY, 0, 0, 0},
    {__NR_ioctl, READY, 0, 0, 0},
    {__NR_fstat, ALWAYS, 0, 0, 0},
    {__NR_fstatfs, READY, 0, 0, 0},
    {__NR_ppoll, READY, 0, 0, 0},
    {__NR_signalfd4, READY, 0, 0, 0},
    {__NR_pipe2, READY, 0, 0, 0},
    {__NR_eventfd2, READY, 0, 0, 0},
    /* files: only for reading */
    {__NR_openat, READY, 2, O_ACCMODE | O_CREAT | O_TRUNC, 0},
    {__NR_newfstatat, ALWAYS, 0, 0, 0},
    {__NR_statx, ALWAYS, 0, 0, 0},
    {__NR_statfs, READY, 0, 0, 0},
    {__NR_getdents64, READY, 0, 0, 0},
    {__NR_readlinkat, READY, 0, 0, 0},
    {__NR_faccessat, READY, 0, 0, 0},
    {__NR_unlinkat, READY, 0, 0, 0}, /* the socket, at the end */
    /* clients */
    {__NR_socket, READY, 0, UINT32_MAX, AF_UNIX},
    {__NR_socketpair, READY, 0, UINT32_MAX, AF_UNIX},
    {__NR_accept4, READY, 0, 0, 0},
    {__NR_getsockopt, READY, 0, 0, 0},
    {__NR_setsockopt, READY, 0, 0, 0},
    {__NR_getpeername, READY, 0, 0, 0},
    {__NR_getsockname, READY, 0, 0, 0},
    {__NR_sendmsg, READY, 0, 0, 0},
    {__NR_sendto, ALWAYS, 0, 0, 0},
    {__NR_recvmsg, READY, 0, 0, 0},
    {__NR_recvfrom, ALWAYS, 0, 0, 0},
    {__NR_shutdown, READY, 0, 0, 0},
    /* what recording is */
    {__NR_bpf, READY, 0, 0, 0},
    {__NR_memfd_create, READY, 0, 0, 0}, /* libbpf since 1.4: the descriptor of a map to come */
    {__NR_perf_event_open, READY, 0, 0, 0},
    {__NR_pidfd_open, READY, 0, 0, 0},
    {__NR_pidfd_getfd, READY, 0, 0, 0},
    {__NR_process_vm_readv, READY, 0, 0, 0},
    {__NR_fsopen, START, 0, 0, 0}, /* tracefs for a descriptor of its own, see tracefs.c */
    {__NR_fsconfig, START, 0, 0, 0},
    {__NR_fsmount, START, 0, 0, 0},
#ifdef __NR_faccessat2
    {__NR_faccessat2, READY, 0, 0, 0},
#endif
#ifdef __x86_64__
    {URETPROBE, ALWAYS, 0, 0, 0},
    /* older calls, which a C library may prefer */
    {__NR_open, READY, 1, O_ACCMODE | O_CREAT | O_TRUNC, 0},
    {__NR_stat, READY, 0, 0, 0},
    {__NR_lstat, READY, 0, 0, 0},
    {__NR_access, READY, 0, 0, 0},
    {__NR_readlink, READY, 0, 0, 0},
    {__NR_unlink, READY, 0, 0, 0},
    {__NR_dup2, READY, 0, 0, 0},
    {__NR_pipe, READY, 0, 0, 0},
    {__NR_poll, READY, 0, 0, 0},
    {__NR_fork, READY, 0, 0, 0},
    {__NR_time, ALWAYS, 0, 0, 0},
    {__NR_arch_prctl, READY, 0, 0, 0},
#endif
};

#define CALL_COUNT     (sizeof(calls) / sizeof(calls[0]))
#define CODES_OF_CALL  6
#define CODES_OF_FRAME 7
#define LOW_HALF       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4)
#define NUMBER_AT      offsetof(struct seccomp_data, nr)
#define ARCH_AT        offsetof(struct seccomp_data, arch)
#define ARGUMENT_AT(i) (offsetof(struct seccomp_data, args) + 8u * (i) + LOW_HALF)

#define LOAD(at)            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(at))
#define AND(mask)           BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask)
#define IF_EQUAL(to, else_) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, to, 0, else_)
#define ALLOW               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(number)      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))

#define PUT(...)                                                                                   \
    do {                                                                                           \
        const struct sock_filter put[] = {__VA_ARGS__};                                            \
        for (size_t i_ = 0; i_ < sizeof(put) / sizeof(put[0]); i_++)                               \
            codes[(*count)++] = put[i_];                                                           \
    } while (0)

static void put_call(const struct call *call, struct sock_filter *codes, unsigned short *count)
{
    if (!call->mask)
        PUT(IF_EQUAL(call->number, 1), ALLOW);
    else
        PUT(IF_EQUAL(call->number, 5), LOAD(ARGUMENT_AT(call->argument)), AND(call->mask),
            IF_EQUAL(call->value, 1), ALLOW, REFUSE(EPERM));
}

static void put_filter(enum platform_stage stage, struct sock_filter *codes, unsigned short *count)
{
    PUT(LOAD(ARCH_AT), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_HERE, 1, 0), REFUSE(ENOSYS),
        LOAD(NUMBER_AT), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_CALLS, 0, 1), REFUSE(ENOSYS));
    for (size_t i = 0; i < CALL_COUNT; i++)
        if (calls[i].stages & 1u << stage)
            put_call(&calls[i], codes, count);
    PUT(REFUSE(ENOSYS));
}

/* SPEC_ALLOW: this process runs no foreign code, which older kernels assume of everything with a
 * filter, and slow it down. */
static void filter_calls(enum platform_stage stage)
{
    struct sock_filter codes[CALL_COUNT * CODES_OF_CALL + CODES_OF_FRAME];
    unsigned short count = 0;
    if (IS_SANITIZED) /* it makes calls of its own at any time */
        return;
    put_filter(stage, codes, &count);
    const struct sock_fprog program = {.len = count, .filter = codes};
    syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
            SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

/* What is still used when everything is attached: BPF maps, events of CPUs that come online, data
 * flags; the memory, files and sockets of other processes; kernel addresses; the next argus-writer
 * becomes its client; priorities; buffers of events; ending an argus-writer. */
static const uint8_t used[] = {
    CAP_BPF,    CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SYSLOG,
    CAP_SETUID, CAP_SETGID,  CAP_SYS_NICE,   CAP_IPC_LOCK,        CAP_KILL,
};

/* Debian's kernels have levels above 2, at which perf_event_open() wants CAP_SYS_ADMIN. */
static bool events_need_admin(void)
{
    char level[16];
    return small_file_read("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) &&
           atoi(level) > 2;
}

static void keep_used_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {0},
                                  kept[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(__NR_capget, &header, held) < 0)
        return;
    for (size_t i = 0; i < sizeof(used); i++)
        kept[CAP_TO_INDEX(used[i])].permitted |= CAP_TO_MASK(used[i]);
    if (events_need_admin())
        kept[CAP_TO_INDEX(CAP_SYS_ADMIN)].permitted |= CAP_TO_MASK(CAP_SYS_ADMIN);
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        kept[i].effective = kept[i].permitted &= held[i].permitted;
    syscall(__NR_capset, &header, kept);
}

void platform_confine(enum platform_stage stage)
{
    if (stage == PLATFORM_RECORDING)
        keep_used_rights();
    filter_calls(stage);
}
