/* The functions that write the variable for which a loop waits, by the program's code
 * (steps/loops/code_writers.h), and the threads that are recorded to run them. */
#ifndef ARGUS_DIAGNOSE_FLAG_WRITERS_H
#define ARGUS_DIAGNOSE_FLAG_WRITERS_H

#include "diagnose/diagnoser.h"
#include "steps/loops/loop_flags.h"

/* Where the loop is: the stack of the wait of `vertex`, whose first `count` frames are known. */
struct loop_stack {
    uint32_t vertex;
    const struct loop_frame *frames; /* borrowed */
    uint32_t count;
};

/* Puts writers and threads into `ret`; none, if the code does not tell. False: no memory; `ret` is
 * then to be freed as usual. */
bool flag_writers_find(struct diagnoser *d, const struct loop_stack *stack,
                       const struct loop_flag *flag, struct argus_loop_variable *ret);
void flag_writers_free(struct argus_loop_variable *variable);
/* "on_reconfigured (settings.c:29), reset (settings.c:31) or 2 other functions". */
void flag_writers_text(const struct argus_loop_variable *variable, char *buffer, size_t bytes);

#endif
