/* Building the graph: one pass over the records, with a small state for each cpu and each thread.
 *
 * A thread's vertex is built in a *slot* of the graph's vertex array. While building, slots are in the order in which
 * they were taken; finish.c renumbers them by thread. Two rules take vertices back (rules/rewait.c, rules/yield.c): their
 * slots are used again by the same thread. So whatever refers to a vertex while building (an edge, a sample, an
 * armed timer) holds a slot *and* a time, and finish.c looks for the right vertex of that slot's thread when the time is
 * not inside. That makes taking back cheap, and nothing has to be patched.
 *
 * What woke a thread is kept with the thread (`cause`) and becomes an edge only when the vertex has ended its wait, so
 * that a polling loop of a million turns leaves no edges.
 */
#ifndef ARGUS_GRAPH_BUILDER_H
#define ARGUS_GRAPH_BUILDER_H

#include "event/merge.h"
#include "event/pairing/pairing.h"
#include "event/syscalls.h"
#include "event/tracepoints.h"
#include "graph/graph_data.h"
#include "graph/schema/rule_binding.h"

/* Flag of a vertex while building: its wait was ended by a timer that the thread itself had armed for it. */
#define VERTEX_SELF_TIMED 0x80000000u

/* Of one vertex no more operations than this are kept: enough to compare, and a bound for threads that never wait. */
#define OPS_OF_A_VERTEX 1024u

enum thread_activity {
    THREAD_UNSEEN,  /* no vertex yet */
    THREAD_RUNNING, /* on a cpu */
    THREAD_RUNNABLE,
    THREAD_WAITING,
    THREAD_LOST, /* records were lost: what it does since `since_ns` is not known */
    THREAD_GONE,
};

/* What made a thread runnable; an edge once its vertex is settled. */
struct cause {
    struct argus_edge edge; /* `from` is a slot; valid if `known` */
    bool known;             /* otherwise there is no edge: culled, or no waker */
    bool by_waker;          /* the thread on the cpu did it, in its own code */
    bool by_timer, by_device;
    bool
        self_timed; /* by a timer that the thread armed in the very system call in which it waits */
    uint8_t said;   /* ARGUS_WAKE_*: what Darwin's record says of it */
};

/* What a wait is about, told by records near it. */
struct wait_details {
    uint32_t user_stack, kernel_stack;
    uint64_t inode, peer_inode, object_type;
    uint32_t holder_tid;
    uint64_t mapping[4]; /* of a futex: arguments of the record; [3] is 0: none */
};

/* Who is behind something that happens: the thread that did it, or the one that had asked for it. */
struct actor {
    uint64_t since_ns;     /* when it did or asked */
    uint32_t thread, slot; /* ARGUS_NONE: nobody is known; the slot of its vertex at that time */
};

/* Callbacks in progress, outermost first: on_callback.c. */
#define MOST_OPEN_CALLBACKS 4
#define UNTIL_ITS_END       UINT64_MAX
struct open_callback {
    uint64_t
        sp; /* the stack pointer when it began; UNTIL_ITS_END: that does not tell when it ends */
    uint32_t unit; /* index of the user's rule by which it is one, or ARGUS_NONE */
    bool is_ui;    /* it was handed a UI event */
    bool has_loop; /* it runs an event loop of its own */
    bool doubtful; /* a user's unit that may have ended: the thread polled or slept since */
};

struct open_callbacks {
    struct open_callback entries[MOST_OPEN_CALLBACKS];
    struct actor loop; /* the last segment that was the event loop's own, and when it ended */
    uint8_t depth;
    bool has_turns; /* turns of the loop are reported */
};

/* How far a vertex had come at a moment. */
struct talk_mark {
    uint64_t time_ns;
    uint64_t run_ns, runnable_ns; /* of the vertex until then */
    uint32_t slot;
    uint32_t ops; /* operations until then, each of a repetition counted */
};

