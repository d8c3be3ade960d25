/* The event graph: vertices (execution segments of threads, each with the wait that ended it) and
 * edges (which vertex caused another to run).
 *
 * Flat arrays with 32-bit ids. A thread's vertices have consecutive ids in time order, so `id - 1`
 * and `id + 1` are its neighbours as long as they belong to the same thread. Edges are sorted by
 * target, then by time; the incoming edges of v are edges[in_first[v]] … edges[in_first[v + 1] -
 * 1]. All times are ns of the trace clock.
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
    ARGUS_OUTCOME_KILLED,      /* the thread exited while it waited */
    ARGUS_OUTCOME_NEVER,       /* still waiting when the trace ended */
    ARGUS_OUTCOME_UNKNOWN,     /* the records that would tell were lost */
};

#define ARGUS_NO_SYSCALL 0xffffu

/* The blocking wait that ended a vertex: [vertex.end_ns, wait.end_ns). If a thread is woken inside
 * one system call and blocks again almost at once, that counts as one wait (`rewakes` counts the
 * wake-ups). */
struct argus_wait {
    uint64_t end_ns; /* when the thread was made runnable again; the end of the trace if never */
    /* first argument: descriptor, futex address, pid … (waitid: second argument) */
    uint64_t object;
    uint64_t inode;       /* of the file waited for, 0: unknown */
    uint64_t peer_inode;  /* of its other end, 0: unknown */
    uint64_t object_type; /* type of the file: arg4 of the record `object`; 0: unknown */
    int64_t result;       /* of the system call, valid if has_result */
    /* when a timer would end the wait, counted from the vertex's end_ns; UINT64_MAX: no timer
     * known */
    uint64_t timeout_ns;
    uint32_t user_stack, kernel_stack; /* stack indices or ARGUS_NONE */
    uint32_t holder_tid; /* thread that held the lock, if the recorder could read it; 0: unknown */
    uint32_t rewakes;
    uint32_t first_detail; /* index of struct argus_wait_detail, or ARGUS_NONE */
    uint16_t syscall;      /* number, or ARGUS_NO_SYSCALL */
    uint8_t kind;          /* enum argus_wait_kind */
    uint8_t outcome;       /* enum argus_outcome */
    bool has_result;
    bool by_timer; /* a timer made the thread runnable */
    /* the interrupt of a device did; either culled, or with an edge from the thread that issued the
     * request */
    bool by_device;
    bool no_wakeup; /* the thread ran again, but no wake-up was recorded */
};

/* More details of a wait. The meaning of `arg` depends on the kind: */
enum argus_detail_kind {
    /* a descriptor that a poll returned as ready; arguments as in the record `ready` */
    ARGUS_DETAIL_READY,
    /* the mapping that contains a shared futex; arguments as in the record `mapping` */
    ARGUS_DETAIL_FUTEX,
    ARGUS_DETAIL_FAULT, /* the address of the missing page */
    /* disk requests: device and operation as in arg4 of `block_issued`, bytes, number of requests,
     * inode (0: unknown) */
    ARGUS_DETAIL_BLOCK,
    /* the signal that interrupted or stopped it: signal, sender's thread ID (0: unknown),
     * si_code */
    ARGUS_DETAIL_SIGNAL,
    /* Darwin: 32 bytes of the path that its system call looked up; several details make up a
     * path */
    ARGUS_DETAIL_PATH,
    ARGUS_DETAIL_FROZEN, /* its control group was frozen, or all threads were; no arguments */
};

struct argus_wait_detail {
    uint64_t arg[4];
    uint32_t next; /* index of the wait's next detail, or ARGUS_NONE */
    uint8_t kind;  /* enum argus_detail_kind */
};

/* What a vertex did for an event loop, as told by probes in libraries: which callback it is, which
 * UI event it handles. */
enum argus_callback_what {
    ARGUS_CALLBACK_RUN,      /* a callback runs */
    ARGUS_CALLBACK_UI_EVENT, /* a UI event is handed to the program */
    ARGUS_CALLBACK_UI_READ,  /* a UI event is read from the display server */
    ARGUS_CALLBACK_HANDLER,  /* a function of the program is called for one of the above */
    /* not a callback: a voucher (Darwin) says that the vertex works for the process whose pid is in
     * `function` */
    ARGUS_CALLBACK_BEHALF,
    /* not a callback: an event of the program's own tracing, or a hook in it; the probe's label is
     * its name */
    ARGUS_CALLBACK_MARK,
};

