/* Finds the origin of the value that decided a branch: a backward slice through the executed
 * instructions, from registers and flags to the memory loads, system calls and library calls that
 * produced it.
 *
 * If a thread spills a value to its own stack (unoptimized code does), the slice continues at the
 * store. Any other load is a source. A load from the stack is also a source if its store is before
 * the branch's iteration of the loop: the loop did not produce that value, and only another thread
 * can change it while the loop runs.
 *
 * If a called function returns a constant (`if (flag) return true; return false;`), the value
 * depends on the branch before it in that function. That branch is followed too, but only one
 * level, because every constant depends on some branch.
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
    unsigned operand;    /* LOAD: index of the instruction's memory operand */
    bool has_address;    /* LOAD: the registers were recorded */
    uint64_t address;    /* LOAD */
    uint32_t size_bytes; /* LOAD */
    /* LOAD: `address` is so far behind the first byte that was loaded, because only these bytes
     * decide (dataflow_narrow) */
    uint32_t skipped_bytes;
    uint64_t bits; /* LOAD: of those bytes, which decide; 0: all */
    /* LOAD: the thread's latest earlier store to it; ARGUS_NONE: not in the trace */
    uint32_t stored_step;
    bool is_stored_in_turn; /* … within the branch's iteration of the loop */
    bool is_spill; /* … and it is on the thread's own stack: a spilled value, not a source */
};

#define SOURCES_MAX 64

struct sources {
    struct source all[SOURCES_MAX]; /* the source nearest to the branch comes first */
    uint32_t count;
    /* the step that set the flags; ARGUS_NONE: the branch tests a register */
    uint32_t compare_step;
    bool gathers; /* an instruction joins several of them (or): the result is not 0 if one is not */
    bool is_cut;  /* there were more sources, or the search reached its limit */
};

/* For the branch at `step`. `turn_first`: the first step of its loop iteration; 0 if it is not in a
 * loop. */
void dataflow_sources(const struct run *run, uint32_t step, uint32_t turn_first,
                      struct sources *ret);

/* The latest step before `step` with the same instruction in the same context: the start of its
 * loop iteration. ARGUS_NONE: none. */
uint32_t dataflow_turn(const struct run *run, uint32_t step);

/* Whether `address` is on the thread's stack at `step`: from slightly below the stack pointer up to
 * the maximum size of a stack. */
bool dataflow_at_stack(const struct run *run, uint32_t step, uint64_t address);

/* The value that a load read, if the trace tells: from the register after it, or from a comparison
 * with the result "equal". */
bool dataflow_value(const struct run *run, const struct source *source, uint64_t *ret);

/* Whether an earlier execution of the same load read another value at this address. */
bool dataflow_has_changed(const struct run *run, const struct source *source);

/* What the thread itself last stored to a variable, compared with what its load read. */
enum stored_value {
    STORED_UNKNOWN, /* no store in the trace, or one of the values is not known */
    STORED_SAME,    /* the load read what this thread had stored */
    STORED_OTHER,   /* it did not: another thread wrote in between */
};

enum stored_value dataflow_stored_value(const struct run *run, const struct source *source);

/* Reduces a load's address and size to the bytes that decide the branch at `step`: of a word of
 * which one bit is tested, the byte that has the bit. */
void dataflow_narrow(const struct run *run, struct source *source, uint32_t step);

#endif
