/* Names of code that programs made at run time, in the form of perf's jitdump: jit-PID.dump (tools/perf/Documentation/jitdump-specification.txt
 * in Linux). Node (--perf-prof), Java agents, .NET, Mono, LLVM and wasmtime write it. */
#ifndef ARGUS_EVENT_JIT_DUMP_H
#define ARGUS_EVENT_JIT_DUMP_H

#include <stdio.h>

#include "argus/trace.h"
#include "base/strtab.h"

/* As jit_map_read(); source file and line as well, where the dump has them. What is wrong or cut off ends it. Reads at most
 * JIT_DUMP_MOST_BYTES of records. */
#define JIT_DUMP_MOST_BYTES (4ull << 30)
struct argus_error *jit_dump_read(FILE *dump, struct argus_name_entry *names, size_t count,
                                  struct strtab *texts);

/* Opens the dump that `image` says was mapped: its writer maps it, executable, so that a tracer finds it. NULL: `image` is none, the file is gone, or it
 * belongs neither to the user of the process nor to ours. */
FILE *jit_dump_open(const struct argus_image_entry *image);

#endif
