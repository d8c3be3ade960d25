/* What the BPF programs and the recorder share: the maps' values and the settings in read-only
 * data.
 *
 * Included by both sides, so it uses only fixed-width types, which each side defines first.
 *
 * The ring. One mmap-able array holds cpu_count * slot_count records of 64 bytes; cpu c owns the
 * slots from c * slot_count. A program takes the next sequence number of its cpu by an atomic add
 * (an interrupt may come between and take the following one), fills the slot `sequence &
 * (slot_count - 1)`, and finally stores sequence + 1 into `unused`. So a slot whose `unused` is not
 * sequence + 1 is not yet written, or was overwritten a round later; and a reader that has copied
 * slots learns from the head which of them were overwritten meanwhile (linux/rings.c).
 */
#ifndef ARGUS_RECORDER_LINUX_SHARED_H
#define ARGUS_RECORDER_LINUX_SHARED_H

#include "../flag_spec.h"
#include "../interpreter_spec.h"
#include "../probe_spec.h"

#define BPF_STACK_FRAMES  64   /* deeper stacks keep their innermost frames */
#define BPF_WINDOW_BYTES  2048 /* of a stack that are examined together; a power of two */
#define BPF_SYSCALL_WORDS 8    /* bitmaps over system call numbers 0 … 511 */
#define BPF_SYSCALLS      (BPF_SYSCALL_WORDS * 64)
#define BPF_COMM_BYTES    16 /* TASK_COMM_LEN */

/* Bits of `switched_off` in bpf/ring.h. */
#define BPF_LEFT_OUT_STACKS 1
#define BPF_LEFT_OUT_CALLS  2 /* system calls, messages and probes */

#define BPF_UNWIND_TARGETS  16
#define SNAPSHOT_MOST_BYTES (64 << 10) /* of a stack */
#define BPF_STACK_FARTHEST  (64 << 20) /* an end of the stack farther away than this is wrong */

/* One per cpu, in an mmap-able array; a cache line of its own, and the next one against
 * prefetching. */
struct bpf_cpu {
    uint64_t head;        /* the next sequence number */
    uint64_t stacks_lost; /* stacks that could not be taken or stored */
    /* System calls without a number in the native table: of x32 programs, or 32-bit calls that
     * native programs lack. */
    uint64_t compat_skipped;
    uint64_t timer_base; /* address of the cpu's hrtimer_bases; 0: no timer has fired yet */
    /* Timers of the wheel that no system call has set (bpf/timer_wheel.h). */
    uint64_t timers_skipped;
    uint64_t messages_unseen;  /* messages whose descriptor was closed before the call returned */
    uint64_t snapshot_head;    /* the number of the next stack snapshot */
    uint64_t snapshots_known;  /* snapshots that needed no new slot */
    uint64_t snapshots_same;   /* … of them: recognized without a copy (bpf/known_copy.h) */
    uint64_t snapshots_missed; /* snapshots of chosen processes that could not be taken */
    uint64_t snapshot_busy;    /* 1: a snapshot is being taken */
    /* Range of return addresses in the kernel's system call entry, both inclusive. */
    uint64_t entry_first;
    uint64_t entry_last;             /* (bpf/kernel_stack.h) */
    uint64_t caller_ids, caller_key; /* whose system calls these are: bpf/syscall.h */
    uint64_t call_stack, call_place; /* with which stack the last one began: bpf/stack.h */
    uint64_t late_tid;               /* the thread on this cpu, if its wait was long: bpf/late.h */
} __attribute__((aligned(128)));

/* The value of the stack table; the key is the 64-bit hash of the frames. */
struct bpf_stack {
    uint64_t count;
    uint64_t frames[BPF_STACK_FRAMES]; /* innermost first */
};

/* Scratch: a part of a user's or of a kernel stack. Loop variables are volatile, in memory, because
 * the verifier does not track values through memory: otherwise it would analyse each value
 * separately, and give up. */
