#include "export/pprof_writer.h"

#include <string.h>

/* Numbers of the fields. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION };
enum { PROFILE_STRING = 6, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS = 10, PROFILE_DEFAULT = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* --- the encoding --- */

static void put_varint(struct pprof_message *message, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        message->failed |= !vec_push(&message->bytes, byte);
        value >>= 7;
    } while (value);
}

static void put_number(struct pprof_message *message, int field, uint64_t value)
{
    put_varint(message, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(message, value);
}

static void put_bytes(struct pprof_message *message, int field, const void *bytes, size_t length)
{
    put_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(message, length);
    if (length && !vec_reserve(&message->bytes, length)) {
        message->failed = true;
        return;
    }
    if (length)
        memcpy(message->bytes.data + message->bytes.length, bytes, length);
    message->bytes.length += length;
}

/* Puts `inner` into `outer`, and empties it. */
static void put_message(struct pprof_message *outer, int field, struct pprof_message *inner)
{
    put_bytes(outer, field, inner->bytes.data, inner->bytes.length);
    outer->failed |= inner->failed;
    inner->bytes.length = 0;
}

/* Writes what is in `message`. */
static void flush(struct pprof_writer *writer)
{
    struct pprof_message *message = &writer->message;
    const struct argus_sink *sink = &writer->packed.sink;
    writer->failed |= message->failed;
    if (!writer->failed && !writer->closed)
        writer->closed =
            !sink->write(sink->context, (const char *)message->bytes.data, message->bytes.length);
    message->bytes.length = 0;
}

/* --- the parts --- */

struct argus_error *pprof_init(struct pprof_writer *ret, const struct argus_sink *to,
                               struct strtab *texts)
{
    *ret = (struct pprof_writer){.texts = texts};
    return gzip_sink_init(&ret->packed, to);
}

uint32_t pprof_text(struct pprof_writer *writer, const char *text)
{
    uint32_t number = 0;
    struct argus_error *error = strtab_intern(writer->texts, text, strlen(text), &number);
    writer->failed |= error != NULL;
    argus_error_destroy(error);
    return number;
}

void pprof_add_type(struct pprof_writer *writer, const char *type, const char *unit)
{
    put_number(&writer->inner, TYPE_TYPE, pprof_text(writer, type));
    put_number(&writer->inner, TYPE_UNIT, pprof_text(writer, unit));
    put_message(&writer->message, PROFILE_TYPE, &writer->inner);
    flush(writer);
}

void pprof_choose_type(struct pprof_writer *writer, const char *type)
{
    put_number(&writer->message, PROFILE_DEFAULT, pprof_text(writer, type));
    flush(writer);
}

void pprof_add_time(struct pprof_writer *writer, uint64_t wall_ns, uint64_t length_ns)
{
    put_number(&writer->message, PROFILE_TIME_NS, wall_ns);
    put_number(&writer->message, PROFILE_DURATION_NS, length_ns);
    flush(writer);
}

/* --- samples --- */

void pprof_add_frame_of_sample(struct pprof_writer *writer, uint32_t frame)
{
    put_number(&writer->sample, SAMPLE_LOCATION, (uint64_t)frame + 1);
}

void pprof_add_value(struct pprof_writer *writer, int64_t value)
{
    put_number(&writer->sample, SAMPLE_VALUE, (uint64_t)value);
}

void pprof_add_label(struct pprof_writer *writer, const char *key, const char *text,
                     uint64_t number)
{
    put_number(&writer->inner, LABEL_KEY, pprof_text(writer, key));
    if (text)
        put_number(&writer->inner, LABEL_TEXT, pprof_text(writer, text));
    else
        put_number(&writer->inner, LABEL_NUMBER, number);
    put_message(&writer->sample, SAMPLE_LABEL, &writer->inner);
}

void pprof_end_sample(struct pprof_writer *writer)
{
    put_message(&writer->message, PROFILE_SAMPLE, &writer->sample);
    flush(writer);
}

/* --- frames --- */

/* A file is one mapping; 0: the frame is in none. */
static uint32_t put_mapping(struct pprof_writer *writer, uint32_t image)
{
    uint32_t number = image ? idmap_get(&writer->mappings, image) : 0;
    if (number != IDMAP_NONE)
        return number;
    number = (uint32_t)writer->mappings.count + 1;
    writer->failed |= !idmap_put(&writer->mappings, image, number);
    put_number(&writer->inner, MAPPING_ID, number);
    put_number(&writer->inner, MAPPING_FILE, image);
    put_number(&writer->inner, MAPPING_HAS_FUNCTIONS, 1);
    put_message(&writer->message, PROFILE_MAPPING, &writer->inner);
    return number;
}

/* A frame is a location and a function, with its number plus 1. */
void pprof_add_frame(struct pprof_writer *writer, uint32_t frame, uint32_t name, uint32_t image)
{
    uint64_t number = (uint64_t)frame + 1;
    uint32_t mapping = put_mapping(writer, image);
    struct pprof_message *location = &writer->sample; /* no sample is being written */
    put_number(&writer->inner, FUNCTION_ID, number);
    put_number(&writer->inner, FUNCTION_NAME, name);
    put_number(&writer->inner, FUNCTION_SYSTEM_NAME, name);
    put_message(&writer->message, PROFILE_FUNCTION, &writer->inner);
    put_number(location, LOCATION_ID, number);
    if (mapping)
        put_number(location, LOCATION_MAPPING, mapping);
    put_number(&writer->inner, LINE_FUNCTION, number);
    put_message(location, LOCATION_LINE, &writer->inner);
    put_message(&writer->message, PROFILE_LOCATION, location);
    flush(writer);
}

/* --- the end --- */

/* Last, because the parts before add texts. */
static void put_texts(struct pprof_writer *writer)
{
    for (uint32_t i = 0; i < strtab_count(writer->texts) && !writer->failed; i++) {
        const char *text = strtab_get(writer->texts, i);
        put_bytes(&writer->message, PROFILE_STRING, text, strlen(text));
        flush(writer);
    }
}

struct argus_error *pprof_end(struct pprof_writer *writer)
{
    put_texts(writer);
    gzip_sink_end(&writer->packed);
    vec_deinit(&writer->message.bytes);
    vec_deinit(&writer->sample.bytes);
    vec_deinit(&writer->inner.bytes);
    idmap_deinit(&writer->mappings);
    return writer->failed ? argus_error_memory() : NULL;
}
