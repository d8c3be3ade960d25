/* A growing byte buffer for payloads. If memory runs out, `failed` is set and stays set, so that a
 * series of puts is checked once at the end. A zeroed struct is an empty buffer. */
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

/* Empties the buffer and clears `failed`; keeps the memory. */
void bytes_clear(struct bytes *bytes);

/* Makes room for `more` bytes behind the end and returns its address; NULL without memory. */
uint8_t *bytes_reserve(struct bytes *bytes, size_t more);

void bytes_put(struct bytes *bytes, const void *data, size_t length);
void bytes_put_varint(struct bytes *bytes, uint64_t value);
/* The format's "string": a varint length and the bytes. */
void bytes_put_string(struct bytes *bytes, const char *text);

#endif
