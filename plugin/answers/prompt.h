/* Reads one line from the user, with libedit's editing, at a terminal that LLDB may be using
 * too. */
#ifndef ARGUS_PLUGIN_PROMPT_H
#define ARGUS_PLUGIN_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shows `text` and reads a line from `in` into `ret`, NUL-terminated and without its newline. Both
 * files are borrowed; `in` has to be a terminal. False at the end of input, or if `interrupted`,
 * which is called ten times a second, returns true. The terminal's settings are restored. */
bool prompt_read_line(FILE *in, FILE *out, const char *text, bool (*interrupted)(void *data),
                      void *data, char *ret, size_t ret_bytes);

#ifdef __cplusplus
}
#endif
#endif
