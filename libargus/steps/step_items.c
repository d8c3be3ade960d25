#include "argus/step_items.h"

#include <stdlib.h>
#include <string.h>

#include "steps/describe.h"

/* The memory that an instruction accessed when it was first executed. */
struct memory_name {
    const char *text, *in; /* in the describer's table */
    bool is_known;
};

struct walk {
    struct run *run;
    struct describer describer;
    const struct argus_step_items_wanted *wanted;
    argus_step_item_function function;
    void *context;
    const struct argus_step_event *events;
    size_t event_count, next;  /* the first event that has not been handled */
    struct memory_name *names; /* owned; by instruction */
    bool is_over;
};

static void emit(struct walk *walk, const struct argus_step_item *item)
{
    walk->is_over |= !walk->function(walk->context, item) || walk->describer.no_memory;
}

static struct argus_step_item begin_item(struct walk *walk, uint32_t step,
                                         enum argus_step_item_kind kind)
{
    return (struct argus_step_item){
        .kind = kind,
        .step = step,
        .depth = run_activation(walk->run, step)->depth,
        .place = describe_code(&walk->describer, walk->run->pcs[step]),
    };
}

static struct argus_code_place next_place(struct walk *walk, uint32_t step)
{
    if (step + 1 >= walk->run->count)
        return (struct argus_code_place){0};
    return describe_code(&walk->describer, walk->run->pcs[step + 1]);
}

/* Whether an event has told what the instruction did. */
static bool emit_event(struct walk *walk, const struct argus_step_event *event)
{
    static const uint8_t kinds[] = {[ARGUS_STEP_CALL] = ARGUS_STEP_ITEM_CALL,
                                    [ARGUS_STEP_RETURN] = ARGUS_STEP_ITEM_RETURN,
                                    [ARGUS_STEP_SKIP] = ARGUS_STEP_ITEM_SKIP,
                                    [ARGUS_STEP_SIGNAL] = ARGUS_STEP_ITEM_SIGNAL};
    struct argus_step_item item = begin_item(walk, event->step, kinds[event->kind]);
    if (event->kind == ARGUS_STEP_SIGNAL)
        item.signal = (uint32_t)event->address;
    else
        item.target = describe_code(&walk->describer, event->address);
    item.has_value = event->kind == ARGUS_STEP_RETURN || event->returned;
    item.value = event->value;
    memcpy(item.arguments, event->arguments, sizeof(item.arguments));
    emit(walk, &item);
    return event->kind != ARGUS_STEP_SIGNAL;
}

static bool emit_events(struct walk *walk, uint32_t step)
{
    bool is_told = false;
    while (walk->next < walk->event_count && walk->events[walk->next].step < step)
        walk->next++;
    while (walk->next < walk->event_count && walk->events[walk->next].step == step &&
           !walk->is_over)
        is_told |= emit_event(walk, &walk->events[walk->next++]);
    return is_told;
}

static void emit_branch(struct walk *walk, uint32_t step)
{
    struct argus_step_item item = begin_item(walk, step, ARGUS_STEP_ITEM_BRANCH);
    item.target = next_place(walk, step);
    item.is_taken = item.target.address && !run_fell_through(walk->run, step);
    emit(walk, &item);
}

static const char *memory_text(struct walk *walk, const struct argus_flag_candidate *memory)
{
    if (memory->member || memory->path)
        return memory->member ? memory->member : memory->path;
    if (!memory->symbol || !memory->symbol_offset)
        return memory->symbol;
    return describe_text(&walk->describer, "%s+0x%llx", memory->symbol,
                         (unsigned long long)memory->symbol_offset);
}

static struct memory_name name_memory(struct walk *walk, uint32_t step)
{
    const struct instruction *instruction = run_instruction(walk->run, step);
    struct source source = {.kind = SOURCE_LOAD, .step = step};
    struct argus_flag_candidate memory = {.where = ARGUS_FLAG_UNKNOWN};
    if (!instruction->memory_count || instruction->flow != FLOW_NEXT)
        return (struct memory_name){.is_known = true};
    source.has_address = run_operand_address(walk->run, step, 0, &source.address);
    source.size_bytes = instruction->memory[0].size_bytes;
    describe_memory(&walk->describer, &source, &memory);
    return (struct memory_name){memory_text(walk, &memory), memory.member_in, true};
}

static void emit_instruction(struct walk *walk, uint32_t step)
{
    struct argus_step_item item = begin_item(walk, step, ARGUS_STEP_ITEM_INSTRUCTION);
    struct memory_name *name = &walk->names[walk->run->instruction_of[step]];
    if (!name->is_known)
        *name = name_memory(walk, step);
    item.memory = name->text;
    item.memory_in = name->in;
    emit(walk, &item);
}

/* A signal comes after its step, but the item of the step itself comes before it only if an event
 * tells it; a branch and its signal are rare together. */
static void emit_step(struct walk *walk, uint32_t step)
{
    bool is_branch = run_instruction(walk->run, step)->flow == FLOW_BRANCH;
    bool is_event = walk->next < walk->event_count && walk->events[walk->next].step == step &&
                    walk->events[walk->next].kind != ARGUS_STEP_SIGNAL;
    if (!is_event && is_branch && (walk->wanted->branches || walk->wanted->instructions))
        emit_branch(walk, step);
    else if (!is_event && walk->wanted->instructions)
        emit_instruction(walk, step);
    emit_events(walk, step);
}

static struct argus_error *walk_steps(struct walk *walk)
{
    uint32_t first = walk->wanted->first_step;
    uint32_t count = walk->run->count;
    walk->event_count = argus_steps_events(walk->run->steps, &walk->events);
    while (walk->next < walk->event_count && walk->events[walk->next].step < first)
        walk->next++;
    for (uint32_t i = first; i < count && i <= walk->wanted->last_step && !walk->is_over; i++)
        emit_step(walk, i);
    return walk->describer.no_memory ? argus_error_memory() : NULL;
}

struct argus_error *argus_step_items(struct argus_steps *steps,
                                     const struct argus_step_items_wanted *wanted,
                                     argus_step_item_function function, void *context)
{
    struct walk walk = {.wanted = wanted, .function = function, .context = context};
    struct argus_error *error = run_create(steps, &walk.run);
    if (error)
        return error;
    walk.describer = (struct describer){.run = walk.run, .strings = strtab_create()};
    error = walk.describer.strings ? run_make_keys(walk.run) : argus_error_memory();
    if (!error)
        error = run_find_activations(walk.run, false);
    walk.names = calloc(walk.run->instructions.length, sizeof(*walk.names));
    if (!error && !walk.names)
        error = argus_error_memory();
    if (!error)
        error = walk_steps(&walk);
    free(walk.names);
    strtab_destroy(walk.describer.strings);
    run_destroy(walk.run);
    return error;
}
