#include "steps/instruction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/disassembler.h"
#include "steps/instruction_machine.h"

struct instruction_decoder {
    struct disassembler capstone;
    enum instruction_machine machine;
};

struct argus_error *instruction_decoder_create(enum instruction_machine machine,
                                               struct instruction_decoder **ret)
{
    struct instruction_decoder *decoder = calloc(1, sizeof(*decoder));
    if (!decoder)
        return argus_error_memory();
    decoder->machine = machine;
    struct argus_error *error = disassembler_init(&decoder->capstone, machine == INSTRUCTION_ARM64);
    if (error) {
        free(decoder);
        return error;
    }
    *ret = decoder;
    return NULL;
}

void instruction_decoder_destroy(struct instruction_decoder *decoder)
{
    if (!decoder)
        return;
    disassembler_deinit(&decoder->capstone);
    free(decoder);
}

enum instruction_machine instruction_decoder_machine(const struct instruction_decoder *decoder)
{
    return decoder->machine;
}

struct instruction_memory *instruction_add_memory(struct instruction *instruction)
{
    if (instruction->memory_count == INSTRUCTION_MEMORY_MAX)
        return NULL;
    struct instruction_memory *memory = &instruction->memory[instruction->memory_count++];
    *memory =
        (struct instruction_memory){.base = REGISTER_NONE, .index = REGISTER_NONE, .scale = 1};
    return memory;
}

static bool capstone_decodes(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                             uint64_t address)
{
    return cs_disasm_iter(decoder->capstone.handle, &code, &bytes, &address,
                          decoder->capstone.insn);
}

static uint32_t word_of(const uint8_t *code)
{
    return code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

static void collect_names(struct instruction *instruction)
{
    for (unsigned i = 0; i < instruction->memory_count; i++) {
        const struct instruction_memory *memory = &instruction->memory[i];
        instruction->names |= memory->base == REGISTER_NONE ? 0 : REGISTER_BIT(memory->base);
        instruction->names |= memory->index == REGISTER_NONE ? 0 : REGISTER_BIT(memory->index);
    }
}

bool instruction_decode(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                        uint64_t address, struct instruction *ret)
{
    bool arm64 = decoder->machine == INSTRUCTION_ARM64;
    *ret = (struct instruction){.address = address};
    if (arm64 && bytes >= 4 && instruction_newer_arm64(word_of(code), ret, NULL, 0)) {
        ret->length = 4;
    } else if (capstone_decodes(decoder, code, bytes, address)) {
        ret->length = (uint8_t)decoder->capstone.insn->size;
        (arm64 ? instruction_from_arm64 : instruction_from_x86)(decoder->capstone.handle,
                                                                decoder->capstone.insn, ret);
    }
    collect_names(ret);
    return ret->length > 0;
}

const char *instruction_text(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                             uint64_t address, char *buffer, size_t buffer_bytes)
{
    struct instruction unused = {0};
    if (capstone_decodes(decoder, code, bytes, address))
        snprintf(buffer, buffer_bytes, "%s%s%s", decoder->capstone.insn->mnemonic,
                 decoder->capstone.insn->op_str[0] ? " " : "", decoder->capstone.insn->op_str);
    else if (decoder->machine != INSTRUCTION_ARM64 || bytes < 4 ||
             !instruction_newer_arm64(word_of(code), &unused, buffer, buffer_bytes))
        snprintf(buffer, buffer_bytes, "(bad)");
    return buffer;
}

bool instruction_before(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                        uint64_t address, uint64_t pc, struct instruction *ret)
{
    size_t at = 0, end = pc - address;
    if (pc <= address || end > bytes)
        return false;
    while (at < end) {
        if (!instruction_decode(decoder, code + at, bytes - at, address + at, ret))
            return false;
        at += ret->length;
    }
    return at == end;
}

uint64_t instruction_address(const struct instruction_memory *memory, const uint64_t *registers,
                             const uint64_t *segment_bases)
{
    uint64_t address = (uint64_t)memory->displacement;
    if (memory->base != REGISTER_NONE)
        address += registers[memory->base];
    if (memory->index != REGISTER_NONE) {
        uint64_t index = registers[memory->index];
        if (memory->extend == EXTEND_UXTW)
            index = (uint32_t)index;
        else if (memory->extend == EXTEND_SXTW)
            index = (uint64_t)(int64_t)(int32_t)index;
        address += index * memory->scale;
    }
    if (segment_bases && memory->segment != SEGMENT_NONE)
        address += segment_bases[memory->segment == SEGMENT_FS ? 0 : 1];
    return address;
}
