/* Replaces stacks that were walked by frame pointers with late stacks.
 *
 * A wait gets the late stack in whose time it began. A wait that was too short for a late stack
 * gets one of another wait of the thread with the same stack pointer and the same innermost frame,
 * since such a wait was almost certainly reached by the same calls. If there are several, the last
 * one before the wait is used, else the first one after it. Without this rule, a loop with long and
 * short waits would appear to wait at two places.
 */
#ifndef ARGUS_TRACE_LATE_STACKS_H
#define ARGUS_TRACE_LATE_STACKS_H

#include <stdbool.h>

#include "trace/reader.h"

/* Sorts the tables after all of them were read; false without memory. */
bool late_stacks_finish(struct trace_tables *tables);

void late_stacks_put(const struct trace_tables *tables, struct argus_record *records, size_t count);

#endif
