/* Opens files of processes that still run. Deleted files, and files in another mount namespace, can
 * be found only through /proc. */
#ifndef ARGUS_EVENT_LIVE_FILE_H
#define ARGUS_EVENT_LIVE_FILE_H

#include "argus/trace.h"

/* Opens for reading the file that is mapped where `image` tells, as long as its process has it
 * mapped there. -1: the process has ended, or (`*ret_denied`) this user may not inspect it. The
 * caller must compare build IDs. */
int live_file_open(const struct argus_image_entry *image, bool *ret_denied);

#endif
