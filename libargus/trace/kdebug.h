/* Files of Darwin's own tracing, "kdebug": what trace(1), ktrace(1), Instruments and the kernel itself write.
 *
 * All of them are a head (machine, clock), a map of the threads that were alive, and records of 64 bytes (of 32, from 32-bit
 * kernels) which are Argus's records already. The versions differ only in how the head is laid out, so each has a reader of
 * its own that fills a struct kdebug_file: kdebug_v1.c, kdebug_v2.c, kdebug_v3.c. Everything behind that is common: the
 * records are looked at once (kdebug_index.c) for their times, for the images and call stacks that they tell of
 * (kdebug_tables.c), and are read again, chunk by chunk, when somebody wants them (kdebug_records.c).
 *
 * The facts are those of Apple's sources: xnu-11417.121.6 bsd/sys/kdebug_private.h and bsd/kern/kdebug.c,
 * xnu-7195.141.2 bsd/kern/kdebug.c (V3 as the kernel wrote it), tools/lldbmacros/ktrace.py (V3 as libktrace reads it),
 * system_cmds-953 trace.tproj/trace.c. V2 is in no source; it is known from real files.
 *
 * To add a version: a file with a reader, and a row in kdebug_formats[] (kdebug.c).
 */
#ifndef ARGUS_TRACE_KDEBUG_H
#define ARGUS_TRACE_KDEBUG_H

#include "trace/reader.h"

/* A stretch of the file that holds records and nothing else. */
struct kdebug_span {
    uint64_t offset_bytes, length_bytes; /* inside the file; a multiple of the record's size */
};

/* What a version's reader finds. The thread map goes to trace->tables, what is wrong to trace->damage. */
struct kdebug_file {
    struct argus_trace *trace; /* borrowed; path, fd, file_bytes and strings are there */
    VEC(struct kdebug_span) spans;
    bool narrow;       /* records and maps of a 32-bit kernel */
    bool has_timebase; /* otherwise it is guessed from the records */
    bool has_wall;     /* header.anchor_* are right */
    uint64_t
        wall_ns; /* V1, V2: of the beginning, whose ticks only the first record tells; 0: not known */
    uint32_t skipped; /* chunks of a kind that Argus has no use for */
};

/* A row of the table of formats. */
struct kdebug_format {
    uint32_t magic;   /* the file's first four bytes, little-endian */
    const char *name; /* "kdebug V1" */
    struct argus_error *(*read)(struct kdebug_file *file);
};

/* The format that begins with `magic`; NULL: none. */
const struct kdebug_format *kdebug_find(uint32_t magic);

/* Opens the file of `trace` (fd, path, file_bytes, strings and identity are set) as one of `format`. */
struct argus_error *kdebug_open(struct argus_trace *trace, const struct kdebug_format *format);

/* As argus_trace_read_chunk(). */
struct argus_error *kdebug_read_chunk(const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, struct argus_record *ret);

/* --- the versions --- */
struct argus_error *kdebug_v1_read(struct kdebug_file *file);
struct argus_error *kdebug_v2_read(struct kdebug_file *file);
struct argus_error *kdebug_v3_read(struct kdebug_file *file);

/* --- for the versions: kdebug.c, kdebug_map.c --- */

/* "FILE: offset N: REASON" as ARGUS_ERROR_FORMAT. */
__attribute__((format(printf, 3, 4))) struct argus_error *
kdebug_bad(const struct kdebug_file *file, uint64_t offset_bytes, const char *format, ...);

/* Reads bytes that are inside the file as far as its size says. */
struct argus_error *kdebug_get(const struct kdebug_file *file, void *to, size_t length,
                               uint64_t offset_bytes);

/* Notes a stretch of the file that cannot be used. */
struct argus_error *kdebug_damage(const struct kdebug_file *file, uint64_t offset_bytes,
                                  uint64_t length_bytes, const char *reason);
__attribute__((format(printf, 2, 3))) struct argus_error *
kdebug_note(const struct kdebug_file *file, const char *format, ...);

/* Takes a map of threads: `count` entries from `offset_bytes` on, which have to be inside the file. */
struct argus_error *kdebug_threads_read(struct kdebug_file *file, uint64_t offset_bytes,
                                        uint64_t count);

/* Records from `offset_bytes` to `offset_bytes + length_bytes`; what is behind the last whole one, or behind the end of the
 * file, is damage. */
struct argus_error *kdebug_add_span(struct kdebug_file *file, uint64_t offset_bytes,
                                    uint64_t length_bytes);

/* Says what a tick is. False: that is impossible. */
bool kdebug_set_timebase(struct kdebug_file *file, uint64_t numer, uint64_t denom);

static inline uint32_t kdebug_record_bytes(bool narrow)
{
    return narrow ? 32 : 64;
}

static inline uint32_t kdebug_thread_bytes(bool narrow)
{
    return narrow ? 28 : 32;
}

/* Names of tracepoints, as text: kdebug_codes.c. */
struct argus_error *kdebug_codes_read(const struct kdebug_file *file, uint64_t offset_bytes,
                                      uint64_t length_bytes);

/* --- what the records tell: kdebug_index.c, kdebug_tables.c, kdebug_records.c --- */

/* Goes through all records once: chunks, lanes, time range, cpus, losses, tables. */
struct argus_error *kdebug_index(struct kdebug_file *file);

/* Unpacks `count` records that lie at `raw`. Leaves out what is no record (all zeros) and what names an impossible cpu;
 * returns how many are left. `*ret_bad`: the index of the first record with such a cpu, `count` if there is none. */
size_t kdebug_unpack(const uint8_t *raw, size_t count, bool narrow, struct argus_record *ret,
                     size_t *ret_bad);

/* Tables that are in the records themselves. */
struct kdebug_tables;
struct kdebug_tables *kdebug_tables_create(struct argus_trace *trace); /* NULL without memory */
void kdebug_tables_destroy(struct kdebug_tables *tables);
/* In the file's order. False without memory. */
bool kdebug_tables_feed(struct kdebug_tables *tables, const struct argus_record *record);
/* After the last one. False without memory. */
bool kdebug_tables_finish(struct kdebug_tables *tables);

#endif
