/* The list of mappings, filled by image_events.c and image_maps.c. */
#ifndef ARGUS_RECORDER_LINUX_IMAGE_LIST_H
#define ARGUS_RECORDER_LINUX_IMAGE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "linux/mapped_images.h"

struct image_list {
    VEC(struct argus_image_entry) entries; /* `path` is set only for writing, from path_ids */
    VEC(uint32_t) path_ids;
    VEC(uint64_t) gone_ns;          /* when the end of its process was noticed; 0: not yet */
    struct strtab *paths;           /* owned */
    struct image_listener listener; /* functions NULL: no listener */
};

/* Adds a copy of `image` with this path. */
struct argus_error *image_list_add(struct image_list *list, const struct argus_image_entry *image,
                                   const char *path, size_t path_bytes);

/* Adds the executable mappings from /proc of every process that has none in the list, except the
 * recorder. Skips a process that ends meanwhile. */
struct argus_error *image_maps_read(struct image_list *list);

/* One perf_event buffer for each cpu, into which the kernel reports mappings. */
struct image_events;
struct argus_error *image_events_create(uint32_t cpu_count, struct image_events **ret);
void image_events_destroy(struct image_events *events);
/* A CPU has come online: opens its buffer again. */
void image_events_cpu_came(struct image_events *events, uint32_t cpu);
struct argus_error *image_events_collect(struct image_events *events, struct image_list *list);
uint64_t image_events_lost(const struct image_events *events);

#endif
