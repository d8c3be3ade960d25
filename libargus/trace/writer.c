#include "trace/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/parallel.h"
#include "trace/file.h"

/* --- chunks --- */

static int writer_write(const struct argus_writer *writer, const void *bytes, size_t length,
                        uint64_t offset)
{
    return writer->output.write(writer->output.context, bytes, length, offset);
}

/* Fills the area up to its end and continues at its start. From now on the file has its full size,
 * so padding never extends beyond it. */
static struct argus_error *wrap(struct argus_writer *writer)
{
    struct ring_place *place = &writer->place;
    uint64_t rest = ring_rest(place);
    if (!ring_reserve(place))
        return argus_error_memory();
    int failed = writer->output.resize(writer->output.context, place->end);
    if (!failed && rest >= sizeof(struct layout_chunk)) {
        struct layout_chunk header = chunk_padding(rest);
        failed = writer_write(writer, &header, sizeof(header), place->head);
    }
    if (failed)
        return argus_error_os(failed, WRITER_UNWRITABLE, place->head);
    return ring_wrap(place) ? NULL : argus_error_memory();
}

/* Removes what a failed write left behind the last chunk of a growing file, as far as possible. */
static void undo(struct argus_writer *writer)
{
    struct stat status;
    if (writer->fd < 0)
        return; /* the output does so itself */
    bool grows = fstat(writer->fd, &status) == 0 && (uint64_t)status.st_size < writer->place.end;
    if (grows && ftruncate(writer->fd, (off_t)writer->place.head) < 0)
        return; /* the reader will report damage at the end */
}

static struct argus_error *put_image(struct argus_writer *writer, const struct chunk_head *head)
{
    struct bytes *image = &writer->image;
    uint64_t chunk_bytes = image->length;
    struct ring_plan plan = ring_plan(&writer->place, chunk_bytes);
    if (head->kind == ARGUS_CHUNK_RECORDS && head->count)
        plan.first_ticks = head->first_ticks;
    if (plan.pad_bytes) {
        struct layout_chunk header = chunk_padding(plan.pad_bytes);
        bytes_put(image, &header, sizeof(header));
    }
    if (image->failed || !ring_reserve(&writer->place))
        return argus_error_memory();
    int failed = writer_write(writer, image->data, image->length, plan.offset);
    if (failed) {
        undo(writer);
        return argus_error_os(failed, WRITER_UNWRITABLE, plan.offset);
    }
    ring_commit(&writer->place, &plan);
    if (plan.first_ticks < writer->earliest_ticks)
        writer->earliest_ticks = plan.first_ticks;
    writer->sequence++;
    writer->bytes += chunk_bytes;
    return NULL;
}

/* A ring should hold several chunks at any time; otherwise each new chunk drops too many
 * records. */
static bool is_too_large(const struct argus_writer *writer)
{
    return writer->ring_bytes && writer->image.length > writer->ring_bytes / 4;
}

/* Writes writer->image. */
static struct argus_error *place_image(struct argus_writer *writer, const struct chunk_head *head)
{
    chunk_image_number(&writer->image, writer->sequence);
    if (is_too_large(writer))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a table entry of %zu bytes does not fit a ring of %" PRIu64
                                  " bytes",
                                  writer->image.length, writer->ring_bytes);
    struct argus_error *error = NULL;
    if (!ring_fits(&writer->place, writer->image.length))
        error = wrap(writer);
    return error ? error : put_image(writer, head);
}

struct argus_error *writer_put_chunk(struct argus_writer *writer, const struct chunk_head *head,
                                     const struct bytes *payload)
{
    if (payload->length > ARGUS_CHUNK_MAX_BYTES)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a table entry of %zu bytes is too long for a trace",
                                  payload->length);
    struct argus_error *error = writer_place_all(writer);
    if (error)
        return error;
    if (payload->failed || !chunk_image_pack(&writer->packer, head, payload, &writer->image))
        return argus_error_memory();
    return place_image(writer, head);
}

size_t writer_table_bytes(const struct argus_writer *writer)
{
    size_t bytes = 256u << 10;
    return writer->ring_bytes && writer->ring_bytes / 8 < bytes ? writer->ring_bytes / 8 : bytes;
}

/* --- records --- */

struct argus_error *argus_writer_choose_codec(struct argus_writer *writer, enum argus_codec codec)
{
    if (codec != ARGUS_CODEC_NONE && !argus_codec_is_built(codec))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "cannot pack with %s: this build of Argus was made without it",
                                  argus_codec_name(codec));
    writer->packer.codec = codec;
    return NULL;
}

void argus_writer_hurry(struct argus_writer *writer)
{
    writer->packer.fast = true;
    if (!writer->ring_bytes && !writer->beside && parallel_threads(2) > 1)
        writer->beside = pack_beside_start(true);
}

