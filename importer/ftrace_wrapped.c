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
    bool has_events; /* also of kinds that Argus does not use */
    uint32_t high;   /* the first half of a surrogate pair; 0: none */
    size_t length;
    char line[MOST_LINE_BYTES + 1];
};

static void take_line(struct lines *to, char *line)
{
    to->has_events |= ftrace_text_take_line(to->events, to->sink, line);
}

static void end_line(struct lines *to)
{
    to->line[to->length] = '\0';
    if (to->length)
        take_line(to, to->line);
    to->length = 0;
}

static void take_byte(struct lines *to, int byte)
{
    to->high = 0;
    if (byte == '\n')
        end_line(to);
    else if (to->length < MOST_LINE_BYTES)
        to->line[to->length++] = (char)byte;
}

/* The end of a text whose rest is missing; its last line may be incomplete and is dropped. An error
 * if nothing came before. */
static struct argus_error *end_early(struct lines *to, const char *reason)
{
    to->length = 0;
    if (!to->has_events)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s", reason);
    sink_note(to->sink, "only the part before a damaged place was imported: %s", reason);
    return NULL;
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

/* Behind a tag <script …> at the beginning of the line, and blanks. */
static const char *skip_tag(const char *line)
{
    const char *at = line + strspn(line, " \t");
    const char *end = strncmp(at, "<script", 7) == 0 ? strchr(at, '>') : NULL;
    return end ? end + 1 + strspn(end + 1, " \t") : at;
}

/* Whether the text begins in this line, perhaps behind <script …> and var NAME = " */
static bool begins_text(const char *line)
{
    const char *at = skip_tag(line);
    const char *quote = *at == '"' || strncmp(at, "var ", 4) == 0 ? strchr(at, '"') : NULL;
    return strncmp(quote ? quote + 1 : at, trace_sign, sizeof(trace_sign) - 1) == 0;
}

/* Goes on behind the next line that begins the text. */
static bool find_text(FILE *page, char **line, size_t *room)
{
    while (getline(line, room, page) > 0)
        if (begins_text(*line))
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

/* False: the page ends inside the text. */
static bool take_text(FILE *page, char **line, size_t *room, struct lines *to)
{
    ssize_t length;
    while ((length = getline(line, room, page)) > 0 && !sink_failed(to->sink)) {
        if (is_end_of_text(*line))
            return true;
        if ((*line)[length - 1] != '\n') /* its last line, which may be incomplete */
            return false;
        cut_escaped_end(*line);
        take_line(to, *line);
    }
    return sink_failed(to->sink);
}

static struct argus_error *take_page(FILE *page, struct lines *to)
{
    char *line = NULL;
    size_t room = 0;
    bool is_whole = true;
    while (is_whole && find_text(page, &line, &room))
        is_whole = take_text(page, &line, &room, to);
    free(line);
    return is_whole ? NULL : end_early(to, "the page ends inside its text of ftrace");
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

/* Where the compressed text begins: behind the line with the sign, which messages may precede.
 * 0: it is none of atrace. */
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
    return end_early(to, is_bomb(stream) ? "its compressed text is larger than any atrace writes"
                                         : "its compressed text is damaged or was cut off");
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

/* Goes on inside the string of this name. The name's quotes are in no other place of it, and inside
 * a string they are escaped, so the search needs no steps back. */
static bool find_string(FILE *file)
{
    static const char name[] = "\"systemTraceEvents\"";
    size_t at = 0;
    for (int byte = getc_unlocked(file); byte != EOF; byte = getc_unlocked(file)) {
        at = byte == name[at] ? at + 1 : byte == name[0];
        if (name[at])
            continue;
        at = 0;
        int colon = next_sign(file);
        if (colon == ':' && next_sign(file) == '"')
            return true;
    }
    return false;
}

static bool is_chrome(FILE *file, const unsigned char *bytes, size_t length)
{
    int next;
    return first_sign(bytes, length, &next) == '{' && find_string(file);
}

/* As UTF-8 (RFC 3629). */
static void take_character(struct lines *to, uint32_t code)
{
    static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0}; /* by the number of bytes that follow */
    unsigned rest = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    take_byte(to, (int)(heads[rest] | code >> (6 * rest)));
    while (rest-- > 0)
        take_byte(to, (int)(0x80 | (code >> (6 * rest) & 0x3f)));
}

/* What \u means: a character, or one half of a surrogate pair. A half without the other one is
 * dropped. A zero, which would end the line, becomes a question mark. */
static void take_unit(struct lines *to, uint32_t unit)
{
    bool is_high = unit >> 10 == 0xd800 >> 10, is_low = unit >> 10 == 0xdc00 >> 10;
    if (is_low && to->high)
        take_character(to, 0x10000 + ((to->high & 0x3ff) << 10) + (unit & 0x3ff));
    else if (!is_high && !is_low)
        take_character(to, unit ? unit : '?');
    to->high = is_high ? unit : 0;
}

/* Four hexadecimal digits; 0 and no further byte read: they are none. */
static uint32_t read_unit(FILE *file)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int byte = getc_unlocked(file);
        if (byte == EOF || !isxdigit(byte)) {
            ungetc(byte, file);
            return 0;
        }
        unit = unit << 4 | (uint32_t)(isdigit(byte) ? byte - '0' : tolower(byte) - 'a' + 10);
    }
    return unit;
}

/* What stands behind a backslash (RFC 8259, section 7). */
static void take_escape(struct lines *to, FILE *file)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    int byte = getc_unlocked(file);
    const char *letter = byte > 0 ? strchr(letters, byte) : NULL;
    if (byte == 'u')
        take_unit(to, read_unit(file));
    else if (byte != EOF)
        take_byte(to, letter ? meanings[letter - letters] : byte);
}

static struct argus_error *nothing_error(const struct lines *to)
{
    if (to->has_events || sink_failed(to->sink)) /* then sink_write() knows why */
        return NULL;
    return argus_error_create(ARGUS_ERROR_FORMAT,
                              "it has only what programs recorded (traceEvents): there is no event "
                              "of the kernel in its systemTraceEvents");
}

static struct argus_error *take_string(FILE *file, struct lines *to)
{
    struct argus_error *error;
    int byte;
    if (!find_string(file))
        return argus_error_create(ARGUS_ERROR_IO, "it has changed while it was read");
    while ((byte = getc_unlocked(file)) != EOF && byte != '"' && !sink_failed(to->sink)) {
        if (byte == '\\')
            take_escape(to, file);
        else
            take_byte(to, byte);
    }
    if (byte == EOF) {
        error = end_early(to, "the file ends inside its systemTraceEvents");
    } else {
        end_line(to);
        error = nothing_error(to);
    }
    if (!error)
        sink_note(to->sink, "the events that programs recorded (traceEvents) are not read");
    return error;
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
    const struct format format_##row = {title, matches_##row, read_##row, false};

WRAPPED(systrace, "systrace (HTML)", is_page, take_page)
WRAPPED(atrace, "atrace -z", is_atrace, take_packed)
WRAPPED(chrome, "Chrome trace (JSON)", is_chrome, take_string)
