/* Files of perf record. */
#include "perf_data.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats.h"

/* tools/perf/util/header.h */
struct file_header {
    char magic[8];
    uint64_t header_bytes, attr_bytes;
    struct perf_section attrs, data, event_types;
    uint64_t features[4];
};

enum { LEAST_ATTR_BYTES = PERF_ATTR_SIZE_VER0, MOST_ATTRS = 65536, MOST_IDS = 1 << 22 };

struct argus_error *perf_error(uint64_t offset, const char *reason)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "offset %" PRIu64 ": %s", offset, reason);
}

struct argus_error *perf_read(const struct perf_file *perf, uint64_t offset, void *to, size_t bytes)
{
    if (offset > perf->file_bytes || bytes > perf->file_bytes - offset)
        return perf_error(offset, "the file ends before that");
    if (fseeko(perf->file, (off_t)offset, SEEK_SET) || fread(to, 1, bytes, perf->file) != bytes)
        return perf_error(offset, "it cannot be read");
    return NULL;
}

static bool matches(const char *path, const unsigned char *bytes, size_t length)
{
    (void)path;
    return length >= 8 && (memcmp(bytes, "PERFILE2", 8) == 0 || memcmp(bytes, "2ELIFREP", 8) == 0);
}

/* --- the header --- */

static uint64_t word_at(const uint8_t *bytes, size_t length, size_t at)
{
    uint64_t value = 0;
    if (at + sizeof(value) <= length)
        memcpy(&value, bytes + at, sizeof(value));
    return value;
}

/* A struct perf_event_attr may be shorter or longer than the one of this kernel. */
static struct perf_attr attr_of(const uint8_t *bytes, size_t length)
{
    enum { FLAGS_AT = 40, INHERIT = 1, SAMPLE_ID_ALL = 18 };
    uint64_t kind = word_at(bytes, length, 0);
    return (struct perf_attr){
        .type = (uint32_t)kind,
        .config = word_at(bytes, length, offsetof(struct perf_event_attr, config)),
        .sample_type = word_at(bytes, length, offsetof(struct perf_event_attr, sample_type)),
        .read_format = word_at(bytes, length, offsetof(struct perf_event_attr, read_format)),
        .has_trailer = word_at(bytes, length, FLAGS_AT) >> SAMPLE_ID_ALL & 1,
        .is_of_threads = word_at(bytes, length, FLAGS_AT) >> INHERIT & 1,
        .branch_type = word_at(bytes, length, offsetof(struct perf_event_attr, branch_sample_type)),
        .user_registers =
            word_at(bytes, length, offsetof(struct perf_event_attr, sample_regs_user)),
        .user_stack_bytes =
            (uint32_t)word_at(bytes, length, offsetof(struct perf_event_attr, sample_stack_user)),
    };
}

static struct argus_error *add_id(struct perf_file *perf, const uint8_t *at, uint32_t number)
{
    uint64_t id;
    memcpy(&id, at, sizeof(id));
    return idmap_put(&perf->attr_of_id, id, number) ? NULL : argus_error_memory();
}

struct argus_error *perf_add_attr(struct perf_file *perf, const uint8_t *attr, size_t attr_bytes,
                                  const uint8_t *ids, size_t id_count)
{
    struct argus_error *error = NULL;
    perf->id_count += id_count;
    if (perf->attrs.length >= MOST_ATTRS || perf->id_count > MOST_IDS)
        return perf_error(0, "it lists too many events");
    if (!vec_push(&perf->attrs, attr_of(attr, attr_bytes)))
        return argus_error_memory();
    for (size_t i = 0; i < id_count && !error; i++)
        error = add_id(perf, ids + 8 * i, (uint32_t)perf->attrs.length - 1);
    return error;
}

static struct argus_error *read_ids(struct perf_file *perf, struct perf_section ids,
                                    uint32_t number)
{
    struct argus_error *error = NULL;
    perf->id_count += ids.bytes / 8; /* those of several events could overlap in a hostile file */
    if (perf->id_count > MOST_IDS || perf->id_count > perf->file_bytes / 8)
        return perf_error(ids.offset, "its events have too many ids");
    for (uint64_t at = 0; at + 8 <= ids.bytes && !error; at += 8) {
        uint64_t id;
        error = perf_read(perf, ids.offset + at, &id, sizeof(id));
        if (!error && !idmap_put(&perf->attr_of_id, id, number))
            error = argus_error_memory();
    }
    return error;
}

static struct argus_error *read_attr(struct perf_file *perf, uint64_t offset, uint64_t bytes)
{
    uint8_t buffer[4096];
    struct perf_section ids;
    size_t attr_bytes = (size_t)bytes - sizeof(ids);
    struct argus_error *error = perf_read(perf, offset, buffer, (size_t)bytes);
    if (error)
        return error;
    memcpy(&ids, buffer + attr_bytes, sizeof(ids));
    if (!vec_push(&perf->attrs, attr_of(buffer, attr_bytes)))
        return argus_error_memory();
    return read_ids(perf, ids, (uint32_t)perf->attrs.length - 1);
}

