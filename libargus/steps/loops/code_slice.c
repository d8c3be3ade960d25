#include "steps/loops/code_slice.h"

#include <string.h>

#include "event/binary/elf_words.h"
#include "steps/loops/code_calls.h"
#include "steps/loops/code_given.h"
#include "steps/loops/code_slice_memo.h"
#include "steps/loops/code_sums.h"
#include "steps/loops/code_targets.h"
#include "steps/loops/code_times.h"

enum {
    MOST_CALLS = 4,   /* that are followed, one inside the other */
    FLAT_DEPTH = 4,   /* instructions from a comparison back to a load: load, shift, mask, test */
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
    code_slice_add_source(slice, path, (uint8_t)slice->control);
}

/* The loop whose exits are followed; NULL: none. */
static const struct code_scope *loop_of(const struct code_scope *scope)
{
    while (scope && !scope->region)
        scope = scope->caller;
    return scope;
}

/* Whether `path`, which only the stack leads to, is a flag that another thread may set: it is of
 * the loop's function or of one that called it, the same in each turn, and the loop itself gives it
 * to no function that may write it. */
static bool is_local_flag(const struct code_slice *slice, const struct code_scope *scope,
                          const struct code_path *path)
{
    const struct code_scope *loop = loop_of(scope), *owner;
    bool is_result = path->root == CODE_OBJECT && path->slot.reg == REGISTER_NONE;
    for (owner = loop; owner && owner->function != path->function;)
        owner = owner->caller;
    if (!owner || (path->root == CODE_STACK && !path->links &&
                   !code_slot_escapes(path->function, path->slot)))
        return false;
    if (is_result && owner == loop && loop->region[path->slot.displacement])
        return false;
    return !code_is_given(slice->budget, loop, path);
}

static bool follow_own_stores(struct code_slice *slice, const struct code_scope *scope,
                              const struct code_path *path);

static void follow_local(struct code_slice *slice, const struct code_scope *scope,
                         const struct code_path *path)
{
    if (!is_local_flag(slice, scope, path))
        slice->is_unknown = true;
    else if (!follow_own_stores(slice, scope, path))
        add_source(slice, path);
}

/* By what was stored in a word of the stack. A word of which a pointer was made may be anybody's.
 */
static void follow_slot(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                        const struct code_path *path)
{
    struct code_reach stores;
    if (path->function == scope->function && !path->elements &&
        code_slot_has_time(slice->budget, scope, path->slot)) {
        slice->timed = true;
        return;
    }
    if (path->function != scope->function || path->elements ||
        code_slot_is_shared(scope->function, path->slot)) {
        follow_local(slice, scope, path);
        return;
    }
    code_reach_slot(slice->budget, scope, false, node, path->slot, &stores);
    if (!stores.count && scope->region && is_local_flag(slice, scope, path))
        add_source(slice, path);
    slice->is_unknown |= stores.is_cut;
    for (uint32_t i = 0; i < stores.count; i++)
        follow_instruction(slice, scope, stores.found[i], REGISTER_NONE);
}

/* Whether the instruction writes what it read there, changed: inc, add; but not xchg and cmpxchg,
 * which tell what was there, nor `and x, 0`, which small code has for a constant. */
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
    slice->timed = false;
    follow_instruction(slice, scope, node, REGISTER_NONE);
    bool is_computed = slice->found || slice->cycled || slice->is_unknown || slice->yields ||
                       slice->counts || slice->timed;
    slice->found |= before.found;
    slice->cycled |= before.cycled;
    slice->is_unknown |= before.is_unknown;
    slice->yields |= before.yields;
    slice->counts |= before.counts;
    slice->timed |= before.timed;
    return is_computed;
}

/* Whether the scope itself stores a computed value at `path`. Then that is followed, and the
 * variable is the thread's own. A constant that is stored there (a flag is cleared before it is
 * looked at) changes nothing. */
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

/* What is loaded from a table that nobody writes hangs on the index alone. Compilers make such
 * tables of `switch`. Returns the register of the index, which may be either of the two;
 * REGISTER_NONE: it is no such table. */
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
    else if (path.root == CODE_UNKNOWN)
        slice->is_unknown = true;
    else if (code_path_is_local(&path))
        follow_local(slice, scope, &path);
    else if (path.elements &&
             (code_path_is_constant(&path) || /* the index decides */
              (loop_of(scope) && code_is_given(slice->budget, loop_of(scope), &path))))
        slice->is_unknown = true;
    else if (!follow_own_stores(slice, scope, &path))
        add_source(slice, &path);
}

