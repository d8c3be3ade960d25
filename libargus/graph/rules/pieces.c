/* Splits a vertex into several, at the places that rules/split.c has chosen.
 *
 * The times and counts of the pieces add up to those of the vertex: run and runnable time,
 * operations, yields. The wait that ended the vertex ends the last piece. Samples, callbacks and
 * the ends of edges find their piece by time (finish.c, edges.c). The ids of all later vertices
 * grow.
 */
#include <string.h>

#include "base/compat.h"
#include "event/syscalls.h"
#include "graph/build/builder.h"
#include "graph/build/cut_points.h"
#include "graph/rules/split.h"

static int by_vertex(const void *left, const void *right, void *context)
{
    const struct cut_point *points = context;
    const struct cut *a = left, *b = right;
    if (a->vertex != b->vertex)
        return a->vertex < b->vertex ? -1 : 1;
    if (points[a->point].cut_ns != points[b->point].cut_ns)
        return points[a->point].cut_ns < points[b->point].cut_ns ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

/* Drops cuts that are not strictly inside of the rest of their vertex. The cuts are sorted. */
static size_t drop_outside(const struct builder *builder, struct cut *cuts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct argus_vertex *vertex = &builder->graph->vertices.data[cuts[i].vertex];
        const struct cut_point *point = &builder->cut_points->all.data[cuts[i].point];
        uint64_t from_ns = vertex->start_ns;
        if (kept && cuts[kept - 1].vertex == cuts[i].vertex)
            from_ns = builder->cut_points->all.data[cuts[kept - 1].point].cut_ns;
        if (point->cut_ns > from_ns && point->cut_ns < vertex->end_ns)
            cuts[kept++] = cuts[i];
    }
    return kept;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies the operations of `vertex` from number `from` to number `to` (repeated ones counted each
 * time) to the end of all operations. */
static bool copy_ops(struct builder *builder, const struct argus_vertex *vertex, uint64_t from,
                     uint64_t to, struct argus_vertex *piece)
{
    struct argus_graph *graph = builder->graph;
    if (graph->ops.length + vertex->op_count >= ARGUS_NONE) {
        builder->full = true;
        return true;
    }
    if (!vec_reserve(&graph->ops, vertex->op_count))
        return false;
    uint64_t at = 0;
    piece->first_op = (uint32_t)graph->ops.length;
    piece->op_count = 0;
    for (uint32_t i = 0; i < vertex->op_count && at < to; i++) {
        struct argus_op op = graph->ops.data[vertex->first_op + i];
        uint64_t begin = at < from ? from : at, end = least(at + op.repeat, to);
        at += op.repeat;
        if (begin >= end)
            continue;
        op.repeat = (uint32_t)(end - begin);
        graph->ops.data[graph->ops.length++] = op;
        piece->op_count++;
    }
    return true;
}

static bool is_yield(const struct builder *builder, uint32_t code)
{
    return (code & 0xff000000) == ARGUS_OP_SYSCALL << 24 &&
           (syscall_row(builder->os, builder->arch, code & 0xffff)->flags & SYSCALL_YIELD);
}

static uint32_t count_yields(const struct builder *builder, const struct argus_vertex *piece)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < piece->op_count; i++) {
        const struct argus_op *op = &builder->graph->ops.data[piece->first_op + i];
        if (is_yield(builder, op->code))
            count += op->repeat;
    }
    return count;
}

/* The rest of a vertex, while pieces are taken from its beginning. */
struct rest {
    struct argus_vertex whole;
    uint64_t start_ns, run_ns, runnable_ns,
        ops; /* where the next piece begins, and what was until there */
    uint32_t yields, flags;
};

/* Takes the next piece, which ends before `point`; NULL: takes all that is left. */
static bool take_piece(struct builder *builder, struct rest *rest, const struct cut_point *point,
                       struct argus_vertex *ret)
{
    const struct argus_vertex *whole = &rest->whole;
    const uint32_t at_end = ARGUS_VERTEX_LAST | ARGUS_VERTEX_EXITED;
    uint64_t end_ns = point ? point->cut_ns : whole->end_ns;
    uint64_t run_ns = point ? least(point->run_ns, whole->run_ns) : whole->run_ns;
    uint64_t runnable_ns =
        point ? least(point->runnable_ns, whole->runnable_ns) : whole->runnable_ns;
    uint64_t length_ns = end_ns - rest->start_ns;

