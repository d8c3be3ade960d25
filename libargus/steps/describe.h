/* Describes places of runs in words: code and variables in the result of argus_diverge(). All
 * strings go into one table. */
#ifndef ARGUS_STEPS_DESCRIBE_H
#define ARGUS_STEPS_DESCRIBE_H

#include "argus/diverge.h"
#include "base/strtab.h"
#include "steps/dataflow.h"
#include "steps/run.h"

struct describer {
    const struct run *run;  /* the run whose places are described; borrowed */
    struct strtab *strings; /* borrowed */
    bool no_memory;         /* sticky */
};

/* Stores a text; "" without memory. */
const char *describe_text(struct describer *describer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct argus_code_place describe_code(struct describer *describer, uint64_t address);

/* "settings.c:62 in wait_until_reconfigured", as far as it is known. */
const char *describe_place(struct describer *describer, const struct argus_code_place *place);

/* Describes the memory that `source` (a load) read, and how to watch it. Fills all members of the
 * candidate except role, values, loads and why. */
void describe_memory(struct describer *describer, const struct source *source,
                     struct argus_flag_candidate *ret);

/* A demangled symbol. */
const char *describe_symbol(struct describer *describer, const char *symbol);

/* The name of the function at `address`, or image+offset. */
const char *describe_function(struct describer *describer, uint64_t address);

#endif
