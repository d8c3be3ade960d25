/* Names of code that programs made at run time: /tmp/perf-PID.map, which Node, Java agents, .NET and Python write. */
#ifndef ARGUS_EVENT_JIT_MAP_H
#define ARGUS_EVENT_JIT_MAP_H

#include <stdio.h>

#include "argus/trace.h"
#include "base/strtab.h"

/* Fills function and distance of those of `names` (all of one process, ascending by place) that a line of `map` covers;
 * where several do, the last one. Strings are put into `texts`. Reads at most JIT_MAP_MOST_BYTES. Lines that are none are passed over. */
#define JIT_MAP_MOST_BYTES (1ull << 30)
struct argus_error *jit_map_read(FILE *map, struct argus_name_entry *names, size_t count,
                                 struct strtab *texts);

/* Opens the map of process `pid`, as that process names it: in its mount namespace and by the id that it has in its own pid
 * namespace. NULL: there is none, it does not belong to the user of the process, or is older than `since_s` (seconds since 1970). */
FILE *jit_map_open(uint64_t pid, uint64_t since_s);

#endif