struct argus_callback {
    uint64_t time_ns;
    uint64_t function; /* address; 0: unknown */
    uint64_t other;    /* another address that identifies it; 0: none */
    uint32_t vertex;
    uint32_t probe;   /* number: argus_graph_probe() */
    uint8_t what;     /* enum argus_callback_what */
    uint8_t ui_event; /* enum argus_ui_event, for UI events */
    bool on_purpose;  /* a UI event that a user causes deliberately: not motion, expose … */
    bool nested;      /* runs inside another callback, whose vertex it belongs to */
};

enum argus_vertex_flags {
    ARGUS_VERTEX_FIRST = 1,  /* first of its thread in the trace; the thread may have run before */
    ARGUS_VERTEX_LAST = 2,   /* last of its thread in the trace */
    ARGUS_VERTEX_FORKED = 4, /* begins with the thread's creation */
    ARGUS_VERTEX_EXITED = 8, /* ends with the thread's exit */
    ARGUS_VERTEX_GAP = 16,   /* records are missing within it: its figures are lower bounds */
    ARGUS_VERTEX_SPLIT = 32, /* begins at a split, not at a wait */
    /* continues the callback in which the previous vertex waited */
    ARGUS_VERTEX_CONTINUES = 128,
    ARGUS_VERTEX_LOOP = 256, /* begins at the end of a callback: the event loop's own segment */
    /* begins where the previous vertex exchanged messages with other threads; a split */
    ARGUS_VERTEX_PEERS = 512,
    ARGUS_VERTEX_BATCHED = 1024, /* begins with the next item of a batching loop; a split */
    ARGUS_VERTEX_YIELDS = 64,    /* a yield run: `repeat` segments of one signature */
};

/* A piece of a split vertex, except the first piece. */
#define ARGUS_VERTEX_PIECE (ARGUS_VERTEX_PEERS | ARGUS_VERTEX_BATCHED)

/* What a vertex is, by its figures alone (the caller chooses the thresholds:
 * argus_vertex_type()). */
enum argus_vertex_type {
    ARGUS_TYPE_NORMAL,
    ARGUS_TYPE_LONG_RUNNING,
    ARGUS_TYPE_REPEATED_YIELD,
    ARGUS_TYPE_LONG_WAIT,
};

/* In a yield run (`repeat` > 1), the waits between its turns belong to the vertex: end_ns -
 * start_ns - run_ns - runnable_ns is the time spent in them, and `wait` is the wait of the last
 * turn. In other vertices that difference is the time of interrupts, and time without records
 * (ARGUS_VERTEX_GAP). */
struct argus_vertex {
    uint64_t start_ns;    /* made runnable, created, or first seen */
    uint64_t end_ns;      /* exclusive: began to wait, exited, or last seen */
    uint64_t run_ns;      /* on a CPU, without interrupts */
    uint64_t runnable_ns; /* wanted a CPU and had none: before it first ran, and while preempted */
    uint32_t thread;
    uint32_t repeat;      /* segments merged into this one by the yield rule; 1 otherwise */
    uint32_t yield_calls; /* sched_yield() calls and short timed sleeps inside */
    uint32_t first_op,
        /* into graph ops; at most the first 1024; for a yield run those of its first turn */
        op_count;
    uint32_t first_sample, sample_count; /* into graph samples */
    uint32_t flags;
    struct argus_wait wait;
};

/* An operation of a vertex, for comparing vertices; `repeat` times in a row. */
struct argus_op {
    uint32_t code; /* ARGUS_OP_* << 24 | number (of the system call, of a string …) */
    uint32_t repeat;
};
#define ARGUS_OP_SYSCALL  1u /* number: the system call; failed calls have bit 16 set */
#define ARGUS_OP_WAKE     2u /* number: hash of the name of the process of which it woke a thread */
#define ARGUS_OP_FORK     3u
#define ARGUS_OP_CALLBACK 5u /* number: the probe */
#define ARGUS_OP_UI_EVENT 6u /* number: enum argus_ui_event */
/* number: the low 24 bits of the address of the kernel function that did the deferred work */
#define ARGUS_OP_WORK       7u
#define ARGUS_OP_FLAG_WRITE 8u /* number: the low 24 bits of the data flag's address */
#define ARGUS_OP_FLAG_READ  9u /* the same */

