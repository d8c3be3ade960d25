/* One library of dyld's shared cache. Its load commands are as in a file, but its symbols are in a
 * link-edit segment that many libraries share, and its local symbols may be apart from it. */
#include <stdlib.h>
#include <string.h>

#include "event/binary/dyld_cache_parts.h"
#include "event/binary/macho_parts.h"

static struct argus_error *bad(const char *what)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "%s", what);
}

static bool find_text(const struct dyld_cache *cache, const uint8_t *uuid,
                      struct dyld_cache_text *ret)
{
    const struct mapped_file *file = &cache->files.data[0];
    uint64_t count = cache->head.text_count, most = file->bytes / sizeof(*ret);
    if (!DYLD_CACHE_HAS(cache->head.mappings, text_count) || count > most ||
        !macho_lies_in(cache->head.texts, count * sizeof(*ret), file->bytes))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(ret, file->data + cache->head.texts + i * sizeof(*ret), sizeof(*ret));
        if (!memcmp(ret->uuid, uuid, sizeof(ret->uuid)))
            return true;
    }
    return false;
}

/* Offsets in the load commands are of the file that has the segment, which for the link-edit
 * segment says where the symbols are. */
static struct argus_error *find_linkedit(const struct dyld_cache *cache, struct macho *macho)
{
    for (size_t i = 0; i < macho->segments.length; i++) {
        const struct macho_range *segment = &macho->segments.data[i];
        uint64_t bytes = 0;
        if (!segment->is_linkedit)
            continue;
        const uint8_t *data = dyld_cache_at(cache, segment->address, &bytes);
        macho->linkedit = (struct macho_linkedit){data, segment->offset, bytes};
        return data ? NULL : bad("a link-edit segment outside of the cache");
    }
    return bad("a library without link-edit segment");
}

/* As the interface says: offsets are distances from the header. */
static void use_distances(struct macho *macho, uint64_t address)
{
    for (size_t i = 0; i < macho->segments.length; i++) {
        struct macho_range *segment = &macho->segments.data[i];
        bool behind = segment->address >= address && !segment->is_linkedit;
        segment->offset = behind ? segment->address - address : 0;
        segment->file_bytes = behind ? segment->bytes : 0;
    }
}

/* --- local symbols --- */

/* The table of local symbols, in the main file or in that of the symbols. */
struct locals {
    const uint8_t *data; /* NULL: there is none */
    uint64_t bytes;
    size_t entry_bytes;
    struct dyld_cache_locals head;
};

static struct locals find_locals(const struct dyld_cache *cache)
{
    const struct mapped_file *file = cache->symbols.data ? &cache->symbols : &cache->files.data[0];
    struct dyld_cache_head head;
    struct locals locals = {0};
    if (!dyld_cache_head(file, &head) || !DYLD_CACHE_HAS(head.mappings, local_bytes) ||
        head.local_bytes < sizeof(locals.head) ||
        !macho_lies_in(head.locals, head.local_bytes, file->bytes))
        return locals;
    locals.data = file->data + head.locals;
    locals.bytes = head.local_bytes;
    locals.entry_bytes = head.mappings >= offsetof(struct dyld_cache_head, symbols_uuid)
                             ? sizeof(struct dyld_cache_local)
                             : DYLD_CACHE_LOCAL_OLD_BYTES;
    memcpy(&locals.head, locals.data, sizeof(locals.head));
    return locals;
}

static struct dyld_cache_local read_local(const struct locals *locals, uint32_t index)
{
    struct dyld_cache_local local;
    uint32_t old[3];
    const uint8_t *at = locals->data + locals->head.entries + index * locals->entry_bytes;
    if (locals->entry_bytes == sizeof(local)) {
        memcpy(&local, at, sizeof(local));
        return local;
    }
    memcpy(old, at, sizeof(old));
    return (struct dyld_cache_local){old[0], old[1], old[2]};
}

/* The symbols of the library whose header is `distance` bytes behind the cache's beginning. */
static bool find_local(const struct locals *locals, uint64_t distance, struct dyld_cache_local *ret)
{
    if (!locals->data ||
        !macho_lies_in(locals->head.entries, locals->head.entry_count * locals->entry_bytes,
                       locals->bytes))
        return false;
    for (uint32_t i = 0; i < locals->head.entry_count; i++) {
        *ret = read_local(locals, i);
        if (ret->image == distance)
            return true;
    }
    return false;
}

static struct argus_error *take_locals(const struct dyld_cache *cache, uint64_t address,
                                       struct macho *macho)
{
    struct dyld_cache_local local;
    struct locals locals = find_locals(cache);
    if (!find_local(&locals, address - cache->start, &local))
        return NULL;
    uint64_t all = (uint64_t)locals.head.symbol_count * sizeof(struct macho_nlist);
    if (!macho_lies_in(locals.head.symbols, all, locals.bytes) ||
        !macho_lies_in(locals.head.strings, locals.head.string_bytes, locals.bytes) ||
        !macho_lies_in(local.first, local.count, locals.head.symbol_count))
        return bad("local symbols that end beyond their table");
    const uint8_t *entries =
        locals.data + locals.head.symbols + (uint64_t)local.first * sizeof(struct macho_nlist);
    return macho_take_symbols(macho, entries, local.count,
                              (const char *)locals.data + locals.head.strings,
                              locals.head.string_bytes);
}

/* --- the library --- */

static struct argus_error *read_image(const struct dyld_cache *cache, uint64_t address,
                                      struct macho *macho)
{
    struct macho_header header;
    struct macho_tables tables;
    macho->slice = dyld_cache_at(cache, address, &macho->slice_bytes);
    if (!macho->slice || macho->slice_bytes < sizeof(header))
        return bad("a library outside of the cache");
    memcpy(&header, macho->slice, sizeof(header));
    if (header.magic != MACHO_MAGIC)
        return bad("no 64-bit Mach-O header");
    macho->cpu = (enum macho_cpu)header.cpu;
    struct argus_error *error = macho_take_commands(macho, &header, &tables);
    if (!error)
        error = find_linkedit(cache, macho);
    if (error)
        return error;
    use_distances(macho, address);
    error = take_locals(cache, address, macho);
    return error ? error : macho_take_tables(macho, &tables);
}

struct argus_error *dyld_cache_image(const struct dyld_cache *cache,
                                     const uint8_t uuid[MACHO_UUID_BYTES], struct macho **ret)
{
    struct dyld_cache_text text;
    *ret = NULL;
    if (!find_text(cache, uuid, &text))
        return NULL;
    struct macho *macho = calloc(1, sizeof(*macho));
    if (!macho)
        return argus_error_memory();
    struct argus_error *error = read_image(cache, text.address, macho);
    if (error)
        macho_close(macho);
    else
        *ret = macho;
    return error;
}
