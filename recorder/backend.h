/* What the recorder's core (recording.c, server.c) asks of an operating system, as a table of functions that is chosen
 * when a recording begins: linux/ over BPF; others by a row in backends.c.
 *
 * A backend records from its creation on, into rings that it owns, one for each cpu, which overwrite their oldest
 * records. The core takes records out, either as they come (backend_read) or as a copy of all that is there
 * (backend_copy), and asks for the tables that name what the records speak of. One thread owns a backend.
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
#include "name_search.h"
#include "poll_set.h"
#include "probe_list.h"
#include "protocol.h"

/* A process whose user stacks are copied, to be unwound later. */
struct backend_unwind {
    uint32_t pid;                   /* 0: by name */
    char name[PROTOCOL_COMM_BYTES]; /* "": by pid */
};

struct backend_options {
    enum backend_kind kind;
    uint64_t ring_bytes; /* of all cpus together; rounded down to what fits */
    uint32_t rate_hz;    /* cpu samples a second on each cpu; 0: none */
    uint32_t categories; /* bits of enum category */
    bool watch_polls;    /* backend_pollers() will be asked */
    bool call_stacks;    /* stacks also at the begin of system calls, and of who is preempted */
    uint64_t
        late_ns; /* stacks are copied where somebody waited for so long; 0: frame pointers do */
    uint64_t snapshot_bytes; /* of memory for copied stacks that are asked for later; 0: none are */
    uint32_t unwind_bytes, unwind_count;
    struct backend_unwind unwind[PROTOCOL_UNWIND_MAX];
    const struct probe_list *probes; /* borrowed, outlives the backend; NULL: none */
};

/* One of the threads that wait by poll, select or epoll, as event loops do. */
struct backend_poller {
    uint32_t tid, pid;
    uint64_t returned_ns; /* when it last came back from a poll of its loop; the trace clock */
    uint64_t returns;     /* how often it came back */
    uint64_t rested_ns;   /* the longest that it waited in such a poll */
    uint64_t seen_ns;     /* when its last poll began, or inside a handler ended; 0: not known */
    uint64_t inner;       /* polls inside a handler, since then */
    uint64_t served;      /* those of them that found something */
    uint64_t
        asked_ns; /* when it last asked for a child's end in a row of such questions; 0: never */
    bool polling; /* it waits in its loop now */
    bool polling_inside;          /* it waits in a poll inside a handler now */
    struct poll_set home, inside; /* what its loop waits for, and the last poll inside a handler */
};

struct backend;

typedef VEC(struct argus_record) record_list;

/* In what `read` and `copy` return: arg[0] records of this cpu are missing here, and this stands in their place (Darwin's
 * TRACE_LOST_EVENTS). The sink takes it out. */
#define BACKEND_ID_LOST ARGUS_DEBUGID(0x07, 0x02, 2)

/* Each does what the function backend_…() of its name below says. Those marked optional may be NULL. */
struct backend_ops {
    const char *name;  /* "bpf" */
    const char *title; /* "BPF programs" */
    enum backend_kind kind;
    uint32_t
        collect_ms; /* call `collect` at least so often in every mode; 0: several times a second will do */
    /* Attaches everything that this kernel offers. What is missing but not needed is a note, not an error. `*ret` begins
     * with a struct backend, whose `ops` it sets. UNSUPPORTED and PERMISSION: the next one is tried. */
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
    struct argus_error *(*copy)(struct backend *backend, uint32_t cpu,
                                struct argus_record **ret_records, size_t *ret_count);
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
    struct argus_error *(*write_flags)(struct backend *backend, struct argus_writer *writer);
    bool (*is_crowded)(void);
    /* Optional: appends a record (ARGUS_ID_FILE_LOCK) for each lock on a file that somebody has or waits for; false without memory. */
    bool (*held_locks)(const struct backend *backend, record_list *ret);
    /* May be NULL: offers the names of all threads that it has seen. */
    struct argus_error *(*offer_names)(struct backend *backend, struct name_search *search);
};

/* The first member of every backend. */
struct backend {
    const struct backend_ops *ops;
    VEC(char *) notes; /* owned */
};

/* The backends of this recorder, best first, and NULL: see backends.c. */
extern const struct backend_ops *const backend_table[];

/* Creates the first backend of the table that can record here (or the one of options->kind). That others could not is a
 * note; when none can, the error is that of the first. */
struct argus_error *backend_create(const struct backend_options *options, struct backend **ret);
/* Detaches (if backend_detach() has not) and frees; NULL is fine. */
void backend_destroy(struct backend *backend);
/* Ends the recording; what is in the rings stays readable. */
void backend_detach(struct backend *backend);

/* For a backend that lives on without recording: nothing of it stays anywhere but in this process. */
void backend_release(struct backend *backend);

/* Which machine and clock; ring_bytes is left 0. */
struct argus_error *backend_header(const struct backend *backend, struct argus_trace_header *ret);
uint32_t backend_cpu_count(const struct backend *backend);
/* Bytes of all rings; how many records they hold. */
uint64_t backend_ring_bytes(const struct backend *backend);
/* Records emitted so far on `cpu`, whether still there or overwritten. */
uint64_t backend_emitted(const struct backend *backend, uint32_t cpu);

