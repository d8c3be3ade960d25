/* One line from the user, with libedit's editing, at a terminal that may be LLDB's. */
#ifndef ARGUS_PLUGIN_PROMPT_H
#define ARGUS_PLUGIN_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shows `text` and reads a line from `in` into `ret`, NUL-terminated, without its newline. Both files are borrowed,
 * and `in` has to be a terminal. False at end of input, or when `interrupted` says so: it is asked ten
 * times a second. The terminal's settings are put back. */
bool prompt_read_line(FILE *in, FILE *out, const char *text, bool (*interrupted)(void *data),
                      void *data, char *ret, size_t ret_bytes);

#ifdef __cplusplus
}
#endif
#endif
