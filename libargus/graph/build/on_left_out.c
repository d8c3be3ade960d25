/* Categories that the recorder leaves out for a while (--max-overhead).
 *
 * What was open in such records when they ceased (a system call, a queued callback, an armed timer)
 * may have ended unseen, and its address may stand for something else when they come back. So at
 * each mark everything of the changed categories is forgotten, as if the trace began. Switches and
 * wake-ups are never left out: running and waiting stay known.
 *
 * Forgetting visits all threads and cpus, so a file must not ask for it too often: a mark directly
 * after another one does not repeat its work, and after many marks or visits the rest of the trace
 * counts as left out.
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
#include "graph/build/thread_state.h"
#include "graph/rules/callback.h"

/* A recorder makes so many in hours at the least, since what goes out stays out for a while. */
#define MOST_MARKS  8192u
#define MOST_VISITS (1ull << 26) /* about three seconds */
#define EVERYTHING  UINT32_MAX

/* Ends the span in progress, and begins the next one. */
static void note_span(struct builder *builder, uint64_t from_ns, uint64_t categories)
{
    struct argus_graph *graph = builder->graph;
    size_t count = graph->left_out.length;
    struct argus_left_out *last = count ? &graph->left_out.data[count - 1] : NULL;
    const struct argus_left_out next = {from_ns, UINT64_MAX, categories};
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
static void forget_pending(struct builder *builder, uint64_t changed)
{
    if (changed & ARGUS_LEFT_OUT_CALLS) {
        pairing_lost(&builder->cut_points->pairing);
        absence_forget(builder);
        RENEW(builder, dispatches);
    }
    if (changed & ARGUS_LEFT_OUT_TIMERS) {
        RENEW(builder, timers);
        signals_forget_itimers(builder->signals);
    }
    if (changed & ARGUS_LEFT_OUT_WORK)
        RENEW(builder, works);
    if (changed & ARGUS_LEFT_OUT_BLOCK)
        RENEW(builder, requests);
    if (changed & ARGUS_LEFT_OUT_SIGNALS)
        signals_forget_sent(builder->signals);
}

static void forget_threads(struct builder *builder, uint64_t changed)
{
    for (uint32_t i = 0; i < builder->threads.length; i++) {
        if (changed & ARGUS_LEFT_OUT_CALLS)
            thread_forget_calls(builder, i);
        if (changed & ARGUS_LEFT_OUT_TIMERS)
            thread_at(builder, i)->own_timer = ARGUS_NONE;
    }
}

static void forget_cpu(struct cpu_state *cpu, uint64_t changed)
{
    if (changed & ARGUS_LEFT_OUT_INTERRUPTS)
        cpu_end_interrupts(cpu);
    if (changed & ARGUS_LEFT_OUT_TIMERS) {
        cpu->firing_depth = 0;
        cpu->fired = 0;
        cpu->itimer = ARGUS_NONE;
    }
    if (changed & ARGUS_LEFT_OUT_WORK)
        cpu->bh_queuer = (struct actor){.thread = ARGUS_NONE, .slot = ARGUS_NONE};
    if (changed & ARGUS_LEFT_OUT_BLOCK) {
        cpu->completion = (struct completion){.issuer = {.thread = ARGUS_NONE, .slot = ARGUS_NONE}};
        cpu->completing = false;
    }
}

static void forget(struct builder *builder, uint64_t changed)
{
    builder->left_out_visits += changed ? builder->threads.length + builder->cpus.length : 0;
    if (changed & (ARGUS_LEFT_OUT_CALLS | ARGUS_LEFT_OUT_TIMERS))
        forget_threads(builder, changed);
    for (size_t i = 0; changed && i < builder->cpus.length; i++)
        forget_cpu(&builder->cpus.data[i], changed);
    forget_pending(builder, changed);
}

/* The trace may have begun while something was out, so the mark of that change is older. The first
 * mark tells of all categories but those that it changes. These were out if the second one, which
 * ends the change, says that they are back. */
static void note_beginning(struct builder *builder, const struct argus_record *record)
{
    struct argus_graph *graph = builder->graph;
    uint64_t out = record->arg[0], changed = record->arg[1];
    if (builder->left_out_marks == 1)
        note_span(builder, graph->start_ns, out & ~changed);
    if (builder->left_out_marks != 2 || !changed || out & changed || !graph->left_out.length)
        return;
    graph->left_out.data[0].from_ns = graph->start_ns;
    graph->left_out.data[0].categories |= changed;
}

void graph_on_left_out(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    (void)cpu;
    if (builder->left_out_marks == MOST_MARKS)
        return;
    bool is_last =
        ++builder->left_out_marks == MOST_MARKS || builder->left_out_visits > MOST_VISITS;
    if (is_last)
        builder->left_out_marks = MOST_MARKS;
    uint64_t changed = is_last ? EVERYTHING : record->arg[1];
    note_beginning(builder, record);
    note_span(builder, builder->now_ns, is_last ? EVERYTHING : record->arg[0]);
    forget(builder, changed & ~builder->forgotten & ~(uint64_t)ARGUS_LEFT_OUT_STACKS);
    builder->forgotten |= changed;
}

void finish_left_out(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    size_t count = graph->left_out.length;
    if (count && graph->left_out.data[count - 1].to_ns == UINT64_MAX)
        graph->left_out.data[count - 1].to_ns = graph->end_ns;
}
