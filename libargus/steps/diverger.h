/* Shared by the files behind argus_diverge(). */
#ifndef ARGUS_STEPS_DIVERGER_H
#define ARGUS_STEPS_DIVERGER_H

#include "argus/diverge.h"
#include "steps/decisions.h"
#include "steps/describe.h"
#include "steps/spin.h"

/* A decision worth examining. */
struct pick {
    uint32_t decision;    /* index into decisions */
    uint32_t class;       /* enum pick_class */
    uint32_t first_step;  /* of run 1 */
    uint32_t step;        /* of run 1: the execution at which the slice begins */
    uint32_t normal_step; /* of run 0, ARGUS_NONE: none */
    bool in_loop, leaves;
};

/* In order of importance. */
enum pick_class {
    PICK_LEAVES_LOOP, /* here the normal run left the loop in which the bad run stayed */
    PICK_IN_LOOP,     /* the normal run went another way within that loop */
    /* the normal run took a way that the bad run did not, before the loop or without one */
    PICK_BEFORE,
    PICK_BAD_ONLY, /* the bad run went a way that the normal one did not */
};

struct diverger {
    struct run *runs[2]; /* owned; runs[0] NULL: there is only one trace */
    struct describer describers[2];
    struct decisions decisions;
    struct spin spin;
    bool has_spin;
    uint32_t turn_steps; /* length of the loop's last iteration in steps */
    VEC(struct pick) picks;
    struct strtab *strings; /* owned by the result */
    VEC(struct argus_decision) found;
    VEC(struct argus_flag_candidate) candidates;
    VEC(struct candidate_rank) ranks; /* of each candidate */
    VEC(const char *) notes;
};

/* The criteria for a candidate's rank; smaller is better. */
struct candidate_rank {
    uint32_t source_instruction; /* of run 1 */
    uint32_t class;              /* the best class of its decisions */
    /* in the normal run, this thread wrote the value that decided, or it wrote just before the
     * decision and the value is not known */
    bool is_own;
    bool is_of_another;  /* the normal run read another value than this thread had written */
    bool compares_loads; /* the branch compares it with another variable, not with a constant */
    bool is_request;     /* … and in the bad run this thread wrote its value: what it waits for */
    bool has_changed;    /* the normal run read it more than once, with different values */
    bool is_elsewhere;   /* the normal run decided by another value */
    bool is_satisfied; /* the branch tests it together with others, which are still 0, and it is not
                        */
    bool with_results; /* the branch also depends on the result of a call */
    uint32_t order;    /* by its decision, and by its place in the decision's slice */
};

/* choose.c: fills `picks`, sorted. */
struct argus_error *diverger_choose(struct diverger *d);

/* propose.c: examines pick `pick` and adds a decision and its candidates. */
struct argus_error *diverger_propose(struct diverger *d, const struct pick *pick);
/* … and after all picks: sorts the candidates and explains their ranks. */
struct argus_error *diverger_rank(struct diverger *d);

/* Adds a sentence from describe_text() to the result's notes. */
struct argus_error *diverger_note(struct diverger *d, const char *text);

#endif
