/* --baseline and --context: where and how the normal case is looked for. */
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
    struct session_trace *other;         /* owned; NULL: the trace itself */
    const struct argus_graph *graph;     /* of `other`; NULL */
    struct argus_symbols *other_symbols; /* of `other`; NULL */
};

/* Reads the options and loads the other trace. `ret` may be given to baseline_options_deinit() in any case. */
struct argus_error *baseline_options_get(const struct analysis *analysis,
                                         struct baseline_options *ret);
void baseline_options_deinit(struct baseline_options *options);

#endif
