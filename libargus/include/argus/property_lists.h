/* Property lists in files of Darwin's own tracing: which files were loaded where, and on which machine it was. */
#ifndef ARGUS_PROPERTY_LISTS_H
#define ARGUS_PROPERTY_LISTS_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads those of `trace`, and adds what they say: images, paths, a note about the machine. One that cannot be read is noted. By the
 * trace's owner, before others read it. MEMORY. */
struct argus_error *argus_property_lists_read(struct argus_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
