/* A trace of another format as an .argus file. */
#ifndef ARGUS_EVENT_IMPORT_H
#define ARGUS_EVENT_IMPORT_H

#include "argus/event.h"

/* Writes `trace` to `fd`, which is empty, seekable and open for reading and writing: its records as they are, in the order of
 * time for each cpu, and its tables. `numer`/`denom`: ns in a tick, where the user knows better than the file; 0: as the trace
 * says. */
struct argus_error *import_write(const struct argus_trace *trace, int fd, uint32_t numer,
                                 uint32_t denom, argus_progress progress, void *context);

#endif
