/* Files of processes that still live: deleted ones, and ones in another mount namespace, are found through /proc only. */
#ifndef ARGUS_EVENT_LIVE_FILE_H
#define ARGUS_EVENT_LIVE_FILE_H

#include "argus/trace.h"

/* Opens for reading the file that is mapped where `image` says, as long as its process has it mapped there. -1: the process is
 * gone, or (`*ret_denied`) this user may not look into it. The caller compares build ids. */
int live_file_open(const struct argus_image_entry *image, bool *ret_denied);

#endif
