/* Finds where two instruction traces of the same code took different branches, and which variables
 * decided that: the *data-flag candidates*. A single trace of a loop that does not end works too:
 * then it finds the variables that the loop's exits depend on.
 *
 * Different load addresses and different numbers of loop iterations do not count as differences. A
 * *decision* is a branch that both runs executed in the same context, and after which one run took
 * a way that the other never took. From each decision a backward slice through the executed
 * instructions (libargus/steps/dataflow.h) leads to the memory loads that determined it. A variable
 * that the thread itself writes in every iteration is a counter or a deadline, and is reported as
 * such.
 *
 * Any thread may call it; one call at a time for one struct argus_steps.
 */
#ifndef ARGUS_DIVERGE_H
#define ARGUS_DIVERGE_H

#include "argus/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place in code. Strings are borrowed from the result; NULL: unknown. */
struct argus_code_place {
    uint64_t address;      /* in the process of the run concerned */
    const char *image;     /* path of the file */
    uint64_t image_offset; /* address in the file's own address space */
    const char *function;  /* demangled */
    uint64_t function_offset;
    const char *file; /* source */
    uint32_t line;
    const char *text; /* disassembly */
};

enum argus_flag_where {
    ARGUS_FLAG_VARIABLE, /* a variable of a file */
    ARGUS_FLAG_THREAD_LOCAL,
    ARGUS_FLAG_STACK,
    ARGUS_FLAG_HEAP,    /* anywhere else in memory */
    ARGUS_FLAG_UNKNOWN, /* the registers were not recorded there, so the address is unknown */
};

enum argus_flag_role {
    ARGUS_FLAG_CANDIDATE,
    ARGUS_FLAG_COUNTER, /* the thread writes it itself in each iteration: a counter, a deadline */
    /* its memory is read-only: a constant table, a pointer that the linker set */
    ARGUS_FLAG_CONSTANT,
};

struct argus_flag_value {
    bool known;
    uint64_t value;
};

/* Run 0 is the first trace (normal), run 1 the second (bad). With a single trace, everything is run
 * 1. */
struct argus_flag_candidate {
    enum argus_flag_where where;
    enum argus_flag_role role;
    uint64_t address; /* in run 1; 0: unknown */
    uint32_t size_bytes;
    const char *image;     /* VARIABLE, THREAD_LOCAL: path of the file */
    uint64_t image_offset; /* address in the file's own address space */
    const char *symbol;    /* demangled; NULL: the file has no symbol for it */
    uint64_t symbol_offset;
    /* HEAP: "settings->0x28", the pointers by which the thread reached it; NULL: unknown */
    const char *path;
    /* "app->net->state", by debug information; NULL: it names nothing */
    const char *member;
    const char *member_in; /* the function whose local variable `member` begins with; NULL: none */
    const char *detail;    /* a sentence that says where it is; NULL: none */
    struct argus_code_place load;      /* the instruction that read it */
    struct argus_flag_value values[2]; /* what the load read, by run */
    uint32_t loads;                    /* steps of run 1 that executed this instruction */
    const char *command;               /* "argus watchflag 4711 …"; NULL: it cannot be watched */
    const char *why; /* one sentence: why it is a candidate, and why at this place in the list */
};

struct argus_decision_way {
    struct argus_code_place to; /* the target of this way */
    uint32_t counts[2];         /* how often each run took it */
};

struct argus_decision {
    struct argus_code_place branch;
    /* the instruction that set the flags; address 0: the branch tests a register */
    struct argus_code_place compare;
    struct argus_decision_way *ways;
    size_t way_count;
    /* by run: the first step at which it took the way that the other run did not take; ARGUS_NONE:
     * it took no such way */
    uint32_t steps[2];
    uint32_t first_steps[2]; /* by run: the step at which the branch was first executed */
    bool in_loop;            /* it is executed in the loop in which run 1 ended */
    bool leaves_loop;        /* the way that run 1 did not take leads out of that loop */
    /* other inputs of the decision, results of library and system calls; NULL: none */
    const char *results;
    uint32_t *candidates; /* indices */
    size_t candidate_count;
};

/* The loop in which run 1 ended. */
struct argus_spin_loop {
    struct argus_code_place head;
    uint32_t first_step, last_step; /* first and last step at the loop's head */
    uint32_t turns;
    uint32_t turn_steps; /* length of the last iteration */
    bool to_the_end;     /* the loop was still running when the trace ended */
};

/* The first place at which the two runs go different ways, each loop taken as one iteration. */
struct argus_first_divergence {
    bool found;
    struct argus_code_place last_common, to[2]; /* `to` address 0: that trace ended here */
    uint32_t steps[2];                          /* of last_common */
};

struct argus_divergence {
    bool alone; /* there is only one trace */
    bool has_loop;
    struct argus_spin_loop loop;
    struct argus_first_divergence first;
    struct argus_decision *decisions; /* the most important first */
    size_t decision_count;
    size_t decisions_left_out;               /* further decisions, which were not examined */
    struct argus_flag_candidate *candidates; /* best first; counters and constants last */
    size_t candidate_count;
    /* sentences: different builds, missing registers, traces that were cut off */
    const char **notes;
    size_t note_count;
    /* aligned blocks, and blocks of each run; each loop counts as one iteration */
    uint32_t common_blocks, blocks[2];
};

/* Compares two traces. If `normal` is NULL, only the loop of `bad` is examined. Both are borrowed
 * for the call. NOT_FOUND: there is nothing to report, and the message says why (no loop; nothing
 * in common; different architectures). */
struct argus_error *argus_diverge(struct argus_steps *normal, struct argus_steps *bad,
                                  struct argus_divergence **ret);
void argus_divergence_destroy(struct argus_divergence *divergence);

#ifdef __cplusplus
}
#endif
#endif
