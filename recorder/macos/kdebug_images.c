#include "macos/kdebug_images.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MOST_REGIONS 8192u /* of one process: a damaged answer must not keep us for ever */

struct image_list {
    VEC(struct argus_image_entry) entries; /* their paths are owned */
};

static bool add(struct image_list *list, uint32_t pid, const struct kdebug_region *region)
{
    char *path = strdup(region->path);
    struct argus_image_entry entry = {
        .pid = pid,
        .start = region->start,
        .end = region->start + region->bytes,
        .file_offset = region->file_offset,
        .inode = region->inode,
        .dev_major = region->device >> 24, /* <sys/types.h> of Darwin */
        .dev_minor = region->device & 0xffffff,
        .path = path,
    };
    if (path && vec_push(&list->entries, entry))
        return true;
    free(path);
    return false;
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
        if (region.path[0] && !add(list, pid, &region))
            return false;
    }
    return true;
}

struct argus_error *kdebug_images_write(const struct kdebug_os *os, const uint32_t *pids,
                                        size_t count, struct argus_writer *writer)
{
    struct image_list list = {0};
    bool good = true;
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
