/* Call frame information: how to get from the registers of a function to those of its caller.
 *
 * libdw finds and runs the instructions in .eh_frame; here the resulting row for one address is kept, because the same
 * few places are unwound again and again: in nearly all rows the CFA is a register plus a constant, and each register
 * is where it was or at a distance from the CFA. What is not (signal frames, the PLT) is an expression.
 */
#ifndef ARGUS_EVENT_CFI_H
#define ARGUS_EVENT_CFI_H

#include "base/idmap.h"
#include "base/vec.h"
#include "event/binary/elf_file.h"
#include "event/unwind/cfi_expression.h"

enum cfi_rule_kind {
    CFI_SAME,       /* the caller has what this frame has */
    CFI_UNDEFINED,  /* nobody knows any more; of the return address: there is no caller */
    CFI_AT_CFA,     /* at CFA + offset */
    CFI_IS_CFA,     /* CFA + offset itself */
    CFI_REGISTER,   /* in another register, whose number is the offset */
    CFI_EXPRESSION, /* as cfi_expression() says */
};

struct cfi_rule {
    enum cfi_rule_kind kind;
    uint32_t count; /* of operations */
    int64_t offset;
    const Dwarf_Op
        *operations; /* of CFI_EXPRESSION; they live as long as the row's frame and its file */
};

/* What holds at one address. */
struct cfi_row {
    struct cfi_rule cfa; /* CFI_IS_CFA with `cfa_register`, or CFI_EXPRESSION */
    uint8_t cfa_register;
    uint8_t return_register; /* the column that stands for the return address */
    bool is_signal;          /* the caller was interrupted: its pc is no return address */
    struct cfi_rule registers[CFI_REGISTERS];
    Dwarf_Frame *frame; /* what operations may point into; owned */
};

/* The rows of one file that were asked for. */
struct cfi {
    struct elf_file *elf; /* borrowed */
    uint32_t register_count;
    VEC(struct cfi_row *) rows; /* owned; NULL for an address without information */
    struct idmap by_address;
};

/* `register_count`: 17 or 33, as the machine has. */
void cfi_init(struct cfi *cfi, struct elf_file *elf, uint32_t register_count);
void cfi_deinit(struct cfi *cfi);

/* The row for `address` in the file's address space, borrowed; NULL: there is no information. */
const struct cfi_row *cfi_find(struct cfi *cfi, uint64_t address);

enum cfi_step {
    CFI_STEPPED,   /* `machine` is the caller now */
    CFI_OUTERMOST, /* there is no caller */
    CFI_NO_MEMORY, /* the stack at `*ret_address` is not known */
    CFI_BROKEN,    /* what the row says cannot be */
};

/* Goes to the caller: registers, CFA, and the return address as the last register, the pc. */
enum cfi_step cfi_step(const struct cfi *cfi, const struct cfi_row *row,
                       struct cfi_machine *machine);

#endif
