/* Finds files of which two traces have different builds. */
#ifndef ARGUS_CONTEXT_BUILDS_H
#define ARGUS_CONTEXT_BUILDS_H

#include "argus/contexts.h"

/* Finds the files with functions in `contexts` of which the base has another build. Writes up to
 * `room` paths to `ret`, borrowed, and returns the total number. A file without a build ID does not
 * count as different. */
size_t builds_that_differ(const struct argus_contexts *contexts, const struct argus_contexts *base,
                          const char **ret, size_t room);

#endif
