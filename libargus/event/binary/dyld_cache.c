#include "event/binary/dyld_cache.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/dyld_cache_parts.h"
#include "event/binary/macho_parts.h"

/* Apple's have some tens. */
enum { MOST_FILES = 1024, MOST_MAPPINGS = 1024 };

bool dyld_cache_head(const struct mapped_file *file, struct dyld_cache_head *ret)
{
    uint32_t length;
    memset(ret, 0, sizeof(*ret));
    if (file->bytes < offsetof(struct dyld_cache_head, mapping_count) + sizeof(uint32_t) ||
        memcmp(file->data, DYLD_CACHE_MAGIC, DYLD_CACHE_MAGIC_BYTES) != 0)
        return false;
    memcpy(&length, file->data + offsetof(struct dyld_cache_head, mappings), sizeof(length));
    if (length > file->bytes)
        return false;
    memcpy(ret, file->data, length < sizeof(*ret) ? length : sizeof(*ret));
    return ret->mappings == length && ret->mapping_count > 0 && ret->mapping_count < MOST_MAPPINGS;
}

const uint8_t *dyld_cache_at(const struct dyld_cache *cache, uint64_t address, uint64_t *ret_bytes)
{
    for (size_t i = 0; i < cache->regions.length; i++) {
        const struct dyld_region *region = &cache->regions.data[i];
        if (address < region->address || address - region->address >= region->bytes)
            continue;
        *ret_bytes = region->bytes - (address - region->address);
        return region->data + (address - region->address);
    }
    return NULL;
}

static struct argus_error *bad(const char *what)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s", what);
}

/* --- files --- */

/* Adds where the file's bytes are mapped. */
static struct argus_error *add_regions(struct dyld_cache *cache, const struct mapped_file *file,
                                       const struct dyld_cache_head *head)
{
    uint64_t bytes = (uint64_t)head->mapping_count * sizeof(struct dyld_cache_mapping);
    if (!macho_lies_in(head->mappings, bytes, file->bytes))
        return bad("mappings that end beyond the end of the file");
    for (uint32_t i = 0; i < head->mapping_count; i++) {
        struct dyld_cache_mapping mapping;
        memcpy(&mapping, file->data + head->mappings + i * sizeof(mapping), sizeof(mapping));
        if (!macho_lies_in(mapping.offset, mapping.bytes, file->bytes))
            return bad("a mapping of bytes beyond the end of the file");
        struct dyld_region region = {mapping.address, mapping.bytes, file->data + mapping.offset};
        if (!vec_push(&cache->regions, region))
            return argus_error_memory();
    }
    return NULL;
}

/* `uuid`: what the file's header must say; NULL: it is the main file. */
static struct argus_error *take_file(struct dyld_cache *cache, const struct mapped_file *file,
                                     const uint8_t *uuid)
{
    struct dyld_cache_head head;
    if (!dyld_cache_head(file, &head))
        return bad("no file of a shared cache");
    if (uuid && memcmp(uuid, head.uuid, sizeof(head.uuid)) != 0)
        return bad("it belongs to another shared cache");
    if (!uuid)
        cache->head = head;
    return add_regions(cache, file, &head);
}

static struct argus_error *add_file(struct dyld_cache *cache, const char *path, const uint8_t *uuid)
{
    struct mapped_file file;
    struct argus_error *error = mapped_file_open(path, &file);
    if (!error && !vec_push(&cache->files, file)) {
        mapped_file_close(&file);
        return argus_error_memory();
    }
    if (!error)
        error = take_file(cache, &file, uuid);
    return error ? argus_error_context(error, "%s", path) : NULL;
}

/* The suffix of further file `index`, whose entry is at `entry`. It is part of a file's name, so an
 * entry that names another folder has none. False: no suffix. */
