#include "steps/loops/code_tables.h"

#include "event/binary/elf_words.h"
#include "steps/loops/code_loaded.h"

enum {
    NEAR = 16, /* instructions before the jump, in which its parts are */
    MOST_CASES = 512,
    MOST_JUMPS = 256,  /* of a function, that are looked at */
    MOST_WORDS = 4096, /* of all its tables, whether or not they are good */
};

/* Numbers of conditions in the codes of x86-64's branches (Intel SDM, volume 2, appendix B.1.4.7).
 */
enum condition { UNSIGNED_NOT_BELOW = 3, UNSIGNED_ABOVE = 7, OTHER_CONDITION = 16 };

/* What instructions of the function load into a register as an address. */
struct loaded_address {
    uint64_t address;
    bool is_found, is_ambiguous;
};

struct finding {
    struct code_function *function;
    const bool *is_target; /* borrowed; by node: a branch or a jump leads there */
    struct loaded_address loaded[REGISTER_FLAGS];
    uint32_t jumps, words; /* that were looked at */
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

/* The nearest instruction above that writes the register; CODE_NONE: none near. */
static uint32_t written_above(const struct code_function *function, uint32_t node, uint8_t reg)
{
    for (uint32_t i = 0; i < NEAR && i < node; i++)
        if (node_of(function, node - 1 - i)->writes & REGISTER_BIT(reg))
            return node - 1 - i;
    return CODE_NONE;
}

/* The address that the register has, which the function may have loaded at its beginning, or before
 * a loop. False: none, or one of several. */
static bool find_address(const struct finding *finding, uint32_t node, uint8_t reg, uint64_t *ret)
{
    const struct code_function *function = finding->function;
    uint32_t above = written_above(function, node, reg);
    if (above != CODE_NONE && code_loads_address(node_of(function, above), reg)) {
        *ret = (uint64_t)node_of(function, above)->addend;
        return true;
    }
    *ret = finding->loaded[reg].address;
    if (!finding->loaded[reg].is_ambiguous)
        return finding->loaded[reg].is_found;
    return code_loaded_address(function, node, reg, ret);
}

/* --- the number of cases --- */

/* Where the index is before an instruction: in a register, or in memory. */
struct place {
    uint8_t reg;
    const struct instruction_memory *memory; /* NULL: in `reg` */
};

static enum condition condition_of(const struct code_function *function, uint32_t node)
{
    enum { SHORT = 0x70, ESCAPE = 0x0f, LONG = 0x80, FAMILY = 0xf0, NUMBER = 0x0f };
    uint8_t code[2];
    uint64_t offset;
    const struct elf_file *file = function->image->file;
    if (!elf_file_offset(file, node_of(function, node)->address, &offset) ||
        !elf_file_read(file, offset, sizeof(code), code))
        return OTHER_CONDITION;
    bool is_long = code[0] == ESCAPE && (code[1] & FAMILY) == LONG;
    if (!is_long && (code[0] & FAMILY) != SHORT)
        return OTHER_CONDITION;
    return (enum condition)(code[is_long] & NUMBER);
}

static bool is_same_memory(const struct instruction_memory *a, const struct instruction_memory *b)
{
    return a->base == b->base && a->index == b->index && a->scale == b->scale &&
           a->segment == b->segment && a->displacement == b->displacement &&
           a->size_bytes == b->size_bytes;
}

static bool compares(const struct instruction *at, const struct place *index)
{
    if (!at->is_compare || at->tests_bits || !at->has_immediate)
        return false;
    return index->memory ? at->memory_count == 1 && is_same_memory(&at->memory[0], index->memory)
                         : at->memory_count == 0 && register_lone_general(at->reads) == index->reg;
}

static bool may_write_memory(const struct instruction *at, const struct instruction_memory *memory)
{
    uint64_t named = 0;
    if (memory->base != REGISTER_NONE)
        named |= REGISTER_BIT(memory->base);
    if (memory->index != REGISTER_NONE)
        named |= REGISTER_BIT(memory->index);
    for (unsigned i = 0; i < at->memory_count; i++)
        if (at->memory[i].writes)
            return true;
    return at->writes & named;
}

/* Goes back over an instruction. False: it computes the index. */
static bool go_back(const struct instruction *at, struct place *index)
{
    if (index->memory)
        return !may_write_memory(at, index->memory);
    if (!(at->writes & REGISTER_BIT(index->reg)))
        return true;
    if (!at->is_move || at->memory_count > 1)
        return false;
    if (at->memory_count) {
        index->memory = &at->memory[0];
        return at->memory[0].reads && !at->memory[0].is_implicit;
    }
    index->reg = register_lone_general(at->reads);
    return index->reg != REGISTER_NONE;
}

static bool take_count(const struct instruction *compare, enum condition condition, uint32_t *ret)
{
    int64_t count = compare->immediate + (condition == UNSIGNED_ABOVE);
    *ret = (uint32_t)count;
    return compare->immediate > 0 && compare->immediate < MOST_CASES;
}

/* Whether nothing but `from` leads to `to`, one after the other. */
static bool runs_on(const struct finding *finding, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (finding->is_target[i + 1] || node_of(finding->function, i)->flow != FLOW_NEXT)
            return false;
    return true;
}

/* The comparison of the index with the last case, and its branch: cmp eax, 5; ja default. */
static bool find_count(const struct finding *finding, uint32_t load, uint32_t jump, uint32_t *ret)
{
    const struct code_function *function = finding->function;
    enum condition condition = OTHER_CONDITION;
    struct place index = {.reg = node_of(function, load)->memory[0].index};
    if (!runs_on(finding, load, jump))
        return false;
    for (uint32_t i = 1; i <= NEAR && i <= load && !finding->is_target[load - i + 1]; i++) {
        const struct instruction *at = node_of(function, load - i);
        enum condition own =
            at->flow == FLOW_BRANCH ? condition_of(function, load - i) : OTHER_CONDITION;
        if (own == UNSIGNED_ABOVE || own == UNSIGNED_NOT_BELOW)
            condition = own;
        if (at->flow == FLOW_BRANCH && !at->writes) /* not `loop` */
            continue;
        if (condition != OTHER_CONDITION && compares(at, &index))
            return take_count(at, condition, ret);
        if (at->flow != FLOW_NEXT || !go_back(at, &index))
            return false;
        if (at->writes & REGISTER_BIT(REGISTER_FLAGS))
            condition = OTHER_CONDITION;
    }
    return false;
}

/* --- its address --- */

/* jmp [rax*8+table], mov rax, [rax*8+table], and the same with the table's address in a register */
static bool is_load(const struct instruction *at, uint8_t scale)
{
    return at->memory_count == 1 && at->memory[0].index != REGISTER_NONE &&
           at->memory[0].scale == scale && at->memory[0].segment == SEGMENT_NONE &&
           !at->memory[0].writes;
}

static bool take_load(const struct finding *finding, uint32_t node, uint32_t jump, uint8_t scale,
                      struct table *ret)
{
    const struct instruction_memory *memory = &node_of(finding->function, node)->memory[0];
    ret->is_relative = scale == 4;
    ret->address = 0;
    if (memory->base != REGISTER_NONE && !find_address(finding, node, memory->base, &ret->address))
        return false;
    ret->address += (uint64_t)memory->displacement;
    return find_count(finding, node, jump, &ret->count);
}

/* add rax, rbx */
static bool adds_register(const struct instruction *at, uint8_t reg)
{
    uint64_t sum = REGISTER_BIT(reg);
    return !at->memory_count && !at->has_immediate && (at->reads & sum) && at->reads != sum;
}

/* The one of the two added registers that was loaded from the table. */
static bool take_distance(const struct finding *finding, uint32_t sum, uint32_t jump, uint8_t reg,
                          struct table *ret)
{
    uint32_t load = reg == REGISTER_NONE ? CODE_NONE : written_above(finding->function, sum, reg);
    return load != CODE_NONE && is_load(node_of(finding->function, load), 4) &&
           take_load(finding, load, jump, 4, ret);
}

static bool find_table(const struct finding *finding, uint32_t jump, struct table *ret)
{
    const struct code_function *function = finding->function;
    const struct instruction *at = node_of(function, jump);
    if (is_load(at, 8))
        return take_load(finding, jump, jump, 8, ret);
    uint8_t reg = at->memory_count ? REGISTER_NONE : register_lone_general(at->reads);
    uint32_t above = reg == REGISTER_NONE ? CODE_NONE : written_above(function, jump, reg);
    if (above == CODE_NONE)
        return false;
    if (is_load(node_of(function, above), 8))
        return take_load(finding, above, jump, 8, ret);
    if (!adds_register(node_of(function, above), reg))
        return false;
    uint8_t other = register_lone_general(node_of(function, above)->reads & ~REGISTER_BIT(reg));
    return take_distance(finding, above, jump, reg, ret) ||
           take_distance(finding, above, jump, other, ret);
}

/* --- its words --- */

static uint32_t word_bytes(const struct table *table)
{
    return table->is_relative ? 4 : 8;
}

/* Where the words are in the file. False: not all of them are constants of one segment. */
static bool find_words(const struct code_function *function, const struct table *table,
                       uint64_t *ret_offset)
{
    uint64_t last_offset, distance = (uint64_t)(table->count - 1) * word_bytes(table);
    const struct elf_file *file = function->image->file;
    return (table->is_relative || elf_words_are_final(file)) &&
           elf_word_is_constant(file, table->address) &&
           elf_word_is_constant(file, table->address + distance) &&
           elf_file_offset(file, table->address, ret_offset) &&
           elf_file_offset(file, table->address + distance, &last_offset) &&
           last_offset - *ret_offset == distance;
}

static bool read_way(const struct code_function *function, const struct table *table,
                     uint64_t offset, uint64_t *ret)
{
    int32_t distance;
    const struct elf_file *file = function->image->file;
    if (!table->is_relative)
        return elf_file_read(file, offset, sizeof(*ret), ret);
    if (!elf_file_read(file, offset, sizeof(distance), &distance))
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

static void take_ways(struct finding *finding, uint32_t jump, const struct table *table)
{
    struct code_function *function = finding->function;
    size_t before = function->ways.length;
    uint64_t offset;
    bool stays = false, good = find_words(function, table, &offset);
    for (uint32_t i = 0; good && i < table->count; i++, offset += word_bytes(table)) {
        uint64_t address;
        bool is_here = false;
        good = finding->words++ < MOST_WORDS && read_way(function, table, offset, &address) &&
               take_way(function, jump, address, &is_here);
        stays |= is_here;
    }
    if (!good || !stays)
        function->ways.length = before;
}

/* --- the function --- */

static void note_address(struct finding *finding, const struct instruction *at)
{
    uint8_t reg = register_lone_general(at->writes);
    if (reg == REGISTER_NONE || !code_loads_address(at, reg))
        return;
    struct loaded_address *loaded = &finding->loaded[reg];
    loaded->is_ambiguous |= loaded->is_found && loaded->address != (uint64_t)at->addend;
    loaded->address = (uint64_t)at->addend;
    loaded->is_found = true;
}

bool code_tables_has_jumps(const struct code_function *function)
{
    for (uint32_t i = 0; i < function->nodes.length; i++)
        if (node_of(function, i)->flow == FLOW_JUMP_INDIRECT)
            return true;
    return false;
}

void code_tables_find(struct code_function *function, const bool *is_target)
{
    struct table table;
    struct finding finding = {.function = function, .is_target = is_target};
    if (function->is_arm64 || !code_tables_has_jumps(function))
        return;
    for (uint32_t i = 0; i < function->nodes.length; i++)
        note_address(&finding, node_of(function, i));
    for (uint32_t i = 0; i < function->nodes.length; i++)
        if (node_of(function, i)->flow == FLOW_JUMP_INDIRECT && finding.jumps++ < MOST_JUMPS &&
            find_table(&finding, i, &table))
            take_ways(&finding, i, &table);
}
