/* Writes a trace of another format as an .argus file. */
#ifndef ARGUS_EVENT_IMPORT_H
#define ARGUS_EVENT_IMPORT_H

#include "argus/event.h"

/* Writes `trace` to `fd`, which is empty, seekable and open for reading and writing: its tables,
 * and its records unchanged, in time order for each CPU. `numer`/`denom`: length of a tick in ns,
 * given by the user in place of the file's; 0: the file's. */
struct argus_error *import_write(const struct argus_trace *trace, int fd, uint32_t numer,
                                 uint32_t denom, argus_progress progress, void *context);

#endif
