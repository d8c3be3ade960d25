/* Opens several traces of the same time as one: --with FILE. */
#ifndef ARGUS_PLUGIN_TRACE_JOIN_H
#define ARGUS_PLUGIN_TRACE_JOIN_H

#include "argus/trace.h"
#include "plugin/command.h"

/* Like argus_trace_open(), with the files of the options --with appended, in a private copy of the
 * trace. */
struct argus_error *trace_join_open(const char *path, const struct arguments *arguments,
                                    struct argus_trace **ret);

#endif
