/* The moments at which the stack of a thread is known, in time order, out of the records of a trace. */
#ifndef ARGUS_CONTEXT_MOMENTS_H
#define ARGUS_CONTEXT_MOMENTS_H

#include "context/context_waits.h"
#include "context/cut_stacks.h"
#include "context/inference.h"
#include "context/sampled.h"
#include "context/stack_paths.h"

#define NOT_IN_A_CALL ARGUS_NONE

/* A thread on its way through the records. */
struct moment_thread {
    struct inference inference;
    struct sampled_stretch stretch;
    uint64_t held_ns;
    uint64_t woken_ns; /* made runnable then, since held_ns; 0: not yet */
    uint32_t
        held; /* node of the stack with which it left the cpu at held_ns; ARGUS_NONE: it is on one */
    uint32_t held_user; /* the user functions of it */
    uint32_t call;      /* the system call that it is in; ARGUS_NONE */
    uint32_t call_node; /* of its user stack and that call; ARGUS_NONE: not known */
    uint32_t cursor;    /* of waits_note() */
    uint32_t state;     /* that it was last left in by a switch: ARGUS_LINUX_STATE_… */
    uint32_t cpu;       /* that it is on; ARGUS_NONE: none, as far as is known */
    bool seen_call; /* a record of a system call was seen: outside of one is known to be outside */
    bool blocked;   /* held: by a wait, not preempted */
    bool has_moments;
};

struct moments {
    const struct argus_graph *graph; /* borrowed */
    struct argus_contexts_options options;
    struct paths *paths; /* borrowed */
    struct waits waits;
    struct cut_stacks cuts;
    struct sampled sampled;
    bool *chosen;                  /* owned; by process */
    struct moment_thread *threads; /* owned; by thread of the graph */
    uint32_t *next_life;           /* owned; by thread: the next with the same id */
    struct idmap by_tid;           /* id → the life that it names now */
    VEC(uint8_t) wrappers;         /* by function: 0 not looked at, 1 no, 2 of the C library */
    struct argus_context_counts counts;
    uint64_t now_ns, from_ns, to_ns; /* what is looked at: inclusive */
    uint64_t lost_ns;                /* until then records are missing; 0: none so far */
};

/* `options` is copied, its texts are borrowed. */
struct argus_error *moments_init(struct moments *moments, const struct argus_graph *graph,
                                 struct paths *paths, const struct argus_contexts_options *options);
void moments_deinit(struct moments *moments);

/* The thread that `tid` names at moments->now_ns, which does not go back; ARGUS_NONE: none that is looked at. */
uint32_t moments_thread(struct moments *moments, uint64_t tid);

/* Reads all records, and ends all instances. */
struct argus_error *moments_read(struct moments *moments, argus_progress progress, void *context);

#endif
