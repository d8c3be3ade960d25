/* Who or what is behind a wake-up: the table of rules, in the order in which they are tried. */
#include "graph/rules/wakeup.h"

#include <string.h>

static const struct wake_rule wake_rules[] = {
    {match_watchpoint, act_watchpoint, RULE_CULL_WATCHPOINT, false, 0},
    {match_housekeeping, act_scheduler, RULE_CULL_HOUSEKEEPING, false, 0},
    {match_timer, act_timer, RULE_TIMER, false, ARGUS_EDGE_TIMER},
    {match_block, act_block, RULE_BLOCK, false, ARGUS_EDGE_BLOCK},
    {match_bh_work, act_bh_work, RULE_WORK_SOFTIRQ, false, ARGUS_EDGE_WORK},
    {match_timer_unowned, act_timer_unowned, RULE_CULL_TIMER, false, 0},
    {match_softirq_local, NULL, RULE_WAKE_SOFTIRQ_LOCAL, false, ARGUS_EDGE_WAKE},
    {match_scheduler, act_scheduler, RULE_CULL_SCHEDULER, false, 0},
    {match_device, act_device, RULE_CULL_DEVICE, false, 0},
    {match_signal, NULL, RULE_WAKE_SIGNAL, false, ARGUS_EDGE_SIGNAL},
    {match_cleared, NULL, RULE_WAKE_CLEAR_WAIT, true, ARGUS_EDGE_WAKE},
    {match_parked, NULL, RULE_WAKE_PARKED, true, ARGUS_EDGE_WAKE},
    {match_exit, NULL, RULE_WAKE_EXIT, false, ARGUS_EDGE_WAKE},
    {match_condition, NULL, RULE_WAKE_CONDITION, false, ARGUS_EDGE_WAKE},
    {match_unlock, NULL, RULE_WAKE_UNLOCK, true, ARGUS_EDGE_WAKE},
    {match_task, NULL, RULE_WAKE_TASK, false, ARGUS_EDGE_WAKE},
};

/* A thread in which the kernel runs the handler of a device's interrupt: each of them on a real-time kernel, some on others
 * (kernel/irq/manage.c, setup_irq_thread()). What it wakes, the device has woken. */
static bool handles_interrupts(const struct builder *builder, uint32_t thread)
{
    return thread != ARGUS_NONE &&
           machine_is_kernel_thread(&builder->graph->machine, thread, "irq/");
}

static enum argus_context context_of(const struct builder *builder, const struct cpu_state *cpu,
                                     uint64_t said)
{
    enum argus_context context = cpu_context(cpu, said);
    bool by_thread = context == ARGUS_CONTEXT_TASK && handles_interrupts(builder, cpu->thread);
    return by_thread ? ARGUS_CONTEXT_HARDIRQ : context;
}

static void edge_from_waker(const struct wakeup *wakeup, const struct wake_rule *rule,
                            struct cause *ret)
{
    struct builder *builder = wakeup->builder;
    struct thread_state *waker = thread_at(builder, wakeup->waker);
    waker->acted = true;
    ret->known = ret->by_waker = true;
    ret->edge = (struct argus_edge){
        .from_ns = builder->now_ns,
        .from = waker->slot,
        .kind = rule->kind,
        .strong = !rule->weak,
        .stack = wakeup->cpu->wake_stack,
    };
}

void rule_wakeup(struct builder *builder, const struct cpu_state *cpu,
                 const struct argus_record *record, uint32_t wakee, struct cause *ret)
{
    struct wakeup wakeup = {
        .builder = builder,
        .cpu = cpu,
        .waker = cpu->thread,
        .wakee = wakee,
        .context = context_of(builder, cpu, record->arg[3]),
    };
    if (builder->os == ARGUS_OS_DARWIN)
        wakeup.said = record->arg[2] & ARGUS_WAKE_SAID;
    bool has_vertex =
        cpu->thread != ARGUS_NONE && thread_at(builder, cpu->thread)->slot != ARGUS_NONE;
    if (!has_vertex)
        wakeup.waker = ARGUS_NONE;
    uint32_t number = has_vertex ? thread_at(builder, cpu->thread)->syscall : ARGUS_NO_SYSCALL;
    wakeup.call = syscall_row(builder->os, builder->arch, number);

    *ret = (struct cause){0};
    for (size_t i = 0; i < sizeof(wake_rules) / sizeof(*wake_rules); i++) {
        const struct wake_rule *rule = &wake_rules[i];
        if (!rule->match(&wakeup))
            continue;
        if (rule->act)
            rule->act(&wakeup, ret);
        else
            edge_from_waker(&wakeup, rule, ret);
        ret->edge.rule = (uint16_t)rule->rule;
        if (!ret->known)
            builder_count(builder, rule->rule);
        break;
    }
    ret->said = wakeup.said;
}
