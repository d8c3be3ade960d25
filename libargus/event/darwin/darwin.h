/* Translates Darwin's records into Argus's.
 *
 * Argus's records have Darwin's format, and mostly the same meaning. The two differ in the meaning
 * of some arguments, in facts for which Darwin needs two records and Argus one, and in facts that
 * Linux records and that have to be inferred on Darwin. This stage translates record by record,
 * between the file and the merge's readers (event/merge.h). So later stages need not know from
 * which system a trace is, except for the numbers of system calls and errors.
 *
 * What is inferred, and how reliably:
 *   - Whether a thread that leaves its CPU waits: MACH_DISPATCH after the switch has its state; if
 *     that is missing, MACH_BLOCK before the switch, which only a thread about to wait writes; if
 *     the trace has neither, the reason in the switch. A trace with only kperf's switches does not
 *     tell: each counts as a wait.
 *   - The context of a wake-up: which of INTERRUPT and TIMER_CALLOUT is open on that CPU.
 *   - An idle CPU runs its idle thread, or idles in the thread that waited there last: both become
 *     thread 0.
 *   - Which message is received: exactly, if the kernel records message IDs (MACH_IPC_msg_send and
 *     _recv). Release kernels of Apple silicon do not. Then, if a send wakes a thread that waits in
 *     a receive, the sender's remote port belongs to that thread. Messages to that port are matched
 *     in order, and replies go to the thread that sent the request. Such pairs are marked as
 *     doubtful.
 *   - For which process a message is sent: by its voucher (darwin_vouchers.c).
 *   - The holder of a lock: turnstiles name the thread that inherits the waiter's priority, which
 *     is the holder.
 *
 * To add a record: a row in darwin_rows[] (darwin.c) and a function that emits its translation; a
 * row in tracepoints_darwin.def for its name. The sources are those of xnu-11417.121.6; files are
 * named where they matter.
 */
#ifndef ARGUS_EVENT_DARWIN_H
#define ARGUS_EVENT_DARWIN_H

#include "argus/event.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "event/syscalls.h"
#include "trace/kdebug_stack.h"
#include "trace/kdebug_strings.h"

/* Size of the look-ahead: MACH_DISPATCH follows its switch within a few records. */
enum { DARWIN_AHEAD = 24, DARWIN_QUEUE = 8 };

/* The size of a voucher's contents (osfmk/ipc/ipc_voucher.c: PAYLOAD_SIZE), and how many are
 * assembled at a time. */
enum { DARWIN_RECIPE_BYTES = 1024, DARWIN_RECIPES = 64 };

/* Mach traps are numbered DARWIN_TRAP + number among the system calls; BSD calls have smaller
 * numbers. */
#define DARWIN_TRAP       0x2000u
#define DARWIN_IS_TRAP(n) ((n) >= DARWIN_TRAP && (n) < DARWIN_TRAP + 0x400)

/* ECVCLEARED and ECVPREPOST, which psynch_cvwait() adds to an error: libpthread's
 * kern/kern_internal.h. */
#define DARWIN_CVWAIT_BITS 0x300u

enum { DARWIN_MSC_MACH_MSG = 31, DARWIN_MSC_MACH_MSG_OVERWRITE = 32, DARWIN_MSC_MACH_MSG2 = 47 };

/* The second argument of the mach_msg traps: osfmk/mach/message.h. */
#define DARWIN_MACH_SEND 0x1u
#define DARWIN_MACH_RCV  0x2u

