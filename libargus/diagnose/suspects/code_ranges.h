/* The threads that are recorded to execute code which sets a variable. */
#ifndef ARGUS_DIAGNOSE_CODE_RANGES_H
#define ARGUS_DIAGNOSE_CODE_RANGES_H

#include "diagnose/suspects/flag_files.h"
#include "steps/loops/code_writers.h"

#define CODE_RANGES_MAX (4 * (CODE_WRITERS_MAX + CODE_CALLERS_MAX))

/* Functions of a process, by the addresses in its memory. */
struct code_ranges {
    struct code_caller all[CODE_RANGES_MAX];
    uint32_t count;
};

/* Adds the writers of the file `use`, and their callers in all `files`. */
void code_ranges_take(const struct mapped_files *files, const struct flag_use *use,
                      const struct code_writers *writers, struct code_ranges *ret);

/* Adds to `ret` the threads of `process`, but `waiter`, that are seen in such a function. False: no
 * memory. */
bool code_ranges_find_threads(struct diagnoser *d, uint32_t waiter, uint32_t process,
                              const struct code_ranges *ranges, struct argus_loop_variable *ret);

#endif