/* A message record, and where its vertex would be cut before it: talk.c. */
struct talk {
    uint64_t time_ns;
    uint64_t cut_ns; /* 0: nowhere; otherwise the next three are valid */
    uint64_t run_ns, runnable_ns;
    uint32_t ops;
    uint32_t slot, thread;
    uint32_t partner;  /* talk of the other end, ARGUS_NONE: not known */
    uint32_t acts_for; /* a send: the process that it is on behalf of; ARGUS_NONE: not known yet */
    uint32_t
        behalf; /* the same as a process's id, as its voucher says; 0: it does not. From rule_split() on the process, or ARGUS_NONE */
    bool receives;
};

/* A voucher of Darwin: who had it last. */
struct voucher_state {
    struct actor last;
    bool known;
};

/* The path that the call in progress of a thread has looked up. */
struct looked_up {
    char text[ARGUS_PATH_BYTES]; /* filled up with zeros, of which there need not be any */
    bool is_fresh;               /* whole, and of this call */
};

struct thread_state {
    uint64_t since_ns; /* of its activity; while RUNNING, until when its run time is accounted */
    uint64_t early_ns; /* a wake-up was seen while still RUNNING, at this time; 0: none */
    struct cause cause, early;
    struct wait_details details; /* for the next wait */
    struct pairing_call call;    /* of the system call in progress, for its messages */
    uint64_t arg[4];             /* of the system call in progress */
    struct open_callbacks open;
    struct {
        struct talk_mark begun; /* the last call that may send or receive */
        struct talk_mark ended; /* the last that did */
        struct talk_mark last;  /* the last message */
        bool talked;            /* in the call in progress */
    } marks;
    VEC(struct argus_op) ops; /* of the vertex being built */
    uint32_t op_units;        /* in `ops`, each of a repetition counted */
    uint32_t slot;            /* the vertex being built or waiting; ARGUS_NONE: none yet */
    uint32_t previous, older; /* slots of the ones before it, or ARGUS_NONE */
    uint32_t spare[2];        /* slots to use again, or ARGUS_NONE */
    uint32_t own_timer; /* armed in the system call in progress: index of a timer, or ARGUS_NONE */
    uint32_t cpu;       /* index of the cpu state, while RUNNING */
    uint16_t syscall;   /* in progress, or ARGUS_NO_SYSCALL */
    struct {
        uint64_t arg[4];
        uint16_t
            syscall; /* the call that a signal interrupted, and that can go on; or ARGUS_NO_SYSCALL */
        bool goes_on; /* the call in progress is that one */
    } restart;
    uint8_t activity;   /* enum thread_activity */
    bool syscall_known; /* `syscall` is right; false until the first record that tells */
    bool op_open;       /* the system call in progress is not among the ops yet */
    bool wait_open;     /* the wait of `previous` was in a system call that has not returned */
    bool acted;         /* the vertex being built woke or created somebody */
    bool undo_early;    /* the vertex began through an early wake-up and has not run */
    bool exiting;
    bool trapped;  /* it has got a SIGTRAP by its own doing: rules/watchpoint.c */
    bool has_word; /* `word` is what lies behind the futex it waits for: of the record `lock` */
    uint32_t word;
    bool may_message; /* the system call in progress may send or receive */
    uint32_t away;    /* 1 + index into the builder's `away`; 0: it never polled in vain */
};

/* The kinds of poll that returned at once since a thread last blocked in one: absence.c. */
#define MOST_VISITS 4
struct away {
    uint64_t since_ns; /* when it last came out of one that blocked; 0: it never did */
    uint64_t last_ns;  /* when it last came out of one at all; 0: never */
    struct argus_visits open[MOST_VISITS];
    uint32_t count;
};

struct timer_state {
    uint64_t armed_ns;
    uint64_t expiry_ns; /* in ns of the timer's clock */
    uint32_t owner;     /* thread, or ARGUS_NONE */
    uint32_t slot;      /* of the owner's vertex when it armed */
};

/* Work given to a work queue, and not yet begun. */
struct work_state {
    struct actor queuer;
};