    *ret = *whole;
    ret->start_ns = rest->start_ns;
    ret->end_ns = end_ns;
    ret->run_ns = least(run_ns > rest->run_ns ? run_ns - rest->run_ns : 0, length_ns);
    ret->runnable_ns = least(runnable_ns > rest->runnable_ns ? runnable_ns - rest->runnable_ns : 0,
                             length_ns - ret->run_ns);
    ret->flags = rest->flags | (whole->flags & (point ? 0 : at_end));
    if (!copy_ops(builder, whole, rest->ops, point ? point->ops : UINT64_MAX, ret))
        return false;
    if (point) {
        ret->yield_calls = least(count_yields(builder, ret), whole->yield_calls - rest->yields);
        ret->wait = (struct argus_wait){.timeout_ns = UINT64_MAX,
                                        .user_stack = ARGUS_NONE,
                                        .kernel_stack = ARGUS_NONE,
                                        .first_detail = ARGUS_NONE,
                                        .syscall = ARGUS_NO_SYSCALL};
    } else {
        ret->yield_calls = whole->yield_calls - rest->yields;
    }
    rest->start_ns = end_ns;
    rest->run_ns += ret->run_ns;
    rest->runnable_ns += ret->runnable_ns;
    rest->ops = point ? point->ops : rest->ops;
    rest->yields += ret->yield_calls;
    return true;
}

/* Writes the pieces of `whole` to `to`. */
static bool split_one(struct builder *builder, const struct argus_vertex *whole,
                      const struct cut *cuts, size_t count, struct argus_vertex *to)
{
    const uint32_t at_end = ARGUS_VERTEX_LAST | ARGUS_VERTEX_EXITED;
    struct rest rest = {
        .whole = *whole, .start_ns = whole->start_ns, .flags = whole->flags & ~at_end};
    for (size_t i = 0; i <= count; i++) {
        const struct cut_point *point =
            i < count ? &builder->cut_points->all.data[cuts[i].point] : NULL;
        if (!take_piece(builder, &rest, point, &to[i]))
            return false;
        if (!point)
            break;
        rest.flags = ARGUS_VERTEX_SPLIT | cuts[i].flag | (whole->flags & ARGUS_VERTEX_GAP);
    }
    return true;
}

/* Moves vertices to make room, from the last to the first, so that each moves only once.
 * `first[v]`: the new id of vertex v. */
static bool spread(struct builder *builder, const struct cut *cuts, size_t count, size_t slots,
                   uint32_t *first)
{
    struct argus_vertex *vertices = builder->graph->vertices.data;
    for (size_t v = slots; v-- > 0;) {
        size_t end = count;
        while (count && cuts[count - 1].vertex == v)
            count--;
        struct argus_vertex whole = vertices[v];
        first[v] = (uint32_t)(v + count);
        if (end == count)
            vertices[v + count] = whole;
        else if (!split_one(builder, &whole, cuts + count, end - count, &vertices[v + count]))
            return false;
    }
    return true;
}

static void renumber(struct argus_graph *graph, uint32_t *new_id, size_t slots,
                     const uint32_t *first, size_t live)
{
    for (size_t i = 0; i < slots; i++)
        new_id[i] = first[new_id[i]];
    for (size_t i = 0; i < graph->machine.threads.length; i++) {
        struct argus_thread *thread = &graph->machine.threads.data[i];
        if (!thread->vertex_count)
            continue;
        uint32_t end = thread->first_vertex + thread->vertex_count;
        thread->first_vertex = first[thread->first_vertex];
        thread->vertex_count = (end < slots ? first[end] : (uint32_t)(live)) - thread->first_vertex;
    }
}

bool pieces_make(struct builder *builder, const struct cuts *cuts, uint32_t *new_id, size_t slots)
{
    struct argus_graph *graph = builder->graph;
    struct cut *sorted = cuts->cuts.data;
    if (cuts->cuts.length)
        qsort_r(sorted, cuts->cuts.length, sizeof(*sorted), by_vertex,
                builder->cut_points->all.data);
    size_t count = drop_outside(builder, sorted, cuts->cuts.length), old = graph->vertices.length;
    if (!count)
        return true;
    if (slots + count >= ARGUS_NONE) {
        builder->full = true;
        return true;
    }
    uint32_t *first = malloc((slots + 1) * sizeof(*first));
    bool done = first && vec_reserve(&graph->vertices, slots - old + count) &&
                spread(builder, sorted, count, slots, first);
    if (done) {
        graph->vertices.length = old + count;
        renumber(graph, new_id, slots, first, old + count);
    }
    free(first);
    return done;
}
