/* Which file each address of a process belongs to, and which files belong to the application. */
#ifndef ARGUS_RECORDER_LINUX_STEP_MAPS_H
#define ARGUS_RECORDER_LINUX_STEP_MAPS_H

#include "base/vec.h"
#include "linux/step/step_output.h"

struct step_map {
    uint64_t start, end, file_offset;
    uint32_t flags; /* enum step_map_flags */
    char *path;     /* owned; "" for memory without a file */
};

struct step_maps {
    uint32_t pid;
    const struct step_request *request; /* borrowed: its patterns */
    VEC(struct step_map) maps;          /* ascending */
};

/* Reads /proc/PID/maps anew. False: the process is gone, or no memory is left. */
bool step_maps_read(struct step_maps *maps);
void step_maps_deinit(struct step_maps *maps);
/* The map that contains `address`; NULL: none. */
const struct step_map *step_maps_find(const struct step_maps *maps, uint64_t address);
/* Whether `address` is in the page to which the kernel lets a function return that a return probe
 * watches. Looked up anew, because the page is made with the first probe. */
bool step_maps_is_probe(const struct step_maps *maps, uint64_t address);
/* The address of a place. False: its file, or that part of it, is not mapped. */
bool step_maps_resolve(const struct step_maps *maps, const struct step_place *place, uint64_t *ret);
/* Writes all maps as items. */
void step_maps_put(const struct step_maps *maps, struct step_output *output);

#endif
