/* The few kernel types that the programs look into. Only the fields that are used are declared: CO-RE finds their
 * offsets in the running kernel's BTF when the programs are loaded, so the layout here means nothing.
 * A name behind three underscores is a flavour: the same kernel type as another version has it.
 */
#ifndef ARGUS_BPF_KERNEL_TYPES_H
#define ARGUS_BPF_KERNEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
    unsigned long flags;         /* arm64: TIF_32BIT */
    unsigned int status;         /* x86: TS_COMPAT */
    unsigned long preempt_count; /* arm64 */
};

typedef struct {
    int counter;
} atomic_t;

struct signal_struct {
    atomic_t live; /* threads that have not begun to exit */
};

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};

struct files_struct {
    struct fdtable *fdt;
};

struct task_struct {
    struct thread_info thread_info;
    unsigned int __state;
    unsigned int flags;
    int prio;
    int pid;
    int tgid;
    struct task_struct *real_parent;
    struct files_struct *files;
    struct signal_struct *signal;
    char comm[16];
};

struct task_struct___before_5_14 {
    long state;
};

struct inode {
    unsigned short i_mode;
    unsigned long i_ino;
};

struct file {
    struct inode *f_inode;
    void *private_data;
};

struct sock_common {
    unsigned short skc_family;
};

struct sock {
    struct sock_common __sk_common;
    unsigned short sk_type;
    struct socket *sk_socket;
};

struct unix_sock {
    struct sock *peer;
};

struct socket {
    struct sock *sk;
};

struct socket_alloc {
    struct socket socket;
    struct inode vfs_inode;
};

struct timerqueue_node {
    int64_t expires;
};

struct hrtimer_cpu_base {
    unsigned int cpu;
};

struct hrtimer_clock_base {
    struct hrtimer_cpu_base *cpu_base;
};

struct hrtimer {
    struct timerqueue_node node;
    void *function;
    struct hrtimer_clock_base *base;
};

struct timer_list {
    unsigned long expires; /* in ticks */
    void *function;
    unsigned int flags;
};

struct work_struct {
    void *func;
};

struct gendisk {
    int major;
    int first_minor;
};

struct request_queue {
    struct gendisk *disk;
};

struct request {
    struct request_queue *q;
    unsigned int cmd_flags;
    unsigned int __data_len;
    uint64_t __sector;
};

struct request___before_5_17 {
    struct gendisk *rq_disk;
};

struct kernel_siginfo {
    int si_code;
};

struct sigaction {
    void *sa_handler;
    unsigned long sa_flags;
};

struct k_sigaction {
    struct sigaction sa;
};

struct upid {
    int nr;
};

struct pid {
    struct upid numbers[1]; /* the first one: in the first pid namespace */
};

struct timespec64 {
    int64_t tv_sec;
    long tv_nsec;
};

struct itimerspec64 {
    struct timespec64 it_interval;
    struct timespec64 it_value;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, flags;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    unsigned long long regs[31];
    unsigned long long pc;
    unsigned long long orig_x0;
    int syscallno;
};
#endif

#pragma clang attribute pop

#endif
