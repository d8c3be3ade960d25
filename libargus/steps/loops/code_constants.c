#include "steps/loops/code_constants.h"

/* mov eax, 1; xor eax, eax (of which the decoder says that it reads nothing). */
static bool gives_constant(const struct instruction *at, int64_t *ret)
{
    bool clears = !at->has_immediate && !at->is_sum && !at->is_move && at->length == 2;
    *ret = at->has_immediate ? at->immediate : 0;
    return !at->reads && !at->memory_count && at->flow == FLOW_NEXT &&
           ((at->is_move && at->has_immediate) || clears);
}

/* mov [x], eax, and xchg [x], eax, which atomic stores are; it leaves the flags alone. */
static bool is_plain_store(const struct instruction *at)
{
    const struct instruction_memory *memory = &at->memory[0];
    bool exchanges = memory->reads && !at->has_immediate && at->reads == at->writes &&
                     !(at->writes & REGISTER_BIT(REGISTER_FLAGS));
    return at->memory_count == 1 && (exchanges || (at->is_move && !memory->reads));
}

static bool find_constant(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                          int64_t *ret)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    uint8_t reg = register_lone_general(at->reads);
    *ret = at->immediate;
    if (!is_plain_store(at))
        return false;
    if (scope->function->is_arm64) /* the immediate moves the pointer; wzr is read by nobody */
        *ret = 0;
    if (!at->reads && (at->has_immediate || scope->function->is_arm64))
        return true;
    if (reg == REGISTER_NONE)
        return false;
    uint32_t given = code_reach_only(budget, scope, true, node, reg);
    return given != CODE_NONE && gives_constant(&scope->function->nodes.data[given], ret);
}

static int64_t cut_value(int64_t value, uint32_t bytes)
{
    unsigned unused = bytes < 8 ? 64 - 8 * bytes : 0;
    return (int64_t)((uint64_t)value << unused) >> unused;
}

bool code_constant_stored(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                          uint32_t bytes, int64_t *ret)
{
    if (!find_constant(budget, scope, node, ret))
        return false;
    *ret = cut_value(*ret, bytes);
    return true;
}
