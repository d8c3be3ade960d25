/* Explains a loop by the thread that should have set the variable for which it waits, as far as
 * that tells more than the loop does. Otherwise all that was found on the way is taken back. */
#ifndef ARGUS_DIAGNOSE_SETTER_ATTEMPT_H
#define ARGUS_DIAGNOSE_SETTER_ATTEMPT_H

#include "diagnose/diagnoser.h"

/* How far the answer had come. */
struct attempt_mark {
    size_t path, culprits, cycle, uncertain;
    bool guessed, is_broken;
    uint32_t baseline;
    const struct argus_graph *baseline_graph;
};

struct setter_attempt {
    uint32_t vertex, setter; /* the loop; the thread that should have ended it */
    struct window part;
    char *name;                      /* borrowed; of the variable; NULL: not known */
    struct argus_reason_write write; /* the last one; borrows its place */
    enum argus_reason_kind why;      /* why that thread should have set it */
    /* The thread is recorded to have set the variable before. What it did instead is then taken
     * even if it only waited or waited in a circle, unless that was its wait for requests. */
    bool is_recorded;
    struct argus_error *(*note)(struct diagnoser *d, const struct setter_attempt *attempt);
    const void *context; /* of `note` */
    struct attempt_mark mark;
    bool is_taken; /* the result */
};

struct argus_error *setter_attempt_run(struct diagnoser *d, struct setter_attempt *attempt);

#endif
