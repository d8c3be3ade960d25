#include "plugin/baseline_options.h"

/* More vertices before the wait add no information, and each costs time. */
#define MAX_CONTEXT 64

static struct argus_error *load_other(const struct analysis *analysis, const char *path,
                                      struct baseline_options *ret)
{
    struct argus_error *error =
        session_trace_load(analysis->session, analysis->arguments, path, &ret->other);
    if (error)
        return argus_error_context(error, "--baseline");
    ret->graph = ret->other->graph;
    return session_trace_symbols(analysis->session, ret->other, &ret->other_symbols);
}

struct argus_error *baseline_options_get(const struct analysis *analysis,
                                         struct baseline_options *ret)
{
    const char *path = arguments_option(analysis->arguments, "baseline");
    uint64_t context = 0;
    *ret = (struct baseline_options){.context = 0};
    struct argus_error *error = arguments_number(analysis->arguments, "context", &context);
    if (!error && context > MAX_CONTEXT)
        error = argus_error_create(ARGUS_ERROR_USAGE, "--context is at most %u", MAX_CONTEXT);
    ret->context = (uint32_t)context;
    return error || !path ? error : load_other(analysis, path, ret);
}

void baseline_options_deinit(struct baseline_options *options)
{
    session_trace_destroy(options->other);
    *options = (struct baseline_options){.context = 0};
}
