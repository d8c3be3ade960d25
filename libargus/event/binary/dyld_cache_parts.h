/* The internals of an open shared cache: dyld_cache.c opens it, dyld_cache_image.c reads one of its
 * libraries. */
#ifndef ARGUS_EVENT_DYLD_CACHE_PARTS_H
#define ARGUS_EVENT_DYLD_CACHE_PARTS_H

#include "base/vec.h"
#include "event/binary/dyld_cache.h"
#include "event/binary/dyld_cache_layout.h"
#include "event/binary/mapped_file.h"

/* A part of a file, and its address before the cache is slid. */
struct dyld_region {
    uint64_t address, bytes;
    const uint8_t *data;
};

struct dyld_cache {
    VEC(struct mapped_file) files; /* the first one is the main file */
    VEC(struct dyld_region) regions;
    struct mapped_file symbols; /* all zero: there is none */
    struct dyld_cache_head head;
    uint64_t start; /* the lowest address */
};

/* The header of a file; fields that it does not have are zero. False: it is not of a cache. */
bool dyld_cache_head(const struct mapped_file *file, struct dyld_cache_head *ret);

/* The bytes at `address`, and in `ret_bytes` how many follow in the same part. NULL: none. */
const uint8_t *dyld_cache_at(const struct dyld_cache *cache, uint64_t address, uint64_t *ret_bytes);

#endif
