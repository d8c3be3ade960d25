#include "event/unwind/unwind_frame.h"

#include <elf.h>
#include <string.h>

#define MOST_FRAME_BYTES (16u << 20) /* maximum size of a frame */

static bool is_known(const struct cfi_machine *machine, uint32_t number)
{
    return machine->known >> number & 1;
}

/* The stack pointer of an arm64 function is at or below its frame record. */
enum frame_step frame_step(struct cfi_machine *machine, const struct unwind_processor *processor)
{
    uint32_t pc = processor->registers - 1, word = processor->word_bytes;
    uint64_t *registers = machine->registers, caller, address;
    if (!is_known(machine, processor->frame) || !is_known(machine, processor->stack))
        return FRAME_NONE;
    uint64_t frame = registers[processor->frame];
    if (frame % processor->alignment || frame - registers[processor->stack] > MOST_FRAME_BYTES)
        return FRAME_NONE;
    if (!machine->read(machine->context, frame, &caller) ||
        !machine->read(machine->context, frame + word, &address))
        return FRAME_NO_MEMORY;
    if (address == 0) /* a caller without a frame pointer may have anything in the register */
        return FRAME_NONE;
    machine->return_slot = frame + word;
    machine->cfa = frame + 2 * word; /* behind the caller's frame pointer and the return address */
    registers[processor->frame] = caller;
    registers[processor->stack] = machine->cfa;
    registers[pc] = address;
    machine->known = 1ull << processor->frame | 1ull << processor->stack | 1ull << pc;
    return FRAME_STEPPED;
}

/* FF /2: call r/m64, of `length` bytes without a REX prefix. */
static bool is_indirect_call(const uint8_t *code, size_t length)
{
    uint8_t mode = code[1] >> 6, base = code[1] & 7;
    if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
        return false;
    bool has_sib = mode != 3 && base == 4;
    size_t wanted = 2 + has_sib;
    if (mode == 1)
        wanted += 1;
    else if (mode == 2 || (mode == 0 && (base == 5 || (has_sib && (code[2] & 7) == 5))))
        wanted += 4;
    return length == wanted;
}

bool frame_is_call(const uint8_t *before, size_t count, unsigned elf_machine)
{
    const uint8_t *end = before + count;
    if (elf_machine == EM_AARCH64) {
        uint32_t word;
        if (count < sizeof(word))
            return false;
        memcpy(&word, end - sizeof(word), sizeof(word));
        return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000 || /* bl, blr */
               (word & 0xfefff800) == 0xd63f0800;                         /* blraa … */
    }
    if (count >= 5 && end[-5] == 0xe8)
        return true;
    for (size_t length = 2; length <= 7 && length <= count; length++)
        if (is_indirect_call(end - length, length))
            return true;
    return false;
}