/* A callback that was queued; found by key, process and space. */
struct queued_callback {
    uint64_t key;
    uint32_t process, space;
    uint32_t rule;        /* index of the user's rule that says so, or ARGUS_NONE */
    uint32_t first, last; /* of a rule with fifo: entries of queue_order, counted from 1; 0: none */
    struct actor by;
    bool waits; /* it has not been cancelled; one that has run may run again */
};

/* One of several callbacks that were queued under one key. */
struct queue_entry {
    struct actor by;
    uint32_t next; /* the one queued after it; of a free entry the next free one; from 1, 0: none */
};

/* UI events of one kind that a thread has read, and not yet been handed; found by thread and kind. */
struct ui_read {
    struct actor by; /* the segment that read the last ones */
    uint32_t waiting;
};

/* A request given to a block device. */
struct request_state {
    struct actor issuer;
    uint64_t target; /* arg4 of block_issued */
    uint64_t inode;  /* of the file, 0: not known */
    uint64_t bytes, done_bytes;
    bool issued; /* and not yet completed */
};

/* A write to a data flag, or a read whose write has not been seen yet. */
struct flag_access {
    struct actor by;
    uint64_t value, sequence; /* 0: not known */
    uint32_t number;          /* of the write, among all of the flag, from 1 on; 0: there is none */
};

/* A data flag; found by process and address. */
#define FLAG_REMEMBERED 4
struct flag_state {
    uint64_t address;
    uint32_t process;
    uint32_t writes;
    struct flag_access
        written[FLAG_REMEMBERED]; /* the last ones; number n is at n % FLAG_REMEMBERED */
    struct flag_access unmatched; /* the last read that no write fits yet; slot ARGUS_NONE: none */
    uint32_t bytes;
    uint32_t semantics;           /* enum argus_flag_semantics */
    uint64_t value;               /* as it was written last, or when the watch began */
    struct queued_callback queue; /* writes that wait for their counterpart (rules/flag_turns.c) */
};

/* Which write to a flag a thread has seen last; found by flag and thread. */
struct flag_reader {
    uint32_t seen;
};

/* The last signal that was sent to a thread or process, of each number. */
struct sent_signal {
    struct actor sender;
    uint64_t number, code;
    bool woke; /* somebody */
};

/* Timers nest: a high-resolution one fires in an interrupt while one of the wheel runs in a softirq. */
#define MOST_FIRING 4
struct firing {
    uint64_t key;
    uint32_t timer; /* ARGUS_NONE: one that nobody was seen to arm */
};

/* The completion of a request. The request itself may be issued anew as soon as it is completed, also by another cpu. */
struct completion {
    struct actor
        issuer; /* of the request, or of that of a lower device by which it was completed */
    uint64_t target, inode, bytes;
    uint64_t position; /* of the record, on its cpu; 0: there was none yet */
};

/* Threads that one signal wakes: all of a process, when it is killed or continued; more are not looked at. */
#define MOST_WOKEN 16

struct cpu_state {
    uint32_t cpu;
    uint32_t thread; /* on it now; ARGUS_NONE: the idle thread, or not known */
    uint64_t tid;    /* of that thread, valid if `known` */
    bool known;
    uint32_t hard_depth; /* interrupts */
    uint64_t softirqs;   /* bit for each vector that runs */
    bool
        from_interrupt; /* they were begun by the end of an interrupt, not by the thread's own code */
    uint64_t position; /* records of this cpu so far, notes not counted */
    uint64_t left_at; /* position of the last end of an interrupt, or of a softirq that one began */
    struct firing firing[MOST_FIRING];
    uint32_t firing_depth;
    struct completion completion; /* the last one */
    bool completing;              /* it has just been, so that what it wakes may follow */
    uint64_t fired, fired_at;   /* the timer that fired last, and the position of the end of that */
    struct actor bh_queuer;     /* of the work that is done in a softirq; slot ARGUS_NONE: nobody */
    uint32_t itimer;            /* interval timer that has just fired, or ARGUS_NONE */
    uint32_t woken[MOST_WOKEN]; /* threads made runnable by the records just before */
    uint32_t woken_count;
    uint32_t last_new;   /* thread of the last new_thread record here, or ARGUS_NONE */
    uint32_t wakee;      /* thread of the make_runnable record just before, or ARGUS_NONE */
    uint32_t wake_stack; /* a waker's stack that came before its make_runnable, or ARGUS_NONE */
};

