/* The inside of struct argus_contexts. */
#ifndef ARGUS_CONTEXT_CONTEXTS_DATA_H
#define ARGUS_CONTEXT_CONTEXTS_DATA_H

#include "context/moments.h"

struct argus_contexts {
    const struct argus_graph *graph; /* borrowed */
    struct paths paths;
    struct moments moments;
};

/* The last part of a path. */
const char *contexts_base_name(const char *path);

#endif
