/* The folder that `argus start --on-hang` keeps its snapshots in. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_FOLDER_H
#define ARGUS_PLUGIN_COMMANDS_HANG_FOLDER_H

#include <stdbool.h>

#include "argus/error.h"

/* Opens the folder `path` to write files into, and creates it, and those above it, where they do not exist (mode 0700).
 * Under sudo it is created and checked with the rights of the user who called sudo. `*ret_fd` is the caller's. */
struct argus_error *hang_folder_open(const char *path, int *ret_fd);

/* Takes the rights of the user who called sudo, for good; nothing to do without sudo. False: it failed. */
bool hang_folder_become_invoker(void);

#endif