/* A CPU sample. */
struct argus_sample {
    uint64_t time_ns;
    uint64_t pc;
    uint32_t user_stack, kernel_stack; /* stack indices or ARGUS_NONE */
};

enum argus_edge_kind {
    ARGUS_EDGE_WAKE,     /* `from` made the thread of `to` runnable */
    ARGUS_EDGE_TIMER,    /* `from` armed the timer whose expiry made it runnable */
    ARGUS_EDGE_FORK,     /* `from` created the thread */
    ARGUS_EDGE_SEQUENCE, /* `from` is the previous vertex of the same thread */
    ARGUS_EDGE_MESSAGE,  /* `from` sent what `to` received */
    ARGUS_EDGE_DISPATCH,
    ARGUS_EDGE_FLAG,   /* `from` wrote the value of a data flag that `to` read */
    ARGUS_EDGE_SIGNAL, /* `from` sent the signal that woke or interrupted `to` */
    ARGUS_EDGE_WORK,   /* `from` queued the work that a kernel worker does in `to` */
    ARGUS_EDGE_BLOCK,  /* `from` issued the disk request that it waited for */
    ARGUS_EDGE_KINDS
};

struct argus_edge {
    /* when the cause happened in `from`: timer armed, message sent, wake-up */
    uint64_t from_ns;
    uint64_t to_ns; /* when the effect began: start of `to` or later inside it */
    uint32_t from, to;
    uint8_t kind;     /* enum argus_edge_kind */
    bool strong : 1;  /* false: possibly not causality, so a walk asks before it follows */
    bool message : 1; /* an edge of another kind, where `from` also sent what `to` received */
    uint16_t rule;    /* row of the rule table that made it: argus_graph_rules() */
    uint32_t stack;   /* the waker's user stack, or ARGUS_NONE */
};

/* A row of the schema, and how often it applied in this graph. */
struct argus_rule {
    const char *name;        /* e.g. "wake.futex" */
    const char *stage;       /* "boundary", "edge", "cull", "split", "merge" */
    const char *description; /* one sentence, with the reason for its strength */
    uint64_t count;          /* how often it applied */
};

/* A thread that used an object (inode) in a system call; used to find the thread behind a wait for
 * the object. */
struct argus_object_use {
    uint64_t inode, peer_inode;
    uint64_t last_ns; /* of the last write; of the last use, if the thread wrote nothing */
    uint32_t thread;
    bool wrote; /* true: a write, send or wake-up; false: a read or wait */
    /* The thread changed the file without data (ftruncate), or waited until changes of the file,
     * which may be another thread's, were on the disk (fsync). */
    bool changed;
};

/* What a thread did with an object of System V, the strongest last. */
enum argus_ipc_how {
    ARGUS_IPC_OPENED,   /* found or made it by its key, or asked or told the kernel something */
    ARGUS_IPC_RECEIVED, /* took a message */
    ARGUS_IPC_CHANGED,  /* took or gave back semaphores; sent a message */
};

/* A thread that used a set of semaphores or a message queue of System V, in calls that succeeded:
 * one entry for each thing that it did. */
struct argus_ipc_use {
    uint64_t last_ns; /* when it last did so */
    uint32_t id;      /* the kernel's number of the set or queue */
    uint32_t thread;
    bool is_queue;
    uint8_t how; /* enum argus_ipc_how */
};

/* An end of a pipe or socket that a process had open when the recording ended. */
struct argus_open_end {
    uint64_t inode;
    uint32_t thread;    /* the main thread of the process */
    bool reads, writes; /* for what it was opened */
};

/* A mapping of a file that several processes mapped with MAP_SHARED at one time. One that has grown
 * is as large as it ever was, and `writable` if it ever was. */
struct argus_shared_memory {
    uint64_t inode, offset; /* the file, and where in it the mapping begins */
    uint64_t start, bytes;  /* addresses of the process */
    uint32_t device;
    uint32_t thread; /* the main thread of the process */
    bool writable;
};

/* Calls of poll, select or epoll that returned without blocking, between two blocking calls of the
 * same thread. All are of one kind (system call and first argument). They end no vertex, but show
 * that the thread did check its input. */
