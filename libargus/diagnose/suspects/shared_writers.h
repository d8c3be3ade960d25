/* Writers in other processes of a variable that lies in shared memory. */
#ifndef ARGUS_DIAGNOSE_SHARED_WRITERS_H
#define ARGUS_DIAGNOSE_SHARED_WRITERS_H

#include "diagnose/suspects/flag_writers.h"

/* Adds to `ret` the functions of other processes that write `flag`, for which the thread of vertex
 * `v` waits, and the threads that are seen in them; none, if the code does not tell. False: no
 * memory. */
bool shared_writers_find(struct diagnoser *d, const struct argus_vertex *v,
                         const struct loop_flag *flag, const struct reset_values *resets,
                         struct argus_loop_variable *ret);

#endif
