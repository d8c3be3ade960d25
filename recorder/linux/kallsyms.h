/* Kernel symbols for the addresses in stacks, from /proc/kallsyms. */
#ifndef ARGUS_RECORDER_LINUX_KALLSYMS_H
#define ARGUS_RECORDER_LINUX_KALLSYMS_H

#include "argus/error.h"
#include "argus/trace.h"

/* Writes the functions that contain `addresses` (sorted in place). Writes nothing if the symbols
 * cannot be read. */
struct argus_error *kallsyms_write(uint64_t *addresses, size_t count, struct argus_writer *writer);

/* The address of a function of the kernel proper; 0 if it is not listed or addresses are hidden. */
uint64_t kallsyms_find(const char *name);

#endif
