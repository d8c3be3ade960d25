/* Threads whose lives end when other threads want it: workers of a server, threads of a language
 * runtime. Such a thread waits for as long as its process is needed. */
#ifndef ARGUS_CONTEXT_LED_LIVES_H
#define ARGUS_CONTEXT_LED_LIVES_H

#include "argus/graph.h"

/* Whether another thread ended the life of `thread`: by a signal, by ending its process, or, of a
 * worker, by what it waited for last. `by_trace`: the answer for a thread that lived when the trace
 * ended. It is true if the trace lasted for as long as what was recorded took, as for a server of
 * the recorded command; else both traces may have the same length. */
bool led_life_is(const struct argus_graph *graph, uint32_t thread, bool by_trace);

/* How long `thread` lived as its present program, within the trace, after `since_ns`. Without the
 * wait in which the trace ended: it has no length yet, so it is in no sum of waits. */
uint64_t led_life_ns(const struct argus_graph *graph, uint32_t thread, uint64_t since_ns);

#endif
