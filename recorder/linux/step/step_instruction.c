/* x86_64: Intel's manual, volume 2, chapter 2 (prefixes) and appendix A (opcodes). aarch64: Arm's
 * manual, C4.1 (encodings). What gdb does about exclusive sequences (aarch64_software_single_step)
 * is done here as well: they are stepped over as one instruction. */
#include "linux/step/step_instruction.h"

#include <stdbool.h>
#include <string.h>

/* --- x86_64 --- */

static bool is_legacy_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
           byte == 0xf0;
}

static bool is_string_opcode(uint8_t byte)
{
    return (byte >= 0xa4 && byte <= 0xa7) || (byte >= 0xaa && byte <= 0xaf) ||
           (byte >= 0x6c && byte <= 0x6f);
}

/* ff /2 and /3: call through a register or memory. */
static bool is_indirect_call(uint8_t opcode, uint8_t modrm)
{
    unsigned extension = modrm >> 3 & 7;
    return opcode == 0xff && (extension == 2 || extension == 3);
}

struct step_instruction step_instruction_x86_64(const uint8_t *code, size_t bytes)
{
    struct step_instruction result = {.kind = STEP_PLAIN};
    bool repeats = false;
    size_t at = 0;
    while (at < bytes && at < 14 && is_legacy_prefix(code[at])) {
        repeats |= code[at] == 0xf2 || code[at] == 0xf3;
        at++;
    }
    if (at < bytes && (code[at] & 0xf0) == 0x40) /* REX */
        at++;
    if (at >= bytes)
        return result;
    uint8_t opcode = code[at], modrm = at + 1 < bytes ? code[at + 1] : 0;
    if (opcode == 0xe8 || is_indirect_call(opcode, modrm))
        result.kind = STEP_IS_CALL;
    else if (opcode == 0xc3 || opcode == 0xc2 || opcode == 0xcb || opcode == 0xca)
        result.kind = STEP_IS_RETURN;
    else if (opcode == 0x9c)
        result.kind = STEP_IS_PUSHF;
    else if (opcode == 0x9d)
        result = (struct step_instruction){STEP_IS_POPF, (uint8_t)(at + 1)};
    else if (opcode == 0xcf)
        result.kind = STEP_IS_IRET;
    else if (opcode == 0xcc)
        result.kind = STEP_IS_TRAP;
    else if ((opcode == 0x0f && (modrm == 0x05 || modrm == 0x34)) ||
             (opcode == 0xcd && modrm == 0x80)) /* syscall, sysenter, int 0x80 */
        result.kind = STEP_IS_CALL_OF_KERNEL;
    else if (repeats && is_string_opcode(opcode))
        result = (struct step_instruction){STEP_IS_REPEATED, (uint8_t)(at + 1)};
    return result;
}

/* --- aarch64 --- */

static uint32_t arm_word(const uint8_t *code)
{
    uint32_t word;
    memcpy(&word, code, sizeof(word));
    return word;
}

/* Load/store exclusive: bits 29-24 are 001000, bit 23 is 0; bit 22 says load. */
static bool is_exclusive(uint32_t word, bool load)
{
    bool is_casp = !(word >> 31) && word >> 21 & 1;
    return (word & 0x3f800000u) == 0x08000000u && (bool)(word >> 22 & 1) == load && !is_casp;
}

/* Bytes up to the end of the sequence's store, and of the branch on its result; 0: no store
 * found. */
static uint8_t exclusive_bytes(const uint8_t *code, size_t bytes)
{
    for (size_t at = 4; at + 4 <= bytes; at += 4)
        if (is_exclusive(arm_word(code + at), false))
            return (uint8_t)(at + 4);
    return 0;
}

struct step_instruction step_instruction_aarch64(const uint8_t *code, size_t bytes)
{
    struct step_instruction result = {.kind = STEP_PLAIN};
    if (bytes < 4)
        return result;
    uint32_t word = arm_word(code);
    if ((word & 0xfc000000u) == 0x94000000u || (word & 0xfefff800u) == 0xd63f0800u ||
        (word & 0xfffffc1fu) == 0xd63f0000u)
        result.kind = STEP_IS_CALL; /* bl, blraa and the like, blr */
    else if ((word & 0xfffffc1fu) == 0xd65f0000u || (word & 0xfffffbffu) == 0xd65f0bffu)
        result.kind = STEP_IS_RETURN; /* ret, retaa, retab */
    else if ((word & 0xffe0001fu) == 0xd4200000u)
        result.kind = STEP_IS_TRAP; /* brk */
    else if ((word & 0xffe0001fu) == 0xd4000001u)
        result.kind = STEP_IS_CALL_OF_KERNEL; /* svc */
    else if (is_exclusive(word, true)) {
        uint8_t length = exclusive_bytes(code, bytes);
        if (length)
            result = (struct step_instruction){STEP_IS_EXCLUSIVE, length};
    }
    return result;
}
