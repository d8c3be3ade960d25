#include "steps/loops/code_slice.h"

#include <string.h>

#include "event/binary/elf_words.h"
#include "steps/loops/code_calls.h"

enum {
    MOST_CALLS = 4,   /* that are followed, one inside the other */
    MOST_CONTROL = 2, /* constants */
    MOST_BRANCHES = 400,
    MOST_SOURCES = 3, /* of a function that is only perhaps the one that is called */
};

static void follow_register(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                            uint8_t reg);
static void follow_instruction(struct code_slice *slice, const struct code_scope *scope,
                               uint32_t node, uint8_t reg);

static const struct instruction *instruction_of(const struct code_scope *scope, uint32_t node)
{
    return &scope->function->nodes.data[node];
}

/* --- memory --- */

static void add_source(struct code_slice *slice, const struct code_path *path)
{
    slice->found = true;
    for (uint32_t i = 0; i < slice->source_count; i++)
        if (code_path_is_same(&slice->sources[i], path))
            return;
    if (slice->source_count == CODE_SOURCES_MAX)
        slice->is_unknown = true;
    else
        slice->sources[slice->source_count++] = *path;
}

/* By what was stored in a word of the stack. A word of which a pointer was made may be anybody's. */
static void follow_slot(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                        const struct code_path *path)
{
    struct code_reach stores;
    if (path->function != scope->function || code_slot_is_shared(scope->function, path->slot)) {
        slice->is_unknown = true;
        return;
    }
    code_reach_slot(slice->budget, scope, false, node, path->slot, &stores);
    slice->is_unknown |= stores.is_cut;
    for (uint32_t i = 0; i < stores.count; i++)
        follow_instruction(slice, scope, stores.found[i], REGISTER_NONE);
}

/* Whether the instruction writes what it read there, changed: inc, add; but not xchg and cmpxchg, which tell what was there, nor
 * `and x, 0`, which small code has for a constant. */
static bool changes(const struct instruction *at, const struct instruction_memory *memory)
{
    uint64_t general = REGISTER_BIT(REGISTER_FLAGS) - 1;
    bool clears = at->has_immediate && at->immediate == 0;
    return memory->reads && memory->writes && !(at->writes & general) && !clears;
}

/* False: what is stored is a constant. */
static bool follow_store(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    struct code_slice before = *slice;
    slice->found = slice->cycled = slice->is_unknown = slice->yields = slice->counts = false;
    follow_instruction(slice, scope, node, REGISTER_NONE);
    bool is_computed =
        slice->found || slice->cycled || slice->is_unknown || slice->yields || slice->counts;
    slice->found |= before.found;
    slice->cycled |= before.cycled;
    slice->is_unknown |= before.is_unknown;
    slice->yields |= before.yields;
    slice->counts |= before.counts;
    return is_computed;
}

/* Whether the scope itself stores a computed value at `path`. Then that is followed, and the variable is the thread's own. A constant
 * that is stored there (a flag is cleared before it is looked at) changes nothing. */
static bool follow_own_stores(struct code_slice *slice, const struct code_scope *scope,
                              const struct code_path *path)
{
    bool is_own = false;
    for (uint32_t node = 0; node < scope->function->nodes.length; node++) {
        const struct instruction *at = instruction_of(scope, node);
        if (scope->region && !scope->region[node])
            continue;
        for (unsigned i = 0; i < at->memory_count; i++) {
            struct code_path stored;
            if (!at->memory[i].writes || at->memory[i].is_implicit)
                continue;
            code_path_find(slice->budget, scope, node, i, &stored);
            if (!code_path_is_same(&stored, path) ||
                (!changes(at, &at->memory[i]) && (at->memory[i].reads || !at->reads)))
                continue;
            is_own |= follow_store(slice, scope, node);
        }
    }
    return is_own;
}

