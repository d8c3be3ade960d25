/* Which processes an answer is about, if it is only about the recorded command. */
#ifndef ARGUS_CONTEXT_WRITE_SCOPE_H
#define ARGUS_CONTEXT_WRITE_SCOPE_H

#include "argus/contexts.h"
#include "report/json.h"

/* A line of text, or nothing. */
void scope_write(const struct argus_sink *sink, const struct argus_contexts *contexts);

/* An object; null: the answer is about all processes, or those that the user chose. */
json_t *scope_json(const struct argus_contexts *contexts);

#endif
