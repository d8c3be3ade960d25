/* Adds a note to a trace that is complete. */
#ifndef ARGUS_TRACE_APPEND_NOTE_H
#define ARGUS_TRACE_APPEND_NOTE_H

#include "argus/error.h"

struct argus_error *trace_append_note(const char *path, const char *text);

#endif