/* IDs of Darwin's records that are used by name. */
#define DARWIN_ID_STACK_HANDOFF       0x01400008u
#define DARWIN_ID_CALLOUT             0x01400010u
#define DARWIN_ID_IDLE                0x01400024u
#define DARWIN_ID_BLOCK               0x0140003cu
#define DARWIN_ID_DISPATCH            0x01400080u
#define DARWIN_ID_TRAP(n)             ARGUS_DEBUGID(0x01, 0x0c, n)
#define DARWIN_ID_DISK                0x03020000u /* and its flags */
#define DARWIN_ID_VOUCHER_SET         0x01200008u
#define DARWIN_ID_MSG_SEND            0x0120000cu
#define DARWIN_ID_VOUCHER_CREATE      0x0120001cu
#define DARWIN_ID_VOUCHER_CONTENTS    0x01200020u
#define DARWIN_ID_VOUCHER_DESTROY     0x01200024u
#define DARWIN_ID_MSG_RECEIVE         0x01200010u
#define DARWIN_ID_KMSG_SENT           0x60100004u /* xnu-patch/tracepoints.md */
#define DARWIN_ID_KMSG_SENT_NAMES     0x60100008u
#define DARWIN_ID_KMSG_RECEIVED       0x6010000cu
#define DARWIN_ID_KMSG_RECEIVED_NAMES 0x60100010u
#define DARWIN_ID_MSG_RECEIVE_OTHER   0x01200014u /* the receiver refused the voucher */
#define DARWIN_ID_KMSG_FREED          0x60100018u
#define DARWIN_ID_WAIT_ENDED          0x60110008u
#define DARWIN_ID_CALL_QUEUED         0x60140004u
#define DARWIN_ID_CALL_RUN            0x6014000cu
#define DARWIN_ID_MK_TIMER_FIRED      0x60140014u
#define DARWIN_ID_MAINTENANCE_DUE     0x60160008u
#define DARWIN_ID_VOUCHER_MADE        0x60170004u
#define DARWIN_ID_PROC_EXIT           0x04010004u
#define DARWIN_ID_TERMINATE_PID       0x07000010u
#define DARWIN_ID_LOST                0x07020008u
#define DARWIN_ID_PERF_EVENT          0x25000000u
#define DARWIN_ID_PERF_THREAD         0x25010004u
#define DARWIN_ID_PERF_SWITCH         0x25010014u
#define DARWIN_ID_LAZY_WAKE           0x25090000u
#define DARWIN_ID_LAZY_WAIT           0x25090004u
#define DARWIN_ID_LAZY_WAIT_OLD       0x25090040u /* its ID in trace_codes */
#define DARWIN_ID_TURNSTILE_WAITER    0x35100004u
#define DARWIN_ID_TURNSTILE_HOLDER    0x3510001cu
#define DARWIN_ID_TURNSTILE_FREED     0x35100020u
#define DARWIN_ID_PUSH_BLOCK          0x2e050014u
#define DARWIN_ID_PUSH_BLOCK_FUNC     0x2e050018u
#define DARWIN_ID_PUSH_FUNCTION       0x2e05001cu
#define DARWIN_ID_PUSH_SOURCE         0x2e050020u
#define DARWIN_ID_POP                 0x2e050024u
#define DARWIN_ID_POP_SOURCE          0x2e050028u
#define DARWIN_ID_ITEM_DONE           0x2e05002cu
#define DARWIN_ID_SOURCE_CALLOUT      0x2e050030u

/* A guessed message that has not been received yet. */
struct darwin_letter {
    uint64_t message;
    uint32_t sender; /* index of the thread */
    bool answers;    /* it is a reply: it goes to a reply port */
};

struct darwin_thread {
    uint64_t tid;
    uint64_t pid;                             /* valid if has_pid */
    uint64_t arg[4];                          /* of the current call */
    uint64_t turnstile;                       /* on which it waits; 0: none */
    uint64_t voucher;                         /* that it has adopted; 0: none or unknown */
    struct darwin_letter inbox[DARWIN_QUEUE]; /* oldest first */
    /* threads that wait for this thread's reply, oldest first */
    uint32_t askers[DARWIN_QUEUE];
    uint32_t inbox_count, asker_count;
    uint32_t call;  /* number of the current call; ARGUS_NO_SYSCALL: none or unknown */
    uint32_t items; /* nesting depth of libdispatch items */
    uint8_t wake;   /* enum darwin_wake */
    bool has_pid, idle;
    bool sent; /* the message of the current call has been handled */
    bool exited;
};

