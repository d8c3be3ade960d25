/* DWARF expressions as call frame information has them: over registers and the stack, without branches. */
#ifndef ARGUS_EVENT_CFI_EXPRESSION_H
#define ARGUS_EVENT_CFI_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#define CFI_REGISTERS 33 /* aarch64: x0 to x30, sp, pc; x86_64: 17 */

/* A thread's registers in one frame, and what is known of its memory. */
struct cfi_machine {
    uint64_t registers[CFI_REGISTERS];
    uint64_t known; /* a bit for each register that has a value */
    uint64_t cfa;
    uint64_t return_slot; /* where the last step looked for the return address; 0: not in memory */
    bool (*read)(void *context, uint64_t address, uint64_t *ret);
    void *context;
};

/* The value of `count` operations, which begin with `stack_top` on the stack if it is not NULL. `*ret_is_value`: they end in
 * DW_OP_stack_value, so that the result is not the address of the value. False for an operation that is none of CFI's,
 * an unknown register, or memory that cannot be read. */
bool cfi_expression(const struct cfi_machine *machine, const Dwarf_Op *operations, size_t count,
                    uint64_t *ret, bool *ret_is_value);

#endif
