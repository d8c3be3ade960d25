/* Writes chunks of stack snapshots, and replaces them with the stacks that they were unwound to.
 *
 * The stacks are written in place of the snapshots, not at the file's end. This works in a ring
 * file too, and leaves nothing of the recorded programs' memory. The stacks fit, because a frame
 * comes from eight bytes of a copied stack and compresses better. The rest of the space becomes a
 * padding chunk. Since a padding chunk needs at least a header, each chunk of snapshots is written
 * with an empty padding chunk behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/file.h"
#include "trace/reader.h"
#include "trace/writer.h"

/* --- writing --- */

struct argus_error *argus_writer_encrypt(struct argus_writer *writer,
                                         const struct argus_snapshot_key *key)
{
    if (!cipher_nonces_init(&writer->nonces))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "cannot encrypt the copies of stacks: this build has no cipher, "
                                  "or the kernel no random numbers");
    writer->key = *key;
    return NULL;
}

/* Sets `payload` to that of an encrypted chunk; false without memory. */
static bool encrypt(struct argus_writer *writer, struct bytes *payload)
{
    static const uint8_t zeros[sizeof(struct cipher_head)];
    enum argus_codec codec;
    bytes_clear(payload);
    bytes_put(payload, zeros, sizeof(zeros));
    if (!packer_pack(&writer->packer, writer->snapshots.data, writer->snapshots.length, payload,
                     &codec))
        return false;
    size_t packed = payload->length - sizeof(zeros);
    bytes_put(payload, zeros, CIPHER_TAG_BYTES);
    struct cipher_head head = {.codec = codec,
                               .unpacked_bytes = (uint32_t)writer->snapshots.length};
    if (payload->failed ||
        !cipher_encrypt(&writer->key, &writer->nonces, &head, payload->data + sizeof(head), packed))
        return false;
    memcpy(payload->data, &head, sizeof(head));
    return true;
}

struct argus_error *writer_flush_snapshots(struct argus_writer *writer)
{
    if (!writer->snapshot_count)
        return NULL;
    bool is_encrypted = argus_snapshot_key_is_set(&writer->key);
    struct bytes *payload = is_encrypted ? &writer->payload : &writer->snapshots;
    if (is_encrypted && !encrypt(writer, payload))
        return argus_error_memory();
    struct chunk_head head = {
        .kind = is_encrypted ? ARGUS_CHUNK_ENCRYPTED : ARGUS_CHUNK_SNAPSHOTS,
        .count = writer->snapshot_count,
        .cpu = ARGUS_CPU_MIXED,
        .first_ticks = writer->latest_ticks,
        .last_ticks = writer->latest_ticks,
    };
    struct argus_error *error = writer_put_chunk(writer, &head, payload);
    if (!error) {
        bytes_clear(&writer->snapshots);
        writer->snapshot_count = 0;
    }
    return error;
}

static void put_snapshot(struct bytes *payload, const struct argus_snapshot *snapshot)
{
    bytes_put(payload, &snapshot->id, sizeof(snapshot->id));
    bytes_put_varint(payload, snapshot->pid);
    bytes_put_varint(payload, snapshot->tid);
    bytes_put_varint(payload, snapshot->ticks);
    bytes_put_varint(payload, snapshot->end);
    bytes_put_varint(payload, snapshot->register_count);
    for (uint32_t i = 0; i < snapshot->register_count; i++)
        bytes_put_varint(payload, snapshot->registers[i]);
    bytes_put_varint(payload, snapshot->stack_bytes);
    bytes_put(payload, snapshot->stack, snapshot->stack_bytes);
}

struct argus_error *argus_writer_snapshot(struct argus_writer *writer,
                                          const struct argus_snapshot *snapshot)
{
    if (snapshot->id == 0 || snapshot->register_count > ARGUS_SNAPSHOT_REGISTERS)
        return argus_error_create(ARGUS_ERROR_USAGE, "a snapshot has an id, and %u registers",
                                  ARGUS_SNAPSHOT_REGISTERS);
    if (idmap_get(&writer->stacks_written, snapshot->id) != IDMAP_NONE)
        return NULL;
    if (writer->snapshots.length >= writer_table_bytes(writer)) {
        struct argus_error *error = writer_flush_snapshots(writer);
        if (error)
            return error;
    }
    size_t before = writer->snapshots.length;
    put_snapshot(&writer->snapshots, snapshot);
    if (writer->snapshots.failed || !idmap_put(&writer->stacks_written, snapshot->id, 0)) {
        writer->snapshots.length = before;
        writer->snapshots.failed = false;
        return argus_error_memory();
    }
    writer->snapshot_count++;
    return NULL;
}

/* --- replacing --- */

/* Finds the stacks of the first `count` snapshots; returns how many were found. */
static uint32_t put_stacks(const struct argus_trace *trace, const struct argus_snapshots *snapshots,
                           size_t count, struct bytes *payload)
{
    uint32_t put = 0;
    bytes_clear(payload);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *frames;
        size_t depth = argus_trace_stack(trace, snapshots->entries[i].id, &frames);
        if (depth)
            writer_put_stack(payload, snapshots->entries[i].id, frames, depth);
        put += depth != 0;
    }
    return put;
}

