/* Recognizes files of other programs by their first bytes, for error messages about a wrong
 * file. */
#ifndef ARGUS_BASE_FOREIGN_FORMAT_H
#define ARGUS_BASE_FOREIGN_FORMAT_H

#include <stddef.h>

#include "argus/error.h"

/* at most this many bytes at the beginning of a file are examined */
#define FOREIGN_FORMAT_BYTES 4096u

/* Returns the error (ARGUS_ERROR_FORMAT) "PATH is not WANTED: it is a perf.data file (offset 0:
 * PERFILE2); perf script reads it". `bytes` are the first `length` bytes of the file; `magic` is
 * how a `wanted` file ("an Argus trace") begins. */
struct argus_error *foreign_format_error(const char *path, const char *wanted, const char *magic,
                                         const void *bytes, size_t length);

#endif
