/* Converts arm64 instructions from Capstone's representation. Capstone 4 does not give the sizes of
 * memory operands, nor for all instructions whether they are read or written. Both follow from the
 * mnemonic on this architecture. */
#include "steps/instruction_machine.h"

#include <string.h>

static uint8_t number_of(unsigned reg)
{
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
        return (uint8_t)(reg - ARM64_REG_X0);
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
        return (uint8_t)(reg - ARM64_REG_W0);
    if (reg == ARM64_REG_X29 || reg == ARM64_REG_X30)
        return reg == ARM64_REG_X29 ? 29 : REGISTER_X30;
    return reg == ARM64_REG_SP || reg == ARM64_REG_WSP ? REGISTER_X31 : REGISTER_NONE;
}

/* Ranges of vector registers, with the size of one in bytes. */
static const struct {
    unsigned first;
    uint32_t bytes;
} vectors[] = {
    {ARM64_REG_B0, 1}, {ARM64_REG_H0, 2},  {ARM64_REG_S0, 4},
    {ARM64_REG_D0, 8}, {ARM64_REG_Q0, 16}, {ARM64_REG_V0, 16},
};

static uint64_t bit_of(unsigned reg)
{
    uint8_t number = number_of(reg);
    if (number != REGISTER_NONE)
        return REGISTER_BIT(number);
    if (reg == ARM64_REG_NZCV)
        return REGISTER_BIT(REGISTER_FLAGS);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        if (reg >= vectors[i].first && reg < vectors[i].first + 32) {
            unsigned bit = REGISTER_VECTOR + (reg - vectors[i].first);
            return REGISTER_BIT(bit > 63 ? 63 : bit);
        }
    return 0;
}

static uint32_t register_bytes(unsigned reg)
{
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        if (reg >= vectors[i].first && reg < vectors[i].first + 32)
            return vectors[i].bytes;
    bool narrow = (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) || reg == ARM64_REG_WZR;
    return narrow ? 4 : 8;
}

static bool starts(const cs_insn *insn, const char *prefix)
{
    return strncmp(insn->mnemonic, prefix, strlen(prefix)) == 0;
}

static bool is_load(const cs_insn *insn)
{
    return starts(insn, "ld");
}

static bool is_store(const cs_insn *insn)
{
    return starts(insn, "st");
}

static bool is_exclusive_store(const cs_insn *insn)
{
    return starts(insn, "stxr") || starts(insn, "stlxr") || starts(insn, "stxp") ||
           starts(insn, "stlxp");
}

/* The size of a memory access: from the mnemonic's last letters, else from the registers. */
static uint32_t memory_bytes(const cs_insn *insn)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    const char *name = insn->mnemonic;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 2, "sw") == 0)
        return strstr(name, "ldp") ? 8 : 4;
    if (length > 3 && (name[length - 1] == 'b' || name[length - 1] == 'h'))
        return name[length - 1] == 'b' ? 1 : 2;
    uint32_t bytes = 0;
    for (unsigned i = is_exclusive_store(insn) ? 1 : 0; i < arm64->op_count; i++)
        if (arm64->operands[i].type == ARM64_OP_REG)
            bytes += register_bytes(arm64->operands[i].reg);
    return bytes;
}

/* Loads and stores through a register; a literal LDR has its address as an immediate. */
static void add_memory(const cs_insn *insn, const cs_arm64_op *op, struct instruction *ret)
{
    struct instruction_memory *memory = instruction_add_memory(ret);
    if (!memory)
        return;
    memory->reads = is_load(insn);
    memory->writes = is_store(insn);
    memory->size_bytes = memory_bytes(insn);
    if (op->type == ARM64_OP_IMM) {
        memory->is_relative = true;
        memory->displacement = op->imm;
        return;
    }
    memory->base = number_of(op->mem.base);
    memory->index = number_of(op->mem.index);
    memory->displacement = op->mem.disp;
    if (op->shift.type == ARM64_SFT_LSL || op->ext != ARM64_EXT_INVALID)
        memory->scale = (uint8_t)(1u << (op->shift.value & 7));
    memory->extend = op->ext == ARM64_EXT_UXTW   ? EXTEND_UXTW
                     : op->ext == ARM64_EXT_SXTW ? EXTEND_SXTW
                                                 : EXTEND_NONE;
    if (insn->detail->arm64.writeback)
        ret->writes |= bit_of(op->mem.base);
}

/* Which register operands are written: for a load all, for a store none (except the status of an
 * exclusive store), otherwise the first. */
static bool is_written(const cs_insn *insn, unsigned operand, const struct instruction *ret)
{
    if (ret->flow != FLOW_NEXT || ret->is_compare)
        return false;
    if (is_load(insn))
        return true;
    if (is_store(insn))
        return operand == 0 && is_exclusive_store(insn);
    return operand == 0;
}

/* Instructions whose first operand is also read. */
static bool is_first_read(const cs_insn *insn)
{
    return starts(insn, "movk") || starts(insn, "bfi") || starts(insn, "bfxil") ||
           starts(insn, "bfm") || starts(insn, "ins") || starts(insn, "mla") ||
           starts(insn, "fmla") || starts(insn, "bsl");
}

