/* What the recorder's core (recording.c, server.c) asks of an operating system, as a table of
 * functions that is chosen when a recording begins: linux/ over BPF or perf_event, macos/ over
 * kdebug. backends.c lists them.
 *
 * A backend records from its creation on, into rings that it owns: one for each CPU, which
 * overwrites its oldest records. The core reads new records (backend_read) or everything that a
 * ring holds (backend_read_at). It also asks for the tables that name the threads, images and
 * stacks of these records. One thread owns a backend.
 */
#ifndef ARGUS_RECORDER_BACKEND_H
#define ARGUS_RECORDER_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/trace.h"
#include "base/vec.h"
#include "protocol.h"
#include "server/name_search.h"
#include "server/poll_set.h"
#include "server/probe_list.h"

/* A process whose user stacks are copied, to be unwound later. */
struct backend_unwind {
    uint32_t pid;                   /* 0: by name */
    char name[PROTOCOL_COMM_BYTES]; /* "": by pid */
};

struct backend_options {
    enum backend_kind kind;
    uint64_t ring_bytes; /* of all CPUs together; rounded down to a size that the rings can have */
    uint32_t rate_hz;    /* cpu samples a second on each cpu; 0: none */
    uint32_t categories; /* bits of enum category */
    bool watch_polls;    /* keep what backend_pollers() returns */
    bool call_stacks;    /* stacks also at the start of system calls, and of preempted threads */
    /* Copy the stack of a thread that waited this long; 0: follow frame pointers only. */
    uint64_t late_ns;
    bool may_leave_out;      /* backend_leave_out() will be called */
    uint64_t snapshot_bytes; /* memory for copied stacks that are requested later; 0: none */
    uint32_t unwind_bytes, unwind_count;
    struct backend_unwind unwind[PROTOCOL_UNWIND_MAX];
    const struct probe_list *probes; /* borrowed, outlives the backend; NULL: none */
};

/* One of the threads that wait by poll, select or epoll, as event loops do; or a thread whose loop
 * waits for a condition (`waits_for_condition`; linux/condition_loops.h). Of such a loop,
 * `returned_ns`, `returns`, `rested_ns` and `polling` are known, as of when they were looked at.
 * Its `handler_set` holds no descriptors: two words that tell where the thread is, or none. */
struct backend_poller {
    uint32_t tid, pid;
    uint64_t returned_ns; /* when it last came back from a poll of its loop; the trace clock */
    uint64_t returns;     /* how often it came back */
    uint64_t rested_ns;   /* its longest wait in such a poll */
    /* When its last poll began, or its last poll inside a handler ended; 0: unknown. */
    uint64_t seen_ns;
    uint64_t inner;  /* polls inside a handler since returned_ns */
    uint64_t served; /* how many of them found something ready */
    /* When it last polled for the end of a child in quick succession; 0: never. */
    uint64_t asked_ns;
    uint64_t first_ns; /* when its first poll returned; 0: unknown */
    uint64_t woken_ns; /* when it was last made runnable; 0: unknown */
    /* If its loop waits in another place than usually: when it last came back from the usual one,
     * and a number for the other one, the same whenever the program runs. usual_ns is 0 if not. */
    uint64_t usual_ns, elsewhere;
    bool waits_for_condition;
    bool typed;   /* keys were typed in the terminal from which it last read, and are unread */
    bool polling; /* it waits in its loop now */
    bool polling_in_handler;               /* it waits in a poll inside a handler now */
    struct poll_set loop_set, handler_set; /* of its loop, and of its last poll inside a handler */
};

struct backend;

typedef VEC(struct argus_record) record_list;

/* The debugid of a marker in the records that `read` and `read_at` return: arg[0] records of this
 * CPU were lost here (Darwin's TRACE_LOST_EVENTS). The sink takes it out. */
#define BACKEND_ID_LOST ARGUS_DEBUGID(0x07, 0x02, 2)

/* Each implements the function backend_…() of the same name below, which says what it does. Those
 * marked optional may be NULL. */
