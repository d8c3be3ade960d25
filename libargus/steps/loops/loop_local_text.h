/* Names of what only the stack leads to. */
#ifndef ARGUS_STEPS_LOOP_LOCAL_TEXT_H
#define ARGUS_STEPS_LOOP_LOCAL_TEXT_H

#include "steps/loops/loop_flags.h"

/* "job->is_done", by the debug information of a local variable that has the object, or a pointer to
 * it. False: there is none. */
bool loop_local_member(struct elf_file *file, const struct loop_local *local,
                       const struct elf_reach *reach, struct elf_member *ret);

/* The readable name of the function that begins at `start`; the caller frees it. NULL: it has none,
 * or no memory. */
char *loop_function_name(struct elf_file *file, uint64_t start);

/* Without debug information: "object of main", "argument 1 of wait_for", "stack of main+0x10".
 * Links and elements are appended by the caller. */
void loop_local_text(const struct loop_flag *flag, char *buffer, size_t bytes);

#endif
