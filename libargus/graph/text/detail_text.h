/* The details of a wait, as text after what the thread waited for. */
#ifndef ARGUS_GRAPH_DETAIL_TEXT_H
#define ARGUS_GRAPH_DETAIL_TEXT_H

#include "argus/graph.h"
#include "base/text.h"
#include "graph/text/object_text.h"

/* Adds everything that is known about the wait of `vertex`, apart from the call. */
void detail_texts(const struct argus_graph *graph, const struct argus_vertex *vertex,
                  struct text *text);

/* Whether a thread that was frozen in the wait of `vertex` (ARGUS_DETAIL_FROZEN) probably was so
 * because the machine went to sleep: that freezes all threads, in the way of a control group. */
bool detail_is_of_sleep(const struct argus_graph *graph, const struct argus_vertex *vertex);

/* The thread with id `tid` that lived at `time_ns`, as an index; ARGUS_NONE: not known. */
uint32_t detail_thread(const struct argus_graph *graph, uint64_t tid, uint64_t time_ns);

#endif
