/* Each chunk is one write at the end of the file, so if the process is killed, at most the chunk
 * being filled is lost. The order in the file: ABOUT, then each PCS followed by its REGISTERS.
 * FRAMES and EVENTS come before the PCS that contain them. IMAGES and CODE come wherever they were
 * reported. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "argus/steps.h"
#include "base/vec.h"
#include "steps/steps_layout.h"
#include "trace/bytes.h"
#include "trace/file.h"
#include "trace/pack.h"
#include "trace/varint.h"

struct column {
    struct bytes bytes;
    uint32_t count;
};

struct argus_steps_writer {
    struct argus_output output;
    uint64_t at_bytes;
    uint32_t sequence;
    uint32_t register_count, step_count, frame_count, first_frame;
    uint32_t event_step; /* of the last event */
    /* of the last step; 0 at the beginning of a chunk */
    uint64_t pc;
    /* of the last step in this chunk that had registers */
    uint64_t registers[ARGUS_STEP_REGISTERS];
    struct column columns[STEPS_CHUNK_END + 1]; /* by kind */
    struct packer packer;
};

static struct argus_error *write_at_end(struct argus_steps_writer *writer, const void *data,
                                        size_t bytes)
{
    int failed = writer->output.write(writer->output.context, data, bytes, writer->at_bytes);
    if (failed)
        return argus_error_os(failed, "cannot write the step file");
    writer->at_bytes += bytes;
    return NULL;
}

static struct argus_error *write_chunk(struct argus_steps_writer *writer, uint16_t kind,
                                       const struct bytes *payload, uint32_t count)
{
    struct steps_chunk_header header = {.kind = kind,
                                        .unpacked_bytes = (uint32_t)payload->length,
                                        .count = count,
                                        .sequence = writer->sequence};
    struct bytes packed = {0};
    enum argus_codec codec;
    if (!bytes_reserve(&packed, sizeof(header)))
        return argus_error_memory();
    packed.length = sizeof(header);
    if (payload->failed ||
        !packer_pack(&writer->packer, payload->data, payload->length, &packed, &codec)) {
        bytes_deinit(&packed);
        return argus_error_memory();
    }
    memcpy(header.magic, STEPS_CHUNK_MAGIC, sizeof(header.magic));
    header.flags = codec ? STEPS_FLAG_COMPRESSED : 0;
    header.stored_bytes = (uint32_t)(packed.length - sizeof(header));
    header.payload_crc = (uint32_t)crc32(0, packed.data + sizeof(header), header.stored_bytes);
    header.header_crc =
        (uint32_t)crc32(0, (const void *)&header, offsetof(struct steps_chunk_header, header_crc));
    memcpy(packed.data, &header, sizeof(header));
    struct argus_error *error = write_at_end(writer, packed.data, packed.length);
    bytes_deinit(&packed);
    if (!error)
        writer->sequence++;
    return error;
}

static struct argus_error *flush(struct argus_steps_writer *writer, enum steps_chunk_kind kind)
{
    struct column *column = &writer->columns[kind];
    if (!column->count)
        return NULL;
    struct argus_error *error = write_chunk(writer, (uint16_t)kind, &column->bytes, column->count);
    bytes_clear(&column->bytes);
    column->count = 0;
    return error;
}

static struct argus_error *flush_steps(struct argus_steps_writer *writer)
{
    struct argus_error *error = flush(writer, STEPS_CHUNK_FRAMES);
    if (!error)
        error = flush(writer, STEPS_CHUNK_PCS);
    if (!error)
        error = flush(writer, STEPS_CHUNK_REGISTERS);
    if (!error)
        error = flush(writer, STEPS_CHUNK_EVENTS);
    writer->pc = 0;
    memset(writer->registers, 0, sizeof(writer->registers));
    return error;
}

/* --- the beginning --- */

static struct argus_error *write_about(struct argus_steps_writer *writer,
                                       const struct argus_steps_about *about)
{
    struct bytes payload = {0};
    const uint64_t numbers[] = {about->engine, about->begin, about->vertex,  about->trace_identity,
                                about->pid,    about->tid,   about->wall_ns, about->begin_address};
    const char *const texts[] = {about->comm, about->exe, about->trace, about->begin_text};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        bytes_put_varint(&payload, numbers[i]);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        bytes_put_string(&payload, texts[i] ? texts[i] : "");
    struct argus_error *error = write_chunk(writer, STEPS_CHUNK_ABOUT, &payload, 1);
    bytes_deinit(&payload);
    return error;
}

