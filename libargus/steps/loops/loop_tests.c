/* Every branch in the loop that depends on the variable must be an exit that compares the variable
 * itself with a constant. If one is anything else, nothing is said: a value that no known test
 * lets end the loop might end it there. */
#include "steps/loops/loop_tests.h"

#include <string.h>

/* Condition codes of x86 (Intel SDM volume 1, appendix B): the odd one is the contrary. */
enum condition {
    IF_BELOW = 2,
    IF_EQUAL = 4,
    IF_BELOW_OR_EQUAL = 6,
    IF_SIGN = 8,
    IF_LESS = 12,
    IF_LESS_OR_EQUAL = 14,
    CONTRARY = 1,
};

/* --- finding --- */

uint8_t loop_condition_of(const struct code_function *function, uint32_t node)
{
    enum { SHORT = 0x70, ESCAPE = 0x0f, NEAR = 0x80 };
    uint8_t code[2];
    uint64_t offset;
    const struct elf_file *file = function->image->file;
    if (function->is_arm64 || !elf_file_offset(file, function->nodes.data[node].address, &offset) ||
        !elf_file_read(file, offset, sizeof(code), code))
        return LOOP_NO_CONDITION;
    if ((code[0] & 0xf0) == SHORT)
        return code[0] & 0xf;
    return code[0] == ESCAPE && (code[1] & 0xf0) == NEAR ? code[1] & 0xf : LOOP_NO_CONDITION;
}

static bool reads_variable(struct code_budget *budget, const struct code_scope *scope,
                           uint32_t node, const struct code_path *variable)
{
    struct code_path path;
    const struct instruction *at = &scope->function->nodes.data[node];
    if (at->memory_count != 1 || !at->memory[0].reads || at->memory[0].writes ||
        at->memory[0].size_bytes != variable->size_bytes)
        return false;
    code_path_find(budget, scope, node, 0, &path);
    return code_path_is_same(&path, variable);
}

static uint32_t loaded_by(struct code_budget *budget, const struct code_scope *scope, uint32_t node)
{
    uint8_t reg = register_lone_general(scope->function->nodes.data[node].reads);
    return reg == REGISTER_NONE ? CODE_NONE : code_reach_only(budget, scope, false, node, reg);
}

/* Unoptimized code tests a bit by three instructions: `movzx eax, [x]; and eax, 2; test al,
 * al`. Some shift the bit to the right first. Returns the load; `*ret_bits`: of it. CODE_NONE: it
 * is no such test. */
static uint32_t masked_load(struct code_budget *budget, const struct code_scope *scope,
                            uint32_t node, uint64_t *ret_bits)
{
    enum { LOWEST = 0xff, MOST = 32 }; /* the bits that each comparison looks at; a shift */
    const struct instruction *at = &scope->function->nodes.data[node];
    if (at->bit_use != BITS_MASKED || at->memory_count || !at->has_immediate || !at->bits ||
        at->bits > LOWEST)
        return CODE_NONE;
    *ret_bits = at->bits;
    node = loaded_by(budget, scope, node);
    if (node == CODE_NONE)
        return CODE_NONE;
    at = &scope->function->nodes.data[node];
    if (at->bit_use != BITS_SHIFTED || at->memory_count || at->bits >= MOST)
        return node;
    *ret_bits <<= at->bits;
    return loaded_by(budget, scope, node);
}

/* Whether the comparison is one of the variable with a constant, or with itself. */
static bool read_comparison(struct code_budget *budget, const struct code_scope *scope,
                            uint32_t node, const struct code_path *variable, struct loop_test *ret)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    uint64_t values = at->reads & (REGISTER_BIT(REGISTER_FLAGS) - 1);
    uint64_t bits;
    ret->tests_bits = at->tests_bits;
    ret->is_own = at->tests_bits && !at->has_immediate && !at->memory_count;
    ret->operand = at->has_immediate ? at->immediate : 0;
    if (!at->is_compare || (!at->has_immediate && !ret->is_own))
        return false;
    if (at->memory_count)
        return !values && reads_variable(budget, scope, node, variable);
    uint32_t load = loaded_by(budget, scope, node);
    uint32_t masked =
        load != CODE_NONE && ret->is_own ? masked_load(budget, scope, load, &bits) : CODE_NONE;
    if (masked != CODE_NONE && (ret->condition & ~CONTRARY) == IF_EQUAL) {
        ret->is_own = false;
        ret->operand = (int64_t)bits;
        load = masked;
    }
    return load != CODE_NONE && scope->function->nodes.data[load].is_move &&
           reads_variable(budget, scope, load, variable);
}

/* Whether the branch leaves the loop on one of its two ways. */
static bool find_exit(const struct code_scope *scope, const struct code_loop *loop, uint32_t node,
                      struct loop_test *ret)
{
    const uint32_t *next = scope->function->next[node];
    bool stays[2];
    for (unsigned k = 0; k < 2; k++)
        stays[k] = next[k] != CODE_NONE && loop->has[next[k]];
    ret->ends_if = !stays[1];
    return stays[0] != stays[1];
}

