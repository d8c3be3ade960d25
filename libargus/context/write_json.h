#ifndef ARGUS_CONTEXT_WRITE_JSON_H
#define ARGUS_CONTEXT_WRITE_JSON_H

#include "argus/contexts.h"

/* The format is docs/schema/contexts.json. */
struct argus_error *contexts_write_json(const struct argus_sink *sink,
                                        const struct argus_contexts_report *report);

#endif
