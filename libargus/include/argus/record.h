/* The record: one raw trace entry, with exactly the meaning of Darwin's kd_buf
 * (xnu-11417.121.6, bsd/sys/kdebug_private.h:260), so that kdebug files and Argus files go through
 * one decoder.
 *
 * A debugid is class (bits 31..24), subclass (23..16), code (15..2) and function (1..0: start, end,
 * none). The ids and their arguments are listed in docs/man/argus-trace.5.md, section
 * "Tracepoints"; libargus/event/tracepoints.def is the same table as code.
 */
#ifndef ARGUS_RECORD_H
#define ARGUS_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct argus_record {
    uint64_t timestamp; /* ticks of the trace's timebase (Linux: CLOCK_MONOTONIC ns) */
    uint64_t arg[4];
    uint64_t tid; /* the thread that was current on the CPU, even inside an interrupt */
    uint32_t debugid;
    uint32_t cpu;
    uint64_t unused; /* kd_buf's padding; 0 in files */
};

#define ARGUS_DEBUGID(class_, subclass, code)                                                      \
    ((uint32_t)(class_) << 24 | (uint32_t)(subclass) << 16 | (uint32_t)(code) << 2)
#define ARGUS_DEBUGID_CLASS(id)    ((uint32_t)(id) >> 24)
#define ARGUS_DEBUGID_SUBCLASS(id) (((uint32_t)(id) >> 16) & 0xff)
#define ARGUS_DEBUGID_CODE(id)     (((uint32_t)(id) >> 2) & 0x3fff)
#define ARGUS_DEBUGID_FUNC(id)     ((uint32_t)(id)&3)
#define ARGUS_DEBUGID_EVENT(id)    ((uint32_t)(id) & ~3u)

enum { ARGUS_FUNC_NONE = 0, ARGUS_FUNC_START = 1, ARGUS_FUNC_END = 2 };

/* Darwin's IDs, also used for Linux events with the same meaning. */
#define ARGUS_ID_SWITCH        0x01400000u /* MACH_SCHED */
#define ARGUS_ID_MAKE_RUNNABLE 0x01400018u /* MACH_MAKE_RUNNABLE */
#define ARGUS_ID_INTERRUPT     0x01050000u
#define ARGUS_ID_TIMER_FIRED   0x01090008u /* TIMER_CALLOUT, start and end */
#define ARGUS_ID_TIMER_ARMED   0x0109001cu /* TIMER_ENTER */
#define ARGUS_ID_TIMER_CANCEL  0x01090020u
#define ARGUS_ID_NEW_THREAD    0x07000004u                   /* TRACE_DATA_NEWTHREAD */
#define ARGUS_ID_EXEC          0x07000008u                   /* TRACE_DATA_EXEC */
#define ARGUS_ID_THREAD_EXIT   0x0700000cu                   /* TRACE_DATA_THREAD_TERMINATE */
#define ARGUS_ID_NAME_NEW      0x07010004u                   /* TRACE_STRING_NEWTHREAD */
#define ARGUS_ID_NAME_EXEC     0x07010008u                   /* TRACE_STRING_EXEC */
#define ARGUS_ID_NAME_THREAD   0x07010010u                   /* TRACE_STRING_THREADNAME */
#define ARGUS_ID_SYSCALL(nr)   ARGUS_DEBUGID(0x04, 0x0c, nr) /* BSC_*, start and end */

