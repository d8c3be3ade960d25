#include "steps/loops/code_sums.h"

enum { MOST_MOVES = 4 }; /* through which a sum comes back to where it is changed */

struct search {
    struct code_budget *budget;
    const struct code_scope *scope;
    uint32_t node; /* the instruction that changes the sum */
    bool returns, begins;
};

static const struct instruction *instruction_of(const struct search *search, uint32_t node)
{
    return &search->scope->function->nodes.data[node];
}

static bool find_slot(const struct search *search, uint32_t node, struct code_slot *ret)
{
    struct code_path path;
    const struct code_function *function = search->scope->function;
    code_path_find(search->budget, search->scope, node, 0, &path);
    *ret = path.slot;
    return path.root == CODE_STACK && !path.links && !path.elements && path.function == function &&
           !code_slot_is_shared(function, path.slot);
}

static bool look_at(struct search *search, const struct code_reach *reach, unsigned moves);

static bool is_one(uint64_t registers)
{
    return registers && !(registers & (registers - 1));
}

/* What the move at `node` moves: a register, or a word of the stack. */
static bool look_behind_move(struct search *search, uint32_t node, unsigned moves)
{
    struct code_reach reach;
    struct code_slot slot;
    const struct instruction *at = instruction_of(search, node);
    bool loads = at->memory_count && at->memory[0].reads;
    bool is_plain = at->memory_count <= 1 && !(loads && at->memory[0].writes);
    if (!is_plain || (loads ? !find_slot(search, node, &slot) : !is_one(at->reads)))
        return false;
    if (loads)
        code_reach_slot(search->budget, search->scope, false, node, slot, &reach);
    else
        code_reach_register(search->budget, search->scope, false, node,
                            (uint8_t)__builtin_ctzll(at->reads), &reach);
    return look_at(search, &reach, moves);
}

/* False: what the turn before had comes in, or the code does not tell. */
static bool look_at(struct search *search, const struct code_reach *reach, unsigned moves)
{
    if (reach->enters || reach->is_cut || !reach->count)
        return false;
    for (uint32_t i = 0; i < reach->count; i++) {
        const struct instruction *at = instruction_of(search, reach->found[i]);
        if (reach->found[i] == search->node)
            search->returns = true;
        else if (!at->is_move || moves == MOST_MOVES ||
                 !look_behind_move(search, reach->found[i], moves + 1))
            search->begins = true;
    }
    return true;
}

/* Whether what the instruction changes is its own result, or what the same turn began with: no turn
 * gives it to the next one. */
static bool is_renewed(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                       const struct code_reach *reach)
{
    struct search search = {.budget = budget, .scope = scope, .node = node};
    return look_at(&search, reach, 0) && search.returns && search.begins;
}

bool code_adds_to_sum(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                      uint8_t *ret_reg, struct code_reach *ret)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    uint64_t both = at->reads & at->writes & (REGISTER_BIT(REGISTER_FLAGS) - 1);
    bool is_slot = at->memory_count == 1 && at->memory[0].reads && at->memory[0].writes &&
                   !at->memory[0].is_implicit;
    struct search search = {.budget = budget, .scope = scope, .node = node};
    struct code_slot slot;
    for (; both && !at->is_move; both &= both - 1) {
        *ret_reg = (uint8_t)__builtin_ctzll(both);
        code_reach_register(budget, scope, false, node, *ret_reg, ret);
        if (is_renewed(budget, scope, node, ret))
            return true;
    }
    *ret_reg = REGISTER_NONE;
    if (!is_slot || !find_slot(&search, node, &slot))
        return false;
    code_reach_slot(budget, scope, false, node, slot, ret);
    return is_renewed(budget, scope, node, ret);
}
