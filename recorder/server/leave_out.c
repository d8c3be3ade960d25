#include "server/leave_out.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/clocks.h"

_Static_assert(ARGUS_LEFT_OUT_SYSCALLS == CATEGORY_BIT(CATEGORY_SYSCALLS) &&
                   ARGUS_LEFT_OUT_MESSAGES == CATEGORY_BIT(CATEGORY_MESSAGES) &&
                   ARGUS_LEFT_OUT_TIMERS == CATEGORY_BIT(CATEGORY_TIMERS) &&
                   ARGUS_LEFT_OUT_INTERRUPTS == CATEGORY_BIT(CATEGORY_INTERRUPTS) &&
                   ARGUS_LEFT_OUT_WORK == CATEGORY_BIT(CATEGORY_WORK) &&
                   ARGUS_LEFT_OUT_BLOCK == CATEGORY_BIT(CATEGORY_BLOCK) &&
                   ARGUS_LEFT_OUT_SIGNALS == CATEGORY_BIT(CATEGORY_SIGNALS) &&
                   ARGUS_LEFT_OUT_STACKS == CATEGORY_BIT(CATEGORY_STACKS) &&
                   ARGUS_LEFT_OUT_PROBES == CATEGORY_BIT(CATEGORY_PROBES),
               "the format has these numbers");

/* Of those that are kept for a snapshot; two for each change. When there are more, nothing more
 * goes out. */
#define MOST_MARKS 4096

void leave_out_init(struct leave_out *leave_out, uint32_t limit, uint32_t allowed)
{
    *leave_out = (struct leave_out){0};
    overhead_init(&leave_out->policy, limit, allowed);
}

void leave_out_deinit(struct leave_out *leave_out)
{
    vec_deinit(&leave_out->marks);
}

/* --- what it costs --- */

/* The writer's time comes from a process without privileges: it may even become less. */
static uint64_t grown(uint64_t *before, uint64_t now)
{
    uint64_t more = now > *before ? now - *before : 0;
    *before = now;
    return more;
}

/* The programs of sched take the stacks, which is about half of their time. */
static struct overhead_cost cost_since_last(struct leave_out *leave_out,
                                            const struct backend *backend, uint64_t now_ns,
                                            uint64_t own_ns)
{
    uint64_t category_ns[CATEGORY_COUNT], kernel_ns = 0;
    uint64_t passed_ns = grown(&leave_out->looked_ns, now_ns);
    struct overhead_cost cost = {.available_ns =
                                     passed_ns * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    backend_cost(backend, category_ns);
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        kernel_ns += category_ns[i];
        cost.saved_ns[i] = grown(&leave_out->category_ns[i], category_ns[i]);
    }
    cost.saved_ns[CATEGORY_STACKS] += cost.saved_ns[CATEGORY_SCHED] / 2;
    cost.total_ns = grown(&leave_out->kernel_ns, kernel_ns) + grown(&leave_out->own_ns, own_ns);
    return cost;
}

/* --- changes --- */

static bool add_mark(struct leave_out *leave_out, uint32_t out, uint32_t changed)
{
    const struct argus_record mark = {
        .timestamp = clock_ns(TRACE_CLOCK), .arg = {out, changed}, .debugid = ARGUS_ID_LEFT_OUT};
    return vec_push(&leave_out->marks, mark);
}

static void note_times(struct leave_out *leave_out, uint32_t out)
{
    uint64_t now_ns = clock_ns(TRACE_CLOCK);
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        uint32_t bit = CATEGORY_BIT(i);
        if (out & ~leave_out->out & bit)
            leave_out->since_ns[i] = now_ns;
        if (leave_out->out & ~out & bit)
            leave_out->until_ns[i] = now_ns;
    }
}

/* While the programs are being detached or attached, a category counts as left out. */
static struct argus_error *change(struct leave_out *leave_out, struct backend *backend,
                                  uint32_t out)
{
    uint32_t changed = out ^ leave_out->out;
    if (!add_mark(leave_out, out | leave_out->out, changed))
        return argus_error_memory();
    if (out & changed)
        note_times(leave_out, out);
    struct argus_error *error = backend_leave_out(backend, out);
    if (!(out & changed))
        note_times(leave_out, out);
    leave_out->out = out;
    if (!error && !add_mark(leave_out, out, changed))
        error = argus_error_memory();
    return error;
}

/* Without what goes out, if there are too many marks already: what is out may always come back. */
static uint32_t without_too_many(const struct leave_out *leave_out, struct backend *backend,
                                 uint32_t out)
{
    if (leave_out->marks.length < MOST_MARKS || !(out & ~leave_out->out))
        return out;
    backend_note(backend, "--max-overhead: for a while, nothing more was left out, because what is "
                          "left out had changed too often");
    return out & leave_out->out;
}

struct argus_error *leave_out_look(struct leave_out *leave_out, struct backend *backend,
                                   uint64_t own_ns, size_t *ret_added)
{
    uint64_t now_ns = clock_ns(TRACE_CLOCK), before = leave_out->marks.length;
    bool first = leave_out->looked_ns == 0;
    *ret_added = 0;
    if (!leave_out->policy.limit || (!first && now_ns - leave_out->looked_ns < OVERHEAD_PERIOD_NS))
        return NULL;
    struct overhead_cost cost = cost_since_last(leave_out, backend, now_ns, own_ns);
    if (first) /* what loading the programs has cost does not count */
        return NULL;
    uint32_t out =
        without_too_many(leave_out, backend, overhead_decide(&leave_out->policy, now_ns, &cost));
    if (overhead_is_helpless(&leave_out->policy))
        backend_note(backend, "recording costs more than --max-overhead allows, even without what "
                              "can be left out");
    struct argus_error *error = out == leave_out->out ? NULL : change(leave_out, backend, out);
    *ret_added = leave_out->marks.length - before;
    return error;
}

/* The number of marks before `time_ns`. */
static size_t marks_before(const struct leave_out *leave_out, uint64_t time_ns)
{
    size_t count = 0;
    while (count < leave_out->marks.length && leave_out->marks.data[count].timestamp < time_ns)
        count++;
    return count;
}

void leave_out_forget(struct leave_out *leave_out, uint64_t oldest_ns)
{
    size_t before = marks_before(leave_out, oldest_ns);
    if (before < 2)
        return;
    leave_out->marks.length -= before - 1;
    memmove(leave_out->marks.data, leave_out->marks.data + before - 1,
            leave_out->marks.length * sizeof(*leave_out->marks.data));
}

uint32_t leave_out_at(const struct leave_out *leave_out, uint64_t time_ns)
{
    size_t before = marks_before(leave_out, time_ns);
    return before ? (uint32_t)leave_out->marks.data[before - 1].arg[0] : 0;
}

bool leave_out_note(const struct leave_out *leave_out, enum category category, uint64_t from_ns,
                    char *ret, size_t room)
{
    bool is_out = leave_out->out & CATEGORY_BIT(category);
    if (!leave_out->since_ns[category] || (!is_out && leave_out->until_ns[category] < from_ns))
        return false;
    snprintf(ret, room, "recorded partly without %s, to stay below --max-overhead: %s",
             category_name(category), category_lost_without(category));
    return true;
}
