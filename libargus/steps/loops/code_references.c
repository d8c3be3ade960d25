#include "steps/loops/code_references.h"

#include <string.h>

#include "base/lower_bound.h"

enum {
    LONGEST_IMMEDIATE = 4, /* bytes that an instruction can have behind the distance */
    DISTANCE = 4,          /* bytes */
};

/* Where programs of a fixed address begin. In other files absolute addresses are smaller: there
 * they would be found in many small constants, and are none. */
#define LOWEST_ABSOLUTE 0x400000u

static void add(struct code_references *references, uint64_t place)
{
    if (references->places.length >= CODE_REFERENCES_MAX || !vec_push(&references->places, place))
        references->is_cut = true;
}

static uint32_t word_at(const uint8_t *code)
{
    uint32_t word;
    memcpy(&word, code, sizeof(word));
    return word;
}

/* A distance counts from the instruction's end. Files are smaller than 4 GB, so 32 bits suffice. */
static void search(struct code_references *references, const uint8_t *code, size_t bytes,
                   uint64_t address, uint64_t first, uint64_t wanted)
{
    uint32_t span = (uint32_t)wanted, absolute = first >= LOWEST_ABSOLUTE ? span : 0;
    uint32_t base = (uint32_t)(address + DISTANCE - first + LONGEST_IMMEDIATE);
    for (size_t at = 0; at + DISTANCE <= bytes && !references->is_cut; at++) {
        uint32_t word = word_at(code + at);
        if (base + (uint32_t)at + word < span + LONGEST_IMMEDIATE ||
            word - (uint32_t)first < absolute)
            add(references, address + at);
    }
}

void code_references_add(struct code_references *references, const struct elf_file *file,
                         uint64_t first, uint64_t bytes)
{
    const uint8_t *code;
    uint64_t address;
    size_t code_bytes;
    for (size_t i = 0; (code = elf_file_code(file, i, &address, &code_bytes)) != NULL; i++)
        search(references, code, code_bytes, address, first, bytes);
}

static bool is_target(const uint64_t *targets, size_t count, uint64_t address)
{
    size_t at;
    LOWER_BOUND(at, count, targets[at] < address);
    return at < count && targets[at] == address;
}

void code_references_add_calls(struct code_references *references, const struct elf_file *file,
                               const uint64_t *targets, size_t count)
{
    const uint8_t *code;
    uint64_t address;
    size_t bytes;
    if (!count)
        return;
    uint64_t span = targets[count - 1] - targets[0];
    for (size_t i = 0; (code = elf_file_code(file, i, &address, &bytes)) != NULL; i++) {
        for (size_t at = 0; at + 1 + DISTANCE <= bytes && !references->is_cut; at++) {
            if ((code[at] & 0xfe) != 0xe8) /* call, jmp */
                continue;
            uint64_t target =
                address + at + 1 + DISTANCE + (uint64_t)(int64_t)(int32_t)word_at(code + at + 1);
            if (target - targets[0] <= span && is_target(targets, count, target))
                add(references, address + at);
        }
    }
}

void code_references_deinit(struct code_references *references)
{
    vec_deinit(&references->places);
}