static bool is_table(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                     uint8_t reg, int64_t displacement)
{
    struct code_path table = {.root = CODE_ADDRESS, .image = scope->function->image};
    if (reg != REGISTER_NONE)
        code_path_find_pointed(slice->budget, scope, node, reg, &table);
    return table.root == CODE_ADDRESS && table.links == 0 &&
           elf_word_is_constant(table.image->file, table.address + (uint64_t)displacement);
}

/* What is loaded from a table that nobody writes hangs on the index alone. Compilers make such tables
 * of `switch`. Returns the register of the index, which may be either of the two; REGISTER_NONE: it
 * is no such table. */
static uint8_t table_index(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                           const struct instruction_memory *memory)
{
    if (memory->index == REGISTER_NONE || memory->segment != SEGMENT_NONE || memory->writes)
        return REGISTER_NONE;
    if (is_table(slice, scope, node, memory->base, memory->displacement))
        return memory->index;
    if (memory->base != REGISTER_NONE &&
        is_table(slice, scope, node, memory->index, memory->displacement))
        return memory->base;
    return REGISTER_NONE;
}

static void follow_memory(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                          unsigned operand)
{
    struct code_path path;
    const struct instruction_memory *memory = &instruction_of(scope, node)->memory[operand];
    uint8_t index = table_index(slice, scope, node, memory);
    if (index != REGISTER_NONE) {
        follow_register(slice, scope, node, index);
        return;
    }
    code_path_find(slice->budget, scope, node, operand, &path);
    if (path.root == CODE_STACK && path.links == 0)
        follow_slot(slice, scope, node, &path);
    else if (path.root == CODE_ERRNO)
        slice->yields = true;
    else if (path.root == CODE_UNKNOWN || path.root == CODE_STACK)
        slice->is_unknown = true;
    else if (!follow_own_stores(slice, scope, &path))
        add_source(slice, &path);
}

/* --- calls --- */

static void follow_call(struct code_slice *slice, const struct code_scope *scope, uint32_t node);

/* A jump through a table (`switch`) hangs on its index. If that is anything but constants, or if it
 * is another jump, the code does not tell. */
static void follow_table_jump(struct code_slice *slice, const struct code_scope *scope,
                              uint32_t node)
{
    struct code_slice before = *slice;
    slice->found = slice->yields = slice->counts = slice->is_unknown = false;
    follow_instruction(slice, scope, node, REGISTER_NONE);
    bool is_constant = !slice->found && !slice->yields && !slice->counts && !slice->is_unknown;
    *slice = before;
    slice->is_unknown |= !is_constant;
}

/* What decides the result of `function`, which the call at `node` executes. */
static void follow_function(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                            const struct code_function *function)
{
    struct code_scope called = {.function = function,
                                .head = CODE_NONE,
                                .caller = scope,
                                .call = node,
                                .depth = scope->depth + 1};
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        const struct instruction *at = &function->nodes.data[i];
        if (at->flow == FLOW_RETURN)
            follow_register(slice, &called, i, 0);
        else if (at->flow == FLOW_JUMP && function->next[i][0] == CODE_NONE)
            follow_call(slice, &called, i);
        else if (at->flow == FLOW_JUMP_INDIRECT)
            follow_table_jump(slice, &called, i);
    }
}

static bool is_recursion(const struct code_scope *scope, const struct code_function *function)
{
    for (; scope; scope = scope->caller)
        if (scope->function == function)
            return true;
    return false;
}

/* The same for a function of which the code does not say everything: only if it leads to a few
 * variables and nothing else. `is_sure`: it is the one that is called. */
static bool try_function(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                         const struct code_function *function, bool is_sure)
{
    struct code_slice before = *slice;
    slice->is_unknown = false;
    follow_function(slice, scope, node, function);
    if (slice->is_unknown || slice->source_count > MOST_SOURCES) {
        *slice = before;
        return false;
    }
    slice->is_unknown = before.is_unknown || !is_sure;
    return true;
}

