/* Where a function begins and ends, from the unwind information that every ELF file has for its code, also a stripped one:
 * PT_GNU_EH_FRAME, a sorted table of functions (the Linux Standard Base, "Exception Frames"). */
#ifndef ARGUS_EVENT_FUNCTION_RANGE_H
#define ARGUS_EVENT_FUNCTION_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The function of the ELF file at `path` that has the byte at `file_offset`: offset of its first byte, and length. False: the file
 * does not say (no such table, or nothing covers the byte). A part that the compiler moved away (".cold") is a function by itself. */
bool function_range_find(const char *path, uint64_t file_offset, uint64_t *ret_start_offset,
                         uint64_t *ret_bytes);

/* Where the call that ends before the return address at `file_offset` goes, if it is a direct one within the file. */
bool function_range_called(const char *path, uint64_t file_offset, uint64_t *ret_offset);

#endif