struct bpf_window {
    uint64_t words[BPF_WINDOW_BYTES / 8];
    volatile uint64_t address; /* user_stack.h: of the first word */
    volatile uint64_t bytes;   /* user_stack.h: bytes present; fewer at the end of the stack */
    volatile uint64_t found;   /* kernel_stack.h: frames */
};

/* The value of the thread table; the key is the 32-bit thread id. */
struct bpf_thread {
    uint64_t seen_ns; /* CLOCK_MONOTONIC: when this was true */
    uint64_t died_ns; /* 0: it is alive */
    uint32_t pid, parent_pid;
    uint32_t kernel; /* 1: a kernel thread */
    char comm[BPF_COMM_BYTES];
    uint32_t padding;
};

/* A data flag that is watched (bpf/flag.h). */
struct bpf_flag {
    uint64_t address;
    uint64_t hits;
    uint64_t writes; /* of the hits: those that were certainly writes when they happened */
    uint64_t value;  /* the last value seen */
    uint32_t tgid;
    uint32_t bytes;  /* 0: none */
    uint32_t access; /* enum flag_access */
    uint32_t number;
    uint32_t stuck_tid; /* arm64: a thread that cannot go on while the flag is watched; 0: none */
};

#define BPF_WAITS 32768 /* a power of two: threads whose waits are followed at a time */

/* The value of the table of waits (bpf/late.h); the index is the lower bits of the thread id. */
struct bpf_wait {
    uint32_t tid;
    uint32_t late;     /* 1: its stack is to be taken when its system call ends */
    uint64_t since_ns; /* CLOCK_MONOTONIC: start of its wait; 0: it does not wait */
    uint64_t first_ns; /* start of the first wait of that call */
};

#define BPF_POLL_WORDS 16   /* words kept of one poll set; one of them is spare, for the verifier */
#define BPF_POLLERS    8192 /* with more threads, those that polled longest ago are dropped */

/* So many polls for a child's end in quick succession are a wait for the child. */
#define BPF_POLLER_ASKS 10

/* So many more waits at one place than elsewhere: it is certainly a place of the thread's loop. */
#define BPF_POLLER_SURE 3

/* What a poll waits for: the call's arguments. */
struct bpf_poll_set {
    uint64_t number;                /* of the system call */
    uint64_t object;                /* its first argument */
    uint64_t count;                 /* of the words */
    uint64_t words[BPF_POLL_WORDS]; /* poll: its array; select: the set for reading */
};

/* Where a polling thread is. */
enum bpf_poller_place {
    BPF_POLLER_AWAY,
    BPF_POLLER_IN_LOOP,
    BPF_POLLER_IN_HANDLER,
    BPF_POLLER_WRITING, /* in a poll that waits until it can write */
};

/* The value of the table of polling threads (bpf/poller.h); the key is the thread id. */
struct bpf_poller {
    uint64_t returned_ns; /* CLOCK_MONOTONIC: when it last came back from a poll of its loop */
    uint32_t pid;
    uint16_t place;        /* enum bpf_poller_place */
    uint16_t interrupted;  /* where a poll continues that a signal interrupted */
    uint64_t seen_ns;      /* when its last poll began, or its last poll inside a handler ended */
    uint64_t rested_ns;    /* the longest poll of the loop */
    uint64_t returns;      /* how often it came back */
    uint64_t sp;           /* the stack pointer of the loop's poll */
    uint64_t usual_sp;     /* the stack pointer where its loop has waited most often */
    uint64_t other_sp;     /* … and where it has waited second most often */
    uint32_t usual, other; /* waits at each, less those at third places */
    uint64_t usual_ns;     /* when it last came back from the usual place; 0: not yet */
    uint64_t elsewhere;    /* usual_sp less the place where its loop waits; 0: no other place */
    uint64_t inner;        /* polls inside a handler, since returned_ns */
    uint64_t served;       /* how many of them found something ready */
    uint64_t adopted;      /* … at one place, since the loop last called a poll that may wait */
    uint64_t adopted_sp;   /* the stack pointer of that place */
    uint64_t others;       /* … at deeper places, since the last one at adopted_sp */
    uint64_t may_wait;     /* 1: its loop's poll is one that may wait; 0: it has only looked */
    uint64_t looks;        /* looks of its loop since then … */
    uint64_t look_fds;     /* … and their descriptors, as poll_set_fds() */
    uint64_t foreign;      /* 1: its last poll inside a handler shares none of them */
    uint64_t asked_ns;     /* when it last asked whether a child had ended, and none had */
    uint64_t asks;         /* such questions in quick succession; 0: a child has ended */
    uint64_t first_ns;     /* CLOCK_MONOTONIC: when its first poll returned */
    uint64_t woken_ns;     /* CLOCK_MONOTONIC: when it was last woken; 0: not yet */
    uint64_t terminal;     /* key of the terminal from which it last read; 0: none */
    struct bpf_poll_set loop_set;    /* what its loop polls */
    struct bpf_poll_set handler_set; /* what its last poll waited for, inside a handler or not */
};

