/* The state of a cpu while the graph is built. */
#ifndef ARGUS_GRAPH_CPU_STATE_H
#define ARGUS_GRAPH_CPU_STATE_H

#include "graph/build/actor.h"
#include "graph/build/on_block.h"

/* Timers nest: a high-resolution timer fires in an interrupt while a timer-wheel timer runs in a
 * softirq. */
#define MOST_FIRING 4
struct firing {
    uint64_t key;
    uint32_t timer; /* ARGUS_NONE: the trace does not show which thread armed it */
};

/* Threads that one signal wakes: all threads of a process that is killed or continued. More are
 * ignored. */
#define MOST_WOKEN 16

struct cpu_state {
    uint32_t cpu;
    uint32_t thread; /* running on it; ARGUS_NONE: the idle thread, or not known */
    uint64_t tid;    /* of that thread, valid if `known` */
    bool known;
    uint32_t hard_depth; /* of interrupts */
    bool by_clock;       /* Darwin: the interrupt is one of a timer or of another cpu */
    uint64_t softirqs;   /* one bit for each vector that runs */
    /* the softirqs began at the end of an interrupt, not in the thread's own code */
    bool from_interrupt;
    uint64_t position; /* number of records of this cpu so far, without notes */
    /* position of the last end of an interrupt, or of a softirq that began in an interrupt */
    uint64_t left_at;
    struct firing firing[MOST_FIRING];
    uint32_t firing_depth;
    struct completion completion; /* the latest */
    bool completing; /* it has just happened, so the wake-ups that belong to it may follow */
    /* the timer that fired last, and the position of the record that ended it */
    uint64_t fired, fired_at;
    /* thread that queued the work that runs in a softirq; slot ARGUS_NONE: none */
    struct actor bh_queuer;
    uint32_t itimer;            /* interval timer that has just fired, or ARGUS_NONE */
    uint32_t woken[MOST_WOKEN]; /* threads that the records just before made runnable */
    uint32_t woken_count;
    uint32_t last_new; /* thread of the last new_thread record here, or ARGUS_NONE */
    uint32_t wakee;    /* thread of the make_runnable record just before, or ARGUS_NONE */
    /* stack of a waker that preceded its make_runnable record, or ARGUS_NONE */
    uint32_t wake_stack;
};

/* An interrupt, a softirq or a timer has the cpu, not the thread. */
static inline bool cpu_interrupted(const struct cpu_state *cpu)
{
    return cpu->hard_depth || cpu->softirqs || cpu->firing_depth;
}

/* No switch happens inside an interrupt, so interrupts that seem to run have ended unrecorded. */
static inline void cpu_end_interrupts(struct cpu_state *cpu)
{
    cpu->hard_depth = 0;
    cpu->softirqs = 0;
    cpu->firing_depth = 0;
    cpu->completing = false;
    cpu->bh_queuer = (struct actor){.thread = ARGUS_NONE, .slot = ARGUS_NONE};
}

/* The timer that fires on the cpu; ARGUS_NONE: none, or one whose arming is not in the trace. */
static inline uint32_t cpu_timer(const struct cpu_state *cpu)
{
    return cpu->firing_depth ? cpu->firing[cpu->firing_depth - 1].timer : ARGUS_NONE;
}

#endif
