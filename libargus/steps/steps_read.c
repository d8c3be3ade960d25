#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/foreign_format.h"
#include "steps/steps_file.h"
#include "steps/steps_layout.h"
#include "trace/file.h"
#include "trace/pack.h"
#include "trace/reason.h"

/* The position in the file. */
struct walk {
    int fd;
    uint64_t at_bytes, file_bytes;
    uint64_t total_bytes; /* of decompressed payloads */
    uint32_t sequence;
};

static struct argus_error *damaged(const struct walk *walk, const char *reason)
{
    if (strcmp(reason, REASON_MEMORY) == 0)
        return argus_error_memory();
    return argus_error_create(ARGUS_ERROR_FORMAT, "the step file is damaged at offset %llu: %s",
                              (unsigned long long)walk->at_bytes, reason);
}

static struct argus_error *read_header(struct walk *walk, struct argus_steps *steps)
{
    struct steps_file_header header;
    size_t length = walk->file_bytes < sizeof(header) ? (size_t)walk->file_bytes : sizeof(header);
    memset(&header, 0, sizeof(header));
    int failed = file_read(walk->fd, &header, length, 0);
    if (failed)
        return argus_error_os(failed, "cannot read");
    if (memcmp(header.magic, STEPS_FILE_MAGIC, sizeof(header.magic)) != 0)
        return foreign_format_error("the file", "a step file of argus step", STEPS_FILE_MAGIC,
                                    &header, length);
    if (length < sizeof(header))
        return damaged(walk, "it is cut off inside its header");
    if ((uint32_t)crc32(0, (const void *)&header, offsetof(struct steps_file_header, crc)) !=
        header.crc)
        return damaged(walk, "the checksum of the file's header is wrong");
    if (header.version_major != ARGUS_STEPS_VERSION_MAJOR)
        return argus_error_create(ARGUS_ERROR_VERSION,
                                  "a step file of version %u, and this Argus reads version %u",
                                  header.version_major, ARGUS_STEPS_VERSION_MAJOR);
    steps->about.arch = (enum argus_arch)header.arch;
    steps->register_count = argus_step_register_count(steps->about.arch);
    if (!steps->register_count || header.header_bytes < sizeof(header))
        return damaged(walk, "an architecture or size in the file's header is not possible");
    walk->at_bytes = header.header_bytes;
    return NULL;
}

/* NULL with `*ret_more` false: the file ends here, complete or cut off. */
static const char *read_chunk_header(struct walk *walk, struct steps_chunk_header *ret,
                                     bool *ret_more)
{
    *ret_more = false;
    if (walk->at_bytes >= walk->file_bytes || walk->file_bytes - walk->at_bytes < sizeof(*ret))
        return NULL;
    if (file_read(walk->fd, ret, sizeof(*ret), walk->at_bytes))
        return "it cannot be read";
    if (memcmp(ret->magic, STEPS_CHUNK_MAGIC, sizeof(ret->magic)) != 0 ||
        (uint32_t)crc32(0, (const void *)ret, offsetof(struct steps_chunk_header, header_crc)) !=
            ret->header_crc)
        return "the header of a chunk is wrong";
    if (ret->sequence != walk->sequence)
        return "a chunk is missing";
    if (ret->unpacked_bytes > STEPS_CHUNK_BYTES || (ret->flags & ~STEPS_FLAG_COMPRESSED) ||
        ret->count > STEPS_CHUNK_BYTES ||
        (!(ret->flags & STEPS_FLAG_COMPRESSED) && ret->unpacked_bytes != ret->stored_bytes))
        return "a size in the header of a chunk is not possible";
    *ret_more = walk->file_bytes - walk->at_bytes - sizeof(*ret) >= ret->stored_bytes;
    return NULL;
}

static const char *check_total(struct walk *walk, uint32_t unpacked_bytes)
{
    walk->total_bytes += unpacked_bytes;
    bool fits = walk->total_bytes <= STEPS_LEAST_TOTAL ||
                walk->total_bytes / STEPS_TIMES_FILE <= walk->file_bytes;
    return fits ? NULL : "its chunks unpack to more than a file of this size may hold";
}

