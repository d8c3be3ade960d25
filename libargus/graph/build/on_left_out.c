/* Categories that the recorder leaves out for a while (--max-overhead).
 *
 * What was open in such records when they ceased (a system call, a queued callback, an armed timer)
 * may have ended unseen, and its address may stand for something else when they come back. So at
 * each mark everything of that kind is forgotten, as if the trace began. Switches and wake-ups are
 * never left out: running and waiting stay known.
 */
#include "graph/build/absence.h"
#include "graph/build/activity.h"
#include "graph/build/cpu_state.h"
#include "graph/build/cut_points.h"
#include "graph/build/finish.h"
#include "graph/build/handlers.h"
#include "graph/build/on_interrupt.h"
#include "graph/build/on_signal.h"
#include "graph/build/on_work.h"
#include "graph/rules/callback.h"

/* Ends the span in progress, and begins the next one. */
static void note_span(struct builder *builder, uint64_t categories)
{
    struct argus_graph *graph = builder->graph;
    size_t count = graph->left_out.length;
    struct argus_left_out *last = count ? &graph->left_out.data[count - 1] : NULL;
    const struct argus_left_out next = {builder->now_ns, UINT64_MAX, categories};
    if (last && last->to_ns == UINT64_MAX) {
        if (last->categories == categories)
            return;
        last->to_ns = builder->now_ns;
    }
    if (categories && !vec_push(&graph->left_out, next))
        builder->no_memory = true;
}

#define RENEW(builder, name)                                                                       \
    do {                                                                                           \
        struct name *fresh = name##_create();                                                      \
        if (fresh) {                                                                               \
            name##_destroy((builder)->name);                                                       \
            (builder)->name = fresh;                                                               \
        } else {                                                                                   \
            (builder)->no_memory = true;                                                           \
        }                                                                                          \
    } while (0)

/* Nothing else has an index into these, but for cpus and threads, which forget as well. Callbacks
 * that waited keep their place in `queue_order`, which flags use too. */
static void forget_pending(struct builder *builder)
{
    RENEW(builder, dispatches);
    RENEW(builder, requests);
    RENEW(builder, signals);
    RENEW(builder, timers);
    RENEW(builder, works);
}

static void forget_cpu(struct cpu_state *cpu)
{
    cpu_end_interrupts(cpu);
    cpu->completion = (struct completion){.issuer = {.thread = ARGUS_NONE, .slot = ARGUS_NONE}};
    cpu->itimer = ARGUS_NONE;
    cpu->fired = 0;
}

void graph_on_left_out(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    (void)cpu;
    note_span(builder, record->arg[0]);
    if (!(record->arg[1] & ~(uint64_t)ARGUS_LEFT_OUT_STACKS))
        return;
    pairing_lost(&builder->cut_points->pairing);
    absence_forget(builder);
    for (uint32_t i = 0; i < builder->threads.length; i++)
        thread_forget_calls(builder, i);
    for (size_t i = 0; i < builder->cpus.length; i++)
        forget_cpu(&builder->cpus.data[i]);
    forget_pending(builder);
}

void finish_left_out(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    size_t count = graph->left_out.length;
    if (count && graph->left_out.data[count - 1].to_ns == UINT64_MAX)
        graph->left_out.data[count - 1].to_ns = graph->end_ns;
}
