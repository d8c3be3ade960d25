/* Finds an image that a table names as "ldd" does. */
#ifndef ARGUS_HOOKS_IMAGE_PATH_H
#define ARGUS_HOOKS_IMAGE_PATH_H

#include "argus/error.h"

/* `name` with a slash is the path itself; otherwise LD_LIBRARY_PATH and the system's folders are
 * searched. The caller frees `*ret`. */
struct argus_error *image_path_find(const char *name, char **ret);

#endif
