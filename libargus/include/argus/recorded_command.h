/* Which process is the command that `argus record` ran: a note in the trace. */
#ifndef ARGUS_RECORDED_COMMAND_H
#define ARGUS_RECORDED_COMMAND_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the note to the complete trace at `path`. */
struct argus_error *argus_recorded_command_append(const char *path, uint64_t pid);

/* The process ID; 0: the trace names none. */
uint64_t argus_recorded_command_pid(const struct argus_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
