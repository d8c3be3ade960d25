#include "steps/loops/code_reach.h"

#include <stdlib.h>

/* What a search costs besides the instructions that it looks at: its memory, and what its caller
 * does with the function. In instructions. */
enum { SEARCH_WORK = 16, NODES_PER_WORK = 8 };

/* What is looked for. */
struct wanted {
    const bool *marked; /* by node; NULL: by what it writes */
    bool is_slot;
    uint8_t reg;
    struct code_slot slot;
};

static bool stores_to(const struct instruction *at, struct code_slot slot)
{
    for (unsigned i = 0; i < at->memory_count; i++) {
        const struct instruction_memory *memory = &at->memory[i];
        if (memory->writes && !memory->is_implicit && memory->base == slot.reg &&
            memory->index == REGISTER_NONE && memory->displacement == slot.displacement)
            return true;
    }
    return false;
}

static bool gives(const struct code_function *function, uint32_t node, const struct wanted *wanted)
{
    const struct instruction *at = &function->nodes.data[node];
    if (wanted->marked)
        return wanted->marked[node];
    if (wanted->is_slot)
        return stores_to(at, wanted->slot);
    uint64_t changed = at->writes | (code_is_call(at) ? code_clobbered(function) : 0);
    return changed & REGISTER_BIT(wanted->reg);
}

struct search {
    const struct code_function *function;
    const bool *region;
    struct code_budget *budget; /* borrowed */
    bool *seen;                 /* owned */
    uint32_t *open;             /* owned */
    uint32_t open_count;
};

static void charge(struct code_budget *budget, uint64_t work)
{
    budget->left -= work < budget->left ? work : budget->left;
}

static bool search_begin(struct search *search, struct code_budget *budget,
                         const struct code_function *function, const bool *region)
{
    size_t count = function->nodes.length;
    *search = (struct search){.function = function, .region = region, .budget = budget};
    if (budget->left < count)
        return false;
    charge(budget, SEARCH_WORK + count / NODES_PER_WORK);
    search->seen = calloc(count, sizeof(*search->seen));
    size_t edges = 2 * count + function->ways.length;
    search->open = malloc((edges + 1) * sizeof(*search->open));
    return search->seen && search->open;
}

static void search_end(struct search *search)
{
    free(search->seen);
    free(search->open);
}

static void visit(struct search *search, uint32_t before, const struct wanted *wanted,
                  struct code_reach *ret)
{
    if (search->region && !search->region[before]) {
        ret->enters = true;
        return;
    }
    if (search->seen[before])
        return;
    search->seen[before] = true;
    charge(search->budget, 1);
    if (!gives(search->function, before, wanted))
        search->open[search->open_count++] = before;
    else if (ret->count < CODE_REACH_MAX)
        ret->found[ret->count++] = before;
    else
        ret->is_cut = true;
}

/* Code to which nothing leads is the target of a jump through a table (`switch`). */
static void look_before_target(struct search *search, const struct wanted *wanted,
                               struct code_reach *ret)
{
    const struct code_function *function = search->function;
    bool has_table = false;
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        if (!code_function_is_open(function, i))
            continue;
        has_table = true;
        visit(search, i, wanted, ret);
    }
    ret->enters |= !has_table;
}

/* What may be executed before `node`. */
static void look_before(struct search *search, uint32_t node, const struct wanted *wanted,
                        struct code_reach *ret)
{
    const struct code_function *function = search->function;
    uint32_t first = function->first_before[node], end = function->first_before[node + 1];
    ret->enters |= node == 0;
    if (node != 0 && first == end)
        look_before_target(search, wanted, ret);
    for (uint32_t i = first; i < end; i++)
        visit(search, function->before[i], wanted, ret);
}

static void reach(struct code_budget *budget, const struct code_scope *scope, bool everywhere,
                  uint32_t node, const struct wanted *wanted, struct code_reach *ret)
{
    struct search search;
    *ret = (struct code_reach){0};
    ret->is_cut =
        !search_begin(&search, budget, scope->function, everywhere ? NULL : scope->region);
    if (!ret->is_cut)
        look_before(&search, node, wanted, ret);
    while (!ret->is_cut && search.open_count)
        look_before(&search, search.open[--search.open_count], wanted, ret);
    search_end(&search);
}

void code_reach_register(struct code_budget *budget, const struct code_scope *scope,
                         bool everywhere, uint32_t node, uint8_t reg, struct code_reach *ret)
{
    struct wanted wanted = {.reg = reg};
    reach(budget, scope, everywhere, node, &wanted, ret);
}

