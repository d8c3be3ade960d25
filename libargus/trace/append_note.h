/* Adds notes to a trace that is complete. */
#ifndef ARGUS_TRACE_APPEND_NOTE_H
#define ARGUS_TRACE_APPEND_NOTE_H

#include <stddef.h>

#include "argus/error.h"

struct argus_error *trace_append_note(const char *path, const char *text);
struct argus_error *trace_append_notes(const char *path, char *const *texts, size_t count);

#endif
