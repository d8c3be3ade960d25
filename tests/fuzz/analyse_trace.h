/* All that the commands make of a trace: the graph, messages, hangs, diagnoses, contexts, and every
 * writer of text, JSON and HTML. No trace may crash any of it. */
#ifndef ARGUS_TESTS_ANALYSE_TRACE_H
#define ARGUS_TESTS_ANALYSE_TRACE_H

#include "argus/trace.h"

/* `data`: the input that became the trace; it chooses what a fuzzer does (fuzz_does()). */
void analyse_trace(const struct argus_trace *trace, const uint8_t *data, size_t size);

#endif
