/* Where the value came from that decided a branch: a slice backward through the executed instructions, from registers and flags to
 * the loads of memory, system calls and calls of libraries at which it began.
 *
 * What a thread keeps at its own stack between two instructions (compilers do, without optimisation) is followed to the store. A load
 * of anything else is a source. So is one whose store lies before the turn of the loop in which the branch was
 * executed: that value was not made by the loop, and only somebody else can change it while the loop goes round.
 *
 * A value that is a constant in a called function (`if (flag) return true; return false;`) hangs on the branch before it in
 * that function. It is followed, too; but only one level, as every constant hangs on some branch.
 */
#ifndef ARGUS_STEPS_DATAFLOW_H
#define ARGUS_STEPS_DATAFLOW_H

#include "steps/run.h"

enum source_kind {
    SOURCE_LOAD,
    SOURCE_CALL, /* the result of a call that was stepped over */
    SOURCE_SYSCALL,
};

struct source {
    enum source_kind kind;
    uint32_t step;
    unsigned operand;    /* LOAD: of the instruction's memory */
    bool has_address;    /* LOAD: registers were recorded */
    uint64_t address;    /* LOAD */
    uint32_t size_bytes; /* LOAD */
    uint32_t
        stored_step; /* LOAD: when this thread wrote it last, before; ARGUS_NONE: not in the trace */
    bool is_stored_in_turn; /* … within the turn of the loop that the branch belongs to */
    bool is_spill; /* … and it is the thread's own stack: a value that was put aside, no source */
};

#define SOURCES_MAX 64

struct sources {
    struct source all[SOURCES_MAX]; /* the nearest to the branch first */
    uint32_t count;
    uint32_t
        compare_step; /* what set the flags that the branch looked at; ARGUS_NONE: it looks at a register */
    bool is_cut; /* there were more, or the search went far enough back without an end */
};

/* Of the branch at `step`. `turn_first`: the step at which its turn of the loop began; 0 if it is in none. */
void dataflow_sources(const struct run *run, uint32_t step, uint32_t turn_first,
                      struct sources *ret);

/* The step before `step` at which the same instruction was last executed in the same context: where a turn of its loop began.
 * ARGUS_NONE: never. */
uint32_t dataflow_turn(const struct run *run, uint32_t step);

/* Whether `address` is at the stack of the thread, as it is at `step`: from a bit below the stack pointer to as far as
 * stacks go. */
bool dataflow_at_stack(const struct run *run, uint32_t step, uint64_t address);

/* The value that a load got, if the trace tells: from the register behind it, or from a comparison that said "equal". */
bool dataflow_value(const struct run *run, const struct source *source, uint64_t *ret);

#endif