/* The next records of `cpu` that backend_read() has not yet returned; at most `room`, 0 when there are none now.
 * `*ret_lost`: how many were overwritten unread directly before them. */
size_t backend_read(struct backend *backend, uint32_t cpu, struct argus_record *records,
                    size_t room, uint64_t *ret_lost);
/* How many records of `cpu` backend_read() has not yet returned; more than the ring holds when some are lost. */
uint64_t backend_unread(const struct backend *backend, uint32_t cpu);
/* Copies some of the oldest or of the newest records in the ring of `cpu`; backend_read() does not notice. */
size_t backend_peek(const struct backend *backend, uint32_t cpu, bool oldest,
                    struct argus_record *records, size_t room);

/* A copy of what a cpu's ring holds now, while it goes on recording: `*ret_records` is for free(). */
struct argus_error *backend_copy(struct backend *backend, uint32_t cpu,
                                 struct argus_record **ret_records, size_t *ret_count);

/* Takes in what the kernel reports beside the rings (new mappings, cpus). To be called several times a second. */
struct argus_error *backend_collect(struct backend *backend);

/* The frames of stack `id`, innermost first; 0 when it is not there. `frames` has room for ARGUS_STACK_MAX_FRAMES. */
size_t backend_stack(struct backend *backend, uint64_t id, uint64_t *frames);

/* Looks for a thread of search->wanted among all that it has seen. UNSUPPORTED where the backend cannot tell. */
struct argus_error *backend_search_name(struct backend *backend, struct name_search *search);

/* Looks at the threads that wait now and have waited for long, while the backend is attached: what later waits' stacks are taken
 * for when those end (ARGUS_STACK_WAITED). What an earlier look found is forgotten. */
struct argus_error *backend_look_at_waits(struct backend *backend);
/* Their snapshots and late stacks. */
struct argus_error *backend_write_waits(const struct backend *backend, struct argus_writer *writer);
/* The snapshot that stands for stack `id`, of a process of options->unwind; valid until the next call. False: it is not
 * there. */
bool backend_snapshot(struct backend *backend, uint64_t id, struct argus_snapshot *ret);

/* Writes the tables as they are now. Images: those that backend_write_images() has not written yet, or `all`. */
struct argus_error *backend_write_threads(struct backend *backend, struct argus_writer *writer);
struct argus_error *backend_write_images(struct backend *backend, struct argus_writer *writer,
                                         bool all);
/* For a ring file: writes what names everything recorded since the last call, also to a reader who has nothing of what was
 * written before. `taken_ns`: the records of all cpus up to this time have been read; what had ended by then is
 * forgotten some calls later. */
struct argus_error *backend_renew_names(struct backend *backend, uint64_t taken_ns,
                                        struct argus_writer *writer);
/* The probes that it listens to, for the records that name them by number. */
struct argus_error *backend_write_probes(struct backend *backend, struct argus_writer *writer);
/* The code objects of interpreters that were met. */
struct argus_error *backend_write_code(struct backend *backend, struct argus_writer *writer);
/* The symbols of `count` kernel addresses, which are sorted in place. */
struct argus_error *backend_write_kernel_symbols(struct backend *backend, uint64_t *addresses,
                                                 size_t count, struct argus_writer *writer);

/* Appends records (ARGUS_ID_FILE_LOCK, held) of the locks on files that there are now; none where the backend cannot tell. Their
 * cpu means nothing. */
struct argus_error *backend_held_locks(const struct backend *backend, record_list *ret);

/* More threads want to run at this moment than there are cpus; false where nobody knows. */
bool backend_is_crowded(const struct backend *backend);

/* The threads that have polled since options->watch_polls; at most `room`. UNSUPPORTED where the backend cannot tell. */
struct argus_error *backend_pollers(struct backend *backend, struct backend_poller *ret,
                                    size_t room, size_t *ret_count);

/* Data flags; UNSUPPORTED where the backend cannot watch any. Errors as in linux/flags.h. */
struct argus_error *backend_flag_add(struct backend *backend, const struct request_flag *wanted,
                                     uid_t owner, uint32_t *ret_number);
struct argus_error *backend_flag_remove(struct backend *backend, uint32_t number);
/* backend_collect() has to be called every few milliseconds, to watch a flag of a process that comes. */
bool backend_flags_awaited(const struct backend *backend);
/* What the records of flags are about. */
struct argus_error *backend_write_flags(struct backend *backend, struct argus_writer *writer);
bool backend_flag_get(const struct backend *backend, uint32_t number, struct reply_flag *ret);

/* Between the sentence of a note and what only a developer wants to read (`argus status --verbose`). */
#define BACKEND_NOTE_DETAIL "\t"

/* Adds a sentence about what could not be attached and why, or what went wrong since. The same sentence counts once. */
__attribute__((format(printf, 2, 3))) void backend_note(struct backend *backend, const char *format,
                                                        ...);
/* These sentences; borrowed. */
size_t backend_notes(const struct backend *backend, const char *const **ret);
/* The backend's own counts: stacks_lost, compat_skipped, missed …; borrowed names. At most `room`. */
size_t backend_counters(const struct backend *backend, struct argus_counter *ret, size_t room);

#endif
