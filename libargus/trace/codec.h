/* The column encoding of record chunks (section "Records" of the format's text).
 *
 * Columns, because neighbours in a column resemble each other: time grows by little, a few debugids
 * and threads alternate, an argument is mostly near the one that the same tracepoint had last.
 * Seven of eight bytes of a record become varints of one byte, and zlib finds what is left.
 */
#ifndef ARGUS_TRACE_CODEC_H
#define ARGUS_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "argus/record.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "trace/bytes.h"

/* Column order in the payload. */
enum codec_column {
    CODEC_TIME,
    CODEC_DEBUGID,
    CODEC_TID,
    CODEC_ARG1, /* …, arg4 */
    CODEC_CPU = CODEC_ARG1 + 4,
    CODEC_COLUMNS,
};

enum { CODEC_SIZES_BYTES = CODEC_COLUMNS * 4 };

/* What every record costs at least: one byte in each column but cpu. Bounds the count that a
 * payload can claim. */
enum { CODEC_LEAST_RECORD_BYTES = CODEC_COLUMNS - 1 };

/* A debugid of the dictionary and the arguments that its last record had. */
struct codec_id {
    uint64_t arg[4];
    uint32_t debugid;
};

/* Memory that an encoder keeps from chunk to chunk. A zeroed struct is ready. */
struct codec_encoder {
    struct idmap indexes; /* debugid → index in `ids` */
    VEC(struct codec_id) ids;
    struct bytes columns[CODEC_COLUMNS];
};

/* What a chunk's header says of its records. */
struct codec_bounds {
    uint64_t first_ticks, last_ticks; /* smallest and largest timestamp */
    uint32_t count;
    uint32_t cpu;       /* of all records, or ARGUS_CPU_MIXED */
    uint32_t cpu_count; /* every cpu is below it */
};

void codec_encoder_deinit(struct codec_encoder *encoder);

/* Appends the payload of bounds->count records to `ret`; on failure ret->failed is set. */
void codec_encode(struct codec_encoder *encoder, const struct codec_bounds *bounds,
                  const struct argus_record *records, struct bytes *ret);

/* Decodes a payload, which has VARINT_SLACK zero bytes behind it, into bounds->count records.
 * NULL, or why it is damaged (static string, half a sentence); `ret` is then undefined. */
const char *codec_decode(const uint8_t *payload, size_t payload_bytes,
                         const struct codec_bounds *bounds, struct argus_record *ret);

#endif
