#include "report/json_stream.h"

#include <string.h>

#define MEMBER_INDENT  "  "
#define ELEMENT_INDENT "    "

static void flush(struct json_stream *stream)
{
    if (!stream->closed && stream->pending_bytes)
        stream->closed =
            !stream->sink->write(stream->sink->context, stream->pending, stream->pending_bytes);
    stream->pending_bytes = 0;
}

static bool write_text(struct json_stream *stream, const char *text, size_t bytes)
{
    while (!stream->failed && !stream->closed && bytes) {
        size_t room = sizeof(stream->pending) - stream->pending_bytes;
        size_t part = bytes < room ? bytes : room;
        memcpy(stream->pending + stream->pending_bytes, text, part);
        stream->pending_bytes += part;
        text += part;
        bytes -= part;
        if (part == room)
            flush(stream);
    }
    return !stream->failed && !stream->closed;
}

static bool write_word(struct json_stream *stream, const char *text)
{
    return write_text(stream, text, strlen(text));
}

/* Where a value is written that has lines of its own. */
struct indented {
    struct json_stream *stream;
    const char *indent;
};

/* Inside strings JSON escapes ends of lines. */
static int write_piece(const char *text, size_t bytes, void *context)
{
    const struct indented *to = context;
    const char *end = text + bytes, *line;
    while ((line = memchr(text, '\n', (size_t)(end - text)))) {
        write_text(to->stream, text, (size_t)(line + 1 - text));
        write_word(to->stream, to->indent);
        text = line + 1;
    }
    return write_text(to->stream, text, (size_t)(end - text)) ? 0 : -1;
}

static bool write_value(struct json_stream *stream, json_t *value, const char *indent)
{
    struct indented to = {stream, indent};
    if (!json_is_whole(value))
        stream->failed = true;
    else if (json_dump_callback(value, write_piece, &to, JSON_FORM | JSON_ENCODE_ANY) != 0)
        stream->failed = !stream->closed;
    json_decref(value);
    return !stream->failed && !stream->closed;
}

static void begin_member(struct json_stream *stream, const char *key)
{
    write_word(stream, stream->has_member ? ",\n" MEMBER_INDENT "\"" : "\n" MEMBER_INDENT "\"");
    write_word(stream, key);
    write_word(stream, "\": ");
    stream->has_member = true;
}

void json_stream_begin(struct json_stream *stream, const struct argus_sink *sink,
                       const char *format)
{
    *stream = (struct json_stream){.sink = sink};
    write_word(stream, "{");
    json_stream_put(stream, "format", json_text(format));
}

bool json_stream_put(struct json_stream *stream, const char *key, json_t *value)
{
    begin_member(stream, key);
    return write_value(stream, value, MEMBER_INDENT);
}

void json_stream_list(struct json_stream *stream, const char *key)
{
    begin_member(stream, key);
    write_word(stream, "[");
    stream->has_element = false;
}

bool json_stream_add(struct json_stream *stream, json_t *element)
{
    write_word(stream, stream->has_element ? ",\n" ELEMENT_INDENT : "\n" ELEMENT_INDENT);
    stream->has_element = true;
    return write_value(stream, element, ELEMENT_INDENT);
}

void json_stream_list_end(struct json_stream *stream)
{
    write_word(stream, stream->has_element ? "\n" MEMBER_INDENT "]" : "]");
}

struct argus_error *json_stream_end(struct json_stream *stream)
{
    write_word(stream, "\n}\n");
    flush(stream);
    return stream->failed ? argus_error_memory() : NULL;
}
