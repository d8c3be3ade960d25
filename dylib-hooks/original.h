/* The original of a replaced library: kept in the same folder under another name. */
#ifndef ARGUS_HOOKS_ORIGINAL_H
#define ARGUS_HOOKS_ORIGINAL_H

#include "image.h"

struct original {
    char *name;      /* its path */
    char **versions; /* of its symbols, NULL-terminated; NULL: it has none */
};

/* Sets up `folder` with the image as FOLDER/NAME.original. */
struct argus_error *original_keep(const struct image *image, const char *folder,
                                  struct original *ret);
void original_deinit(struct original *original);

#endif