/* Class 0x60: what exists only on Linux or only in Argus. */
#define ARGUS_CLASS               0x60
#define ARGUS_ID_STACK            ARGUS_DEBUGID(ARGUS_CLASS, 0, 1)
#define ARGUS_ID_SAMPLE           ARGUS_DEBUGID(ARGUS_CLASS, 0, 2)
#define ARGUS_ID_SOFTIRQ          ARGUS_DEBUGID(ARGUS_CLASS, 1, 1) /* start and end */
#define ARGUS_ID_WORK             ARGUS_DEBUGID(ARGUS_CLASS, 1, 2) /* start and end */
#define ARGUS_ID_WORK_QUEUED      ARGUS_DEBUGID(ARGUS_CLASS, 1, 3)
#define ARGUS_ID_BLOCK_ISSUED     ARGUS_DEBUGID(ARGUS_CLASS, 1, 4)
#define ARGUS_ID_BLOCK_COMPLETED  ARGUS_DEBUGID(ARGUS_CLASS, 1, 5)
#define ARGUS_ID_ITIMER_ARMED     ARGUS_DEBUGID(ARGUS_CLASS, 1, 7)
#define ARGUS_ID_ITIMER_FIRED     ARGUS_DEBUGID(ARGUS_CLASS, 1, 8)
#define ARGUS_ID_BLOCK_FILE       ARGUS_DEBUGID(ARGUS_CLASS, 1, 9)
#define ARGUS_ID_CPU_LIMITS       ARGUS_DEBUGID(ARGUS_CLASS, 1, 10)
#define ARGUS_ID_CPU_GROUP        ARGUS_DEBUGID(ARGUS_CLASS, 1, 11)
#define ARGUS_ID_BLOCK_QUEUED     ARGUS_DEBUGID(ARGUS_CLASS, 1, 12)
#define ARGUS_ID_SYSCALL_MORE     ARGUS_DEBUGID(ARGUS_CLASS, 2, 1)
#define ARGUS_ID_OBJECT           ARGUS_DEBUGID(ARGUS_CLASS, 2, 2)
#define ARGUS_ID_LOCK             ARGUS_DEBUGID(ARGUS_CLASS, 2, 3)
#define ARGUS_ID_MESSAGE          ARGUS_DEBUGID(ARGUS_CLASS, 2, 4)
#define ARGUS_ID_SIGNAL_SENT      ARGUS_DEBUGID(ARGUS_CLASS, 2, 5)
#define ARGUS_ID_SIGNAL_DELIVERED ARGUS_DEBUGID(ARGUS_CLASS, 2, 6)
#define ARGUS_ID_READY            ARGUS_DEBUGID(ARGUS_CLASS, 2, 7)
#define ARGUS_ID_MAPPING          ARGUS_DEBUGID(ARGUS_CLASS, 2, 8)
#define ARGUS_ID_FILE_LOCK        ARGUS_DEBUGID(ARGUS_CLASS, 2, 9)
#define ARGUS_ID_FILE_LOCK_NAME   ARGUS_DEBUGID(ARGUS_CLASS, 2, 10)
#define ARGUS_ID_OPEN_END         ARGUS_DEBUGID(ARGUS_CLASS, 2, 11)
#define ARGUS_ID_REMOTE           ARGUS_DEBUGID(ARGUS_CLASS, 2, 12)
#define ARGUS_ID_FILE_NAME        ARGUS_DEBUGID(ARGUS_CLASS, 2, 13)
#define ARGUS_ID_CALL_PATH        ARGUS_DEBUGID(ARGUS_CLASS, 2, 14)
#define ARGUS_ID_WAITING          ARGUS_DEBUGID(ARGUS_CLASS, 2, 15)
#define ARGUS_ID_MEMORY_STALL     ARGUS_DEBUGID(ARGUS_CLASS, 2, 16)
#define ARGUS_ID_MEMORY_GROUP     ARGUS_DEBUGID(ARGUS_CLASS, 2, 17)
#define ARGUS_ID_MEMORY_SIZE      ARGUS_DEBUGID(ARGUS_CLASS, 2, 18)
#define ARGUS_ID_FLAG_SHARED      ARGUS_DEBUGID(ARGUS_CLASS, 2, 19)
#define ARGUS_ID_SHARED_MEMORY    ARGUS_DEBUGID(ARGUS_CLASS, 2, 23)

