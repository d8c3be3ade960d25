/* The inside of struct argus_contexts. */
#ifndef ARGUS_CONTEXT_CONTEXTS_DATA_H
#define ARGUS_CONTEXT_CONTEXTS_DATA_H

#include "context/moments.h"

struct argus_contexts {
    const struct argus_graph *graph; /* borrowed */
    struct paths paths;
    struct moments moments;
};

/* What the contexts are inferred from, what is missing, and what they are compared with: lines. */
void contexts_write_what(const struct argus_sink *sink, const struct argus_contexts_report *report);

/* The last part of a path. */
const char *contexts_base_name(const char *path);

#endif
