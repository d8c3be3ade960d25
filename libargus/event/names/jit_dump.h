/* Names of code made at run time, from perf's jitdump files: jit-PID.dump
 * (tools/perf/Documentation/jitdump-specification.txt in Linux). Node (--perf-prof), Java agents,
 * .NET, Mono, LLVM and wasmtime write them. */
#ifndef ARGUS_EVENT_JIT_DUMP_H
#define ARGUS_EVENT_JIT_DUMP_H

#include <stdio.h>

#include "argus/trace.h"
#include "base/strtab.h"

/* As jit_map_read(), but also fills source file and line if the dump has them. Reading stops at
 * malformed or missing data, and after JIT_DUMP_MOST_BYTES of records. */
#define JIT_DUMP_MOST_BYTES (4ull << 30)
struct argus_error *jit_dump_read(FILE *dump, struct argus_name_entry *names, size_t count,
                                  struct strtab *texts);

/* Opens the dump for the mapping `image`: the writer maps its dump as executable so that tracers
 * find it. NULL: `image` is not a dump, the file was deleted, or it belongs neither to the
 * process's user nor to this one. */
FILE *jit_dump_open(const struct argus_image_entry *image);

#endif
