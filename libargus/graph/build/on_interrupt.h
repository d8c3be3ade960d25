/* Timers, which on_interrupt.c maintains. */
#ifndef ARGUS_GRAPH_ON_INTERRUPT_H
#define ARGUS_GRAPH_ON_INTERRUPT_H

#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"

struct timer_state {
    uint64_t armed_ns;
    uint64_t expiry_ns; /* in ns of the timer's clock */
    uint32_t owner;     /* thread that armed it, or ARGUS_NONE */
    uint32_t slot;      /* vertex of the owner when it armed the timer */
};

/* The state of this feature. */
struct timers {
    VEC(struct timer_state) all;
    struct idmap by_key;
};
struct timers *timers_create(void);
void timers_destroy(struct timers *timers);

#endif
