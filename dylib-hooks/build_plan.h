/* Makes the plan, which the runtime executes, from an image and the rows of a table. */
#ifndef ARGUS_HOOKS_BUILD_PLAN_H
#define ARGUS_HOOKS_BUILD_PLAN_H

#include "find_place.h"
#include "window.h"

/* One hook whose place and window are known. */
struct planned_hook {
    const struct hook_row *row; /* borrowed */
    uint64_t address;
    struct window window;
    struct trampoline_plan trampoline;
};

struct planned_hooks {
    VEC(struct planned_hook) hooks;
};

/* Makes a hook from every row of `table` whose image is `image_name`. An error names the line. */
struct argus_error *plan_hooks(const struct image *image, struct decoder *decoder,
                               const struct hook_table *table, const char *image_name,
                               struct planned_hooks *ret);
void planned_hooks_deinit(struct planned_hooks *hooks);

/* `loaded_name`: the image's name for the target's loader. The caller frees `*ret`, which has
 * `*ret_bytes` bytes. */
struct argus_error *plan_write(const struct image *image, const char *loaded_name,
                               const struct planned_hooks *hooks, uint8_t **ret, size_t *ret_bytes);

#endif