struct darwin_message {
    uint64_t id, bytes, behalf;
    uint32_t flags; /* enum argus_message_flags */
};

/* What is known about the next wake-up of a thread. */
enum darwin_wake {
    DARWIN_WAKE_UNKNOWN,
    DARWIN_WAKE_MEANT,      /* aimed at the waiters of an event, or at one of them */
    DARWIN_WAKE_CLEARED,    /* woken whatever the thread waits for */
    DARWIN_WAKE_MAINTENANCE /* for the kernel's own maintenance */
};

/* The record before a kperf sample, which tells what the sample's stacks belong to. */
enum darwin_moment {
    DARWIN_MOMENT_ANY,
    DARWIN_MOMENT_WAKE,
    DARWIN_MOMENT_BLOCK,
    DARWIN_MOMENT_WAITED
};

struct darwin_cpu {
    uint64_t tid;                      /* thread on the CPU; 0: idle */
    uint64_t blocking;                 /* thread that is about to wait; 0: none */
    uint64_t user_stack, kernel_stack; /* IDs, of the current sample */
    uint64_t pc, stack_tid;
    uint32_t cpu;
    uint32_t interrupts; /* number of open ones, timers included */
    uint8_t moment;      /* enum darwin_moment */
    bool known, idles, in_sample;
};

/* The contents of a voucher, as far as they have been read. */
struct darwin_recipe {
    uint64_t tid, voucher;
    uint32_t left, length; /* in bytes; left 0: unused */
    char text[DARWIN_RECIPE_BYTES + 32 + 1];
};

struct darwin {
    const struct argus_trace *trace; /* borrowed */
    VEC(struct darwin_thread) threads;
    VEC(struct darwin_cpu) cpus;
    struct idmap thread_by_tid, cpu_by_number;
    struct idmap known_pids; /* processes that occurred before */
    /* sender's process and port name → index of the receiving thread */
    struct idmap receiver_by_port;
    struct idmap size_by_message;                          /* ID of a kernel message → bytes */
    struct idmap holder_by_turnstile, waiter_by_turnstile; /* → index of a thread */
    struct idmap origin_by_voucher;                        /* → process that the voucher is for */
    struct idmap bytes_by_request;                         /* disk requests that are not done */
    VEC(struct darwin_recipe) recipes;
    struct kdebug_stacks stacks;
    struct kdebug_strings strings; /* paths */
    struct idmap rows;             /* debugid → index of darwin_rows[] */
    VEC(struct argus_record) out;  /* translated records; those before `next_out` have been taken */
    size_t next_out;
    /* the records after the current one, valid during its translation */
    const struct argus_record *ahead;
    size_t ahead_count;
    uint64_t guesses;  /* number of messages without an ID so far */
    bool has_switches; /* from the scheduler, not only from kperf */
    bool has_blocks;   /* MACH_BLOCK */
    bool has_messages; /* with IDs */
    bool is_patched;   /* the messages are from xnu-patch, in addition to the stock kernel's */
    bool no_memory;    /* sticky */
};

/* NULL without memory. */
struct darwin *darwin_create(const struct argus_trace *trace);
void darwin_destroy(struct darwin *darwin);

/* Translates `record` (its time in ns). `ahead`: the records that follow it. The results are
 * returned by darwin_take(). False without memory. */
bool darwin_feed(struct darwin *darwin, const struct argus_record *record,
                 const struct argus_record *ahead, size_t ahead_count);
/* The next translated record; NULL when there is none. Valid until the next call. */
struct argus_record *darwin_take(struct darwin *darwin);

/* --- for the translators --- */

typedef void (*darwin_translator)(struct darwin *darwin, struct darwin_cpu *cpu,
                                  const struct argus_record *record);

/* Emits a record of the thread on `cpu`, at the time of `at`. */
void darwin_emit(struct darwin *darwin, const struct darwin_cpu *cpu, const struct argus_record *at,
                 uint32_t debugid, const uint64_t arg[4]);
/* Emits a record of another thread: a note. */
void darwin_emit_of(struct darwin *darwin, const struct argus_record *at, uint64_t tid,
                    uint32_t debugid, const uint64_t arg[4]);