static struct chunk_head records_head(const struct argus_writer *writer, uint32_t cpu,
                                      const struct argus_record *records, size_t count,
                                      uint64_t lost)
{
    struct chunk_head head = {
        .kind = ARGUS_CHUNK_RECORDS,
        .count = (uint32_t)count,
        .cpu = cpu,
        .lost = lost,
        .first_ticks = count ? records[0].timestamp : writer->latest_ticks,
        .last_ticks = count ? records[0].timestamp : writer->latest_ticks,
    };
    for (size_t i = 1; i < count; i++) {
        uint64_t time = records[i].timestamp;
        head.first_ticks = time < head.first_ticks ? time : head.first_ticks;
        head.last_ticks = time > head.last_ticks ? time : head.last_ticks;
    }
    return head;
}

/* Sets `payload` to the records; false without memory. */
static bool encode(struct argus_writer *writer, const struct chunk_head *head,
                   const struct argus_record *records, struct bytes *payload)
{
    struct codec_bounds bounds = {
        .first_ticks = head->first_ticks,
        .last_ticks = head->last_ticks,
        .count = head->count,
        .cpu = head->cpu,
    };
    bytes_clear(payload);
    if (head->count)
        codec_encode(&writer->encoder, &bounds, records, payload);
    return !payload->failed;
}

static struct argus_error *place_records(struct argus_writer *writer, const struct chunk_head *head)
{
    struct argus_error *error = place_image(writer, head);
    if (error)
        return error;
    writer->records += head->count;
    if (head->last_ticks > writer->latest_ticks)
        writer->latest_ticks = head->last_ticks;
    return NULL;
}

/* Writes the oldest chunk that the thread has or had. */
static struct argus_error *place_oldest(struct argus_writer *writer, struct pack_job *job)
{
    struct bytes image = writer->image;
    if (!job->packed)
        return argus_error_memory();
    writer->image = job->image;
    job->image = image;
    pack_beside_take(writer->beside);
    return place_records(writer, &job->head);
}

struct argus_error *writer_place_all(struct argus_writer *writer)
{
    struct argus_error *error = NULL;
    struct pack_job *job;
    while (!error && writer->beside && (job = pack_beside_oldest(writer->beside)))
        error = place_oldest(writer, job);
    return error;
}

/* Gives the records to the thread. */
static struct argus_error *pack_elsewhere(struct argus_writer *writer,
                                          const struct chunk_head *head,
                                          const struct argus_record *records)
{
    struct pack_job *job = pack_beside_free(writer->beside);
    struct argus_error *error =
        job ? NULL : place_oldest(writer, pack_beside_oldest(writer->beside));
    if (error)
        return error;
    job = pack_beside_free(writer->beside);
    job->head = *head;
    job->codec = writer->packer.codec;
    if (!encode(writer, head, records, &job->payload))
        return argus_error_memory();
    pack_beside_give(writer->beside);
    if (head->last_ticks > writer->latest_ticks)
        writer->latest_ticks = head->last_ticks;
    return NULL;
}

/* Writes one chunk. If it is too large for a small ring, writes two with half of the records each,
 * and so on. */
static struct argus_error *put_records(struct argus_writer *writer, uint32_t cpu,
                                       const struct argus_record *records, size_t count,
                                       uint64_t lost)
{
    struct chunk_head head = records_head(writer, cpu, records, count, lost);
    struct argus_error *error;
    if (writer->beside)
        return pack_elsewhere(writer, &head, records);
    if (!encode(writer, &head, records, &writer->payload) ||
        !chunk_image_pack(&writer->packer, &head, &writer->payload, &writer->image))
        return argus_error_memory();
    if (is_too_large(writer) && count > 1) {
        size_t half = count / 2;
        error = put_records(writer, cpu, records, half, lost);
        return error ? error : put_records(writer, cpu, records + half, count - half, 0);
    }
    return place_records(writer, &head);
}

static bool cpus_are_valid(const struct argus_writer *writer, uint32_t cpu,
                           const struct argus_record *records, size_t count)
{
    if (cpu != ARGUS_CPU_MIXED)
        return cpu < writer->cpu_count;
    for (size_t i = 0; i < count; i++)
        if (records[i].cpu >= writer->cpu_count)
            return false;
    return true;
}

struct argus_error *argus_writer_records(struct argus_writer *writer, uint32_t cpu,
                                         const struct argus_record *records, size_t count,
                                         uint64_t lost)
{
    if (!cpus_are_valid(writer, cpu, records, count))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a record has a cpu that the trace's header does not count (%u)",
                                  writer->cpu_count);
    struct argus_error *error = NULL;
    do {
        size_t part = count < ARGUS_CHUNK_MAX_RECORDS ? count : ARGUS_CHUNK_MAX_RECORDS;
        if (part || lost)
            error = put_records(writer, cpu, records, part, lost);
        if (part)
            records += part;
        count -= part;
        lost = 0;
    } while (!error && count);
    return error;
}
