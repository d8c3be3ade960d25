#include "steps/loops/code_pointer.h"

/* What is added to an index at last, in bytes: code may add a member's offset to it instead of to the
 * array's address. */
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

/* How likely a value is a pointer to an array: an argument, or what a call returned, may be a number. */
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
    int64_t added = scope->function->nodes.data[node].addend;
    struct pointer pointer;
    *ret = (struct pointer){0};
    for (uint8_t reg = 0; reg < REGISTER_FLAGS; reg++) {
        if (!(registers & REGISTER_BIT(reg)))
            continue;
        code_pointer_find(finder, scope, node, reg, &pointer);
        unsigned rank = array_rank(&pointer);
        if (rank < 2)
            added += constant_part(finder, scope, node, reg);
        if (rank < best || !rank)
            continue;
        if (rank == best) /* several */
            pointer = (struct pointer){0};
        *ret = pointer;
        best = rank;
    }
    if (ret->kind == POINTER_OBJECT) /* its value has the constant part */
        added = scope->function->nodes.data[node].addend;
    ret->value += added;
    ret->is_element = ret->kind != POINTER_UNKNOWN;
}
