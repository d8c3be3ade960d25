/* Files of Android and Chrome that contain the text of ftrace:
 *
 *     systrace          a page: <script …>  # tracer: nop  …  </script>; before 2015 a string of
 *                       JavaScript, whose lines end in \n\ (systrace/systrace/systrace_agent.py)
 *     atrace -z         "TRACE:", a line end, the text compressed by zlib (cmds/atrace/atrace.cpp)
 *     Chrome (JSON)     a string: {"traceEvents": […], "systemTraceEvents": "# tracer: nop\n…"}
 *
 * The page's own code and what programs themselves recorded is not read.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats.h"
#include "ftrace_text.h"

enum { MOST_LINE_BYTES = 1 << 16, PIECE_BYTES = 1 << 16 };

/* Puts lines together from bytes. The rest of a line that is too long is dropped. */
struct lines {
    struct sink *sink;
    struct kernel_events *events;
    size_t length;
    char line[MOST_LINE_BYTES + 1];
};

static void end_line(struct lines *to)
{
    to->line[to->length] = '\0';
    if (to->length)
        ftrace_text_take_line(to->events, to->sink, to->line);
    to->length = 0;
}

static void take_byte(struct lines *to, int byte)
{
    if (byte == '\n')
        end_line(to);
    else if (to->length < MOST_LINE_BYTES)
        to->line[to->length++] = (char)byte;
}

/* The first of the bytes that is no blank; 0: none. */
static int first_sign(const unsigned char *bytes, size_t length, int *ret_next)
{
    size_t at = 0;
    while (at < length && isspace(bytes[at]))
        at++;
    *ret_next = at + 1 < length ? bytes[at + 1] : 0;
    return at < length ? bytes[at] : 0;
}

/* --- pages of systrace --- */

static const char trace_sign[] = "# tracer:";

/* Goes on behind the next line that begins the text. */
static bool find_text(FILE *page, char **line, size_t *room)
{
    while (getline(line, room, page) > 0)
        if (strstr(*line, trace_sign))
            return true;
    return false;
}

static bool is_end_of_text(const char *line)
{
    return strstr(line, "</script>") || line[0] == '"';
}

/* Of the string of JavaScript: its line ends are written as \n\ */
static void cut_escaped_end(char *line)
{
    size_t length = strcspn(line, "\r\n");
    if (length >= 3 && strncmp(line + length - 3, "\\n\\", 3) == 0)
        length -= 3;
    line[length] = '\0';
}

static struct argus_error *take_page(FILE *page, struct lines *to)
{
    char *line = NULL;
    size_t room = 0;
    while (find_text(page, &line, &room))
        while (getline(&line, &room, page) > 0 && !is_end_of_text(line) && !sink_failed(to->sink)) {
            cut_escaped_end(line);
            ftrace_text_take_line(to->events, to->sink, line);
        }
    free(line);
    return NULL;
}

static bool is_page(FILE *file, const unsigned char *bytes, size_t length)
{
    char *line = NULL;
    size_t room = 0;
    int next, first = first_sign(bytes, length, &next);
    /* "<idle>-0 …" begins a line of ftrace */
    bool found = first == '<' && next && strchr("!hH", next) && find_text(file, &line, &room);
    free(line);
    return found;
}

/* --- atrace -z --- */

static const char atrace_sign[] = "TRACE:";

/* Where the compressed text begins: behind the line with the sign, which messages may precede. 0: it
 * is none of atrace. */
static size_t atrace_start(const unsigned char *bytes, size_t length)
{
    size_t sign = sizeof(atrace_sign) - 1;
    for (size_t at = 0; at + sign + 2 < length && (isprint(bytes[at]) || isspace(bytes[at]));
         at++) {
        if (memcmp(bytes + at, atrace_sign, sign) != 0)
            continue;
        size_t start = at + sign + (bytes[at + sign] == '\r');
        return bytes[start] == '\n' && bytes[start + 1] == 0x78 ? start + 1 : 0;
    }
    return 0;
}

static bool is_atrace(FILE *file, const unsigned char *bytes, size_t length)
{
    (void)file;
    return atrace_start(bytes, length) != 0;
}

/* Text of ftrace shrinks to a tenth. What shrank far more was made to keep a reader busy. */
enum { MOST_RATIO = 100, LEAST_LIMIT = 16 << 20 };

static bool is_bomb(const z_stream *stream)
{
    return stream->total_out > (uint64_t)MOST_RATIO * stream->total_in + LEAST_LIMIT;
}

