/* Names of code made at run time: /tmp/perf-PID.map, which Node, Java agents, .NET and Python
 * write. */
#ifndef ARGUS_EVENT_JIT_MAP_H
#define ARGUS_EVENT_JIT_MAP_H

#include <stdio.h>

#include "argus/trace.h"
#include "base/strtab.h"

/* Fills function and distance of those of `names` (all of one process, sorted by place) that a line
 * of `map` covers; if several do, the last line counts. Strings are added to `texts`. Reads at most
 * JIT_MAP_MOST_BYTES. Malformed lines are skipped. */
#define JIT_MAP_MOST_BYTES (1ull << 30)
struct argus_error *jit_map_read(FILE *map, struct argus_name_entry *names, size_t count,
                                 struct strtab *texts);

/* Opens the map of process `pid` under the name that the process uses: in its mount namespace, and
 * with the ID in its own PID namespace. NULL: there is none, it does not belong to the process's
 * user, or it is older than `since_s` (seconds since 1970). */
FILE *jit_map_open(uint64_t pid, uint64_t since_s);

#endif
