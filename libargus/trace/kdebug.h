/* Files of Darwin's own tracing, "kdebug": what trace(1), ktrace(1), Instruments and the kernel
 * itself write.
 *
 * Such a file has a header (machine, clock), a map of the threads that were alive, and records of
 * 64 bytes (32-bit kernels: 32 bytes) in the same format as Argus's records. The versions differ
 * only in the layout of the header, so each has a reader of its own that fills a struct
 * kdebug_file: kdebug_v1.c, kdebug_v2.c, kdebug_v3.c. The rest is common. On opening, all records
 * are read once (kdebug_index.c) for their times, and for the images and call stacks that they
 * describe (kdebug_tables.c). They are read again, chunk by chunk, on request (kdebug_records.c).
 *
 * The facts come from Apple's sources: xnu-11417.121.6 bsd/sys/kdebug_private.h and
 * bsd/kern/kdebug.c, xnu-7195.141.2 bsd/kern/kdebug.c (V3 as the kernel wrote it),
 * tools/lldbmacros/ktrace.py (V3 as libktrace reads it), system_cmds-953 trace.tproj/trace.c. V2 is
 * documented in no source; its layout was found from real files.
 *
 * To add a version: a file with a reader, and a row in kdebug_formats[] (kdebug.c).
 */
#ifndef ARGUS_TRACE_KDEBUG_H
#define ARGUS_TRACE_KDEBUG_H

#include "trace/reader.h"

/* A part of the file that contains only records. */
struct kdebug_span {
    uint64_t offset_bytes, length_bytes; /* inside the file; a multiple of the record's size */
};

/* The result of a version's reader. The thread map goes to trace->tables, damage to
 * trace->damage. */
struct kdebug_file {
    struct argus_trace *trace; /* borrowed; path, fd, file_bytes and strings are set */
    VEC(struct kdebug_span) spans;
    bool narrow;       /* records and maps of a 32-bit kernel */
    bool has_timebase; /* false: the timebase is guessed from the records */
    bool has_wall;     /* header.anchor_* are valid */
    /* V1, V2: wall time at the beginning, whose ticks only the first record has; 0: unknown */
    uint64_t wall_ns;
    uint32_t skipped; /* chunks of kinds that Argus does not use */
};

/* A row of the table of formats. */
struct kdebug_format {
    uint32_t magic;   /* the file's first four bytes, little-endian */
    const char *name; /* "kdebug V1" */
    struct argus_error *(*read)(struct kdebug_file *file);
};

/* The format that begins with `magic`; NULL: none. */
const struct kdebug_format *kdebug_find(uint32_t magic);

/* Opens the file of `trace` (fd, path, file_bytes, strings and identity are set) in the given
 * format. */
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

/* Reads bytes whose offset and length were checked against the file size. */
struct argus_error *kdebug_get(const struct kdebug_file *file, void *to, size_t length,
                               uint64_t offset_bytes);

/* Notes a part of the file that cannot be used. */
struct argus_error *kdebug_damage(const struct kdebug_file *file, uint64_t offset_bytes,
                                  uint64_t length_bytes, const char *reason);
__attribute__((format(printf, 2, 3))) struct argus_error *
kdebug_note(const struct kdebug_file *file, const char *format, ...);

/* Takes a thread map: `count` entries at `offset_bytes`, which must lie inside the file. */
struct argus_error *kdebug_threads_read(struct kdebug_file *file, uint64_t offset_bytes,
                                        uint64_t count);

/* Adds the records from `offset_bytes` to `offset_bytes + length_bytes`. An incomplete record at
 * the end, and anything beyond the end of the file, is damage. */
struct argus_error *kdebug_add_span(struct kdebug_file *file, uint64_t offset_bytes,
                                    uint64_t length_bytes);

/* Sets the length of a tick. False: the values are impossible. */
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

/* --- from the records: kdebug_index.c, kdebug_tables.c, kdebug_records.c --- */

/* Reads all records once to find: chunks, lanes, time range, CPUs, losses, tables. */
struct argus_error *kdebug_index(struct kdebug_file *file);

/* Unpacks `count` records at `raw`. Leaves out empty records (all zeros) and those with an
 * impossible CPU, and returns the number of records left. `*ret_bad`: the index of the first record
 * with such a CPU, `count` if there is none. */
size_t kdebug_unpack(const uint8_t *raw, size_t count, bool narrow, struct argus_record *ret,
                     size_t *ret_bad);

/* Tables contained in the records themselves. */
struct kdebug_tables;
struct kdebug_tables *kdebug_tables_create(struct argus_trace *trace); /* NULL without memory */
void kdebug_tables_destroy(struct kdebug_tables *tables);
/* To call for all records in the file's order. False without memory. */
bool kdebug_tables_feed(struct kdebug_tables *tables, const struct argus_record *record);
/* To call after the last record. False without memory. */
bool kdebug_tables_finish(struct kdebug_tables *tables);

#endif
