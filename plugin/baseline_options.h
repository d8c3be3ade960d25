/* --baseline and --context: where and how the baseline is searched. */
#ifndef ARGUS_PLUGIN_BASELINE_OPTIONS_H
#define ARGUS_PLUGIN_BASELINE_OPTIONS_H

#include "plugin/analysis.h"

#define BASELINE_OPTIONS                                                                           \
    {"baseline", 'b', "FILE", "look for the normal case in this trace"},                           \
    {                                                                                              \
        "context", 0, "K", "compare the K vertices before as well (0)"                             \
    }

struct baseline_options {
    uint32_t context;
    struct session_trace *other;     /* owned; NULL: the baseline is searched in the trace itself */
    const struct argus_graph *graph; /* of `other`; NULL without it */
    struct argus_symbols *other_symbols; /* of `other`; NULL without it */
};

/* Reads the options and loads the other trace. Call baseline_options_deinit() in any case. */
struct argus_error *baseline_options_get(const struct analysis *analysis,
                                         struct baseline_options *ret);
void baseline_options_deinit(struct baseline_options *options);

#endif
