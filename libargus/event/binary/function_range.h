/* Finds where a function begins and ends, from the unwind information that even stripped ELF files
 * have: PT_GNU_EH_FRAME, a sorted table of functions (the Linux Standard Base, "Exception
 * Frames"). */
#ifndef ARGUS_EVENT_FUNCTION_RANGE_H
#define ARGUS_EVENT_FUNCTION_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The function of the ELF file at `path` that contains the byte at `file_offset`: offset of its
 * first byte, and length. False: unknown (no such table, or no function covers the byte). A part
 * that the compiler moved away (".cold") counts as a function of its own. */
bool function_range_find(const char *path, uint64_t file_offset, uint64_t *ret_start_offset,
                         uint64_t *ret_bytes);

/* The target of the call that ends before the return address at `file_offset`, if it is a direct
 * call within the file. */
bool function_range_called(const char *path, uint64_t file_offset, uint64_t *ret_offset);

#endif
