/* Reads numbers from untrusted bytes: a read after the end returns 0 and sets `bad`. */
#ifndef ARGUS_HOOKS_BYTES_CURSOR_H
#define ARGUS_HOOKS_BYTES_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes_cursor {
    const uint8_t *data;
    size_t bytes, at;
    uint64_t address; /* of the first byte, according to the image */
    bool bad;
};

static inline uint64_t cursor_number(struct bytes_cursor *cursor, size_t bytes)
{
    uint64_t number = 0;
    if (cursor->bad || bytes > 8 || bytes > cursor->bytes - cursor->at) {
        cursor->bad = true;
        return 0;
    }
    memcpy(&number, cursor->data + cursor->at, bytes);
    cursor->at += bytes;
    return number;
}

static inline void cursor_skip(struct bytes_cursor *cursor, uint64_t bytes)
{
    if (cursor->bad || bytes > cursor->bytes - cursor->at)
        cursor->bad = true;
    else
        cursor->at += bytes;
}

static inline uint64_t cursor_uleb(struct bytes_cursor *cursor)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = (uint8_t)cursor_number(cursor, 1);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    cursor->bad = true;
    return 0;
}

/* A cursor for the next `bytes` bytes, or for as many as are left. */
static inline struct bytes_cursor cursor_part(const struct bytes_cursor *cursor, uint64_t bytes)
{
    size_t left = cursor->bytes - cursor->at;
    return (struct bytes_cursor){.data = cursor->data + cursor->at,
                                 .bytes = bytes < left ? bytes : left,
                                 .address = cursor->address + cursor->at,
                                 .bad = cursor->bad || bytes > left};
}

#endif
