#include "argus/trace.h"
#include "trace/codec.h"
#include "trace/varint.h"

void codec_encoder_deinit(struct codec_encoder *encoder)
{
    idmap_deinit(&encoder->indexes);
    vec_deinit(&encoder->ids);
    for (int i = 0; i < CODEC_COLUMNS; i++)
        bytes_deinit(&encoder->columns[i]);
}

/* Empties the encoder and makes room for the maximum size of `count` records, so that the loop does
 * not need to check. */
static bool encoder_begin(struct codec_encoder *encoder, size_t count)
{
    idmap_clear(&encoder->indexes);
    encoder->ids.length = 0;
    for (int i = 0; i < CODEC_COLUMNS; i++) {
        bytes_clear(&encoder->columns[i]);
        if (!bytes_reserve(&encoder->columns[i], (count + 1) * VARINT_MOST_BYTES))
            return false;
    }
    return true;
}

/* The dictionary index of `debugid`; IDMAP_NONE without memory. */
static uint32_t encoder_index(struct codec_encoder *encoder, uint32_t debugid)
{
    uint32_t index = idmap_get(&encoder->indexes, debugid);
    if (index != IDMAP_NONE)
        return index;
    index = (uint32_t)encoder->ids.length;
    if (!idmap_put(&encoder->indexes, debugid, index) ||
        !vec_push(&encoder->ids, (struct codec_id){.debugid = debugid}))
        return IDMAP_NONE;
    return index;
}

static bool encode_columns(struct codec_encoder *encoder, const struct codec_bounds *bounds,
                           const struct argus_record *records)
{
    uint8_t *to[CODEC_COLUMNS];
    for (int i = 0; i < CODEC_COLUMNS; i++)
        to[i] = encoder->columns[i].data;

    uint64_t time = bounds->first_ticks, tid = 0;
    for (uint32_t i = 0; i < bounds->count; i++) {
        const struct argus_record *record = &records[i];
        uint32_t index = encoder_index(encoder, record->debugid);
        if (index == IDMAP_NONE)
            return false;
        struct codec_id *id = &encoder->ids.data[index];
        to[CODEC_TIME] = varint_write(to[CODEC_TIME], zigzag(record->timestamp - time));
        to[CODEC_DEBUGID] = varint_write(to[CODEC_DEBUGID], index);
        to[CODEC_TID] = varint_write(to[CODEC_TID], zigzag(record->tid - tid));
        for (int k = 0; k < 4; k++) {
            uint8_t **column = &to[CODEC_ARG1 + k];
            *column = varint_write(*column, zigzag(record->arg[k] - id->arg[k]));
            id->arg[k] = record->arg[k];
        }
        if (bounds->cpu == ARGUS_CPU_MIXED)
            to[CODEC_CPU] = varint_write(to[CODEC_CPU], record->cpu);
        time = record->timestamp;
        tid = record->tid;
    }
    for (int i = 0; i < CODEC_COLUMNS; i++)
        encoder->columns[i].length = (size_t)(to[i] - encoder->columns[i].data);
    return true;
}

static void put_dictionary(const struct codec_encoder *encoder, struct bytes *ret)
{
    bytes_put_varint(ret, encoder->ids.length);
    for (size_t i = 0; i < encoder->ids.length; i++)
        bytes_put(ret, &encoder->ids.data[i].debugid, 4);
}

/* The sizes are known only after the columns are encoded, so space for them is reserved and filled
 * in then.
 */
static void put_payload(const struct codec_encoder *encoder, struct bytes *ret)
{
    static const uint8_t unknown_sizes[CODEC_SIZES_BYTES];
    size_t sizes_at = ret->length;
    bytes_put(ret, unknown_sizes, sizeof(unknown_sizes));
    for (int i = 0; i < CODEC_COLUMNS; i++) {
        size_t start = ret->length;
        if (i == CODEC_DEBUGID)
            put_dictionary(encoder, ret);
        bytes_put(ret, encoder->columns[i].data, encoder->columns[i].length);
        uint32_t size = (uint32_t)(ret->length - start);
        if (!ret->failed)
            memcpy(ret->data + sizes_at + i * sizeof(size), &size, sizeof(size));
    }
}

void codec_encode(struct codec_encoder *encoder, const struct codec_bounds *bounds,
                  const struct argus_record *records, struct bytes *ret)
{
    if (!encoder_begin(encoder, bounds->count) || !encode_columns(encoder, bounds, records))
        ret->failed = true;
    else
        put_payload(encoder, ret);
}
