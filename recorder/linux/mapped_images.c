#include "linux/mapped_images.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "linux/image_list.h"
#include "server/clocks.h"

/* When the list has grown by this many entries, mappings of ended processes are dropped from its
 * older half. */
#define PRUNE_AT 200000

struct images {
    struct image_list list;
    struct image_events *events;
    size_t prune_at;
    size_t written; /* entries of the list, from the first on */
};

struct argus_error *image_list_add(struct image_list *list, const struct argus_image_entry *image,
                                   const char *path, size_t path_bytes)
{
    uint32_t id;
    struct argus_error *error = strtab_intern(list->paths, path, path_bytes, &id);
    if (error)
        return error;
    if (!vec_reserve(&list->entries, 1) || !vec_reserve(&list->gone_ns, 1) ||
        !vec_push(&list->path_ids, id))
        return argus_error_memory();
    list->gone_ns.data[list->gone_ns.length++] = 0;
    list->entries.data[list->entries.length++] = *image;
    return NULL;
}

static struct argus_error *images_start(struct images *images, uint32_t cpu_count)
{
    images->prune_at = PRUNE_AT;
    images->list.paths = strtab_create();
    if (!images->list.paths)
        return argus_error_memory();
    struct argus_error *error = image_events_create(cpu_count, &images->events);
    return error ? error : image_maps_read(&images->list);
}

struct argus_error *images_create(uint32_t cpu_count, struct images **ret)
{
    struct images *images = calloc(1, sizeof(*images));
    if (!images)
        return argus_error_memory();
    struct argus_error *error = images_start(images, cpu_count);
    if (error) {
        images_destroy(images);
        return error;
    }
    *ret = images;
    return NULL;
}

void images_destroy(struct images *images)
{
    if (!images)
        return;
    image_events_destroy(images->events);
    strtab_destroy(images->list.paths);
    vec_deinit(&images->list.entries);
    vec_deinit(&images->list.path_ids);
    vec_deinit(&images->list.gone_ns);
    free(images);
}

static bool is_gone(uint64_t pid)
{
    return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Bounds the list, since a recording may run for days. Checks which processes of the first `count`
 * entries have ended, and drops the entries of those that had ended before `taken_ns`. */
static void drop_gone(struct images *images, size_t count, uint64_t taken_ns)
{
    struct image_list *list = &images->list;
    size_t kept = 0, written = 0;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < list->entries.length; i++) {
        uint64_t gone_ns = list->gone_ns.data[i];
        if (i < count && !gone_ns && is_gone(list->entries.data[i].pid))
            gone_ns = now;
        if (gone_ns && gone_ns < taken_ns)
            continue;
        list->entries.data[kept] = list->entries.data[i];
        list->gone_ns.data[kept] = gone_ns;
        list->path_ids.data[kept++] = list->path_ids.data[i];
        written += i < images->written;
    }
    images->written = written;
    list->entries.length = list->path_ids.length = list->gone_ns.length = kept;
    images->prune_at = kept + PRUNE_AT;
}

void images_listen(struct images *images, const struct image_listener *listener)
{
    images->list.listener = *listener;
}

void images_tell(struct images *images)
{
    const struct image_list *list = &images->list;
    for (size_t i = 0; i < list->entries.length && list->listener.on_image; i++)
        list->listener.on_image(list->listener.context, &list->entries.data[i],
                                strtab_get(list->paths, list->path_ids.data[i]));
}

void images_cpu_came(struct images *images, uint32_t cpu)
{
    image_events_cpu_came(images->events, cpu);
}

struct argus_error *images_collect(struct images *images)
{
    struct argus_error *error = image_events_collect(images->events, &images->list);
    if (!error && images->list.entries.length > images->prune_at)
        drop_gone(images, images->list.entries.length / 2, UINT64_MAX); /* long overwritten */
    return error;
}

struct argus_error *images_write(struct images *images, struct argus_writer *writer, bool all)
{
    struct image_list *list = &images->list;
    struct argus_error *error = all ? image_maps_read(list) : NULL;
    size_t first = all ? 0 : images->written, count = list->entries.length;
    if (error || count == first)
        return error;
    for (size_t i = first; i < count; i++)
        list->entries.data[i].path = strtab_get(list->paths, list->path_ids.data[i]);
    error = argus_writer_images(writer, list->entries.data + first, count - first);
    if (!error)
        images->written = count;
    return error;
}

struct argus_error *images_renew(struct images *images, uint64_t taken_ns,
                                 struct argus_writer *writer)
{
    struct argus_error *error = images_collect(images);
    if (!error)
        error = images_write(images, writer, true);
    if (!error)
        drop_gone(images, images->list.entries.length, taken_ns);
    return error;
}

uint64_t images_lost(const struct images *images)
{
    return image_events_lost(images->events);
}
