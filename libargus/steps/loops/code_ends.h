/* Calls that never come back, because the program or the thread ends: exit(), err(), and functions
 * of the file itself in which all ways lead to such a call (die(), fatal(), usage()).
 *
 * Compilers put other code right behind such a call. If the call seemed to come back, a check for
 * an error would be a way into the middle of a loop, and the loop would not be found. Unlike
 * abort() (code_fails()), such a call is a way to leave a loop, as a return is.
 */
#ifndef ARGUS_STEPS_CODE_ENDS_H
#define ARGUS_STEPS_CODE_ENDS_H

#include "steps/loops/code_function.h"

/* Whether the call, which `function` has, never comes back. `looks_inside`: also if that takes a
 * look at the function that it calls. */
bool code_ends(const struct code_function *function, const struct instruction *call,
               bool looks_inside);

#endif
