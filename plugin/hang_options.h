/* --process, --pid, --tid, --thread, --time and --threshold: which hangs are wanted. */
#ifndef ARGUS_PLUGIN_HANG_OPTIONS_H
#define ARGUS_PLUGIN_HANG_OPTIONS_H

#include "plugin/analysis.h"

#define HANG_OPTIONS                                                                               \
    {"process", 'p', "NAME|PID", "only the process of this name, as the kernel has it"},           \
        {"pid", 0, "PID", "only this process"}, {"tid", 0, "TID", "only this thread"},             \
        {"thread", 0, "TID|NAME", "only this thread, or threads of this name"},                    \
        {"time", 0, "TIME", "only at this time: 14:32:10.5 (local) or +3s"},                       \
    {                                                                                              \
        "threshold", 't', "DURATION", "count as a hang what lasts DURATION or longer (2s)"         \
    }

/* Reads the options. A process or thread that is not in the trace is an error. The names are
 * borrowed from the arguments, the symbols from `analysis`. */
struct argus_error *hang_options_get(const struct analysis *analysis,
                                     struct argus_hang_options *ret);

/* Reads --process, a name or an ID, which must be in the trace. */
struct argus_error *hang_options_process(const struct analysis *analysis,
                                         struct argus_hang_options *ret);

/* Of `at_least_one`, the longest stretch of a thread stays only if it is a long one. */
void hang_options_drop_short(const struct argus_hang_options *options, struct argus_hangs *hangs);

/* Whether an option other than --threshold was given. */
bool hang_options_name(const struct argus_hang_options *options);

#endif
