/* From an image and the rows of a table to the plan that the runtime carries out. */
#ifndef ARGUS_HOOKS_BUILD_PLAN_H
#define ARGUS_HOOKS_BUILD_PLAN_H

#include "find_place.h"
#include "window.h"

/* One hook, decided. */
struct planned_hook {
    const struct hook_row *row; /* borrowed */
    uint64_t address;
    struct window window;
    struct trampoline_plan trampoline;
};

struct planned_hooks {
    VEC(struct planned_hook) hooks;
};

/* Decides about every row of `table` whose image is `image_name`. An error names the line. */
struct argus_error *plan_hooks(const struct image *image, struct decoder *decoder,
                               const struct hook_table *table, const char *image_name,
                               struct planned_hooks *ret);
void planned_hooks_deinit(struct planned_hooks *hooks);

/* `loaded_name`: how the loader of the target names the image. `*ret` is for free(), `*ret_bytes` long. */
struct argus_error *plan_write(const struct image *image, const char *loaded_name,
                               const struct planned_hooks *hooks, uint8_t **ret, size_t *ret_bytes);

#endif
