#include "steps/dataflow.h"

enum {
    FAR_BACK = 200000,     /* maximum number of steps of a backward search */
    FAR_TURN = 2000000,    /* the same for the start of an iteration, where a step costs less */
    STACK_BELOW = 128,     /* size of x86-64's red zone */
    STACK_ABOVE = 8 << 20, /* default stack size on Linux */
};

/* A load whose latest store is searched for. */
struct open_load {
    uint64_t address;
    uint32_t size_bytes;
    uint32_t source;
};

struct slice {
    const struct run *run;
    struct sources *sources;
    uint64_t want; /* the registers whose origin is searched for */
    struct open_load open[SOURCES_MAX];
    uint32_t open_count;
    uint32_t branch_activation, turn_first;
    /* the nearest earlier branch in this activation also counts; ARGUS_NONE: none */
    uint32_t control_activation;
    bool control_used;
};

bool dataflow_at_stack(const struct run *run, uint32_t step, uint64_t address)
{
    bool arm64 = instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
    uint64_t sp, thread;
    if (!run_register(run, step, arm64 ? REGISTER_X31 : REGISTER_RSP, &sp))
        return false;
    if (address < sp - STACK_BELOW || address >= sp + STACK_ABOVE ||
        argus_steps_image_of(run->steps, sp) != argus_steps_image_of(run->steps, address))
        return false;
    /* a thread's control block is above its stack, and nothing above it belongs to the stack */
    bool bounded =
        run_register(run, step, arm64 ? ARGUS_ARM64_TPIDR : ARGUS_X86_FS_BASE, &thread) &&
        thread > sp && thread < sp + STACK_ABOVE;
    return !bounded || address < thread;
}

uint32_t dataflow_turn(const struct run *run, uint32_t step)
{
    uint64_t key = run_key(run, step), context = run_activation(run, step)->context_key;
    for (uint32_t i = step; i > 0 && step - i < FAR_TURN; i--)
        if (run->instruction_of[i - 1] == run->instruction_of[step] && run_key(run, i - 1) == key &&
            run_activation(run, i - 1)->context_key == context)
            return i - 1;
    return ARGUS_NONE;
}

static uint64_t stack_pointer_bit(const struct run *run)
{
    bool arm64 = instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
    return REGISTER_BIT(arm64 ? REGISTER_X31 : REGISTER_RSP);
}

/* The registers that a function need not preserve: System V and Arm procedure call standards. */
static uint64_t clobbered(const struct run *run)
{
    uint64_t vectors = ~(REGISTER_BIT(REGISTER_VECTOR) - 1), flags = REGISTER_BIT(REGISTER_FLAGS);
    if (instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64)
        return 0x3ffff | REGISTER_BIT(REGISTER_X30) | flags | vectors;
    return REGISTER_BIT(REGISTER_RAX) | REGISTER_BIT(REGISTER_RCX) | REGISTER_BIT(REGISTER_RDX) |
           REGISTER_BIT(REGISTER_RSI) | REGISTER_BIT(REGISTER_RDI) |
           (0xfull << REGISTER_R8) /* r8 … r11 */ | flags | vectors;
}

static struct source *add_source(struct slice *slice, enum source_kind kind, uint32_t step)
{
    struct sources *sources = slice->sources;
    if (sources->count == SOURCES_MAX) {
        sources->is_cut = true;
        return NULL;
    }
    struct source *source = &sources->all[sources->count++];
    *source = (struct source){.kind = kind, .step = step, .stored_step = ARGUS_NONE};
    return source;
}

/* A loop repeats the same loads. */
static bool is_known_load(const struct slice *slice, uint32_t step, unsigned operand,
                          uint64_t address)
{
    for (uint32_t i = 0; i < slice->sources->count; i++) {
        const struct source *source = &slice->sources->all[i];
        if (source->kind == SOURCE_LOAD && source->operand == operand &&
            slice->run->instruction_of[source->step] == slice->run->instruction_of[step] &&
            (!source->has_address || source->address == address))
            return true;
    }
    return false;
}

static void add_loads(struct slice *slice, uint32_t step)
{
    const struct instruction *instruction = run_instruction(slice->run, step);
    for (unsigned i = 0; i < instruction->memory_count; i++) {
        const struct instruction_memory *memory = &instruction->memory[i];
        uint64_t address = 0;
        bool has_address = run_operand_address(slice->run, step, i, &address);
        if (!memory->reads || is_known_load(slice, step, i, address))
            continue;
        struct source *source = add_source(slice, SOURCE_LOAD, step);
        if (!source)
            continue;
        source->operand = i;
        source->size_bytes = memory->size_bytes;
        source->has_address = has_address;
        source->address = address;
        if (has_address)
            slice->open[slice->open_count++] =
                (struct open_load){source->address, source->size_bytes, slice->sources->count - 1};
    }
}

static void want(struct slice *slice, uint64_t registers)
{
    slice->want |= registers & ~stack_pointer_bit(slice->run);
}

