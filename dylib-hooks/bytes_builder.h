/* A growing array of bytes. Values that become known later are written into reserved room. */
#ifndef ARGUS_HOOKS_BYTES_BUILDER_H
#define ARGUS_HOOKS_BYTES_BUILDER_H

#include <string.h>

#include "base/vec.h"

struct bytes_builder {
    VEC(uint8_t) bytes;
    bool no_memory;
};

/* Reserves `count` zero bytes. Returns their offset. */
static inline uint32_t build_room(struct bytes_builder *builder, size_t count)
{
    uint32_t at = (uint32_t)builder->bytes.length;
    if (builder->no_memory || !vec_reserve(&builder->bytes, count + 1)) {
        builder->no_memory = true;
        return 0;
    }
    memset(builder->bytes.data + at, 0, count);
    builder->bytes.length += count;
    return at;
}

static inline void build_put(struct bytes_builder *builder, uint32_t at, const void *data,
                             size_t count)
{
    if (!builder->no_memory)
        memcpy(builder->bytes.data + at, data, count);
}

static inline uint32_t build_add(struct bytes_builder *builder, const void *data, size_t count)
{
    uint32_t at = build_room(builder, count);
    build_put(builder, at, data, count);
    return at;
}

static inline uint32_t build_string(struct bytes_builder *builder, const char *text)
{
    return build_add(builder, text, strlen(text) + 1);
}

/* `alignment` is a power of two. */
static inline uint32_t build_align(struct bytes_builder *builder, uint32_t alignment)
{
    uint32_t at = (uint32_t)builder->bytes.length;
    build_room(builder, (alignment - at % alignment) % alignment);
    return (uint32_t)builder->bytes.length;
}

#endif