#define ARGUS_ID_CALLBACK_QUEUED    ARGUS_DEBUGID(ARGUS_CLASS, 3, 1)
#define ARGUS_ID_CALLBACK           ARGUS_DEBUGID(ARGUS_CLASS, 3, 2) /* start and end */
#define ARGUS_ID_CALLBACK_CANCELLED ARGUS_DEBUGID(ARGUS_CLASS, 3, 3)
#define ARGUS_ID_UI_EVENT           ARGUS_DEBUGID(ARGUS_CLASS, 3, 4)
#define ARGUS_ID_HANDLER            ARGUS_DEBUGID(ARGUS_CLASS, 3, 5)
#define ARGUS_ID_HOOK               ARGUS_DEBUGID(ARGUS_CLASS, 3, 6)
#define ARGUS_ID_SUSPENDED          ARGUS_DEBUGID(ARGUS_CLASS, 4, 1)
#define ARGUS_ID_CLOCK_STEP         ARGUS_DEBUGID(ARGUS_CLASS, 4, 2)
#define ARGUS_ID_LEFT_OUT           ARGUS_DEBUGID(ARGUS_CLASS, 4, 3)
#define ARGUS_ID_FLAG_WRITE         ARGUS_DEBUGID(ARGUS_CLASS, 5, 1)
#define ARGUS_ID_FLAG_READ          ARGUS_DEBUGID(ARGUS_CLASS, 5, 2)

/* Categories in ARGUS_ID_LEFT_OUT: bits of enum category, recorder/category.h. */
#define ARGUS_LEFT_OUT_SYSCALLS   (1u << 1)
#define ARGUS_LEFT_OUT_MESSAGES   (1u << 2)
#define ARGUS_LEFT_OUT_TIMERS     (1u << 3)
#define ARGUS_LEFT_OUT_INTERRUPTS (1u << 4)
#define ARGUS_LEFT_OUT_WORK       (1u << 5)
#define ARGUS_LEFT_OUT_BLOCK      (1u << 6)
#define ARGUS_LEFT_OUT_SIGNALS    (1u << 7)
#define ARGUS_LEFT_OUT_STACKS     (1u << 8)
#define ARGUS_LEFT_OUT_PROBES     (1u << 9)
/* These go and come together. */
#define ARGUS_LEFT_OUT_CALLS                                                                       \
    (ARGUS_LEFT_OUT_SYSCALLS | ARGUS_LEFT_OUT_MESSAGES | ARGUS_LEFT_OUT_PROBES)

/* First argument of a getpid() call by which a hook (dylib-hooks/runtime/emit.h) leaves a record:
 * the second argument is the record's debugid, of subclass 3, the others are the record's
 * arguments. */
#define ARGUS_HOOK_CALL 0x4b4f4f4853554752ull

/* arg4 of ARGUS_ID_MAKE_RUNNABLE on Linux: the context from which the wake-up came. */
enum argus_context {
    ARGUS_CONTEXT_TASK = 0,
    ARGUS_CONTEXT_SOFTIRQ = 1,
    ARGUS_CONTEXT_HARDIRQ = 2,
    ARGUS_CONTEXT_NMI = 3,
    ARGUS_CONTEXT_UNKNOWN = 4, /* the kernel did not let the recorder find out */
};

/* arg1 bits 0..7 of ARGUS_ID_MEMORY_STALL: what the thread did before it got memory. */
enum argus_memory_stall {
    ARGUS_MEMORY_RECLAIM = 1,       /* freed pages of the machine, which had none free */
    ARGUS_MEMORY_GROUP_RECLAIM = 2, /* freed pages of its control group, which was at its limit */
    ARGUS_MEMORY_COMPACTION = 3,    /* moved pages, to make a large block */
};
#define ARGUS_MEMORY_STALL(kind, bytes) ((uint64_t)(kind) | (uint64_t)(bytes) << 8)
#define ARGUS_MEMORY_STALL_KIND(arg1)   ((uint32_t)((arg1)&0xff))
#define ARGUS_MEMORY_STALL_BYTES(arg1)  ((uint64_t)(arg1) >> 8)

/* arg1 of ARGUS_ID_SWITCH on Linux: the state the outgoing thread was left in
 * (include/linux/sched.h). 0 means it was still runnable: preempted, or yielding. */
