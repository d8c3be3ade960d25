/* A step file prepared for analysis: every executed instruction is decoded once, and each step is
 * assigned to a call.
 *
 * An *activation* is one execution of a function, from its call to its return. The trace may begin
 * inside some activations, which then have no first step. A *key* identifies an instruction, or a
 * chain of calls, independently of load addresses: equal keys in two runs mean the same place in
 * the same file (places.h). One run belongs to one thread.
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
    uint32_t depth;      /* number of known calls around it */
    uint64_t return_address;
    uint64_t context_key; /* of the innermost few call sites */
    uint64_t call_key;    /* of its call site */
};

struct run {
    struct argus_steps *steps;           /* borrowed */
    struct instruction_decoder *decoder; /* owned */
    struct places *places;               /* owned */
    const uint64_t *pcs;                 /* borrowed; by step */
    uint32_t count;                      /* steps */
    VEC(struct instruction) instructions;
    VEC(uint32_t) executions; /* by instruction: number of steps */
    VEC(uint64_t) keys;       /* by instruction */
    uint32_t *instruction_of; /* by step */
    uint32_t *activation_of;  /* by step */
    /* by step: the event of a call that was stepped over; or ARGUS_NONE */
    uint32_t *skip_of;
    struct idmap by_pc; /* → instruction */
    VEC(struct activation) activations;
    uint32_t undecoded; /* steps whose instruction is unknown */
};

/* Decodes all of `steps`, which is borrowed as long as the run exists. NOT_FOUND: there are no
 * steps. */
struct argus_error *run_create(struct argus_steps *steps, struct run **ret);
void run_destroy(struct run *run);

/* Computes the key of every instruction. To be called once, after places_compare() of two runs. */
struct argus_error *run_make_keys(struct run *run);

/* Assigns every step to its activation. With `with_callers`, contexts begin at the start of the
 * thread, as far as the step file knows the callers; otherwise at the beginning of the trace. */
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

/* Whether the step continued with the next instruction in memory. Only for steps that have a
 * successor. */
static inline bool run_fell_through(const struct run *run, uint32_t step)
{
    return run->pcs[step + 1] == run->pcs[step] + run_instruction(run, step)->length;
}

/* The address of operand `index` of the step's instruction; false: the registers were not recorded,
 * and the address is not fixed. */
bool run_operand_address(const struct run *run, uint32_t step, unsigned index, uint64_t *ret);

/* The value of general register `number` before `step`; false: not recorded. */
bool run_register(const struct run *run, uint32_t step, unsigned number, uint64_t *ret);

/* Copies the code at `address`, from the step file, else from the ELF file; returns the number of
 * bytes. */
size_t run_code(const struct run *run, uint64_t address, size_t room, uint8_t *ret);

#endif
