/* Call frame information: computes a caller's registers from those of the called function.
 *
 * libdw finds and executes the instructions in .eh_frame. The resulting row for an address is
 * cached here, because the same few places are unwound again and again. In nearly all rows, the CFA
 * is a register plus a constant, and each register is unchanged or saved at an offset from the CFA.
 * In the others (signal frames, the PLT), it is an expression.
 */
#ifndef ARGUS_EVENT_CFI_H
#define ARGUS_EVENT_CFI_H

#include "base/idmap.h"
#include "base/vec.h"
#include "event/binary/elf_file.h"
#include "event/unwind/cfi_expression.h"

enum cfi_rule_kind {
    CFI_SAME,       /* the caller has the same value as this frame */
    CFI_UNDEFINED,  /* the value is lost; for the return address: there is no caller */
    CFI_AT_CFA,     /* at CFA + offset */
    CFI_IS_CFA,     /* CFA + offset itself */
    CFI_REGISTER,   /* in another register, whose number is the offset */
    CFI_EXPRESSION, /* computed by cfi_expression() */
};

struct cfi_rule {
    enum cfi_rule_kind kind;
    uint32_t count; /* number of operations */
    int64_t offset;
    /* of CFI_EXPRESSION; valid as long as the row's frame and its file */
    const Dwarf_Op *operations;
};

/* The rules for one address. */
struct cfi_row {
    struct cfi_rule cfa; /* CFI_IS_CFA with `cfa_register`, or CFI_EXPRESSION */
    uint8_t cfa_register;
    uint8_t return_register; /* the column of the return address */
    bool is_signal;          /* a signal interrupted the caller: its pc is not a return address */
    struct cfi_rule registers[CFI_REGISTERS];
    Dwarf_Frame *frame; /* memory into which operations may point; owned */
};

/* The cached rows of one file. */
struct cfi {
    struct elf_file *elf; /* borrowed */
    uint32_t register_count;
    VEC(struct cfi_row *) rows; /* owned; NULL for an address without information */
    struct idmap by_address;
};

/* `register_count`: 17 or 33, depending on the machine. */
void cfi_init(struct cfi *cfi, struct elf_file *elf, uint32_t register_count);
void cfi_deinit(struct cfi *cfi);

/* The row for `address` in the file's address space, borrowed; NULL: there is no information. */
const struct cfi_row *cfi_find(struct cfi *cfi, uint64_t address);

enum cfi_step {
    CFI_STEPPED,   /* `machine` is now in the caller's state */
    CFI_OUTERMOST, /* there is no caller */
    CFI_NO_MEMORY, /* the stack at `*ret_address` is not known */
    CFI_BROKEN,    /* the row's rules are impossible */
};

/* Steps to the caller: sets registers, CFA, and the return address as the last register, the pc. */
enum cfi_step cfi_step(const struct cfi *cfi, const struct cfi_row *row,
                       struct cfi_machine *machine);

#endif
