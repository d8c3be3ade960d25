/* The structures of dyld's shared cache, as far as Argus reads them. The names are Argus's own; the
 * numbers are facts of <mach-o/dyld_cache_format.h> in dyld-1378. All little-endian.
 *
 * A file's version is the length of its header, which the offset of the first mapping tells: a
 * field exists if it ends before the mappings. */
#ifndef ARGUS_EVENT_DYLD_CACHE_LAYOUT_H
#define ARGUS_EVENT_DYLD_CACHE_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define DYLD_CACHE_MAGIC       "dyld_v1" /* the architecture follows */
#define DYLD_CACHE_MAGIC_BYTES 7
#define DYLD_CACHE_SUFFIX      32
#define DYLD_CACHE_SYMBOLS     ".symbols"
#define DYLD_CACHE_DEVELOPMENT ".development" /* not in the names of the further files */
#define DYLD_CACHE_UNIVERSAL   2u

struct dyld_cache_head {
    char magic[16];
    uint32_t mappings, mapping_count;
    uint32_t unused_images[2];
    uint64_t dyld_base;
    uint64_t signature[2];
    uint64_t unused_slide[2];
    uint64_t locals, local_bytes; /* offset of the local symbols */
    uint8_t uuid[16];
    uint64_t type;
    uint32_t pools[2];
    uint64_t dyld[2];
    uint64_t texts, text_count; /* offset of struct dyld_cache_text */
    uint64_t not_read[30];
    uint32_t subcaches, subcache_count;
    uint8_t symbols_uuid[16]; /* zero: there is no file of local symbols */
    uint64_t rosetta[4];
    uint32_t images, image_count;
    uint32_t sub_type;
};

/* Whether a header of `length` bytes has the field. */
#define DYLD_CACHE_HAS(length, field)                                                              \
    ((length) >=                                                                                   \
     offsetof(struct dyld_cache_head, field) + sizeof(((struct dyld_cache_head *)0)->field))

struct dyld_cache_mapping {
    uint64_t address, bytes, offset;
    uint32_t protection[2];
};

struct dyld_cache_text { /* one for each image */
    uint8_t uuid[16];
    uint64_t address;
    uint32_t bytes, path;
};

/* One for each further file. Before headers had `sub_type`, entries had no suffix, and the files
 * were named .1, .2, … */
struct dyld_subcache {
    uint8_t uuid[16];
    uint64_t address_offset;
    char suffix[DYLD_CACHE_SUFFIX];
};
#define DYLD_SUBCACHE_OLD_BYTES 24u

struct dyld_cache_locals { /* offsets are relative to it */
    uint32_t symbols, symbol_count, strings, string_bytes, entries, entry_count;
};

/* The symbols of one image. Before headers had `symbols_uuid`, `image` had 32 bits and was the
 * offset in the file, which of headers is the same number. */
struct dyld_cache_local {
    uint64_t image; /* distance from the beginning of the cache */
    uint32_t first, count;
};
#define DYLD_CACHE_LOCAL_OLD_BYTES 12u

static_assert(offsetof(struct dyld_cache_head, locals) == 72, "localSymbolsOffset");
static_assert(offsetof(struct dyld_cache_head, uuid) == 88, "uuid");
static_assert(offsetof(struct dyld_cache_head, texts) == 136, "imagesTextOffset");
static_assert(offsetof(struct dyld_cache_head, subcaches) == 0x188, "subCacheArrayOffset");
static_assert(offsetof(struct dyld_cache_head, images) == 0x1c0, "imagesOffset");
static_assert(sizeof(struct dyld_cache_mapping) == 32, "dyld_cache_mapping_info");
static_assert(sizeof(struct dyld_cache_text) == 32, "dyld_cache_image_text_info");
static_assert(sizeof(struct dyld_subcache) == 56, "dyld_subcache_entry");
static_assert(sizeof(struct dyld_cache_local) == 16, "dyld_cache_local_symbols_entry_64");

#endif
