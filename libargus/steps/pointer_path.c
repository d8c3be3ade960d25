#include "steps/pointer_path.h"

#include "steps/dataflow.h"

enum { FAR_BACK = 200000, RELOAD_MOST = 16 };

/* The state of the walk: the register, or word on the thread's stack, whose origin is searched for,
 * and the step before which it had the value. `added`: the address minus that value. */
struct walk {
    const struct run *run;
    struct pointer_path *path;
    uint32_t step;
    uint8_t number;         /* register; REGISTER_NONE: the word at … */
    uint64_t stack_address; /* … this address on the stack */
    int64_t added;
};

/* The effect of the instruction at walk->step - 1 on the walk. */
enum verdict {
    GO_ON,
    FOUND, /* path->root is the result */
};

static bool is_general(uint64_t set, uint8_t *ret)
{
    if (!set || (set & (set - 1)) || set >= REGISTER_BIT(32))
        return false;
    *ret = (uint8_t)__builtin_ctzll(set);
    return true;
}

static enum verdict end(struct walk *walk, enum pointer_root root)
{
    walk->path->root = root;
    return FOUND;
}

/* Adds a pointer in memory to the path. */
static bool add_link(struct walk *walk)
{
    if (walk->path->links == POINTER_LINKS)
        return false;
    walk->path->offsets[walk->path->links++] = walk->added;
    walk->added = 0;
    return true;
}

static void keep_sighting(struct walk *walk)
{
    struct pointer_path *path = walk->path;
    if (path->sighting_count < POINTER_SIGHTINGS)
        path->sightings[path->sighting_count++] = (struct pointer_sighting){
            .step = walk->step,
            .links = path->links,
            .number = walk->number,
            .stack_address = walk->stack_address,
            .added = walk->added,
        };
}

/* The step shortly before `step` that loaded the register from a word on the stack, as unoptimized
 * code does with every variable. */
static bool find_reload(const struct run *run, uint32_t step, uint8_t number, uint32_t *ret_step,
                        uint64_t *ret_address)
{
    for (uint32_t i = step; i-- > 0 && step - i < RELOAD_MOST;) {
        const struct instruction *instruction = run_instruction(run, i);
        if (!(instruction->writes & REGISTER_BIT(number)))
            continue;
        *ret_step = i;
        return instruction->is_move && instruction->memory_count == 1 &&
               instruction->memory[0].reads && run_operand_address(run, i, 0, ret_address) &&
               dataflow_at_stack(run, i, *ret_address);
    }
    return false;
}

/* The word on the stack may be a member of an object of a caller, to which a register points. */
static void keep_outer(struct walk *walk, const struct instruction_memory *memory, uint64_t address)
{
    struct pointer_path *path = walk->path;
    struct walk outer = *walk;
    uint64_t base;
    if (memory->base == REGISTER_NONE || path->sighting_count == POINTER_SIGHTINGS ||
        !run_register(walk->run, walk->step, memory->base, &base))
        return;
    outer.number = memory->base;
    if (find_reload(walk->run, walk->step, memory->base, &outer.step, &outer.stack_address))
        outer.number = REGISTER_NONE;
    else
        outer.step = walk->step;
    keep_sighting(&outer);
    path->sightings[path->sighting_count - 1].has_outer = true;
    path->sightings[path->sighting_count - 1].outer = (int64_t)(address - base);
}

/* The value was loaded by memory operand `operand` of `step`: continues with the base register of
 * that address. */
static enum verdict through_memory(struct walk *walk, uint32_t step, unsigned operand)
{
    const struct run *run = walk->run;
    const struct instruction_memory *memory = &run_instruction(run, step)->memory[operand];
    uint64_t address, base;
    if (memory->size_bytes != 8 || !run_operand_address(run, step, operand, &address))
        return end(walk, ROOT_UNKNOWN);
    walk->step = step;
    if (dataflow_at_stack(run, step, address)) {
        keep_outer(walk, memory, address);
        walk->number = REGISTER_NONE;
        walk->stack_address = address;
        return GO_ON;
    }
    if (!add_link(walk))
        return end(walk, ROOT_UNKNOWN);
    walk->path->address = address;
    if (places_module(run->places, address))
        return end(walk, ROOT_VARIABLE);
    if (memory->base == REGISTER_NONE || !run_register(run, step, memory->base, &base))
        return end(walk, ROOT_UNKNOWN);
    walk->number = memory->base;
    walk->added = (int64_t)(address - base);
    return GO_ON;
}

