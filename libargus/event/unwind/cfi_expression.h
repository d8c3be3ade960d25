/* DWARF expressions as used in call frame information: over registers and the stack, without
 * branches. */
#ifndef ARGUS_EVENT_CFI_EXPRESSION_H
#define ARGUS_EVENT_CFI_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#define CFI_REGISTERS 33 /* aarch64: x0 to x30, sp, pc; x86_64: 17 */

/* A thread's registers in one frame, and the known part of its memory. */
struct cfi_machine {
    uint64_t registers[CFI_REGISTERS];
    uint64_t known; /* a bit for each register whose value is known */
    uint64_t cfa;
    /* address of the return address in the last step; 0: it was not in memory */
    uint64_t return_slot;
    bool (*read)(void *context, uint64_t address, uint64_t *ret);
    void *context;
};

/* Evaluates `count` operations, starting with `stack_top` on the stack if it is not NULL.
 * `*ret_is_value`: they end in DW_OP_stack_value, so the result is the value itself rather than its
 * address. False: an operation that call frame information does not use, an unknown register, or
 * unreadable memory. */
bool cfi_expression(const struct cfi_machine *machine, const Dwarf_Op *operations, size_t count,
                    uint64_t *ret, bool *ret_is_value);

#endif
