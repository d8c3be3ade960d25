/* Building the graph: one pass over the records, with a small state for each cpu and each thread.
 *
 * A thread's vertex is built in a *slot* of the graph's vertex array. While the graph is built,
 * slots are in the order in which they were taken; finish.c renumbers them by thread. Two rules
 * take vertices back (rules/rewait.c, rules/yield.c), and the same thread uses their slots again.
 * So everything that refers to a vertex during the build (an edge, a sample, an armed timer) holds
 * a slot *and* a time. If the time lies outside of the vertex in that slot, finish.c finds the
 * right vertex of the slot's thread. This makes taking vertices back cheap: no reference has to be
 * patched.
 *
 * The cause of a wake-up is kept with the woken thread (`cause`) and becomes an edge only when the
 * vertex has ended its wait, so that a polling loop of a million turns leaves no edges.
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

/* The state that all features share, and a pointer to the state of each feature. */
struct builder {
    struct argus_graph *graph;
    struct rule_binding *binding; /* the user's rules; borrowed */
    enum argus_os os;
    enum argus_arch arch;
    VEC(struct thread_state) threads; /* by thread index */
    VEC(struct cpu_state) cpus;
    struct idmap cpu_by_number;
#define FEATURE(name) struct name *name; /* owned, never NULL */
#include "graph/build/features.def"
#undef FEATURE
    uint64_t now_ns;
    uint64_t last_lost_ns;   /* when records were last lost, on any cpu; 0: never */
    argus_progress progress; /* NULL: none */
    void *progress_context;
    uint32_t left_out_marks;
    uint64_t left_out_visits; /* of threads and cpus, because of these marks */
    uint64_t forgotten;       /* categories of which nothing has come since they were forgotten */
    bool has_calls;           /* the trace has system calls */
    bool stopped;             /* sticky: the user stopped the build, or the last record was read */
    bool no_memory;           /* sticky */
    bool full;                /* sticky: more than 2^32 - 2 of something */
};

/* `builder` already has its graph, system and progress function. False without memory; call
 * builder_deinit() in that case too. */
bool builder_init(struct builder *builder);
void builder_deinit(struct builder *builder);

/* Creates states for all threads of the machine. False without memory. */
bool builder_add_threads(struct builder *builder);
/* The state of the thread with id `tid`; ARGUS_NONE for the idle thread and without memory. */
uint32_t builder_thread(struct builder *builder, uint64_t tid);
/* The state of the cpu; created at the first call. NULL without memory. */
struct cpu_state *builder_cpu(struct builder *builder, uint32_t number);

/* Adds an edge whose ends are slots. All edges but sequence edges (edges.c) are added here. False
 * without memory or if there are too many; the builder remembers which of the two. */
bool builder_add_edge(struct builder *builder, const struct argus_edge *edge);
static inline void builder_count(struct builder *builder, enum rule_id rule)
{
    builder->graph->rules[rule].count++;
}

/* The index in vector `v` of the element for `key`; a zeroed one is made when there is none.
 * ARGUS_NONE without memory. */
#define builder_place(builder, v, ids, key)                                                        \
    builder_place_in(builder, ids, key, (void **)&(v)->data, &(v)->length, &(v)->capacity,         \
                     sizeof(*(v)->data))
uint32_t builder_place_in(struct builder *builder, struct idmap *ids, uint64_t key, void **data,
                          size_t *length, size_t *capacity, size_t element_bytes);

/* Reports progress. False: the user stops the build, so the caller has to return false as well. */
bool builder_report_progress(struct builder *builder, double share);

#endif
