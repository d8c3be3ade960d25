#include "steps/loops/code_ends.h"

#include "steps/loops/code_calls.h"

enum {
    MOST_DEPTH = 3,          /* functions that call each other */
    MOST_WAYS = 24,          /* of a function, to code behind branches */
    MOST_INSTRUCTIONS = 256, /* that are looked at for one call; more: it may come back */
};

struct search {
    const struct code_function *function;
    uint32_t left, depth;
};

/* The code of one function to which branches lead, each once. */
struct ways {
    uint64_t all[MOST_WAYS];
    uint32_t count;
};

static bool may_return(struct search *search, uint64_t start);

/* `at`: a call, or a jump to another function instead of a call and a return. */
static bool ends(struct search *search, const struct instruction *at)
{
    struct code_target target;
    if (!code_target_of(search->function, at, &target))
        return false;
    if (code_is_end(target.name))
        return true;
    if (!target.is_here || search->depth >= MOST_DEPTH)
        return false;
    search->depth++;
    bool found = !may_return(search, target.address);
    search->depth--;
    return found;
}

/* False: there is no room. */
static bool add_way(struct ways *ways, uint64_t address)
{
    for (uint32_t i = 0; i < ways->count; i++)
        if (ways->all[i] == address)
            return true;
    if (ways->count == MOST_WAYS)
        return false;
    ways->all[ways->count++] = address;
    return true;
}

/* Follows the code from `address` until it ends, returns or jumps. */
static bool way_may_return(struct search *search, uint64_t address, struct ways *ways)
{
    struct instruction at;
    for (;; address += at.length) {
        if (!search->left || !code_decode_at(search->function, address, &at))
            return true;
        search->left--;
        if (code_fails(search->function, &at) || (code_is_call(&at) && ends(search, &at)))
            return false;
        if (at.flow == FLOW_JUMP)
            return !ends(search, &at) && !add_way(ways, at.target);
        if (at.flow == FLOW_RETURN || at.flow == FLOW_JUMP_INDIRECT ||
            (at.flow == FLOW_BRANCH && !add_way(ways, at.target)))
            return true;
    }
}

static bool may_return(struct search *search, uint64_t start)
{
    struct ways ways = {.all = {start}, .count = 1};
    for (uint32_t i = 0; i < ways.count; i++)
        if (way_may_return(search, ways.all[i], &ways))
            return true;
    return false;
}

bool code_ends(const struct code_function *function, const struct instruction *call,
               bool looks_inside)
{
    struct search search = {
        .function = function, .left = MOST_INSTRUCTIONS, .depth = looks_inside ? 0 : MOST_DEPTH};
    return code_is_call(call) && ends(&search, call);
}
