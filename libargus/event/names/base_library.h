/* Libraries of which nearly every program has one. */
#ifndef ARGUS_EVENT_BASE_LIBRARY_H
#define ARGUS_EVENT_BASE_LIBRARY_H

#include <stdbool.h>

/* Whether an image is a library that every program has, whose functions say little about the
 * program. True for NULL. */
bool is_base_library(const char *image);

#endif