#define ARGUS_LINUX_STATE_RUNNING         0x0000u
#define ARGUS_LINUX_STATE_INTERRUPTIBLE   0x0001u
#define ARGUS_LINUX_STATE_UNINTERRUPTIBLE 0x0002u
#define ARGUS_LINUX_STATE_STOPPED         0x0004u
#define ARGUS_LINUX_STATE_TRACED          0x0008u
#define ARGUS_LINUX_STATE_DEAD            0x0080u /* TASK_DEAD: will never run again */
/* TASK_FROZEN, since Linux 6.1: by its control group, or because the machine goes to sleep */
#define ARGUS_LINUX_STATE_FROZEN 0x8000u

/* arg3 of ARGUS_ID_MAKE_RUNNABLE, besides 1 for a new thread: what Darwin's records tell. No file
 * contains these bits: they are set when the records are read. */
#define ARGUS_WAKE_TIMED_OUT   2u
#define ARGUS_WAKE_INTERRUPTED 4u
#define ARGUS_WAKE_CLEARED     8u  /* woken whatever it waits for: clear_wait() */
#define ARGUS_WAKE_SAID        30u /* all of the above */
#define ARGUS_WAKE_MAINTENANCE 16u /* kernel maintenance that any thread may have to do */

/* A word of a stack snapshot whose memory was not present ("STACKGAP"). */
#define ARGUS_SNAPSHOT_GAP 0x5041474b43415453ull

/* arg3 of ARGUS_ID_STACK: the record to which the stack belongs, just before it on the same CPU and
 * thread. */
enum argus_stack_why {
    /* the thread is about to leave the CPU for a blocking wait; arg4: its stack pointer */
    ARGUS_STACK_BLOCK = 1,
    ARGUS_STACK_WAKE = 2, /* the waker */
    ARGUS_STACK_FLAG = 3, /* the thread that read or wrote a data flag */
    ARGUS_STACK_CALL = 4, /* the thread begins a system call (--call-stacks) */
    /* the thread is preempted (--call-stacks) */
    ARGUS_STACK_PREEMPTED = 5,
    /* The thread has just returned from a wait: the stack shows where it waited. Linux: for its
     * waits since arg4 (a time of the trace clock); the file's late stacks already assign it to
     * them (trace.h). arg2 is the stack pointer. */
    ARGUS_STACK_WAITED = 6,
};

/* The interpreter's frames at the time of a stack copy are a stack of their own, whose ID is the
 * copy's ID ^ this. An entry is the address of an instruction, or a mark: one of these bits with an
 * address.
 * BEFORE, AFTER: an address on the C stack, in the frame of the C function that interprets the
 * entries behind it (BEFORE) or in front of it (AFTER).
 * INSIDE: the start of a C function. The next frame of that function interprets the entries behind
 * the mark. */
#define ARGUS_STACK_INTERPRETED 0x2545f4914f6cdd1cull
#define ARGUS_FRAME_MARK_BEFORE (1ull << 62)
#define ARGUS_FRAME_MARK_AFTER  (1ull << 61)
#define ARGUS_FRAME_MARK_INSIDE (1ull << 60)

/* The table of lines of an interpreter's code object, if it is this one byte, which begins no entry
 * of CPython's: the first line has the first two bytes of the code, each further line the next two;
 * the last two bytes stand for a line that is not known. */
#define ARGUS_CODE_EVEN_LINES 1

/* From this number on, probes are hooks in programs, or events of their own tracing (argus import).
 */
#define ARGUS_PROBE_FIRST_HOOK 0x10000u

/* The probe number that stands for libdispatch's own records (Darwin's class 0x2e). */
#define ARGUS_PROBE_LIBDISPATCH 0x2e050000u

/* The same for vouchers (Darwin's class 0x01, subclass 0x20). No file contains such records: they
 * are made from Darwin's records on reading. arg1 is the voucher, arg2 the process that it is for
 * (0: unknown), arg4 the operation. */
#define ARGUS_PROBE_VOUCHER 0x01200000u
enum argus_voucher_use { ARGUS_VOUCHER_SENT, ARGUS_VOUCHER_RECEIVED, ARGUS_VOUCHER_ADOPTED };

