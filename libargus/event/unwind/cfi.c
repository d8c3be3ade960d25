#include "event/unwind/cfi.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "base/code_address.h"

#define X86_64_RBX 3 /* DWARF's number */
#define ARM64_SP   31

void cfi_init(struct cfi *cfi, struct elf_file *elf, uint32_t register_count)
{
    *cfi = (struct cfi){.elf = elf, .register_count = register_count};
}

static void row_destroy(struct cfi_row *row)
{
    if (row)
        free(row->frame);
    free(row);
}

void cfi_deinit(struct cfi *cfi)
{
    for (size_t i = 0; i < cfi->rows.length; i++)
        row_destroy(cfi->rows.data[i]);
    vec_deinit(&cfi->rows);
    idmap_deinit(&cfi->by_address);
}

/* --- making a row --- */

/* A row whose operations libdw made itself: they are in the caller's memory and need not be
 * stored. */
static struct cfi_rule simple_rule(const Dwarf_Op *operations, size_t count)
{
    uint8_t atom = operations[0].atom;
    if (count == 1 && atom == DW_OP_regx)
        return (struct cfi_rule){.kind = CFI_REGISTER, .offset = (int64_t)operations[0].number};
    if (count == 1 && atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
        return (struct cfi_rule){.kind = CFI_REGISTER, .offset = atom - DW_OP_reg0};
    bool added = count >= 2 && operations[1].atom == DW_OP_plus_uconst;
    bool value = count >= 2 && operations[count - 1].atom == DW_OP_stack_value;
    if (atom != DW_OP_call_frame_cfa || count != 1u + added + value)
        return (struct cfi_rule){.kind = CFI_UNDEFINED};
    return (struct cfi_rule){
        .kind = value ? CFI_IS_CFA : CFI_AT_CFA,
        .offset = added ? (int64_t)operations[1].number : 0,
    };
}

static struct cfi_rule register_rule(Dwarf_Frame *frame, uint32_t number)
{
    Dwarf_Op room[3], *operations;
    size_t count;
    if (dwarf_frame_register(frame, (int)number, room, &operations, &count) != 0)
        return (struct cfi_rule){.kind = CFI_UNDEFINED};
    if (count == 0)
        return (struct cfi_rule){.kind = operations ? CFI_UNDEFINED : CFI_SAME};
    if (operations == room)
        return simple_rule(operations, count);
    return (struct cfi_rule){
        .kind = CFI_EXPRESSION, .operations = operations, .count = (uint32_t)count};
}

static bool cfa_rule(Dwarf_Frame *frame, struct cfi_row *row)
{
    Dwarf_Op *operations;
    size_t count;
    if (dwarf_frame_cfa(frame, &operations, &count) != 0 || count == 0)
        return false;
    row->cfa = (struct cfi_rule){
        .kind = CFI_EXPRESSION, .operations = operations, .count = (uint32_t)count};
    uint8_t atom = operations[0].atom;
    bool based = atom == DW_OP_bregx || (atom >= DW_OP_breg0 && atom <= DW_OP_breg31);
    if (count == 1 && based) {
        uint64_t number = atom == DW_OP_bregx ? operations[0].number : atom - (uint64_t)DW_OP_breg0;
        row->cfa.kind = CFI_IS_CFA;
        row->cfa.offset =
            (int64_t)(atom == DW_OP_bregx ? operations[0].number2 : operations[0].number);
        row->cfa_register = (uint8_t)(number < CFI_REGISTERS ? number : CFI_REGISTERS);
    }
    return true;
}

static bool is_arm64(const struct cfi *cfi)
{
    return cfi->register_count == CFI_REGISTERS;
}

/* Undoes a misreading of DW_CFA_AARCH64_negate_ra_state, which accompanies each signing of a return
 * address and has the number of SPARC's DW_CFA_GNU_window_save. elfutils (0.188, libdw/cfi.c) takes
 * it for the latter: registers 8 to 15 are said to be in 16 to 31, and those above the CFA, where
 * an arm64 function saves nothing. Registers that a function really saves are listed after it. */
static void undo_window_save(struct cfi_row *row)
{
    for (uint32_t i = 8; i <= ARM64_SP; i++) {
        struct cfi_rule *rule = &row->registers[i];
        bool in_window = rule->kind == CFI_REGISTER && rule->offset == i + 16;
        bool is_saved = rule->kind == CFI_AT_CFA && i >= 16 && rule->offset == (i - 16) * 8;
        if (i < 16 ? in_window : is_saved)
            *rule = (struct cfi_rule){.kind = i == ARM64_SP ? CFI_IS_CFA : CFI_SAME};
    }
}

/* Takes ownership of `frame`. */
static struct cfi_row *row_create(const struct cfi *cfi, Dwarf_Frame *frame)
{
    struct cfi_row *row = calloc(1, sizeof(*row));
    if (!row) {
        free(frame);
        return NULL;
    }
    row->frame = frame;
    int column = dwarf_frame_info(frame, NULL, NULL, &row->is_signal);
    if (column < 0 || (uint32_t)column >= cfi->register_count || !cfa_rule(frame, row)) {
        row_destroy(row);
        return NULL;
    }
    row->return_register = (uint8_t)column;
    for (uint32_t i = 0; i < cfi->register_count; i++)
        row->registers[i] = register_rule(frame, i);
    /* elfutils (backends/x86_64_cfi.c, 0.188) writes "0" where it means rbx, and so marks rax as
     * preserved by the callee instead. */
    bool x86_64 = cfi->register_count == 17;
    if (x86_64 && row->registers[X86_64_RBX].kind == CFI_UNDEFINED)
        row->registers[X86_64_RBX].kind = CFI_SAME;
    if (is_arm64(cfi))
        undo_window_save(row);
    return row;
}

static struct cfi_row *row_of(const struct cfi *cfi, uint64_t address)
{
    for (int which = 0; which < 2; which++) {
        uint64_t bias = 0;
        Dwarf_Frame *frame = NULL;
        Dwarf_CFI *table = elf_file_cfi(cfi->elf, which, &bias);
        if (table && dwarf_cfi_addrframe(table, address - bias, &frame) == 0)
            return row_create(cfi, frame);
    }
    return NULL;
}

const struct cfi_row *cfi_find(struct cfi *cfi, uint64_t address)
{
    uint32_t index = idmap_get(&cfi->by_address, address);
    if (index != IDMAP_NONE)
        return cfi->rows.data[index];
    if (!vec_reserve(&cfi->rows, 1))
        return NULL;
    struct cfi_row *row = row_of(cfi, address);
    index = (uint32_t)cfi->rows.length;
    cfi->rows.data[cfi->rows.length++] = row;
    idmap_put(&cfi->by_address, address, index); /* without memory it is computed again */
    return row;
}

/* --- stepping --- */

static bool evaluate(const struct cfi_rule *rule, const struct cfi_machine *machine, uint64_t *ret)
{
    bool is_value;
    if (!cfi_expression(machine, rule->operations, rule->count, ret, &is_value))
        return false;
    return is_value || machine->read(machine->context, *ret, ret);
}

static bool find_cfa(const struct cfi_row *row, struct cfi_machine *machine)
{
    bool is_value;
    if (row->cfa.kind == CFI_EXPRESSION)
        return cfi_expression(machine, row->cfa.operations, row->cfa.count, &machine->cfa,
                              &is_value);
    if (row->cfa_register >= CFI_REGISTERS || !(machine->known >> row->cfa_register & 1))
        return false;
    machine->cfa = machine->registers[row->cfa_register] + (uint64_t)row->cfa.offset;
    return true;
}

/* The caller's value of register `number`; false: unknown. */
static bool find_register(const struct cfi_rule *rule, uint32_t number,
                          const struct cfi_machine *machine, uint64_t *ret)
{
    switch (rule->kind) {
    case CFI_SAME:
        *ret = machine->registers[number];
        return machine->known >> number & 1;
    case CFI_IS_CFA:
        *ret = machine->cfa + (uint64_t)rule->offset;
        return true;
    case CFI_AT_CFA:
        return machine->read(machine->context, machine->cfa + (uint64_t)rule->offset, ret);
    case CFI_REGISTER:
        if (rule->offset < 0 || rule->offset >= CFI_REGISTERS)
            return false;
        *ret = machine->registers[rule->offset];
        return machine->known >> rule->offset & 1;
    case CFI_EXPRESSION:
        return evaluate(rule, machine, ret);
    case CFI_UNDEFINED:
        break;
    }
    return false;
}

enum cfi_step cfi_step(const struct cfi *cfi, const struct cfi_row *row,
                       struct cfi_machine *machine)
{
    uint64_t registers[CFI_REGISTERS] = {0}, known = 0;
    uint32_t pc = cfi->register_count - 1;
    if (!find_cfa(row, machine))
        return CFI_BROKEN;
    const struct cfi_rule *back = &row->registers[row->return_register];
    if (back->kind == CFI_UNDEFINED)
        return CFI_OUTERMOST;
    uint64_t address = 0;
    machine->return_slot = back->kind == CFI_AT_CFA ? machine->cfa + (uint64_t)back->offset : 0;
    if (!find_register(back, row->return_register, machine, &address))
        return CFI_NO_MEMORY;
    if (is_arm64(cfi))
        address = code_address_arm64(address);
    for (uint32_t i = 0; i < pc; i++)
        if (find_register(&row->registers[i], i, machine, &registers[i]))
            known |= 1ull << i;
    registers[pc] = address;
    known |= 1ull << pc;
    memcpy(machine->registers, registers, sizeof(registers));
    machine->known = known;
    return address ? CFI_STEPPED : CFI_OUTERMOST;
}
