/* Describes the parts of a pointer path in words. */
#ifndef ARGUS_STEPS_DESCRIBE_PATH_H
#define ARGUS_STEPS_DESCRIBE_PATH_H

#include "steps/describe.h"
#include "steps/pointer_path.h"

/* `root` and the offsets of the path: "settings->0x28". */
const char *describe_offsets(struct describer *describer, const struct pointer_path *path,
                             const char *root);
const char *describe_register_name(const struct describer *describer, unsigned number);
/* "in an object that argument 1 of wait_for (register rdi) leads to". */
const char *describe_register(struct describer *describer, unsigned number);
/* The function that `step` called and that was stepped over. */
const char *describe_skipped(struct describer *describer, uint32_t step);

#endif