/* The same for paths that Darwin's kernel looks up. arg1 is the offset in the path of the text in
 * arg2 and arg4, with ARGUS_PATH_ENDS in the last record. */
#define ARGUS_PROBE_PATH 0x03010090u
#define ARGUS_PATH_ENDS  (1ull << 32)
#define ARGUS_PATH_BYTES 128

/* The end of a callback, concluded from the poll of its event loop rather than told by a probe. */
#define ARGUS_PROBE_POLL 0xfffffffeu

/* What a library's probe reports (chunk kind 10). The numbers are part of the file format. */
enum argus_probe_shape {
    ARGUS_PROBE_QUEUE = 1,  /* a callback is queued */
    ARGUS_PROBE_CANCEL = 2, /* a queued callback is cancelled */
    ARGUS_PROBE_BEGIN = 3,  /* a callback begins to run */
    ARGUS_PROBE_END = 4,    /* a callback has run */
    /* an event loop begins its next iteration: what it ran before has ended */
    ARGUS_PROBE_TURN = 5,
    ARGUS_PROBE_UI = 6,   /* a UI event is handed to the program */
    ARGUS_PROBE_READ = 7, /* a UI event is read from the display server */
    /* a function of the program is called for the current callback or UI event */
    ARGUS_PROBE_HANDLER = 8,
    ARGUS_PROBE_NOTE = 9,        /* as its label says */
    ARGUS_PROBE_FLAG_WRITE = 10, /* a data flag is written */
    ARGUS_PROBE_FLAG_READ = 11,
    ARGUS_PROBE_SHAPES
};

/* The label of a hook that reports a program's spinning cursor: its arg1 is the connection, its
 * arg4 whether the cursor spins. */
#define ARGUS_LABEL_SPINNING "spinning"

/* arg1 of ARGUS_ID_UI_EVENT. Only the kind of event: never which key or which position. */
enum argus_ui_event {
    ARGUS_UI_OTHER = 0,
    ARGUS_UI_KEY_PRESS = 1,
    ARGUS_UI_KEY_RELEASE = 2,
    ARGUS_UI_BUTTON_PRESS = 3,
    ARGUS_UI_BUTTON_RELEASE = 4,
    ARGUS_UI_MOTION = 5,
    ARGUS_UI_SCROLL = 6,
    ARGUS_UI_TOUCH = 7,
    ARGUS_UI_ENTER = 8,
    ARGUS_UI_LEAVE = 9,
    ARGUS_UI_FOCUS = 10,
    ARGUS_UI_EXPOSE = 11,
    ARGUS_UI_RESIZE = 12,
    ARGUS_UI_CLOSE = 13,
    ARGUS_UI_EVENTS
};

/* ARGUS_ID_MESSAGE. Section MESSAGES of docs/man/argus-trace.5.md gives channel and position for
 * each kind. */
enum argus_channel {
    ARGUS_CHANNEL_PIPE = 1, /* also FIFO */
    ARGUS_CHANNEL_UNIX_STREAM = 2,
    ARGUS_CHANNEL_UNIX_SEQPACKET = 3,
    ARGUS_CHANNEL_UNIX_DATAGRAM = 4,
    ARGUS_CHANNEL_TCP = 5,
    ARGUS_CHANNEL_UDP = 6,
    ARGUS_CHANNEL_EVENTFD = 7,
    ARGUS_CHANNEL_SIGNALFD = 8,
    ARGUS_CHANNEL_TIMERFD = 9,
    ARGUS_CHANNEL_INOTIFY = 10,
    ARGUS_CHANNEL_MQUEUE = 11,
    ARGUS_CHANNEL_MACH = 12, /* Darwin: messages to the ports of a process */
    ARGUS_CHANNEL_COUNT
};

#define ARGUS_MESSAGE_RECEIVE 1u
#define ARGUS_MESSAGE_PEEK    2u /* the data stays in the channel */
/* arg3 is this message's position, even if other threads used the channel */
#define ARGUS_MESSAGE_CERTAIN   4u
#define ARGUS_MESSAGE_POSITION  8u /* arg3 is valid */
#define ARGUS_MESSAGE_TRUNCATED 16u
#define ARGUS_MESSAGE_DOUBTFUL  32u /* arg3 may be the position of another thread's message */
#define ARGUS_MESSAGE_DROPPED   64u
#define ARGUS_MESSAGE_GAP       128u /* earlier bytes of the same call may have no record yet */

