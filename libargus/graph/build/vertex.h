/* Beginning, cutting and ending vertices: vertex.c. */
#ifndef ARGUS_GRAPH_VERTEX_H
#define ARGUS_GRAPH_VERTEX_H

#include "graph/build/actor.h"
#include "graph/build/builder.h"

struct thread_state;

/* Flag of a vertex during the build: its wait was ended by a timer that the thread itself armed for
 * it. */
#define VERTEX_SELF_TIMED 0x80000000u

/* A vertex keeps at most so many operations: enough to compare, and a bound for threads that never
 * wait. */
#define OPS_OF_A_VERTEX 1024u

static inline struct argus_vertex *slot_at(struct builder *builder, uint32_t slot)
{
    return &builder->graph->vertices.data[slot];
}

/* Takes a slot for the next vertex of `thread`, which begins now. False without memory. */
bool vertex_begin(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags);
/* Ends the vertex of `thread` without a wait. */
void vertex_end(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags);
/* Returns a slot to `thread`; references to the vertex then find another one by their time. */
void vertex_give_back(struct builder *builder, uint32_t thread, uint32_t slot);
/* From now on the current vertex keeps its cause, which becomes an edge. */
void vertex_settle(struct builder *builder, uint32_t thread);
/* `thread` begins what `cause` asked for. This begins another vertex, unless the current one has
 * just begun and has done nothing; then `cause` replaces its cause, because it says more than the
 * wake-up. */
void vertex_split(struct builder *builder, uint32_t thread, const struct cause *cause);
/* By the boundary `rule`, ends the vertex of `thread`, which is running, and begins the next one.
 * False without memory. */
bool vertex_cut(struct builder *builder, uint32_t thread, enum rule_id rule);
/* Adds an edge to this moment inside of the vertex of `thread`. */
void vertex_add_edge(struct builder *builder, uint32_t thread, const struct cause *cause);
/* Adds an operation to the vertex of `thread`. */
void vertex_op(struct builder *builder, uint32_t thread, uint32_t code);
void vertex_flush_ops(struct builder *builder, struct thread_state *state);

#endif