struct builder {
    struct argus_graph *graph;
    struct rule_binding binding; /* of a user's rules */
    enum argus_os os;
    enum argus_arch arch;
    VEC(struct thread_state) threads; /* by thread index */
    VEC(struct cpu_state) cpus;
    struct idmap cpu_by_number;
    VEC(struct timer_state) timers;
    struct idmap timer_by_key;
    VEC(struct work_state) works;
    struct idmap work_by_key;
    VEC(struct queued_callback) queued;
    struct idmap queued_by_key;
    VEC(struct queue_entry) queue_order;
    uint32_t queue_free; /* the first free entry, counted from 1; 0: none */
    VEC(struct ui_read) ui_reads;
    struct idmap ui_read_by_key;
    VEC(struct request_state) requests;
    struct idmap request_by_key;
    VEC(struct sent_signal) signals; /* also those that stopped a process */
    struct idmap signal_by_key;
    VEC(struct actor) itimers;
    struct idmap itimer_by_key;
    VEC(struct flag_state) flags;
    struct idmap flag_by_key;
    struct flag_code *flag_code; /* owned; NULL: nothing was asked of it */
    VEC(struct flag_reader) flag_readers;
    struct idmap flag_reader_by_key;
    VEC(struct voucher_state) vouchers;
    struct idmap voucher_by_key;
    VEC(struct looked_up) looked_up;
    struct idmap looked_up_by_thread;
    struct idmap use_by_key; /* object uses: see on_stack.c */
    struct pairing pairing;  /* of messages */
    VEC(struct talk) talks;  /* by time; the pairing's tags are its indices */
    VEC(struct away) away;
    VEC(uint32_t) use_next;
    VEC(uint32_t) sample_slots; /* of the graph's samples, while building */
    uint64_t now_ns;
    uint64_t last_lost_ns;   /* when records were lost last, on any cpu; 0: never */
    argus_progress progress; /* NULL: none */
    void *progress_context;
    bool has_calls; /* a system call was on record */
    bool stopped;   /* sticky: by the user, after the last record */
    bool no_memory; /* sticky */
    bool full;      /* sticky: more than 2^32 - 2 of something */
};

/* An interrupt, a softirq or a timer has the cpu, not the thread. */
static inline bool cpu_interrupted(const struct cpu_state *cpu)
{
    return cpu->hard_depth || cpu->softirqs || cpu->firing_depth;
}

/* The timer that fires on the cpu; ARGUS_NONE: none, or one that nobody was seen to arm. */
static inline uint32_t cpu_timer(const struct cpu_state *cpu)
{
    return cpu->firing_depth ? cpu->firing[cpu->firing_depth - 1].timer : ARGUS_NONE;
}

/* --- handlers, one for each row of tracepoints.def; cpu->thread is the record's thread --- */
#define TRACEPOINT(symbol, ...)                                                                    \
    void graph_on_##symbol(struct builder *builder, struct cpu_state *cpu,                         \
                           const struct argus_record *record);
#include "event/tracepoints.def"
#undef TRACEPOINT
void graph_on_lost(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record);

