/* Converts x86-64 instructions from Capstone's representation.
 *
 * Capstone lists the operands that appear in the disassembly; instruction_x86_access.c determines
 * how each is accessed. The stack accesses of push, pop, call, ret and leave are added here.
 */
#include "steps/instruction_x86.h"

/* For each of Capstone's registers: general register + 1; 0: not a general register. */
#define PARTS(r64, r32, r16, r8, number)                                                           \
    [X86_REG_##r64] = (number) + 1, [X86_REG_##r32] = (number) + 1,                                \
    [X86_REG_##r16] = (number) + 1, [X86_REG_##r8] = (number) + 1

static const uint8_t general[X86_REG_ENDING] = {
    PARTS(RAX, EAX, AX, AL, 0),
    PARTS(RCX, ECX, CX, CL, 1),
    PARTS(RDX, EDX, DX, DL, 2),
    PARTS(RBX, EBX, BX, BL, 3),
    PARTS(RSP, ESP, SP, SPL, 4),
    PARTS(RBP, EBP, BP, BPL, 5),
    PARTS(RSI, ESI, SI, SIL, 6),
    PARTS(RDI, EDI, DI, DIL, 7),
    PARTS(R8, R8D, R8W, R8B, 8),
    PARTS(R9, R9D, R9W, R9B, 9),
    PARTS(R10, R10D, R10W, R10B, 10),
    PARTS(R11, R11D, R11W, R11B, 11),
    PARTS(R12, R12D, R12W, R12B, 12),
    PARTS(R13, R13D, R13W, R13B, 13),
    PARTS(R14, R14D, R14W, R14B, 14),
    PARTS(R15, R15D, R15W, R15B, 15),
    [X86_REG_AH] = 1,
    [X86_REG_CH] = 2,
    [X86_REG_DH] = 3,
    [X86_REG_BH] = 4,
};

/* Ranges of registers that contain no addresses, and the bit of the first. */
static const struct {
    unsigned first, last;
} vectors[] = {
    {X86_REG_XMM0, X86_REG_XMM31}, {X86_REG_YMM0, X86_REG_YMM31}, {X86_REG_ZMM0, X86_REG_ZMM31},
    {X86_REG_MM0, X86_REG_MM7},    {X86_REG_ST0, X86_REG_ST7},    {X86_REG_FP0, X86_REG_FP7},
    {X86_REG_K0, X86_REG_K7},
};

static uint8_t number_of(unsigned reg)
{
    return reg < X86_REG_ENDING && general[reg] ? general[reg] - 1 : REGISTER_NONE;
}

static uint64_t bit_of(unsigned reg)
{
    if (number_of(reg) != REGISTER_NONE)
        return REGISTER_BIT(number_of(reg));
    if (reg == X86_REG_EFLAGS || reg == X86_REG_FPSW)
        return REGISTER_BIT(REGISTER_FLAGS);
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
        if (reg >= vectors[i].first && reg <= vectors[i].last) {
            unsigned bit = REGISTER_VECTOR + (reg - vectors[i].first);
            return REGISTER_BIT(bit > 63 ? 63 : bit);
        }
    return 0;
}

static bool in_group(const cs_insn *insn, uint8_t group)
{
    for (unsigned i = 0; i < insn->detail->groups_count; i++)
        if (insn->detail->groups[i] == group)
            return true;
    return false;
}

static uint8_t flow_of(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool direct = x86->op_count > 0 && x86->operands[x86->op_count - 1].type == X86_OP_IMM;
    switch (insn->id) {
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
        return FLOW_SYSCALL;
    case X86_INS_UD2:
    case X86_INS_INT3:
    case X86_INS_INT:
    case X86_INS_HLT:
        return FLOW_TRAP;
    case X86_INS_JMP:
    case X86_INS_LJMP:
        return direct ? FLOW_JUMP : FLOW_JUMP_INDIRECT;
    default:
        break;
    }
    if (in_group(insn, CS_GRP_CALL))
        return direct ? FLOW_CALL : FLOW_CALL_INDIRECT;
    if (in_group(insn, CS_GRP_RET) || in_group(insn, CS_GRP_IRET))
        return FLOW_RETURN;
    bool loops =
        insn->id == X86_INS_LOOP || insn->id == X86_INS_LOOPE || insn->id == X86_INS_LOOPNE;
    return in_group(insn, CS_GRP_JUMP) || loops ? FLOW_BRANCH : FLOW_NEXT;
}

static uint8_t segment_of(unsigned reg)
{
    return reg == X86_REG_FS ? SEGMENT_FS : reg == X86_REG_GS ? SEGMENT_GS : SEGMENT_NONE;
}

static void add_memory(const cs_insn *insn, unsigned operand, struct instruction *ret)
{
    const cs_x86_op *op = &insn->detail->x86.operands[operand];
    struct instruction_memory *memory = instruction_add_memory(ret);
    uint8_t access = x86_memory_access(insn, operand), prefix = insn->detail->x86.prefix[0];
    if (!memory)
        return;
    memory->base = number_of(op->mem.base);
    memory->index = number_of(op->mem.index);
    memory->scale = op->mem.scale ? (uint8_t)op->mem.scale : 1;
    memory->segment = segment_of(op->mem.segment);
    memory->displacement = op->mem.disp;
    memory->size_bytes = op->size;
    memory->reads = access & CS_AC_READ;
    memory->writes = access & CS_AC_WRITE;
    bool named = op->mem.base == X86_REG_RSI || op->mem.base == X86_REG_RDI;
    memory->is_repeated = named && (prefix == X86_PREFIX_REP || prefix == X86_PREFIX_REPNE) &&
                          (ret->reads & REGISTER_BIT(REGISTER_RCX));
    if (op->mem.base == X86_REG_RIP) {
        memory->is_relative = true;
        memory->displacement += (int64_t)(ret->address + ret->length);
    }
}

/* Adds the stack accesses. */
static void add_stack(const cs_insn *insn, struct instruction *ret)
{
    bool calls = ret->flow == FLOW_CALL || ret->flow == FLOW_CALL_INDIRECT;
    bool pushes = insn->id == X86_INS_PUSH || insn->id == X86_INS_PUSHFQ ||
                  insn->id == X86_INS_PUSHF || insn->id == X86_INS_ENTER || calls;
    bool pops = insn->id == X86_INS_POP || insn->id == X86_INS_POPFQ || insn->id == X86_INS_POPF ||
                insn->id == X86_INS_LEAVE || ret->flow == FLOW_RETURN;
    if (!pushes && !pops)
        return;
    bool of_operand = insn->id == X86_INS_PUSH || insn->id == X86_INS_POP;
    uint32_t bytes = of_operand && insn->detail->x86.operands[0].size == 2 ? 2 : 8;
    struct instruction_memory *memory = instruction_add_memory(ret);
    ret->writes |= REGISTER_BIT(REGISTER_RSP);
    if (!memory)
        return;
    memory->base = insn->id == X86_INS_LEAVE ? REGISTER_RBP : REGISTER_RSP;
    memory->displacement = pushes ? -(int64_t)bytes : 0;
    memory->size_bytes = bytes;
    memory->reads = pops;
    memory->writes = pushes;
    memory->is_implicit = true;
}

/* xor eax, eax and the like: the result does not depend on the register's value. */
static bool is_constant(const cs_insn *insn)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool kind = insn->id == X86_INS_XOR || insn->id == X86_INS_SUB || insn->id == X86_INS_PXOR ||
                insn->id == X86_INS_XORPS || insn->id == X86_INS_XORPD || insn->id == X86_INS_SBB;
    return kind && x86->op_count == 2 && x86->operands[0].type == X86_OP_REG &&
           x86->operands[1].type == X86_OP_REG && x86->operands[0].reg == x86->operands[1].reg;
}

static void take_register(const cs_insn *insn, unsigned operand, struct instruction *ret)
{
    uint64_t bit = bit_of(insn->detail->x86.operands[operand].reg);
    uint8_t access = x86_register_access(insn, operand, ret->flow);
    if ((access & CS_AC_READ) && !is_constant(insn))
        ret->reads |= bit;
    if (access & CS_AC_WRITE)
        ret->writes |= bit;
}

static void take_operand(const cs_insn *insn, unsigned operand, struct instruction *ret)
{
    const cs_x86_op *op = &insn->detail->x86.operands[operand];
    if (op->type == X86_OP_REG) {
        take_register(insn, operand, ret);
    } else if (op->type == X86_OP_IMM) {
        ret->has_immediate = true;
        ret->immediate = op->imm;
    } else if (op->type == X86_OP_MEM && !x86_only_names(insn)) {
        add_memory(insn, operand, ret);
    } else if (op->type == X86_OP_MEM && insn->id == X86_INS_LEA) {
        ret->reads |= bit_of(op->mem.base) | bit_of(op->mem.index);
    }
}

/* lea without an index; add and sub of an immediate. */
static void take_sum(const cs_insn *insn, struct instruction *ret)
{
    const cs_x86 *x86 = &insn->detail->x86;
    const cs_x86_op *last = &x86->operands[x86->op_count ? x86->op_count - 1 : 0];
    bool of_register = x86->op_count == 2 && x86->operands[0].type == X86_OP_REG;
    bool of_immediate = of_register && last->type == X86_OP_IMM;
    if (of_register && insn->id == X86_INS_LEA && last->mem.index == X86_REG_INVALID) {
        bool is_relative = last->mem.base == X86_REG_RIP;
        ret->is_sum = true;
        ret->addend = last->mem.disp + (is_relative ? (int64_t)(ret->address + ret->length) : 0);
    } else if (of_register && insn->id == X86_INS_LEA) {
        ret->addend = last->mem.disp;
    } else if (of_immediate && (insn->id == X86_INS_ADD || insn->id == X86_INS_SUB)) {
        ret->is_sum = true;
        ret->addend = insn->id == X86_INS_ADD ? last->imm : (int64_t)(0 - (uint64_t)last->imm);
    }
}

static bool is_high_byte(const cs_x86_op *op)
{
    return op->type == X86_OP_REG && (op->reg == X86_REG_AH || op->reg == X86_REG_BH ||
                                      op->reg == X86_REG_CH || op->reg == X86_REG_DH);
}

/* The bits of a register that an operand is; of memory, counted from its address. */
static uint64_t operand_bits(const cs_x86_op *op)
{
    uint64_t all = op->size < 8 ? (UINT64_C(1) << op->size * 8) - 1 : UINT64_MAX;
    return is_high_byte(op) ? all << 8 : all;
}

/* cmp and test, and, bt, movzx, shr: which bits of their first value matter. */
static void take_bits(const cs_insn *insn, struct instruction *ret)
{
    const cs_x86 *x86 = &insn->detail->x86;
    const cs_x86_op *first = &x86->operands[0], *last = &x86->operands[1];
    bool masks = insn->id == X86_INS_TEST || insn->id == X86_INS_AND;
    if (x86->op_count != 2 || (last->type == X86_OP_MEM && insn->id != X86_INS_MOVZX))
        return;
    if ((insn->id == X86_INS_SHR || insn->id == X86_INS_SAR) && last->type == X86_OP_IMM) {
        ret->bit_use = BITS_SHIFTED;
        ret->bits = (uint64_t)last->imm & 63;
    } else if (insn->id == X86_INS_BT && last->type == X86_OP_IMM) {
        ret->bit_use = BITS_MASKED;
        ret->bits = UINT64_C(1) << ((uint64_t)last->imm & (first->size * 8u - 1) & 63);
    } else if (insn->id == X86_INS_MOVZX && last->type == X86_OP_REG) {
        ret->bit_use = BITS_MASKED;
        ret->bits = operand_bits(last);
    } else if (masks || insn->id == X86_INS_CMP) {
        uint64_t mask = masks && last->type == X86_OP_IMM ? (uint64_t)last->imm : UINT64_MAX;
        ret->bit_use = BITS_MASKED;
        ret->bits = operand_bits(first) & (is_high_byte(first) ? mask << 8 : mask);
    }
}

void instruction_from_x86(csh handle, const cs_insn *insn, struct instruction *ret)
{
    const cs_detail *detail = insn->detail;
    (void)handle;
    for (unsigned i = 0; i < detail->regs_read_count; i++)
        ret->reads |= bit_of(detail->regs_read[i]);
    for (unsigned i = 0; i < detail->regs_write_count; i++)
        ret->writes |= bit_of(detail->regs_write[i]);
    ret->flow = flow_of(insn);
    ret->is_compare = x86_only_compares(insn->id);
    ret->tests_bits = insn->id == X86_INS_TEST || insn->id == X86_INS_BT ||
                      insn->id == X86_INS_PTEST || insn->id == X86_INS_VPTEST;
    ret->is_move = x86_is_move(insn);
    ret->gathers = insn->id == X86_INS_OR;
    for (unsigned i = 0; i < detail->x86.op_count; i++)
        take_operand(insn, i, ret);
    if (ret->flow == FLOW_BRANCH || ret->flow == FLOW_JUMP || ret->flow == FLOW_CALL) {
        ret->target = (uint64_t)ret->immediate;
        ret->has_immediate = false;
    }
    if (insn->id == X86_INS_CMPXCHG || insn->id == X86_INS_XADD) /* Capstone 4 omits these */
        ret->writes |= REGISTER_BIT(REGISTER_FLAGS);
    if (insn->id == X86_INS_CMPXCHG)
        ret->writes |= REGISTER_BIT(REGISTER_RAX);
    if (ret->flow == FLOW_SYSCALL)
        ret->writes |=
            REGISTER_BIT(REGISTER_RAX) | REGISTER_BIT(REGISTER_RCX) | REGISTER_BIT(REGISTER_R11);
    take_sum(insn, ret);
    take_bits(insn, ret);
    add_stack(insn, ret);
}
