/* Lines for flame graphs: a path, then the costs of its last function by --rank, in us. With a base
 * there are two, the base's first, as flamegraph.pl and difffolded.pl have them. */
#include "context/rank.h"

#include <stdlib.h>

/* Replaces separators of the format, and characters that would break a line. */
static void write_name(const struct argus_sink *sink, const char *name)
{
    for (const char *at = name; *at; at++) {
        char c = *at;
        bool breaks = c == ';' || c == '\n' || (unsigned char)c < ' ';
        sink->write(sink->context, breaks ? "_" : at, 1);
    }
}

static void write_path(const struct argus_sink *sink, const struct argus_contexts *contexts,
                       uint32_t node)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(contexts, &nodes);
    argus_contexts_functions(contexts, &functions);
    if (nodes[node].depth > 1) {
        write_path(sink, contexts, nodes[node].parent);
        argus_sink_printf(sink, ";");
    }
    write_name(sink, functions[nodes[node].function].name);
}

static void write_line(const struct argus_sink *sink, const struct argus_contexts_report *report,
                       uint32_t node)
{
    struct rank_pair pair = rank_pair_of(report, node);
    unsigned long long now_us = (unsigned long long)(pair.now_ns / 1000);
    unsigned long long base_us = (unsigned long long)(pair.base_ns / 1000);
    if (!now_us && !base_us)
        return;
    write_path(sink, report->contexts, node);
    if (report->base)
        argus_sink_printf(sink, " %llu", base_us);
    argus_sink_printf(sink, " %llu\n", now_us);
}

/* What only the base has. */
static struct argus_error *write_gone(const struct argus_sink *sink,
                                      const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->base, &nodes);
    bool *is_gone = rank_find_gone(report);
    if (!is_gone)
        return argus_error_memory();
    for (uint32_t i = 1; i < count; i++) {
        double ns = is_gone[i] ? rank_value(&nodes[i], &report->options) : 0;
        if (ns < 1000)
            continue;
        write_path(sink, report->base, i);
        argus_sink_printf(sink, " %llu 0\n", (unsigned long long)(ns / 1000));
    }
    free(is_gone);
    return NULL;
}

struct argus_error *argus_report_contexts_folded(const struct argus_sink *sink,
                                                 const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    for (uint32_t i = 1; i < count; i++)
        write_line(sink, report, i);
    return report->base ? write_gone(sink, report) : NULL;
}
