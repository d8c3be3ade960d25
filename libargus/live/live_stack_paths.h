/* Paths of files in the memory to which the stack of a sleeping thread or goroutine refers. A
 * function that tries to open or to lock a file again and again has the file's path, while the file
 * is closed between two tries.
 *
 * Only pages that are in memory are read. A page that is not could have to come from a file system
 * that does not answer, or from another process (userfaultfd): argus would wait with the program.
 */
#ifndef ARGUS_LIVE_STACK_PATHS_H
#define ARGUS_LIVE_STACK_PATHS_H

#include "live/live_data.h"

enum { LIVE_PATHS = 64 };

struct live_paths {
    uint32_t texts[LIVE_PATHS]; /* absolute paths; IDs for strtab_get() */
    size_t count;
};

/* `sp`: the innermost address of the stack; 0: unknown, and there are no paths. */
void live_stack_paths(struct argus_live *live, uint32_t pid, uint64_t sp, struct live_paths *ret);

#endif
