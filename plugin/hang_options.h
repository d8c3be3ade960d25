/* --process, --pid, --tid and --threshold: which hangs are meant. */
#ifndef ARGUS_PLUGIN_HANG_OPTIONS_H
#define ARGUS_PLUGIN_HANG_OPTIONS_H

#include "plugin/analysis.h"

#define HANG_OPTIONS                                                                               \
    {"process", 'p', "NAME", "only the process of this name, as the kernel has it"},               \
        {"pid", 0, "PID", "only this process"}, {"tid", 0, "TID", "only this thread"},             \
    {                                                                                              \
        "threshold", 't', "DURATION", "what counts as a hang (2s)"                                 \
    }

/* Reads the options; a process name that the trace does not have is an error. */
struct argus_error *hang_options_get(const struct analysis *analysis,
                                     struct argus_hang_options *ret);

#endif
