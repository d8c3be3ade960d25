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
};

static struct argus_error *images_start(struct images *images, uint32_t cpu_count)
{
    images->prune_at = PRUNE_AT;
    struct argus_error *error = image_list_init(&images->list);
    if (!error)
        error = image_events_create(cpu_count, &images->events);
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
    image_list_deinit(&images->list);
    free(images);
}

static bool is_gone(uint64_t pid)
{
    return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

struct pruning {
    struct image_list *list;
    size_t count; /* only processes of these first entries are looked at */
    uint64_t now_ns, taken_ns;
};

static bool is_still_needed(void *context, const struct image_list *list, size_t i)
{
    const struct pruning *pruning = context;
    uint64_t *gone_ns = &pruning->list->gone_ns.data[i];
    if (i < pruning->count && !*gone_ns && is_gone(list->entries.data[i].pid))
        *gone_ns = pruning->now_ns;
    return !*gone_ns || *gone_ns >= pruning->taken_ns;
}

/* Bounds the list, since a recording may run for days. Checks which processes of the first `count`
 * entries have ended, and drops the entries of those that had ended before `taken_ns`. */
static struct argus_error *drop_gone(struct images *images, size_t count, uint64_t taken_ns)
{
    struct pruning pruning = {&images->list, count, clock_ns(CLOCK_MONOTONIC), taken_ns};
    bool good = image_list_keep(&images->list, is_still_needed, &pruning);
    images->prune_at = images->list.entries.length + PRUNE_AT;
    return good ? NULL : argus_error_memory();
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
        error = drop_gone(images, images->list.entries.length / 2, UINT64_MAX); /* overwritten */
    return error;
}

struct argus_error *images_write(struct images *images, struct argus_writer *writer, bool all)
{
    struct image_list *list = &images->list;
    struct argus_error *error = all ? image_maps_read(list) : NULL;
    size_t first = all ? 0 : list->written, count = list->entries.length;
    if (error || count == first)
        return error;
    for (size_t i = first; i < count; i++)
        list->entries.data[i].path = strtab_get(list->paths, list->path_ids.data[i]);
    error = argus_writer_images(writer, list->entries.data + first, count - first);
    if (!error)
        list->written = count;
    return error;
}

struct argus_error *images_renew(struct images *images, uint64_t taken_ns,
                                 struct argus_writer *writer)
{
    struct argus_error *error = images_collect(images);
    if (!error)
        error = images_write(images, writer, true);
    return error ? error : drop_gone(images, images->list.entries.length, taken_ns);
}

uint64_t images_lost(const struct images *images)
{
    return image_events_lost(images->events) + images->list.left_out;
}
