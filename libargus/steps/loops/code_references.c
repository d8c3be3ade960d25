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

/* --- arm64: Arm Architecture Reference Manual, C4.1 --- */

enum { WORD = 4, PAGE = 4096 };

static int64_t sign_extended(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* adr: an address; adrp: that of a page. False: neither. */
static bool find_address_arm64(uint32_t word, uint64_t at, uint64_t *ret, bool *ret_page)
{
    enum { MASK = 0x1f000000, ADR = 0x10000000 };
    uint64_t distance = (word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3);
    *ret_page = word >> 31;
    if ((word & MASK) != ADR)
        return false;
    *ret = *ret_page ? (at & ~(uint64_t)(PAGE - 1)) + (uint64_t)sign_extended(distance, 21) * PAGE
                     : at + (uint64_t)sign_extended(distance, 21);
    return true;
}

/* Compilers reach several variables from one address before them (GCC's section anchors), so the
 * page before counts, too. */
static void search_arm64(struct code_references *references, const uint8_t *code, size_t bytes,
                         uint64_t address, uint64_t first, uint64_t wanted)
{
    uint64_t page = (first & ~(uint64_t)(PAGE - 1)) - PAGE;
    for (size_t at = 0; at + WORD <= bytes && !references->is_cut; at += WORD) {
        uint64_t found;
        bool is_page;
        if (!find_address_arm64(word_at(code + at), address + at, &found, &is_page))
            continue;
        if (is_page ? found - page < first + wanted - page : found - first < wanted)
            add(references, address + at);
    }
}

static bool is_arm64(const struct elf_file *file)
{
    return elf_file_machine(file) == ELF_MACHINE_AARCH64;
}

void code_references_add(struct code_references *references, const struct elf_file *file,
                         uint64_t first, uint64_t bytes)
{
    const uint8_t *code;
    uint64_t address;
    size_t code_bytes;
    for (size_t i = 0; (code = elf_file_code(file, i, &address, &code_bytes)) != NULL; i++)
        (is_arm64(file) ? search_arm64 : search)(references, code, code_bytes, address, first,
                                                 bytes);
}

/* --- calls --- */

static bool is_target(const uint64_t *targets, size_t count, uint64_t address)
{
    size_t at;
    LOWER_BOUND(at, count, targets[at] < address);
    return at < count && targets[at] == address;
}

/* What is searched for. */
struct targets {
    const uint64_t *all; /* sorted */
    size_t count;
};

static void add_call(struct code_references *references, const struct targets *targets,
                     uint64_t place, uint64_t target)
{
    if (target - targets->all[0] <= targets->all[targets->count - 1] - targets->all[0] &&
        is_target(targets->all, targets->count, target))
        add(references, place);
}

static void search_calls(struct code_references *references, const uint8_t *code, size_t bytes,
                         uint64_t address, const struct targets *targets)
{
    for (size_t at = 0; at + 1 + DISTANCE <= bytes && !references->is_cut; at++) {
        if ((code[at] & 0xfe) != 0xe8) /* call, jmp */
            continue;
        uint64_t distance = (uint64_t)(int64_t)(int32_t)word_at(code + at + 1);
        add_call(references, targets, address + at, address + at + 1 + DISTANCE + distance);
    }
}

static void search_calls_arm64(struct code_references *references, const uint8_t *code,
                               size_t bytes, uint64_t address, const struct targets *targets)
{
    enum { MASK = 0x7c000000, BRANCH = 0x14000000 }; /* b, bl */
    for (size_t at = 0; at + WORD <= bytes && !references->is_cut; at += WORD) {
        uint32_t word = word_at(code + at);
        if ((word & MASK) != BRANCH)
            continue;
        uint64_t distance = (uint64_t)sign_extended(word & 0x3ffffff, 26) * WORD;
        add_call(references, targets, address + at, address + at + distance);
    }
}

typedef void search_code(struct code_references *references, const uint8_t *code, size_t bytes,
                         uint64_t address, const struct targets *targets);

static void search_file(struct code_references *references, const struct elf_file *file,
                        const struct targets *targets, search_code *look)
{
    const uint8_t *code;
    uint64_t address;
    size_t bytes;
    for (size_t i = 0; targets->count && (code = elf_file_code(file, i, &address, &bytes)) != NULL;
         i++)
        look(references, code, bytes, address, targets);
}

void code_references_add_calls(struct code_references *references, const struct elf_file *file,
                               const uint64_t *targets, size_t count)
{
    const struct targets wanted = {targets, count};
    search_file(references, file, &wanted, is_arm64(file) ? search_calls_arm64 : search_calls);
}

/* --- addresses of functions --- */

/* Whether one of the targets is among the `bytes` from `address` on. */
static bool has_target(const struct targets *targets, uint64_t address, uint64_t bytes)
{
    size_t at;
    LOWER_BOUND(at, targets->count, targets->all[at] < address);
    return at < targets->count && targets->all[at] - address < bytes;
}

static void search_functions(struct code_references *references, const uint8_t *code, size_t bytes,
                             uint64_t address, const struct targets *targets)
{
    uint64_t first = targets->all[0], span = targets->all[targets->count - 1] - first;
    for (size_t at = 0; at + DISTANCE <= bytes && !references->is_cut; at++) {
        uint32_t word = word_at(code + at);
        uint64_t found = address + at + DISTANCE + (uint64_t)(int64_t)(int32_t)word;
        bool is_absolute = word >= LOWEST_ABSOLUTE && word - first <= span;
        if ((found - first <= span && has_target(targets, found, 1)) ||
            (is_absolute && has_target(targets, word, 1)))
            add(references, address + at);
    }
}

static void search_functions_arm64(struct code_references *references, const uint8_t *code,
                                   size_t bytes, uint64_t address, const struct targets *targets)
{
    for (size_t at = 0; at + WORD <= bytes && !references->is_cut; at += WORD) {
        uint64_t found;
        bool is_page;
        if (find_address_arm64(word_at(code + at), address + at, &found, &is_page) &&
            has_target(targets, found, is_page ? PAGE : 1))
            add(references, address + at);
    }
}

void code_references_add_functions(struct code_references *references, const struct elf_file *file,
                                   const uint64_t *targets, size_t count)
{
    const struct targets wanted = {targets, count};
    search_file(references, file, &wanted,
                is_arm64(file) ? search_functions_arm64 : search_functions);
}

void code_references_deinit(struct code_references *references)
{
    vec_deinit(&references->places);
}
