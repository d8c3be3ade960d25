#include "steps/loops/loop_pauses.h"

#include <string.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_targets.h"
#include "steps/loops/loop_tests.h"

/* --- pauses --- */

static bool is_errno(const char *name)
{
    return name && strcmp(name, "__errno_location") == 0;
}

static bool only_sleeps(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    struct code_target target;
    if (code_fails(scope->function, &scope->function->nodes.data[node]))
        return true;
    return code_call_find(slice->budget, scope, node, &target) &&
           (code_is_sleep(target.name) || code_is_clock(target.name) || is_errno(target.name));
}

/* The word that has the address of another file's function is no variable. */
static bool is_own(const struct code_path *path)
{
    bool is_slot = path->root == CODE_ADDRESS && path->links == 0 &&
                   elf_slots_find(&path->image->slots, path->address);
    return (path->root == CODE_STACK && path->links == 0 && !path->elements) ||
           path->root == CODE_ERRNO || is_slot;
}

static bool looks_at_own(struct code_slice *slice, const struct code_scope *scope, uint32_t node)
{
    const struct instruction *at = &scope->function->nodes.data[node];
    for (unsigned i = 0; i < at->memory_count; i++) {
        struct code_path path;
        if (at->memory[i].is_implicit)
            continue;
        code_path_find(slice->budget, scope, node, i, &path);
        if (!is_own(&path))
            return false;
    }
    return true;
}

/* The whole function may call nothing else, so that nobody else has a pointer to its stack. A loop
 * that only counts its sleeps may be long by itself. */
bool loop_is_pause(struct code_slice *slice, const struct code_scope *scope)
{
    const struct code_function *function = scope->function;
    if (!slice->yields)
        return false;
    for (uint32_t node = 0; node < function->nodes.length; node++) {
        const struct instruction *at = &function->nodes.data[node];
        bool is_inside = scope->region[node];
        bool leaves = at->flow == FLOW_JUMP && function->next[node][0] == CODE_NONE &&
                      !code_gives_up(function, at->target);
        bool calls = code_is_call(at) && !only_sleeps(slice, scope, node);
        bool is_open = at->flow == FLOW_SYSCALL || code_function_is_open(function, node);
        if (leaves || calls || is_open || (is_inside && !looks_at_own(slice, scope, node)))
            return false;
    }
    return slice->budget->left >= function->nodes.length; /* all was looked at */
}

/* --- time-outs: the code behind the wait is followed, with its result --- */

enum {
    REGISTERS = 16,
    MOST_STEPS = 48,
    NO_REGISTER = -1,
};

struct known {
    bool has_value, is_errno; /* is_errno: a pointer to errno */
    int64_t value;
};

struct machine {
    struct code_slice *slice;
    const struct code_scope *scope;
    struct known registers[REGISTERS];
    struct known left;     /* what the last comparison compared, … */
    struct loop_test test; /* … and with what */
};

static int register_of(uint64_t registers)
{
    uint8_t reg = register_lone(registers & (REGISTER_BIT(REGISTER_FLAGS) - 1));
    return reg < REGISTERS ? reg : NO_REGISTER;
}

/* The value that the instruction reads: a register, errno, or its constant. */
static struct known value_read(const struct machine *machine, const struct instruction *at)
{
    struct known unknown = {false, false, 0};
    int reg = register_of(at->reads);
    if (at->memory_count > 1)
        return unknown;
    if (at->memory_count == 1) {
        uint8_t base = at->memory[0].base;
        bool is_errno_word = at->memory[0].reads && !at->memory[0].displacement &&
                             base < REGISTERS && at->memory[0].index == REGISTER_NONE &&
                             machine->registers[base].is_errno;
        return is_errno_word ? (struct known){true, false, CODE_ETIMEDOUT} : unknown;
    }
    if (reg != NO_REGISTER)
        return machine->registers[reg];
    return at->has_immediate && !at->reads ? (struct known){true, false, at->immediate} : unknown;
}

static void forget(struct machine *machine, uint64_t registers)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if (registers & REGISTER_BIT(i))
            machine->registers[i] = (struct known){.has_value = false};
    if (registers & REGISTER_BIT(REGISTER_FLAGS))
        machine->left.has_value = false;
}

static void compare(struct machine *machine, const struct instruction *at)
{
    bool is_own = at->tests_bits && !at->has_immediate && !at->memory_count;
    machine->left = value_read(machine, at);
    machine->left.has_value &= at->has_immediate || is_own;
    machine->test = (struct loop_test){.operand = at->has_immediate ? at->immediate : 0,
                                       .tests_bits = at->tests_bits,
                                       .is_own = is_own};
}

static void call(struct machine *machine, uint32_t node)
{
    struct code_target target;
    forget(machine, code_clobbered(machine->scope->function) | REGISTER_BIT(REGISTER_FLAGS));
    machine->registers[REGISTER_RAX].is_errno =
        code_call_find(machine->slice->budget, machine->scope, node, &target) &&
        is_errno(target.name);
}

static void execute(struct machine *machine, uint32_t node)
{
    const struct instruction *at = &machine->scope->function->nodes.data[node];
    int reg = register_of(at->writes);
    struct known value = value_read(machine, at);
    if (code_is_call(at)) {
        call(machine, node);
        return;
    }
    if (at->is_compare) {
        compare(machine, at);
        return;
    }
    forget(machine, at->writes);
    if (at->is_move && reg != NO_REGISTER && !(at->memory_count && at->memory[0].writes))
        machine->registers[reg] = value;
}

/* Where the thread goes on; CODE_NONE: out of the function. False: it is not known. */
static bool go_on(struct machine *machine, uint32_t node, uint32_t *ret)
{
    bool holds;
    const struct code_function *function = machine->scope->function;
    switch (function->nodes.data[node].flow) {
    case FLOW_BRANCH:
        machine->test.condition = loop_condition_of(function, node);
        if (!machine->left.has_value || machine->test.condition >= LOOP_NO_CONDITION ||
            !loop_test_holds(&machine->test, sizeof(int32_t), machine->left.value, &holds))
            return false;
        *ret = function->next[node][holds];
        return true;
    case FLOW_NEXT:
    case FLOW_CALL:
    case FLOW_CALL_INDIRECT:
    case FLOW_JUMP:
        *ret = function->next[node][0];
        return true;
    default:
        *ret = CODE_NONE;
        return function->nodes.data[node].flow == FLOW_RETURN;
    }
}

/* What the call returns when its time has passed. False: it has no such result. */
static bool result_of(struct code_slice *slice, const struct code_scope *scope, int64_t *ret)
{
    struct code_target target;
    *ret = -1;
    if (!code_call_find(slice->budget, scope, slice->yield, &target))
        return false;
    return code_call_is_futex(slice->budget, scope, slice->yield, &target) ||
           (!target.is_here && code_times_out(target.name, ret));
}

bool loop_ends_on_timeout(struct code_slice *slice, const struct code_scope *scope)
{
    struct machine machine = {.slice = slice, .scope = scope};
    struct known *result = &machine.registers[REGISTER_RAX];
    uint32_t node = slice->yield;
    if (node == CODE_NONE || scope->function->is_arm64 || !result_of(slice, scope, &result->value))
        return false;
    result->has_value = true;
    node = scope->function->next[node][0];
    for (unsigned i = 0; i < MOST_STEPS && node != CODE_NONE && scope->region[node]; i++) {
        if (node == scope->head || node == slice->yield)
            return false;
        execute(&machine, node);
        if (!go_on(&machine, node, &node))
            return false;
    }
    return node == CODE_NONE || !scope->region[node];
}
