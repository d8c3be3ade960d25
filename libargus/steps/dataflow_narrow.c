/* Which bytes of a loaded word decide a branch: the register that has the word is followed forward
 * to the branch. A use that is not understood may depend on all of it. */
#include "steps/dataflow.h"

enum { FORWARD_MOST = 200 }; /* steps from the load to the branch */

struct narrowing {
    uint64_t reg; /* the set with the register that has the word */
    unsigned shift;
    uint64_t bits; /* of the loaded word, which matter */
    bool is_done, is_unknown;
};

static void take_mask(struct narrowing *narrowing, uint64_t mask)
{
    narrowing->bits |= mask << narrowing->shift;
}

/* The instruction reads the register. */
static void take_use(struct narrowing *narrowing, const struct instruction *instruction)
{
    uint64_t others = REGISTER_BIT(REGISTER_FLAGS) | narrowing->reg;
    bool is_alone = !instruction->memory_count && !(instruction->reads & ~others);
    if (instruction->bit_use == BITS_ALL || !is_alone)
        narrowing->is_unknown = true;
    else if (instruction->bit_use == BITS_MASKED)
        take_mask(narrowing, instruction->bits);
    else if (!(instruction->writes & narrowing->reg) || narrowing->shift + instruction->bits > 63)
        narrowing->is_unknown = true;
    else
        narrowing->shift += (unsigned)instruction->bits;
    if (instruction->bit_use == BITS_MASKED && (instruction->writes & narrowing->reg))
        narrowing->is_done = true; /* only those bits remain */
}

static void follow(const struct run *run, struct narrowing *narrowing, uint32_t step, uint32_t last)
{
    narrowing->is_unknown = last - step > FORWARD_MOST;
    for (; step <= last && !narrowing->is_done && !narrowing->is_unknown; step++) {
        const struct instruction *instruction = run_instruction(run, step);
        if ((instruction->reads | instruction->names) & narrowing->reg)
            take_use(narrowing, instruction);
        else if ((instruction->writes & narrowing->reg) || run->skip_of[step] != ARGUS_NONE)
            narrowing->is_done = true;
    }
}

static bool is_one_general(uint64_t set)
{
    return set && !(set & (set - 1)) && set < REGISTER_BIT(32);
}

/* The smallest aligned word with these bits that a watchpoint can have. */
static void reduce(struct source *source, uint64_t bits)
{
    uint32_t first = (uint32_t)__builtin_ctzll(bits) / 8;
    uint32_t last = (63 - (uint32_t)__builtin_clzll(bits)) / 8;
    source->bits = bits;
    for (uint32_t size = 1; size < source->size_bytes; size *= 2) {
        uint32_t begin = first - first % size;
        if (last >= begin + size)
            continue;
        source->address += source->has_address ? begin : 0;
        source->skipped_bytes += begin;
        source->size_bytes = size;
        source->bits = bits >> (8 * begin);
        return;
    }
}

void dataflow_narrow(const struct run *run, struct source *source, uint32_t step)
{
    const struct instruction *load = run_instruction(run, source->step);
    struct narrowing narrowing = {0};
    if (source->kind != SOURCE_LOAD || source->size_bytes > 8 || source->skipped_bytes ||
        load->memory_count != 1 || step < source->step)
        return;
    if (load->is_compare && load->bit_use == BITS_MASKED && !load->reads) {
        take_mask(&narrowing, load->bits);
    } else if (load->is_move && is_one_general(load->writes)) {
        narrowing.reg = load->writes;
        follow(run, &narrowing, source->step + 1, step);
    }
    if (!narrowing.is_unknown && narrowing.bits)
        reduce(source, narrowing.bits);
}
