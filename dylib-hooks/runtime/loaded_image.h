/* Finds the image of a plan among the loaded ones (loaded_image_linux.c, loaded_image_macos.c). */
#ifndef ARGUS_HOOKS_LOADED_IMAGE_H
#define ARGUS_HOOKS_LOADED_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"

struct loaded_image {
    bool found;     /* an image of this name is loaded */
    bool is_right;  /* and it is the image for which the plan was made */
    uint64_t slide; /* loaded address - address in the image */
};

struct loaded_image loaded_image_find(const struct hook_plan *plan);

/* Shared by both systems: compares the ID, or the code if there is none. `text` is the executable
 * segment as it is loaded. */
bool loaded_image_fits(const struct hook_plan *plan, const void *id, uint32_t id_bytes,
                       const void *text);

#endif
