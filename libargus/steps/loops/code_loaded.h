/* The address that code has loaded into a register, for registers that have several in turn.
 *
 * A compiler loads the address of a table before a loop, and uses the register for something else
 * behind it. So an instruction has the address that all ways to it agree on. A way that comes from
 * a jump whose targets are not known is not seen.
 */
#ifndef ARGUS_STEPS_CODE_LOADED_H
#define ARGUS_STEPS_CODE_LOADED_H

#include "steps/loops/code_function.h"

/* Whether it loads an address into the register: lea rbx, [rip+table] */
bool code_loads_address(const struct instruction *at, uint8_t reg);

/* The address that `reg` has before `node`, for which `nodes` and `next` have to be there. False:
 * none, another on another way, or no memory. */
bool code_loaded_address(const struct code_function *function, uint32_t node, uint8_t reg,
                         uint64_t *ret);

#endif
