/* The processes that the time of a recorded command went to: the command's own, and others that it
 * waited for. */
#ifndef ARGUS_CONTEXT_COMMAND_SCOPE_H
#define ARGUS_CONTEXT_COMMAND_SCOPE_H

#include "argus/contexts.h"

/* Why a process is of interest. */
enum scope_part {
    SCOPE_NONE,
    SCOPE_COMMAND, /* the command, and what it started */
    SCOPE_SERVER,  /* a process that these waited for */
    SCOPE_STORY,   /* another process that the caller tells of (argus_contexts_options.story) */
};

/* By process of `graph`, to be freed: enum scope_part. NULL without an error: the trace does not
 * say which command was recorded. `other` (may be NULL) is the graph of the trace to compare with:
 * what is a server there, by its name, is one here. */
struct argus_error *command_scope_create(const struct argus_graph *graph,
                                         const struct argus_graph *other, uint8_t **ret);

#endif
