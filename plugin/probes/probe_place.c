/* A probe is a breakpoint. The kernel then has to execute the instruction that the breakpoint
 * replaced. Some instructions it emulates; any other is executed on a copy, with a trap behind it.
 * Hypervisors intercept that second trap: on the machine of docs/performance.md a hit costs 0.9 us
 * with an emulated instruction, and 9.8 us with any other.
 *
 * So the probe moves on to the first instruction of the function that the kernel emulates: a push,
 * a jump, a call or a nop (branch_setup_xol_ops() and push_setup_xol_ops() in
 * arch/x86/kernel/uprobes.c). All code before it must be executed once in each call, and must not
 * change what the probe reads. Most functions have such an instruction among their first three:
 *
 *     test rdi, rdi        only sets flags
 *     je   …               emulated: the place of the probe
 *
 * Code that allocates stack is skipped as well, because the recorder can add its size.
 *
 * Somewhere in the function there may be a jump to the skipped code, after which the probe would be
 * hit again. All bytes behind it are searched for such a jump, wherever an instruction may begin:
 * this can find a jump that is none, but overlooks no direct one.
 *
 * arm64 emulates other instructions, and its hypervisors do not intercept the trap: the place is
 * the first instruction.
 */
#include "plugin/probes/probe_place.h"

#include <stdbool.h>
#include <string.h>

#include "steps/instruction.h"

#define SKIPPED_MOST 48 /* bytes; optimized code has moved an argument by then */

#define JUMP_NEAR      0xeb /* with a distance of 8 bits */
#define JUMP_FAR       0xe9 /* of 32 bits */
#define CALL_FAR       0xe8
#define NOP            0x90
#define TWO_BYTES      0x0f /* the first byte of longer opcodes */
#define EXTENDED_REG   0x41 /* the prefix of a push of r8 to r15 */
#define IS_JCC(code)   (((code)&0xf0) == 0x70)
#define IS_JCC_2(code) (((code)&0xf0) == 0x80) /* behind TWO_BYTES */
#define IS_PUSH(code)  (((code)&0xf8) == 0x50)

/* By base of a probe's values: the registers of the first six arguments. */
static const uint8_t argument_registers[PROBE_ARGUMENTS + 1] = {
    [1] = REGISTER_RDI, [2] = REGISTER_RSI, [3] = REGISTER_RDX,
    [4] = REGISTER_RCX, [5] = REGISTER_R8,  [6] = REGISTER_R9,
};

static uint64_t register_of(const struct probe_value *value)
{
    bool is_argument = value->base >= 1 && value->base <= PROBE_ARGUMENTS;
    return is_argument ? REGISTER_BIT(argument_registers[value->base]) : 0;
}

static uint64_t registers_read(const struct probe_spec *spec)
{
    return register_of(&spec->key) | register_of(&spec->function) | register_of(&spec->other) |
           register_of(&spec->type) | register_of(&spec->when.value);
}

static bool is_emulated(const uint8_t *code, size_t bytes)
{
    if (bytes < 2)
        return false;
    if (code[0] == EXTENDED_REG)
        return IS_PUSH(code[1]);
    if (code[0] == TWO_BYTES)
        return IS_JCC_2(code[1]);
    return IS_PUSH(code[0]) || IS_JCC(code[0]) || code[0] == JUMP_NEAR || code[0] == JUMP_FAR ||
           code[0] == CALL_FAR || code[0] == NOP;
}

/* sub rsp, N */
static bool allocates_stack(const struct instruction *instruction)
{
    uint64_t rsp = REGISTER_BIT(REGISTER_RSP), flags = REGISTER_BIT(REGISTER_FLAGS);
    return instruction->is_sum && (instruction->writes & ~flags) == rsp &&
           (instruction->reads & ~flags) == rsp && instruction->memory_count == 0 &&
           instruction->addend < 0 && instruction->addend >= -PROBE_STACK_MOST;
}

/* Whether a probe that reads `registers` may be behind `instruction`. What it reads through
 * pointers may be what the instruction stores. */
static bool is_harmless(const struct instruction *instruction, uint64_t registers)
{
    if (instruction->flow != FLOW_NEXT ||
        instruction->writes & (registers | REGISTER_BIT(REGISTER_RSP)))
        return false;
    for (uint32_t i = 0; i < instruction->memory_count; i++)
        if (instruction->memory[i].writes)
            return false;
    return true;
}

static struct probe_place walk(struct instruction_decoder *decoder, const uint8_t *code,
                               size_t bytes, uint64_t registers)
{
    struct probe_place place = {0};
    while (place.offset < bytes && place.offset < SKIPPED_MOST) {
        struct instruction instruction;
        if (is_emulated(code + place.offset, bytes - place.offset))
            return place;
        if (!instruction_decode(decoder, code + place.offset, bytes - place.offset, place.offset,
                                &instruction))
            break;
        if (allocates_stack(&instruction))
            place.stack_bytes += (uint32_t)-instruction.addend;
        else if (!is_harmless(&instruction, registers))
            break;
        if (place.stack_bytes > PROBE_STACK_MOST)
            break;
        place.offset += instruction.length;
    }
    return (struct probe_place){0};
}

/* Whether a jump with this opcode, and `distance` from its end at `end`, leads behind the beginning
 * up to `place`. */
static bool leads_before(size_t end, int64_t distance, uint32_t place)
{
    int64_t target = (int64_t)end + distance;
    return target > 0 && target <= (int64_t)place;
}

static bool jumps_before(const uint8_t *code, size_t bytes, uint32_t place)
{
    for (size_t at = place; at + 2 <= bytes; at++) {
        int32_t distance;
        size_t opcode = code[at] == TWO_BYTES && IS_JCC_2(code[at + 1]) ? 2 : 1;
        if ((IS_JCC(code[at]) || code[at] == JUMP_NEAR) &&
            leads_before(at + 2, (int8_t)code[at + 1], place))
            return true;
        if ((opcode == 1 && code[at] != JUMP_FAR) || at + opcode + sizeof(distance) > bytes)
            continue;
        memcpy(&distance, code + at + opcode, sizeof(distance));
        if (leads_before(at + opcode + sizeof(distance), distance, place))
            return true;
    }
    return false;
}

struct probe_place probe_place_find(const uint8_t *code, size_t bytes,
                                    const struct probe_spec *spec)
{
    struct probe_place place = {0};
    struct instruction_decoder *decoder = NULL;
#if !defined(__x86_64__)
    return place;
#endif
    if (spec->flags & PROBE_RETURN) /* the return address must be at the stack pointer */
        return place;
    struct argus_error *error = instruction_decoder_create(INSTRUCTION_X86_64, &decoder);
    if (error) { /* this only costs time */
        argus_error_destroy(error);
        return place;
    }
    place = walk(decoder, code, bytes, registers_read(spec));
    instruction_decoder_destroy(decoder);
    if (jumps_before(code, bytes, place.offset))
        return (struct probe_place){0};
    return place;
}
