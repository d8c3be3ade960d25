/* What is known of a cpu while the graph is built. */
#ifndef ARGUS_GRAPH_CPU_STATE_H
#define ARGUS_GRAPH_CPU_STATE_H

#include "graph/build/actor.h"
#include "graph/build/on_block.h"

/* Timers nest: a high-resolution one fires in an interrupt while one of the wheel runs in a softirq. */
#define MOST_FIRING 4
struct firing {
    uint64_t key;
    uint32_t timer; /* ARGUS_NONE: one that nobody was seen to arm */
};

/* Threads that one signal wakes: all of a process, when it is killed or continued; more are not looked at. */
#define MOST_WOKEN 16

struct cpu_state {
    uint32_t cpu;
    uint32_t thread; /* on it now; ARGUS_NONE: the idle thread, or not known */
    uint64_t tid;    /* of that thread, valid if `known` */
    bool known;
    uint32_t hard_depth; /* interrupts */
    uint64_t softirqs;   /* bit for each vector that runs */
    /* they were begun by the end of an interrupt, not by the thread's own code */
    bool from_interrupt;
    uint64_t position; /* records of this cpu so far, notes not counted */
    uint64_t left_at; /* position of the last end of an interrupt, or of a softirq that one began */
    struct firing firing[MOST_FIRING];
    uint32_t firing_depth;
    struct completion completion; /* the last one */
    bool completing;              /* it has just been, so that what it wakes may follow */
    uint64_t fired, fired_at;   /* the timer that fired last, and the position of the end of that */
    struct actor bh_queuer;     /* of the work that is done in a softirq; slot ARGUS_NONE: nobody */
    uint32_t itimer;            /* interval timer that has just fired, or ARGUS_NONE */
    uint32_t woken[MOST_WOKEN]; /* threads made runnable by the records just before */
    uint32_t woken_count;
    uint32_t last_new;   /* thread of the last new_thread record here, or ARGUS_NONE */
    uint32_t wakee;      /* thread of the make_runnable record just before, or ARGUS_NONE */
    uint32_t wake_stack; /* a waker's stack that came before its make_runnable, or ARGUS_NONE */
};

/* An interrupt, a softirq or a timer has the cpu, not the thread. */
static inline bool cpu_interrupted(const struct cpu_state *cpu)
{
    return cpu->hard_depth || cpu->softirqs || cpu->firing_depth;
}

/* The timer that fires on the cpu; ARGUS_NONE: none, or one that nobody was seen to arm. */
static inline uint32_t cpu_timer(const struct cpu_state *cpu)
{
    return cpu->firing_depth ? cpu->firing[cpu->firing_depth - 1].timer : ARGUS_NONE;
}

#endif
