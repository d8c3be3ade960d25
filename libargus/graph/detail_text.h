/* The details of a wait, as text behind what it waited on. */
#ifndef ARGUS_GRAPH_DETAIL_TEXT_H
#define ARGUS_GRAPH_DETAIL_TEXT_H

#include "argus/graph.h"
#include "graph/object_text.h"

/* Text that grows in a buffer, and is cut off at its end. */
struct text {
    char *buffer; /* borrowed */
    size_t bytes, length;
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

/* Adds everything that is known about the wait of `vertex` beyond the call. */
void detail_texts(const struct argus_graph *graph, const struct argus_vertex *vertex,
                  struct text *text);

#endif
