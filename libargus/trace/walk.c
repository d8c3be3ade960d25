#include "trace/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/foreign_format.h"
#include "base/utf8.h"
#include "trace/file.h"

enum { SCAN_BYTES = 1 << 16 };

static struct argus_error *read_failed(const struct walk *walk, int error_number)
{
    if (error_number == ENODATA)
        return argus_error_create(ARGUS_ERROR_IO, "%s became shorter while it was read",
                                  walk->name);
    return argus_error_os(error_number, "cannot read %s at offset %" PRIu64, walk->name, walk->at);
}

/* --- the file header --- */

static uint32_t crc_of(const void *data, size_t length)
{
    return (uint32_t)crc32(0, data, (unsigned)length);
}

/* The reason why fields are invalid although their CRC is right: a bug of the writer, or a crafted
 * file. */
static const char *header_fault(const struct layout_header *disk)
{
    if (disk->header_bytes != LAYOUT_AREA_START)
        return "the header size is not 4096";
    if (disk->timebase_numer == 0 || disk->timebase_denom == 0)
        return "the timebase is 0";
    if (disk->cpu_count == 0 || disk->cpu_count > LAYOUT_MOST_CPUS)
        return "the number of cpus is not between 1 and 65536";
    if (disk->ring_bytes % LAYOUT_ALIGN ||
        disk->ring_bytes > (uint64_t)INT64_MAX - LAYOUT_AREA_START)
        return "the ring's capacity is impossible";
    return NULL;
}

static struct argus_error *check_header(const struct layout_header *disk, const char *name)
{
    if (disk->version_major > ARGUS_TRACE_VERSION_MAJOR)
        return argus_error_create(ARGUS_ERROR_VERSION,
                                  "%s was written by a newer Argus: its format is %u.%u, this one "
                                  "reads up to %d.x",
                                  name, disk->version_major, disk->version_minor,
                                  ARGUS_TRACE_VERSION_MAJOR);
    if (disk->crc != crc_of(disk, offsetof(struct layout_header, crc)))
        return argus_error_create(
            ARGUS_ERROR_FORMAT, "%s: the file header (offset 0) is damaged: its checksum is wrong",
            name);
    const char *fault = disk->version_major == 0 ? "the version is 0" : header_fault(disk);
    if (fault)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s: the file header (offset 0) is wrong: %s",
                                  name, fault);
    return NULL;
}

static struct argus_trace_header header_from_disk(const struct layout_header *disk)
{
    struct argus_trace_header header = {
        .version_major = disk->version_major,
        .version_minor = disk->version_minor,
        .os = disk->os,
        .arch = disk->arch,
        .timebase_numer = disk->timebase_numer,
        .timebase_denom = disk->timebase_denom,
        .anchor_ticks = disk->anchor_ticks,
        .anchor_wall_ns = disk->anchor_wall_ns,
        .page_bytes = disk->page_bytes,
        .cpu_count = disk->cpu_count,
        .ring_bytes = disk->ring_bytes,
    };
    memcpy(header.boot_id, disk->boot_id, sizeof(header.boot_id));
    memcpy(header.host, disk->host, sizeof(disk->host));
    utf8_repair_name(header.host, strlen(header.host));
    return header;
}

/* `first` contains the first bytes of the file, or the whole file. */
static struct argus_error *foreign_file(int fd, const char *name, const struct layout_header *first)
{
    struct stat status;
    size_t length = sizeof(*first);
    if (fstat(fd, &status) == 0 && (uint64_t)status.st_size < length)
        length = (size_t)status.st_size;
    return foreign_format_error(name, "an Argus trace", LAYOUT_FILE_MAGIC, first, length);
}

struct argus_error *walk_read_header(int fd, const char *name, struct argus_trace_header *ret)
{
    struct layout_header disk = {0};
    int failed = file_read(fd, &disk, sizeof(disk), 0);
    if (failed && failed != ENODATA)
        return argus_error_os(failed, "cannot read %s", name);
    bool magic = memcmp(disk.magic, LAYOUT_FILE_MAGIC, sizeof(disk.magic)) == 0;
    if (failed == ENODATA && magic)
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "%s is cut off inside its file header of 4096 bytes", name);
    if (!magic)
        return foreign_file(fd, name, &disk);
    struct argus_error *error = check_header(&disk, name);
    if (!error)
        *ret = header_from_disk(&disk);
    return error;
}

