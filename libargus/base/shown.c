#include "base/shown.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* All that Argus itself writes (report/lines.c). */
static const char *const own_sequences[] = {"\033[1m", "\033[0m"};

/* Characters that are not seen and change how others are read: controls of C1, line separators, and
 * Unicode's bidirectional formatting characters (UAX #9, table 1). */
static const struct range {
    uint32_t first, last;
} hidden[] = {
    {0x80, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200b}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
};

static bool is_hidden(uint32_t character)
{
    for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
        if (hidden[i].first <= character && character <= hidden[i].last)
            return true;
    return false;
}

static bool is_plain(const struct shown *shown, unsigned char c)
{
    return (c >= ' ' && c < 0x7f) || (shown->lines && (c == '\n' || c == '\t'));
}

static uint32_t decode(const unsigned char *text, size_t length)
{
    uint32_t character = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (text[i] & 0x3fu);
    return character;
}

/* The bytes of a sequence of Argus's own at the beginning of `text`; 0: none. `*ret_begun`: it can
 * become one. */
static size_t own_sequence(const char *text, size_t bytes, bool *ret_begun)
{
    for (size_t i = 0; i < sizeof(own_sequences) / sizeof(*own_sequences); i++) {
        size_t length = strlen(own_sequences[i]);
        if (strncmp(text, own_sequences[i], bytes < length ? bytes : length) != 0)
            continue;
        *ret_begun = bytes < length;
        return bytes < length ? 0 : length;
    }
    return 0;
}

/* The character that a control character stands for. */
static uint32_t meant(uint32_t character)
{
    return character == SHOWN_NAME_NEWLINE ? '\n' : character == SHOWN_NAME_TAB ? '\t' : character;
}

static bool put_escaped(const char *format, uint32_t number, shown_write write, void *context)
{
    char text[16];
    int length = snprintf(text, sizeof(text), format, number);
    return write(context, text, (size_t)length);
}

/* Writes what `text` begins with, and returns its bytes; 0: more bytes are needed to know. */
static size_t put_one(const struct shown *shown, const char *text, size_t bytes, bool last,
                      shown_write write, void *context, bool *ret_written)
{
    bool begun = false;
    size_t own = shown->colours && *text == '\033' ? own_sequence(text, bytes, &begun) : 0;
    if (begun && !last)
        return 0;
    if (own) {
        *ret_written = write(context, text, own);
        return own;
    }
    size_t length = utf8_length(text, bytes);
    if (!length && !last && utf8_is_begun(text, bytes))
        return 0;
    uint32_t character = length ? decode((const unsigned char *)text, length) : 0;
    if (!length)
        *ret_written = put_escaped("\\x%02x", (unsigned char)*text, write, context);
    else if (length == 1 ? !is_plain(shown, (unsigned char)*text) : is_hidden(character))
        *ret_written = put_escaped("\\u%04x", meant(character), write, context);
    else
        *ret_written = write(context, text, length);
    return length ? length : 1;
}

/* Writes as much as can be decided; returns the bytes that were used. */
static size_t put_all(const struct shown *shown, const char *text, size_t bytes, bool last,
                      shown_write write, void *context, bool *ret_written)
{
    size_t at = 0;
    while (at < bytes && *ret_written) {
        size_t plain = at;
        while (plain < bytes && is_plain(shown, (unsigned char)text[plain]))
            plain++;
        if (plain > at)
            *ret_written = write(context, text + at, plain - at);
        at = plain;
        if (at == bytes || !*ret_written)
            break;
        size_t used = put_one(shown, text + at, bytes - at, last, write, context, ret_written);
        if (!used)
            break;
        at += used;
    }
    return at;
}

bool shown_put(struct shown *shown, const char *text, size_t bytes, shown_write write,
               void *context)
{
    bool written = true;
    while (shown->kept_bytes && bytes && written) {
        shown->kept[shown->kept_bytes++] = *text++;
        bytes--;
        size_t used =
            put_all(shown, shown->kept, shown->kept_bytes, false, write, context, &written);
        shown->kept_bytes -= used;
        memmove(shown->kept, shown->kept + used, shown->kept_bytes);
    }
    size_t used = put_all(shown, text, bytes, false, write, context, &written);
    if (!written)
        return false;
    if (bytes > used) {
        shown->kept_bytes = bytes - used;
        memcpy(shown->kept, text + used, shown->kept_bytes);
    }
    return true;
}

bool shown_end(struct shown *shown, shown_write write, void *context)
{
    bool written = true;
    put_all(shown, shown->kept, shown->kept_bytes, true, write, context, &written);
    shown->kept_bytes = 0;
    return written;
}

static bool write_stream(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) == bytes;
}

char *shown_line(const char *text)
{
    struct shown shown = {.lines = false};
    char *line = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&line, &length);
    if (!out)
        return NULL;
    bool written = shown_put(&shown, text, strlen(text), write_stream, out) &&
                   shown_end(&shown, write_stream, out);
    if (fclose(out) || !written) {
        free(line);
        return NULL;
    }
    return line;
}

size_t shown_note_bytes(const char *note, size_t length)
{
    return utf8_cut(note, length, SHOWN_NOTE_BYTES);
}
