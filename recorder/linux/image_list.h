/* The list of mappings, filled by image_events.c and image_maps.c. */
#ifndef ARGUS_RECORDER_LINUX_IMAGE_LIST_H
#define ARGUS_RECORDER_LINUX_IMAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "linux/mapped_images.h"

/* Mappings of one process that are kept at once. More than the kernel allows by default
 * (vm.max_map_count: 65,530 of all kinds) are no program's libraries, and rarely generated code. */
#define IMAGE_LIST_MOST 65536u

struct image_list {
    VEC(struct argus_image_entry) entries; /* `path` is set only for writing, from path_ids */
    VEC(uint32_t) path_ids;
    VEC(uint64_t) gone_ns;          /* when the end of its process was noticed; 0: not yet */
    struct strtab *paths;           /* owned */
    struct idmap of_process;        /* number of entries by pid; above the limit: it is closed */
    size_t written;                 /* entries that are in the file, from the first on */
    uint64_t left_out;              /* mappings beyond the limit */
    struct image_listener listener; /* functions NULL: no listener */
};

struct argus_error *image_list_init(struct image_list *list);
void image_list_deinit(struct image_list *list);

/* Adds a copy of `image` with this path. If its process has too many: those that a later mapping
 * has replaced are dropped; if that is not enough, later ones are counted in `left_out`. */
struct argus_error *image_list_add(struct image_list *list, const struct argus_image_entry *image,
                                   const char *path, size_t path_bytes);

/* Keeps the entries for which `keeps` is true, and the paths of these. Entries before `i` may have
 * moved when `keeps` is called. False: memory is missing, and limits may be wrong. */
typedef bool (*image_list_filter)(void *context, const struct image_list *list, size_t i);
bool image_list_keep(struct image_list *list, image_list_filter keeps, void *context);

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
