/* Whether one instruction of a function may be executed before another one. */
#ifndef ARGUS_STEPS_CODE_ORDER_H
#define ARGUS_STEPS_CODE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct elf_file;

/* What questions about the same files share: each function is decoded once. NULL without memory. */
struct code_order *code_order_create(bool is_arm64);
void code_order_destroy(struct code_order *order);

/* Whether ways lead from the instruction at `from` to that at `to`, both of one function of the
 * file. Also true if that is not known, as without `order`. */
bool code_may_lead(struct code_order *order, struct elf_file *file, uint64_t from, uint64_t to);

#endif