static const struct code_function *function_at(const struct code_slice *slice,
                                               const struct code_scope *scope,
                                               const struct code_image *image, uint64_t address)
{
    const struct code_function *function =
        image && scope->depth < MOST_CALLS ? code_library_function(slice->library, image, address)
                                           : NULL;
    return function && function->start == address && !is_recursion(scope, function) ? function
                                                                                    : NULL;
}

/* A function of another file. */
static const struct code_function *foreign_function(const struct code_slice *slice,
                                                    const struct code_scope *scope,
                                                    const struct code_target *target)
{
    uint64_t address;
    struct elf_file *file = slice->files && target->name
                                ? slice->files->find(slice->files->context, target->name, &address)
                                : NULL;
    return file ? function_at(slice, scope, code_library_image(slice->library, file), address)
                : NULL;
}

/* Where the call reads the function's address. */
static void find_called_word(struct code_slice *slice, const struct code_scope *scope,
                             uint32_t node, struct code_path *ret)
{
    struct code_reach reach;
    const struct instruction *at = instruction_of(scope, node);
    uint64_t registers = at->reads & (REGISTER_BIT(REGISTER_FLAGS) - 1) &
                         ~REGISTER_BIT(code_stack_pointer(scope->function->is_arm64));
    *ret = (struct code_path){.root = CODE_UNKNOWN};
    if (at->memory_count && at->memory[0].reads) {
        code_path_find(slice->budget, scope, node, 0, ret);
        return;
    }
    if (!registers || registers & (registers - 1))
        return;
    code_reach_register(slice->budget, scope, true, node, (uint8_t)__builtin_ctzll(registers),
                        &reach);
    if (reach.count == 1 && !reach.enters && !reach.is_cut &&
        instruction_of(scope, reach.found[0])->is_move &&
        instruction_of(scope, reach.found[0])->memory_count == 1)
        code_path_find(slice->budget, scope, reach.found[0], 0, ret);
}

/* A function whose address is in a variable: the one with which the variable begins. */
static bool follow_pointer_call(struct code_slice *slice, const struct code_scope *scope,
                                uint32_t node)
{
    struct code_path word;
    uint64_t address;
    find_called_word(slice, scope, node, &word);
    if (word.root != CODE_ADDRESS || word.links ||
        !elf_word_pointer(word.image->file, word.address, &address))
        return false;
    const struct code_function *function = function_at(slice, scope, word.image, address);
    return function && try_function(slice, scope, node, function,
                                    elf_word_is_constant(word.image->file, word.address));
}

static void follow_call(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    bool is_known = code_call_target(scope->function, node, &target);
    bool is_yield = scope->function == slice->yield_function && node == slice->yield;
    bool is_sleep = is_known && code_is_sleep(target.name);
    const struct code_function *function =
        is_known && target.is_here && !is_sleep
            ? function_at(slice, scope, scope->function->image, target.address)
            : NULL;
    if (function) {
        follow_function(slice, scope, node, function);
    } else if (is_yield || is_sleep) {
        slice->yields = true;
    } else if (is_known && !target.is_here && !code_is_clock(target.name)) {
        function = foreign_function(slice, scope, &target);
        if (!function || !try_function(slice, scope, node, function, true))
            slice->is_unknown = true;
    } else if (is_known || !follow_pointer_call(slice, scope, node)) {
        slice->is_unknown = true;
    }
}

/* --- registers --- */

static void follow_register(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                            uint8_t reg)
{
    struct code_reach reach;
    bool arm64 = scope->function->is_arm64;
    if (reg == code_stack_pointer(arm64))
        return;
    code_reach_register(slice->budget, scope, false, node, reg, &reach);
    slice->is_unknown |= reach.is_cut;
    for (uint32_t i = 0; i < reach.count; i++)
        follow_instruction(slice, scope, reach.found[i], reg);
    if (reach.enters && scope->head == CODE_NONE && scope->caller &&
        (code_is_argument(arm64, reg) || code_is_kept(arm64, reg)))
        follow_register(slice, scope->caller, scope->call, reg);
}

