/* Where two instruction traces of one code decided differently, and which variables decided: *data-flag candidates*. Also for one
 * trace alone, of a loop that goes round and round: what its ways out depend on.
 *
 * Two runs of one program lie at other addresses, and a loop goes round more often in one of them: neither is a difference. A
 * *decision* is a branch that both runs executed, in the same context, and on from which one of them took a way that the other never
 * took. From each decision a slice goes backward through the executed instructions (libargus/steps/dataflow.h) to the loads of
 * memory that made it. A load from a variable that the thread itself writes in every turn of its loop is a counter or a deadline,
 * and said apart.
 *
 * Any thread may call it; one call at a time for one struct argus_steps.
 */
#ifndef ARGUS_DIVERGE_H
#define ARGUS_DIVERGE_H

#include "argus/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place in code. Strings are borrowed from the result; NULL: not known. */
struct argus_code_place {
    uint64_t address;      /* in the process of the run that is meant */
    const char *image;     /* path of the file */
    uint64_t image_offset; /* address in the file's own address space */
    const char *function;  /* demangled */
    uint64_t function_offset;
    const char *file; /* source */
    uint32_t line;
    const char *text; /* disassembly */
};

enum argus_flag_where {
    ARGUS_FLAG_VARIABLE, /* of a file */
    ARGUS_FLAG_THREAD_LOCAL,
    ARGUS_FLAG_STACK,
    ARGUS_FLAG_HEAP,    /* anywhere else in memory */
    ARGUS_FLAG_UNKNOWN, /* registers were not recorded there: the address is not known */
};

enum argus_flag_role {
    ARGUS_FLAG_CANDIDATE,
    ARGUS_FLAG_COUNTER,  /* the thread writes it itself, in each turn: a counter, a deadline */
    ARGUS_FLAG_CONSTANT, /* its memory cannot be written: a table, a pointer of the linker */
};

struct argus_flag_value {
    bool known;
    uint64_t value;
};

/* Run 0 is the first trace (normal), run 1 the second (bad); with one trace alone everything is run 1. */
struct argus_flag_candidate {
    enum argus_flag_where where;
    enum argus_flag_role role;
    uint64_t address; /* in run 1; 0: unknown */
    uint32_t size_bytes;
    const char *image;     /* VARIABLE, THREAD_LOCAL: path of the file */
    uint64_t image_offset; /* address in the file's own address space */
    const char *symbol;    /* demangled; NULL: the file has no name for it */
    uint64_t symbol_offset;
    const char *path;   /* HEAP: "settings->0x28", how the thread came to it; NULL: not known */
    const char *detail; /* a sentence on where it is, NULL: none */
    struct argus_code_place load;      /* the instruction that read it */
    struct argus_flag_value values[2]; /* what it read, by run */
    uint32_t loads;                    /* steps of run 1 that executed this instruction */
    const char *command;               /* "argus watchflag 4711 …"; NULL: cannot be watched */
    const char *why; /* one sentence: why it is a candidate, and in this place of the list */
};

struct argus_decision_way {
    struct argus_code_place to; /* where it led to */
    uint32_t counts[2];         /* how often each run took it */
};

struct argus_decision {
    struct argus_code_place branch;
    struct argus_code_place
        compare; /* what set the flags; address 0: the branch looks at a register */
    struct argus_decision_way *ways;
    size_t way_count;
    uint32_t steps
        [2]; /* by run: at which step the way was taken that the other run did not take; ARGUS_NONE: by none */
    uint32_t first_steps[2]; /* by run: when it was executed first */
    bool in_loop;            /* it is executed in the loop in which run 1 ended */
    bool leaves_loop;        /* the way that run 1 did not take leads out of that loop */
    const char *results;  /* what else decided: results of library and system calls; NULL: none */
    uint32_t *candidates; /* indices */
    size_t candidate_count;
};

/* The loop in which run 1 ended. */
struct argus_spin_loop {
    struct argus_code_place head;
    uint32_t first_step, last_step; /* of the head */
    uint32_t turns;
    uint32_t turn_steps; /* of the last turn */
    bool to_the_end;     /* it was still going round when the trace ended */
};

/* The first place at which the runs, loops taken as one turn, go different ways. */
struct argus_first_divergence {
    bool found;
    struct argus_code_place last_common, to[2]; /* `to` address 0: that trace ended here */
    uint32_t steps[2];                          /* of last_common */
};

struct argus_divergence {
    bool alone; /* one trace only */
    bool has_loop;
    struct argus_spin_loop loop;
    struct argus_first_divergence first;
    struct argus_decision *decisions; /* the one that matters most first */
    size_t decision_count;
    size_t decisions_left_out;               /* further ones, which were not looked at */
    struct argus_flag_candidate *candidates; /* best first; counters and constants last */
    size_t candidate_count;
    const char **notes; /* sentences: other builds, missing registers, traces that were cut off */
    size_t note_count;
    uint32_t common_blocks, blocks[2]; /* aligned, of each run, each loop counted as one turn */
};

/* Compares. `normal` may be NULL: the loop of `bad` alone. Both are borrowed for the call. NOT_FOUND: there is nothing to say, and
 * the message says why (no loop; nothing in common; other architectures). */
struct argus_error *argus_diverge(struct argus_steps *normal, struct argus_steps *bad,
                                  struct argus_divergence **ret);
void argus_divergence_destroy(struct argus_divergence *divergence);

#ifdef __cplusplus
}
#endif
#endif
