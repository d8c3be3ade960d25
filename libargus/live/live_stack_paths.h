/* Paths of files in the memory to which a sleeping thread's stack refers. A function that tries to open or to lock a
 * file again and again has the file's path, while the file is closed between two tries. */
#ifndef ARGUS_LIVE_STACK_PATHS_H
#define ARGUS_LIVE_STACK_PATHS_H

#include "live/live_data.h"

enum { LIVE_PATHS = 64 };

struct live_paths {
    uint32_t texts[LIVE_PATHS]; /* absolute paths; IDs for strtab_get() */
    size_t count;
};

void live_stack_paths(struct argus_live *live, uint32_t thread, struct live_paths *ret);
bool live_paths_have(const struct argus_live *live, const struct live_paths *paths,
                     const char *path);

#endif
