#include "steps/loops/code_given.h"

#include "steps/loops/code_calls.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/code_targets.h"

enum { MOST_CALLS = 4 }; /* that are followed, one inside the other */

static bool looks_into(struct code_budget *budget, const struct code_scope *scope,
                       const struct code_path *flag, unsigned depth);

/* A pointer to another object of the same stack, before the flag's, does not lead to it. */
static bool leads_to(const struct code_path *pointed, const struct code_path *flag)
{
    if (!code_path_leads_to(pointed, flag, CODE_OBJECT_BYTES))
        return false;
    return pointed->links || pointed->root != CODE_STACK ||
           code_slot_object(flag->function, flag->slot) <= pointed->slot.displacement;
}

static bool gets_flag(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                      const struct code_path *flag)
{
    for (unsigned i = 0; i < CODE_ARGUMENTS; i++) {
        struct code_path pointed;
        code_path_find_pointed(budget, scope, node, code_argument(scope->function, i), &pointed);
        if (leads_to(&pointed, flag))
            return true;
    }
    return false;
}

static bool may_write(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                      const struct code_path *flag, unsigned depth)
{
    struct code_target target;
    const struct code_function *called = NULL;
    bool is_known = code_call_find(budget, scope, node, &target);
    if (is_known &&
        (code_is_sleep(target.name) || code_is_clock(target.name) || code_takes_lock(target.name)))
        return false;
    if ((is_known && code_call_is_futex(budget, scope, node, &target)) ||
        !gets_flag(budget, scope, node, flag))
        return false;
    if (is_known && target.is_here && budget->library && depth < MOST_CALLS)
        called = code_library_function(budget->library, scope->function->image, target.address);
    if (!called || called->start != target.address)
        return true;
    struct code_scope inner = code_scope_of_call(scope, node, called);
    return looks_into(budget, &inner, flag, depth + 1);
}

static bool stores(struct code_budget *budget, const struct code_scope *scope, uint32_t node,
                   const struct code_path *flag)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    for (unsigned i = 0; i < at->memory_count; i++) {
        struct code_path path;
        int64_t distance;
        if (!at->memory[i].writes || at->memory[i].is_implicit)
            continue;
        code_path_find(budget, scope, node, i, &path);
        if (code_path_is_beside(&path, flag, &distance) && distance < (int64_t)flag->size_bytes &&
            -distance < (int64_t)path.size_bytes)
            return true;
    }
    return false;
}

/* A jump through a pointer is mostly one through a table, which calls nothing. */
static bool leaves(const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    return code_is_call(at) ||
           (at->flow == FLOW_JUMP && scope->function->next[node][0] == CODE_NONE);
}

/* `depth` 0: of the loop itself, whose stores do not count. */
static bool looks_into(struct code_budget *budget, const struct code_scope *scope,
                       const struct code_path *flag, unsigned depth)
{
    const struct code_function *function = scope->function;
    for (uint32_t node = 0; node < function->nodes.length; node++) {
        if (scope->region && !scope->region[node])
            continue;
        if (depth && stores(budget, scope, node, flag))
            return true;
        if (leaves(scope, node) && !code_fails(function, &function->nodes.data[node]) &&
            may_write(budget, scope, node, flag, depth))
            return true;
    }
    return budget->left < function->nodes.length; /* not all was looked at */
}

bool code_is_given(struct code_budget *budget, const struct code_scope *scope,
                   const struct code_path *flag)
{
    enum { POINTER_BYTES = 8, CALLED = 1 };
    struct code_path word = *flag;
    if (flag->root != CODE_STACK)
        return looks_into(budget, scope, flag, 0);
    if (flag->links) {
        word.links = 0;
        word.size_bytes = POINTER_BYTES;
    }
    return looks_into(budget, scope, &word, CALLED) ||
           (flag->links && looks_into(budget, scope, flag, 0));
}