#define BPF_TERMINALS 1024

/* A terminal: when keys were last written for it, and when a program last read some.
 * CLOCK_MONOTONIC; 0: not yet. */
struct bpf_terminal {
    uint64_t typed_ns, read_ns;
};

/* What a system call that succeeded did with messages. Those up to MESSAGE_SENDFILE return the
 * number of bytes. */
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
    MESSAGE_RECVMMSG, /* socket, array, length, flags; returns how many */
    MESSAGE_SENDMMSG, /* the same; looked at only where sockets have no tracepoints (Linux 6.3) */
    MESSAGE_QUEUE_SEND,
    MESSAGE_QUEUE_RECEIVE,
};

/* Where a call of a 32-bit program has its arguments; its number is in the same value. */
enum compat_form {
    COMPAT_NUMBER = 0x0fff,     /* the bits of the number */
    COMPAT_SOCKETCALL = 0x1000, /* in memory, by the second one; the first says which call */
    COMPAT_IPC = 0x2000,        /* behind the first one, which says which call */
    COMPAT_IN_MEMORY = 0x3000,  /* by the first one */
};

/* Tail-called programs for system calls that are not in the native table. */
enum compat_program { COMPAT_ENTER, COMPAT_EXIT, COMPAT_PROGRAMS };

#define COMPAT_PARTS 32 /* calls behind one number; a power of two */

/* A process chosen by --unwind: by process ID (`comm` empty) or by name (`pid` 0). */
struct bpf_unwind_target {
    uint32_t pid;
    char comm[BPF_COMM_BYTES]; /* padded with NUL */
};

/* The registers of a snapshot, in DWARF's order, and the program counter behind them. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
enum { BPF_REGISTER_SP = 31, BPF_REGISTER_PC = 32, BPF_REGISTERS = 33 };
#else
enum { BPF_REGISTER_SP = 7, BPF_REGISTER_PC = 16, BPF_REGISTERS = 17 };
#endif

enum bpf_snapshot_end {
    BPF_SNAPSHOT_WHOLE = 0,   /* the copy reaches the end of the stack */
    BPF_SNAPSHOT_CUT = 1,     /* the copy is cut off at the size of a slot */
    BPF_SNAPSHOT_MISSING = 2, /* the next page was not in memory */
};

/* Only stack words in these ranges can matter for unwinding. Others are neither part of a
 * snapshot's ID nor kept. */
struct bpf_ranges {
    uint64_t code, code_bytes;         /* of the program itself */
    uint64_t mappings, mappings_bytes; /* libraries, and stacks of other threads */
    uint64_t sp;                       /* and SNAPSHOT_MOST_BYTES above */
    uint64_t code_mask; /* arm64: the bits of a return address that are the address */
    /* 1: a 32-bit program, whose words have 4 bytes; its copy begins at a multiple of 8. */
    uint64_t is_32_bit;
};

