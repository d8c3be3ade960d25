/* Where an image is that a table names as "ldd" does. */
#ifndef ARGUS_HOOKS_IMAGE_PATH_H
#define ARGUS_HOOKS_IMAGE_PATH_H

#include "argus/error.h"

/* `name` with a slash is the path itself; else it is looked for in LD_LIBRARY_PATH and in the folders of the system.
 * `*ret` is for free(). */
struct argus_error *image_path_find(const char *name, char **ret);

#endif
