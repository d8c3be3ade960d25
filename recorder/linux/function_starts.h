/* Where the functions of a program file begin, by the sorted table that unwinders use
 * (.eh_frame_hdr, Linux Standard Base, Core, 10.6.2). It is the only thing that is read of an ELF
 * file, by a process without rights (probe_guard.h). */
#ifndef ARGUS_RECORDER_LINUX_FUNCTION_STARTS_H
#define ARGUS_RECORDER_LINUX_FUNCTION_STARTS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a breakpoint at this offset of the file changes nothing: it is at the first instruction
 * of a function, or few bytes behind it at the beginning of one. `at_return`: it is at the first
 * instruction itself, where the return address is at the stack pointer. False also if the file does
 * not tell. */
bool function_starts_allow(int fd, uint64_t offset, bool at_return);

#endif
