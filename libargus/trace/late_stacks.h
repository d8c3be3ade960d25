/* Late stacks in the place of those that frame pointers gave.
 *
 * A wait has the late stack in whose time it began. A wait that was too short for one has the late stack of the same thread with the same stack
 * pointer and the same innermost frame: a thread that stands there again has come there by the same calls, all but
 * surely. Of several the last one before counts, else the first one behind. Without that a loop that waits now for long, now for a
 * moment, would be at two places.
 */
#ifndef ARGUS_TRACE_LATE_STACKS_H
#define ARGUS_TRACE_LATE_STACKS_H

#include <stdbool.h>

#include "trace/reader.h"

/* Puts the tables in order, when all are read; false without memory. */
bool late_stacks_finish(struct trace_tables *tables);

void late_stacks_put(const struct trace_tables *tables, struct argus_record *records, size_t count);

#endif
