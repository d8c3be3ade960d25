/* A step file made ready for questions: every executed instruction decoded once, and for each step which call it belongs to.
 *
 * An *activation* is one execution of a function, from its call to its return. The trace may begin inside some, and those have
 * no first step. A *key* names an instruction, or a chain of calls, independently of where the process was loaded: equal keys
 * in two runs mean the same place in the same file (places.h). One run belongs to one thread.
 */
#ifndef ARGUS_STEPS_RUN_H
#define ARGUS_STEPS_RUN_H

#include "argus/steps.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "steps/instruction.h"
#include "steps/places.h"

struct activation {
    uint32_t caller;     /* activation; ARGUS_NONE: not in the trace */
    uint32_t first_step; /* of its function; ARGUS_NONE: before the trace */
    uint32_t call_step;  /* the call; ARGUS_NONE: before the trace */
    uint32_t depth;      /* calls that are known around it */
    uint64_t return_address;
    uint64_t context_key; /* of the innermost few places that it was called from */
    uint64_t call_key;    /* of the place that it was called from */
};

struct run {
    struct argus_steps *steps;           /* borrowed */
    struct instruction_decoder *decoder; /* owned */
    struct places *places;               /* owned */
    const uint64_t *pcs;                 /* borrowed; by step */
    uint32_t count;                      /* steps */
    VEC(struct instruction) instructions;
    VEC(uint32_t) executions; /* by instruction: how many steps */
    VEC(uint64_t) keys;       /* by instruction */
    uint32_t *instruction_of; /* by step */
    uint32_t *activation_of;  /* by step */
    uint32_t *skip_of;        /* by step: event of a call that was not stepped; or ARGUS_NONE */
    struct idmap by_pc;       /* → instruction */
    VEC(struct activation) activations;
    uint32_t undecoded; /* steps whose instruction is not known */
};

/* Decodes all of `steps`, which is borrowed for the run's life. NOT_FOUND: there are no steps. */
struct argus_error *run_create(struct argus_steps *steps, struct run **ret);
void run_destroy(struct run *run);

/* Gives every instruction its key. Once, and behind places_compare() of two runs. */
struct argus_error *run_make_keys(struct run *run);

/* Gives every step its activation. Without `with_callers` contexts are counted from where the trace began; with it, from the
 * beginning of the thread, as far as the step file knows who had called. */
struct argus_error *run_find_activations(struct run *run, bool with_callers);

static inline const struct instruction *run_instruction(const struct run *run, uint32_t step)
{
    return &run->instructions.data[run->instruction_of[step]];
}

static inline uint64_t run_key(const struct run *run, uint32_t step)
{
    return run->keys.data[run->instruction_of[step]];
}

static inline const struct activation *run_activation(const struct run *run, uint32_t step)
{
    return &run->activations.data[run->activation_of[step]];
}

/* Did the step go on behind itself? Only for steps that have a next one. */
static inline bool run_fell_through(const struct run *run, uint32_t step)
{
    return run->pcs[step + 1] == run->pcs[step] + run_instruction(run, step)->length;
}

/* Where the operand `index` of the step's instruction is; false: the registers were not recorded, and it is not at a fixed place. */
bool run_operand_address(const struct run *run, uint32_t step, unsigned index, uint64_t *ret);

/* The value of general register `number` before `step`; false: not recorded. */
bool run_register(const struct run *run, uint32_t step, unsigned number, uint64_t *ret);

/* The code at `address`, from the step file, else from the ELF file; how many bytes. */
size_t run_code(const struct run *run, uint64_t address, size_t room, uint8_t *ret);

#endif