/* arg2 of ARGUS_ID_MESSAGE. */
#define ARGUS_MESSAGE_WHAT(bytes, kind, flags)                                                     \
    (((uint64_t)(bytes)&0xffffffffffffull) | (uint64_t)(kind) << 48 | (uint64_t)(flags) << 56)
#define ARGUS_MESSAGE_BYTES(what) ((uint64_t)(what)&0xffffffffffffull)
#define ARGUS_MESSAGE_KIND(what)  ((uint32_t)((what) >> 48) & 0xff)
#define ARGUS_MESSAGE_FLAGS(what) ((uint32_t)((what) >> 56))
/* Bit of arg4 of timer records on Linux: the timer is one of the timer wheel, not a high-resolution
 * timer. */
#define ARGUS_TIMER_WHEEL 0x100000000ull

/* arg4 of ARGUS_ID_BLOCK_ISSUED, bits 32 to 39 (include/linux/blk_types.h, enum req_op). */
enum argus_block_operation {
    ARGUS_BLOCK_READ = 0,
    ARGUS_BLOCK_WRITE = 1,
    ARGUS_BLOCK_FLUSH = 2,
    ARGUS_BLOCK_DISCARD = 3,
};

/* arg4 of ARGUS_ID_MAPPING, bits 0 to 7: why the address was recorded. */
enum argus_mapping_why {
    ARGUS_MAPPING_FUTEX = 1, /* the thread waits for a futex that several processes can share */
    ARGUS_MAPPING_FAULT = 2, /* it waits for the page at the address */
};

/* arg2 of ARGUS_ID_OPEN_END: for what the process has the pipe or socket open. */
#define ARGUS_OPEN_END_READS  1u
#define ARGUS_OPEN_END_WRITES 2u
/* The socket is a display server's end of a connection (X11, Wayland), or listens for connections.
 */
#define ARGUS_OPEN_END_DISPLAY 4u

/* ARGUS_ID_SHARED_MEMORY: bit 0 of arg1, and the unit of the size in arg4. */
#define ARGUS_SHARED_WRITABLE 1u
#define ARGUS_SHARED_PAGE     4096u

/* arg1 of ARGUS_ID_WAITING: the number of the system call, and the state of the task. */
#define ARGUS_WAITING(call, state) ((uint64_t)(uint32_t)(call) | (uint64_t)(state) << 32)
#define ARGUS_WAITING_CALL(arg)    ((uint32_t)(arg))
#define ARGUS_WAITING_STATE(arg)   ((arg) >> 32)
#define ARGUS_WAITING_CALL_UNKNOWN UINT32_MAX

/* arg4 of ARGUS_ID_REMOTE: the ports in host order; the protocol, as in an IP header; 4 or 6. */
#define ARGUS_REMOTE_WHAT(port, own_port, protocol, version)                                       \
    ((uint64_t)(uint16_t)(port) | (uint64_t)(uint16_t)(own_port) << 16 |                           \
     (uint64_t)(protocol) << 32 | (uint64_t)(version) << 40)
#define ARGUS_REMOTE_PORT(word)     ((uint16_t)(word))
#define ARGUS_REMOTE_OWN_PORT(word) ((uint16_t)((word) >> 16))
#define ARGUS_REMOTE_PROTOCOL(word) ((uint8_t)((word) >> 32))
#define ARGUS_REMOTE_VERSION(word)  ((uint8_t)((word) >> 40))

/* arg2 of ARGUS_ID_FILE_LOCK: the file's device (major << 20 | minor), what happened, the kind of
 * lock, flags. */
#define ARGUS_FILE_LOCK(device, what, kind, flags)                                                 \
    ((uint64_t)(uint32_t)(device) | (uint64_t)(what) << 32 | (uint64_t)(kind) << 40 |              \
     (uint64_t)(flags) << 48)
