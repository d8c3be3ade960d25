#include "macos/kdebug_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MOST_REGIONS 8192u /* of one process: a damaged answer must not keep us for ever */

#define MOST_CACHED 65536u /* as above, of the shared cache */

struct image_list {
    VEC(struct argus_image_entry) entries; /* their paths are owned */
    struct kdebug_cache cache;             /* bytes 0: there is none */
    uint32_t own_pid;
};

static bool add_entry(struct image_list *list, struct argus_image_entry entry, const char *path)
{
    char *copy = strdup(path);
    entry.path = copy;
    if (copy && vec_push(&list->entries, entry))
        return true;
    free(copy);
    return false;
}

static bool add(struct image_list *list, uint32_t pid, const struct kdebug_region *region)
{
    const struct argus_image_entry entry = {
        .pid = pid,
        .start = region->start,
        .end = region->start + region->bytes,
        .file_offset = region->file_offset,
        .inode = region->inode,
        .dev_major = region->device >> 24, /* <sys/types.h> of Darwin */
        .dev_minor = region->device & 0xffffff,
    };
    return add_entry(list, entry, region->path);
}

/* --- the shared cache --- */

static bool is_in_cache(const struct image_list *list, uint64_t address)
{
    return address >= list->cache.start && address - list->cache.start < list->cache.bytes;
}

static bool add_cached(void *visitor, const struct kdebug_cached_image *image)
{
    struct image_list *list = visitor;
    struct argus_image_entry entry = {
        .pid = list->own_pid,
        .start = image->start,
        .end = image->start + image->bytes,
        .build_id_bytes = sizeof(image->uuid),
    };
    memcpy(entry.build_id, image->uuid, sizeof(image->uuid));
    if (!is_in_cache(list, image->start) || image->bytes > list->cache.bytes || !image->path)
        return true;
    return list->entries.length < MOST_CACHED && add_entry(list, entry, image->path);
}

/* One entry for the cache, by whose path the reader knows that its images are in all processes
 * (event/images.c), and one for each image. They are entries of the recorder's own process. */
static bool add_cache(struct image_list *list, const struct kdebug_os *os)
{
    char path[96];
    const struct kdebug_cache *cache = &list->cache;
    const uint8_t *u = cache->uuid;
    struct argus_image_entry entry = {
        .pid = list->own_pid,
        .start = cache->start,
        .end = cache->start + cache->bytes,
        .build_id_bytes = sizeof(cache->uuid),
    };
    memcpy(entry.build_id, u, sizeof(cache->uuid));
    snprintf(path, sizeof(path),
             "%s UUID %02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X",
             ARGUS_SHARED_CACHE_PATH, u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9],
             u[10], u[11], u[12], u[13], u[14], u[15]);
    if (!add_entry(list, entry, path))
        return false;
    os->cached_images(os->context, cache, add_cached, list);
    return true;
}

static bool add_process(struct image_list *list, const struct kdebug_os *os, uint32_t pid)
{
    struct kdebug_region region;
    uint64_t from = 0;
    for (unsigned i = 0; i < MOST_REGIONS && os->next_region(os->context, pid, from, &region);
         i++) {
        if (region.bytes == 0 || region.start + region.bytes <= from)
            break;
        from = region.start + region.bytes;
        if (region.path[0] && !is_in_cache(list, region.start) && !add(list, pid, &region))
            return false;
    }
    return true;
}

struct argus_error *kdebug_images_write(const struct kdebug_os *os, const uint32_t *pids,
                                        size_t count, bool with_cache, struct argus_writer *writer)
{
    struct image_list list = {.own_pid = os->own_pid(os->context)};
    if (!os->shared_cache(os->context, &list.cache))
        list.cache = (struct kdebug_cache){0};
    bool good = !with_cache || !list.cache.bytes || add_cache(&list, os);
    for (size_t i = 0; i < count && good; i++)
        good = add_process(&list, os, pids[i]);
    struct argus_error *error =
        good ? argus_writer_images(writer, list.entries.data, list.entries.length)
             : argus_error_memory();
    for (size_t i = 0; i < list.entries.length; i++)
        free((char *)list.entries.data[i].path);
    vec_deinit(&list.entries);
    return error;
}
