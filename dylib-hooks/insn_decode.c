#include "insn_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/disassembler.h"
#include "insn_newer_arm64.h"
#include "insn_vector.h"

struct decoder {
    struct disassembler capstone;
    enum hook_arch arch;
};

struct argus_error *decoder_create(enum hook_arch arch, struct decoder **ret)
{
    struct decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return argus_error_memory();
    decoder->arch = arch;
    struct argus_error *error = disassembler_init(&decoder->capstone, arch == HOOK_ARCH_ARM64);
    if (error) {
        free(decoder);
        return error;
    }
    *ret = decoder;
    return NULL;
}

void decoder_destroy(struct decoder *decoder)
{
    if (!decoder)
        return;
    disassembler_deinit(&decoder->capstone);
    free(decoder);
}

/* --- x86-64 --- */

static bool is_short_branch(unsigned id)
{
    return id == X86_INS_LOOP || id == X86_INS_LOOPE || id == X86_INS_LOOPNE ||
           id == X86_INS_JRCXZ || id == X86_INS_JECXZ || id == X86_INS_JCXZ || id == X86_INS_XBEGIN;
}

/* Capstone 5 has another name for 0f b9. */
#if CS_API_MAJOR < 5
#define X86_INS_UD1 X86_INS_UD2B
#endif

static bool is_trap(unsigned id)
{
    return id == X86_INS_INT3 || id == X86_INS_UD0 || id == X86_INS_UD1 || id == X86_INS_UD2 ||
           id == X86_INS_HLT || id == X86_INS_INT1 || id == X86_INS_INT;
}

static enum insn_flow flow_x86(csh handle, const cs_insn *insn, bool direct)
{
    if (is_short_branch(insn->id))
        return INSN_SHORT_BRANCH;
    if (is_trap(insn->id))
        return INSN_TRAP;
    if (cs_insn_group(handle, insn, CS_GRP_CALL))
        return direct ? INSN_CALL : INSN_CALL_INDIRECT;
    if (insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP)
        return direct ? INSN_JUMP : INSN_JUMP_INDIRECT;
    if (cs_insn_group(handle, insn, CS_GRP_JUMP))
        return INSN_BRANCH;
    if (cs_insn_group(handle, insn, CS_GRP_RET) || cs_insn_group(handle, insn, CS_GRP_IRET))
        return INSN_RETURN;
    return INSN_NEXT;
}

static void describe_x86(csh handle, const cs_insn *insn, struct insn *ret)
{
    const cs_x86 *x86 = &insn->detail->x86;
    bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
    ret->flow = (uint8_t)flow_x86(handle, insn, direct);
    ret->is_nop = insn->id == X86_INS_NOP || insn->id == X86_INS_FNOP;
    if (ret->flow == INSN_JUMP || ret->flow == INSN_BRANCH || ret->flow == INSN_SHORT_BRANCH ||
        ret->flow == INSN_CALL)
        ret->target = (uint64_t)x86->operands[0].imm;
    for (uint8_t i = 0; i < x86->op_count; i++) {
        const cs_x86_op *operand = &x86->operands[i];
        if (operand->type != X86_OP_MEM)
            continue;
        ret->uses_sp |= operand->mem.base == X86_REG_RSP || operand->mem.base == X86_REG_ESP;
        if (operand->mem.base != X86_REG_RIP || ret->is_nop)
            continue;
        ret->names_data = true;
        ret->takes_address = insn->id == X86_INS_LEA;
        ret->displacement_at = x86->encoding.disp_offset;
        ret->target = insn->address + insn->size + (uint64_t)operand->mem.disp;
    }
}

/* --- arm64 --- */

static const struct {
    unsigned id;
    enum insn_flow flow;
    bool names_data;
} rows_arm64[] = {
    {ARM64_INS_BL, INSN_CALL, false},          {ARM64_INS_BLR, INSN_CALL_INDIRECT, false},
    {ARM64_INS_BR, INSN_JUMP_INDIRECT, false}, {ARM64_INS_RET, INSN_RETURN, false},
    {ARM64_INS_ERET, INSN_RETURN, false},      {ARM64_INS_CBZ, INSN_BRANCH, false},
    {ARM64_INS_CBNZ, INSN_BRANCH, false},      {ARM64_INS_TBZ, INSN_BRANCH, false},
    {ARM64_INS_TBNZ, INSN_BRANCH, false},      {ARM64_INS_BRK, INSN_TRAP, false},
    {ARM64_INS_HLT, INSN_TRAP, false},         {ARM64_INS_ADR, INSN_NEXT, true},
    {ARM64_INS_ADRP, INSN_NEXT, true},
};

static uint64_t last_immediate(const cs_arm64 *arm)
{
    for (uint8_t i = arm->op_count; i > 0; i--)
        if (arm->operands[i - 1].type == ARM64_OP_IMM)
            return (uint64_t)arm->operands[i - 1].imm;
    return 0;
}

/* Load (literal): bits 29 to 27 and 25 to 24 are 011 and 00; the distance is bits 23 to 5, in
 * words. */
static bool is_literal_load(const struct insn *insn, uint64_t *ret)
{
    uint32_t word;
    memcpy(&word, insn->bytes, sizeof(word));
    int64_t distance = (int64_t)((uint64_t)(word >> 5 & 0x7ffff) << 45) >> 43;
    *ret = insn->address + (uint64_t)distance;
    return (word & 0x3b000000u) == 0x18000000u;
}

static void describe_arm64(const cs_insn *insn, struct insn *ret)
{
    const cs_arm64 *arm = &insn->detail->arm64;
    uint64_t literal;
    ret->is_nop = insn->id == ARM64_INS_NOP;
    if (insn->id == ARM64_INS_B)
        ret->flow = arm->cc == ARM64_CC_INVALID || arm->cc == ARM64_CC_AL ? INSN_JUMP : INSN_BRANCH;
    for (size_t i = 0; i < sizeof(rows_arm64) / sizeof(*rows_arm64); i++) {
        if (rows_arm64[i].id != insn->id)
            continue;
        ret->flow = (uint8_t)rows_arm64[i].flow;
        ret->names_data = rows_arm64[i].names_data;
    }
    if (ret->names_data || ret->flow == INSN_JUMP || ret->flow == INSN_BRANCH ||
        ret->flow == INSN_CALL)
        ret->target = last_immediate(arm);
    if (is_literal_load(ret, &literal)) {
        ret->names_data = true;
        ret->target = literal;
    }
}

bool decoder_next(struct decoder *decoder, const uint8_t *bytes, size_t count, uint64_t address,
                  struct insn *ret)
{
    uint64_t behind = address;
    cs_insn *insn = decoder->capstone.insn;
    if (!cs_disasm_iter(decoder->capstone.handle, &bytes, &count, &behind, insn) ||
        insn->size > INSN_BYTES_MOST)
        return (decoder->arch == HOOK_ARCH_X86_64 ? insn_vector_decode : insn_newer_arm64_decode)(
            bytes, count, address, ret);
    *ret = (struct insn){.address = address, .length = (uint8_t)insn->size, .id = insn->id};
    memcpy(ret->bytes, insn->bytes, insn->size);
    snprintf(ret->text, sizeof(ret->text), "%s%s%.70s", insn->mnemonic, *insn->op_str ? " " : "",
             insn->op_str);
    if (decoder->arch == HOOK_ARCH_ARM64)
        describe_arm64(insn, ret);
    else
        describe_x86(decoder->capstone.handle, insn, ret);
    return true;
}