static struct argus_error *write_header(struct argus_steps_writer *writer, enum argus_arch arch)
{
    struct steps_file_header header = {.version_major = ARGUS_STEPS_VERSION_MAJOR,
                                       .version_minor = ARGUS_STEPS_VERSION_MINOR,
                                       .header_bytes = sizeof(header),
                                       .arch = arch};
    memcpy(header.magic, STEPS_FILE_MAGIC, sizeof(header.magic));
    header.crc = (uint32_t)crc32(0, (const void *)&header, offsetof(struct steps_file_header, crc));
    return write_at_end(writer, &header, sizeof(header));
}

struct argus_error *argus_steps_writer_create_into(const struct argus_output *output,
                                                   const struct argus_steps_about *about,
                                                   struct argus_steps_writer **ret)
{
    struct argus_steps_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return argus_error_memory();
    writer->output = *output;
    writer->packer.codec = ARGUS_CODEC_ZLIB;
    writer->register_count = argus_step_register_count(about->arch);
    writer->first_frame = ARGUS_NONE;
    struct argus_error *error = write_header(writer, about->arch);
    if (!error)
        error = write_about(writer, about);
    if (error)
        argus_steps_writer_destroy(writer);
    else
        *ret = writer;
    return error;
}

struct argus_error *argus_steps_writer_create(int fd, const struct argus_steps_about *about,
                                              struct argus_steps_writer **ret)
{
    const struct argus_output output = file_output(fd);
    return argus_steps_writer_create_into(&output, about, ret);
}

void argus_steps_writer_destroy(struct argus_steps_writer *writer)
{
    if (!writer)
        return;
    for (int kind = 0; kind <= STEPS_CHUNK_END; kind++)
        bytes_deinit(&writer->columns[kind].bytes);
    packer_deinit(&writer->packer);
    free(writer);
}

/* --- steps --- */

/* Registers change little from step to step: stores a bit for each register that changed, and the
 * differences. */
static void put_registers(struct argus_steps_writer *writer, const uint64_t *registers)
{
    struct column *column = &writer->columns[STEPS_CHUNK_REGISTERS];
    uint64_t changed = 0;
    for (uint32_t i = 0; registers && i < writer->register_count; i++)
        changed |= (uint64_t)(registers[i] != writer->registers[i]) << i;
    /* bit 0: whether there are registers */
    bytes_put_varint(&column->bytes, registers ? changed << 1 | 1 : 0);
    for (uint32_t i = 0; registers && i < writer->register_count; i++) {
        if (!(changed >> i & 1))
            continue;
        bytes_put_varint(&column->bytes, zigzag(registers[i] - writer->registers[i]));
        writer->registers[i] = registers[i];
    }
    column->count++;
}

struct argus_error *argus_steps_writer_step(struct argus_steps_writer *writer, uint64_t pc,
                                            const uint64_t *registers)
{
    struct column *column = &writer->columns[STEPS_CHUNK_PCS];
    if (writer->step_count == ARGUS_STEPS_MOST)
        return argus_error_create(ARGUS_ERROR_USAGE, "a step file holds %u steps at most",
                                  ARGUS_STEPS_MOST);
    struct argus_error *error = column->count == STEPS_CHUNK_STEPS ? flush_steps(writer) : NULL;
    if (error)
        return error;
    bytes_put_varint(&column->bytes, zigzag(pc - writer->pc));
    writer->pc = pc;
    column->count++;
    put_registers(writer, registers);
    writer->step_count++;
    return NULL;
}

uint32_t argus_steps_writer_count(const struct argus_steps_writer *writer)
{
    return writer->step_count;
}

/* --- frames, events, images, code --- */

struct argus_error *argus_steps_writer_frame(struct argus_steps_writer *writer,
                                             const struct argus_step_frame *frame, uint32_t *ret)
{
    struct column *column = &writer->columns[STEPS_CHUNK_FRAMES];
    bytes_put_varint(&column->bytes, frame->return_address);
    bytes_put_varint(&column->bytes, frame->function);
    bytes_put_varint(&column->bytes, frame->caller == ARGUS_NONE ? 0 : (uint64_t)frame->caller + 1);
    column->count++;
    *ret = writer->frame_count++;
    return column->count == STEPS_CHUNK_STEPS ? flush(writer, STEPS_CHUNK_FRAMES) : NULL;
}

