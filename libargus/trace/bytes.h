/* A growing byte buffer for payloads. Running out of memory is remembered in `failed`, so that a
 * run of puts is checked once, at its end. A zeroed struct is an empty buffer. */
#ifndef ARGUS_TRACE_BYTES_H
#define ARGUS_TRACE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *data; /* owned */
    size_t length, capacity;
    bool failed;
};

void bytes_deinit(struct bytes *bytes);

/* Empty again, `failed` forgotten, memory kept. */
void bytes_clear(struct bytes *bytes);

/* Room for `more` bytes behind the end; NULL without memory, else where they begin. */
uint8_t *bytes_reserve(struct bytes *bytes, size_t more);

void bytes_put(struct bytes *bytes, const void *data, size_t length);
void bytes_put_varint(struct bytes *bytes, uint64_t value);
/* The format's "string": a varint length and the bytes. */
void bytes_put_string(struct bytes *bytes, const char *text);

#endif
