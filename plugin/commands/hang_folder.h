/* The folder in which `argus start --on-hang` keeps its snapshots. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_FOLDER_H
#define ARGUS_PLUGIN_COMMANDS_HANG_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "argus/error.h"

/* Opens the folder `path` for writing files. Creates it and missing parents (mode 0700). Under
 * sudo, it is created and checked with the rights of the user who called sudo. The caller owns
 * `*ret_fd`. */
struct argus_error *hang_folder_open(const char *path, int *ret_fd);

/* The absolute path of an open folder. */
struct argus_error *hang_folder_path(int fd, char *ret, size_t room);

/* Marks the open file as unfinished, until hang_folder_set_finished() or until all processes that
 * inherited `fd` have ended. Does nothing on file systems without locks. */
void hang_folder_set_unfinished(int fd);
void hang_folder_set_finished(int fd);
/* Whether a process is still writing or finishing the file. */
bool hang_folder_is_unfinished(const char *path);

/* Permanently takes the rights and the home folder of the user who called sudo; does nothing
 * without sudo. False: it failed. */
bool hang_folder_become_invoker(void);

#endif
