#include "context/contexts_data.h"

/* Replaces separators of the format, and characters that would break a line. */
static void write_name(const struct argus_sink *sink, const char *name)
{
    for (const char *at = name; *at; at++) {
        char c = *at;
        bool breaks = c == ';' || c == '\n' || (unsigned char)c < ' ';
        sink->write(sink->context, breaks ? "_" : at, 1);
    }
}

static void write_path(const struct argus_sink *sink, const struct argus_contexts_report *report,
                       uint32_t node)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    if (nodes[node].depth > 1) {
        write_path(sink, report, nodes[node].parent);
        argus_sink_printf(sink, ";");
    }
    write_name(sink, functions[nodes[node].function].name);
}

struct argus_error *argus_report_contexts_folded(const struct argus_sink *sink,
                                                 const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    for (size_t i = 1; i < count; i++) {
        uint64_t own_us = nodes[i].own_ns[report->options.estimate] / 1000;
        if (nodes[i].depth < INFERENCE_FIRST_DEPTH || !own_us)
            continue;
        write_path(sink, report, (uint32_t)i);
        argus_sink_printf(sink, " %llu\n", (unsigned long long)own_us);
    }
    return NULL;
}
