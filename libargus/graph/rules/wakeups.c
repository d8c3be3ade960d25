/* Finds the cause of a wake-up, by the table of rules (wake_rules.def). */
#include <string.h>

#include "graph/rules/wakeup.h"

static const struct wake_rule wake_rules[] = {
#define WAKE_RULE(match_, act_, rule_, weak_, kind_)                                               \
    {.match = (match_), .act = (act_), .rule = RULE_##rule_, .weak = (weak_), .kind = (kind_)},
#include "graph/rules/wake_rules.def"
#undef WAKE_RULE
};

/* Whether the kernel handles a device's interrupt in this thread. On a real-time kernel, all
 * interrupts are handled so, on others some (kernel/irq/manage.c, setup_irq_thread()). Its wake-ups
 * are the device's. */
static bool handles_interrupts(const struct builder *builder, uint32_t thread)
{
    return thread != ARGUS_NONE &&
           machine_is_kernel_thread(&builder->graph->machine, thread, "irq/");
}

static enum argus_context context_of(const struct builder *builder, const struct cpu_state *cpu,
                                     uint64_t recorded)
{
    enum argus_context context = cpu_context(cpu, recorded);
    bool by_thread = context == ARGUS_CONTEXT_TASK && handles_interrupts(builder, cpu->thread);
    return by_thread ? ARGUS_CONTEXT_HARDIRQ : context;
}

void act_waker(const struct wakeup *wakeup, struct cause *ret)
{
    const struct wake_rule *rule = wakeup->rule;
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
        wakeup.wake_flags = record->arg[2] & ARGUS_WAKE_SAID;
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
        wakeup.rule = rule;
        rule->act(&wakeup, ret);
        ret->edge.rule = (uint16_t)rule->rule;
        if (!ret->known)
            builder_count(builder, rule->rule);
        break;
    }
    ret->wake_flags = wakeup.wake_flags;
}
