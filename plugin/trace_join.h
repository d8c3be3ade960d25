/* Several traces of one time opened as one: --with FILE. */
#ifndef ARGUS_PLUGIN_TRACE_JOIN_H
#define ARGUS_PLUGIN_TRACE_JOIN_H

#include "argus/trace.h"
#include "plugin/command.h"

/* As argus_trace_open(), with what the files of `arguments`' options --with have put behind it, in a copy that nobody else sees. */
struct argus_error *trace_join_open(const char *path, const struct arguments *arguments,
                                    struct argus_trace **ret);

#endif