static bool find_test(struct code_budget *budget, const struct code_scope *scope,
                      const struct code_loop *loop, uint32_t node, const struct code_path *variable,
                      struct loop_test *ret)
{
    uint32_t comparison = code_reach_only(budget, scope, false, node, REGISTER_FLAGS);
    ret->condition = loop_condition_of(scope->function, node);
    return comparison != CODE_NONE && ret->condition != LOOP_NO_CONDITION &&
           find_exit(scope, loop, node, ret) &&
           read_comparison(budget, scope, comparison, variable, ret);
}

static bool leaves(const struct code_scope *scope, const struct code_loop *loop, uint32_t node)
{
    struct code_way way;
    for (uint32_t k = 0; code_function_way(scope->function, node, k, &way); k++)
        if (way.to == CODE_NONE || !loop->has[way.to])
            return true;
    return false;
}

/* Of a branch that does not leave the loop, only what it compares itself is looked at: an exit that
 * it decides depends on the variable, too. */
static bool depends_on(const struct code_slice *slice, const struct code_scope *scope,
                       const struct code_loop *loop, uint32_t node,
                       const struct code_path *variable)
{
    struct code_slice own = {.library = slice->library,
                             .budget = slice->budget,
                             .files = slice->files,
                             .memo = slice->memo,
                             .yield = slice->yield,
                             .yield_function = slice->yield_function,
                             .is_flat = !leaves(scope, loop, node)};
    code_slice_branch(&own, scope, node);
    for (uint32_t i = 0; i < own.source_count; i++)
        if (code_path_is_same(&own.sources[i], variable))
            return true;
    return false;
}

void loop_tests_find(const struct code_slice *slice, const struct code_scope *scope,
                     const struct code_loop *loop, const struct code_path *variable,
                     struct loop_tests *ret)
{
    const struct code_function *function = scope->function;
    bool is_known = true;
    *ret = (struct loop_tests){.size_bytes = variable->size_bytes};
    for (uint32_t i = 0; is_known && i < function->nodes.length; i++) {
        struct loop_test test;
        uint8_t flow = function->nodes.data[i].flow;
        if (!loop->has[i] || (flow != FLOW_BRANCH && flow != FLOW_JUMP_INDIRECT) ||
            !depends_on(slice, scope, loop, i, variable))
            continue;
        is_known = flow == FLOW_BRANCH && ret->count < LOOP_TESTS_MAX &&
                   find_test(slice->budget, scope, loop, i, variable, &test);
        if (is_known)
            ret->all[ret->count++] = test;
    }
    if (!is_known || slice->budget->left < function->nodes.length)
        ret->count = 0;
}

/* --- deciding --- */

static uint64_t low_bits(int64_t value, uint32_t bytes)
{
    return bytes < 8 ? (uint64_t)value & ((UINT64_C(1) << 8 * bytes) - 1) : (uint64_t)value;
}

/* Whether the constant is one that a variable of this size can have; code may extend the variable
 * by zeros or by its sign. */
static bool fits(int64_t operand, uint32_t bytes)
{
    int64_t limit = bytes < 8 ? INT64_C(1) << (8 * bytes - 1) : 0;
    return bytes >= 8 || (operand >= -limit && operand < 2 * limit);
}

bool loop_test_holds(const struct loop_test *test, uint32_t bytes, int64_t value, bool *ret)
{
    bool is_signed_known = bytes >= 4; /* smaller ones are extended, and it is not known how */
    uint64_t operand = low_bits(test->is_own ? value : test->operand, bytes);
    uint64_t low = low_bits(value, bytes);
    unsigned shift = bytes < 8 ? 64 - 8 * bytes : 0;
    int64_t left = (int64_t)(low << shift) >> shift, right = (int64_t)(operand << shift) >> shift;
    if (test->tests_bits) {
        left = (int64_t)((uint64_t)left & (uint64_t)right);
        low = low_bits(left, bytes);
        right = 0;
        operand = 0;
    }
    switch (test->condition & ~CONTRARY) {
    case IF_EQUAL:
        *ret = low == operand;
        break;
    case IF_BELOW: /* after "bt", too, which is not understood */
        *ret = low < operand;
        is_signed_known &= !test->tests_bits;
        break;
    case IF_BELOW_OR_EQUAL:
        *ret = low <= operand;
        is_signed_known &= !test->tests_bits;
        break;
    case IF_SIGN:
        *ret = (int64_t)((uint64_t)left - (uint64_t)right) < 0;
        is_signed_known &= test->tests_bits;
        break;
    case IF_LESS:
        *ret = left < right;
        break;
    case IF_LESS_OR_EQUAL:
        *ret = left <= right;
        break;
    default:
        return false;
    }
    *ret ^= test->condition & CONTRARY;
    return (is_signed_known || (test->condition & ~CONTRARY) == IF_EQUAL) &&
           fits(test->operand, bytes);
}

enum loop_end loop_tests_decide(const struct loop_tests *tests, int64_t value)
{
    bool is_known = tests->count > 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        const struct loop_test *test = &tests->all[i];
        bool holds;
        if (!loop_test_holds(test, tests->size_bytes, value, &holds))
            is_known = false;
        else if (holds == test->ends_if)
            return LOOP_ENDS;
    }
    return is_known ? LOOP_CONTINUES : LOOP_END_UNKNOWN;
}
