/* The moments at which the stack of a thread is known, in time order, from the records of a
 * trace. */
#ifndef ARGUS_CONTEXT_MOMENTS_H
#define ARGUS_CONTEXT_MOMENTS_H

#include "context/context_waits.h"
#include "context/cut_stacks.h"
#include "context/inference.h"
#include "context/known_lives.h"
#include "context/sampled.h"
#include "context/stack_paths.h"

#define NOT_IN_A_CALL ARGUS_NONE

/* The state of a thread while the records are read. */
struct moment_thread {
    struct inference inference;
    struct sampled_stretch stretch;
    struct life life;
    VEC(struct waits_stretch) offs; /* times without a CPU since its last moment */
    uint64_t held_ns;
    uint64_t out_ns;   /* when it left its CPU; 0: unknown, or it is on one */
    uint64_t woken_ns; /* when it became runnable, after out_ns; 0: not yet */
    /* node of the stack with which it left the CPU at held_ns; ARGUS_NONE: it is on a CPU */
    uint32_t held;
    uint32_t held_user;        /* that stack's user functions */
    uint32_t call;             /* the current system call; ARGUS_NONE */
    uint32_t call_node;        /* node of its user stack with that call; ARGUS_NONE: unknown */
    struct waits_thread waits; /* for waits_note() */
    uint32_t state;            /* its state at the last switch: ARGUS_LINUX_STATE_… */
    uint32_t cpu;              /* the CPU that it is on; ARGUS_NONE: none, or unknown */
    uint32_t waker;            /* node of the thread that made it runnable; ARGUS_NONE: unknown */
    uint32_t wakee;            /* the thread that it last made runnable; ARGUS_NONE: none */
    /* a record of a system call was seen, so it is known when the thread is outside of any */
    bool seen_call;
    bool blocked; /* held because of a wait, not a preemption */
    bool has_moments;
    bool has_exited; /* the kernel still works for it, which is no part of its life */
};

struct moments {
    const struct argus_graph *graph; /* borrowed */
    struct argus_contexts_options options;
    struct paths *paths; /* borrowed */
    struct waits waits;
    struct cut_stacks cuts;
    struct sampled sampled;
    bool *chosen;   /* owned; by process */
    uint8_t *scope; /* owned; by process: enum scope_part; NULL: it does not limit `chosen` */
    struct moment_thread *threads; /* owned; by thread of the graph */
    uint32_t *next_life;           /* owned; by thread: the next thread with the same ID */
    struct idmap by_tid;           /* thread ID → its current life */
    VEC(uint8_t) wrappers;         /* by function: 0 unknown, 1 no, 2 a function of the C library */
    struct argus_context_counts counts;
    program_vec programs;
    uint64_t now_ns, from_ns, to_ns; /* the analyzed period is inclusive */
    uint64_t lost_ns;                /* records are missing until then; 0: none so far */
};

/* `options` is copied; its texts are borrowed. */
struct argus_error *moments_init(struct moments *moments, const struct argus_graph *graph,
                                 struct paths *paths, const struct argus_contexts_options *options);
void moments_deinit(struct moments *moments);

/* The thread with the ID `tid` at moments->now_ns, which must not decrease; ARGUS_NONE: none that
 * is analyzed. */
uint32_t moments_thread(struct moments *moments, uint64_t tid);

/* The part of a thread's life that is analyzed; empty: none. */
struct life_span moments_life(const struct moments *moments, uint32_t thread);

/* Reads all records, and ends all instances. */
struct argus_error *moments_read(struct moments *moments, argus_progress progress, void *context);

#endif
