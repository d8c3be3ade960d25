/* Property lists in files of Darwin's own tracing: which files were loaded where, and which machine
 * it was. */
#ifndef ARGUS_PROPERTY_LISTS_H
#define ARGUS_PROPERTY_LISTS_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the property lists of `trace` and adds their images, paths and a note about the machine. An
 * unreadable list is noted. Must be called by the trace's owner before other threads read it.
 * Errors: MEMORY. */
struct argus_error *argus_property_lists_read(struct argus_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