static void take_operand(const cs_insn *insn, unsigned operand, struct instruction *ret)
{
    const cs_arm64_op *op = &insn->detail->arm64.operands[operand];
    bool transfers = is_load(insn) || is_store(insn);
    if (op->type == ARM64_OP_REG) {
        bool written = is_written(insn, operand, ret);
        ret->writes |= written ? bit_of(op->reg) : 0;
        ret->reads |= !written || is_first_read(insn) ? bit_of(op->reg) : 0;
    } else if (op->type == ARM64_OP_MEM && transfers) {
        add_memory(insn, op, ret);
    } else if (op->type == ARM64_OP_IMM && transfers && !ret->memory_count) {
        add_memory(insn, op, ret);
    } else if (op->type == ARM64_OP_IMM && !transfers) {
        ret->has_immediate = true;
        ret->immediate = op->imm;
    }
}

static uint8_t flow_of(const cs_insn *insn)
{
    switch (insn->id) {
    case ARM64_INS_B:
        return insn->detail->arm64.cc == ARM64_CC_INVALID || insn->detail->arm64.cc == ARM64_CC_AL
                   ? FLOW_JUMP
                   : FLOW_BRANCH;
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ:
        return FLOW_BRANCH;
    case ARM64_INS_BL:
        return FLOW_CALL;
    case ARM64_INS_BLR:
        return FLOW_CALL_INDIRECT;
    case ARM64_INS_BR:
        return FLOW_JUMP_INDIRECT;
    case ARM64_INS_RET:
        return FLOW_RETURN;
    case ARM64_INS_SVC:
        return FLOW_SYSCALL;
    case ARM64_INS_BRK:
    case ARM64_INS_HLT:
        return FLOW_TRAP;
    default:
        return FLOW_NEXT;
    }
}

static bool only_compares(const cs_insn *insn)
{
    return starts(insn, "cmp") || starts(insn, "cmn") || starts(insn, "tst") ||
           starts(insn, "ccmp") || starts(insn, "ccmn") || starts(insn, "fcmp") ||
           starts(insn, "fccmp");
}

static void take_flags(const cs_insn *insn, struct instruction *ret)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    bool conditional = arm64->cc != ARM64_CC_INVALID && arm64->cc != ARM64_CC_AL;
    if (conditional || starts(insn, "adc") || starts(insn, "sbc") || starts(insn, "ngc"))
        ret->reads |= REGISTER_BIT(REGISTER_FLAGS);
    if (arm64->update_flags || ret->is_compare)
        ret->writes |= REGISTER_BIT(REGISTER_FLAGS);
}

/* adr, adrp; add and sub of an immediate. */
static void take_sum(const cs_insn *insn, struct instruction *ret)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    bool is_address = insn->id == ARM64_INS_ADR || insn->id == ARM64_INS_ADRP;
    bool adds = insn->id == ARM64_INS_ADD || insn->id == ARM64_INS_SUB;
    if (!ret->has_immediate || ret->is_compare || (!is_address && (!adds || arm64->op_count != 3)))
        return;
    unsigned shift = adds ? arm64->operands[2].shift.value & 63 : 0;
    uint64_t value = (uint64_t)ret->immediate << shift;
    ret->is_sum = true;
    ret->addend = (int64_t)(insn->id == ARM64_INS_SUB ? 0 - value : value);
}

/* and and tst of an immediate, tbz and tbnz, lsr, uxtb and uxth. */
static void take_bits(const cs_insn *insn, struct instruction *ret)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    const cs_arm64_op *last = &arm64->operands[arm64->op_count ? arm64->op_count - 1 : 0];
    bool by_immediate = arm64->op_count >= 2 && last->type == ARM64_OP_IMM;
    ret->bit_use = BITS_MASKED;
    if ((insn->id == ARM64_INS_AND || insn->id == ARM64_INS_TST || starts(insn, "ands")) &&
        by_immediate)
        ret->bits = (uint64_t)last->imm;
    else if (insn->id == ARM64_INS_TBZ || insn->id == ARM64_INS_TBNZ)
        ret->bits = UINT64_C(1) << (arm64->operands[1].imm & 63);
    else if (starts(insn, "uxtb") || starts(insn, "uxth"))
        ret->bits = starts(insn, "uxtb") ? 0xff : 0xffff;
    else
        ret->bit_use = BITS_ALL;
    if (insn->id == ARM64_INS_LSR && by_immediate) {
        ret->bit_use = BITS_SHIFTED;
        ret->bits = (uint64_t)last->imm & 63;
    }
}

void instruction_from_arm64(csh handle, const cs_insn *insn, struct instruction *ret)
{
    const cs_arm64 *arm64 = &insn->detail->arm64;
    (void)handle;
    ret->flow = flow_of(insn);
    ret->is_compare = only_compares(insn);
    ret->tests_bits = starts(insn, "tst");
    ret->gathers = starts(insn, "orr");
    ret->is_move = starts(insn, "mov") || is_load(insn) || is_store(insn) || starts(insn, "sxt") ||
                   starts(insn, "uxt") || starts(insn, "fmov");
    for (unsigned i = 0; i < arm64->op_count; i++)
        take_operand(insn, i, ret);
    take_flags(insn, ret);
    take_sum(insn, ret);
    take_bits(insn, ret);
    if (ret->flow == FLOW_BRANCH || ret->flow == FLOW_JUMP || ret->flow == FLOW_CALL) {
        ret->target = (uint64_t)ret->immediate;
        ret->has_immediate = false;
    }
    if (ret->flow == FLOW_CALL || ret->flow == FLOW_CALL_INDIRECT)
        ret->writes |= REGISTER_BIT(REGISTER_X30);
    if (ret->flow == FLOW_RETURN)
        ret->reads |= REGISTER_BIT(REGISTER_X30);
    if (ret->flow == FLOW_SYSCALL)
        ret->writes |= REGISTER_BIT(0);
}
