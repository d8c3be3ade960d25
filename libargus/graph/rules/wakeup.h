/* A wake-up as the rules see it. */
#ifndef ARGUS_GRAPH_RULES_WAKEUP_H
#define ARGUS_GRAPH_RULES_WAKEUP_H

#include "graph/build/builder.h"

struct wakeup {
    struct builder *builder;
    const struct cpu_state *cpu;
    uint32_t waker; /* the thread on the cpu, or ARGUS_NONE: idle or unknown */
    uint32_t wakee;
    const struct syscall_row *call; /* of the waker, never NULL */
    enum argus_context context;     /* never UNKNOWN: then what the cpu's records say */
    uint8_t said;                   /* as in struct cause */
};

/* One rule: whether it applies, and what it does. The first row that applies decides. */
struct wake_rule {
    bool (*match)(const struct wakeup *wakeup);
    void (*act)(const struct wakeup *wakeup, struct cause *ret); /* NULL: an edge from the waker */
    enum rule_id rule;
    bool weak;
    uint8_t kind; /* enum argus_edge_kind */
};

/* rules/timer.c */
bool match_timer(const struct wakeup *wakeup);
void act_timer(const struct wakeup *wakeup, struct cause *ret);
/* rules/block.c */
bool match_block(const struct wakeup *wakeup);
void act_block(const struct wakeup *wakeup, struct cause *ret);
/* rules/work.c */
bool match_bh_work(const struct wakeup *wakeup);
void act_bh_work(const struct wakeup *wakeup, struct cause *ret);
/* rules/wake.c */
bool match_softirq_local(const struct wakeup *wakeup);
bool match_signal(const struct wakeup *wakeup);
bool match_unlock(const struct wakeup *wakeup);
/* rules/condition.c */
bool match_condition(const struct wakeup *wakeup);
/* rules/wake.c */
bool match_exit(const struct wakeup *wakeup);
bool match_parked(const struct wakeup *wakeup);
bool match_task(const struct wakeup *wakeup);
bool match_cleared(const struct wakeup *wakeup);
/* rules/wake_stacks.c: what call stacks say about wake-ups, after the last record. False without memory. */
bool rule_wake_stacks(struct builder *builder);
/* rules/watchpoint.c */
bool match_watchpoint(const struct wakeup *wakeup);
void act_watchpoint(const struct wakeup *wakeup, struct cause *ret);
/* rules/later.c: weakens wake-ups whose message a later piece of a split vertex received. */
void rule_wake_later(struct argus_graph *graph);
/* rules/softirq.c: takes a wake-up out of a network softirq from among the edges into `vertex` (final id) when a message says
 * that it was another's. Returns how many are left. */
size_t rule_softirq_mend(struct builder *builder, uint32_t vertex, struct argus_edge *edges,
                         size_t count);
/* rules/cull.c */
bool match_timer_unowned(const struct wakeup *wakeup);
void act_timer_unowned(const struct wakeup *wakeup, struct cause *ret);
bool match_scheduler(const struct wakeup *wakeup);
void act_scheduler(const struct wakeup *wakeup, struct cause *ret);
bool match_housekeeping(const struct wakeup *wakeup);
bool match_device(const struct wakeup *wakeup);
void act_device(const struct wakeup *wakeup, struct cause *ret);

/* Linux's softirq vectors (include/linux/interrupt.h), as bits of cpu_state.softirqs. */
enum {
    SOFTIRQ_TIMER = 1 << 1,
    SOFTIRQ_NET_RX = 1 << 3,
    SOFTIRQ_SCHED = 1 << 7,
    SOFTIRQ_HRTIMER = 1 << 8,
    SOFTIRQ_RCU = 1 << 9,
};

#endif
