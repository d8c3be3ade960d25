/* Cut points: each message record of a thread, with the progress of its vertex just before it.
 *
 * The peer of a message is known only when the pairing has found its other end, often long after
 * the vertex is finished. If the vertex then has to be split there (rules/split.c), its times and
 * counts have to be split as well. So the place of a possible cut is noted now:
 *
 * - before a receive: where its system call began;
 * - before a send: where the system call of the previous message ended, because what the thread did
 *   since then was done to send this one;
 * - where one system call both receives and sends: just before the record.
 */
#include "graph/build/cut_points.h"

#include <stdlib.h>

#include "event/pairing/pairing.h"
#include "graph/build/cpu_state.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

struct cut_points *cut_points_create(void)
{
    return calloc(1, sizeof(struct cut_points));
}

void cut_points_destroy(struct cut_points *points)
{
    if (!points)
        return;
    vec_deinit(&points->all);
    pairing_deinit(&points->pairing);
    free(points);
}

static struct vertex_mark mark_now(struct builder *builder, uint32_t thread)
{
    const struct thread_state *state = thread_at(builder, thread);
    const struct argus_vertex *vertex = slot_at(builder, state->slot);
    bool runs =
        state->activity == THREAD_RUNNING && !cpu_interrupted(&builder->cpus.data[state->cpu]);
    return (struct vertex_mark){.time_ns = builder->now_ns,
                                .run_ns =
                                    vertex->run_ns + (runs ? builder->now_ns - state->since_ns : 0),
                                .runnable_ns = vertex->runnable_ns,
                                .slot = state->slot,
                                .ops = state->op_units};
}

void cut_points_call_begins(struct builder *builder, uint32_t thread)
{
    thread_at(builder, thread)->marks.begun = mark_now(builder, thread);
}

void cut_points_call_ends(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->marks.has_message)
        state->marks.ended = mark_now(builder, thread);
    state->marks.has_message = false;
}

/* Whether `mark` was made in the current vertex, at `since_ns` or later. */
static bool is_here(struct builder *builder, const struct thread_state *state,
                    const struct vertex_mark *mark, uint64_t since_ns)
{
    return mark->slot == state->slot && mark->time_ns >= since_ns &&
           mark->time_ns > slot_at(builder, state->slot)->start_ns;
}

/* Where the vertex would be cut before a message that comes now; time 0: no cut is possible. */
static struct vertex_mark find_cut(struct builder *builder, const struct thread_state *state,
                                   const struct vertex_mark *now, bool receives)
{
    const struct vertex_mark *last = &state->marks.last;
    if (!is_here(builder, state, last, 0))
        return (struct vertex_mark){.time_ns = 0};
    if (receives && is_here(builder, state, &state->marks.begun, last->time_ns + 1))
        return state->marks.begun;
    if (!receives && is_here(builder, state, &state->marks.ended, last->time_ns + 1))
        return state->marks.ended;
    return receives && now->time_ns > last->time_ns ? *now : (struct vertex_mark){.time_ns = 0};
}

uint32_t cut_point_add_call(struct builder *builder, uint32_t thread)
{
    struct vertex_mark now = mark_now(builder, thread);
    struct cut_point point = {.time_ns = now.time_ns,
                              .cut_ns =
                                  now.time_ns - 1, /* before anything that is noted at this time */
                              .run_ns = now.run_ns,
                              .runnable_ns = now.runnable_ns,
                              .slot = now.slot,
                              .partner = ARGUS_NONE,
                              .ops = now.ops,
                              .acts_for = ARGUS_NONE,
                              .thread = thread};
    uint32_t index = (uint32_t)builder->cut_points->all.length;
    if (builder->cut_points->all.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&builder->cut_points->all, point))
        builder->no_memory = true;
    return builder->cut_points->all.length > index ? index : ARGUS_NONE;
}

uint32_t cut_point_add_message(struct builder *builder, uint32_t thread, bool receives)
{
    struct thread_state *state = thread_at(builder, thread);
    struct vertex_mark now = mark_now(builder, thread);
    struct vertex_mark cut = find_cut(builder, state, &now, receives);
    struct cut_point point = {.time_ns = now.time_ns,
                              .cut_ns = cut.time_ns,
                              .run_ns = cut.run_ns,
                              .runnable_ns = cut.runnable_ns,
                              .slot = state->slot,
                              .partner = ARGUS_NONE,
                              .ops = cut.ops,
                              .acts_for = ARGUS_NONE,
                              .thread = thread,
                              .receives = receives};
    state->marks.last = now;
    state->marks.has_message = true;
    uint32_t index = (uint32_t)builder->cut_points->all.length;
    if (builder->cut_points->all.length >= ARGUS_NONE - 1) {
        builder->full = true;
        return ARGUS_NONE;
    }
    if (!vec_push(&builder->cut_points->all, point)) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    return index;
}