struct backend_ops {
    const char *name;  /* "bpf" */
    const char *title; /* "BPF programs" */
    enum backend_kind kind;
    /* The longest time between two calls of `collect`; 0: several calls a second are enough. */
    uint32_t collect_ms;
    /* Attaches to everything that this kernel offers. A missing part that is not required is a
     * note, not an error. `*ret` begins with a struct backend, whose `ops` it sets. After
     * UNSUPPORTED or PERMISSION the next backend is tried. */
    struct argus_error *(*create)(const struct backend_options *options, struct backend **ret);
    void (*destroy)(struct backend *backend);
    void (*detach)(struct backend *backend);
    struct argus_error *(*header)(const struct backend *backend, struct argus_trace_header *ret);
    uint32_t (*cpu_count)(const struct backend *backend);
    uint64_t (*ring_bytes)(const struct backend *backend);
    uint64_t (*emitted)(const struct backend *backend, uint32_t cpu);
    size_t (*read)(struct backend *backend, uint32_t cpu, struct argus_record *records, size_t room,
                   uint64_t *ret_lost);
    uint64_t (*unread)(const struct backend *backend, uint32_t cpu);
    size_t (*peek)(const struct backend *backend, uint32_t cpu, bool oldest,
                   struct argus_record *records, size_t room);
    size_t (*read_at)(const struct backend *backend, uint32_t cpu, uint64_t *next,
                      struct argus_record *records, size_t room, uint64_t *ret_lost);
    struct argus_error *(*collect)(struct backend *backend);
    size_t (*stack)(struct backend *backend, uint64_t id, uint64_t *frames);
    struct argus_error *(*write_threads)(struct backend *backend, struct argus_writer *writer);
    struct argus_error *(*write_images)(struct backend *backend, struct argus_writer *writer,
                                        bool all);
    struct argus_error *(*renew_names)(struct backend *backend, uint64_t taken_ns,
                                       struct argus_writer *writer);
    struct argus_error *(*write_kernel_symbols)(struct backend *backend, uint64_t *addresses,
                                                size_t count, struct argus_writer *writer);
    size_t (*counters)(const struct backend *backend, struct argus_counter *ret, size_t room);
    /* Optional: */
    void (*release)(struct backend *backend);
    struct argus_error *(*look_at_waits)(struct backend *backend); /* optional */
    struct argus_error *(*write_waits)(const struct backend *backend,
                                       struct argus_writer *writer); /* optional */
    bool (*snapshot)(struct backend *backend, uint64_t id, struct argus_snapshot *ret);
    struct argus_error *(*write_probes)(struct backend *backend, struct argus_writer *writer);
    struct argus_error *(*write_code)(struct backend *backend, struct argus_writer *writer);
    struct argus_error *(*pollers)(struct backend *backend, struct backend_poller *ret, size_t room,
                                   size_t *ret_count);
    struct argus_error *(*flag_add)(struct backend *backend, const struct request_flag *wanted,
                                    uid_t owner, uint32_t *ret_number);
    struct argus_error *(*flag_remove)(struct backend *backend, uint32_t number);
    bool (*flag_get)(const struct backend *backend, uint32_t number, struct reply_flag *ret);
    bool (*flags_awaited)(const struct backend *backend);
    /* Appends a record (ARGUS_ID_FLAG_SHARED) for each flag in shared memory that is watched since
     * the last call, and if records were read, for memory that processes were lately
     * found to share (ARGUS_ID_SHARED_MEMORY); false without memory. */
    bool (*take_shared)(struct backend *backend, record_list *ret);
    struct argus_error *(*write_flags)(struct backend *backend, struct argus_writer *writer);
    bool (*is_overloaded)(void);
    bool (*copies_hurry)(const struct backend *backend);
    /* Optional: appends a record (ARGUS_ID_FILE_LOCK) for each file lock that is held or waited
     * for; false without memory. */
    bool (*held_locks)(const struct backend *backend, record_list *ret);
    /* Optional: appends a record (ARGUS_ID_OPEN_END) for each end of a pipe or socket that a
     * process has open, one (ARGUS_ID_SHARED_MEMORY) for each mapping of a file that several
     * processes share, then one (ARGUS_ID_WAITING) for each thread that waited for long at the last
     * look_at_waits(); false without memory. */
    bool (*read_last)(const struct backend *backend, record_list *ret);
    /* Optional, both or neither; see backend_leave_out(), backend_cost(). */
    struct argus_error *(*leave_out)(struct backend *backend, uint32_t categories);
    void (*cost)(const struct backend *backend, uint64_t ret_ns[CATEGORY_COUNT]);
    /* Optional: passes the names of all threads that the backend has seen to `search`. */
    struct argus_error *(*offer_names)(struct backend *backend, struct name_search *search);
};

