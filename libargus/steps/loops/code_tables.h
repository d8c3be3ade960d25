/* Where jumps through tables lead (`switch`), in optimized code for x86-64.
 *
 * Compilers compare the index with the number of cases and load from a table of constants:
 * distances to the table's own beginning (movsxd rax, [rbx+rax*4]; add rax, rbx; jmp rax), or, in
 * programs of a fixed address, addresses (jmp [rax*8+table]). A table counts only if the index is
 * compared right before, each of its words leads to code, and at least one into the function; the
 * words that lead out of it go to another part of the function (.cold).
 */
#ifndef ARGUS_STEPS_CODE_TABLES_H
#define ARGUS_STEPS_CODE_TABLES_H

#include "steps/loops/code_function.h"

/* Whether there are jumps through a register or memory, which may be such ones. */
bool code_tables_has_jumps(const struct code_function *function);

/* Fills `function->ways` from decoded `nodes` and `next`, and from where branches and jumps lead
 * (`is_target`, by node). A jump whose table is not found has none there. */
void code_tables_find(struct code_function *function, const bool *is_target);

#endif