/* --- vertices: vertex.c --- */
static inline struct thread_state *thread_at(struct builder *builder, uint32_t thread)
{
    return &builder->threads.data[thread];
}
static inline struct argus_vertex *slot_at(struct builder *builder, uint32_t slot)
{
    return &builder->graph->vertices.data[slot];
}
/* The state of the thread with id `tid`, or ARGUS_NONE: the idle thread, no memory. */
uint32_t builder_thread(struct builder *builder, uint64_t tid);
/* Takes a slot for the next vertex of `thread`, which begins now. False without memory. */
bool vertex_begin(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags);
/* Ends the vertex of `thread` without a wait. */
void vertex_end(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags);
/* Gives a slot back to `thread`; what referred to it finds its vertex by time. */
void vertex_give_back(struct builder *builder, uint32_t thread, uint32_t slot);
/* The current vertex has its cause as an edge from now on. */
void vertex_settle(struct builder *builder, uint32_t thread);
/* `thread` begins with something that `cause` asked for: another vertex, unless the present one has just begun and has
 * done nothing yet; then it is begun by `cause`, which says more than the wake-up. */
void vertex_split(struct builder *builder, uint32_t thread, const struct cause *cause);
/* Ends the vertex of `thread`, which runs, and begins the next one, by the boundary `rule`. False without memory. */
bool vertex_cut(struct builder *builder, uint32_t thread, enum rule_id rule);
/* An edge to a moment inside the vertex of `thread`, which is now. */
void vertex_add_edge(struct builder *builder, uint32_t thread, const struct cause *cause);
/* Adds an operation to the vertex of `thread`. */
void vertex_op(struct builder *builder, uint32_t thread, uint32_t code);
void vertex_flush_ops(struct builder *builder, struct thread_state *state);
static inline void builder_count(struct builder *builder, enum rule_id rule)
{
    builder->graph->rules[rule].count++;
}

/* --- messages: talk.c --- */
/* `thread` begins a call that may send or receive; such a call ends. */
void talk_call_begins(struct builder *builder, uint32_t thread);
void talk_call_ends(struct builder *builder, uint32_t thread);
/* A message record of the thread on the cpu: the index of its talk, or ARGUS_NONE without memory. */
uint32_t talk_add(struct builder *builder, uint32_t thread, bool receives);
/* No message, but a moment at which the vertex of `thread` may have to be cut: the index of a talk that nobody looks at but who
 * noted it. */
uint32_t talk_note(struct builder *builder, uint32_t thread);

/* --- what a thread does: activity.c --- */
/* Adds what `thread` ran until now to its vertex, unless an interrupt has its cpu. */
void thread_account(struct builder *builder, uint32_t thread, uint64_t now_ns);
/* `thread` comes on `cpu`; `seen`: a switch record says so, otherwise it is only found there. */
void thread_run(struct builder *builder, uint32_t thread, struct cpu_state *cpu, bool seen);
void thread_preempt(struct builder *builder, uint32_t thread);
void thread_block(struct builder *builder, uint32_t thread, uint64_t os_state);
/* It is not in a system call in which it may send or receive any more, or sleeps in it. */
void thread_rests(struct builder *builder, uint32_t thread);
/* It was made runnable; `cause` may say by whom. */
void thread_wake(struct builder *builder, uint32_t thread, const struct cause *cause);
void thread_gone(struct builder *builder, uint32_t thread);
/* Its wait in a system call that never returned was ended by its death. */
void thread_killed(struct builder *builder, uint32_t thread);
/* What it does since `since_ns` is not known. */
void thread_lose(struct builder *builder, uint32_t thread, uint64_t since_ns);

/* --- who is behind something: actor.c --- */
/* In which context the cpu is; `said`: what a record says about it (enum argus_context). */
enum argus_context cpu_context(const struct cpu_state *cpu, uint64_t said);
/* Who is behind what the cpu does now: the thread on it, or, inside an interrupt, who armed the timer that fires,
 * issued the request that is completed, queued the work that is done. */
struct actor actor_now(const struct builder *builder, const struct cpu_state *cpu, uint64_t said);
/* The cause of an edge from `actor`. */
struct cause actor_cause(const struct actor *actor, enum argus_edge_kind kind, enum rule_id rule);
/* The index in vector `v` of the element for `key`; a zeroed one is made when there is none. ARGUS_NONE without memory. */
#define builder_place(builder, v, ids, key)                                                        \
    builder_place_in(builder, ids, key, (void **)&(v)->data, &(v)->length, &(v)->capacity,         \
                     sizeof(*(v)->data))
