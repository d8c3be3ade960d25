/* The internals of struct argus_writer, shared by writer.c (chunks and records) and
 * table_write.c. */
#ifndef ARGUS_TRACE_WRITER_H
#define ARGUS_TRACE_WRITER_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "trace/bytes.h"
#include "trace/chunk_image.h"
#include "trace/cipher.h"
#include "trace/codec.h"
#include "trace/layout.h"
#include "trace/pack.h"
#include "trace/pack_beside.h"
#include "trace/ring_place.h"

struct argus_writer {
    int fd; /* borrowed; -1: `output` alone knows the file */
    struct argus_output output;
    uint32_t cpu_count;
    uint64_t ring_bytes;
    struct ring_place place;
    uint64_t sequence;       /* of the next chunk */
    uint64_t bytes;          /* written so far */
    uint64_t records;        /* written so far */
    uint64_t earliest_ticks; /* of all records ever written; UINT64_MAX: none */
    uint64_t latest_ticks;   /* largest timestamp of any record so far */
    struct codec_encoder encoder;
    struct packer packer;
    struct pack_beside *beside;    /* NULL: this thread packs the records, too; owned */
    struct bytes payload;          /* of the current chunk, before compression */
    struct bytes image;            /* of the current chunk, as written to the file */
    struct bytes stacks;           /* entries for the next chunk */
    uint32_t stack_count;          /* in `stacks` */
    struct bytes snapshots;        /* entries for the next chunk */
    uint32_t snapshot_count;       /* in `snapshots` */
    struct argus_snapshot_key key; /* not set: snapshots are not encrypted */
    struct cipher_nonces nonces;
    struct bytes late_stacks; /* entries for the next chunk */
    uint32_t late_count;      /* in `late_stacks` */
    struct idmap stacks_written;
};

/* The message for a failed write; the format takes the offset. */
#define WRITER_UNWRITABLE "cannot write the trace at offset %" PRIu64

/* Writes one chunk with `payload`. On an error, the file is unchanged as far as the system allows.
 */
struct argus_error *writer_put_chunk(struct argus_writer *writer, const struct chunk_head *head,
                                     const struct bytes *payload);

/* Writes the chunks that the thread of argus_writer_hurry() has. */
struct argus_error *writer_place_all(struct argus_writer *writer);

/* Puts one entry of a STACKS chunk. */
void writer_put_stack(struct bytes *payload, uint64_t id, const uint64_t *frames, size_t count);

/* Writes the snapshots that are buffered for the next chunk. */
struct argus_error *writer_flush_snapshots(struct argus_writer *writer);

/* Payloads of tables are split at about this size, so that each fits into a small ring. */
size_t writer_table_bytes(const struct argus_writer *writer);

#endif
