/* Complete reads and writes at an offset. */
#ifndef ARGUS_TRACE_FILE_H
#define ARGUS_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"

/* Reads exactly `length` bytes. Returns 0 or an errno; ENODATA if the file ends before. */
int file_read(int fd, void *to, size_t length, uint64_t offset);

/* Writes all `length` bytes. Returns 0 or an errno. */
int file_write(int fd, const void *from, size_t length, uint64_t offset);

/* The output of a writer to a descriptor, which is borrowed. */
struct argus_output file_output(int fd);

#endif
