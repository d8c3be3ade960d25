#include "steps/dataflow.h"

static uint64_t low_bytes(uint64_t value, uint32_t bytes)
{
    return bytes < 8 ? value & ((UINT64_C(1) << bytes * 8) - 1) : value;
}

static int only_register(uint64_t set)
{
    return set && !(set & (set - 1)) && set < REGISTER_BIT(32) ? __builtin_ctzll(set) : -1;
}

static bool said_equal(const struct run *run, uint32_t step)
{
    uint64_t registers[ARGUS_STEP_REGISTERS];
    bool arm64 = instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
    if (!argus_steps_registers(run->steps, step, registers))
        return false;
    return arm64 ? registers[ARGUS_ARM64_PSTATE] >> 30 & 1 : registers[ARGUS_X86_RFLAGS] >> 6 & 1;
}

bool dataflow_value(const struct run *run, const struct source *source, uint64_t *ret)
{
    const struct instruction *instruction = run_instruction(run, source->step);
    uint64_t value;
    if (source->kind != SOURCE_LOAD || source->step + 1 >= run->count ||
        instruction->memory_count != 1)
        return false;
    int target = only_register(instruction->writes), other = only_register(instruction->reads);
    if (instruction->is_move && target >= 0) {
        if (!run_register(run, source->step + 1, (unsigned)target, &value))
            return false;
    } else if (instruction->is_compare && !instruction->tests_bits &&
               said_equal(run, source->step + 1)) {
        value = (uint64_t)instruction->immediate;
        if (!instruction->has_immediate &&
            (other < 0 || !run_register(run, source->step, (unsigned)other, &value)))
            return false;
    } else {
        return false;
    }
    *ret = low_bytes(value >> 8 * source->skipped_bytes, source->size_bytes);
    return true;
}

bool dataflow_has_changed(const struct run *run, const struct source *source)
{
    struct source earlier = *source;
    uint64_t now, before, address;
    uint32_t instruction = run->instruction_of[source->step];
    if (!source->has_address || !dataflow_value(run, source, &now))
        return false;
    while (earlier.step-- > 0)
        if (run->instruction_of[earlier.step] == instruction &&
            run_operand_address(run, earlier.step, source->operand, &address) &&
            address + source->skipped_bytes == source->address &&
            dataflow_value(run, &earlier, &before) && before != now)
            return true;
    return false;
}
