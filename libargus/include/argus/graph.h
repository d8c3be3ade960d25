/* The event graph: vertices (execution segments of threads, each with the wait that ended it) and edges (who made whom run).
 *
 * Flat arrays with 32-bit ids. A thread's vertices have consecutive ids in time order, so `id - 1` and `id + 1`
 * are its neighbours while they are of the same thread. Edges are sorted by target, then by time; the
 * incoming edges of v are edges[in_first[v]] … edges[in_first[v + 1] - 1]. All times are ns of the trace clock.
 *
 * A built graph is read-only and may be read by several threads at once.
 */
#ifndef ARGUS_GRAPH_H
#define ARGUS_GRAPH_H

#include "argus/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a wait ended. Only SATISFIED means that what was waited for happened. */
enum argus_outcome {
    ARGUS_OUTCOME_SATISFIED,
    ARGUS_OUTCOME_TIMED_OUT,
    ARGUS_OUTCOME_INTERRUPTED, /* by a signal */
    ARGUS_OUTCOME_KILLED,      /* the thread exited out of the wait */
    ARGUS_OUTCOME_NEVER,       /* still waiting when the trace ended */
    ARGUS_OUTCOME_UNKNOWN,     /* the records that would say it were lost */
};

#define ARGUS_NO_SYSCALL 0xffffu

/* The blocking wait that ended a vertex: [vertex.end_ns, wait.end_ns). Blocking again inside one system call
 * without having run noticeably in between is one wait (`rewakes` counts). */
struct argus_wait {
    uint64_t end_ns; /* when the thread was made runnable again; the end of the trace if never */
    uint64_t object; /* first argument: descriptor, futex address, pid … (waitid: the second) */
    uint64_t inode;  /* of the file waited on, 0: unknown */
    uint64_t peer_inode;  /* of its other end, 0: unknown */
    uint64_t object_type; /* what the file is: arg4 of the record `object`; 0: unknown */
    int64_t result;       /* of the system call, valid if has_result */
    uint64_t
        timeout_ns; /* when a timer would end it, counted from end_ns of the vertex; UINT64_MAX: none known */
    uint32_t user_stack, kernel_stack; /* stack indices or ARGUS_NONE */
    uint32_t holder_tid; /* thread that held the lock, if the recorder could tell; 0: unknown */
    uint32_t rewakes;
    uint32_t first_detail; /* index of struct argus_wait_detail, or ARGUS_NONE */
    uint16_t syscall;      /* number, or ARGUS_NO_SYSCALL */
    uint8_t kind;          /* enum argus_wait_kind */
    uint8_t outcome;       /* enum argus_outcome */
    bool has_result;
    bool by_timer;  /* a timer made the thread runnable */
    bool by_device; /* an interrupt of a device did: culled, or an edge from who asked the device */
    bool no_wakeup; /* it was seen to run again, and no record says that anybody woke it */
};

/* What else is known about a wait. `arg` is, by kind: */
enum argus_detail_kind {
    ARGUS_DETAIL_READY, /* a descriptor that a poll returned as ready: as in the record `ready` */
    ARGUS_DETAIL_FUTEX, /* what a shared futex lies in: as in the record `mapping` */
    ARGUS_DETAIL_FAULT, /* the page that was missing: its address */
    ARGUS_DETAIL_BLOCK, /* requests to a disk: device and operation as in arg4 of `block_issued`, bytes, requests, inode (0: not known) */
    ARGUS_DETAIL_SIGNAL, /* what interrupted or stopped it: signal, thread id of the sender (0: not known), si_code */
    ARGUS_DETAIL_PATH, /* the file that its call looked up (Darwin): 32 bytes of the path, which several details make up */
};

struct argus_wait_detail {
    uint64_t arg[4];
    uint32_t next; /* index of the next one of the same wait, or ARGUS_NONE */
    uint8_t kind;  /* enum argus_detail_kind */
};

/* What a vertex did for an event loop, as the probes in libraries tell: which callback it is, which UI event it handles. */
enum argus_callback_what {
    ARGUS_CALLBACK_RUN,      /* a callback runs */
    ARGUS_CALLBACK_UI_EVENT, /* a UI event is handed to the program */
    ARGUS_CALLBACK_UI_READ,  /* a UI event is read from the display server */
    ARGUS_CALLBACK_HANDLER,  /* a function of the program is called for one of these */
    ARGUS_CALLBACK_BEHALF, /* no callback: a voucher says (Darwin) that it works for the process whose id is in `function` */
};

