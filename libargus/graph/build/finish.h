/* The steps after the last record: finish.c, edges.c. */
#ifndef ARGUS_GRAPH_FINISH_H
#define ARGUS_GRAPH_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/graph.h"

struct builder;

bool builder_close_all(struct builder *builder);
bool finish_vertices(struct builder *builder);
bool finish_edges(struct builder *builder, const uint32_t *new_id);
void finish_uses(struct builder *builder);
void finish_open_ends(struct builder *builder);     /* on_open_end.c */
void finish_shared_memory(struct builder *builder); /* on_shared_memory.c */
void finish_object_names(struct builder *builder);  /* on_object_name.c */
void finish_left_out(struct builder *builder);      /* on_left_out.c */
/* The vertex (final id) whose time, including its wait, contains `time_ns`, among those of the
 * thread of `vertex` (final id). */
uint32_t finish_vertex_for(const struct argus_graph *graph, uint32_t vertex, uint64_t time_ns);

#endif