/* The register was computed at `step`, from one other register and constants, or only from
 * constants. */
static enum verdict through_computation(struct walk *walk, uint32_t step)
{
    const struct run *run = walk->run;
    const struct instruction *instruction = run_instruction(run, step);
    uint64_t now, before;
    uint8_t source;
    if (step + 1 >= run->count || !run_register(run, step + 1, walk->number, &now))
        return end(walk, ROOT_UNKNOWN);
    if (!instruction->reads && places_module(run->places, now + (uint64_t)walk->added)) {
        walk->path->address = now + (uint64_t)walk->added;
        return end(walk, ROOT_VARIABLE);
    }
    if (!is_general(instruction->reads, &source) || !run_register(run, step, source, &before))
        return end(walk, ROOT_UNKNOWN);
    walk->added += (int64_t)(now - before);
    walk->number = source;
    walk->step = step;
    return GO_ON;
}

static enum verdict through_register(struct walk *walk, uint32_t step)
{
    const struct instruction *instruction = run_instruction(walk->run, step);
    if (walk->run->skip_of[step] != ARGUS_NONE && walk->number == 0) {
        walk->path->step = step;
        return end(walk, add_link(walk) ? ROOT_CALL : ROOT_UNKNOWN);
    }
    if (!(instruction->writes & REGISTER_BIT(walk->number))) {
        walk->step = step;
        return GO_ON;
    }
    for (unsigned i = 0; i < instruction->memory_count; i++)
        if (instruction->memory[i].reads && instruction->is_move)
            return through_memory(walk, step, i);
    if (instruction->memory_count)
        return end(walk, ROOT_UNKNOWN);
    return through_computation(walk, step);
}

/* The latest store to the word on the stack. */
static enum verdict through_stack(struct walk *walk, uint32_t step)
{
    const struct run *run = walk->run;
    const struct instruction *instruction = run_instruction(run, step);
    uint64_t address;
    walk->step = step;
    for (unsigned i = 0; i < instruction->memory_count; i++) {
        if (!instruction->memory[i].writes || !run_operand_address(run, step, i, &address) ||
            address != walk->stack_address)
            continue;
        if (!instruction->is_move ||
            !is_general(instruction->reads & ~instruction->names, &walk->number))
            return end(walk, ROOT_UNKNOWN);
        return GO_ON;
    }
    return GO_ON;
}

static void reverse(struct pointer_path *path)
{
    for (uint32_t i = 0; i + 1 < path->links - i; i++) {
        int64_t offset = path->offsets[i];
        path->offsets[i] = path->offsets[path->links - 1 - i];
        path->offsets[path->links - 1 - i] = offset;
    }
}

static bool is_elsewhere(const struct walk *walk, const struct walk *before)
{
    return walk->number != before->number || walk->stack_address != before->stack_address;
}

static void walk_back(struct walk *walk)
{
    uint32_t began = walk->step;
    struct walk before = *walk;
    keep_sighting(walk);
    while (walk->step > 0 && began - walk->step < FAR_BACK) {
        uint32_t step = walk->step - 1;
        if (is_elsewhere(walk, &before))
            keep_sighting(walk);
        before = *walk;
        enum verdict verdict = walk->number == REGISTER_NONE ? through_stack(walk, step)
                                                             : through_register(walk, step);
        walk->path->root_step = step;
        if (verdict == FOUND)
            return;
    }
    if (walk->step > 0 || walk->number == REGISTER_NONE)
        return;
    walk->path->number = walk->number;
    if (add_link(walk))
        walk->path->root = ROOT_REGISTER;
}

void pointer_path_find(const struct run *run, uint32_t step, unsigned operand,
                       struct pointer_path *ret)
{
    const struct instruction_memory *memory = &run_instruction(run, step)->memory[operand];
    struct walk walk = {.run = run, .path = ret, .step = step, .number = memory->base};
    uint64_t address, base;
    *ret = (struct pointer_path){.root = ROOT_UNKNOWN};
    if (!run_operand_address(run, step, operand, &address))
        return;
    ret->address = address;
    if (places_module(run->places, address)) {
        ret->root = ROOT_VARIABLE;
    } else if (dataflow_at_stack(run, step, address)) {
        ret->root = ROOT_STACK;
    } else if (memory->segment == SEGMENT_NONE && memory->base != REGISTER_NONE &&
               run_register(run, step, memory->base, &base)) {
        walk.added = (int64_t)(address - base);
        walk_back(&walk);
        if (ret->links)
            reverse(ret);
    }
}
