#include "event/binary/elf_words.h"
#include "steps/loops/code_pointer.h"

/* What is added to an index at last, in bytes: code may add a member's offset to it instead of to
 * the array's address. */
static int64_t constant_part(struct finder *finder, const struct code_scope *scope, uint32_t node,
                             uint8_t reg)
{
    enum { MOST_COPIES = 4 };
    int64_t sum = 0;
    for (unsigned i = 0; i < MOST_COPIES && reg < REGISTER_FLAGS; i++) {
        node = code_reach_only(finder->budget, scope, true, node, reg);
        const struct instruction *at =
            node == CODE_NONE ? NULL : &scope->function->nodes.data[node];
        if (!at || at->memory_count || (!at->is_sum && !at->is_move))
            break;
        sum += at->is_sum ? at->addend : 0;
        reg = register_lone_general(at->reads);
    }
    return sum;
}

/* Whether the register has the number that is in a variable, and not that number times something:
 * GObject keeps in such a variable how far the private part of an object is away from it. */
static bool is_distance(struct finder *finder, const struct code_scope *scope, uint32_t node,
                        uint8_t reg)
{
    enum { BYTES = 4 };
    struct code_path path;
    node = code_reach_only(finder->budget, scope, true, node, reg);
    const struct instruction *at = node == CODE_NONE ? NULL : &scope->function->nodes.data[node];
    if (!at || !at->is_move || at->memory_count != 1 || at->memory[0].size_bytes != BYTES)
        return false;
    code_path_find(finder->budget, scope, node, 0, &path);
    return (path.root == CODE_ADDRESS || path.root == CODE_FOREIGN) && !path.links &&
           !path.elements;
}

/* How likely a value is a pointer to an array: an argument, or what a call returned, may be a
 * number. */
static unsigned array_rank(const struct pointer *pointer)
{
    bool leads = pointer->kind == POINTER_ADDRESS || pointer->kind == POINTER_FOREIGN ||
                 pointer->kind == POINTER_LOADED || pointer->kind == POINTER_STACK;
    return leads ? 2 : pointer->kind == POINTER_OBJECT;
}

/* The one pointer to an array among `registers`, if the others are no pointers. */
void code_pointer_find_element(struct finder *finder, const struct code_scope *scope, uint32_t node,
                               uint64_t registers, struct pointer *ret)
{
    unsigned best = 0;
    bool has_distance = false;
    int64_t added = scope->function->nodes.data[node].addend, part, own_part = 0;
    struct pointer pointer;
    *ret = (struct pointer){0};
    registers &= REGISTER_BIT(REGISTER_FLAGS) - 1;
    for (; registers; registers &= registers - 1) {
        uint8_t reg = (uint8_t)__builtin_ctzll(registers);
        code_pointer_find(finder, scope, node, reg, &pointer);
        unsigned rank = array_rank(&pointer);
        part = rank < 2 ? constant_part(finder, scope, node, reg) : 0;
        added += part;
        has_distance |= !rank && is_distance(finder, scope, node, reg);
        if (rank < best || !rank)
            continue;
        if (rank == best) /* several */
            pointer = (struct pointer){0};
        *ret = pointer;
        best = rank;
        own_part = part;
    }
    if (ret->kind == POINTER_OBJECT) /* its value has its own part */
        added -= own_part;
    ret->value += added;
    ret->is_element = ret->kind != POINTER_UNKNOWN;
    ret->is_distant = ret->is_element && has_distance;
    code_pointer_take_array(scope->function->image, scope->function->nodes.data[node].addend, ret);
}

void code_pointer_find_added(struct finder *finder, const struct code_scope *scope, uint32_t node,
                             const struct pointer *loaded, struct pointer *ret)
{
    struct pointer other;
    uint8_t reg = register_lone_general(scope->function->nodes.data[node].reads);
    *ret = (struct pointer){0};
    code_pointer_find(finder, scope, node, reg, &other);
    if (loaded->kind != POINTER_LOADED || array_rank(&other) == array_rank(loaded))
        return;
    *ret = *loaded;
    ret->value += constant_part(finder, scope, node, reg);
    ret->is_element = true;
    ret->is_distant = is_distance(finder, scope, node, reg);
}

/* Whether it is an address of a program that is not relocated, which no offset into an object looks
 * like. */
static bool is_fixed_address(const struct elf_file *file, uint64_t address)
{
    enum { LEAST = 0x10000 };
    uint64_t first;
    return address >= LEAST && elf_words_are_final(file) && elf_file_address(file, 0, &first) &&
           address >= first && address < elf_file_end(file);
}

bool code_pointer_take_array(const struct code_image *image, int64_t added, struct pointer *pointer)
{
    bool may_be = pointer->kind == POINTER_UNKNOWN || pointer->kind == POINTER_OBJECT ||
                  pointer->kind == POINTER_LOADED;
    if (!may_be || added <= 0 || !is_fixed_address(image->file, (uint64_t)added))
        return false;
    *pointer = (struct pointer){
        .kind = POINTER_ADDRESS, .value = added, .image = image, .is_element = true};
    return true;
}