/* Whether the instruction is being followed already: the value comes from itself. */
static bool is_open(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    bool is_changed = false;
    for (uint32_t i = slice->open_count; i-- > 0;) {
        const struct code_step *step = &slice->open[i];
        is_changed |= !step->is_move;
        if (step->function != scope->function || step->node != node)
            continue;
        slice->cycled |= is_changed;
        return true;
    }
    return false;
}

static void follow_operands(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = instruction_of(scope, node);
    uint64_t values = at->reads;
    bool reads_memory = false;
    for (unsigned i = 0; i < at->memory_count; i++) {
        if (!at->memory[i].reads)
            continue;
        reads_memory = true;
        follow_memory(slice, scope, node, i);
    }
    for (uint8_t reg = 0; reg < 64; reg++)
        if (values & REGISTER_BIT(reg))
            follow_register(slice, scope, node, reg);
    if (!values && !reads_memory && !(at->is_sum) && slice->control < MOST_CONTROL) {
        slice->control++;
        code_slice_control(slice, scope, node);
        slice->control--;
    }
}

/* Everything that was found for a comparison with a counter is its bound. */
static void follow_comparison(struct code_slice *slice, const struct code_scope *scope,
                              uint32_t node)
{
    uint32_t before = slice->source_count;
    bool cycled = slice->cycled, is_unknown = slice->is_unknown;
    slice->cycled = false;
    follow_operands(slice, scope, node);
    if (slice->cycled) {
        slice->source_count = before;
        slice->is_unknown = is_unknown;
        slice->counts = true;
    }
    slice->cycled = cycled;
}

static void follow_instruction(struct code_slice *slice, const struct code_scope *scope,
                               uint32_t node, uint8_t reg)
{
    const struct instruction *at = instruction_of(scope, node);
    if (is_open(slice, scope, node))
        return;
    if (slice->open_count == CODE_SLICE_DEPTH) {
        slice->is_unknown = true;
        return;
    }
    slice->open[slice->open_count++] = (struct code_step){scope->function, node, at->is_move};
    if (code_is_call(at) && reg == 0) /* rax, x0: also of a pointer */
        follow_call(slice, scope, node);
    else if (at->flow == FLOW_SYSCALL)
        slice->yields = true;
    else if (code_is_call(at))
        slice->is_unknown = true;
    else if (reg == REGISTER_FLAGS)
        follow_comparison(slice, scope, node);
    else
        follow_operands(slice, scope, node);
    slice->open_count--;
}

/* --- branches --- */

void code_slice_branch(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    follow_comparison(slice, scope, node);
}

/* Whether it depends on the branch at `branch` if `node` is reached. A way that only comes back to the branch (an inner loop:
 * `while (events_pending()) handle();`) decides nothing: the thread does come out of it, or it would not yield again. */
static bool controls(struct code_slice *slice, const struct code_scope *scope, uint32_t branch,
                     uint32_t node)
{
    const uint32_t *next = scope->function->next[branch];
    const struct instruction *at = instruction_of(scope, branch);
    if (code_gives_up(scope->function, at->target) ||
        code_gives_up(scope->function, at->address + at->length))
        return false;
    bool leads[2];
    for (unsigned k = 0; k < 2; k++)
        leads[k] = code_leads_to(slice->budget, scope, next[k], node, branch);
    return leads[0] != leads[1] &&
           code_leads_to(slice->budget, scope, next[leads[0]], CODE_TURN_END, branch);
}

void code_slice_control(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    unsigned branches = 0;
    for (uint32_t i = 0; i < scope->function->nodes.length; i++) {
        if ((scope->region && !scope->region[i]) || instruction_of(scope, i)->flow != FLOW_BRANCH ||
            i == node)
            continue;
        if (++branches > MOST_BRANCHES) {
            slice->is_unknown = true;
            return;
        }
        if (controls(slice, scope, i, node))
            code_slice_branch(slice, scope, i);
    }
}