struct argus_visits {
    uint64_t first_ns, last_ns;        /* when the first and the last call returned */
    uint64_t gap_start_ns, gap_end_ns; /* the longest time between two returns */
    uint64_t object;                   /* first argument, as in struct argus_wait */
    uint32_t thread;
    uint32_t count;
    uint16_t syscall;
};

/* A message that had not been received when the trace ended, or when its receiver's process ended
 * before that. */
struct argus_unread {
    uint64_t sent_ns;
    uint32_t sender,
        receiver; /* threads; the receiver is a thread that has received from this channel before */
    uint8_t channel_kind; /* enum argus_channel */
};

/* A descriptor that a poll, select or epoll call found ready at once, when the thread had made no
 * such call for at least 100 ms. */
struct argus_arrival {
    uint64_t time_ns;
    uint64_t fd, inode, peer, type; /* as in the record `ready` */
    uint32_t thread;
};

/* A data flag was set: a value other than 0 was written, after 0 or for the first time in the
 * trace. */
struct argus_flag_set {
    uint64_t time_ns;
    uint64_t address;
    uint32_t thread; /* the writing thread */
};

/* Which data flag an edge of kind ARGUS_EDGE_FLAG is about. */
struct argus_flag_use {
    uint64_t time_ns; /* to_ns of the edge */
    uint64_t address;
    uint32_t thread; /* thread of the edge's `to` */
};

/* A ping ("are you there?") of a window manager or compositor, or a program's reply to it; or the
 * start or end of a program's spinning cursor. A probe is one of these by its label
 * (share/probes.conf, share/hooks/macos/CoreGraphics.conf). */
struct argus_ping {
    uint64_t time_ns;
    /* X11: the window that is pinged or replies; Wayland: the serial number; macOS: the
     * connection */
    uint64_t key;
    /* X11: the window to which the event was sent; Wayland: the request's number; macOS: 1 spins, 0
     * does not */
    uint64_t to;
    uint32_t thread; /* the sending thread */
    uint32_t probe;
};

/* A lock on a file: the result of a locking call, or an entry of the kernel's list of locks. */
struct argus_file_lock {
    uint64_t time_ns;
    /* of a lock file (ARGUS_FILE_LOCK_NAME): a number that identifies its name */
    uint64_t inode;
    uint64_t first, last; /* bytes; 0 and UINT64_MAX: the whole file, or unknown */
    uint32_t device;      /* of the file's file system: major << 20 | minor */
    /* of a list entry: the process's main thread, ARGUS_NONE if the list names no process */
    uint32_t thread;
    uint8_t what; /* enum argus_file_lock_what */
    uint8_t kind; /* enum argus_file_lock_kind */
    bool exclusive;
    bool listed; /* an entry of the kernel's list, read at this time */
};

/* A lock file that a thread could not create, because it existed. */
struct argus_lock_name {
    uint64_t inode; /* as in struct argus_file_lock */
    char path[256]; /* as the thread named it; "" if not recorded; ends with NUL */
};

/* The other end of a TCP or UDP socket. */
struct argus_remote {
    uint64_t inode;      /* of the socket */
    uint64_t time_ns;    /* when the thread connected it, sent through it or waited on it */
    uint8_t address[16]; /* IPv4: the first 4 bytes */
    uint32_t thread;     /* that did so; ARGUS_NONE: not known */
    uint16_t port, own_port;
    uint8_t protocol; /* 6: TCP, 17: UDP */
    uint8_t version;  /* of IP: 4 or 6 */
};

/* The path of a file in whose call a thread waited. */
struct argus_file_name {
    uint64_t inode;  /* files of different file systems can have the same */
    uint32_t thread; /* that waited */
    char path[256];  /* ends with NUL; if it was longer, it begins with "..." */
};

/* The recorder left out categories for a while, to save time. */
struct argus_left_out {
    uint64_t from_ns, to_ns; /* the end of the trace if it never ended */
    uint64_t categories;     /* ARGUS_LEFT_OUT_… */
};

/* The machine was suspended. The trace clock stood still meanwhile. */
struct argus_suspension {
    uint64_t noticed_ns; /* on the trace clock, soon after the resume */
    uint64_t length_ns;
};

struct argus_graph;

struct argus_rule_set; /* argus/schema.h */

