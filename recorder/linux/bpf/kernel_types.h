/* The few kernel types that the programs look into. Only the fields that are used are declared:
 * CO-RE finds their offsets in the running kernel's BTF when the programs are loaded, so the layout
 * here means nothing. A name behind three underscores is a flavour: the same kernel type as another
 * version has it.
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

struct percpu_counter {
    int64_t count;
};

struct mm_struct {
    struct percpu_counter rss_stat[4]; /* by MM_FILEPAGES … MM_SHMEMPAGES */
    unsigned long mmap_base;           /* where the mappings are, below it or (rarely) above */
    unsigned long start_code, end_code;
    unsigned long start_stack; /* the stack pointer that exec() gave to the program */
    unsigned long task_size;   /* arm64: of user space, a power of two */
    unsigned long flags;       /* MMF_…; before Linux 6.18 */
};

struct mm_struct___since_6_18 {
    struct {
        unsigned long __mm_flags[1];
    } flags;
};

typedef struct {
    unsigned int val;
} kuid_t;

struct cred {
    kuid_t uid, suid, euid;
};

#if defined(__TARGET_ARCH_x86)
struct desc_struct {
    unsigned short limit0;
};

struct thread_struct {
    unsigned long fsbase;
    struct desc_struct tls_array[3];
};
#elif defined(__TARGET_ARCH_arm64)
struct thread_user_words {
    unsigned long tp_value;
};

struct thread_struct {
    struct thread_user_words uw;
};
#endif

struct cgroup_subsys_state {
    struct cgroup *cgroup;
    struct cgroup_subsys_state *parent;
};

enum cgroup_subsys_id { memory_cgrp_id = 4 };

struct css_set {
    struct cgroup_subsys_state *subsys[1];
};

struct kernfs_node {
    const char *name;
    uint64_t id;
};

struct cgroup {
    struct kernfs_node *kn;
};

struct cfs_bandwidth {
    int64_t period;
    uint64_t quota;
};

struct task_group {
    struct cgroup_subsys_state css;
    struct cfs_bandwidth cfs_bandwidth;
};

struct cfs_rq {
    int throttle_count;
    struct task_group *tg;
};

struct sched_entity {
    struct sched_entity *parent;
    struct cfs_rq *cfs_rq;
};

struct cpumask {
    unsigned long bits[1];
};

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
};

struct vfsmount {
    struct dentry *mnt_root;
};

struct mount {
    struct mount *mnt_parent;
    struct dentry *mnt_mountpoint;
    struct vfsmount mnt;
};

struct fs_struct {
    struct path pwd;
};

struct page_counter {
    struct {
        long counter;
    } usage;
    unsigned long high, max; /* in pages */
};

struct mem_cgroup {
    struct cgroup_subsys_state css;
    struct page_counter memory;
};

/* An array does not match a structure, so the other kernels do not have the
 * member. A type that they lack would be searched in their modules, which needs CAP_SYS_ADMIN. */
struct mm_struct___before_6_2 {
    struct {
        long count[4];
    } rss_stat;
};

struct task_struct {
    struct thread_info thread_info;
    unsigned int __state;
    unsigned int flags;
    int prio;
    struct sched_entity se;
    int nr_cpus_allowed;
    struct cpumask cpus_mask;
    int pid;
    int tgid;
    struct mm_struct *mm;
    struct task_struct *real_parent, *group_leader;
    struct thread_struct thread;
    struct fs_struct *fs;
    struct css_set *cgroups;
    struct files_struct *files;
    struct signal_struct *signal;
    const struct cred *cred;
    char comm[16];
};

struct seq_file;

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

struct task_struct___realtime { /* CONFIG_PREEMPT_RT */
    int softirq_disable_cnt;
};

struct task_struct___before_5_14 {
    long state;
};

struct super_block {
    unsigned int s_dev;
};

struct tty_struct {
    struct tty_struct *link; /* the other end of a pseudo-terminal */
};

struct tty_file_private {
    struct tty_struct *tty;
};

struct inode {
    unsigned short i_mode;
    uint32_t i_rdev;
    unsigned long i_ino;
    struct super_block *i_sb;
    unsigned int i_fsnotify_mask;
    struct fsnotify_mark_connector *i_fsnotify_marks;
};

struct qstr {
    const unsigned char *name;
};

