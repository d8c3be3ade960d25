/* The time of a program's threads as a sum: what its contexts took, and what belongs to none. */
#ifndef ARGUS_CONTEXT_BUDGET_H
#define ARGUS_CONTEXT_BUDGET_H

#include "argus/contexts.h"

enum budget_part {
    BUDGET_CPU,    /* own work on a CPU */
    BUDGET_DEVICE, /* own work: waits for a disk, a page, a child that is not analyzed */
    BUDGET_OTHERS,
    BUDGET_IDLE,
    BUDGET_SLEPT,
    BUDGET_SCHEDULER, /* threads that a language runtime's scheduler had no task for */
    BUDGET_WANTED_CPU,
    BUDGET_BETWEEN,                     /* between two stacks that have no function in common */
    BUDGET_UNSEEN = BUDGET_BETWEEN + 1, /* and one part for each enum argus_unseen */
    BUDGET_PARTS = BUDGET_UNSEEN + ARGUS_UNSEEN_KINDS
};

/* All times in ns; with a base, minus those of the same program there. */
struct budget {
    uint32_t node; /* the program; 0: all programs without a stack */
    int64_t threads;
    double wall_ns;   /* from its first thread's beginning to the end of the last one */
    double thread_ns; /* the sum of the parts */
    double cpu_ns;    /* time on a CPU, as far as stacks are known: also outside of any context */
    double parts[BUDGET_PARTS];
    double wanted_unseen_ns; /* of BUDGET_WANTED_CPU, without a known stack: in no context */
};

/* How much longer the waits for a process of this name were. */
struct budget_peer {
    const char *name; /* borrowed */
    double ns;
};

struct budgets {
    struct budget *items; /* owned; the largest difference first */
    size_t count;
};

struct argus_error *budgets_create(const struct argus_contexts_report *report, struct budgets *ret);
void budgets_deinit(struct budgets *budgets);

/* Writes the processes that the program waited for, the longest first, to `ret`, and returns the
 * number. */
size_t budget_peers(const struct argus_contexts_report *report, const struct budget *budget,
                    struct budget_peer *ret, size_t room);

/* A short name in JSON; a clause for a person. */
const char *budget_part_key(enum budget_part part);
const char *budget_part_text(enum budget_part part);

/* A line for each program. */
struct argus_error *budgets_write(const struct argus_sink *sink,
                                  const struct argus_contexts_report *report);

#endif