uint32_t builder_place_in(struct builder *builder, struct idmap *ids, uint64_t key, void **data,
                          size_t *length, size_t *capacity, size_t element_bytes);

/* --- what comes while a thread is away from its event loop: absence.c --- */
/* A poll, select or epoll call of `thread` has returned, after it blocked or at once. */
void absence_polled(struct builder *builder, uint32_t thread, bool blocked);
/* `thread` is in such a call, which has not blocked and will return a descriptor. */
void absence_ready(struct builder *builder, uint32_t thread, const uint64_t arg[4]);
/* As pairing_unread: a message that nobody has received. */
void absence_unread(void *context, const struct argus_message_channel *channel,
                    const struct message *message);
/* After the last record. False without memory. */
bool absence_finish(struct builder *builder);

/* --- waits: wait.c --- */
void wait_begin(struct builder *builder, uint32_t thread, uint64_t os_state);
/* `cause` NULL: it was seen to run without a wake-up. */
void wait_end(struct builder *builder, uint32_t thread, uint64_t now_ns, const struct cause *cause);
/* The system call `number` in which the thread waited has returned. */
void wait_result(struct builder *builder, uint32_t thread, uint32_t number, int64_t result);
/* The same for Darwin: wait_darwin.c. What is waited for, by the arguments of the call; how the wait ended, by its result. */
uint64_t wait_darwin_object(const struct syscall_row *row, uint32_t number, const uint64_t arg[4]);
uint8_t wait_darwin_outcome(const struct argus_wait *wait, int64_t result);
/* Where the thread was in the wait that has just ended. */
void wait_note_stack_of_last(struct builder *builder, uint32_t thread, uint32_t user,
                             uint32_t kernel);
/* What a record near a wait says about it: for the wait in progress, or the next one. */
void wait_note_stack(struct builder *builder, uint32_t thread, uint32_t user, uint32_t kernel);
void wait_note_object(struct builder *builder, uint32_t thread, const struct argus_record *record);
void wait_note_holder(struct builder *builder, uint32_t thread, uint32_t holder_tid);
void wait_note_mapping(struct builder *builder, uint32_t thread, const uint64_t arg[4]);
void wait_forget_notes(struct thread_state *state);
/* The slot of the vertex whose wait is in progress, or has just ended; ARGUS_NONE. */
static inline uint32_t waiting_slot(const struct thread_state *state)
{
    bool waiting = state->activity == THREAD_WAITING || state->activity == THREAD_LOST;
    return waiting ? state->slot : state->previous;
}
/* Adds what is known about the wait of `thread` that is in progress (or has just ended): wait_details.c. */
void wait_add_detail(struct builder *builder, uint32_t thread, enum argus_detail_kind kind,
                     const uint64_t arg[4]);
/* The same to the wait that ended the vertex in `slot`. */
void wait_add_detail_to(struct builder *builder, uint32_t slot, enum argus_detail_kind kind,
                        const uint64_t arg[4]);

/* --- files that are looked up: looked_up.c --- */
void looked_up_note(struct builder *builder, const struct cpu_state *cpu,
                    const struct argus_record *record);
/* `thread` begins another call; it begins to wait in one. */
void looked_up_call_begins(struct builder *builder, uint32_t thread);
void looked_up_wait_begins(struct builder *builder, uint32_t thread);

/* --- rules --- */
/* rules/wakeups.c: who or what is behind a make_runnable record, by the table of rules. */
void rule_wakeup(struct builder *builder, const struct cpu_state *cpu,
                 const struct argus_record *record, uint32_t wakee, struct cause *ret);
