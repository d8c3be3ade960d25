/* The internals of struct argus_trace, shared by reader.c, chunk_load.c and tables.c. */
#ifndef ARGUS_TRACE_READER_H
#define ARGUS_TRACE_READER_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "trace/file_bound.h"

struct trace_stack {
    uint64_t id;
    size_t first; /* index into the frames */
    uint32_t count;
};

/* The owner of names: a file or a process. */
struct trace_name_owner {
    /* as in argus_name_entry; for a process, path is NULL and pid is set */
    struct argus_image_entry file;
};

struct trace_name {
    struct argus_name_entry entry; /* without its owner */
    uint32_t owner;                /* index into the owners */
    uint32_t order;                /* order of writing */
};

/* The contents of all table chunks. Strings belong to the trace's string table. */
struct trace_tables {
    VEC(struct argus_thread_entry) threads;
    VEC(struct argus_image_entry) images;
    VEC(struct argus_image_entry)
    build_ids; /* kind 6; `pid` is the order of writing */
    VEC(struct trace_stack) stacks;
    VEC(uint64_t) frames;
    VEC(struct argus_kernel_symbol) symbols;
    VEC(struct argus_flag_entry) flags;   /* `number` is its number in the file */
    VEC(struct argus_probe_entry) probes; /* in the order of writing until tables_finish() */
    VEC(const char *) notes;
    VEC(struct argus_counter) counters;
    VEC(struct argus_code_entry) code; /* by process and address after tables_finish() */
    /* the entries' `table` points into it; until tables_finish(), the tables are concatenated */
    VEC(uint8_t) code_bytes;
    VEC(struct argus_late_stack) late_stacks; /* by thread and time after late_stacks_finish() */
    VEC(struct argus_late_stack) late_places; /* the same by thread and stack pointer */
    VEC(struct trace_name) names;             /* by owner, place and time after names_finish() */
    VEC(struct trace_name_owner) name_owners; /* sorted without duplicates after names_finish() */
    struct idmap stack_index;                 /* stack id → index in stacks */
};

/* A step of the wall clock. */
struct trace_clock_step {
    uint64_t since_ns;  /* on the trace clock, as in the record */
    uint64_t change_ns; /* modulo 2^64 */
};

struct kdebug_format; /* trace/kdebug.h */

/* The name of a tracepoint, contained in the file. */
struct trace_code {
    const char *name;
    uint32_t event; /* debugid without function bits */
};

struct argus_trace {
    int fd;     /* owned */
    char *path; /* owned */
    char *name; /* owned; NULL: `path` */
    uint64_t file_bytes;
    uint64_t identity; /* argus_trace_identity() */
    struct file_bound bound;
    uint64_t table_entry_count; /* of all chunks */
    bool is_shared;             /* argus_trace_open_shared() */
    struct argus_trace_header header;
    struct strtab *strings;         /* owned: names, paths, reasons */
    VEC(struct argus_chunk) chunks; /* of records, by sequence */
    VEC(struct argus_chunk)
    snapshot_chunks; /* by sequence */
    VEC(struct argus_damage) damage;
    VEC(struct argus_loss) losses;
    struct trace_tables tables;
    VEC(struct trace_clock_step) clock_steps; /* by time */
    uint64_t record_count, lost_count;
    uint64_t first_ticks, last_ticks;         /* of all records */
    VEC(struct trace_code) codes;             /* by debugid */
    VEC(struct argus_attachment) attachments; /* in the file's order */
    VEC(struct argus_image_entry)
    named_images;                       /* argus_trace_name_images() takes paths from these */
    const struct kdebug_format *kdebug; /* NULL: an .argus file */
    bool kdebug_narrow;                 /* its records come from a 32-bit kernel */
    enum argus_codec codec;             /* of the newest part of the file */
    struct argus_snapshot_key given;    /* key of its snapshots: argus_trace_give_key() … */
    struct argus_snapshot_key found;    /* … and in the key ring of the user */
    bool has_looked;                    /* there */
    bool complete;
};

/* Reads, checks and unpacks the payload of `chunk`. ARGUS_ERROR_FORMAT: it is damaged; the message
 * is the reason alone. The caller frees `ret`, which has VARINT_SLACK zero bytes behind
 * chunk->unpacked_bytes. */
struct argus_error *chunk_load(const struct argus_trace *trace, const struct argus_chunk *chunk,
                               uint8_t **ret);

/* Adds all entries of a table chunk, or on an error none. Must be called in order of the chunks'
 * sequence numbers. ARGUS_ERROR_FORMAT as in chunk_load(). */
struct argus_error *tables_load(struct argus_trace *trace, const struct argus_chunk *chunk);

/* Finds the records about steps of the wall clock. They have chunks of their own; damaged ones are
 * skipped. */
struct argus_error *clock_steps_load(struct argus_trace *trace);

/* Checks a chunk of snapshots; without its key, only that it is whole. ARGUS_ERROR_FORMAT as in
 * chunk_load(). */
struct argus_error *snapshots_check(const struct argus_trace *trace,
                                    const struct argus_chunk *chunk);

/* Indexes the stacks from index `from` on by ID, and drops those whose ID is already known; false
 * without memory. */
bool tables_index_stacks(struct trace_tables *tables, size_t from);

/* To call after all tables are loaded: sorts them, and gives images their build IDs. False without
 * memory. */
bool tables_finish(struct trace_tables *tables);

void tables_deinit(struct trace_tables *tables);

#endif
