#include "trace/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "trace/varint.h"

void bytes_deinit(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

void bytes_clear(struct bytes *bytes)
{
    bytes->length = 0;
    bytes->failed = false;
}

uint8_t *bytes_reserve(struct bytes *bytes, size_t more)
{
    if (!vec_reserve(bytes, more)) {
        bytes->failed = true;
        return NULL;
    }
    return bytes->data + bytes->length;
}

void bytes_put(struct bytes *bytes, const void *data, size_t length)
{
    uint8_t *to = bytes_reserve(bytes, length);
    if (!to || !length)
        return;
    memcpy(to, data, length);
    bytes->length += length;
}

void bytes_put_varint(struct bytes *bytes, uint64_t value)
{
    uint8_t *to = bytes_reserve(bytes, VARINT_MOST_BYTES);
    if (to)
        bytes->length += (size_t)(varint_write(to, value) - to);
}

void bytes_put_string(struct bytes *bytes, const char *text)
{
    size_t length = strlen(text);
    bytes_put_varint(bytes, length);
    bytes_put(bytes, text, length);
}