/* --- calls --- */

static void follow_call(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                        uint8_t reg);

/* A jump through a table (`switch`) hangs on its index. If that is anything but constants, or if it
 * is another jump, the code does not tell. */
static void follow_table_jump(struct code_slice *slice, const struct code_scope *scope,
                              uint32_t node)
{
    struct code_slice before = *slice;
    slice->found = slice->yields = slice->counts = slice->is_unknown = slice->timed = false;
    follow_instruction(slice, scope, node, REGISTER_NONE);
    bool is_constant =
        !slice->found && !slice->yields && !slice->counts && !slice->is_unknown && !slice->timed;
    *slice = before;
    slice->is_unknown |= !is_constant;
}

/* The registers in which functions return a value: rax, x0, and of floating point xmm0, d0. */
static bool is_result(uint8_t reg)
{
    return reg == 0 || reg == REGISTER_VECTOR;
}

/* What decides the result of `function`, which the call at `node` executes. */
static void follow_function(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                            const struct code_function *function, uint8_t reg)
{
    struct code_scope called = code_scope_of_call(scope, node, function);
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        const struct instruction *at = &function->nodes.data[i];
        if (at->flow == FLOW_RETURN)
            follow_register(slice, &called, i, reg);
        else if (at->flow == FLOW_JUMP && function->next[i][0] == CODE_NONE)
            follow_call(slice, &called, i, reg);
        else if (code_function_is_open(function, i))
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
                         const struct code_function *function, uint8_t reg, bool is_sure)
{
    struct code_slice before = *slice;
    slice->is_unknown = false;
    follow_function(slice, scope, node, function, reg);
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
        image && scope->depth < MOST_CALLS && !slice->is_flat
            ? code_library_function(slice->library, image, address)
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

/* A call through a pointer: of each function whose address the pointer may have. */
static bool follow_pointer_call(struct code_slice *slice, const struct code_scope *scope,
                                uint32_t node, uint8_t reg)
{
    struct code_targets targets;
    bool follows = false;
    code_targets_find(slice->budget, scope, node, &targets);
    for (uint32_t i = 0; i < targets.count; i++) {
        const struct code_function *function =
            function_at(slice, scope, targets.all[i].image, targets.all[i].address);
        if (!function || !try_function(slice, scope, node, function, reg, targets.is_whole))
            return false;
        follows = true;
    }
    return follows;
}

/* False: what the function returns is not known by its name. */
static bool follow_named(struct code_slice *slice, const char *name)
{
    bool is_time = code_is_clock(name), is_errno = name && strcmp(name, "__errno_location") == 0;
    slice->timed |= is_time;
    slice->yields |= is_errno || code_is_sleep(name);
    return is_time || is_errno || code_is_sleep(name);
}

/* The first word of a semaphore or a lock decides whether the call takes it: the count of sem_t,
 * the lock of pthread_mutex_t. */
static void follow_try(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                       const char *name)
{
    enum { BYTES = 4 };
    struct code_path path;
    code_path_find_pointed(slice->budget, scope, node, code_argument(scope->function, 0), &path);
    path.size_bytes = BYTES;
    path.is_lock = code_tries_lock(name);
    path.taken_by = path.is_lock ? name : NULL;
    if (path.root == CODE_UNKNOWN || path.root == CODE_ERRNO)
        slice->is_unknown = true;
    else
        add_source(slice, &path);
}

/* What a call compares, byte by byte, decides its result: `while (strcmp(state, "ready") != 0)`. */
static void follow_compared(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    for (unsigned i = 0; i < 2; i++) {
        struct code_path path;
        code_path_find_pointed(slice->budget, scope, node, code_argument(scope->function, i),
                               &path);
        path.size_bytes = 1;
        if (path.root == CODE_UNKNOWN || path.root == CODE_ERRNO || code_path_is_local(&path))
            slice->is_unknown = true;
        else
            add_source(slice, &path);
    }
}

static void follow_call(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                        uint8_t reg)
{
    struct code_target target = {0};
    const struct code_function *function = NULL;
    bool is_known = code_call_find(slice->budget, scope, node, &target);
    bool is_yield = scope->function == slice->yield_function && node == slice->yield;
    if (is_known && follow_named(slice, target.name))
        return;
    if (is_known && code_tries(target.name)) {
        follow_try(slice, scope, node, target.name);
        return;
    }
    if (is_known && code_compares(target.name)) {
        follow_compared(slice, scope, node);
        return;
    }
    if (is_known && target.is_here)
        function = function_at(slice, scope, scope->function->image, target.address);
    if (function) {
        follow_function(slice, scope, node, function, reg);
    } else if (is_yield) {
        slice->yields = true;
    } else if (is_known && !target.is_here) {
        function = foreign_function(slice, scope, &target);
        if (!function || !try_function(slice, scope, node, function, reg, true))
            slice->is_unknown = true;
    } else if (is_known || !follow_pointer_call(slice, scope, node, reg)) {
        slice->is_unknown = true;
    }
}

/* --- registers --- */

static void follow_register(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                            uint8_t reg)
{
    struct code_reach reach;
    const struct code_function *function = scope->function;
    if (reg == code_stack_pointer(function->is_arm64))
        return;
    code_reach_register(slice->budget, scope, false, node, reg, &reach);
    slice->is_unknown |= reach.is_cut;
    for (uint32_t i = 0; i < reach.count; i++)
        follow_instruction(slice, scope, reach.found[i], reg);
    if (reach.enters && scope->head == CODE_NONE && scope->caller &&
        (code_is_argument(function, reg) || code_is_kept(function, reg)))
        follow_register(slice, scope->caller, scope->call, reg);
}

/* Whether the instruction is being followed already: the value comes from itself, unless it only
 * decides whether something is added to a sum. */
static bool is_open(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    bool is_changed = false;
    for (uint32_t i = slice->open_count; i-- > 0;) {
        const struct code_step *step = &slice->open[i];
        is_changed |= !step->is_move;
        if (step->function != scope->function || step->node != node)
            continue;
        slice->cycled |= is_changed && (!slice->is_adding || step->control == slice->control);
        slice_memo_comes_back(slice, i);
        return true;
    }
    return false;
}

/* What is added, and what decides whether it is. */
static void follow_sum(struct code_slice *slice, const struct code_scope *scope, uint32_t node,
                       uint8_t sum, const struct code_reach *before)
{
    const struct instruction *at = instruction_of(scope, node);
    bool is_deep = slice->control >= MOST_CONTROL, is_adding = slice->is_adding;
    slice->sums = slice->summed = true;
    for (uint32_t i = 0; i < before->count; i++)
        if (before->found[i] != node)
            follow_instruction(slice, scope, before->found[i], sum);
    slice->is_adding = true;
    slice->control++;
    for (unsigned i = 0; i < at->memory_count && sum != REGISTER_NONE; i++)
        if (at->memory[i].reads)
            follow_memory(slice, scope, node, i);
    for (uint8_t reg = 0; reg < 64; reg++)
        if (reg != sum && (at->reads & REGISTER_BIT(reg)))
            follow_register(slice, scope, node, reg);
    if (!is_deep)
        code_slice_control(slice, scope, node);
    slice->control--;
    slice->is_adding = is_adding;
    slice->is_unknown |= is_deep;
}

/* Not `or eax, -1`, which small code has for a constant. */
static bool gathers(const struct instruction *at)
{
    return at->gathers && !at->has_immediate;
}

/* Each of the values that are joined decides by itself: `if (count | shutdown)`. */
static void follow_joined(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = instruction_of(scope, node);
    for (unsigned i = 0; i < at->memory_count; i++)
        if (at->memory[i].reads) {
            struct slice_side side = slice_side_begin(slice);
            follow_memory(slice, scope, node, i);
            slice_side_end(slice, &side);
        }
    for (uint8_t reg = 0; reg < 64; reg++)
        if (at->reads & REGISTER_BIT(reg)) {
            struct slice_side side = slice_side_begin(slice);
            follow_register(slice, scope, node, reg);
            slice_side_end(slice, &side);
        }
}

static void follow_operands(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = instruction_of(scope, node);
    struct code_reach before;
    uint64_t values = at->reads;
    uint8_t sum;
    if (!slice->is_flat && code_adds_to_sum(slice->budget, scope, node, &sum, &before)) {
        follow_sum(slice, scope, node, sum, &before);
        return;
    }
    if (gathers(at)) {
        follow_joined(slice, scope, node);
        return;
    }
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
    bool is_followed = slice->control < MOST_CONTROL && !slice->is_flat;
    if (!values && !reads_memory && !at->is_sum && is_followed) {
        slice->control++;
        code_slice_control(slice, scope, node);
        slice->control--;
    }
}

static void follow_comparison(struct code_slice *slice, const struct code_scope *scope,
                              uint32_t node)
{
    if (code_compares_function(slice->budget, scope, node))
        return;
    struct slice_side side = slice_side_begin(slice);
    follow_operands(slice, scope, node);
    slice_side_end(slice, &side);
}

static void follow_instruction(struct code_slice *slice, const struct code_scope *scope,
                               uint32_t node, uint8_t reg)
{
    const struct instruction *at = instruction_of(scope, node);
    struct slice_visit visit;
    if (is_open(slice, scope, node) || slice_memo_recall(slice, scope, node, reg))
        return;
    if (slice->open_count == (slice->is_flat ? FLAT_DEPTH : CODE_SLICE_DEPTH)) {
        slice->is_unknown = true;
        return;
    }
    slice_visit_begin(slice, scope, node, reg, &visit);
    slice->open[slice->open_count++] =
        (struct code_step){scope->function, node, slice->control, at->is_move || gathers(at)};
    if (code_is_call(at) && is_result(reg)) /* also of a pointer */
        follow_call(slice, scope, node, reg);
    else if (at->flow == FLOW_SYSCALL)
        slice->yields = true;
    else if (code_is_call(at))
        slice->is_unknown = true;
    else if (reg == REGISTER_FLAGS)
        follow_comparison(slice, scope, node);
    else
        follow_operands(slice, scope, node);
    slice->open_count--;
    slice_visit_end(slice, &visit);
}

/* --- branches --- */

void code_slice_branch(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    struct slice_visit visit;
    if (slice_memo_recall(slice, scope, node, SLICE_BRANCH))
        return;
    slice_visit_begin(slice, scope, node, SLICE_BRANCH, &visit);
    follow_comparison(slice, scope, node);
    slice_visit_end(slice, &visit);
}

/* Whether the way from `from` only comes back to the branch, without yielding or leaving: an inner
 * loop (`while (events_pending()) handle();`). It decides nothing: the thread does come out of it,
 * or it would not yield again. The loop around may begin with the same instruction. */
static bool comes_back(const struct code_slice *slice, const struct code_scope *scope,
                       uint32_t branch, uint32_t from)
{
    struct code_scope open = *scope;
    if (!code_leads_to(slice->budget, scope, from, CODE_TURN_END, branch))
        return true;
    if (slice->yield == CODE_NONE || slice->yield_function != scope->function)
        return false;
    open.head = CODE_NONE;
    return !code_leads_to(slice->budget, &open, from, CODE_TURN_END, branch) &&
           !code_leads_to(slice->budget, &open, from, slice->yield, branch);
}

/* Whether it depends on the branch at `branch` if `node` is reached. */
static bool controls(struct code_slice *slice, const struct code_scope *scope, uint32_t branch,
                     uint32_t node)
{
    struct code_way way;
    bool leads = false, avoids = false;
    for (uint32_t k = 0; code_function_way(scope->function, branch, k, &way); k++)
        if (code_gives_up(scope->function, way.address))
            return false;
    for (uint32_t k = 0; code_function_way(scope->function, branch, k, &way); k++) {
        if (code_leads_to(slice->budget, scope, way.to, node, branch))
            leads = true;
        else
            avoids |= !comes_back(slice, scope, branch, way.to);
    }
    return leads && avoids;
}

void code_slice_control(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    unsigned branches = 0;
    for (uint32_t i = 0; i < scope->function->nodes.length; i++) {
        uint8_t flow = instruction_of(scope, i)->flow;
        if ((scope->region && !scope->region[i]) || i == node ||
            (flow != FLOW_BRANCH && flow != FLOW_JUMP_INDIRECT))
            continue;
        if (++branches > MOST_BRANCHES) {
            slice->is_unknown = true;
            return;
        }
        if (controls(slice, scope, i, node))
            code_slice_branch(slice, scope, i);
    }
}
