/* Whether an operand of an x86-64 instruction is read or written.
 *
 * Capstone 4 gets this wrong for many instructions with memory operands (vector stores, setcc, rol,
 * fstp …). So the table `firsts` gives the access of the first operand; all other operands are
 * read.
 */
#include "steps/instruction_x86.h"

#include <string.h>

/* Instructions that have a memory operand, but do not access it. */
bool x86_only_names(const cs_insn *insn)
{
    switch (insn->id) {
    case X86_INS_LEA:
    case X86_INS_NOP:
    case X86_INS_ENDBR64:
    case X86_INS_CLFLUSH:
    case X86_INS_CLFLUSHOPT:
    case X86_INS_CLWB:
    case X86_INS_INVLPG:
        return true;
    default:
        return strncmp(insn->mnemonic, "prefetch", 8) == 0;
    }
}

bool x86_only_compares(unsigned id)
{
    switch (id) {
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_BT:
    case X86_INS_COMISS:
    case X86_INS_COMISD:
    case X86_INS_UCOMISS:
    case X86_INS_UCOMISD:
    case X86_INS_VCOMISS:
    case X86_INS_VCOMISD:
    case X86_INS_VUCOMISS:
    case X86_INS_VUCOMISD:
    case X86_INS_PTEST:
    case X86_INS_VPTEST:
        return true;
    default:
        return false;
    }
}

/* The access of the first operand, by the beginning of the mnemonic; the first matching row counts,
 * and without one the operand is read. Instructions whose first operand cannot be memory are not
 * listed: Capstone is right about registers. */
static const struct {
    const char *prefix;
    uint8_t access;
} firsts[] = {
    {"mov", CS_AC_WRITE},
    {"vmov", CS_AC_WRITE},
    {"set", CS_AC_WRITE},
    {"pop", CS_AC_WRITE},
    {"fst", CS_AC_WRITE},
    {"fist", CS_AC_WRITE},
    {"fnst", CS_AC_WRITE},
    {"fbstp", CS_AC_WRITE},
    {"fnsave", CS_AC_WRITE},
    {"fxsave", CS_AC_WRITE},
    {"xsave", CS_AC_WRITE},
    {"stmxcsr", CS_AC_WRITE},
    {"vstmxcsr", CS_AC_WRITE},
    {"pextr", CS_AC_WRITE},
    {"vpextr", CS_AC_WRITE},
    {"extract", CS_AC_WRITE},
    {"vextract", CS_AC_WRITE},
    {"stos", CS_AC_WRITE},
    {"ins", CS_AC_WRITE},
    {"vpscatter", CS_AC_WRITE},
    {"vscatter", CS_AC_WRITE},
    {"vpmaskmov", CS_AC_WRITE},
    {"vmaskmov", CS_AC_WRITE},
    {"vcvtps2ph", CS_AC_WRITE},
    {"add", CS_AC_READ | CS_AC_WRITE},
    {"adc", CS_AC_READ | CS_AC_WRITE},
    {"sub", CS_AC_READ | CS_AC_WRITE},
    {"sbb", CS_AC_READ | CS_AC_WRITE},
    {"and", CS_AC_READ | CS_AC_WRITE},
    {"or", CS_AC_READ | CS_AC_WRITE},
    {"xor", CS_AC_READ | CS_AC_WRITE},
    {"inc", CS_AC_READ | CS_AC_WRITE},
    {"dec", CS_AC_READ | CS_AC_WRITE},
    {"neg", CS_AC_READ | CS_AC_WRITE},
    {"not", CS_AC_READ | CS_AC_WRITE},
    {"shl", CS_AC_READ | CS_AC_WRITE},
    {"shr", CS_AC_READ | CS_AC_WRITE},
    {"sal", CS_AC_READ | CS_AC_WRITE},
    {"sar", CS_AC_READ | CS_AC_WRITE},
    {"rol", CS_AC_READ | CS_AC_WRITE},
    {"ror", CS_AC_READ | CS_AC_WRITE},
    {"rcl", CS_AC_READ | CS_AC_WRITE},
    {"rcr", CS_AC_READ | CS_AC_WRITE},
    {"xchg", CS_AC_READ | CS_AC_WRITE},
    {"xadd", CS_AC_READ | CS_AC_WRITE},
    {"cmpxchg", CS_AC_READ | CS_AC_WRITE},
    {"bts", CS_AC_READ | CS_AC_WRITE},
    {"btr", CS_AC_READ | CS_AC_WRITE},
    {"btc", CS_AC_READ | CS_AC_WRITE},
};

/* Skips "lock ", "rep " and the like, which Capstone prints as part of the mnemonic. */
static const char *bare_mnemonic(const cs_insn *insn)
{
    const char *blank = strrchr(insn->mnemonic, ' ');
    return blank ? blank + 1 : insn->mnemonic;
}

bool x86_is_move(const cs_insn *insn)
{
    return insn->id == X86_INS_PUSH || insn->id == X86_INS_POP ||
           strncmp(bare_mnemonic(insn), "mov", 3) == 0 || strncmp(insn->mnemonic, "vmov", 4) == 0;
}

uint8_t x86_memory_access(const cs_insn *insn, unsigned operand)
{
    const char *mnemonic = bare_mnemonic(insn);
    if (insn->id == X86_INS_XCHG)
        return CS_AC_READ | CS_AC_WRITE;
    if (operand > 0)
        return CS_AC_READ;
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
        if (strncmp(mnemonic, firsts[i].prefix, strlen(firsts[i].prefix)) == 0)
            return firsts[i].access;
    return CS_AC_READ;
}

uint8_t x86_register_access(const cs_insn *insn, unsigned operand, uint8_t flow)
{
    uint8_t access = insn->detail->x86.operands[operand].access;
    if (x86_only_compares(insn->id) || flow != FLOW_NEXT)
        return CS_AC_READ;
    if (x86_is_move(insn) || strncmp(insn->mnemonic, "set", 3) == 0)
        return operand == 0 && insn->id != X86_INS_PUSH ? CS_AC_WRITE : CS_AC_READ;
    if (operand == 0 && strncmp(insn->mnemonic, "cmov", 4) == 0) /* Capstone 5 omits the read */
        return CS_AC_READ | CS_AC_WRITE;
    return access ? access : operand == 0 ? CS_AC_WRITE : CS_AC_READ;
}
