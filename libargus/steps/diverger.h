/* What the files behind argus_diverge() share. */
#ifndef ARGUS_STEPS_DIVERGER_H
#define ARGUS_STEPS_DIVERGER_H

#include "argus/diverge.h"
#include "steps/decisions.h"
#include "steps/describe.h"
#include "steps/spin.h"

/* A decision that is worth looking at. */
struct pick {
    uint32_t decision;    /* index into decisions */
    uint32_t class;       /* enum pick_class */
    uint32_t first_step;  /* of run 1 */
    uint32_t step;        /* of run 1: the execution that the slice begins at */
    uint32_t normal_step; /* of run 0, ARGUS_NONE: none */
    bool in_loop, leaves;
};

/* In the order in which they matter. */
enum pick_class {
    PICK_LEAVES_LOOP, /* the normal run left the loop here, in which the bad one stayed */
    PICK_IN_LOOP,     /* the normal run went another way within that loop */
    PICK_BEFORE, /* the normal run went a way that the bad one did not, before the loop or without one */
    PICK_BAD_ONLY, /* the bad run went a way that the normal one did not */
};

struct diverger {
    struct run *runs[2]; /* owned; runs[0] NULL: there is one trace only */
    struct describer describers[2];
    struct decisions decisions;
    struct spin spin;
    bool has_spin;
    uint32_t turn_steps; /* of the last turn of the loop */
    VEC(struct pick) picks;
    struct strtab *strings; /* owned by the result */
    VEC(struct argus_decision) found;
    VEC(struct argus_flag_candidate) candidates;
    VEC(struct candidate_rank) ranks; /* of each candidate */
    VEC(const char *) notes;
};

/* Why a candidate stands where it stands; smaller is better. */
struct candidate_rank {
    uint32_t source_instruction; /* of run 1 */
    uint32_t class;              /* the best of its decisions' */
    bool is_own;       /* in the normal run this thread wrote it, just before it decided */
    bool is_elsewhere; /* the normal run decided by something else */
    bool with_results; /* the branch also looked at the result of a call */
    uint32_t order;    /* of its decision, and within its slice */
};

/* choose.c: fills `picks`, in their order. */
struct argus_error *diverger_choose(struct diverger *d);

/* propose.c: what decided pick `pick`, a decision and its candidates. */
struct argus_error *diverger_propose(struct diverger *d, const struct pick *pick);
/* … and when all are there: their order, and why. */
struct argus_error *diverger_rank(struct diverger *d);

/* Adds a sentence to the result's notes; takes a text of describe_text(). */
struct argus_error *diverger_note(struct diverger *d, const char *text);

#endif