static const char *read_payload(const struct walk *walk, const struct steps_chunk_header *header,
                                uint8_t *stored, uint8_t *unpacked)
{
    if (file_read(walk->fd, stored, header->stored_bytes, walk->at_bytes + sizeof(*header)))
        return "it cannot be read";
    if ((uint32_t)crc32(0, stored, header->stored_bytes) != header->payload_crc)
        return "the checksum of a chunk is wrong";
    if (header->flags & STEPS_FLAG_COMPRESSED)
        return unpack(ARGUS_CODEC_ZLIB, stored, header->stored_bytes, unpacked,
                      header->unpacked_bytes);
    memcpy(unpacked, stored, header->stored_bytes);
    return NULL;
}

static const char *read_chunk(struct walk *walk, struct argus_steps *steps,
                              const struct steps_chunk_header *header)
{
    const char *reason = check_total(walk, header->unpacked_bytes);
    if (reason)
        return reason;
    uint8_t *stored = malloc((size_t)header->stored_bytes + 1);
    uint8_t *unpacked = calloc(1, (size_t)header->unpacked_bytes + VARINT_SLACK);
    reason = stored && unpacked ? read_payload(walk, header, stored, unpacked) : REASON_MEMORY;
    if (!reason) {
        struct steps_payload payload = {.count = header->count,
                                        .cursor = {.payload = unpacked,
                                                   .end = header->unpacked_bytes,
                                                   .strings = steps->strings}};
        reason = steps_take(steps, header->kind, &payload);
    }
    free(unpacked);
    free(stored);
    return reason;
}

static struct argus_error *read_chunks(struct walk *walk, struct argus_steps *steps)
{
    struct steps_chunk_header header;
    bool more = true;
    while (more) {
        const char *reason = read_chunk_header(walk, &header, &more);
        if (!reason && more && walk->sequence == 0 && header.kind != STEPS_CHUNK_ABOUT)
            reason = "the first chunk does not say what was stepped";
        if (!reason && more)
            reason = read_chunk(walk, steps, &header);
        if (reason)
            return damaged(walk, reason);
        if (!more)
            break;
        walk->at_bytes += sizeof(header) + header.stored_bytes;
        walk->sequence++;
    }
    const char *reason = walk->sequence ? steps_finish(steps) : "it ends before its first chunk";
    return reason ? damaged(walk, reason) : NULL;
}

static struct argus_error *read_all(int fd, struct argus_steps *steps)
{
    struct stat status;
    struct walk walk = {.fd = fd};
    if (fstat(fd, &status) < 0)
        return argus_error_os(errno, "cannot read");
    if (!S_ISREG(status.st_mode))
        return argus_error_create(ARGUS_ERROR_FORMAT, "not an Argus step file");
    walk.file_bytes = (uint64_t)status.st_size;
    struct argus_error *error = read_header(&walk, steps);
    return error ? error : read_chunks(&walk, steps);
}

static struct argus_steps *steps_create(const char *path)
{
    struct argus_steps *steps = calloc(1, sizeof(*steps));
    if (!steps)
        return NULL;
    steps->path = strdup(path);
    steps->strings = strtab_create();
    steps->first_frame = ARGUS_NONE;
    steps->cached = SIZE_MAX;
    steps->end_text = "";
    if (steps->path && steps->strings)
        return steps;
    argus_steps_close(steps);
    return NULL;
}

struct argus_error *argus_steps_open(const char *path, struct argus_steps **ret)
{
    /* Opening a FIFO would block forever. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return argus_error_os(errno, "cannot open %s", path);
    struct argus_steps *steps = steps_create(path);
    struct argus_error *error = steps ? read_all(fd, steps) : argus_error_memory();
    close(fd);
    if (!error) {
        *ret = steps;
        return NULL;
    }
    argus_steps_close(steps);
    return argus_error_context(error, "%s", path);
}

void argus_steps_close(struct argus_steps *steps)
{
    if (!steps)
        return;
    for (size_t i = 0; i < steps->registers.length; i++)
        free(steps->registers.data[i].payload);
    vec_deinit(&steps->pcs);
    vec_deinit(&steps->events);
    vec_deinit(&steps->frames);
    vec_deinit(&steps->images);
    vec_deinit(&steps->code);
    vec_deinit(&steps->code_bytes);
    vec_deinit(&steps->registers);
    strtab_destroy(steps->strings);
    free(steps->rows);
    free(steps->row_is_there);
    free(steps->path);
    free(steps);
}