struct argus_callback {
    uint64_t time_ns;
    uint64_t function; /* address; 0: unknown */
    uint64_t other;    /* another address that names it; 0: none */
    uint32_t vertex;
    uint32_t probe;   /* number: argus_graph_probe() */
    uint8_t what;     /* enum argus_callback_what */
    uint8_t ui_event; /* enum argus_ui_event, of a UI event */
    bool on_purpose;  /* a UI event by which a user asks for something: not motion, expose … */
    bool nested;      /* inside of another callback, to whose vertex it belongs */
};

enum argus_vertex_flags {
    ARGUS_VERTEX_FIRST = 1,  /* first of its thread in the trace, which may have run before */
    ARGUS_VERTEX_LAST = 2,   /* last of its thread in the trace */
    ARGUS_VERTEX_FORKED = 4, /* begins with the thread's creation */
    ARGUS_VERTEX_EXITED = 8, /* ends with the thread's exit */
    ARGUS_VERTEX_GAP = 16,   /* records are missing while it lasted: its figures are lower bounds */
    ARGUS_VERTEX_SPLIT = 32, /* begins at a split, not at a wait */
    ARGUS_VERTEX_CONTINUES =
        128,                 /* goes on with the callback in which the vertex before it waited */
    ARGUS_VERTEX_LOOP = 256, /* begins when a callback has ended: the event loop's own segment */
    ARGUS_VERTEX_PEERS =
        512, /* begins where the vertex before it had messages with others: a split, like … */
    ARGUS_VERTEX_BATCHED = 1024, /* … this: begins with the next item of a batching loop */
    ARGUS_VERTEX_YIELDS = 64,    /* a yield run: `repeat` segments of one signature */
};

/* A piece of a split vertex, not the first. */
#define ARGUS_VERTEX_PIECE (ARGUS_VERTEX_PEERS | ARGUS_VERTEX_BATCHED)

/* What a vertex is, by its figures alone (thresholds are the caller's: argus_vertex_type()). */
enum argus_vertex_type {
    ARGUS_TYPE_NORMAL,
    ARGUS_TYPE_LONG_RUNNING,
    ARGUS_TYPE_REPEATED_YIELD,
    ARGUS_TYPE_LONG_WAIT,
};

/* In a yield run (`repeat` > 1) the waits between the turns belong to the vertex: end_ns - start_ns - run_ns - runnable_ns of
 * it were spent in them, and `wait` is that of the last turn. In other vertices that difference is what interrupts took, and
 * time in which nobody knows what the thread did (ARGUS_VERTEX_GAP). */
struct argus_vertex {
    uint64_t start_ns;    /* made runnable, created, or first seen */
    uint64_t end_ns;      /* exclusive: began to wait, exited, or last seen */
    uint64_t run_ns;      /* on a cpu, interrupts not counted */
    uint64_t runnable_ns; /* wanted a cpu and had none: before the first run, and preempted */
    uint32_t thread;
    uint32_t repeat;      /* segments merged into this one by the yield rule; 1 otherwise */
    uint32_t yield_calls; /* sched_yield() calls and self-timed sleeps inside */
    uint32_t first_op,
        op_count; /* into graph ops; the first 1024, of a yield run those of its first turn */
    uint32_t first_sample, sample_count; /* into graph samples */
    uint32_t flags;
    struct argus_wait wait;
};

/* One thing a vertex did, for comparing vertices: `repeat` times in a row. */
struct argus_op {
    uint32_t code; /* ARGUS_OP_* << 24 | number (of the system call, of a string …) */
    uint32_t repeat;
};
#define ARGUS_OP_SYSCALL  1u /* number: the system call; failed calls have bit 16 set */
#define ARGUS_OP_WAKE     2u /* number: process name's hash: it made a thread of that process run */
#define ARGUS_OP_FORK     3u
#define ARGUS_OP_CALLBACK 5u /* number: the probe */
#define ARGUS_OP_UI_EVENT 6u /* number: enum argus_ui_event */
#define ARGUS_OP_WORK                                                                              \
    7u /* number: the low 24 bits of the address of the kernel function that did the work */
#define ARGUS_OP_FLAG_WRITE 8u /* number: the low 24 bits of the data flag's address */
#define ARGUS_OP_FLAG_READ  9u /* the same */

