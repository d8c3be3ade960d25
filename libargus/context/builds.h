/* Files that two traces have in different builds. */
#ifndef ARGUS_CONTEXT_BUILDS_H
#define ARGUS_CONTEXT_BUILDS_H

#include "argus/contexts.h"

/* The files of functions of `contexts` of whose name the base has another build: up to `room` paths into `ret`, borrowed. Returns how
 * many there are. Files without a build id are not known to differ. */
size_t builds_that_differ(const struct argus_contexts *contexts, const struct argus_contexts *base,
                          const char **ret, size_t room);

#endif