void argus_steps_writer_first_frame(struct argus_steps_writer *writer, uint32_t frame)
{
    writer->first_frame = frame;
}

static void put_event(struct argus_steps_writer *writer, const struct argus_step_event *event)
{
    struct bytes *to = &writer->columns[STEPS_CHUNK_EVENTS].bytes;
    bool has_arguments = event->kind == ARGUS_STEP_CALL || event->kind == ARGUS_STEP_SKIP;
    bytes_put_varint(to, event->kind);
    bytes_put_varint(to, event->step - writer->event_step);
    bytes_put_varint(to, event->frame == ARGUS_NONE ? 0 : (uint64_t)event->frame + 1);
    bytes_put_varint(to, event->returned);
    bytes_put_varint(to, event->address);
    bytes_put_varint(to, event->value);
    for (int i = 0; i < 6 && has_arguments; i++)
        bytes_put_varint(to, event->arguments[i]);
    writer->event_step = event->step;
}

struct argus_error *argus_steps_writer_event(struct argus_steps_writer *writer,
                                             const struct argus_step_event *event)
{
    struct column *column = &writer->columns[STEPS_CHUNK_EVENTS];
    struct argus_error *error = NULL;
    if (column->count == STEPS_CHUNK_STEPS)
        error = flush_steps(writer);
    put_event(writer, event);
    column->count++;
    return error;
}

struct argus_error *argus_steps_writer_image(struct argus_steps_writer *writer,
                                             const struct argus_step_image *image)
{
    struct column *column = &writer->columns[STEPS_CHUNK_IMAGES];
    uint32_t bytes = image->build_id_bytes <= STEPS_BUILD_ID_BYTES ? image->build_id_bytes : 0;
    bytes_put_varint(&column->bytes, image->start);
    bytes_put_varint(&column->bytes, image->end - image->start);
    bytes_put_varint(&column->bytes, image->file_offset);
    bytes_put_varint(&column->bytes, (uint64_t)image->executable | (uint64_t)image->writable << 1 |
                                         (uint64_t)image->stepped << 2);
    bytes_put_varint(&column->bytes, bytes);
    bytes_put(&column->bytes, image->build_id, bytes);
    bytes_put_string(&column->bytes, image->path);
    column->count++;
    return column->count == STEPS_CHUNK_STEPS ? flush(writer, STEPS_CHUNK_IMAGES) : NULL;
}

struct argus_error *argus_steps_writer_code(struct argus_steps_writer *writer, uint64_t address,
                                            const uint8_t *code, size_t bytes)
{
    struct column *column = &writer->columns[STEPS_CHUNK_CODE];
    if (bytes > STEPS_CODE_BYTES)
        return argus_error_create(ARGUS_ERROR_USAGE, "a piece of code has at most %u bytes",
                                  STEPS_CODE_BYTES);
    bytes_put_varint(&column->bytes, address);
    bytes_put_varint(&column->bytes, bytes);
    bytes_put(&column->bytes, code, bytes);
    column->count++;
    return column->bytes.length > STEPS_CHUNK_BYTES / 4 ? flush(writer, STEPS_CHUNK_CODE) : NULL;
}

struct argus_error *argus_steps_writer_end(struct argus_steps_writer *writer,
                                           enum argus_step_end end, const char *text,
                                           uint64_t elapsed_ns)
{
    struct bytes payload = {0};
    struct argus_error *error = flush_steps(writer);
    if (!error)
        error = flush(writer, STEPS_CHUNK_IMAGES);
    if (!error)
        error = flush(writer, STEPS_CHUNK_CODE);
    bytes_put_varint(&payload, end);
    bytes_put_varint(&payload, elapsed_ns);
    bytes_put_varint(&payload,
                     writer->first_frame == ARGUS_NONE ? 0 : (uint64_t)writer->first_frame + 1);
    bytes_put_string(&payload, text);
    if (!error)
        error = write_chunk(writer, STEPS_CHUNK_END, &payload, 1);
    bytes_deinit(&payload);
    return error;
}