/* How a graph is built. All zero suits most callers; NULL means the same. */
struct argus_graph_options {
    /* the user's rules, in addition to the built-in ones; borrowed during the build; NULL: none */
    const struct argus_rule_set *rules;
};

/* Builds the graph of a trace, including traces of Darwin. `trace` is borrowed and must outlive the
 * graph. `options` may be NULL. */
struct argus_error *argus_graph_build(const struct argus_trace *trace,
                                      const struct argus_graph_options *options,
                                      argus_progress progress, void *context,
                                      struct argus_graph **ret);
void argus_graph_destroy(struct argus_graph *graph);

const struct argus_trace *argus_graph_trace(const struct argus_graph *graph);
uint64_t argus_graph_start_ns(const struct argus_graph *graph);
uint64_t argus_graph_end_ns(const struct argus_graph *graph);
double argus_graph_build_seconds(const struct argus_graph *graph);
/* Number of record chunks found damaged during the build; they count as lost records. Damage found
 * when the trace was opened is not included: argus_trace_damage() lists it. */
uint64_t argus_graph_damaged_chunks(const struct argus_graph *graph);
/* Counts the messages of all channels; argus_messages_read() lists them. */
const struct argus_message_counts *argus_graph_messages(const struct argus_graph *graph);

size_t argus_graph_processes(const struct argus_graph *graph, const struct argus_process **ret);
size_t argus_graph_threads(const struct argus_graph *graph, const struct argus_thread **ret);
size_t argus_graph_vertices(const struct argus_graph *graph, const struct argus_vertex **ret);
size_t argus_graph_edges(const struct argus_graph *graph, const struct argus_edge **ret);
size_t argus_graph_ops(const struct argus_graph *graph, const struct argus_op **ret);
size_t argus_graph_samples(const struct argus_graph *graph, const struct argus_sample **ret);
size_t argus_graph_rules(const struct argus_graph *graph, const struct argus_rule **ret);
/* The number of processes with a thread, without that of idle CPUs; each process ID counts once. 0
 * without memory. */
size_t argus_graph_process_count(const struct argus_graph *graph);
/* Whether a trace of Darwin has no records of wake-ups; no system call in which a thread waited.
 * False for other traces. */
bool argus_graph_lacks_wakeups(const struct argus_graph *graph);
bool argus_graph_lacks_calls(const struct argus_graph *graph);
size_t argus_graph_object_uses(const struct argus_graph *graph, /* sorted by inode, then thread */
                               const struct argus_object_use **ret);
size_t argus_graph_ipc_uses(const struct argus_graph *graph, /* in no order */
                            const struct argus_ipc_use **ret);
size_t argus_graph_open_ends(const struct argus_graph *graph, /* sorted by inode, then thread */
                             const struct argus_open_end **ret);
size_t argus_graph_shared_memory(const struct argus_graph *graph, /* sorted by thread, then start */
                                 const struct argus_shared_memory **ret);
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
/* One for each lock file. */
size_t argus_graph_lock_names(const struct argus_graph *graph, const struct argus_lock_name **ret);
size_t argus_graph_remotes(const struct argus_graph *graph, /* sorted by inode, then time */
                           const struct argus_remote **ret);
size_t argus_graph_file_names(const struct argus_graph *graph, /* sorted by inode, then thread */
                              const struct argus_file_name **ret);
size_t argus_graph_suspensions(const struct argus_graph *graph,
                               const struct argus_suspension **ret);
size_t argus_graph_left_out(const struct argus_graph *graph, /* in time order */
                            const struct argus_left_out **ret);
/* Whether system calls were left out at some moment between these times. */
bool argus_graph_calls_left_out(const struct argus_graph *graph, uint64_t from_ns, uint64_t to_ns);
struct argus_stack argus_graph_stack(const struct argus_graph *graph, uint32_t stack);

/* What the probes reported for `vertex`, in time order. O(log n). */
size_t argus_graph_callbacks(const struct argus_graph *graph, uint32_t vertex,
                             const struct argus_callback **ret);
/* The vertex that began the callback or UI event that `vertex` continues; `vertex` itself if it
 * continues none. */
uint32_t argus_graph_callback_begin(const struct argus_graph *graph, uint32_t vertex);
/* The UI event that `vertex` handles: the first deliberate one, or if it has none, the first of all
 * (motion, expose …). False: it handles none. */