uint32_t code_reach_only(struct code_budget *budget, const struct code_scope *scope,
                         bool everywhere, uint32_t node, uint8_t reg)
{
    struct code_reach reach;
    code_reach_register(budget, scope, everywhere, node, reg, &reach);
    return reach.count == 1 && !reach.enters && !reach.is_cut ? reach.found[0] : CODE_NONE;
}

void code_reach_slot(struct code_budget *budget, const struct code_scope *scope, bool everywhere,
                     uint32_t node, struct code_slot slot, struct code_reach *ret)
{
    struct wanted wanted = {.is_slot = true, .slot = slot};
    reach(budget, scope, everywhere, node, &wanted, ret);
}

void code_reach_marked(struct code_budget *budget, const struct code_scope *scope, bool everywhere,
                       uint32_t node, const bool *marked, struct code_reach *ret)
{
    struct wanted wanted = {.marked = marked};
    reach(budget, scope, everywhere, node, &wanted, ret);
}

/* Whether another turn begins at `node`, or the scope has been left. */
static bool is_next_turn(const struct code_scope *scope, uint32_t node)
{
    return node == scope->head || (scope->region && !scope->region[node]);
}

static bool leaves_function(const struct code_scope *scope, uint32_t node)
{
    struct code_way way;
    uint32_t k = 0;
    for (; code_function_way(scope->function, node, k, &way); k++)
        if (way.to == CODE_NONE)
            return true;
    return k == 0;
}

bool code_leads_to(struct code_budget *budget, const struct code_scope *scope, uint32_t from,
                   uint32_t to, uint32_t without)
{
    struct search search;
    bool found = from == CODE_NONE && to == CODE_TURN_END;
    if (from == CODE_NONE)
        return found;
    if (search_begin(&search, budget, scope->function, scope->region))
        search.open[search.open_count++] = from;
    while (search.open_count && !found) {
        uint32_t at = search.open[--search.open_count];
        if (at == without || search.seen[at])
            continue;
        search.seen[at] = true;
        charge(budget, 1);
        if (is_next_turn(scope, at)) {
            found = to == CODE_TURN_END || (to == CODE_NEXT_TURN && at == scope->head);
            continue;
        }
        found = to == CODE_TURN_END ? leaves_function(scope, at) : at == to;
        struct code_way way;
        for (uint32_t k = 0; !found && code_function_way(scope->function, at, k, &way); k++)
            if (way.to != CODE_NONE && !search.seen[way.to])
                search.open[search.open_count++] = way.to;
    }
    search_end(&search);
    return found;
}

/* The displacement from `reg` of a pointer that the instruction makes. */
static bool makes_pointer(const struct instruction *at, uint8_t reg, int64_t *ret)
{
    bool copies = at->is_sum || (at->is_move && !at->memory_count);
    *ret = at->is_sum ? at->addend : 0;
    return copies && at->reads == REGISTER_BIT(reg) && !(at->writes & REGISTER_BIT(reg));
}

bool code_slot_is_shared(const struct code_function *function, struct code_slot slot)
{
    int64_t displacement;
    for (size_t i = 0; i < function->nodes.length; i++)
        if (makes_pointer(&function->nodes.data[i], slot.reg, &displacement) &&
            displacement == slot.displacement)
            return true;
    return false;
}

int64_t code_slot_object(const struct code_function *function, struct code_slot slot)
{
    int64_t found = INT64_MIN, displacement;
    for (size_t i = 0; i < function->nodes.length; i++)
        if (makes_pointer(&function->nodes.data[i], slot.reg, &displacement) &&
            displacement <= slot.displacement && displacement > found)
            found = displacement;
    return found;
}

static bool keeps_register(const struct code_function *function, struct code_slot slot)
{
    for (size_t i = 0; i < function->nodes.length; i++) {
        const struct instruction *at = &function->nodes.data[i];
        if (at->is_move && at->reads && stores_to(at, slot) && at->memory[0].size_bytes == 8)
            return true;
    }
    return false;
}

bool code_slot_escapes(const struct code_function *function, struct code_slot slot)
{
    int64_t object = code_slot_object(function, slot);
    return object != INT64_MIN && slot.displacement - object < CODE_OBJECT_BYTES &&
           (object == slot.displacement || !keeps_register(function, slot));
}