/* A slot of the snapshots' ring; bpf/snapshot.h has the rules. */
struct bpf_snapshot {
    uint64_t sequence; /* 1 + its number on its cpu; 0: incomplete */
    uint64_t id;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint32_t pid, tid;
    uint32_t bytes;  /* of `stack`, a multiple of 8 */
    uint32_t end;    /* enum bpf_snapshot_end */
    uint64_t pieces; /* while it is being written: those in bpf/known_copy.h that are there */
    struct bpf_ranges ranges;
    uint64_t registers[BPF_REGISTERS];
    /* From the stack pointer on; settings.snapshot_bytes and SNAPSHOT_SLACK_BYTES. */
    uint64_t stack[];
};

/* The interpreter of a process: addresses in the process. The value of the table of interpreters;
 * the key is the process ID. */
struct bpf_interpreter {
    uint64_t runtime, code_type, text_type, bytes_type;
    uint64_t function; /* ZEND and YARV: the C function that interprets */
    struct interpreter_layout layout;
};

#define INTERPRETER_MOST_UNITS  0xffffff /* instructions of a code object */
#define INTERPRETER_NAME_BYTES  128
#define INTERPRETER_SCOPE_BYTES 64
#define INTERPRETER_FILE_BYTES  256
#define INTERPRETER_TABLE_BYTES 2048

/* A code object of an interpreter: addresses of the instructions, and names. The value of the table
 * of code objects. */
struct bpf_code {
    uint64_t time_ns; /* CLOCK_MONOTONIC: when it was read */
    uint64_t start, bytes;
    uint32_t pid;
    uint32_t line;                                /* the function's first one */
    uint32_t name_bytes, file_bytes, table_bytes; /* file and table: 0: unknown */
    uint32_t scope_bytes;
    uint32_t kind; /* enum interpreter_kind */
    uint32_t padding;
    char scope[INTERPRETER_SCOPE_BYTES + 8]; /* INTERPRETER_ZEND: the class; as the name */
    char name[INTERPRETER_NAME_BYTES + 8];   /* cut off if too long; with a NUL */
    char file[INTERPRETER_FILE_BYTES + 8];
    uint8_t table[INTERPRETER_TABLE_BYTES]; /* of lines; cut off as well */
};

/* What bpf/lasting.h reports of a blocked thread. */
#define BPF_CALL_UNKNOWN UINT32_MAX

struct bpf_waiting {
    uint32_t pid, tid;
    uint64_t since_ns, first_ns; /* as in struct bpf_wait; 0: since before the recording */
    uint64_t argument[2];        /* of the system call: the first two */
    uint32_t call;               /* its number; BPF_CALL_UNKNOWN: 32-bit call, or none */
    uint32_t state;              /* of the task, as the scheduler names it */
    uint64_t end;                /* of the stack; 0: not known */
    uint64_t thread_pointer;
    struct bpf_ranges ranges;
    uint64_t registers[BPF_REGISTERS];
};

/* Copied stacks with the same registers that are recognized (bpf/known_copy.h); a power of two:
 * callers differ, and so does what earlier calls left behind. */
#define KNOWN_WAYS 8
#define KNOWN_SEEN 65536 /* a power of two: registers of which a stack was copied */
#define KNOWN_NEXT 16384 /* a power of two: stacks that are followed by one with such registers */

#define SNAPSHOT_SLACK_BYTES 1024 /* the verifier cannot prove that the last step is shorter */

/* Bits: the kinds of targets; UNWIND_LATE: copy stacks of all processes after long waits. */
enum bpf_unwind { UNWIND_PIDS = 1, UNWIND_NAMES = 2, UNWIND_LATE = 4 };

/* Key of the table of descriptors in epoll sets: the data that epoll_ctl() attached; the value is
 * the descriptor. */
struct bpf_epoll_key {
    uint32_t pid, set; /* process, and descriptor of the set */
    uint64_t data;
};