#define ARGUS_FILE_LOCK_DEVICE(word) ((uint32_t)(word))
#define ARGUS_FILE_LOCK_WHAT(word)   ((uint32_t)((word) >> 32) & 0xff)
#define ARGUS_FILE_LOCK_KIND(word)   ((uint32_t)((word) >> 40) & 0xff)
#define ARGUS_FILE_LOCK_FLAGS(word)  ((uint32_t)((word) >> 48))

enum argus_file_lock_what {
    ARGUS_FILE_LOCK_GOT = 1,
    ARGUS_FILE_LOCK_REFUSED = 2, /* the call was non-blocking and did not get the lock */
    ARGUS_FILE_LOCK_RELEASED = 3,
    ARGUS_FILE_LOCK_WAITS = 4, /* only with ARGUS_FILE_LOCK_HELD */
};

enum argus_file_lock_kind {
    ARGUS_FILE_LOCK_FLOCK = 1,   /* flock(); does not conflict with fcntl() locks */
    ARGUS_FILE_LOCK_PROCESS = 2, /* fcntl(F_SETLK): the process owns it */
    ARGUS_FILE_LOCK_OPEN = 3,    /* fcntl(F_OFD_SETLK): the open file description owns it */
    ARGUS_FILE_LOCK_NAME = 4,    /* a lock file: the process that creates it has the lock */
    ARGUS_FILE_LOCK_LEASE = 5,   /* fcntl(F_SETLEASE): whoever opens the file waits for its end */
};

#define ARGUS_FILE_LOCK_EXCLUSIVE 1u /* a write lock; otherwise a shared one */
/* not from a call: an entry of the kernel's list of locks at this time */
#define ARGUS_FILE_LOCK_HELD 2u

/* arg3 of ARGUS_ID_FLAG_WRITE and ARGUS_ID_FLAG_READ: where the access was made, the flag's size,
 * how it was detected. */
#define ARGUS_FLAG_WHERE(pc, bytes, by)                                                            \
    (((uint64_t)(pc)&0xffffffffffffffull) | (uint64_t)(bytes) << 56 | (uint64_t)(by) << 60)
#define ARGUS_FLAG_PC(where)    ((uint64_t)(where)&0xffffffffffffffull)
#define ARGUS_FLAG_BYTES(where) ((uint32_t)((where) >> 56) & 15)
#define ARGUS_FLAG_BY(where)    ((uint32_t)((where) >> 60))

enum argus_flag_by {
    ARGUS_FLAG_BY_WATCHPOINT = 0, /* a hardware watchpoint for writes */
    ARGUS_FLAG_BY_HOOK = 1,       /* code inserted into the program, or a user's statement */
    /* A hardware watchpoint for reads and writes: an access that changes the value is a write. */
    ARGUS_FLAG_BY_VALUE = 2,
    /* A debugger's watchpoint: value and time are those of the stop after the access, and the
     * record's CPU means nothing. */
    ARGUS_FLAG_BY_DEBUGGER = 3,        /* for reads and writes, as ARGUS_FLAG_BY_VALUE */
    ARGUS_FLAG_BY_DEBUGGER_WRITES = 4, /* for writes */
};

/* The last frame of an incomplete stack: not an address, but the reason why it ends. */
enum argus_frame_end {
    ARGUS_FRAME_OUTERMOST = 0, /* never in a stack: the stack is complete */
    ARGUS_FRAME_CUT = 1,       /* the copy of the stack ends here */
    ARGUS_FRAME_MISSING = 2,   /* the next page of the stack was not in memory */
    ARGUS_FRAME_UNKNOWN = 3,   /* no unwind information for the previous frame */
    ARGUS_FRAME_DEEP = 4,      /* more frames than a stack in a trace may have */
    /* the frame pointers lead to something that is not code (not in files) */
    ARGUS_FRAME_ASTRAY = 5,
    ARGUS_FRAME_ENDS = 6, /* number of reasons */
};

#ifdef __cplusplus
}
#endif
#endif
