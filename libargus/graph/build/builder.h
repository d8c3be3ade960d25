/* Building the graph: one pass over the records, with a small state for each cpu and each thread.
 *
 * A thread's vertex is built in a *slot* of the graph's vertex array. While building, slots are in the order in which
 * they were taken; finish.c renumbers them by thread. Two rules take vertices back (rules/rewait.c, rules/yield.c): their
 * slots are used again by the same thread. So whatever refers to a vertex while building (an edge, a sample, an
 * armed timer) holds a slot *and* a time, and finish.c looks for the right vertex of that slot's thread when the time is
 * not inside. That makes taking back cheap, and nothing has to be patched.
 *
 * What woke a thread is kept with the thread (`cause`) and becomes an edge only when the vertex has ended its wait, so
 * that a polling loop of a million turns leaves no edges.
 */
#ifndef ARGUS_GRAPH_BUILDER_H
#define ARGUS_GRAPH_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"
#include "graph/graph_data.h"

struct cpu_state;
struct rule_binding;
struct thread_state;

/* What every feature needs: where the pass is, its threads and cpus, and the states of the features. */
struct builder {
    struct argus_graph *graph;
    struct rule_binding *binding; /* borrowed; of a user's rules */
    enum argus_os os;
    enum argus_arch arch;
    VEC(struct thread_state) threads; /* by thread index */
    VEC(struct cpu_state) cpus;
    struct idmap cpu_by_number;
#define FEATURE(name) struct name *name; /* owned, never NULL */
#include "graph/build/features.def"
#undef FEATURE
    uint64_t now_ns;
    uint64_t last_lost_ns;   /* when records were lost last, on any cpu; 0: never */
    argus_progress progress; /* NULL: none */
    void *progress_context;
    bool has_calls; /* a system call was on record */
    bool stopped;   /* sticky: by the user, after the last record */
    bool no_memory; /* sticky */
    bool full;      /* sticky: more than 2^32 - 2 of something */
};

/* `builder` has its graph, system and progress function already. False without memory; builder_deinit() also then. */
bool builder_init(struct builder *builder);
void builder_deinit(struct builder *builder);

/* States for all threads that the machine knows. False without memory. */
bool builder_add_threads(struct builder *builder);
/* The state of the thread with id `tid`, or ARGUS_NONE: the idle thread, no memory. */
uint32_t builder_thread(struct builder *builder, uint64_t tid);
/* The state of the cpu; made when it is the first time. NULL without memory. */
struct cpu_state *builder_cpu(struct builder *builder, uint32_t number);

/* Adds an edge, whose ends are slots: the one way for all but sequence edges (edges.c). False: without memory, or there are too
 * many; the builder remembers which. */
bool builder_add_edge(struct builder *builder, const struct argus_edge *edge);
static inline void builder_count(struct builder *builder, enum rule_id rule)
{
    builder->graph->rules[rule].count++;
}

/* The index in vector `v` of the element for `key`; a zeroed one is made when there is none. ARGUS_NONE without memory. */
#define builder_place(builder, v, ids, key)                                                        \
    builder_place_in(builder, ids, key, (void **)&(v)->data, &(v)->length, &(v)->capacity,         \
                     sizeof(*(v)->data))
uint32_t builder_place_in(struct builder *builder, struct idmap *ids, uint64_t key, void **data,
                          size_t *length, size_t *capacity, size_t element_bytes);

/* Tells how far it is. False: the user stops it, and whatever is being done returns false. */
bool builder_goes_on(struct builder *builder, double share);

#endif
