/* Reading and writing `.argus` files. The format is docs/man/argus-trace.5.md, and only that. Files of Darwin's own tracing
 * (libargus/trace/kdebug.h) are read through the same functions.
 *
 * The reader trusts nothing: every length and offset is checked against the file, memory is bounded
 * by the file's size times a constant, and what is damaged is skipped, listed and said
 * (argus_trace_damage()). It uses pread(), not mmap(): a file that is truncated under a mapping
 * raises SIGBUS in our host.
 *
 * What callers may count on in any file: a record's cpu is below the header's cpu_count, its
 * timestamp within the range of its chunk; every text is well-formed UTF-8 without a NUL (but may
 * have control characters in it).
 *
 * Threads: one argus_trace may be read by several threads at once through the functions that take
 * it as const; opening and closing are the owner's. A writer belongs to one thread.
 */
#ifndef ARGUS_TRACE_H
#define ARGUS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"

#ifdef __cplusplus
extern "C" {
#endif

enum argus_os { ARGUS_OS_LINUX = 1, ARGUS_OS_DARWIN = 2 };
enum argus_arch { ARGUS_ARCH_X86_64 = 1, ARGUS_ARCH_AARCH64 = 2 };

#define ARGUS_TRACE_VERSION_MAJOR 1
#define ARGUS_TRACE_VERSION_MINOR 2
#define ARGUS_CPU_MIXED           0xffffffffu
#define ARGUS_CHUNK_MAX_BYTES     (16u << 20) /* unpacked payload of one chunk */
#define ARGUS_CHUNK_MAX_RECORDS   (1u << 17)  /* 72 bytes each at the very most: fits the payload */
#define ARGUS_STACK_MAX_FRAMES    127u

/* What the file header says of the machine and the clock. */
struct argus_trace_header {
    uint16_t version_major, version_minor;
    enum argus_os os;
    enum argus_arch arch;
    uint32_t timebase_numer, timebase_denom; /* ns = ticks * numer / denom */
    uint64_t anchor_ticks;                   /* the trace clock at … */
    uint64_t anchor_wall_ns;                 /* … this moment since 1970-01-01 UTC */
    uint32_t page_bytes;
    uint32_t cpu_count;
    uint64_t ring_bytes; /* capacity of a ring file's chunk area; 0: a stream */
    uint8_t boot_id[16];
    char host[129]; /* system, release and machine as uname(2) has them, NUL-terminated */
};

enum argus_chunk_kind {
    ARGUS_CHUNK_PAD = 0,
    ARGUS_CHUNK_RECORDS = 1,
    ARGUS_CHUNK_THREADS = 2,
    ARGUS_CHUNK_IMAGES = 3,
    ARGUS_CHUNK_STACKS = 4,
    ARGUS_CHUNK_KERNEL_SYMBOLS = 5,
    ARGUS_CHUNK_BUILD_IDS = 6,
    ARGUS_CHUNK_NOTE = 7,
    ARGUS_CHUNK_END = 8,
    ARGUS_CHUNK_SNAPSHOTS = 9,
    ARGUS_CHUNK_PROBES = 10,
    ARGUS_CHUNK_FLAGS = 11,
    ARGUS_CHUNK_LATE_STACKS = 12,
    ARGUS_CHUNK_NAMES = 13,
    ARGUS_CHUNK_CODE = 14,
};

/* How payloads are packed; the numbers are those of the file. */
enum argus_codec {
    ARGUS_CODEC_NONE = 0,
    ARGUS_CODEC_ZLIB = 1, /* every build has it */
    ARGUS_CODEC_ZSTD = 2,
    ARGUS_CODECS,
};

/* "zlib"; "unknown" for a number that is none. */
const char *argus_codec_name(enum argus_codec codec);
/* The codec of that name, whether built or not; false: there is none. */
bool argus_codec_find(const char *name, enum argus_codec *ret);
/* Can this build pack and unpack with it? */
bool argus_codec_is_built(enum argus_codec codec);

/* One record chunk of the index. */
struct argus_chunk {
    uint64_t offset_bytes; /* of its header in the file */
    uint64_t sequence;
    uint64_t first_ticks, last_ticks; /* smallest and largest timestamp inside, both inclusive */
    uint64_t lost;                    /* records of this cpu lost just before it */
    uint32_t cpu;                     /* ARGUS_CPU_MIXED: each record has its own */
    uint32_t
        lane; /* chunks of one lane are one behind the other in time; in .argus files the cpu */
    uint32_t count;
    uint32_t stored_bytes, unpacked_bytes;
    enum argus_chunk_kind kind;
};

/* A thread that was alive when its table was written, or that had been seen before. */
struct argus_thread_entry {
    uint64_t tid, pid, parent_pid;
    uint64_t seen_ticks; /* when the entry was true */
    const char *name;    /* comm, borrowed from the trace */
    bool kernel;         /* a kernel thread */
};

/* An executable mapping. */
struct argus_image_entry {
    uint64_t pid;
    uint64_t start, end;   /* addresses, end exclusive */
    uint64_t file_offset;  /* of `start` in the file */
    uint64_t mapped_ticks; /* 0: mapped before the recording began */
    uint64_t inode;        /* 0: unknown */
    uint32_t dev_major, dev_minor;
    const char *path; /* borrowed; as the kernel names it, e.g. "[vdso]" */
    uint8_t build_id[20];
    uint32_t build_id_bytes; /* 0: unknown */
};

struct argus_kernel_symbol {
    uint64_t address;
    const char *name;   /* borrowed */
    const char *module; /* "" for the kernel itself; borrowed */
};

/* Why a frame has no function. */
enum argus_lack {
    ARGUS_LACK_NONE = 0,   /* it has one, or why not is not known */
    ARGUS_LACK_GONE = 1,   /* its file is gone */
    ARGUS_LACK_STALE = 2,  /* its file is another one now */
    ARGUS_LACK_DENIED = 3, /* its file may not be read */
    ARGUS_LACK_SYMBOL = 4, /* its file has no symbol there: it is stripped */
    ARGUS_LACK_JIT = 5,    /* code made at run time, without a list of its functions */
    ARGUS_LACKS
};

/* The name of a place in code, as the trace brings it along. */
struct argus_name_entry {
    /* NULL: code made at run time by process `pid`. Of the file counts its build id, and only without one inode, device
     * and path */
    const struct argus_image_entry *file;
    uint64_t pid;
    uint64_t place;       /* offset in the file, or address in the process */
    uint64_t since_ticks; /* from when on it holds; 0: always */
    uint64_t distance;    /* from the beginning of the function, if `has_start` */
    const char *function; /* demangled; "": not known; borrowed, as the others */
    const char *source;   /* source file; "": not known */
    const char *called;   /* by a direct call that ends at the place; "": not known */
    uint32_t line;        /* 0: not known */
    bool has_start;
    uint8_t lack; /* enum argus_lack */
};

/* A place in a library at which the recorder listened: what the records of callbacks and UI events name by number. */
struct argus_probe_entry {
    uint64_t file_offset;
    uint32_t number;
    uint32_t shape;      /* enum argus_probe_shape */
    uint32_t space;      /* keys are compared among probes of the same space only */
    const char *library; /* path; borrowed, as the others */
    const char *symbol;  /* as in the table of probes, e.g. "g_source_attach" */
    const char *label;   /* what a person calls it, e.g. "GLib idle callback" */
};

/* What a write of a data flag means: how a read finds its write (graph/rules/flag.c). */
enum argus_flag_semantics {
    ARGUS_FLAG_VALUE = 0, /* it says something by its value */
    ARGUS_FLAG_FLIP = 1,  /* set and cleared in turn: who sets it is waited for by who clears it */
    ARGUS_FLAG_QUEUE = 2, /* counts work: each write of more is for one write of less */
    ARGUS_FLAG_SEMANTICS
};

/* A data flag that was watched: bytes of a process from a moment on. */
struct argus_flag_entry {
    uint64_t address;
    uint64_t since_ticks;
    uint64_t pid;
    uint64_t value;     /* at that time, where it could be read; else 0 */
    uint32_t number;    /* in this file */
    uint32_t bytes;     /* 1, 2, 4 or 8 */
    uint32_t semantics; /* enum argus_flag_semantics */
    const char *label;  /* what a person calls it, e.g. "did_reconfigure in settings"; borrowed */
};

/* How the path of an image begins that is Darwin's shared cache: all system libraries in one, at one address for all processes. */
#define ARGUS_SHARED_CACHE_PATH  "dyld shared cache"
#define ARGUS_SHARED_CACHE_BYTES (4ull << 30) /* it is no longer */

/* A number the recorder counted about itself, e.g. "stacks_lost". */
struct argus_counter {
    const char *name; /* borrowed */
    uint64_t value;
};

/* A stretch of the file that could not be used. */
struct argus_damage {
    uint64_t offset_bytes, length_bytes;
    const char *reason; /* borrowed */
};

/* Records that the recorder could not keep. */
struct argus_loss {
    uint32_t cpu;
    uint64_t count;
    uint64_t from_ticks, to_ticks; /* lost between these two; from is 0 when nothing came before */
};

/* A user stack that was copied instead of walked, to be unwound later (argus/unwind.h). */
enum argus_snapshot_end {
    ARGUS_SNAPSHOT_WHOLE = 0,   /* the copy reaches to the end of the stack */
    ARGUS_SNAPSHOT_CUT = 1,     /* it has as much as was asked for */
    ARGUS_SNAPSHOT_MISSING = 2, /* the next page was not in memory */
};

#define ARGUS_SNAPSHOT_REGISTERS 33u /* aarch64; x86_64 has 17 */

struct argus_snapshot {
    uint64_t id; /* of the stack that it stands for */
    uint64_t pid, tid, ticks;
    uint64_t registers[ARGUS_SNAPSHOT_REGISTERS]; /* DWARF's order; the last one is the pc */
    uint32_t register_count;                      /* as the trace's architecture has them */
    enum argus_snapshot_end end;
    const uint8_t *stack; /* from the stack pointer up; borrowed */
    uint32_t stack_bytes;
};

/* A stack that was taken when a wait was over: the user stack of all waits of the thread that began in that time. Reading a chunk
 * puts it in the place of the one that was taken when the wait began (ARGUS_STACK_BLOCK), which is what frame pointers gave; and of
 * other waits of the thread at the same place (libargus/trace/late_stacks.h). */
struct argus_late_stack {
    uint64_t tid;
    uint64_t from_ticks, to_ticks; /* both inclusive */
    uint64_t sp;                   /* the user's stack pointer; 0: not known */
    uint64_t id;
};

/* A code object of an interpreter: its instructions are at these addresses of the process, and this is what names them. */
struct argus_code_entry {
    uint64_t pid, start, bytes;
    uint64_t
        seen_ticks; /* when it was read; the memory may have had another one before and after */
    uint32_t line;  /* the function's first one; 0: not known */
    uint32_t table_bytes;
    const char *function, *source; /* borrowed; source "": not known */
    const uint8_t *table;          /* of lines, as CPython 3.11 and later have it; borrowed */
};

/* The snapshots of one chunk. */
struct argus_snapshots {
    struct argus_snapshot *entries; /* owned */
    size_t count;
    uint8_t *payload; /* what their `stack` points into; owned */
};

struct argus_trace;

/* Opens `path`, an .argus file or one of Darwin's own (kdebug; found by its first bytes), and reads its index and tables;
 * of a kdebug file all records, which have the tables in them. A file that is no trace, or is of a newer major
 * version, is an error; a damaged or cut-off file opens, and argus_trace_damage() tells. */
struct argus_error *argus_trace_open(const char *path, struct argus_trace **ret);
void argus_trace_close(struct argus_trace *trace);

const char *argus_trace_path(const struct argus_trace *trace);
/* "1.1" for an .argus file, "kdebug V2" for one of Darwin's own. Writes into `buffer`, and returns it. */
const char *argus_trace_format(const struct argus_trace *trace, char *buffer, size_t buffer_bytes);
/* A file of Darwin's own: kdebug V1, V2, V3. */
bool argus_trace_is_kdebug(const struct argus_trace *trace);
const struct argus_trace_header *argus_trace_header(const struct argus_trace *trace);
uint64_t argus_trace_file_bytes(const struct argus_trace *trace);
/* A number that is another one after any change of the file: a hash of its size, of the times of its last change as the
 * system keeps them, and of the headers of all its chunks. A copy of the file has another one. */
uint64_t argus_trace_identity(const struct argus_trace *trace);
/* Ended by the recorder itself: false for a file that was cut off or whose recorder was killed. */
bool argus_trace_complete(const struct argus_trace *trace);
uint64_t argus_trace_record_count(const struct argus_trace *trace);
uint64_t argus_trace_lost_count(const struct argus_trace *trace);
/* Smallest and largest timestamp of any record, as ns of the trace clock; both 0 without records.
 */
void argus_trace_time_range(const struct argus_trace *trace, uint64_t *ret_start_ns,
                            uint64_t *ret_end_ns);
uint64_t argus_trace_ticks_to_ns(const struct argus_trace *trace, uint64_t ticks);
/* ns of the trace clock → ns since 1970, by the header's anchor and the steps of the wall clock since. */
uint64_t argus_trace_ns_to_wall_ns(const struct argus_trace *trace, uint64_t ns);

/* The record chunks in file order (by sequence; of one cpu they are in time order). Borrowed. */
size_t argus_trace_chunks(const struct argus_trace *trace, const struct argus_chunk **ret);

/* Unpacks one record chunk into `ret`, room for chunk->count records, which are in the order of
 * writing: neighbours may be out of order in time. Late stacks are in their place. ARGUS_ERROR_FORMAT: this chunk is damaged (its
 * payload is checked only here), `ret` is undefined, and the others are as good as before. */
struct argus_error *argus_trace_read_chunk(const struct argus_trace *trace,
                                           const struct argus_chunk *chunk,
                                           struct argus_record *ret);

/* Tables; arrays and strings are borrowed from the trace. Each returns the number of entries.
 * Threads and images are sorted by file order; the same tid may come more than once (later is
 * newer). */
size_t argus_trace_threads(const struct argus_trace *trace, const struct argus_thread_entry **ret);
size_t argus_trace_images(const struct argus_trace *trace, const struct argus_image_entry **ret);
size_t argus_trace_kernel_symbols(const struct argus_trace *trace, /* sorted by address */
                                  const struct argus_kernel_symbol **ret);
size_t argus_trace_counters(const struct argus_trace *trace, const struct argus_counter **ret);
size_t argus_trace_flags(const struct argus_trace *trace, /* by number, each of them once */
                         const struct argus_flag_entry **ret);
size_t argus_trace_probes(const struct argus_trace *trace, /* by number, each of them once */
                          const struct argus_probe_entry **ret);
/* Code of interpreters, by process and address; several may have had the same memory. */
size_t argus_trace_code(const struct argus_trace *trace, const struct argus_code_entry **ret);
/* Whether an instruction of any of it began at `address` of process `pid`, at some time. */
bool argus_trace_is_interpreted(const struct argus_trace *trace, uint64_t pid, uint64_t address);
size_t argus_trace_notes(const struct argus_trace *trace, const char *const **ret);
/* Names that the trace brings along: by owner, place and time, each of them once. */
size_t argus_trace_name_count(const struct argus_trace *trace);
struct argus_name_entry argus_trace_name_at(const struct argus_trace *trace, size_t index);
/* The name of the byte at `file_offset` of the file of `image`, or at `address` of process `pid`, at a time. False: none. */
bool argus_trace_name_in_file(const struct argus_trace *trace,
                              const struct argus_image_entry *image, uint64_t file_offset,
                              struct argus_name_entry *ret);
bool argus_trace_name_in_process(const struct argus_trace *trace, uint64_t pid, uint64_t address,
                                 uint64_t time_ns, struct argus_name_entry *ret);
/* By offset. Found by opening: lost headers and damaged tables. A record chunk with a damaged
 * payload is not among them before it is read. */
size_t argus_trace_damage(const struct argus_trace *trace, const struct argus_damage **ret);
size_t argus_trace_losses(const struct argus_trace *trace, const struct argus_loss **ret);

/* The frames of stack `id` (arg1 or arg2 of ARGUS_ID_STACK), innermost first; 0 when it is not in
 * the file. */
size_t argus_trace_stack(const struct argus_trace *trace, uint64_t id, const uint64_t **ret);
size_t argus_trace_stack_count(const struct argus_trace *trace);
/* The stack at `index` below argus_trace_stack_count(), in the order of writing; its id and frames.
 */
size_t argus_trace_stack_at(const struct argus_trace *trace, size_t index, uint64_t *ret_id,
                            const uint64_t **ret);

/* The chunks of stack snapshots that nobody has unwound yet; by sequence. Borrowed. */
size_t argus_trace_snapshot_chunks(const struct argus_trace *trace, const struct argus_chunk **ret);
/* Unpacks one of them. ARGUS_ERROR_FORMAT: it is damaged. */
struct argus_error *argus_trace_read_snapshots(const struct argus_trace *trace,
                                               const struct argus_chunk *chunk,
                                               struct argus_snapshots *ret);
void argus_snapshots_deinit(struct argus_snapshots *snapshots);
/* Adds a stack to the opened trace, not to its file: what a snapshot was unwound to. A known id is left as it is.
 * By the trace's owner, before others read it. */
struct argus_error *argus_trace_add_stack(struct argus_trace *trace, uint64_t id,
                                          const uint64_t *frames, size_t count);

/* The name that a file of Darwin's tracing (V3) brings along for a tracepoint; NULL: none. Valid as long as the trace. */
const char *argus_trace_code_name(const struct argus_trace *trace, uint32_t debugid);

/* Property lists in such a file: what they describe is up to who parses them (libargus/event/darwin/property_lists.c). */
struct argus_attachment {
    uint64_t offset_bytes, length_bytes; /* inside the file */
    uint32_t tag;                        /* of the chunk: libargus/trace/kdebug_v3.c */
};
size_t argus_trace_attachments(const struct argus_trace *trace,
                               const struct argus_attachment **ret);
/* Its bytes into `ret`, which has room for them. */
struct argus_error *argus_trace_read_attachment(const struct argus_trace *trace,
                                                const struct argus_attachment *attachment,
                                                uint8_t *ret);
/* Adds an image to the opened trace, not to its file. The path is copied; `pid` is ARGUS_ANY_PID where only UUID (16 bytes in
 * build_id) and path are known. After the last one, argus_trace_name_images() gives their paths to all images of the same UUID
 * of which no path was known. By the trace's owner, before others read it. */
#define ARGUS_ANY_PID UINT64_MAX
struct argus_error *argus_trace_add_image(struct argus_trace *trace,
                                          const struct argus_image_entry *image);
void argus_trace_name_images(struct argus_trace *trace);
/* A sentence for the reader, as if the file had it. */
struct argus_error *argus_trace_add_note(struct argus_trace *trace, const char *text);

/* --- writing ---
 *
 * Each chunk is one pwrite(). When a call fails (full disk), the file is as it was before that
 * chunk and the writer can be used again; records of a failed argus_writer_records() count as lost,
 * for the next call to say. */

struct argus_writer;

/* Writes a new trace to `fd`, which is borrowed, empty and seekable. `header->ring_bytes` chooses
 * ring (at least 65536, a multiple of 8) or stream (0). The version fields are ignored. */
struct argus_error *argus_writer_create(int fd, const struct argus_trace_header *header,
                                        struct argus_writer **ret);
/* Goes on behind the last whole chunk of an existing file (to add build ids), in a ring over the oldest
 * ones; `fd` is open for reading and writing. An END chunk stays where it is: chunks may follow it. */
struct argus_error *argus_writer_append(int fd, struct argus_writer **ret);

/* How the chunks from now on are packed. Without it: as the newest chunks of an existing file, else by the best codec of this
 * build, which ARGUS_CODEC_NONE stands for as well. USAGE: this build does not have it. */
struct argus_error *argus_writer_choose_codec(struct argus_writer *writer, enum argus_codec codec);

/* One chunk of up to ARGUS_CHUNK_MAX_RECORDS records of `cpu` (more are split, and in a small ring
 * fewer); `lost` were lost just before. Without records it tells of the loss only; with neither it
 * writes nothing. Some 4,000 to 16,000 records make good chunks. */
struct argus_error *argus_writer_records(struct argus_writer *writer, uint32_t cpu,
                                         const struct argus_record *records, size_t count,
                                         uint64_t lost);
/* All entries of one call count as true at the largest seen_ticks among them. */
struct argus_error *argus_writer_threads(struct argus_writer *writer,
                                         const struct argus_thread_entry *entries, size_t count);
struct argus_error *argus_writer_images(struct argus_writer *writer,
                                        const struct argus_image_entry *entries, size_t count);
/* Build ids found later, by inode and path; addresses and pid are ignored. */
struct argus_error *argus_writer_build_ids(struct argus_writer *writer,
                                           const struct argus_image_entry *entries, size_t count);
/* A stack is written once per file; repeated ids are dropped, and frames behind
 * ARGUS_STACK_MAX_FRAMES. */
struct argus_error *argus_writer_stack(struct argus_writer *writer, uint64_t id,
                                       const uint64_t *frames, size_t count);
/* A stack as a snapshot; repeated ids are dropped, also those of stacks. */
struct argus_error *argus_writer_snapshot(struct argus_writer *writer,
                                          const struct argus_snapshot *snapshot);
/* Which waits a stack or snapshot belongs to that was taken later. */
struct argus_error *argus_writer_late_stack(struct argus_writer *writer,
                                            const struct argus_late_stack *late);
/* In the file at `fd` (open for reading and writing, the one that `trace` was opened from) puts, in the place of each
 * chunk of snapshots, the stacks that `trace` has for their ids, and nothing where it has none. What they held of the
 * recorded programs' memory is overwritten with zeros. `*ret_lost`: snapshots without a stack. */
struct argus_error *argus_snapshots_replace(int fd, const struct argus_trace *trace,
                                            uint64_t *ret_lost);
/* Writes the stacks that wait for their chunk; called now and then, a killed recorder costs fewer
 * of them. */
struct argus_error *argus_writer_flush(struct argus_writer *writer);
/* From now on every stack counts as new: for a ring, which overwrites its stacks and needs them
 * again. */
void argus_writer_forget_stacks(struct argus_writer *writer);
/* Entries ascend by address. */
struct argus_error *argus_writer_kernel_symbols(struct argus_writer *writer,
                                                const struct argus_kernel_symbol *entries,
                                                size_t count);
/* Names of places; several of one owner come one behind the other. */
struct argus_error *argus_writer_names(struct argus_writer *writer,
                                       const struct argus_name_entry *entries, size_t count);
struct argus_error *argus_writer_code(struct argus_writer *writer,
                                      const struct argus_code_entry *entries, size_t count);
struct argus_error *argus_writer_flags(struct argus_writer *writer,
                                       const struct argus_flag_entry *entries, size_t count);
struct argus_error *argus_writer_probes(struct argus_writer *writer,
                                        const struct argus_probe_entry *entries, size_t count);
/* A sentence for the reader: what could not be attached and why. */
struct argus_error *argus_writer_note(struct argus_writer *writer, const char *text);
/* Flushes buffered tables and writes the END chunk with the recorder's counters. */
struct argus_error *argus_writer_end(struct argus_writer *writer,
                                     const struct argus_counter *counters, size_t count);
/* Bytes written so far; records written so far. */
uint64_t argus_writer_bytes(const struct argus_writer *writer);
uint64_t argus_writer_records_written(const struct argus_writer *writer);
/* The time of the oldest record that is in the file, as far as it was written by this writer; 0 when there is none. */
uint64_t argus_writer_oldest_ticks(const struct argus_writer *writer);
/* Puts flags, stacks and records of `extra` behind those of `base`, in the file at `fd` that `base` was opened from, or a copy (open
 * for reading and writing). USAGE: they are not of one machine and boot, or have different clocks. */
struct argus_error *argus_trace_join(int fd, const struct argus_trace *base,
                                     const struct argus_trace *extra);
/* Frees the writer, without an END chunk when argus_writer_end() was not called. `fd` stays open.
 */
void argus_writer_destroy(struct argus_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
