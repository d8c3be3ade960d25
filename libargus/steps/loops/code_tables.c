#include "steps/loops/code_tables.h"

#include "event/binary/elf_words.h"

enum {
    NEAR = 16, /* instructions before the jump, in which its parts are */
    MOST_CASES = 512,
    MOST_JUMPS = 256, /* of a function, that are looked at */
    MOST_WAYS = 4096, /* of all of them */
};

struct table {
    uint64_t address;
    uint32_t count;
    bool is_relative; /* 4 bytes each, that count from the beginning; else 8 bytes */
};

static const struct instruction *node_of(const struct code_function *function, uint32_t node)
{
    return &function->nodes.data[node];
}

static uint8_t lone_register(uint64_t registers)
{
    uint64_t general = registers & (REGISTER_BIT(REGISTER_FLAGS) - 1);
    return general && !(general & (general - 1)) ? (uint8_t)__builtin_ctzll(general)
                                                 : REGISTER_NONE;
}

/* The nearest instruction above that writes the register; CODE_NONE: none near. */
static uint32_t written_above(const struct code_function *function, uint32_t node, uint8_t reg)
{
    for (uint32_t i = 0; i < NEAR && i < node; i++)
        if (node_of(function, node - 1 - i)->writes & REGISTER_BIT(reg))
            return node - 1 - i;
    return CODE_NONE;
}

/* lea rbx, [rip+table] */
static bool gives_address(const struct instruction *at, uint8_t reg)
{
    return at->is_sum && !at->reads && at->writes == REGISTER_BIT(reg);
}

/* The address that the register has, which the function may have loaded at its beginning. False: none, or one of several. */
static bool find_address(const struct code_function *function, uint32_t node, uint8_t reg,
                         uint64_t *ret)
{
    bool found = false;
    uint32_t above = written_above(function, node, reg);
    if (above != CODE_NONE && gives_address(node_of(function, above), reg)) {
        *ret = (uint64_t)node_of(function, above)->addend;
        return true;
    }
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        if (!gives_address(node_of(function, i), reg))
            continue;
        if (found && *ret != (uint64_t)node_of(function, i)->addend)
            return false;
        *ret = (uint64_t)node_of(function, i)->addend;
        found = true;
    }
    return found;
}

/* The comparison of the index with the last case: cmp eax, 5; ja default. */
static bool find_count(const struct code_function *function, uint32_t node, uint32_t *ret)
{
    for (uint32_t i = 1; i <= NEAR && i <= node; i++) {
        const struct instruction *at = node_of(function, node - i);
        if (!at->is_compare || at->tests_bits)
            continue;
        *ret = at->has_immediate && at->immediate > 0 && at->immediate < MOST_CASES
                   ? (uint32_t)at->immediate + 1
                   : 0;
        return *ret != 0;
    }
    return false;
}

/* jmp [rax*8+table], mov rax, [rax*8+table], and the same with the table's address in a register */
static bool is_load(const struct instruction *at, uint8_t scale)
{
    return at->memory_count == 1 && at->memory[0].index != REGISTER_NONE &&
           at->memory[0].scale == scale && at->memory[0].segment == SEGMENT_NONE &&
           !at->memory[0].writes;
}

static bool take_load(const struct code_function *function, uint32_t node, uint8_t scale,
                      struct table *ret)
{
    const struct instruction_memory *memory = &node_of(function, node)->memory[0];
    ret->is_relative = scale == 4;
    ret->address = 0;
    if (memory->base != REGISTER_NONE && !find_address(function, node, memory->base, &ret->address))
        return false;
    ret->address += (uint64_t)memory->displacement;
    return find_count(function, node, &ret->count);
}

/* add rax, rbx */
static bool adds_register(const struct instruction *at, uint8_t reg)
{
    uint64_t sum = REGISTER_BIT(reg);
    return !at->memory_count && !at->has_immediate && (at->reads & sum) && at->reads != sum;
}

/* The one of the two added registers that was loaded from the table. */
static bool take_distance(const struct code_function *function, uint32_t sum, uint8_t reg,
                          struct table *ret)
{
    uint32_t load = reg == REGISTER_NONE ? CODE_NONE : written_above(function, sum, reg);
    return load != CODE_NONE && is_load(node_of(function, load), 4) &&
           take_load(function, load, 4, ret);
}

static bool find_table(const struct code_function *function, uint32_t jump, struct table *ret)
{
    const struct instruction *at = node_of(function, jump);
    if (is_load(at, 8))
        return take_load(function, jump, 8, ret);
    uint8_t reg = at->memory_count ? REGISTER_NONE : lone_register(at->reads);
    uint32_t above = reg == REGISTER_NONE ? CODE_NONE : written_above(function, jump, reg);
    if (above == CODE_NONE)
        return false;
    if (is_load(node_of(function, above), 8))
        return take_load(function, above, 8, ret);
    if (!adds_register(node_of(function, above), reg))
        return false;
    uint8_t other = lone_register(node_of(function, above)->reads & ~REGISTER_BIT(reg));
    return take_distance(function, above, reg, ret) || take_distance(function, above, other, ret);
}

/* --- its words --- */

static bool read_way(const struct code_function *function, const struct table *table, uint32_t i,
                     uint64_t *ret)
{
    uint64_t offset, at = table->address + (uint64_t)i * (table->is_relative ? 4 : 8);
    int32_t distance;
    const struct elf_file *file = function->image->file;
    if (!elf_word_is_constant(file, at))
        return false;
    if (!table->is_relative)
        return elf_word_pointer(file, at, ret);
    if (!elf_file_offset(file, at, &offset) ||
        !elf_file_read(file, offset, sizeof(distance), &distance))
        return false;
    *ret = table->address + (uint64_t)(int64_t)distance;
    return true;
}

/* False: it is no way of a jump. */
static bool take_way(struct code_function *function, uint32_t jump, uint64_t address,
                     bool *ret_is_here)
{
    uint64_t start, bytes;
    uint32_t to = code_function_node(function, address);
    *ret_is_here = to != CODE_NONE;
    if (to != CODE_NONE ? node_of(function, to)->address != address
                        : !elf_file_function_range(function->image->file, address, &start, &bytes))
        return false;
    for (size_t i = function->ways.length; i > 0 && function->ways.data[i - 1].from == jump; i--)
        if (function->ways.data[i - 1].address == address)
            return true;
    struct code_way way = {.from = jump, .to = to, .address = address};
    return vec_push(&function->ways, way);
}

static void take_ways(struct code_function *function, uint32_t jump, const struct table *table)
{
    size_t before = function->ways.length;
    bool stays = false, good = true;
    for (uint32_t i = 0; good && i < table->count; i++) {
        uint64_t address;
        bool is_here = false;
        good =
            read_way(function, table, i, &address) && take_way(function, jump, address, &is_here);
        stays |= is_here;
    }
    if (!good || !stays)
        function->ways.length = before;
}

void code_tables_find(struct code_function *function)
{
    struct table table;
    uint32_t jumps = 0;
    if (function->is_arm64)
        return;
    for (uint32_t i = 0; i < function->nodes.length; i++)
        if (node_of(function, i)->flow == FLOW_JUMP_INDIRECT && jumps++ < MOST_JUMPS &&
            function->ways.length < MOST_WAYS && find_table(function, i, &table))
            take_ways(function, i, &table);
}
