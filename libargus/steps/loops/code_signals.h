/* Which signals functions handle, by the code that installs them: signal(SIGINT, on_end), or
 * sigaction() with a structure in which the same function has stored it last. A function that
 * installs handlers which it gets as arguments is not followed. */
#ifndef ARGUS_STEPS_CODE_SIGNALS_H
#define ARGUS_STEPS_CODE_SIGNALS_H

#include "steps/loops/code_paths.h"

#define CODE_HANDLERS_MAX 16

/* For each of the functions `starts`, addresses in the image, in `ret`: signal n is bit n - 1. 0:
 * none, or the code does not tell. */
void code_signals_find(struct code_budget *budget, const struct code_image *image,
                       const uint64_t *starts, uint32_t count, uint64_t *ret);

#endif
