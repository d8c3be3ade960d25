/* What a file is that is not what was asked for: other programs' formats by their first bytes. */
#ifndef ARGUS_BASE_FOREIGN_FORMAT_H
#define ARGUS_BASE_FOREIGN_FORMAT_H

#include <stddef.h>

#include "argus/error.h"

#define FOREIGN_FORMAT_BYTES 4096u /* as many of a file's first bytes are looked at, at most */

/* The error (ARGUS_ERROR_FORMAT) "PATH is not WANTED: it is a perf.data file (offset 0: PERFILE2); perf script reads it".
 * `bytes` are the first `length` of the file; `magic` is what a file that is `wanted` ("an Argus trace") begins with. */
struct argus_error *foreign_format_error(const char *path, const char *wanted, const char *magic,
                                         const void *bytes, size_t length);

#endif
