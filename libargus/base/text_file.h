/* Small text files that a user writes: tables, rules, flags. */
#ifndef ARGUS_BASE_TEXT_FILE_H
#define ARGUS_BASE_TEXT_FILE_H

#include <stddef.h>

#include "argus/error.h"

#define TEXT_FILE_MOST_BYTES (1u << 20) /* a larger file is none that somebody wrote */

/* Reads the whole of `path`. For the messages: "cannot open NAMED path", "path TOO_LARGE"; `named` ends with a space or is "". The
 * caller frees `*ret`, which has a NUL behind its `*ret_bytes`; both are left alone at an error. Any thread. */
struct argus_error *text_file_read(const char *path, const char *named, const char *too_large,
                                   char **ret, size_t *ret_bytes);

#endif
