/* The inside of struct argus_writer, shared by writer.c (chunks and records) and table_write.c. */
#ifndef ARGUS_TRACE_WRITER_H
#define ARGUS_TRACE_WRITER_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "trace/bytes.h"
#include "trace/codec.h"
#include "trace/layout.h"
#include "trace/pack.h"
#include "trace/ring_place.h"

struct argus_writer {
    int fd; /* borrowed */
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
    struct bytes payload;     /* of the chunk at hand, before compression */
    struct bytes image;       /* of the chunk at hand, as it goes into the file */
    struct bytes stacks;      /* entries that wait for their chunk */
    uint32_t stack_count;     /* in `stacks` */
    struct bytes snapshots;   /* entries that wait for their chunk */
    uint32_t snapshot_count;  /* in `snapshots` */
    struct bytes late_stacks; /* entries that wait for their chunk */
    uint32_t late_count;      /* in `late_stacks` */
    struct idmap stacks_written;
};

/* The sentence of a failed write; takes the offset. */
#define WRITER_UNWRITABLE "cannot write the trace at offset %" PRIu64

/* What a chunk's header says beside its sizes. */
struct chunk_head {
    enum argus_chunk_kind kind;
    uint32_t count, cpu;
    uint64_t lost, first_ticks, last_ticks;
};

/* Writes one chunk with `payload`. On an error the file is as it was, as far as the system lets us.
 */
struct argus_error *writer_put_chunk(struct argus_writer *writer, const struct chunk_head *head,
                                     const struct bytes *payload);

/* Makes the chunk in writer->image, as it goes into the file; false without memory. */
bool writer_make_image(struct argus_writer *writer, const struct chunk_head *head,
                       const struct bytes *payload);

/* The header of a padding chunk that takes `bytes` of the file, itself included. */
struct layout_chunk writer_padding(uint64_t bytes);

/* Puts one entry of a STACKS chunk. */
void writer_put_stack(struct bytes *payload, uint64_t id, const uint64_t *frames, size_t count);

/* Writes the snapshots that wait for their chunk. */
struct argus_error *writer_flush_snapshots(struct argus_writer *writer);

/* Payloads of tables are cut at about this size, so that each fits a small ring. */
size_t writer_table_bytes(const struct argus_writer *writer);

#endif
