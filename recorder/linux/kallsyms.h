/* Kernel symbols for the addresses in stacks, from /proc/kallsyms. */
#ifndef ARGUS_RECORDER_LINUX_KALLSYMS_H
#define ARGUS_RECORDER_LINUX_KALLSYMS_H

#include "argus/error.h"
#include "argus/trace.h"

/* Writes the functions that `addresses` (sorted in place) lie in. Without readable symbols nothing is written. */
struct argus_error *kallsyms_write(uint64_t *addresses, size_t count, struct argus_writer *writer);

/* The address of a function of the kernel itself; 0 when it is not listed or addresses are hidden. */
uint64_t kallsyms_find(const char *name);

#endif
