/* Beginning, cutting and ending vertices: vertex.c. */
#ifndef ARGUS_GRAPH_VERTEX_H
#define ARGUS_GRAPH_VERTEX_H

#include "graph/build/actor.h"
#include "graph/build/builder.h"

struct thread_state;

/* Flag of a vertex while building: its wait was ended by a timer that the thread itself had armed for it. */
#define VERTEX_SELF_TIMED 0x80000000u

/* Of one vertex no more operations than this are kept: enough to compare, and a bound for threads that never wait. */
#define OPS_OF_A_VERTEX 1024u

static inline struct argus_vertex *slot_at(struct builder *builder, uint32_t slot)
{
    return &builder->graph->vertices.data[slot];
}

/* Takes a slot for the next vertex of `thread`, which begins now. False without memory. */
bool vertex_begin(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags);
/* Ends the vertex of `thread` without a wait. */
void vertex_end(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags);
/* Gives a slot back to `thread`; what referred to it finds its vertex by time. */
void vertex_give_back(struct builder *builder, uint32_t thread, uint32_t slot);
/* The current vertex has its cause as an edge from now on. */
void vertex_settle(struct builder *builder, uint32_t thread);
/* `thread` begins with something that `cause` asked for: another vertex, unless the present one has just begun and has
 * done nothing yet; then it is begun by `cause`, which says more than the wake-up. */
void vertex_split(struct builder *builder, uint32_t thread, const struct cause *cause);
/* Ends the vertex of `thread`, which runs, and begins the next one, by the boundary `rule`. False without memory. */
bool vertex_cut(struct builder *builder, uint32_t thread, enum rule_id rule);
/* An edge to a moment inside the vertex of `thread`, which is now. */
void vertex_add_edge(struct builder *builder, uint32_t thread, const struct cause *cause);
/* Adds an operation to the vertex of `thread`. */
void vertex_op(struct builder *builder, uint32_t thread, uint32_t code);
void vertex_flush_ops(struct builder *builder, struct thread_state *state);

#endif