/* The state of a thread, created if needed. NULL without memory. Valid until the next call. */
struct darwin_thread *darwin_thread(struct darwin *darwin, uint64_t tid);
/* NULL: the CPU is idle, or memory ran out. */
struct darwin_thread *darwin_current(struct darwin *darwin, const struct darwin_cpu *cpu);
/* Sets or removes `map`[key]; sets no_memory on failure. */
void darwin_put(struct darwin *darwin, struct idmap *map, uint64_t key, uint32_t number);

/* darwin_sched.c */
void darwin_on_switch(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_perf_switch(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_block(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_dispatch(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_idle(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_wake(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_interrupt(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_lost(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_timers.c */
void darwin_on_timer_enter(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_timer_cancel(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_timer_fired(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_callout(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_lives.c */
void darwin_on_new_thread(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_exec(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_terminate(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_proc_exit(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_name(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_idle.c: marks the idle threads of a trace that has kperf's switches alone; for this it is
 * read up to its first switch by the scheduler. False without memory. */
bool darwin_find_idle(struct darwin *darwin);
/* darwin_calls.c */
void darwin_on_bsd_call(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_trap(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_disk.c */
void darwin_on_disk(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_messages.c */
void darwin_on_msg_send(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_kmsg_sent(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_kmsg_received(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_msg_receive(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* The current call if it sends a message, and how many bytes it sends (1: unknown). */
bool darwin_sends(const struct darwin_thread *thread);
/* Messages can also be received with kevents, and by libdispatch workers. */
bool darwin_receives(const struct darwin *darwin, const struct darwin_thread *thread);
uint64_t darwin_bytes_sent(const struct darwin_thread *thread);
/* Emits a message of the thread on `cpu`, on behalf of a process (0: unknown). */
void darwin_emit_message(struct darwin *darwin, const struct darwin_cpu *cpu,
                         const struct argus_record *record, const struct darwin_message *message);
/* darwin_guesses.c: messages without IDs. On a wake-up by the thread on `cpu`: whether it delivers
 * the message that this thread sends. */
void darwin_message_wakes(struct darwin *darwin, const struct darwin_cpu *cpu,
                          const struct argus_record *record);
/* The thread on `cpu` leaves its call or the CPU: emits the message that it sent without waking a
 * thread. */
void darwin_message_sent(struct darwin *darwin, const struct darwin_cpu *cpu,
                         const struct argus_record *record);
/* The thread on `cpu` received something in the call that ends. */
void darwin_message_received(struct darwin *darwin, const struct darwin_cpu *cpu,
                             const struct argus_record *record);
/* darwin_patch.c */
void darwin_on_wait_ended(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_maintenance_due(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_call_queued(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_call_run(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_mk_timer_fired(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_kmsg_freed(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_vouchers.c */
void darwin_on_voucher_set(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_voucher_create(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_voucher_contents(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_voucher_made(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_voucher_destroy(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* The thread on `cpu` sends or receives a message with `voucher` (0: none): returns the process
 * that it is for; 0: unknown. */
uint64_t darwin_voucher_sent(struct darwin *darwin, const struct darwin_cpu *cpu,
                             const struct argus_record *record, uint64_t voucher);
uint64_t darwin_voucher_received(struct darwin *darwin, const struct darwin_cpu *cpu,
                                 const struct argus_record *record, uint64_t voucher);
/* darwin_paths.c */
void darwin_on_lookup(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_stacks.c */
void darwin_on_perf_event(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_frames(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_sampled_thread(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_lazy_wait(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_queues.c */
void darwin_on_push(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_pop(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_item_done(struct darwin *, struct darwin_cpu *, const struct argus_record *);
/* darwin_turnstiles.c */
void darwin_on_turnstile_waiter(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_turnstile_holder(struct darwin *, struct darwin_cpu *, const struct argus_record *);
void darwin_on_turnstile_freed(struct darwin *, struct darwin_cpu *, const struct argus_record *);

#endif
