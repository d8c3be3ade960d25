/* The list that both sources of mappings (image_events.c, image_maps.c) add to. */
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
    VEC(struct argus_image_entry) entries; /* `path` is set only when written, from path_ids */
    VEC(uint32_t) path_ids;
    VEC(uint64_t) gone_ns;          /* when its process was found to have ended; 0: not yet */
    struct strtab *paths;           /* owned */
    struct image_listener listener; /* functions NULL: nobody */
};

/* Adds a copy of `image` with this path. */
struct argus_error *image_list_add(struct image_list *list, const struct argus_image_entry *image,
                                   const char *path, size_t path_bytes);

/* Adds the executable mappings, as /proc tells them, of every process of which the list has none; but not our own. A
 * process that ends while we look is left out. */
struct argus_error *image_maps_read(struct image_list *list);

/* One perf_event buffer for each cpu, into which the kernel reports mappings. */
struct image_events;
struct argus_error *image_events_create(uint32_t cpu_count, struct image_events **ret);
void image_events_destroy(struct image_events *events);
/* A cpu has come online: begins anew there. */
void image_events_cpu_came(struct image_events *events, uint32_t cpu);
struct argus_error *image_events_collect(struct image_events *events, struct image_list *list);
uint64_t image_events_lost(const struct image_events *events);

#endif
