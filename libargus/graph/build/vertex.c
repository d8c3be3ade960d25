#include "graph/build/vertex.h"

#include "graph/build/activity.h"
#include "graph/build/thread_state.h"

static uint32_t take_slot(struct builder *builder, struct thread_state *state)
{
    for (int i = 0; i < 2; i++) {
        uint32_t slot = state->spare[i];
        if (slot == ARGUS_NONE)
            continue;
        state->spare[i] = ARGUS_NONE;
        return slot;
    }
    size_t length = builder->graph->vertices.length;
    if (length >= ARGUS_NONE - 1) {
        builder->full = true;
        return ARGUS_NONE;
    }
    if (!vec_push(&builder->graph->vertices, (struct argus_vertex){0})) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    return (uint32_t)length;
}

bool vertex_begin(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags)
{
    struct thread_state *state = thread_at(builder, thread);
    uint32_t slot = take_slot(builder, state);
    if (slot == ARGUS_NONE)
        return false;
    *slot_at(builder, slot) = (struct argus_vertex){
        .start_ns = now_ns,
        .end_ns = now_ns,
        .thread = thread,
        .repeat = 1,
        .flags = flags,
        .wait = {.timeout_ns = UINT64_MAX,
                 .user_stack = ARGUS_NONE,
                 .kernel_stack = ARGUS_NONE,
                 .first_detail = ARGUS_NONE,
                 .syscall = ARGUS_NO_SYSCALL},
    };
    state->older = state->previous;
    state->previous = state->slot;
    state->slot = slot;
    state->acted = false;
    state->cause = (struct cause){0};
    return true;
}

void vertex_end(struct builder *builder, uint32_t thread, uint64_t now_ns, uint32_t flags)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    vertex->end_ns = now_ns;
    vertex->flags |= flags;
    vertex_flush_ops(builder, state);
    vertex_settle(builder, thread);
}

void vertex_give_back(struct builder *builder, uint32_t thread, uint32_t slot)
{
    struct thread_state *state = thread_at(builder, thread);
    slot_at(builder, slot)->repeat = 0; /* finish.c drops it unless it is used again */
    for (int i = 0; i < 2; i++) {
        if (state->spare[i] != ARGUS_NONE)
            continue;
        state->spare[i] = slot;
        return;
    }
}

void vertex_settle(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (!state->cause.known)
        return;
    state->cause.known = false;
    state->cause.edge.to = state->slot;
    builder_add_edge(builder, &state->cause.edge);
}

void vertex_op(struct builder *builder, uint32_t thread, uint32_t code)
{
    struct thread_state *state = thread_at(builder, thread);
    size_t length = state->ops.length;
    if (length && state->ops.data[length - 1].code == code &&
        state->ops.data[length - 1].repeat < UINT32_MAX) {
        state->ops.data[length - 1].repeat++;
        state->op_units++;
        return;
    }
    if (length >= OPS_OF_A_VERTEX)
        return;
    if (!vec_push(&state->ops, (struct argus_op){.code = code, .repeat = 1}))
        builder->no_memory = true;
    state->op_units++;
}

void vertex_flush_ops(struct builder *builder, struct thread_state *state)
{
    if (state->op_open) {
        state->op_open = false;
        vertex_op(builder, slot_at(builder, state->slot)->thread,
                  ARGUS_OP_SYSCALL << 24 | state->syscall);
    }
    struct argus_graph *graph = builder->graph;
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    if (graph->ops.length + state->ops.length >= ARGUS_NONE) {
        builder->full = true;
        return;
    }
    if (!vec_reserve(&graph->ops, state->ops.length)) {
        builder->no_memory = true;
        return;
    }
    vertex->first_op = (uint32_t)graph->ops.length;
    vertex->op_count = (uint32_t)state->ops.length;
    for (size_t i = 0; i < state->ops.length; i++)
        graph->ops.data[graph->ops.length++] = state->ops.data[i];
    state->ops.length = 0;
    state->op_units = 0;
}

/* Whether the vertex of `state` was just woken for a reason, and has done nothing yet. */
static bool is_fresh(struct builder *builder, const struct thread_state *state,
                     const struct cause *cause)
{
    const struct argus_vertex *vertex = slot_at(builder, state->slot);
    const uint32_t began = ARGUS_VERTEX_FIRST | ARGUS_VERTEX_FORKED | ARGUS_VERTEX_SPLIT;
    bool did_nothing = !state->acted && !state->ops.length && !state->op_open;
    bool woken = !(vertex->flags & began) &&
                 (!state->cause.known || state->cause.edge.kind == ARGUS_EDGE_WAKE ||
                  state->cause.edge.kind == ARGUS_EDGE_TIMER);
    return did_nothing && woken && cause->edge.from_ns <= vertex->start_ns;
}

bool vertex_cut(struct builder *builder, uint32_t thread, enum rule_id rule)
{
    thread_account(builder, thread, builder->now_ns);
    vertex_end(builder, thread, builder->now_ns, 0);
    thread_at(builder, thread)->wait_open = false;
    if (!vertex_begin(builder, thread, builder->now_ns, ARGUS_VERTEX_SPLIT))
        return false;
    builder_count(builder, rule);
    return true;
}

void vertex_split(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity != THREAD_RUNNING)
        return;
    struct cause begins = *cause;
    if (is_fresh(builder, state, cause)) {
        if (state->cause.known && state->cause.edge.from == begins.edge.from)
            begins.edge.stack = state->cause.edge.stack;
    } else if (!vertex_cut(builder, thread, RULE_BOUNDARY_WORK)) {
        return;
    }
    begins.edge.to_ns = slot_at(builder, state->slot)->start_ns;
    state->cause = begins;
}

void vertex_add_edge(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    struct argus_edge edge = cause->edge;
    if (thread_at(builder, thread)->activity != THREAD_RUNNING)
        return;
    edge.to = thread_at(builder, thread)->slot;
    edge.to_ns = builder->now_ns;
    builder_add_edge(builder, &edge);
}
