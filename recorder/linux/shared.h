/* What the BPF programs and the recorder share: the maps' values and the settings in read-only data.
 *
 * Included by both sides, so it uses only the fixed-width types that each side brings along.
 *
 * The ring. One mmap-able array holds cpu_count * slot_count records of 64 bytes; cpu c owns the slots from
 * c * slot_count. A program takes the next sequence number of its cpu by an atomic add (an interrupt may come between
 * and take the following one), fills the slot `sequence & (slot_count - 1)`, and at last stores sequence + 1 into
 * `unused`. So a slot whose `unused` is not sequence + 1 is not yet written, or was overwritten a round later; and a
 * reader that has copied slots knows by the head which of them were still its own (linux/rings.c).
 */
#ifndef ARGUS_RECORDER_LINUX_SHARED_H
#define ARGUS_RECORDER_LINUX_SHARED_H

#define BPF_STACK_FRAMES  64 /* deeper stacks keep their innermost frames */
#define BPF_SYSCALL_WORDS 8  /* bitmaps over system call numbers 0 … 511 */
#define BPF_SYSCALLS      (BPF_SYSCALL_WORDS * 64)
#define BPF_COMM_BYTES    16 /* TASK_COMM_LEN */

/* One per cpu, in an mmap-able array; a cache line of its own, and the next one against prefetching. */
struct bpf_cpu {
    uint64_t head;        /* the next sequence number */
    uint64_t stacks_lost; /* stacks that could not be taken or stored */
    uint64_t
        compat_skipped;  /* system calls of 32-bit programs, whose numbers mean something else */
    uint64_t timer_base; /* address of the cpu's hrtimer_bases; 0: no timer has fired yet */
    uint64_t timers_skipped; /* timers of the wheel that nobody's call has set (bpf/timer_wheel.h) */
    uint64_t messages_unseen; /* whose descriptor was closed before the call returned */
    uint64_t padding[10];
};

/* The value of the stack table; the key is the 64-bit hash of the frames. */
struct bpf_stack {
    uint64_t count;
    uint64_t frames[BPF_STACK_FRAMES]; /* innermost first */
};

/* The value of the thread table; the key is the 32-bit thread id. */
struct bpf_thread {
    uint64_t seen_ns; /* CLOCK_MONOTONIC: when this was true */
    uint64_t died_ns; /* 0: it lives */
    uint32_t pid, parent_pid;
    uint32_t kernel; /* 1: a kernel thread */
    char comm[BPF_COMM_BYTES];
    uint32_t padding;
};

/* What a system call that succeeded did with messages. Those up to MESSAGE_SENDFILE return the number of bytes. */
enum message_operation {
    MESSAGE_NOTHING = 0,
    MESSAGE_READ,     /* descriptor, buffer */
    MESSAGE_WRITE,    /* descriptor, buffer */
    MESSAGE_READV,    /* descriptor, array of buffers */
    MESSAGE_WRITEV,   /* descriptor, array of buffers */
    MESSAGE_SEND,     /* socket */
    MESSAGE_RECVFROM, /* socket, buffer, length, flags */
    MESSAGE_RECVMSG,  /* socket, buffers, flags */
    MESSAGE_VMSPLICE, /* pipe: to or from the user's memory */
    MESSAGE_SPLICE,   /* from, offset, to */
    MESSAGE_TEE,      /* from, to */
    MESSAGE_SENDFILE, /* to, from */
    MESSAGE_RECVMMSG, /* socket, array, length, flags */
    MESSAGE_QUEUE_SEND,
    MESSAGE_QUEUE_RECEIVE,
};

/* Set before loading, then constant: the verifier removes what is switched off. */
struct bpf_settings {
    uint32_t own_tgid;   /* the recorder, which never records itself */
    uint32_t slot_count; /* per cpu, a power of two */
    uint32_t stacks;     /* 1: take stacks */
    uint32_t
        state_is_argument; /* sched_switch has prev_state as its fourth argument (Linux 5.18) */
    uint32_t has_preempt_count;   /* preempt_count_offset is known */
    uint32_t can_cast;            /* the kernel has bpf_rdonly_cast() (Linux 6.2) */
    uint32_t messages;            /* 1: record messages */
    uint32_t has_data_ready;      /* tracepoint sk_data_ready (Linux 6.3) */
    uint32_t has_socket_lengths;  /* tracepoints sock_send_length, sock_recv_length (Linux 6.3) */
    uint32_t drop_has_buffer;     /* udp_fail_queue_rcv_skb has the datagram (Linux 6.10) */
    uint64_t own_timer_function;  /* of the timer that drives our cpu samples; 0: not known */
    uint64_t tick_ns;             /* how often the timer wheel turns */
    int64_t preempt_count_offset; /* of the preemption count, from the cpu's hrtimer_bases */
    uint64_t object_syscalls
        [BPF_SYSCALL_WORDS]; /* a bit for each whose first argument is a descriptor */
    uint64_t long_syscalls[BPF_SYSCALL_WORDS]; /* a bit for each with five or six arguments */
    uint8_t message_operations[BPF_SYSCALLS];  /* enum message_operation */
};

#endif