/* --- the chunks --- */

void walk_begin(struct walk *walk, int fd, const char *name,
                const struct argus_trace_header *header, uint64_t file_bytes)
{
    uint64_t area_end = header->ring_bytes ? LAYOUT_AREA_START + header->ring_bytes : UINT64_MAX;
    *walk = (struct walk){
        .fd = fd,
        .name = name,
        .at = LAYOUT_AREA_START,
        .limit = file_bytes < area_end ? file_bytes : area_end,
        .area_end = area_end,
    };
}

/* The reason why the walk cannot continue over this header; NULL: it can. */
static const char *header_misleads(const struct walk *walk, uint64_t offset,
                                   const struct layout_chunk *header)
{
    if (memcmp(header->magic, LAYOUT_CHUNK_MAGIC, sizeof(header->magic)) != 0)
        return "no chunk begins here";
    if (header->header_crc != crc_of(header, offsetof(struct layout_chunk, header_crc)))
        return "the checksum of the chunk's header is wrong";
    if (header->stored_bytes > walk->limit - offset - sizeof(*header))
        return "the chunk is cut off by the end of the file";
    return NULL;
}

/* The first offset from `from` on at which the walk can continue, else the limit. */
static struct argus_error *scan(struct walk *walk, uint64_t from, uint8_t *buffer, uint64_t *ret)
{
    struct layout_chunk header;
    for (uint64_t base = from; base + sizeof(header) <= walk->limit; base += SCAN_BYTES) {
        uint64_t left = walk->limit - base;
        size_t length = left < SCAN_BYTES + sizeof(header) ? left : SCAN_BYTES + sizeof(header);
        int failed = file_read(walk->fd, buffer, length, base);
        if (failed)
            return read_failed(walk, failed);
        for (size_t i = 0; i < SCAN_BYTES && i + sizeof(header) <= length; i += LAYOUT_ALIGN) {
            memcpy(&header, buffer + i, sizeof(header));
            if (!header_misleads(walk, base + i, &header)) {
                *ret = base + i;
                return NULL;
            }
        }
    }
    *ret = walk->limit;
    return NULL;
}

static struct argus_error *step_over_damage(struct walk *walk, const char *reason,
                                            struct walk_step *ret)
{
    uint8_t *buffer = malloc(SCAN_BYTES + sizeof(struct layout_chunk));
    if (!buffer)
        return argus_error_memory();
    uint64_t next = walk->limit;
    struct argus_error *error = scan(walk, walk->at + LAYOUT_ALIGN, buffer, &next);
    free(buffer);
    if (error)
        return error;
    *ret = (struct walk_step){
        .found = WALK_DAMAGE,
        .offset_bytes = walk->at,
        .length_bytes = next - walk->at,
        .reason = reason,
    };
    walk->at = next;
    return NULL;
}

struct argus_error *walk_next(struct walk *walk, struct walk_step *ret)
{
    struct layout_chunk header;
    bool ring_is_full = walk->area_end - walk->at < sizeof(header);
    if (walk->at >= walk->limit || ring_is_full) {
        *ret = (struct walk_step){.found = WALK_END};
        return NULL;
    }
    if (walk->limit - walk->at < sizeof(header))
        return step_over_damage(walk, "the file is cut off", ret);
    int failed = file_read(walk->fd, &header, sizeof(header), walk->at);
    if (failed)
        return read_failed(walk, failed);
    const char *reason = header_misleads(walk, walk->at, &header);
    if (reason)
        return step_over_damage(walk, reason, ret);

    uint64_t extent = layout_chunk_extent(header.stored_bytes);
    if (extent > walk->limit - walk->at) /* only the padding behind the payload is cut off */
        extent = walk->limit - walk->at;
    *ret = (struct walk_step){
        .found = WALK_CHUNK,
        .offset_bytes = walk->at,
        .length_bytes = extent,
        .header = header,
    };
    walk->at += extent;
    return NULL;
}
