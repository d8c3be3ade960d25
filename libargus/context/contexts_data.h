/* The internals of struct argus_contexts. */
#ifndef ARGUS_CONTEXT_CONTEXTS_DATA_H
#define ARGUS_CONTEXT_CONTEXTS_DATA_H

#include "context/moments.h"
#include "context/times.h"

struct argus_contexts {
    const struct argus_graph *graph; /* borrowed */
    struct paths paths;
    struct moments moments;
};

/* Writes lines about what the contexts are inferred from, what is missing, and what they are
 * compared with. */
void contexts_write_what(const struct argus_sink *sink, const struct argus_contexts_report *report);

/* Counts the 32-bit programs among the chosen processes. */
struct programs_32_bit;
void contexts_touch(const struct argus_contexts *contexts, struct programs_32_bit *ret);

/* The last part of a path. */
const char *contexts_base_name(const char *path);

#endif