static bool is_constant(const struct instruction *instruction)
{
    for (unsigned i = 0; i < instruction->memory_count; i++)
        if (instruction->memory[i].reads)
            return false;
    return !(instruction->reads & ~REGISTER_BIT(REGISTER_FLAGS)) && instruction->length > 0 &&
           !(instruction->reads & REGISTER_BIT(REGISTER_FLAGS));
}

/* The instruction of `step` wrote a register that is searched for. */
static void follow(struct slice *slice, uint32_t step)
{
    const struct instruction *instruction = run_instruction(slice->run, step);
    uint32_t activation = slice->run->activation_of[step];
    want(slice, instruction->reads);
    add_loads(slice, step);
    slice->sources->gathers |= instruction->gathers;
    if (is_constant(instruction) && activation != slice->branch_activation &&
        !slice->control_used) {
        slice->control_activation = activation;
        slice->control_used = true;
    }
}

static void take_registers(struct slice *slice, uint32_t step)
{
    const struct run *run = slice->run;
    const struct instruction *instruction = run_instruction(run, step);
    uint64_t made = instruction->writes & slice->want;
    if (instruction->flow == FLOW_SYSCALL || run->skip_of[step] != ARGUS_NONE) {
        bool call = instruction->flow != FLOW_SYSCALL;
        if (slice->want & REGISTER_BIT(0)) /* rax, x0 */
            add_source(slice, call ? SOURCE_CALL : SOURCE_SYSCALL, step);
        slice->want &= ~(call ? clobbered(run) : instruction->writes);
    } else if (made) {
        if ((made & REGISTER_BIT(REGISTER_FLAGS)) && slice->sources->compare_step == ARGUS_NONE)
            slice->sources->compare_step = step;
        slice->want &= ~made;
        follow(slice, step);
    }
}

/* The store of `step` is the latest one before the open load `at`. */
static void close_load(struct slice *slice, uint32_t at, uint32_t step)
{
    struct source *source = &slice->sources->all[slice->open[at].source];
    slice->open[at] = slice->open[--slice->open_count];
    source->stored_step = step;
    source->is_stored_in_turn = step >= slice->turn_first;
    source->is_spill =
        source->is_stored_in_turn && dataflow_at_stack(slice->run, source->step, source->address);
    if (source->is_stored_in_turn)
        follow(slice, step);
}

static void take_stores(struct slice *slice, uint32_t step)
{
    const struct instruction *instruction = run_instruction(slice->run, step);
    uint64_t address;
    for (unsigned i = 0; slice->open_count > 0 && i < instruction->memory_count; i++) {
        const struct instruction_memory *memory = &instruction->memory[i];
        if (!memory->writes || !run_operand_address(slice->run, step, i, &address))
            continue;
        for (uint32_t j = slice->open_count; j > 0; j--) {
            const struct open_load *load = &slice->open[j - 1];
            bool before = slice->sources->all[load->source].step > step;
            if (before && address < load->address + load->size_bytes &&
                load->address < address + memory->size_bytes)
                close_load(slice, j - 1, step);
        }
    }
}

static void take_control(struct slice *slice, uint32_t step)
{
    const struct instruction *instruction = run_instruction(slice->run, step);
    if (slice->control_activation != slice->run->activation_of[step] ||
        instruction->flow != FLOW_BRANCH)
        return;
    slice->control_activation = ARGUS_NONE;
    want(slice, instruction->reads);
}

static bool is_done(const struct slice *slice)
{
    return !slice->want && !slice->open_count && slice->control_activation == ARGUS_NONE;
}

static bool overlap(const struct source *a, const struct source *b)
{
    return a->has_address && b->has_address && a->address < b->address + b->size_bytes &&
           b->address < a->address + a->size_bytes;
}

/* A counter in memory is followed from iteration to iteration, to a load whose store is in an
 * earlier iteration than the branch. */
static void mark_counters(struct sources *sources)
{
    for (uint32_t i = 0; i < sources->count; i++)
        for (uint32_t j = 0; j < sources->count; j++)
            if (sources->all[j].is_stored_in_turn && overlap(&sources->all[i], &sources->all[j]))
                sources->all[i].is_stored_in_turn = true;
}

void dataflow_sources(const struct run *run, uint32_t step, uint32_t turn_first,
                      struct sources *ret)
{
    struct slice slice = {.run = run,
                          .sources = ret,
                          .branch_activation = run->activation_of[step],
                          .turn_first = turn_first,
                          .control_activation = ARGUS_NONE};
    ret->count = 0;
    ret->is_cut = ret->gathers = false;
    ret->compare_step = ARGUS_NONE;
    want(&slice, run_instruction(run, step)->reads);
    add_loads(&slice, step);
    uint32_t i = step;
    for (; i > 0 && step - i < FAR_BACK && !is_done(&slice); i--) {
        take_control(&slice, i - 1);
        take_stores(&slice, i - 1);
        take_registers(&slice, i - 1);
    }
    mark_counters(ret);
    ret->is_cut |= i > 0 && (slice.want || slice.control_activation != ARGUS_NONE);
}
