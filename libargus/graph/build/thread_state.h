/* The state of a thread while the graph is built: what it does, and what each feature noted about
 * it.
 *
 * What a feature remembers of every thread is a struct in the feature's header and a member here,
 * so that everything about a thread is in one place in memory.
 */
#ifndef ARGUS_GRAPH_THREAD_STATE_H
#define ARGUS_GRAPH_THREAD_STATE_H

#include "event/pairing/pairing.h"
#include "graph/build/actor.h"
#include "graph/build/builder.h"
#include "graph/build/cut_points.h"
#include "graph/build/on_callback.h"
#include "graph/build/wait_details.h"

enum thread_activity {
    THREAD_UNSEEN,  /* no vertex yet */
    THREAD_RUNNING, /* on a cpu */
    THREAD_RUNNABLE,
    THREAD_WAITING,
    THREAD_LOST, /* records were lost: its activity since `since_ns` is not known */
    THREAD_GONE,
};

struct thread_state {
    /* start of the activity; while RUNNING, until when its run time is accounted */
    uint64_t since_ns;
    uint64_t early_ns; /* time of a wake-up that was recorded while it was still RUNNING; 0: none */
    struct cause cause, early;
    struct wait_details details; /* for the next wait */
    struct pairing_call call;    /* of the system call in progress, for its messages */
    uint64_t arg[4];             /* of the system call in progress */
    struct open_callbacks open;
    struct message_marks marks;
    VEC(struct argus_op) ops; /* of the vertex being built */
    uint32_t op_units;        /* number of operations in `ops`, repeated ones counted each time */
    uint32_t slot;            /* the vertex being built or waiting; ARGUS_NONE: none yet */
    uint32_t previous, older; /* slots of the ones before it, or ARGUS_NONE */
    uint32_t spare[2];        /* slots to reuse, or ARGUS_NONE */
    uint32_t own_timer; /* armed in the system call in progress: index of a timer, or ARGUS_NONE */
    uint32_t cpu;       /* index of the cpu state, while RUNNING */
    uint16_t syscall;   /* in progress, or ARGUS_NO_SYSCALL */
    struct {
        uint64_t arg[4];
        /* a call that a signal interrupted and that can be restarted; or ARGUS_NO_SYSCALL */
        uint16_t syscall;
        bool continues; /* the system call in progress continues that one */
    } restart;
    uint8_t activity;   /* enum thread_activity */
    bool syscall_known; /* `syscall` is valid; false until the first record that tells */
    bool op_open;       /* the system call in progress is not among the ops yet */
    bool wait_open;     /* the wait of `previous` was in a system call that has not returned */
    bool acted;         /* the vertex being built woke or created a thread */
    bool undo_early;    /* the vertex began through an early wake-up and has not run */
    bool exiting;
    bool by_device; /* a device ended its last wait, on Darwin also through kernel threads */
    bool trapped;   /* it got a SIGTRAP by its own action: rules/watchpoint.c */
    /* `word` is the owner field after the futex that it waits for, from the record `lock` */
    bool has_word;
    uint32_t word;
    bool may_message; /* the system call in progress may send or receive */
    uint32_t away;    /* 1 + index into absences; 0: none of its polls returned at once */
};

static inline struct thread_state *thread_at(struct builder *builder, uint32_t thread)
{
    return &builder->threads.data[thread];
}

/* The slot of the vertex whose wait is in progress or has just ended; ARGUS_NONE: none. */
static inline uint32_t waiting_slot(const struct thread_state *state)
{
    bool waiting = state->activity == THREAD_WAITING || state->activity == THREAD_LOST;
    return waiting ? state->slot : state->previous;
}

#endif