/* on_signal.c: says of a thread that has stopped by which signal. */
void signal_note_stop(struct builder *builder, uint32_t thread);
/* on_callback.c: ARGUS_VERTEX_CONTINUES, if the thread goes on behind the wait that has just ended with what it did before. */
uint32_t callback_goes_on(struct builder *builder, uint32_t thread);
/* rules/callback.c: a UI event of this kind is read from the display server by `thread`. */
void rule_ui_read(struct builder *builder, uint32_t thread, uint64_t kind);
/* rules/callback.c: what a hook tells about a program whose cursor spins. */
void rule_note_hook(struct builder *builder, uint32_t thread, const struct argus_record *record);
/* rules/voucher.c: something is done with a voucher. */
void rule_voucher(struct builder *builder, const struct argus_record *record);
/* rules/queue_order.c: callbacks that wait under one key, first in first out. Take: false when none waits. */
void queue_order_put(struct builder *builder, struct queued_callback *queued);
bool queue_order_take(struct builder *builder, struct queued_callback *queued);
/* schema/rule_stacks.c: what a user's rules say by stacks, of edges that have their final ends: some go, some are weak. */
bool rule_apply_stacks(struct builder *builder, const uint32_t *new_id);
/* rules/callback.c: who is behind the callback (or UI event) that begins now in `thread`; `loop`: the event loop's segment. */
void rule_dispatch(struct builder *builder, uint32_t thread, const struct argus_record *record,
                   bool is_ui, const struct actor *loop, struct cause *ret);
/* rules/split.c: splits vertices that serve several peers. `new_id`: the final ids of the slots, which change. False
 * without memory. */
bool rule_split(struct builder *builder, uint32_t *new_id, size_t slots);
/* rules/flag.c: an edge to the access `to` of a flag. */
void rule_flag_edge(struct builder *builder, const struct flag_state *flag,
                    const struct actor *from, const struct flag_access *to, enum rule_id rule);
/* rules/flag_turns.c: `write` of a flag whose writes come in pairs; flag->value is the one before. */
void rule_flag_turn(struct builder *builder, struct flag_state *flag,
                    const struct flag_access *write);
/* rules/fork.c */
void rule_fork(struct builder *builder, uint32_t creator, uint32_t child);
/* rules/message_edge.c: a send and its receive have been found. */
void rule_message(void *context, const struct pairing_pair *pair);
/* Makes one edge of a message and the wake-up between the same two vertices. `edges`: all into one vertex, whose order
 * changes; returns how many are left. */
size_t rule_message_merge(struct builder *builder, struct argus_edge *edges, size_t count);
/* rules/rewait.c: takes the current vertex back if it only woke up to wait again. True: the wait goes on. */
bool rule_rewait(struct builder *builder, uint32_t thread);
/* rules/yield.c: merges the current vertex, whose wait has just ended, into the yield run before it. */
bool rule_yield(struct builder *builder, uint32_t thread);
/* The same for the vertex before the current one, of which a result has just told that its timer woke it. */
void rule_yield_told(struct builder *builder, uint32_t thread);
/* rules/sequence.c: the edge to `to` (final id) from the vertex before it. */
struct argus_edge rule_sequence(const struct argus_graph *graph, uint32_t to);

/* --- on_block.c --- */
/* The record of `cpu` may stand between the completion of a request and that of the one on top of it. */
void graph_block_passes(struct cpu_state *cpu);
/* The same for one by which `thread` is woken or comes on the cpu, if it is the kernel's thread for softirqs. */
void graph_block_put_off(const struct builder *builder, struct cpu_state *cpu, uint32_t thread);

/* --- finish.c and edges.c, after the last record --- */
/* Tells how far it is. False: the user stops it, and whatever is being done returns false. */
bool builder_goes_on(struct builder *builder, double share);
bool builder_close_all(struct builder *builder);
bool finish_vertices(struct builder *builder);
bool finish_edges(struct builder *builder, const uint32_t *new_id);
void finish_uses(struct builder *builder);
/* The vertex (final id) of the thread of `vertex` (final id) whose time, wait included, has `time_ns`. */
uint32_t finish_vertex_for(const struct argus_graph *graph, uint32_t vertex, uint64_t time_ns);

#endif
