#include "steps/loops/code_halves.h"

enum { MOST_STEPS = 4, STORED_BYTES = 16 };

/* Intel SDM volume 2. */
enum kind {
    KIND_OTHER,
    KIND_JOINS,       /* punpcklqdq: the lower halves of both */
    KIND_LOADS_UPPER, /* movhps, movhpd: the other half stays */
    KIND_MOVES_LOWER, /* movq from a general register or memory */
};

static enum kind kind_of(const struct code_function *function, const struct instruction *at)
{
    enum { SIZE = 0x66, REPEAT = 0xf3, REX = 0x40, REX_MASK = 0xf0, WIDE = 8, ESCAPE = 0x0f };
    uint8_t code[5], prefix = 0;
    unsigned i = 0;
    uint64_t offset;
    const struct elf_file *file = function->image->file;
    if (!elf_file_offset(file, at->address, &offset) ||
        !elf_file_read(file, offset, sizeof(code), code))
        return KIND_OTHER;
    if (code[i] == SIZE || code[i] == REPEAT)
        prefix = code[i++];
    bool has_rex = (code[i] & REX_MASK) == REX, is_wide = has_rex && (code[i] & WIDE);
    i += has_rex;
    if (code[i++] != ESCAPE)
        return KIND_OTHER;
    if (prefix == SIZE && code[i] == 0x6c)
        return KIND_JOINS;
    if (prefix != REPEAT && code[i] == 0x16 && at->memory_count)
        return KIND_LOADS_UPPER;
    bool moves =
        (prefix == SIZE && code[i] == 0x6e && is_wide) || (prefix == REPEAT && code[i] == 0x7e);
    return moves ? KIND_MOVES_LOWER : KIND_OTHER;
}

static uint64_t vectors(uint64_t registers)
{
    return registers & ~(REGISTER_BIT(REGISTER_VECTOR) - 1);
}

static bool take_memory(const struct instruction *at, struct code_half *ret)
{
    ret->reg = REGISTER_NONE;
    ret->address = (uint64_t)at->memory[0].displacement;
    return at->memory[0].is_relative;
}

/* movq */
static bool take_moved(const struct instruction *at, uint32_t node, struct code_half *ret)
{
    ret->node = node;
    ret->reg = register_lone_general(at->reads);
    return at->memory_count ? take_memory(at, ret) : ret->reg != REGISTER_NONE;
}

bool code_half_find(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                    unsigned half, struct code_half *ret)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    uint8_t reg = register_lone(vectors(at->reads));
    if (scope->function->is_arm64 || at->memory_count != 1 || !at->memory[0].writes ||
        at->memory[0].size_bytes != STORED_BYTES)
        return false;
    for (unsigned i = 0; i < MOST_STEPS && reg != REGISTER_NONE; i++) {
        if ((node = code_reach_only(budget, scope, true, node, reg)) == CODE_NONE)
            return false;
        at = &scope->function->nodes.data[node];
        enum kind kind = kind_of(scope->function, at);
        uint64_t other = vectors(at->reads) & ~vectors(at->writes);
        if (kind == KIND_MOVES_LOWER)
            return half == 0 && take_moved(at, node, ret);
        if (kind == KIND_LOADS_UPPER && half == 1)
            return take_memory(at, ret);
        if (kind == KIND_OTHER || (kind == KIND_JOINS && at->memory_count))
            return false;
        if (kind == KIND_JOINS && half == 1 && other)
            reg = register_lone(other);
        half = 0;
    }
    return false;
}
