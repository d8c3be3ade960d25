/* Creates a trace file, or continues an existing one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/file.h"
#include "trace/layout.h"
#include "trace/walk.h"
#include "trace/writer.h"

static struct layout_header header_to_disk(const struct argus_trace_header *header)
{
    struct layout_header disk = {
        .version_major = ARGUS_TRACE_VERSION_MAJOR,
        .version_minor = ARGUS_TRACE_VERSION_MINOR,
        .header_bytes = LAYOUT_AREA_START,
        .os = header->os,
        .arch = header->arch,
        .timebase_numer = header->timebase_numer,
        .timebase_denom = header->timebase_denom,
        .anchor_ticks = header->anchor_ticks,
        .anchor_wall_ns = header->anchor_wall_ns,
        .page_bytes = header->page_bytes,
        .cpu_count = header->cpu_count,
        .ring_bytes = header->ring_bytes,
    };
    memcpy(disk.magic, LAYOUT_FILE_MAGIC, sizeof(disk.magic));
    memcpy(disk.boot_id, header->boot_id, sizeof(disk.boot_id));
    memcpy(disk.host, header->host, strnlen(header->host, sizeof(disk.host)));
    disk.crc = (uint32_t)crc32(0, (const void *)&disk, offsetof(struct layout_header, crc));
    return disk;
}

static struct argus_error *check_header(const struct argus_trace_header *header)
{
    if (!header->timebase_numer || !header->timebase_denom)
        return argus_error_create(ARGUS_ERROR_USAGE, "a trace needs a timebase");
    if (!header->cpu_count || header->cpu_count > LAYOUT_MOST_CPUS)
        return argus_error_create(ARGUS_ERROR_USAGE, "a trace needs 1 to %u cpus, not %u",
                                  LAYOUT_MOST_CPUS, header->cpu_count);
    if (header->ring_bytes && (header->ring_bytes < LAYOUT_LEAST_RING_BYTES ||
                               header->ring_bytes > (uint64_t)INT64_MAX - LAYOUT_AREA_START ||
                               header->ring_bytes % LAYOUT_ALIGN))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "a ring has at least %u bytes, in multiples of %u: not %" PRIu64,
                                  LAYOUT_LEAST_RING_BYTES, LAYOUT_ALIGN, header->ring_bytes);
    return NULL;
}

/* NULL without memory. */
static struct argus_writer *writer_new(int fd, const struct argus_trace_header *header)
{
    struct argus_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return NULL;
    writer->fd = fd;
    writer->output = file_output(fd);
    writer->cpu_count = header->cpu_count;
    writer->ring_bytes = header->ring_bytes;
    writer->earliest_ticks = UINT64_MAX;
    ring_init(&writer->place, header->ring_bytes);
    return writer;
}

/* Takes the output of `fd`, or of `output` if that is given. */
static struct argus_error *create(int fd, const struct argus_output *output,
                                  const struct argus_trace_header *header,
                                  struct argus_writer **ret)
{
    struct argus_error *error = check_header(header);
    if (error)
        return error;
    struct layout_header disk = header_to_disk(header);
    struct argus_writer *writer = writer_new(fd, header);
    if (!writer)
        return argus_error_memory();
    if (output)
        writer->output = *output;
    int failed = writer->output.write(writer->output.context, &disk, sizeof(disk), 0);
    if (failed) {
        argus_writer_destroy(writer);
        return argus_error_os(failed, WRITER_UNWRITABLE, (uint64_t)0);
    }
    writer->bytes = sizeof(disk);
    *ret = writer;
    return NULL;
}

struct argus_error *argus_writer_create(int fd, const struct argus_trace_header *header,
                                        struct argus_writer **ret)
{
    return create(fd, NULL, header, ret);
}

struct argus_error *argus_writer_create_into(const struct argus_output *output,
                                             const struct argus_trace_header *header,
                                             struct argus_writer **ret)
{
    return create(-1, output, header, ret);
}

/* The result of the walk over a file, in file order. */
struct found {
    VEC(struct extent) extents; /* complete chunks, including padding */
    uint64_t newest_sequence, newest_end;
    bool any;
};

