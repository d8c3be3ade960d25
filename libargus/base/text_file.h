/* Small text files that a user writes: tables, rules, flags. */
#ifndef ARGUS_BASE_TEXT_FILE_H
#define ARGUS_BASE_TEXT_FILE_H

#include <stddef.h>

#include "argus/error.h"

#define TEXT_FILE_MOST_BYTES (1u << 20) /* a larger file was not written by a person */

/* Reads the whole file `path`. Its errors are "cannot open NAMED path" and "path TOO_LARGE";
 * `named` ends with a space or is "". The caller frees `*ret`, which has a NUL behind its
 * `*ret_bytes` bytes. On an error both are unchanged. Any thread may call it. */
struct argus_error *text_file_read(const char *path, const char *named, const char *too_large,
                                   char **ret, size_t *ret_bytes);

#endif