/* The first member of every backend. */
struct backend {
    const struct backend_ops *ops;
    VEC(char *) notes; /* owned */
};

/* The backends of this recorder, best first, and NULL: see backends.c. */
extern const struct backend_ops *const backend_table[];

/* Creates the first backend of the table that can record here (or the one of options->kind). Each
 * backend that cannot becomes a note. If none can, the error is that of the first. */
struct argus_error *backend_create(const struct backend_options *options, struct backend **ret);
/* Detaches (if backend_detach() has not) and frees; NULL is fine. */
void backend_destroy(struct backend *backend);
/* Ends the recording. Records in the rings stay readable. */
void backend_detach(struct backend *backend);

/* Removes everything that the backend has outside this process. For a backend that is kept after
 * its recording has ended. */
void backend_release(struct backend *backend);

/* Fills in machine and clock; ring_bytes stays 0. */
struct argus_error *backend_header(const struct backend *backend, struct argus_trace_header *ret);
uint32_t backend_cpu_count(const struct backend *backend);
/* The size of all rings in bytes, and the number of records that they hold. */
uint64_t backend_ring_bytes(const struct backend *backend);
/* Records emitted so far on `cpu`, including overwritten ones. */
uint64_t backend_emitted(const struct backend *backend, uint32_t cpu);

/* The next records of `cpu` that backend_read() has not yet returned; at most `room`, 0 when there
 * are none now. `*ret_lost`: how many records directly before them were overwritten unread. */
size_t backend_read(struct backend *backend, uint32_t cpu, struct argus_record *records,
                    size_t room, uint64_t *ret_lost);
/* How many records of `cpu` backend_read() has not yet returned; more than the ring holds if some
 * are lost. */
uint64_t backend_unread(const struct backend *backend, uint32_t cpu);
/* Copies some of the oldest or newest records in the ring of `cpu`. Does not affect
 * backend_read(). */
size_t backend_peek(const struct backend *backend, uint32_t cpu, bool oldest,
                    struct argus_record *records, size_t room);

/* As backend_read(), from the record with number `*next` on (the first one ever has 0), which is
 * moved behind what was returned or lost. Does not affect backend_read(). */
size_t backend_read_at(const struct backend *backend, uint32_t cpu, uint64_t *next,
                       struct argus_record *records, size_t room, uint64_t *ret_lost);

/* Reads what the kernel reports outside the rings (new mappings, CPUs). Call it several times a
 * second. */
struct argus_error *backend_collect(struct backend *backend);

/* The frames of stack `id`, innermost first; 0 if the stack is not stored. `frames` has room for
 * ARGUS_STACK_MAX_FRAMES. */
size_t backend_stack(struct backend *backend, uint64_t id, uint64_t *frames);

/* Looks for a thread named search->wanted among all threads that were seen. UNSUPPORTED where the
 * backend cannot tell. */
struct argus_error *backend_search_name(struct backend *backend, struct name_search *search);

/* Copies the stacks of threads that are blocked now and have been for long. Such a wait has not
 * ended, so no record has its stack (ARGUS_STACK_WAITED). Requires an attached backend; drops what
 * an earlier call found. */
struct argus_error *backend_look_at_waits(struct backend *backend);
/* The snapshots and late stacks that backend_look_at_waits() found. */
struct argus_error *backend_write_waits(const struct backend *backend, struct argus_writer *writer);
/* The snapshot of stack `id`, of a process of options->unwind; valid until the next call. False:
 * not stored. */
bool backend_snapshot(struct backend *backend, uint64_t id, struct argus_snapshot *ret);

/* Write the tables as they are now. Images: only those that were not written yet, or `all`. */
struct argus_error *backend_write_threads(struct backend *backend, struct argus_writer *writer);
struct argus_error *backend_write_images(struct backend *backend, struct argus_writer *writer,
                                         bool all);
