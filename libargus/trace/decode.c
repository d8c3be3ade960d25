/* Decoding must be fast, and must not trust the payload.
 *
 * All columns are in one buffer that has zero bytes at its end. A varint is at most ten bytes long,
 * so reading one value of each column can leave a column, but not the buffer. The limits of all
 * columns are therefore checked together, once per record.
 */
#include <stdlib.h>

#include "argus/trace.h"
#include "trace/codec.h"
#include "trace/reason.h"
#include "trace/varint.h"

struct decoder {
    const uint8_t *payload;
    const struct codec_bounds *bounds;
    size_t at[CODEC_COLUMNS], end[CODEC_COLUMNS];
    struct codec_id *ids; /* owned */
    uint64_t id_count;
};

static const char *split_columns(struct decoder *decoder, size_t payload_bytes)
{
    if (payload_bytes < CODEC_SIZES_BYTES)
        return "the column sizes are cut off";
    size_t at = CODEC_SIZES_BYTES;
    for (int i = 0; i < CODEC_COLUMNS; i++) {
        uint32_t size;
        memcpy(&size, decoder->payload + i * sizeof(size), sizeof(size));
        if (size > payload_bytes - at)
            return "the columns are larger than the payload";
        decoder->at[i] = at;
        decoder->end[i] = at += size;
    }
    if (at != payload_bytes)
        return "the columns are smaller than the payload";
    if (decoder->bounds->cpu != ARGUS_CPU_MIXED &&
        decoder->at[CODEC_CPU] != decoder->end[CODEC_CPU])
        return "it has a cpu column although it belongs to one cpu";
    return NULL;
}

/* The dictionary at the beginning of the debugid column. A debugid must not occur in it twice: it
 * would be ambiguous which record is the previous one with the same debugid. */
static const char *read_dictionary(struct decoder *decoder)
{
    size_t *at = &decoder->at[CODEC_DEBUGID], end = decoder->end[CODEC_DEBUGID];
    decoder->id_count = varint_read(decoder->payload, at);
    if (*at > end || decoder->id_count > (end - *at) / 4)
        return "the dictionary of debugids is cut off";
    decoder->ids = calloc(decoder->id_count + 1, sizeof(*decoder->ids));
    if (!decoder->ids)
        return REASON_MEMORY;

    struct idmap seen = {0};
    const char *reason = NULL;
    for (uint32_t i = 0; i < decoder->id_count && !reason; i++, *at += 4) {
        uint32_t debugid;
        memcpy(&debugid, decoder->payload + *at, sizeof(debugid));
        decoder->ids[i].debugid = debugid;
        if (idmap_get(&seen, debugid) != IDMAP_NONE)
            reason = "a debugid is twice in the dictionary";
        else if (!idmap_put(&seen, debugid, i))
            reason = REASON_MEMORY;
    }
    idmap_deinit(&seen);
    return reason;
}

static inline uint64_t next(struct decoder *decoder, enum codec_column column)
{
    return varint_read(decoder->payload, &decoder->at[column]);
}

/* True if a position is beyond the end of its column; all columns are checked without a branch. */
static inline bool overrun(const struct decoder *decoder)
{
    bool over = false;
    for (int i = 0; i < CODEC_CPU; i++)
        over |= decoder->at[i] > decoder->end[i];
    return over;
}

static const char *decode_records(struct decoder *shared, struct argus_record *ret)
{
    struct decoder decoder = *shared; /* a copy that the compiler can keep in registers */
    const struct codec_bounds bounds = *shared->bounds;
    uint64_t time = bounds.first_ticks, tid = 0;
    uint64_t span = bounds.last_ticks - bounds.first_ticks;

    for (uint32_t i = 0; i < bounds.count; i++) {
        uint64_t index = next(&decoder, CODEC_DEBUGID);
        if (index >= decoder.id_count)
            return "a record's debugid is not in the dictionary";
        struct codec_id *id = &decoder.ids[index];
        struct argus_record *record = &ret[i];
        time += unzigzag(next(&decoder, CODEC_TIME));
        tid += unzigzag(next(&decoder, CODEC_TID));
        for (int k = 0; k < 4; k++)
            record->arg[k] = id->arg[k] += unzigzag(next(&decoder, CODEC_ARG1 + k));
        record->timestamp = time;
        record->tid = tid;
        record->debugid = id->debugid;
        record->cpu = bounds.cpu;
        record->unused = 0;
        if (overrun(&decoder))
            return "a column is cut off";
        if (time - bounds.first_ticks > span)
            return "a timestamp is outside the time range of the chunk";
    }
    for (int i = 0; i < CODEC_CPU; i++)
        if (decoder.at[i] != decoder.end[i])
            return "a column has bytes left over";
    return NULL;
}

static const char *decode_cpus(const struct decoder *decoder, struct argus_record *ret)
{
    size_t at = decoder->at[CODEC_CPU], end = decoder->end[CODEC_CPU];
    for (uint32_t i = 0; i < decoder->bounds->count; i++) {
        uint64_t cpu = varint_read(decoder->payload, &at);
        if (at > end)
            return "the cpu column is cut off";
        if (cpu >= decoder->bounds->cpu_count)
            return "a record's cpu is not one of the recorded machine";
        ret[i].cpu = (uint32_t)cpu;
    }
    return at == end ? NULL : "the cpu column has bytes left over";
}

const char *codec_decode(const uint8_t *payload, size_t payload_bytes,
                         const struct codec_bounds *bounds, struct argus_record *ret)
{
    struct decoder decoder = {.payload = payload, .bounds = bounds};
    const char *reason = split_columns(&decoder, payload_bytes);
    if (!reason)
        reason = read_dictionary(&decoder);
    if (!reason)
        reason = decode_records(&decoder, ret);
    if (!reason && bounds->cpu == ARGUS_CPU_MIXED)
        reason = decode_cpus(&decoder, ret);
    free(decoder.ids);
    return reason;
}
