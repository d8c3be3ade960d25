#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/shown.h"

/* The well-formed sequences of Unicode's table 3-7: range of the first byte, of the second, and the
 * length. Third and fourth bytes are always 80..bf. */
static const struct sequence {
    uint8_t first_low, first_high, second_low, second_high, length;
} sequences[] = {
    {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool matches(const struct sequence *sequence, const uint8_t *text, size_t length)
{
    if (text[0] < sequence->first_low || text[0] > sequence->first_high ||
        sequence->length > length)
        return false;
    if (sequence->length > 1 && (text[1] < sequence->second_low || text[1] > sequence->second_high))
        return false;
    for (size_t i = 2; i < sequence->length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return false;
    return true;
}

size_t utf8_length(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++)
        if (matches(&sequences[i], (const uint8_t *)text, length))
            return sequences[i].length;
    return 0;
}

bool utf8_is_begun(const char *text, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)text;
    for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++) {
        const struct sequence *sequence = &sequences[i];
        if (bytes[0] < sequence->first_low || bytes[0] > sequence->first_high)
            continue;
        bool second =
            length < 2 || (bytes[1] >= sequence->second_low && bytes[1] <= sequence->second_high);
        bool third = length < 3 || (bytes[2] & 0xc0) == 0x80;
        return length < sequence->length && second && third;
    }
    return false;
}

void utf8_repair(char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t step = utf8_length(text + at, length - at);
        if (!step) {
            text[at] = '?';
            step = 1;
        }
        at += step;
    }
}

void utf8_repair_name(char *text, size_t length)
{
    utf8_repair(text, length);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n')
            text[i] = SHOWN_NAME_NEWLINE;
        else if (text[i] == '\t')
            text[i] = SHOWN_NAME_TAB;
}

size_t utf8_cut(const char *text, size_t length, size_t most)
{
    /* bytes of UTF-8 behind a first one, and how many there can be */
    enum { CONTINUED_MASK = 0xc0, CONTINUED = 0x80, MOST_CONTINUED = 3 };
    if (length <= most)
        return length;
    for (size_t bytes = most; bytes > 0 && most - bytes <= MOST_CONTINUED; bytes--)
        if (((uint8_t)text[bytes] & CONTINUED_MASK) != CONTINUED)
            return bytes;
    return most; /* this is not UTF-8 */
}
