#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Number of bytes of the well-formed sequence at the beginning of `text`; 0: there is none. */
static size_t sequence_length(const uint8_t *text, size_t length)
{
    for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++)
        if (matches(&sequences[i], text, length))
            return sequences[i].length;
    return 0;
}

void utf8_repair(char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t step = sequence_length((const uint8_t *)text + at, length - at);
        if (!step) {
            text[at] = '?';
            step = 1;
        }
        at += step;
    }
}