/* For a ring file: writes names for everything recorded since the last call. They are complete,
 * since the reader may have no earlier table. `taken_ns`: the records of all CPUs up to this time
 * have been read; threads and processes that ended before it are dropped some calls later. */
struct argus_error *backend_renew_names(struct backend *backend, uint64_t taken_ns,
                                        struct argus_writer *writer);
/* Writes the table of probes, which records name by number. */
struct argus_error *backend_write_probes(struct backend *backend, struct argus_writer *writer);
/* Writes the code objects of interpreters that copied stacks refer to. */
struct argus_error *backend_write_code(struct backend *backend, struct argus_writer *writer);
/* Writes the symbols of `count` kernel addresses. Sorts `addresses` in place. */
struct argus_error *backend_write_kernel_symbols(struct backend *backend, uint64_t *addresses,
                                                 size_t count, struct argus_writer *writer);

/* Appends records (ARGUS_ID_FILE_LOCK, held) of the file locks held or waited for now; none if the
 * backend cannot tell. The CPU of these records has no meaning. */
struct argus_error *backend_held_locks(const struct backend *backend, record_list *ret);
/* The same for flags in shared memory that are watched since the last call, and for memory that
 * processes share since then. */
struct argus_error *backend_take_shared(struct backend *backend, record_list *ret);
/* The same for the ends of pipes and sockets that are open now (ARGUS_ID_OPEN_END), for the memory
 * that processes share (ARGUS_ID_SHARED_MEMORY), and for what threads wait for (ARGUS_ID_WAITING),
 * after backend_look_at_waits(). */
struct argus_error *backend_read_last(const struct backend *backend, record_list *ret);

/* Whether more threads are runnable now than there are CPUs; false if unknown. */
bool backend_is_overloaded(const struct backend *backend);
/* Whether programs copy stacks so fast that backend_collect() should be called again at once, and
 * what is recorded be read: before their memory is used again. */
bool backend_copies_hurry(const struct backend *backend);

/* Leaves out these categories (bits) from now on; they are among options->categories, without
 * sched. Records of a category that comes back are as if the recording began. Requires
 * options->may_leave_out, as does backend_cost(): CPU time that recording each category has used in
 * the kernel so far. */
struct argus_error *backend_leave_out(struct backend *backend, uint32_t categories);
void backend_cost(const struct backend *backend, uint64_t ret_ns[CATEGORY_COUNT]);

/* The threads that have polled so far; at most `room`. Requires options->watch_polls. UNSUPPORTED
 * where the backend cannot tell. */
struct argus_error *backend_pollers(struct backend *backend, struct backend_poller *ret,
                                    size_t room, size_t *ret_count);

/* Data flags; UNSUPPORTED where the backend cannot watch any. Errors as in linux/flags.h. */
struct argus_error *backend_flag_add(struct backend *backend, const struct request_flag *wanted,
                                     uid_t owner, uint32_t *ret_number);
struct argus_error *backend_flag_remove(struct backend *backend, uint32_t number);
/* Whether backend_collect() must be called every few milliseconds: a flag of a future process is to
 * be watched. */
bool backend_flags_awaited(const struct backend *backend);
/* Writes the names of the data flags. */
struct argus_error *backend_write_flags(struct backend *backend, struct argus_writer *writer);
bool backend_flag_get(const struct backend *backend, uint32_t number, struct reply_flag *ret);

/* Separates the sentence of a note from its details for developers (`argus status --verbose`). */
#define BACKEND_NOTE_DETAIL "\t"

/* Adds a note: what could not be attached and why, or what failed later. A repeated sentence is
 * kept once. */
__attribute__((format(printf, 2, 3))) void backend_note(struct backend *backend, const char *format,
                                                        ...);
/* The notes; borrowed. */
size_t backend_notes(const struct backend *backend, const char *const **ret);
/* The backend's own counts: stacks_lost, compat_skipped, missed …; borrowed names. At most `room`.
 */
size_t backend_counters(const struct backend *backend, struct argus_counter *ret, size_t room);

#endif
