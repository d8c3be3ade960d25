/* Talks: each message record of a thread, with what its vertex had done until just before it.
 *
 * Whom a message is from or for is known only when the pairing has found its other end, often long after the vertex is
 * finished. Should the vertex then have to be split there (rules/split.c), its figures have to be split as well. So the
 * place where it would be cut is noted now: before a receive, where its system call began; before a send, where the call
 * of the message before it ended, since what was done in between was done to send this; and where one call does both, just
 * before the record.
 */
#include "graph/build/talk.h"

#include <stdlib.h>

#include "event/pairing/pairing.h"
#include "graph/build/cpu_state.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

struct talks *talks_create(void)
{
    return calloc(1, sizeof(struct talks));
}

void talks_destroy(struct talks *talks)
{
    if (!talks)
        return;
    vec_deinit(&talks->all);
    pairing_deinit(&talks->pairing);
    free(talks);
}

static struct talk_mark mark_now(struct builder *builder, uint32_t thread)
{
    const struct thread_state *state = thread_at(builder, thread);
    const struct argus_vertex *vertex = slot_at(builder, state->slot);
    bool runs =
        state->activity == THREAD_RUNNING && !cpu_interrupted(&builder->cpus.data[state->cpu]);
    return (struct talk_mark){.time_ns = builder->now_ns,
                              .run_ns =
                                  vertex->run_ns + (runs ? builder->now_ns - state->since_ns : 0),
                              .runnable_ns = vertex->runnable_ns,
                              .slot = state->slot,
                              .ops = state->op_units};
}

void talk_call_begins(struct builder *builder, uint32_t thread)
{
    thread_at(builder, thread)->marks.begun = mark_now(builder, thread);
}

void talk_call_ends(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->marks.talked)
        state->marks.ended = mark_now(builder, thread);
    state->marks.talked = false;
}

/* Whether `mark` was made in the vertex that is now, at `since_ns` or later. */
static bool is_here(struct builder *builder, const struct thread_state *state,
                    const struct talk_mark *mark, uint64_t since_ns)
{
    return mark->slot == state->slot && mark->time_ns >= since_ns &&
           mark->time_ns > slot_at(builder, state->slot)->start_ns;
}

/* Where the vertex would be cut before a message that is now; a time of 0: nowhere. */
static struct talk_mark find_cut(struct builder *builder, const struct thread_state *state,
                                 const struct talk_mark *now, bool receives)
{
    const struct talk_mark *last = &state->marks.last;
    if (!is_here(builder, state, last, 0))
        return (struct talk_mark){.time_ns = 0};
    if (receives && is_here(builder, state, &state->marks.begun, last->time_ns + 1))
        return state->marks.begun;
    if (!receives && is_here(builder, state, &state->marks.ended, last->time_ns + 1))
        return state->marks.ended;
    return receives && now->time_ns > last->time_ns ? *now : (struct talk_mark){.time_ns = 0};
}

uint32_t talk_note(struct builder *builder, uint32_t thread)
{
    struct talk_mark now = mark_now(builder, thread);
    struct talk talk = {.time_ns = now.time_ns,
                        .cut_ns = now.time_ns - 1, /* so that what is noted now is behind it */
                        .run_ns = now.run_ns,
                        .runnable_ns = now.runnable_ns,
                        .slot = now.slot,
                        .partner = ARGUS_NONE,
                        .ops = now.ops,
                        .acts_for = ARGUS_NONE,
                        .thread = thread};
    uint32_t index = (uint32_t)builder->talks->all.length;
    if (builder->talks->all.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&builder->talks->all, talk))
        builder->no_memory = true;
    return builder->talks->all.length > index ? index : ARGUS_NONE;
}

uint32_t talk_add(struct builder *builder, uint32_t thread, bool receives)
{
    struct thread_state *state = thread_at(builder, thread);
    struct talk_mark now = mark_now(builder, thread);
    struct talk_mark cut = find_cut(builder, state, &now, receives);
    struct talk talk = {.time_ns = now.time_ns,
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
    state->marks.talked = true;
    uint32_t index = (uint32_t)builder->talks->all.length;
    if (builder->talks->all.length >= ARGUS_NONE - 1) {
        builder->full = true;
        return ARGUS_NONE;
    }
    if (!vec_push(&builder->talks->all, talk)) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    return index;
}
