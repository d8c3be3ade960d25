/* Whether a load read what its own thread had stored there. A thread that resets a flag to 0 and
 * then reads 1 did not set it. */
#include "steps/dataflow.h"

static uint64_t low_bytes(uint64_t value, uint32_t bytes)
{
    return bytes < 8 ? value & ((UINT64_C(1) << bytes * 8) - 1) : value;
}

static bool is_arm64(const struct run *run)
{
    return instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
}

/* The value of the only register that the store reads, or its immediate. arm64: a store without
 * either is one of the zero register. */
static bool given_value(const struct run *run, uint32_t step, uint64_t *ret)
{
    const struct instruction *store = run_instruction(run, step);
    *ret = store->has_immediate ? (uint64_t)store->immediate : 0;
    if (!store->reads)
        return store->has_immediate || is_arm64(run);
    if ((store->reads & (store->reads - 1)) || store->reads >= REGISTER_BIT(REGISTER_FLAGS))
        return false;
    return run_register(run, step, (unsigned)__builtin_ctzll(store->reads), ret);
}

/* The bytes of the store at `source->stored_step` that the load read. */
static bool stored_bytes(const struct run *run, const struct source *source, uint64_t *ret)
{
    const struct instruction *store = run_instruction(run, source->stored_step);
    uint64_t address;
    if (!store->is_move || store->memory_count != 1 || !store->memory[0].writes ||
        store->memory[0].reads || store->memory[0].size_bytes > 8 ||
        !run_operand_address(run, source->stored_step, 0, &address) || source->address < address ||
        source->address + source->size_bytes > address + store->memory[0].size_bytes ||
        !given_value(run, source->stored_step, ret))
        return false;
    *ret = low_bytes(*ret >> 8 * (source->address - address), source->size_bytes);
    return true;
}

static bool said_equal(const struct run *run, uint32_t step, bool *ret)
{
    uint64_t registers[ARGUS_STEP_REGISTERS];
    if (step >= run->count || !argus_steps_registers(run->steps, step, registers))
        return false;
    *ret = is_arm64(run) ? registers[ARGUS_ARM64_PSTATE] >> 30 & 1
                         : registers[ARGUS_X86_RFLAGS] >> 6 & 1;
    return true;
}

/* By a comparison of the memory itself with a constant: whether its result fits to `stored`. */
static enum stored_value by_comparison(const struct run *run, const struct source *source,
                                       uint64_t stored)
{
    const struct instruction *load = run_instruction(run, source->step);
    bool is_equal, would_be;
    if (!load->is_compare || !load->has_immediate || load->reads || source->skipped_bytes ||
        !said_equal(run, source->step + 1, &is_equal))
        return STORED_UNKNOWN;
    uint64_t operand = low_bytes((uint64_t)load->immediate, source->size_bytes);
    would_be = load->tests_bits ? !(stored & operand) : stored == operand;
    if (would_be != is_equal)
        return STORED_OTHER;
    return is_equal && !load->tests_bits ? STORED_SAME : STORED_UNKNOWN;
}

enum stored_value dataflow_stored_value(const struct run *run, const struct source *source)
{
    uint64_t stored, read;
    if (source->kind != SOURCE_LOAD || !source->has_address || source->stored_step == ARGUS_NONE ||
        source->size_bytes > 8 || !stored_bytes(run, source, &stored))
        return STORED_UNKNOWN;
    if (dataflow_value(run, source, &read))
        return read == stored ? STORED_SAME : STORED_OTHER;
    return by_comparison(run, source, stored);
}
