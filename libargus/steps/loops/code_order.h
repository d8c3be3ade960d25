/* Whether one instruction of a function may be executed before another one. */
#ifndef ARGUS_STEPS_CODE_ORDER_H
#define ARGUS_STEPS_CODE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* Whether ways lead from the instruction at `from` to that at `to`, both of one function of the
 * file. Also true if that is not known. */
bool code_may_lead(struct elf_file *file, bool is_arm64, uint64_t from, uint64_t to);

#endif
