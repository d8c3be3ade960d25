/* Places in a program's code, as an answer names them. */
#ifndef ARGUS_DIAGNOSE_CODE_PLACE_H
#define ARGUS_DIAGNOSE_CODE_PLACE_H

#include "diagnose/diagnoser.h"
#include "steps/loops/code_writers.h"

/* "on_reconfigured (settings.c:29)", without a line if it is not known. The caller must free() it;
 * NULL without memory. */
char *text_code_place(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                      bool is_return);

/* The same for the innermost function on the way to a write that is the program's own, in a process
 * at a time. `bias`: of the writer's file there. */
char *text_writer_place(struct diagnoser *d, uint32_t process, uint64_t time_ns, uint64_t bias,
                        const struct code_writer *writer);

/* The same for a place in a loop that begins at `head`, in the same function's code: the innermost
 * function that has both. A function that was inlined into the loop is not the one that loops. */
char *text_loop_place(struct diagnoser *d, const struct argus_vertex *v, uint64_t address,
                      bool is_return, uint64_t head);

#endif
