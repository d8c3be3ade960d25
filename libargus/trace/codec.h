/* The column encoding of record chunks (section "Records" of the format's text).
 *
 * Columns are used because neighbours in a column are similar: time grows in small steps, a few
 * debugids and threads alternate, and an argument is mostly close to the one that the same
 * tracepoint had last. Seven of eight words of a record become one-byte varints, and the codec
 * compresses what is left.
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

/* The minimum size of a record: one byte in each column except the CPU's. It bounds the record
 * count that a payload can claim. */
enum { CODEC_LEAST_RECORD_BYTES = CODEC_COLUMNS - 1 };

/* A debugid of the dictionary, and the arguments of its latest record. */
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

/* What a chunk's header tells about its records. */
struct codec_bounds {
    uint64_t first_ticks, last_ticks; /* smallest and largest timestamp */
    uint32_t count;
    uint32_t cpu;       /* the CPU of all records, or ARGUS_CPU_MIXED */
    uint32_t cpu_count; /* every CPU is below this */
};

void codec_encoder_deinit(struct codec_encoder *encoder);

/* Appends the payload of bounds->count records to `ret`; on failure ret->failed is set. */
void codec_encode(struct codec_encoder *encoder, const struct codec_bounds *bounds,
                  const struct argus_record *records, struct bytes *ret);

/* Decodes a payload, which has VARINT_SLACK zero bytes at its end, into bounds->count records.
 * Returns NULL, or the reason why it is damaged (see reason.h); `ret` is then undefined. */
const char *codec_decode(const uint8_t *payload, size_t payload_bytes,
                         const struct codec_bounds *bounds, struct argus_record *ret);

#endif