static struct argus_error *take_step(struct argus_writer *writer, const struct walk_step *step,
                                     struct found *found)
{
    bool is_padding = step->header.kind == ARGUS_CHUNK_PAD;
    bool has_records = step->header.kind == ARGUS_CHUNK_RECORDS && step->header.count;
    struct extent extent = {
        .start = step->offset_bytes,
        .end = step->offset_bytes + layout_chunk_extent(step->header.stored_bytes),
        .first_ticks = has_records ? step->header.first_ticks : UINT64_MAX,
    };
    if (!vec_push(&found->extents, extent))
        return argus_error_memory();
    if (is_padding)
        return NULL;
    /* the file stays readable for those who can read it now */
    if (argus_codec_is_built(step->header.codec))
        writer->packer.codec = step->header.codec;
    if (!found->any || step->header.sequence >= found->newest_sequence) {
        found->any = true;
        found->newest_sequence = step->header.sequence;
        found->newest_end = extent.end;
    }
    if (extent.first_ticks < writer->earliest_ticks)
        writer->earliest_ticks = extent.first_ticks;
    if (has_records && step->header.last_ticks > writer->latest_ticks)
        writer->latest_ticks = step->header.last_ticks;
    return NULL;
}

static struct argus_error *walk_file(struct argus_writer *writer,
                                     const struct argus_trace_header *header, uint64_t file_bytes,
                                     struct found *found)
{
    struct walk walk;
    struct walk_step step;
    struct argus_error *error;
    walk_begin(&walk, writer->fd, "the trace", header, file_bytes);
    while (!(error = walk_next(&walk, &step)) && step.found != WALK_END) {
        if (step.found == WALK_DAMAGE)
            continue;
        error = take_step(writer, &step, found);
        if (error)
            return error;
    }
    return error;
}

/* In a ring, the oldest chunks follow the newest one; they come first in the order of age. */
static struct argus_error *order_by_age(struct argus_writer *writer, const struct found *found)
{
    size_t count = found->extents.length, oldest = 0;
    struct ring_place *place = &writer->place;
    if (!vec_reserve(&place->extents, count))
        return argus_error_memory();
    while (oldest < count && found->extents.data[oldest].start < place->head)
        oldest++;
    for (size_t i = 0; i < count; i++)
        place->extents.data[place->extents.length++] = found->extents.data[(oldest + i) % count];
    return NULL;
}

/* Finds the end of the last complete chunk, the next sequence number and the largest timestamp. */
static struct argus_error *find_end(struct argus_writer *writer,
                                    const struct argus_trace_header *header)
{
    struct stat status;
    struct found found = {0};
    if (fstat(writer->fd, &status) < 0)
        return argus_error_os(errno, "cannot read the trace");
    struct argus_error *error = walk_file(writer, header, (uint64_t)status.st_size, &found);
    if (!error && found.any) {
        writer->sequence = found.newest_sequence + 1;
        writer->place.head = found.newest_end;
    }
    if (!error && writer->ring_bytes)
        error = order_by_age(writer, &found);
    bool has_wrapped = writer->ring_bytes && (uint64_t)status.st_size >= writer->place.end;
    /* It may also need to grow, if only the padding of the last chunk was cut off. */
    if (!error && !has_wrapped && ftruncate(writer->fd, (off_t)writer->place.head) < 0)
        error = argus_error_os(errno, WRITER_UNWRITABLE, writer->place.head);
    writer->bytes = writer->place.head;
    vec_deinit(&found.extents);
    return error;
}

struct argus_error *argus_writer_append(int fd, struct argus_writer **ret)
{
    struct argus_trace_header header;
    struct argus_error *error = walk_read_header(fd, "the trace", &header);
    if (error)
        return error;
    struct argus_writer *writer = writer_new(fd, &header);
    if (!writer)
        return argus_error_memory();
    error = find_end(writer, &header);
    if (error)
        argus_writer_destroy(writer);
    else
        *ret = writer;
    return error;
}

uint64_t argus_writer_bytes(const struct argus_writer *writer)
{
    return writer->bytes;
}

uint64_t argus_writer_records_written(const struct argus_writer *writer)
{
    return writer->records;
}

uint64_t argus_writer_oldest_ticks(const struct argus_writer *writer)
{
    uint64_t oldest =
        writer->ring_bytes ? ring_oldest_ticks(&writer->place) : writer->earliest_ticks;
    return oldest == UINT64_MAX ? 0 : oldest;
}

void argus_writer_destroy(struct argus_writer *writer)
{
    if (!writer)
        return;
    pack_beside_stop(writer->beside);
    ring_deinit(&writer->place);
    codec_encoder_deinit(&writer->encoder);
    packer_deinit(&writer->packer);
    bytes_deinit(&writer->payload);
    bytes_deinit(&writer->image);
    bytes_deinit(&writer->stacks);
    bytes_deinit(&writer->snapshots);
    bytes_deinit(&writer->late_stacks);
    cipher_wipe(&writer->key, sizeof(writer->key));
    idmap_deinit(&writer->stacks_written);
    free(writer);
}