/* A cpu sample. */
struct argus_sample {
    uint64_t time_ns;
    uint64_t pc;
    uint32_t user_stack, kernel_stack; /* stack indices or ARGUS_NONE */
};

enum argus_edge_kind {
    ARGUS_EDGE_WAKE,     /* the waker made the wakee runnable */
    ARGUS_EDGE_TIMER,    /* armed the timer that fired and made it runnable */
    ARGUS_EDGE_FORK,     /* created the thread */
    ARGUS_EDGE_SEQUENCE, /* the previous vertex of the same thread */
    ARGUS_EDGE_MESSAGE,  /* sent what was received in it */
    ARGUS_EDGE_DISPATCH,
    ARGUS_EDGE_FLAG,   /* wrote the value of a data flag that was read in it */
    ARGUS_EDGE_SIGNAL, /* sent the signal that woke or interrupted it */
    ARGUS_EDGE_WORK,   /* queued the work that a kernel worker does */
    ARGUS_EDGE_BLOCK,  /* issued the request to a disk that it waited for */
    ARGUS_EDGE_KINDS
};

struct argus_edge {
    uint64_t
        from_ns; /* when the cause happened, inside `from` (timer armed, message sent, wake-up) */
    uint64_t to_ns; /* when the effect began: start of `to` or later inside it */
    uint32_t from, to;
    uint8_t kind;     /* enum argus_edge_kind */
    bool strong : 1;  /* false: may or may not be causality; a walk asks */
    bool message : 1; /* of another kind, but `from` also sent what was received in `to` */
    uint16_t rule;    /* row of the rule table that made it: argus_rules() */
    uint32_t stack;   /* the waker's user stack, or ARGUS_NONE */
};

/* A row of the schema with what it did in this graph. */
struct argus_rule {
    const char *name;        /* e.g. "wake.futex" */
    const char *stage;       /* "boundary", "edge", "cull", "split", "merge" */
    const char *description; /* one sentence, with the reason for its strength */
    uint64_t count;          /* how often it applied */
};

/* The thread that worked on an object (inode) in a system call, for finding who is behind a wait. */
struct argus_object_use {
    uint64_t inode, peer_inode;
    uint64_t last_ns;
    uint32_t thread;
    bool wrote; /* a write, send or wake-up; otherwise a read or wait */
};

/* Calls of poll, select or epoll that returned at once, of one kind (system call and first argument) and one thread, between
 * two calls of its that blocked. They end no vertex, but the thread did look for what had come. */
struct argus_visits {
    uint64_t first_ns, last_ns;        /* when the first and the last returned */
    uint64_t gap_start_ns, gap_end_ns; /* the longest time from one to the next */
    uint64_t object;                   /* first argument, as in struct argus_wait */
    uint32_t thread;
    uint32_t count;
    uint16_t syscall;
};

/* A message that had not been received when the trace ended. */
struct argus_unread {
    uint64_t sent_ns;
    uint32_t sender,
        receiver; /* threads; the receiver is one that has received from this channel before */
    uint8_t channel_kind; /* enum argus_channel */
};

/* A descriptor that a poll, select or epoll call found ready at once, when its thread had been away from such calls for
 * 100 ms at least. */
struct argus_arrival {
    uint64_t time_ns;
    uint64_t fd, inode, peer, type; /* as in the record `ready` */
    uint32_t thread;
};

/* A data flag was set: written a value other than 0, after 0 or for the first time in the trace. */
struct argus_flag_set {
    uint64_t time_ns;
    uint64_t address;
    uint32_t thread; /* that wrote */
};

/* Where an edge of kind ARGUS_EDGE_FLAG leads to: which flag it is about. */
struct argus_flag_use {
    uint64_t time_ns; /* the edge's to_ns */
    uint64_t address;
    uint32_t thread; /* of the edge's `to` */
};

/* "Are you there?" of a window manager or compositor, or a program's answer; or that a program's cursor is to spin, or not any
 * more: what a probe tells whose label says so (share/probes.conf, share/hooks/macos/CoreGraphics.conf). */
struct argus_ping {
    uint64_t time_ns;
    uint64_t
        key; /* X11: the window that is asked, or answers; Wayland: the serial number; macOS: the connection */
    uint64_t
        to; /* X11: the window that the event was sent to; Wayland: the request's number; macOS: 1 spins, 0 does not */
    uint32_t thread; /* that sent it */
    uint32_t probe;
};