bool argus_graph_ui_event(const struct argus_graph *graph, uint32_t vertex,
                          struct argus_callback *ret);
/* The probe with this number; NULL if the trace does not have it. */
const struct argus_probe_entry *argus_graph_probe(const struct argus_graph *graph, uint32_t number);

/* The data flag at `address` of process `pid` at a time; NULL if the trace has no name for it. */
const struct argus_flag_entry *argus_graph_flag(const struct argus_graph *graph, uint64_t pid,
                                                uint64_t address, uint64_t time_ns);
/* Where `thread` has the flag that it accessed at an end of an edge of kind ARGUS_EDGE_FLAG; 0: not
 * known. For the beginning of an edge it is known only if the end is in another process. */
uint64_t argus_graph_flag_address(const struct argus_graph *graph, uint64_t time_ns,
                                  uint32_t thread);
/* The same as argus_graph_flag() for an edge of kind ARGUS_EDGE_FLAG. `*ret_address` (may be NULL)
 * is 0 if unknown. */
const struct argus_flag_entry *argus_graph_edge_flag(const struct argus_graph *graph,
                                                     const struct argus_edge *edge,
                                                     uint64_t *ret_address);
/* The same for an operation ARGUS_OP_FLAG_… of `vertex`. */
const struct argus_flag_entry *argus_graph_op_flag(const struct argus_graph *graph, uint32_t vertex,
                                                   uint32_t code);

/* The array that argus_wait.first_detail indexes. */
size_t argus_graph_details(const struct argus_graph *graph, const struct argus_wait_detail **ret);

/* Incoming edges of `vertex`, in time order. */
size_t argus_graph_in_edges(const struct argus_graph *graph, uint32_t vertex,
                            const struct argus_edge **ret);
/* Outgoing edges: indices into the edge array, in time order of the cause. */
size_t argus_graph_out_edges(const struct argus_graph *graph, uint32_t vertex,
                             const uint32_t **ret);
/* The vertex of `thread` that covers `time_ns`, its wait included; ARGUS_NONE outside its life.
 * O(log n). */
uint32_t argus_graph_vertex_at(const struct argus_graph *graph, uint32_t thread, uint64_t time_ns);
/* The edge that ended the wait before `vertex` (wake-up, signal, timer or fork at its start). If
 * that is unknown, the message that `vertex` received and that was sent during the wait. For a
 * piece of a split vertex, the message or request that the piece is about. ARGUS_NONE: none. Never
 * a sequence edge. */
uint32_t argus_graph_cause(const struct argus_graph *graph, uint32_t vertex);
/* The first piece of the split vertex to which `vertex` belongs (rules split.*); `vertex` itself if
 * it is not split. */
uint32_t argus_graph_whole(const struct argus_graph *graph, uint32_t vertex);
/* The previous vertex of the same thread, or ARGUS_NONE. */
uint32_t argus_graph_previous(const struct argus_graph *graph, uint32_t vertex);
/* Duration of the wait that ended `vertex`; 0 if none. */
uint64_t argus_vertex_wait_ns(const struct argus_vertex *vertex);

/* The type by figures. A run (run + runnable) of at least `threshold_ns` is LongRunning, a wait of
 * at least that is LongWait, and a yield run, or more than 20 yields, that lasts at least that is
 * RepeatedYield. If several apply, the longest decides. */
enum argus_vertex_type argus_vertex_type(const struct argus_vertex *vertex, uint64_t threshold_ns);

/* Names for people and JSON: "LongWait", "futex", "timed out", "wake-up" … */
const char *argus_vertex_type_name(enum argus_vertex_type type);
const char *argus_wait_kind_name(enum argus_wait_kind kind);
const char *argus_outcome_name(enum argus_outcome outcome);
const char *argus_edge_kind_name(enum argus_edge_kind kind);
/* The kind of an edge; "wake-up with message" if it is both. */
const char *argus_edge_name(const struct argus_edge *edge);
/* What a vertex waited for, e.g. "futex 0x7f…", "read fd 5 (pipe 1234)", "poll", "clock_nanosleep";
 * into `buffer`. */
const char *argus_wait_text(const struct argus_graph *graph, uint32_t vertex, char *buffer,
                            size_t buffer_bytes);

#ifdef __cplusplus
}
#endif
#endif