static bool read_suffix(const struct dyld_cache *cache, const uint8_t *entry, uint32_t index,
                        char ret[DYLD_CACHE_SUFFIX + 1])
{
    if (!DYLD_CACHE_HAS(cache->head.mappings, sub_type)) {
        snprintf(ret, DYLD_CACHE_SUFFIX + 1, ".%u", index + 1);
        return true;
    }
    memcpy(ret, entry + offsetof(struct dyld_subcache, suffix), DYLD_CACHE_SUFFIX);
    ret[DYLD_CACHE_SUFFIX] = '\0';
    return !strchr(ret, '/');
}

static struct argus_error *add_further(struct dyld_cache *cache, const char *base)
{
    const struct dyld_cache_head *head = &cache->head;
    size_t entry_bytes = DYLD_CACHE_HAS(head->mappings, sub_type) ? sizeof(struct dyld_subcache)
                                                                  : DYLD_SUBCACHE_OLD_BYTES;
    struct mapped_file main_file = cache->files.data[0];
    struct argus_error *error = NULL;
    if (!DYLD_CACHE_HAS(head->mappings, subcache_count))
        return NULL;
    if (head->subcache_count > MOST_FILES ||
        !macho_lies_in(head->subcaches, head->subcache_count * entry_bytes, main_file.bytes))
        return bad("a list of further files that ends beyond the end of the file");
    for (uint32_t i = 0; i < head->subcache_count && !error; i++) {
        char path[PATH_MAX + DYLD_CACHE_SUFFIX], suffix[DYLD_CACHE_SUFFIX + 1];
        const uint8_t *entry = main_file.data + head->subcaches + i * entry_bytes;
        if (!read_suffix(cache, entry, i, suffix))
            return bad("a further file in another folder");
        snprintf(path, sizeof(path), "%s%s", base, suffix);
        error = add_file(cache, path, entry);
    }
    return error;
}

/* A file that cannot be used is as good as none: local functions then have no names. */
static void add_symbols(struct dyld_cache *cache, const char *base)
{
    static const uint8_t none[16];
    char path[PATH_MAX + DYLD_CACHE_SUFFIX];
    struct dyld_cache_head head;
    const uint8_t *uuid = cache->head.symbols_uuid;
    if (!DYLD_CACHE_HAS(cache->head.mappings, symbols_uuid) || !memcmp(uuid, none, sizeof(none)))
        return;
    snprintf(path, sizeof(path), "%s" DYLD_CACHE_SYMBOLS, base);
    argus_error_destroy(mapped_file_open(path, &cache->symbols));
    if (cache->symbols.data && (!dyld_cache_head(&cache->symbols, &head) ||
                                memcmp(head.uuid, uuid, sizeof(head.uuid)) != 0))
        mapped_file_close(&cache->symbols);
}

/* The beginning of the names of the further files. */
static struct argus_error *find_base(const struct dyld_cache *cache, const char *path, char *ret)
{
    size_t length = strlen(path), suffix = strlen(DYLD_CACHE_DEVELOPMENT);
    if (length >= PATH_MAX)
        return bad("the path is too long");
    if (cache->head.type == DYLD_CACHE_UNIVERSAL && length > suffix &&
        !strcmp(path + length - suffix, DYLD_CACHE_DEVELOPMENT))
        length -= suffix;
    memcpy(ret, path, length);
    ret[length] = '\0';
    return NULL;
}

struct argus_error *dyld_cache_open(const char *path, struct dyld_cache **ret)
{
    char base[PATH_MAX];
    struct dyld_cache *cache = calloc(1, sizeof(*cache));
    *ret = NULL;
    if (!cache)
        return argus_error_memory();
    struct argus_error *error = add_file(cache, path, NULL);
    if (!error)
        error = find_base(cache, path, base);
    if (!error)
        error = add_further(cache, base);
    if (error) {
        dyld_cache_close(cache);
        return error;
    }
    add_symbols(cache, base);
    cache->start = cache->regions.data[0].address;
    *ret = cache;
    return NULL;
}

void dyld_cache_close(struct dyld_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->files.length; i++)
        mapped_file_close(&cache->files.data[i]);
    mapped_file_close(&cache->symbols);
    vec_deinit(&cache->files);
    vec_deinit(&cache->regions);
    free(cache);
}
