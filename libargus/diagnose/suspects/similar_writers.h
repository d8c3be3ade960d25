/* Writers of a variable that have the pointer to its object from where code does not tell:
 * steps/loops/code_similar.h. */
#ifndef ARGUS_DIAGNOSE_SIMILAR_WRITERS_H
#define ARGUS_DIAGNOSE_SIMILAR_WRITERS_H

#include "diagnose/diagnoser.h"
#include "steps/loops/code_writers.h"

#define SIMILAR_STARTS_MAX 256

/* Where the functions of a file begin that threads other than the waiter are recorded to execute,
 * by their stacks. A zeroed one is filled when it is first used for a file. */
struct similar_starts {
    const struct elf_file *file;      /* borrowed; NULL: of none so far */
    uint64_t all[SIMILAR_STARTS_MAX]; /* addresses of the file */
    uint32_t count;
    bool is_cut; /* there may be more */
};

/* In the file of the flag, which is mapped at `bias`: among the functions of `starts`, which is
 * used for one waiter only, and those that are stored beside a pointer to the variable. `code`: of
 * the loop, an address of the file. */
void similar_writers_find(struct diagnoser *d, const struct argus_vertex *waiter,
                          const struct loop_flag *flag, uint64_t bias, uint64_t code,
                          struct similar_starts *starts, struct code_writers *ret);

#endif
