#include "linux/image_list.h"

#include <string.h>

struct argus_error *image_list_init(struct image_list *list)
{
    *list = (struct image_list){.paths = strtab_create()};
    return list->paths ? NULL : argus_error_memory();
}

void image_list_deinit(struct image_list *list)
{
    strtab_destroy(list->paths);
    idmap_deinit(&list->of_process);
    vec_deinit(&list->entries);
    vec_deinit(&list->path_ids);
    vec_deinit(&list->gone_ns);
}

/* --- dropping --- */

/* The paths that remain get a table of their own; without memory the old one stays. */
static void renew_paths(struct image_list *list)
{
    struct strtab *paths = strtab_create();
    bool good = paths != NULL;
    for (size_t pass = 0; pass < 2 && good; pass++) {
        for (size_t i = 0; i < list->entries.length && good; i++) {
            uint32_t id = list->path_ids.data[i];
            const char *path = strtab_get(list->paths, id);
            struct argus_error *error = strtab_intern(paths, path, strlen(path), &id);
            good = !error;
            argus_error_destroy(error);
            if (pass == 1 && good)
                list->path_ids.data[i] = id;
        }
    }
    strtab_destroy(good ? list->paths : paths);
    if (good)
        list->paths = paths;
}

static bool count_one(struct image_list *list, uint64_t pid)
{
    uint32_t count = idmap_get(&list->of_process, pid);
    return idmap_put(&list->of_process, pid, count == IDMAP_NONE ? 1 : count + 1);
}

bool image_list_keep(struct image_list *list, image_list_filter keeps, void *context)
{
    size_t kept = 0, written = 0;
    bool counted = true;
    idmap_clear(&list->of_process);
    for (size_t i = 0; i < list->entries.length; i++) {
        if (!keeps(context, list, i))
            continue;
        list->entries.data[kept] = list->entries.data[i];
        list->gone_ns.data[kept] = list->gone_ns.data[i];
        list->path_ids.data[kept++] = list->path_ids.data[i];
        written += i < list->written;
        counted &= count_one(list, list->entries.data[i].pid);
    }
    list->written = written;
    list->entries.length = list->path_ids.length = list->gone_ns.length = kept;
    renew_paths(list);
    return counted;
}

/* --- the limit of one process --- */

struct thinning {
    uint64_t pid;
    struct idmap newest; /* by start: the last entry of the process that begins there */
    bool good;
};

/* A mapping is replaced by the next one at its place. */
static bool is_newest(void *context, const struct image_list *list, size_t i)
{
    const struct thinning *thinning = context;
    const struct argus_image_entry *image = &list->entries.data[i];
    return image->pid != thinning->pid || idmap_get(&thinning->newest, image->start) == i;
}

static bool thin(struct image_list *list, uint64_t pid)
{
    struct thinning thinning = {.pid = pid, .good = true};
    for (size_t i = 0; i < list->entries.length && thinning.good; i++)
        if (list->entries.data[i].pid == pid)
            thinning.good = idmap_put(&thinning.newest, list->entries.data[i].start, (uint32_t)i);
    bool good = thinning.good && image_list_keep(list, is_newest, &thinning);
    idmap_deinit(&thinning.newest);
    return good;
}

/* Whether the process may have one more. If what was replaced does not make room for many, nothing
 * more is taken of this process: thinning costs time. */
static struct argus_error *make_room(struct image_list *list, uint64_t pid, bool *ret)
{
    uint32_t count = idmap_get(&list->of_process, pid);
    *ret = count == IDMAP_NONE || count < IMAGE_LIST_MOST;
    if (*ret || count > IMAGE_LIST_MOST)
        return NULL;
    if (!thin(list, pid))
        return argus_error_memory();
    *ret = idmap_get(&list->of_process, pid) <= IMAGE_LIST_MOST / 2;
    return *ret || idmap_put(&list->of_process, pid, IMAGE_LIST_MOST + 1) ? NULL
                                                                          : argus_error_memory();
}

struct argus_error *image_list_add(struct image_list *list, const struct argus_image_entry *image,
                                   const char *path, size_t path_bytes)
{
    uint32_t id;
    bool room;
    struct argus_error *error = make_room(list, image->pid, &room);
    if (error || !room) {
        list->left_out += !error;
        return error;
    }
    error = strtab_intern(list->paths, path, path_bytes, &id);
    if (error)
        return error;
    if (!vec_reserve(&list->entries, 1) || !vec_reserve(&list->gone_ns, 1) ||
        !count_one(list, image->pid) || !vec_push(&list->path_ids, id))
        return argus_error_memory();
    list->gone_ns.data[list->gone_ns.length++] = 0;
    list->entries.data[list->entries.length++] = *image;
    return NULL;
}
