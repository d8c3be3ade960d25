/* The original of a library that takes its place: kept beside it under another name. */
#ifndef ARGUS_HOOKS_ORIGINAL_H
#define ARGUS_HOOKS_ORIGINAL_H

#include "image.h"

struct original {
    char *name;      /* its path */
    char **versions; /* of its symbols, NULL-terminated; NULL: it has none */
};

/* Makes `folder` a place where FOLDER/NAME.original is the image. */
struct argus_error *original_keep(const struct image *image, const char *folder,
                                  struct original *ret);
void original_deinit(struct original *original);

#endif
