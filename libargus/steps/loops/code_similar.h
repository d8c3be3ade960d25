/* Functions that may write a variable of an object, but have the pointer to it from where code does
 * not tell: a thread got it when it began, from a list, in a closure.
 *
 * A store counts if it has the flag's size and lies as far behind a pointer as the flag does, and
 * if debug information names no other member. That is no proof; so only functions that other
 * threads are known to execute are looked at, and those that they call, and all are is_possible.
 */
#ifndef ARGUS_STEPS_CODE_SIMILAR_H
#define ARGUS_STEPS_CODE_SIMILAR_H

#include "steps/loops/code_writers.h"

#define CODE_SIMILAR_MAX 4 /* with more of them the likeness says nothing */

/* The functions, by where they begin: addresses of the flag's file. `code`: an instruction of the
 * loop. False: none, or too many, or a flag that is no member and lies behind no pointer, or is one
 * of an array. Where debug information names the member, or the function is a closure of the one
 * that has the variable, only such functions are taken. */
bool code_similar_find(const struct loop_flag *flag, uint64_t code, const uint64_t *starts,
                       uint32_t count, bool is_arm64, struct code_writers *ret);

#endif