/* A lock on a file: what a call for it came to, or what the kernel's list of locks said. */
struct argus_file_lock {
    uint64_t time_ns;
    uint64_t inode;
    uint64_t first, last; /* byte; 0 and UINT64_MAX: the whole file, or not known */
    uint32_t device;      /* of its file system: major << 20 | minor */
    uint32_t thread; /* listed: the main thread of the process; ARGUS_NONE: the list has none */
    uint8_t what;    /* enum argus_file_lock_what */
    uint8_t kind;    /* enum argus_file_lock_kind */
    bool exclusive;
    bool listed; /* by the kernel, at this time */
};

/* The machine was suspended; the trace's clock stood still. */
struct argus_suspension {
    uint64_t noticed_ns; /* the trace's clock, soon after it went on */
    uint64_t length_ns;
};

struct argus_graph;

struct argus_rule_set; /* argus/schema.h */

/* How a graph is built. All zero is right for most callers; so is NULL in its place. */
struct argus_graph_options {
    const struct argus_rule_set
        *rules; /* a user's, besides the built-in ones; borrowed while building; NULL: none */
};

/* Builds the graph of a trace; `trace` is borrowed and must outlive it. `options` may be NULL. A trace of Darwin works too. */
struct argus_error *argus_graph_build(const struct argus_trace *trace,
                                      const struct argus_graph_options *options,
                                      argus_progress progress, void *context,
                                      struct argus_graph **ret);
void argus_graph_destroy(struct argus_graph *graph);

const struct argus_trace *argus_graph_trace(const struct argus_graph *graph);
uint64_t argus_graph_start_ns(const struct argus_graph *graph);
uint64_t argus_graph_end_ns(const struct argus_graph *graph);
double argus_graph_build_seconds(const struct argus_graph *graph);
/* Chunks of records that were found damaged while building; they count as lost records. What argus_trace_damage()
 * lists, which was found when opening, is not in it. */
uint64_t argus_graph_damaged_chunks(const struct argus_graph *graph);
/* Messages of all channels; argus_messages_read() tells them one by one. */
const struct argus_message_counts *argus_graph_messages(const struct argus_graph *graph);

size_t argus_graph_processes(const struct argus_graph *graph, const struct argus_process **ret);
size_t argus_graph_threads(const struct argus_graph *graph, const struct argus_thread **ret);
size_t argus_graph_vertices(const struct argus_graph *graph, const struct argus_vertex **ret);
size_t argus_graph_edges(const struct argus_graph *graph, const struct argus_edge **ret);
size_t argus_graph_ops(const struct argus_graph *graph, const struct argus_op **ret);
size_t argus_graph_samples(const struct argus_graph *graph, const struct argus_sample **ret);
size_t argus_graph_rules(const struct argus_graph *graph, const struct argus_rule **ret);
size_t argus_graph_object_uses(const struct argus_graph *graph, /* sorted by inode, then thread */
                               const struct argus_object_use **ret);
size_t argus_graph_visits(const struct argus_graph *graph, /* sorted by thread, then time */
                          const struct argus_visits **ret);
size_t argus_graph_thread_visits(const struct argus_graph *graph,
                                 uint32_t thread, /* of one thread */
                                 const struct argus_visits **ret);
size_t argus_graph_unread(const struct argus_graph *graph, /* sorted by receiver, then time */
                          const struct argus_unread **ret);
size_t argus_graph_arrivals(const struct argus_graph *graph, /* sorted by thread, then time */
                            const struct argus_arrival **ret);
size_t argus_graph_flag_uses(const struct argus_graph *graph, /* by time, then thread */
                             const struct argus_flag_use **ret);
size_t argus_graph_flag_sets(const struct argus_graph *graph, /* in time order */
                             const struct argus_flag_set **ret);
size_t argus_graph_pings(const struct argus_graph *graph, /* in time order */
                         const struct argus_ping **ret);
size_t argus_graph_file_locks(const struct argus_graph *graph, /* in time order */
                              const struct argus_file_lock **ret);
size_t argus_graph_suspensions(const struct argus_graph *graph,
                               const struct argus_suspension **ret);
struct argus_stack argus_graph_stack(const struct argus_graph *graph, uint32_t stack);

