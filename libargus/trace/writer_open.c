/* Beginning a trace file, or going on with one. */
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
    writer->cpu_count = header->cpu_count;
    writer->ring_bytes = header->ring_bytes;
    ring_init(&writer->place, header->ring_bytes);
    return writer;
}

struct argus_error *argus_writer_create(int fd, const struct argus_trace_header *header,
                                        struct argus_writer **ret)
{
    struct argus_error *error = check_header(header);
    if (error)
        return error;
    struct layout_header disk = header_to_disk(header);
    int failed = file_write(fd, &disk, sizeof(disk), 0);
    if (failed)
        return argus_error_os(failed, WRITER_UNWRITABLE, (uint64_t)0);
    struct argus_writer *writer = writer_new(fd, header);
    if (!writer)
        return argus_error_memory();
    writer->bytes = sizeof(disk);
    *ret = writer;
    return NULL;
}

/* Finds the end of the last whole chunk, the next sequence number and the largest time. */
static struct argus_error *find_end(struct argus_writer *writer,
                                    const struct argus_trace_header *header)
{
    struct stat status;
    if (fstat(writer->fd, &status) < 0)
        return argus_error_os(errno, "cannot read the trace");
    struct walk walk;
    struct walk_step step;
    struct argus_error *error;
    walk_begin(&walk, writer->fd, "the trace", header, (uint64_t)status.st_size);
    while (!(error = walk_next(&walk, &step)) && step.found != WALK_END) {
        if (step.found == WALK_DAMAGE || step.header.kind == ARGUS_CHUNK_PAD)
            continue;
        writer->place.head = step.offset_bytes + layout_chunk_extent(step.header.stored_bytes);
        if (step.header.sequence >= writer->sequence)
            writer->sequence = step.header.sequence + 1;
        if (step.header.kind == ARGUS_CHUNK_RECORDS &&
            step.header.last_ticks > writer->latest_ticks)
            writer->latest_ticks = step.header.last_ticks;
    }
    if (error)
        return error;
    /* Also longer, when only the padding of the last chunk was cut off. */
    if (ftruncate(writer->fd, (off_t)writer->place.head) < 0)
        return argus_error_os(errno, WRITER_UNWRITABLE, writer->place.head);
    writer->bytes = writer->place.head;
    return NULL;
}

struct argus_error *argus_writer_append(int fd, struct argus_writer **ret)
{
    struct argus_trace_header header;
    struct argus_error *error = walk_read_header(fd, "the trace", &header);
    if (error)
        return error;
    if (header.ring_bytes)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "the trace is a ring file; only a stream can be appended to");
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

void argus_writer_destroy(struct argus_writer *writer)
{
    if (!writer)
        return;
    ring_deinit(&writer->place);
    codec_encoder_deinit(&writer->encoder);
    packer_deinit(&writer->packer);
    bytes_deinit(&writer->payload);
    bytes_deinit(&writer->image);
    bytes_deinit(&writer->stacks);
    bytes_deinit(&writer->snapshots);
    idmap_deinit(&writer->stacks_written);
    free(writer);
}