/* Whether a chunk of `bytes` fills `extent` exactly, or leaves enough for a padding chunk. */
static bool leaves_room(uint64_t bytes, uint64_t extent)
{
    return bytes == extent || bytes + sizeof(struct layout_chunk) <= extent;
}

/* Sets writer->image to the replacement of `chunk`, `extent` bytes long. */
static bool make_replacement(struct argus_writer *writer, const struct argus_trace *trace,
                             const struct argus_chunk *chunk, uint64_t extent,
                             const struct argus_snapshots *snapshots, uint32_t *ret_kept)
{
    struct chunk_head head = {
        .kind = ARGUS_CHUNK_STACKS,
        .cpu = ARGUS_CPU_MIXED,
        .first_ticks = chunk->first_ticks,
        .last_ticks = chunk->last_ticks,
    };
    struct bytes *image = &writer->image;
    size_t count = snapshots->count;
    do { /* stacks that do not fit have never been seen, but a crafted file could have them */
        head.count = put_stacks(trace, snapshots, count, &writer->payload);
        if (writer->payload.failed ||
            !chunk_image_pack(&writer->packer, &head, &writer->payload, image))
            return false;
    } while (!leaves_room(image->length, extent) && count-- > 0);
    *ret_kept = head.count;
    if (head.count == 0)
        bytes_clear(image);
    else
        chunk_image_number(image, chunk->sequence);
    size_t filled = image->length;
    uint8_t *rest = filled < extent ? bytes_reserve(image, extent - filled) : NULL;
    if (filled < extent && !rest)
        return false;
    if (rest) {
        struct layout_chunk padding = chunk_padding(extent - filled);
        memset(rest, 0, extent - filled);
        memcpy(rest, &padding, sizeof(padding));
        image->length = extent;
    }
    return true;
}

/* Punches a hole for the zeros behind the stacks, if the file system supports that. */
static void punch_hole(int fd, uint64_t from, uint64_t to)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    int saved = errno;
    if (to > from && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                               (off_t)(to - from)) < 0)
        errno = saved; /* not an error: the zeros then take space */
#else
    (void)fd, (void)from, (void)to;
#endif
}

/* The chunk's length in the file, with the empty padding chunk behind it if that still exists. */
static uint64_t extent_in_file(const struct argus_trace *trace, const struct argus_chunk *chunk)
{
    uint64_t extent = layout_chunk_extent(chunk->stored_bytes);
    uint64_t rest = argus_trace_file_bytes(trace) - chunk->offset_bytes;
    struct layout_chunk behind, empty = chunk_padding(sizeof(empty));
    if (extent > rest)
        return rest; /* the padding of the last chunk may be cut off */
    bool follows = file_read(trace->fd, &behind, sizeof(behind), chunk->offset_bytes + extent) == 0;
    return follows && memcmp(&behind, &empty, sizeof(empty)) == 0 ? extent + sizeof(empty) : extent;
}

static struct argus_error *replace_chunk(struct argus_writer *writer,
                                         const struct argus_trace *trace,
                                         const struct argus_chunk *chunk, uint64_t *lost)
{
    struct argus_snapshots snapshots = {0};
    struct argus_error *error = argus_trace_read_snapshots(trace, chunk, &snapshots);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) {
        *lost += chunk->count;
        argus_error_destroy(error); /* nobody can read it, and whoever finds the key needs it */
        return NULL;
    }
    if (error && error->code != ARGUS_ERROR_FORMAT)
        return error;
    /* a damaged chunk is removed too, because it also contains memory */
    argus_error_destroy(error);
    uint64_t extent = extent_in_file(trace, chunk);
    uint32_t kept = 0;
    bool made = make_replacement(writer, trace, chunk, extent, &snapshots, &kept);
    *lost += chunk->count - kept;
    argus_snapshots_deinit(&snapshots);
    if (!made)
        return argus_error_memory();
    int failed =
        file_write(writer->fd, writer->image.data, writer->image.length, chunk->offset_bytes);
    if (failed)
        return argus_error_os(failed, WRITER_UNWRITABLE, chunk->offset_bytes);
    uint64_t used =
        kept ? layout_chunk_extent(
                   ((const struct layout_chunk *)(const void *)writer->image.data)->stored_bytes)
             : 0;
    punch_hole(writer->fd, chunk->offset_bytes + used + sizeof(struct layout_chunk),
               chunk->offset_bytes + extent);
    return NULL;
}

struct argus_error *argus_snapshots_replace(int fd, const struct argus_trace *trace,
                                            uint64_t *ret_lost)
{
    struct argus_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return argus_error_memory();
    writer->fd = fd;
    writer->packer.codec = trace->codec; /* so that stacks do not get longer than their snapshots */
    *ret_lost = 0;
    struct argus_error *error = NULL;
    for (size_t i = 0; i < trace->snapshot_chunks.length && !error; i++)
        error = replace_chunk(writer, trace, &trace->snapshot_chunks.data[i], ret_lost);
    argus_writer_destroy(writer);
    return error;
}
