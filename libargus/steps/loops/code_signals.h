/* Which signals a function handles, by the code that installs it: signal(SIGINT, on_end), or sigaction() with a structure in which the
 * same function has stored it. A function that installs handlers which it gets as arguments is not followed. */
#ifndef ARGUS_STEPS_CODE_SIGNALS_H
#define ARGUS_STEPS_CODE_SIGNALS_H

#include "steps/loops/code_paths.h"

/* Signal n is bit n - 1. 0: none, or the code does not tell. `start`: the function's address in the image. */
uint64_t code_signals_of(struct code_budget *budget, const struct code_image *image,
                         uint64_t start);

#endif