static struct argus_error *read_attrs(struct perf_file *perf, const struct file_header *header)
{
    struct argus_error *error = NULL;
    if (header->attr_bytes < LEAST_ATTR_BYTES + sizeof(struct perf_section) ||
        header->attr_bytes > 4096 || header->attrs.bytes / header->attr_bytes > MOST_ATTRS)
        return perf_error(16, "the size of its events' attributes is impossible");
    for (uint64_t at = 0; at + header->attr_bytes <= header->attrs.bytes && !error;
         at += header->attr_bytes)
        error = read_attr(perf, header->attrs.offset + at, header->attr_bytes);
    if (!error && !perf->attrs.length)
        error = perf_error(header->attrs.offset, "it lists no events");
    return error;
}

static struct argus_error *read_header(struct perf_file *perf)
{
    struct file_header header;
    struct argus_error *error = perf_read(perf, 0, &header, 16);
    if (!error && memcmp(header.magic, "PERFILE2", 8) != 0)
        return perf_error(0, "it was recorded by a machine of the other byte order");
    if (!error && header.header_bytes == 16) {
        perf->is_pipe = true;
        perf->data = (struct perf_section){16, perf->file_bytes - 16};
        return NULL;
    }
    if (!error)
        error = perf_read(perf, 0, &header, sizeof(header));
    if (error)
        return error;
    perf->data = header.data;
    memcpy(perf->features, header.features, sizeof(perf->features));
    return read_attrs(perf, &header);
}

/* --- records --- */

/* Whether the event `from` or one after it is the tracepoint sched_switch. */
static bool has_switches(const struct perf_file *perf, size_t from)
{
    for (size_t i = from; i < perf->attrs.length; i++) {
        const struct perf_attr *attr = &perf->attrs.data[i];
        const struct tep_event *event = attr->type == PERF_TYPE_TRACEPOINT
                                            ? tep_find_event(perf->tep, (int)attr->config)
                                            : NULL;
        if (event && strcmp(event->name, "sched_switch") == 0)
            return true;
    }
    return false;
}

/* Adds to `*at` what behind the record belongs to it. */
static struct argus_error *take_record(struct perf_file *perf, const uint8_t *record, size_t bytes,
                                       uint64_t *at)
{
    uint64_t skip, offset = *at;
    size_t events = perf->attrs.length;
    bool had_names = perf->has_names;
    struct argus_error *error = perf_take_stream_record(perf, record, bytes, offset, &skip);
    if (error)
        return error;
    if (skip > perf->file_bytes - offset)
        return perf_error(offset, "the file ends within what belongs to a record");
    *at += skip;
    if (!perf->has_switches) /* the names come once, mostly behind the events */
        perf->has_switches = has_switches(perf, perf->has_names != had_names ? 0 : events);
    return perf_take_record(perf, record, bytes, offset);
}

static struct argus_error *read_records(struct perf_file *perf)
{
    static uint8_t record[1 << 16];
    struct perf_event_header header;
    struct argus_error *error = NULL;
    /* a killed perf leaves 0 there: all up to the end of the file are records */
    uint64_t end = perf->data.bytes ? perf->data.offset + perf->data.bytes : perf->file_bytes;
    if (end < perf->data.offset)
        return perf_error(40, "the size of its records is impossible");
    for (uint64_t at = perf->data.offset; at + sizeof(header) <= end && !sink_failed(perf->sink);
         at += header.size) {
        error = perf_read(perf, at, &header, sizeof(header));
        if (!error && (header.size < sizeof(header) || header.size > end - at))
            error = perf_error(at, "a record has an impossible size");
        if (!error)
            error = perf_read(perf, at, record, header.size);
        if (!error)
            error = take_record(perf, record, header.size, &at);
        if (error)
            break;
    }
    return error;
}

/* What was read before an error is kept, and the error is said. */
static struct argus_error *read_body(struct perf_file *perf)
{
    struct argus_error *error = perf_read_features(perf);
    if (error)
        return error;
    perf->has_switches = has_switches(perf, 0);
    error = read_records(perf);
    if (error && error->code == ARGUS_ERROR_FORMAT) {
        sink_note(perf->sink, "only the part before a damaged place was imported: %s",
                  error->message);
        argus_error_destroy(error);
        error = NULL;
    }
    kernel_events_note_gaps(perf->events);
    if (perf->has_switches && perf->attrs.data[0].is_of_threads)
        sink_note(perf->sink,
                  "perf recorded some processes alone: which thread was switched to one "
                  "of theirs, and when, is not known; it is with \"perf record -a\"");
    return error;
}

static struct argus_error *open_file(struct perf_file *perf)
{
    struct stat status;
    perf->file = fopen(perf->path, "rbe");
    if (!perf->file || fstat(fileno(perf->file), &status))
        return argus_error_create(ARGUS_ERROR_IO, "it cannot be opened");
    perf->file_bytes = (uint64_t)status.st_size;
    perf->tep = tep_alloc();
    perf->events = kernel_events_create(perf->sink);
    return perf->tep && perf->events ? NULL : argus_error_memory();
}

static struct argus_error *read_file(const char *path, struct sink *sink)
{
    struct perf_file perf = {.path = path, .sink = sink};
    struct argus_error *error = open_file(&perf);
    if (!error)
        error = read_header(&perf);
    if (!error)
        error = read_body(&perf);
    if (perf.file)
        fclose(perf.file);
    perf_unpacker_destroy(perf.unpacker);
    tep_free(perf.tep);
    kernel_events_destroy(perf.events);
    vec_deinit(&perf.attrs);
    idmap_deinit(&perf.attr_of_id);
    return error;
}

const struct format format_perf_data = {"perf.data", matches, read_file, false};
