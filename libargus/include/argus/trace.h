/* Reading and writing `.argus` files. docs/man/argus-trace.5.md alone defines the format. The same
 * functions read files of Darwin's own tracing (libargus/trace/kdebug.h).
 *
 * The reader trusts nothing: every length and offset is checked against the file, memory is bounded
 * by the file's size times a constant, and damaged parts are skipped and listed
 * (argus_trace_damage()). It uses pread(), not mmap(): if a mapped file is truncated, the host
 * process gets SIGBUS.
 *
 * What callers can rely on in any file: a record's cpu is below the header's cpu_count, its
 * timestamp within the range of its chunk; every text is well-formed UTF-8 without a NUL (but may
 * contain control characters).
 *
 * Threads: one argus_trace may be read by several threads at once through the functions that take
 * it as const; only its owner opens and closes it. A writer belongs to one thread.
 */
#ifndef ARGUS_TRACE_H
#define ARGUS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"
#include "argus/snapshot_key.h"

#ifdef __cplusplus
extern "C" {
#endif

enum argus_os { ARGUS_OS_LINUX = 1, ARGUS_OS_DARWIN = 2 };
enum argus_arch { ARGUS_ARCH_X86_64 = 1, ARGUS_ARCH_AARCH64 = 2 };

#define ARGUS_TRACE_VERSION_MAJOR 1
#define ARGUS_TRACE_VERSION_MINOR 4
#define ARGUS_CPU_MIXED           0xffffffffu
#define ARGUS_CHUNK_MAX_BYTES     (16u << 20) /* unpacked payload of one chunk */
#define ARGUS_CHUNK_MAX_RECORDS   (1u << 17)  /* 72 bytes each at the very most: fits the payload */
#define ARGUS_STACK_MAX_FRAMES    127u

/* What the file header tells about the machine and the clock. */
struct argus_trace_header {
    uint16_t version_major, version_minor;
    enum argus_os os;
    enum argus_arch arch;
    uint32_t timebase_numer, timebase_denom; /* ns = ticks * numer / denom */
    uint64_t anchor_ticks;                   /* the trace clock at … */
    uint64_t anchor_wall_ns;                 /* … this moment since 1970-01-01 UTC */
    uint32_t page_bytes;
    uint32_t cpu_count;
    uint64_t ring_bytes; /* capacity of the chunk area in a ring file; 0: a stream */
    uint8_t boot_id[16];
    char host[129]; /* system, release and machine as in uname(2), NUL-terminated */
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
    ARGUS_CHUNK_INLINED = 15,
    ARGUS_CHUNK_ENCRYPTED = 16, /* snapshots */
};

/* How payloads are compressed; the numbers are those of the file format. */
enum argus_codec {
    ARGUS_CODEC_NONE = 0,
    ARGUS_CODEC_ZLIB = 1, /* available in every build */
    ARGUS_CODEC_ZSTD = 2,
    ARGUS_CODECS,
};

/* "zlib"; "unknown" for an unknown number. */
const char *argus_codec_name(enum argus_codec codec);
/* The codec with that name, whether or not this build has it; false: there is none. */
bool argus_codec_find(const char *name, enum argus_codec *ret);
/* Whether this build can compress and decompress with it. */
bool argus_codec_is_built(enum argus_codec codec);

/* An entry of the index: one chunk of records. */
struct argus_chunk {
    uint64_t offset_bytes; /* of its header in the file */
    uint64_t sequence;
    uint64_t first_ticks, last_ticks; /* smallest and largest timestamp in it, both inclusive */
    uint64_t lost;                    /* records of this CPU that were lost just before it */
    uint32_t cpu;                     /* ARGUS_CPU_MIXED: each record has its own CPU */
    /* the chunks of one lane follow each other in time; in .argus files the lane is the CPU */
    uint32_t lane;
    uint32_t count;
    uint32_t stored_bytes, unpacked_bytes;
    enum argus_chunk_kind kind;
};

/* A thread that was alive when the table was written, or had been seen before. */
struct argus_thread_entry {
    uint64_t tid, pid, parent_pid;
    uint64_t seen_ticks; /* when the entry was valid */
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

/* Why a frame has no function name. */
enum argus_lack {
    ARGUS_LACK_NONE = 0,   /* it has one, or the reason is unknown */
    ARGUS_LACK_GONE = 1,   /* its file was deleted */
    ARGUS_LACK_STALE = 2,  /* its file was replaced by another one */
    ARGUS_LACK_DENIED = 3, /* its file is not readable */
    ARGUS_LACK_SYMBOL = 4, /* its file has no symbol there: the file is stripped */
    ARGUS_LACK_JIT = 5,    /* code made at run time, whose functions no list names */
    ARGUS_LACKS
};

/* The name of a place in code, contained in the trace. */
struct argus_name_entry {
    /* NULL: code made at run time by process `pid`. A file is identified by its build ID alone; if
     * it has none, by inode, device and path */
    const struct argus_image_entry *file;
    uint64_t pid;
    uint64_t place;       /* offset in the file, or address in the process */
    uint64_t since_ticks; /* valid from this time on; 0: always */
    uint64_t distance;    /* from the beginning of the function; valid if `has_start` */
    const char *function; /* demangled; "": unknown; borrowed, as are the other strings */
    const char *source;   /* source file; "": unknown */
    const char *called;   /* callee of a direct call that ends at the place; "": unknown */
    uint32_t line;        /* 0: unknown */
    /* 0: the function that covers the place. n: the nth function that was inlined there, counted
     * from the innermost one; `source` and `line` are those of the call that it replaced, which is
     * in the next function */
    uint32_t level;
    bool has_start;
    uint8_t lack; /* enum argus_lack */
};

/* A place in a library where the recorder had a probe. Records of callbacks and UI events refer to
 * it by number. */
struct argus_probe_entry {
    uint64_t file_offset;
    uint32_t number;
    uint32_t shape;      /* enum argus_probe_shape */
    uint32_t space;      /* keys are compared among probes of the same space only */
    const char *library; /* path; borrowed, as are the other strings */
    const char *symbol;  /* as in the table of probes, e.g. "g_source_attach" */
    const char *label;   /* what a person is shown, e.g. "GLib idle callback" */
};

/* The meaning of writes to a data flag: how a read finds the write that it waited for
 * (graph/rules/flag.c). */
enum argus_flag_semantics {
    ARGUS_FLAG_VALUE = 0, /* the value itself has the meaning */
    /* set and cleared in turn: the clearing thread waits for the setting thread */
    ARGUS_FLAG_FLIP = 1,
    ARGUS_FLAG_QUEUE = 2, /* counts pending work: each increment belongs to one decrement */
    ARGUS_FLAG_SEMANTICS
};

/* A data flag that was watched: bytes in a process, from a moment on. */
struct argus_flag_entry {
    uint64_t address;
    uint64_t since_ticks;
    uint64_t pid;
    uint64_t value;     /* at that time, if it could be read; else 0 */
    uint32_t number;    /* its number in this file */
    uint32_t bytes;     /* 1, 2, 4 or 8 */
    uint32_t semantics; /* enum argus_flag_semantics */
    const char *label;  /* what a person is shown, e.g. "did_reconfigure in settings"; borrowed */
};

/* The beginning of the path of Darwin's shared cache: one image with all system libraries, at the
 * same address in all processes. */
#define ARGUS_SHARED_CACHE_PATH  "dyld shared cache"
#define ARGUS_SHARED_CACHE_BYTES (4ull << 30) /* its maximum size */

/* A statistic of the recorder itself, e.g. "stacks_lost". */
struct argus_counter {
    const char *name; /* borrowed */
    uint64_t value;
};

/* A part of the file that could not be read. */
struct argus_damage {
    uint64_t offset_bytes, length_bytes;
    const char *reason; /* borrowed */
};

/* Records that the recorder lost. */
struct argus_loss {
    uint32_t cpu;
    uint64_t count;
    uint64_t from_ticks, to_ticks; /* lost between these times; from is 0 if nothing came before */
};

/* A user stack that was copied instead of walked, to be unwound later (argus/unwind.h). */
enum argus_snapshot_end {
    ARGUS_SNAPSHOT_WHOLE = 0,   /* the copy reaches to the end of the stack */
    ARGUS_SNAPSHOT_CUT = 1,     /* the copy has the maximum size that was asked for */
    ARGUS_SNAPSHOT_MISSING = 2, /* the next page was not in memory */
};

#define ARGUS_SNAPSHOT_REGISTERS 33u /* aarch64; x86_64 has 17 */

struct argus_snapshot {
    uint64_t id; /* of the stack that it will become */
    uint64_t pid, tid, ticks;
    uint64_t registers[ARGUS_SNAPSHOT_REGISTERS]; /* in DWARF's order; the last one is the pc */
    uint32_t register_count;                      /* depends on the trace's architecture */
    enum argus_snapshot_end end;
    const uint8_t *stack; /* from the stack pointer up; borrowed */
    uint32_t stack_bytes;
};

/* A stack taken at the end of a wait: the user stack of all waits of the thread that began in that
 * time. When a chunk is read, it replaces the stack that was taken at the beginning of the wait
 * (ARGUS_STACK_BLOCK) by frame pointers. It also replaces those of other waits of the thread at the
 * same place (libargus/trace/late_stacks.h). */
struct argus_late_stack {
    uint64_t tid;
    uint64_t from_ticks, to_ticks; /* both inclusive */
    uint64_t sp;                   /* the user's stack pointer; 0: unknown */
    uint64_t id;
};

/* A code object of an interpreter: the addresses of its instructions in the process, and its
 * names. */
struct argus_code_entry {
    uint64_t pid, start, bytes;
    /* when it was read; before and after, the memory may have held another object */
    uint64_t seen_ticks;
    uint32_t line; /* the function's first line; 0: unknown */
    uint32_t table_bytes;
    const char *function, *source; /* borrowed; source "": unknown */
    /* line table in the format of CPython 3.11 and later, or one byte, ARGUS_CODE_EVEN_LINES;
     * borrowed */
    const uint8_t *table;
};

/* The snapshots of one chunk. */
struct argus_snapshots {
    struct argus_snapshot *entries; /* owned */
    size_t count;
    uint8_t *payload; /* owned; the `stack` of the entries points into it */
};

struct argus_trace;

/* Opens `path`, an .argus file or a file of Darwin's own tracing (kdebug), told apart by their
 * first bytes, and reads its index and tables. A kdebug file is read as a whole, since its tables
 * are among the records. If the file is not a trace or has a newer major version, that is an error.
 * A damaged or cut-off file opens, and argus_trace_damage() lists the damage. */
struct argus_error *argus_trace_open(const char *path, struct argus_trace **ret);
/* The same in a process that does other work too, whose memory is therefore not measured
 * (argus_trace_check_memory()). */
struct argus_error *argus_trace_open_shared(const char *path, struct argus_trace **ret);
void argus_trace_close(struct argus_trace *trace);

/* The file that was opened. */
const char *argus_trace_path(const struct argus_trace *trace);
/* What a user calls this trace: the path, unless argus_trace_set_name() was called. For output. */
const char *argus_trace_name(const struct argus_trace *trace);
/* The name is copied. For a trace that was opened as a copy of the file that the user named. */
struct argus_error *argus_trace_set_name(struct argus_trace *trace, const char *name);
/* "1.1" for an .argus file, "kdebug V2" for a kdebug file. Writes into `buffer` and returns it. */
const char *argus_trace_format(const struct argus_trace *trace, char *buffer, size_t buffer_bytes);
/* Whether it is a file of Darwin's own tracing: kdebug V1, V2, V3. */
bool argus_trace_is_kdebug(const struct argus_trace *trace);
const struct argus_trace_header *argus_trace_header(const struct argus_trace *trace);
uint64_t argus_trace_file_bytes(const struct argus_trace *trace);
/* The error if the process has taken more memory since the trace was opened than a file of this
 * size may ask for (ARGUS_MEMORY in argus(1)). `offset_bytes`: what the file has there is being
 * read. To be called where memory grows with the content; it costs about a microsecond. Any thread.
 */
struct argus_error *argus_trace_check_memory(const struct argus_trace *trace,
                                             uint64_t offset_bytes);
/* The most memory that a command may take for a file of this size: see ARGUS_MEMORY in argus(1). */
uint64_t argus_trace_most_memory(uint64_t file_bytes);
/* A number that changes with any change of the file: a hash of its size, its modification and
 * status-change times, and the headers of all its chunks. A copy of the file has another number. */
uint64_t argus_trace_identity(const struct argus_trace *trace);
/* Whether the recorder ended the file itself: false for a file that was cut off or whose recorder
 * was killed. */
bool argus_trace_complete(const struct argus_trace *trace);
uint64_t argus_trace_record_count(const struct argus_trace *trace);
uint64_t argus_trace_lost_count(const struct argus_trace *trace);
/* Smallest and largest timestamp of all records, as ns of the trace clock; both 0 without records.
 */
void argus_trace_time_range(const struct argus_trace *trace, uint64_t *ret_start_ns,
                            uint64_t *ret_end_ns);
uint64_t argus_trace_ticks_to_ns(const struct argus_trace *trace, uint64_t ticks);
/* Converts ns of the trace clock to ns since 1970, by the header's anchor and later steps of the
 * wall clock. */
uint64_t argus_trace_ns_to_wall_ns(const struct argus_trace *trace, uint64_t ns);

/* The record chunks in file order (by sequence; chunks of one CPU are in time order). Borrowed. */
size_t argus_trace_chunks(const struct argus_trace *trace, const struct argus_chunk **ret);

/* Unpacks one record chunk into `ret`, which has room for chunk->count records. Records are in the
 * order of writing, so neighbours may be out of order in time. Late stacks have been put in place.
 * ARGUS_ERROR_FORMAT: this chunk is damaged (its payload is checked only here), `ret` is undefined,
 * and other chunks are not affected. */
struct argus_error *argus_trace_read_chunk(const struct argus_trace *trace,
                                           const struct argus_chunk *chunk,
                                           struct argus_record *ret);

/* Tables; arrays and strings are borrowed from the trace. Each returns the number of entries.
 * Threads and images are in file order; a tid may occur several times, the newest entry last. */
size_t argus_trace_threads(const struct argus_trace *trace, const struct argus_thread_entry **ret);
size_t argus_trace_images(const struct argus_trace *trace, const struct argus_image_entry **ret);
size_t argus_trace_kernel_symbols(const struct argus_trace *trace, /* sorted by address */
                                  const struct argus_kernel_symbol **ret);
size_t argus_trace_counters(const struct argus_trace *trace, const struct argus_counter **ret);
size_t argus_trace_flags(const struct argus_trace *trace, /* sorted by number, without duplicates */
                         const struct argus_flag_entry **ret);
/* sorted by number, without duplicates */
size_t argus_trace_probes(const struct argus_trace *trace, const struct argus_probe_entry **ret);
/* Code of interpreters, sorted by process and address; several code objects may have occupied the
 * same memory. */
size_t argus_trace_code(const struct argus_trace *trace, const struct argus_code_entry **ret);
/* Whether, at some time, an instruction of any of it began at `address` of process `pid`. */
bool argus_trace_is_interpreted(const struct argus_trace *trace, uint64_t pid, uint64_t address);
size_t argus_trace_notes(const struct argus_trace *trace, const char *const **ret);
/* Names that the trace contains, sorted by owner, place, level and time, without duplicates. */
size_t argus_trace_name_count(const struct argus_trace *trace);
struct argus_name_entry argus_trace_name_at(const struct argus_trace *trace, size_t index);
/* The name of the byte at `file_offset` of the file of `image`, or at `address` of process `pid`,
 * at a time. False: none. */
bool argus_trace_name_in_file(const struct argus_trace *trace,
                              const struct argus_image_entry *image, uint64_t file_offset,
                              struct argus_name_entry *ret);
/* The function that was inlined there at `level`, from 1 on. False: there are no more. */
bool argus_trace_inlined_in_file(const struct argus_trace *trace,
                                 const struct argus_image_entry *image, uint64_t file_offset,
                                 uint32_t level, struct argus_name_entry *ret);
bool argus_trace_name_in_process(const struct argus_trace *trace, uint64_t pid, uint64_t address,
                                 uint64_t time_ns, struct argus_name_entry *ret);
/* Damage by offset, as found on opening: lost headers and damaged tables. A record chunk with a
 * damaged payload is listed only after an attempt to read it. */
size_t argus_trace_damage(const struct argus_trace *trace, const struct argus_damage **ret);
size_t argus_trace_losses(const struct argus_trace *trace, const struct argus_loss **ret);

/* The frames of stack `id` (arg1 or arg2 of ARGUS_ID_STACK), innermost first; 0 if it is not in the
 * file. */
size_t argus_trace_stack(const struct argus_trace *trace, uint64_t id, const uint64_t **ret);
size_t argus_trace_stack_count(const struct argus_trace *trace);
/* The stack at `index`, which is less than argus_trace_stack_count(), in the order of writing: its
 * ID and frames.
 */
size_t argus_trace_stack_at(const struct argus_trace *trace, size_t index, uint64_t *ret_id,
                            const uint64_t **ret);

/* The chunks of stack snapshots that have not been unwound; sorted by sequence. Borrowed. */
size_t argus_trace_snapshot_chunks(const struct argus_trace *trace, const struct argus_chunk **ret);
/* Unpacks one of them. ARGUS_ERROR_FORMAT: it is damaged; NOT_FOUND: it is encrypted, and its
 * key is neither that of argus_trace_give_key() nor in the user's key ring. */
struct argus_error *argus_trace_read_snapshots(const struct argus_trace *trace,
                                               const struct argus_chunk *chunk,
                                               struct argus_snapshots *ret);
void argus_snapshots_deinit(struct argus_snapshots *snapshots);
/* A key for the snapshots of the file, which is copied; one that is not set, and one of another
 * file, change nothing. */
void argus_trace_give_key(struct argus_trace *trace, const struct argus_snapshot_key *key);

/* What a file has of snapshots that have not been unwound. */
struct argus_snapshot_counts {
    uint64_t plain;     /* not encrypted: memory of the recorded programs */
    uint64_t encrypted; /* and their key is known */
    uint64_t locked;    /* encrypted, and their key is not known */
};
struct argus_snapshot_counts argus_trace_count_snapshots(const struct argus_trace *trace);
/* Adds a stack, the result of unwinding a snapshot, to the opened trace, not to its file. A stack
 * whose ID is known is left unchanged. Must be called by the trace's owner before other threads
 * read it. */
struct argus_error *argus_trace_add_stack(struct argus_trace *trace, uint64_t id,
                                          const uint64_t *frames, size_t count);

/* The name that a file of Darwin's tracing (V3) has for a tracepoint; NULL: none. Valid as long as
 * the trace. */
const char *argus_trace_code_name(const struct argus_trace *trace, uint32_t debugid);

/* Property lists in such a file; libargus/event/darwin/property_lists.c parses them. */
struct argus_attachment {
    uint64_t offset_bytes, length_bytes; /* inside the file */
    uint32_t tag;                        /* of the chunk: libargus/trace/kdebug_v3.c */
};
size_t argus_trace_attachments(const struct argus_trace *trace,
                               const struct argus_attachment **ret);
/* Reads its bytes into `ret`, which must have room for them. */
struct argus_error *argus_trace_read_attachment(const struct argus_trace *trace,
                                                const struct argus_attachment *attachment,
                                                uint8_t *ret);
/* Adds an image to the opened trace, not to its file. The path is copied; `pid` is ARGUS_ANY_PID if
 * only UUID (16 bytes in build_id) and path are known. After the last image,
 * argus_trace_name_images() gives their paths to all images with the same UUID and no path. Must be
 * called by the trace's owner before other threads read it. */
#define ARGUS_ANY_PID UINT64_MAX
struct argus_error *argus_trace_add_image(struct argus_trace *trace,
                                          const struct argus_image_entry *image);
void argus_trace_name_images(struct argus_trace *trace);
/* Adds a note, a sentence for the user, to the opened trace, as if the file contained it. */
struct argus_error *argus_trace_add_note(struct argus_trace *trace, const char *text);

/* --- writing ---
 *
 * Each chunk is one pwrite(). If a call fails (full disk), the file is as it was before that chunk,
 * and the writer can be used again. Records of a failed argus_writer_records() count as lost, and
 * the next call writes that count. */

struct argus_writer;

/* Where a writer writes, if not to a descriptor of its own process. Both return 0 or an errno, and
 * may report a failure later, at another call. A write
 * that fails leaves the file as long as it was. */
struct argus_output {
    int (*write)(void *context, const void *bytes, size_t length, uint64_t offset);
    int (*resize)(void *context, uint64_t bytes);
    void *context;
};

/* As argus_writer_create(), into `output`, which is copied; its context is borrowed. */
struct argus_error *argus_writer_create_into(const struct argus_output *output,
                                             const struct argus_trace_header *header,
                                             struct argus_writer **ret);
/* Writes a new trace to `fd`, which is borrowed, empty and seekable. `header->ring_bytes` selects a
 * ring (at least 65536, a multiple of 8) or a stream (0). The version fields are ignored. */
struct argus_error *argus_writer_create(int fd, const struct argus_trace_header *header,
                                        struct argus_writer **ret);
/* Continues an existing file behind its last whole chunk (to add build IDs); in a ring, over the
 * oldest chunks. `fd` is open for reading and writing. An END chunk stays where it is: chunks may
 * follow it. */
struct argus_error *argus_writer_append(int fd, struct argus_writer **ret);

/* Selects the codec of later chunks. The default is the codec of the newest chunks of an existing
 * file, else the best codec of this build; ARGUS_CODEC_NONE also stands for the latter. USAGE: this
 * build does not have it. */
struct argus_error *argus_writer_choose_codec(struct argus_writer *writer, enum argus_codec codec);

/* From now on, writing takes as little time as possible: chunks are packed faster and need about a
 * quarter more bytes, and a thread packs the records of a stream while the caller prepares the
 * next. They are then written, and their failures reported, by later calls, at the latest by
 * argus_writer_flush() and argus_writer_end(). */
void argus_writer_hurry(struct argus_writer *writer);

/* Writes one chunk of up to ARGUS_CHUNK_MAX_RECORDS records of `cpu` (more are split; a small ring
 * has smaller chunks). `lost` records were lost just before. Without records, only the loss is
 * written; without either, nothing. Chunks of 4,000 to 16,000 records compress well. */
struct argus_error *argus_writer_records(struct argus_writer *writer, uint32_t cpu,
                                         const struct argus_record *records, size_t count,
                                         uint64_t lost);
/* All entries of one call count as valid at the largest seen_ticks among them. */
struct argus_error *argus_writer_threads(struct argus_writer *writer,
                                         const struct argus_thread_entry *entries, size_t count);
struct argus_error *argus_writer_images(struct argus_writer *writer,
                                        const struct argus_image_entry *entries, size_t count);
/* Build IDs that were found later, by inode and path; addresses and pid are ignored. */
struct argus_error *argus_writer_build_ids(struct argus_writer *writer,
                                           const struct argus_image_entry *entries, size_t count);
/* Writes a stack once per file. Repeated IDs are dropped, and so are frames beyond
 * ARGUS_STACK_MAX_FRAMES. */
struct argus_error *argus_writer_stack(struct argus_writer *writer, uint64_t id,
                                       const uint64_t *frames, size_t count);
/* Encrypts all later snapshots by `key`, which is copied. UNSUPPORTED: this build cannot. */
struct argus_error *argus_writer_encrypt(struct argus_writer *writer,
                                         const struct argus_snapshot_key *key);
/* Writes a stack as a snapshot. IDs of earlier snapshots and stacks are dropped. */
struct argus_error *argus_writer_snapshot(struct argus_writer *writer,
                                          const struct argus_snapshot *snapshot);
/* Tells to which waits a stack or snapshot belongs that was taken later. */
struct argus_error *argus_writer_late_stack(struct argus_writer *writer,
                                            const struct argus_late_stack *late);
/* Replaces each chunk of snapshots by the stacks that `trace` has for their IDs, in the file at
 * `fd`. `fd` is open for reading and writing, and `trace` was opened from the same file. A snapshot
 * without a stack is removed. The copied memory of the recorded programs is overwritten with zeros.
 * `*ret_lost`: number of snapshots without a stack. Encrypted ones without a known key stay. */
struct argus_error *argus_snapshots_replace(int fd, const struct argus_trace *trace,
                                            uint64_t *ret_lost);
/* Writes the stacks that are buffered for the next chunk. If it is called regularly, a killed
 * recorder loses fewer of them. */
struct argus_error *argus_writer_flush(struct argus_writer *writer);
/* From now on every stack counts as new. A ring needs this, because it overwrites its stacks and
 * has to contain them again. */
void argus_writer_forget_stacks(struct argus_writer *writer);
/* Entries are sorted by address. */
struct argus_error *argus_writer_kernel_symbols(struct argus_writer *writer,
                                                const struct argus_kernel_symbol *entries,
                                                size_t count);
/* Names of places (`level` 0); those of one owner are contiguous. */
struct argus_error *argus_writer_names(struct argus_writer *writer,
                                       const struct argus_name_entry *entries, size_t count);
/* Functions that were inlined at places (`level` 1 and higher). If the file has an end,
 * argus_writer_end() must follow. */
struct argus_error *argus_writer_inlined(struct argus_writer *writer,
                                         const struct argus_name_entry *entries, size_t count);
struct argus_error *argus_writer_code(struct argus_writer *writer,
                                      const struct argus_code_entry *entries, size_t count);
struct argus_error *argus_writer_flags(struct argus_writer *writer,
                                       const struct argus_flag_entry *entries, size_t count);
struct argus_error *argus_writer_probes(struct argus_writer *writer,
                                        const struct argus_probe_entry *entries, size_t count);
/* A note, a sentence for the user: for example what could not be attached and why. */
struct argus_error *argus_writer_note(struct argus_writer *writer, const char *text);
/* Flushes buffered tables and writes the END chunk with the recorder's counters. */
struct argus_error *argus_writer_end(struct argus_writer *writer,
                                     const struct argus_counter *counters, size_t count);
/* Bytes and records written so far. */
uint64_t argus_writer_bytes(const struct argus_writer *writer);
uint64_t argus_writer_records_written(const struct argus_writer *writer);
/* The time of the oldest record still in the file, as far as this writer wrote it; 0: none. */
uint64_t argus_writer_oldest_ticks(const struct argus_writer *writer);
/* Puts flags, stacks and records of `extra` behind those of `base`, in the file at `fd`: the file
 * from which `base` was opened, or a copy of it (open for reading and writing). USAGE: the two come
 * from different machines, boots or clocks. */
struct argus_error *argus_trace_join(int fd, const struct argus_trace *base,
                                     const struct argus_trace *extra);
/* Frees the writer. Without argus_writer_end() the file gets no END chunk, and what a thread still
 * packs (argus_writer_hurry()) is not written. `fd` stays open. */
void argus_writer_destroy(struct argus_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
