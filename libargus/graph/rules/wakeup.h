/* A wake-up as the rules see it. */
#ifndef ARGUS_GRAPH_RULES_WAKEUP_H
#define ARGUS_GRAPH_RULES_WAKEUP_H

#include "event/syscalls.h"
#include "graph/build/builder.h"
#include "graph/build/cpu_state.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

struct wakeup {
    struct builder *builder;
    const struct cpu_state *cpu;
    uint32_t waker; /* the thread on the cpu; ARGUS_NONE: idle or unknown */
    uint32_t wakee;
    const struct syscall_row *call; /* the waker's system call; never NULL */
    /* never UNKNOWN: in that case it is derived from the cpu's records */
    enum argus_context context;
    uint8_t wake_flags;           /* as in struct cause */
    const struct wake_rule *rule; /* for `act`: the matching row */
};

/* A row of wake_rules.def. */
struct wake_rule {
    bool (*match)(const struct wakeup *wakeup);
    void (*act)(const struct wakeup *wakeup, struct cause *ret);
    enum rule_id rule;
    bool weak;
    uint8_t kind; /* enum argus_edge_kind */
};

/* rules/wakeups.c: finds the cause of a make_runnable record, by the table of rules. */
void rule_wakeup(struct builder *builder, const struct cpu_state *cpu,
                 const struct argus_record *record, uint32_t wakee, struct cause *ret);
#define WAKE_RULE(match, act, rule, weak, kind)                                                    \
    bool match(const struct wakeup *wakeup);                                                       \
    void act(const struct wakeup *wakeup, struct cause *ret);
#include "graph/rules/wake_rules.def"
#undef WAKE_RULE

/* rules/wake_stacks.c: applies what call stacks say, after the last record. False without
 * memory. */
bool rule_wake_stacks(struct builder *builder);
/* rules/later.c: weakens wake-ups whose message was received by a later piece of a split vertex. */
void rule_wake_later(struct argus_graph *graph);
/* rules/softirq.c: drops a network softirq's wake-up from the edges into `vertex` (final id) if a
 * message shows that another thread caused it. Returns how many edges are left. */
size_t rule_softirq_mend(struct builder *builder, uint32_t vertex, struct argus_edge *edges,
                         size_t count);

/* Linux's softirq vectors (include/linux/interrupt.h), as bits of cpu_state.softirqs. */
enum {
    SOFTIRQ_TIMER = 1 << 1,
    SOFTIRQ_NET_RX = 1 << 3,
    SOFTIRQ_SCHED = 1 << 7,
    SOFTIRQ_HRTIMER = 1 << 8,
    SOFTIRQ_RCU = 1 << 9,
};

#endif