/* What a system call does with a name of a file. */
#define NAME_CALL_PATH    0x07 /* which argument is the path, from 0 on */
#define NAME_CALL_FOLDER  0x18 /* which argument is the folder's descriptor, from 1 on; 0: none */
#define NAME_CALL_OPENS   0x20 /* exclusive with O_CREAT and O_EXCL, in the argument after the path */
#define NAME_CALL_REMOVES 0x40
#define NAME_CALL_CREATES 0x80 /* … and fails if the name exists */

/* Set before loading, then constant: the verifier removes code that is switched off. */
struct bpf_settings {
    uint32_t own_tgid;    /* the recorder, which never records itself */
    uint32_t slot_count;  /* per cpu, a power of two */
    uint32_t stacks;      /* 1: take stacks */
    uint32_t watch_polls; /* 1: keep the table of polling threads */
    uint32_t probes;      /* 1: probes in libraries */
    /* 1: stacks also at the start of system calls, and of preempted threads. */
    uint32_t call_stacks;
    uint32_t hooks; /* 1: record reports of hooks in programs */
    /* Sched_switch has prev_state as its fourth argument (Linux 5.18). */
    uint32_t state_is_argument;
    uint32_t has_preempt_count;  /* preempt_count_offset is known */
    uint32_t unwind;             /* enum bpf_unwind; 0: no snapshots */
    uint32_t snapshot_bytes;     /* of a stack, a multiple of 8 */
    uint32_t snapshot_slots;     /* per cpu */
    uint32_t snapshot_recent;    /* a stack is copied again after so many copies of its cpu */
    uint32_t known_sets;         /* of bpf/known_copy.h, a power of two; 0: none */
    uint32_t messages;           /* 1: record messages */
    uint32_t has_data_ready;     /* tracepoint sk_data_ready (Linux 6.3) */
    uint32_t has_socket_lengths; /* tracepoints sock_send_length, sock_recv_length (Linux 6.3) */
    uint32_t page_bytes;         /* of memory, a power of two */
    uint32_t drop_has_buffer;    /* udp_fail_queue_rcv_skb has the datagram (Linux 6.10) */
    uint32_t interpreters;       /* number of known interpreter files; 0: no frames are read */
    uint32_t cpu_count;          /* that are online */
    uint32_t client_uid;         /* whose processes probes and interpreters read; 0: all */
    uint32_t padding;
    uint64_t late_ns;             /* after a wait of this length the stack is copied */
    uint64_t own_timer_function;  /* of the timer that drives our cpu samples; 0: not known */
    uint64_t page_shift;          /* a page has 1 << page_shift bytes */
    uint64_t tick_ns;             /* how often the timer wheel turns */
    int64_t preempt_count_offset; /* of the preemption count, from the cpu's hrtimer_bases */
    /* A bit for each call whose first argument is a descriptor. */
    uint64_t object_syscalls[BPF_SYSCALL_WORDS];
    /* A bit for each call whose end is examined: poll …, epoll_ctl, flock, fcntl, and calls that
     * create or remove names. */
    uint64_t end_syscalls[BPF_SYSCALL_WORDS];
    uint64_t poll_syscalls[BPF_SYSCALL_WORDS]; /* a bit for each that waits for descriptors */
    uint64_t long_syscalls[BPF_SYSCALL_WORDS]; /* a bit for each with five or six arguments */
    uint8_t message_operations[BPF_SYSCALLS];  /* enum message_operation */
    uint8_t path_calls[BPF_SYSCALLS];          /* which argument is a path, from 1 on; 0: none */
    uint8_t name_calls[BPF_SYSCALLS]; /* NAME_CALL_… of calls that create or remove names */
    /* Of 32-bit programs: 1 and the native number of each call, and its COMPAT_… form; 0: none. */
    uint16_t compat_calls[BPF_SYSCALLS];
    /* 1 and the native number, by the operation of socketcall(). */
    uint16_t compat_sockets[COMPAT_PARTS];
    uint16_t compat_ipc[COMPAT_PARTS]; /* … of ipc() */
};

#endif