struct dentry {
    struct dentry *d_parent;
    struct qstr d_name;
    struct inode *d_inode;
};

struct file {
    struct inode *f_inode;
    void *private_data;
    struct path f_path;
    unsigned int f_mode;
};

typedef struct {
    struct net *net;
} possible_net_t;

struct in6_addr {
    union {
        unsigned int u6_addr32[4];
    } in6_u;
};

struct sock_common {
    unsigned int skc_daddr, skc_rcv_saddr;
    unsigned short skc_dport, skc_num;
    unsigned short skc_family;
    volatile unsigned char skc_state;
    possible_net_t skc_net;
    struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sk_buff_head {
    struct sk_buff *next, *prev;
    unsigned int qlen;
};

struct sock {
    struct sock_common __sk_common;
    struct sk_buff_head sk_receive_queue;
    unsigned short sk_type;
    unsigned short sk_protocol; /* a bit field before Linux 5.6 */
    unsigned char sk_shutdown;
    struct socket *sk_socket;
};

struct unix_sock {
    struct sock *peer;
};

struct tcp_sock {
    unsigned int write_seq, copied_seq, rcv_nxt;
};

struct iov_iter {
    unsigned long count;
};

struct msghdr {
    struct iov_iter msg_iter;
};

struct udp_sock {
    struct sk_buff_head reader_queue;
};

struct sk_buff {
    struct sk_buff *next, *prev;
    struct sock *sk;
    char cb[48];
    unsigned int len;
    unsigned short protocol; /* of the network layer, big-endian */
    unsigned short transport_header, network_header;
    unsigned char *head;
    unsigned int alloc_cpu; /* Linux 6.2 */
};

struct unix_skb_parms {
    unsigned int consumed;
};

struct pipe_buffer {
    unsigned int offset, len;
};

struct pipe_inode_info {
    unsigned int head, tail;
    unsigned int ring_size;
    struct pipe_buffer *bufs;
};

struct eventfd_ctx {
    uint64_t count;
    unsigned int flags;
};

struct timerfd_ctx {
    int clockid;
};

struct fsnotify_mark {
    unsigned int mask;
    struct fsnotify_group *group;
    struct {
        void *next;
    } obj_list;
};

struct hlist_head {
    void *first;
};

struct fsnotify_mark_connector {
    struct hlist_head list;
};

struct socket {
    struct file *file;
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

typedef struct {
    long counter;
} atomic_long;

struct file___before_6_13 {
    atomic_long f_count; /* who has it open */
};

typedef struct {
    atomic_long refcnt;
} file_reference;

struct file___since_6_13 {
    file_reference f_ref;
};

struct vm_area_struct {
    unsigned long vm_start;
    unsigned long vm_pgoff;
    struct file *vm_file;
};

struct rb_node {
    struct rb_node *rb_right, *rb_left;
};

struct rb_root {
    struct rb_node *rb_node;
};

struct mm_struct___before_6_1 {
    struct rb_root mm_rb;
};

struct vm_area_struct___before_6_1 {
    struct rb_node vm_rb;
    unsigned long vm_start, vm_end;
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

struct address_space {
    struct inode *host;
};

struct page {
    struct address_space *mapping;
    unsigned long __folio_index;
};

struct page___before_6_16 {
    unsigned long index;
};

struct page___before_7_2 {
    unsigned long compound_head;
};

struct page___since_7_2 {
    unsigned long compound_info;
};

struct bio_vec {
    struct page *bv_page;
    unsigned int bv_offset;
};

struct bvec_iter {
    unsigned int bi_idx;
};

struct bio {
    struct bvec_iter bi_iter;
    struct bio_vec *bi_io_vec;
};

struct request {
    struct bio *bio;
    struct request_queue *q;
    unsigned int cmd_flags;
    unsigned int __data_len;
    uint64_t __sector;
};

struct request___before_5_17 {
    struct gendisk *rq_disk;
};

struct mq_attr {
    long mq_curmsgs;
};

struct mqueue_inode_info { /* ipc/mqueue.c */
    struct inode vfs_inode;
    struct mq_attr attr;
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
    unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
    unsigned long ip, cs, flags, sp;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    unsigned long long regs[31];
    unsigned long long sp, pc, pstate;
    unsigned long long orig_x0;
    int syscallno;
};
#endif

#pragma clang attribute pop

#endif
