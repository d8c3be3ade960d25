/* Whether a loop does anything but look: then it waits, although it never sleeps.
 *
 * A loop that stores nothing that others can see, and whose end hangs on memory alone, ends in its
 * first turn, or when another thread changes that memory. A loop that also counts may be a
 * computation with a limit (`for (i = 2; i * i <= n && !cancelled; i++)`), so it must not compute,
 * either.
 */
#ifndef ARGUS_STEPS_LOOP_EFFECTS_H
#define ARGUS_STEPS_LOOP_EFFECTS_H

#include "steps/loops/code_slice.h"

struct loop_effects {
    bool acts; /* stores into memory that others may read, or calls what the code does not tell */
    bool computes; /* loads what does not decide its end, or combines values */
};

/* Of the loop that is the scope's region, and of the functions that it calls. `slice` has what
 * decides the loop's end. */
void loop_effects_find(const struct code_slice *slice, const struct code_scope *scope,
                       struct loop_effects *ret);

#endif
