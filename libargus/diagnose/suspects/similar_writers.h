/* Writers of a variable whose object other threads have from somewhere: steps/loops/code_similar.h. */
#ifndef ARGUS_DIAGNOSE_SIMILAR_WRITERS_H
#define ARGUS_DIAGNOSE_SIMILAR_WRITERS_H

#include "diagnose/diagnoser.h"
#include "steps/loops/code_writers.h"

/* In the file of the flag, which is mapped at `bias`: in functions that other threads of the process
 * are recorded to execute, by their stacks. `code`: of the loop, an address of the file. */
void similar_writers_find(struct diagnoser *d, const struct argus_vertex *waiter,
                          const struct loop_flag *flag, uint64_t bias, uint64_t code,
                          struct code_writers *ret);

#endif