/* What the probes tell about `vertex`, in time order. O(log n). */
size_t argus_graph_callbacks(const struct argus_graph *graph, uint32_t vertex,
                             const struct argus_callback **ret);
/* The vertex that began the callback or UI event which `vertex` goes on with; `vertex` itself, if it goes on with none. */
uint32_t argus_graph_callback_begin(const struct argus_graph *graph, uint32_t vertex);
/* The UI event that `vertex` handles: the first that a person does on purpose, else (motion, expose …) the first of all.
 * False: none. */
bool argus_graph_ui_event(const struct argus_graph *graph, uint32_t vertex,
                          struct argus_callback *ret);
/* The probe of a number; NULL when the trace does not say. */
const struct argus_probe_entry *argus_graph_probe(const struct argus_graph *graph, uint32_t number);

/* The data flag at `address` in the process `pid` at that time; NULL when the trace has no name for it. */
const struct argus_flag_entry *argus_graph_flag(const struct argus_graph *graph, uint64_t pid,
                                                uint64_t address, uint64_t time_ns);
/* The same of an edge of kind ARGUS_EDGE_FLAG; `*ret_address` (may be NULL) is 0 when that is not known. */
const struct argus_flag_entry *argus_graph_edge_flag(const struct argus_graph *graph,
                                                     const struct argus_edge *edge,
                                                     uint64_t *ret_address);
/* The same of an operation ARGUS_OP_FLAG_… of `vertex`. */
const struct argus_flag_entry *argus_graph_op_flag(const struct argus_graph *graph, uint32_t vertex,
                                                   uint32_t code);

/* What argus_wait.first_detail is an index into. */
size_t argus_graph_details(const struct argus_graph *graph, const struct argus_wait_detail **ret);

/* Incoming edges of `vertex`, in time order. */
size_t argus_graph_in_edges(const struct argus_graph *graph, uint32_t vertex,
                            const struct argus_edge **ret);
/* Outgoing edges: indices into the edge array, in time order of the cause. */
size_t argus_graph_out_edges(const struct argus_graph *graph, uint32_t vertex,
                             const uint32_t **ret);
/* The vertex of `thread` that covers `time_ns`, its wait included; ARGUS_NONE outside its life. O(log n). */
uint32_t argus_graph_vertex_at(const struct argus_graph *graph, uint32_t thread, uint64_t time_ns);
/* The edge that ended the wait before `vertex` (wake-up, signal, timer or fork at its start), or, where that is not known,
 * the message sent during the wait that it received; of a piece of a split vertex the message, or the request, that the
 * piece is about. ARGUS_NONE: none. A sequence edge is not one. */
uint32_t argus_graph_cause(const struct argus_graph *graph, uint32_t vertex);
/* The first piece of the vertex that `vertex` is a piece of (rules split.*); `vertex` itself if it is none. */
uint32_t argus_graph_whole(const struct argus_graph *graph, uint32_t vertex);
/* The previous vertex of the same thread; ARGUS_NONE. */
uint32_t argus_graph_previous(const struct argus_graph *graph, uint32_t vertex);
/* Duration of the wait that ended `vertex`; 0 if none. */
uint64_t argus_vertex_wait_ns(const struct argus_vertex *vertex);

/* By figures: a run (run + runnable) of at least `threshold_ns` is LongRunning; a wait of at least that is LongWait;
 * a yield run, or more than 20 yields, that lasts at least that is RepeatedYield; the longer one wins. */
enum argus_vertex_type argus_vertex_type(const struct argus_vertex *vertex, uint64_t threshold_ns);

/* Names for people and JSON: "LongWait", "futex", "timed out", "wake-up" … */
const char *argus_vertex_type_name(enum argus_vertex_type type);
const char *argus_wait_kind_name(enum argus_wait_kind kind);
const char *argus_outcome_name(enum argus_outcome outcome);
const char *argus_edge_kind_name(enum argus_edge_kind kind);
/* The kind, and "wake-up with message" for what is both. */
const char *argus_edge_name(const struct argus_edge *edge);
/* What a vertex waited on, e.g. "futex 0x7f…", "read fd 5 (pipe 1234)", "poll", "clock_nanosleep"; into `buffer`. */
const char *argus_wait_text(const struct argus_graph *graph, uint32_t vertex, char *buffer,
                            size_t buffer_bytes);

#ifdef __cplusplus
}
#endif
#endif