static struct argus_error *unpack(FILE *file, z_stream *stream, struct lines *to)
{
    unsigned char in[PIECE_BYTES], out[PIECE_BYTES];
    int status = Z_OK;
    while (status == Z_OK && !sink_failed(to->sink) && !is_bomb(stream)) {
        if (!stream->avail_in) {
            stream->avail_in = (uInt)fread(in, 1, sizeof(in), file);
            stream->next_in = in;
        }
        stream->avail_out = sizeof(out);
        stream->next_out = out;
        status = inflate(stream, Z_NO_FLUSH);
        for (unsigned char *byte = out; byte < stream->next_out; byte++)
            take_byte(to, *byte);
    }
    if (status == Z_STREAM_END || sink_failed(to->sink))
        return NULL;
    if (sink_last_ns(to->sink)) {
        sink_note(to->sink, "only the part before a damaged place was imported: its compressed "
                            "text is damaged or was cut off");
        return NULL;
    }
    return argus_error_create(ARGUS_ERROR_FORMAT, "its compressed text is damaged");
}

static struct argus_error *take_packed(FILE *file, struct lines *to)
{
    unsigned char bytes[4096];
    size_t start = atrace_start(bytes, fread(bytes, 1, sizeof(bytes), file));
    z_stream stream = {.zalloc = Z_NULL};
    if (!start || fseek(file, (long)start, SEEK_SET) != 0)
        return argus_error_create(ARGUS_ERROR_IO, "it has changed while it was read");
    if (inflateInit(&stream) != Z_OK)
        return argus_error_memory();
    struct argus_error *error = unpack(file, &stream, to);
    inflateEnd(&stream);
    return error;
}

/* --- Chrome's JSON --- */

static int next_sign(FILE *file)
{
    int byte = getc_unlocked(file);
    while (byte != EOF && isspace(byte))
        byte = getc_unlocked(file);
    return byte;
}

/* Goes on inside the string of this name. The name's quotes are in no other place of it, and inside a
 * string they are escaped, so the search needs no steps back. */
static bool find_string(FILE *file)
{
    static const char name[] = "\"systemTraceEvents\"";
    size_t at = 0;
    for (int byte = getc_unlocked(file); byte != EOF; byte = getc_unlocked(file)) {
        at = byte == name[at] ? at + 1 : byte == name[0];
        if (name[at])
            continue;
        at = 0;
        if (next_sign(file) == ':' && next_sign(file) == '"')
            return true;
    }
    return false;
}

static bool is_chrome(FILE *file, const unsigned char *bytes, size_t length)
{
    int next;
    return first_sign(bytes, length, &next) == '{' && find_string(file);
}

static int unescape(FILE *file)
{
    int byte = getc_unlocked(file);
    switch (byte) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'u': /* no ftrace text needs one */
        for (int i = 0; i < 4; i++)
            getc_unlocked(file);
        return '?';
    default:
        return byte;
    }
}

static struct argus_error *take_string(FILE *file, struct lines *to)
{
    int byte;
    if (!find_string(file))
        return argus_error_create(ARGUS_ERROR_IO, "it has changed while it was read");
    while ((byte = getc_unlocked(file)) != EOF && byte != '"' && !sink_failed(to->sink))
        take_byte(to, byte == '\\' ? unescape(file) : byte);
    end_line(to);
    if (!sink_last_ns(to->sink))
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "it has only what programs recorded (traceEvents): there is no "
                                  "event of the kernel in its systemTraceEvents");
    sink_note(to->sink, "the events that programs recorded (traceEvents) are not read");
    return NULL;
}

/* --- the formats --- */

static bool matches_by(bool (*is)(FILE *, const unsigned char *, size_t), const char *path,
                       const unsigned char *bytes, size_t length)
{
    FILE *file = length ? fopen(path, "rbe") : NULL;
    bool found = file && is(file, bytes, length);
    if (file)
        fclose(file);
    return found;
}

static struct argus_error *read_by(struct argus_error *(*reader)(FILE *, struct lines *),
                                   const char *path, struct sink *sink)
{
    FILE *file = fopen(path, "rbe");
    struct lines *lines = calloc(1, sizeof(*lines));
    struct argus_error *error = NULL;
    if (!file)
        error = argus_error_os(errno, "it cannot be opened");
    if (lines) {
        lines->sink = sink;
        lines->events = kernel_events_create(sink);
    }
    if (!error && (!lines || !lines->events))
        error = argus_error_memory();
    if (!error)
        error = reader(file, lines);
    if (!error) {
        end_line(lines);
        kernel_events_note_gaps(lines->events);
    }
    if (lines)
        kernel_events_destroy(lines->events);
    free(lines);
    if (file)
        fclose(file);
    return error;
}

/* The functions of a row: they open the file. */
#define WRAPPED(row, title, is, reader)                                                            \
    static bool matches_##row(const char *path, const unsigned char *bytes, size_t length)         \
    {                                                                                              \
        return matches_by(is, path, bytes, length);                                                \
    }                                                                                              \
    static struct argus_error *read_##row(const char *path, struct sink *sink)                     \
    {                                                                                              \
        return read_by(reader, path, sink);                                                        \
    }                                                                                              \
    const struct format format_##row = {title, matches_##row, read_##row};

WRAPPED(systrace, "systrace (HTML)", is_page, take_page)
WRAPPED(atrace, "atrace -z", is_atrace, take_packed)
WRAPPED(chrome, "Chrome trace (JSON)", is_chrome, take_string)
