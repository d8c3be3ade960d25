#include "steps/loops/loop_effects.h"

#include "steps/loops/code_calls.h"

enum { MOST_CALLS = 4 }; /* that are followed, one inside the other */

struct finder {
    const struct code_slice *slice;
    struct loop_effects *effects;
};

/* --- memory --- */

/* Whether `path` is a source, or a pointer on the way to one. */
static bool leads_to_source(const struct code_slice *slice, const struct code_path *path)
{
    for (uint32_t i = 0; i < slice->source_count; i++) {
        struct code_path cut = slice->sources[i];
        if (path->links > cut.links)
            continue;
        cut.links = path->links;
        if (code_path_is_same(path, &cut))
            return true;
    }
    return false;
}

static bool is_own(const struct code_path *path)
{
    return (path->root == CODE_STACK && path->links == 0) || path->root == CODE_ERRNO;
}

/* A word that the dynamic linker fills. */
static bool is_table_entry(const struct code_path *path)
{
    return path->root == CODE_ADDRESS && path->links == 0 &&
           elf_slots_find(&path->image->slots, path->address);
}

/* xadd takes a number from a counter (`while ((i = next++) < count)`), which is work. Intel SDM
 * volume 2: 0f c0, 0f c1. */
static bool is_exchange_add(const struct code_function *function, const struct instruction *at)
{
    enum { ESCAPE = 0x0f, EXCHANGE_ADD = 0xc0 };
    uint8_t code[16];
    uint64_t offset;
    const struct elf_file *file = function->image->file;
    if (at->length > sizeof(code) || !elf_file_offset(file, at->address, &offset) ||
        !elf_file_read(file, offset, at->length, code))
        return true;
    for (unsigned i = 0; i + 1 < at->length && i < 4; i++)
        if (code[i] == ESCAPE)
            return (code[i + 1] & 0xfe) == EXCHANGE_ADD;
    return false;
}

/* xchg and cmpxchg of the variable itself: an attempt to take a lock. */
static bool is_attempt(const struct finder *finder, const struct code_scope *scope, uint32_t node,
                       unsigned operand, const struct code_path *path)
{
    const struct code_function *function = scope->function;
    const struct instruction *at = &function->nodes.data[node];
    uint64_t general = REGISTER_BIT(REGISTER_FLAGS) - 1;
    return !function->is_arm64 && at->memory[operand].reads && (at->writes & general) &&
           !is_exchange_add(function, at) && leads_to_source(finder->slice, path);
}

static void look_at_memory(struct finder *finder, const struct code_scope *scope, uint32_t node,
                           unsigned operand)
{
    struct code_path path;
    const struct instruction_memory *memory = &scope->function->nodes.data[node].memory[operand];
    if (memory->is_implicit)
        return;
    code_path_find(finder->slice->budget, scope, node, operand, &path);
    if (is_own(&path))
        return;
    if (memory->writes && !is_attempt(finder, scope, node, operand, &path))
        finder->effects->acts = true;
    if (!leads_to_source(finder->slice, &path) && !is_table_entry(&path))
        finder->effects->computes = true;
}

/* --- calls --- */

static void look_into(struct finder *finder, const struct code_scope *scope);

static void look_at_call(struct finder *finder, const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    const struct code_function *function = scope->function, *called = NULL;
    if (code_fails(function, &function->nodes.data[node]))
        return;
    bool is_known = code_call_target(function, node, &target);
    if (is_known && (code_is_sleep(target.name) || code_is_clock(target.name)))
        return;
    if (is_known && target.is_here && scope->depth < MOST_CALLS)
        called = code_library_function(finder->slice->library, function->image, target.address);
    if (!called || called->start != target.address) {
        finder->effects->acts = true;
        return;
    }
    struct code_scope inner = code_scope_of_call(scope, node, called);
    look_into(finder, &inner);
}

static bool leaves(const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    return at->flow == FLOW_JUMP && scope->function->next[node][0] == CODE_NONE &&
           !code_gives_up(scope->function, at->target);
}

/* --- instructions --- */

static bool is_one(uint64_t registers)
{
    return !(registers & (registers - 1));
}

/* An instruction that joins two values makes a third one: add rax, rbx; imul; any of vectors. */
static bool joins(const struct instruction *at)
{
    uint64_t general = REGISTER_BIT(REGISTER_FLAGS) - 1;
    uint64_t values = at->reads & general;
    bool has_vector = (at->reads | at->writes) & ~(general | REGISTER_BIT(REGISTER_FLAGS));
    bool is_attempt = at->memory_count && at->memory[0].reads && at->memory[0].writes;
    if (at->flow != FLOW_NEXT || at->is_compare || at->is_move || is_attempt)
        return false;
    bool loads = at->memory_count && at->memory[0].reads && !at->memory[0].is_implicit;
    return has_vector || !is_one(values) || (values && loads);
}

static void look_at_node(struct finder *finder, const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    for (unsigned i = 0; i < at->memory_count; i++)
        look_at_memory(finder, scope, node, i);
    if (code_is_call(at) || leaves(scope, node))
        look_at_call(finder, scope, node);
    finder->effects->acts |=
        code_function_is_open(scope->function, node) || at->flow == FLOW_SYSCALL;
    finder->effects->computes |= joins(at);
}

static void look_into(struct finder *finder, const struct code_scope *scope)
{
    uint32_t count = (uint32_t)scope->function->nodes.length;
    for (uint32_t node = 0; node < count && !finder->effects->acts; node++)
        if (!scope->region || scope->region[node])
            look_at_node(finder, scope, node);
    if (finder->slice->budget->left < count) /* not all was looked at */
        finder->effects->acts = true;
}

void loop_effects_find(const struct code_slice *slice, const struct code_scope *scope,
                       struct loop_effects *ret)
{
    struct finder finder = {slice, ret};
    *ret = (struct loop_effects){0};
    look_into(&finder, scope);
}
