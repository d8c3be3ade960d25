/* A loop may read several watched variables. The one that it waits for is one that other threads
 * have set for it before, and none this time. If others stored to all of them, or to none, the
 * records do not tell. */
#include "diagnose/suspects/watched_flag.h"

#include "diagnose/hangs/finder.h"
#include "diagnose/suspects/slow_loop.h"

enum {
    FLAGS_MAX = 16,         /* variables of a loop */
    MAX_LOOK_BACK = 100000, /* vertices, for earlier writes */
    LOW_BITS = 0xffffff,    /* of an address, in an operation */
};

struct read_flag {
    uint32_t low, read_at;
    bool was_set, is_set; /* by others: before the loop, during it */
};

struct read_flags {
    struct read_flag all[FLAGS_MAX];
    uint32_t count;
    bool has_more;
};

static struct read_flag *find_low(struct read_flags *flags, uint32_t low)
{
    for (uint32_t i = 0; i < flags->count; i++)
        if (flags->all[i].low == low)
            return &flags->all[i];
    return NULL;
}

static void add_reads(const struct view *view, uint32_t vertex, struct read_flags *flags)
{
    const struct argus_op *ops;
    const struct argus_vertex *v = &view->vertices[vertex];
    argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count; i++) {
        uint32_t code = ops[v->first_op + i].code, low = code & LOW_BITS;
        if (code >> 24 != ARGUS_OP_FLAG_READ || find_low(flags, low))
            continue;
        if (flags->count < FLAGS_MAX)
            flags->all[flags->count++] = (struct read_flag){.low = low, .read_at = vertex};
        else
            flags->has_more = true;
    }
}

static void note_writes(const struct view *view, uint32_t vertex, struct window part,
                        struct read_flags *flags)
{
    const struct argus_edge *in;
    size_t count = argus_graph_in_edges(view->graph, vertex, &in);
    for (size_t i = 0; i < count; i++) {
        uint64_t address = 0;
        if (in[i].kind != ARGUS_EDGE_FLAG)
            continue;
        (void)argus_graph_edge_flag(view->graph, &in[i], &address);
        struct read_flag *flag = find_low(flags, (uint32_t)(address & LOW_BITS));
        if (flag && in[i].to_ns >= part.start_ns)
            flag->is_set = true;
        else if (flag)
            flag->was_set = true;
    }
}

/* The only one of these; NULL: none, or several. */
static const struct read_flag *only_one(const struct read_flags *flags, bool is_set)
{
    const struct read_flag *found = NULL;
    for (uint32_t i = 0; i < flags->count; i++) {
        const struct read_flag *flag = &flags->all[i];
        if (is_set && !flag->was_set && flag->is_set)
            return NULL; /* for the first time, perhaps to what the loop waits for */
        if (!flag->was_set || flag->is_set != is_set)
            continue;
        if (found)
            return NULL;
        found = flag;
    }
    return found;
}

static const struct read_flag *choose(const struct view *view, uint32_t vertex, struct window part,
                                      struct read_flags *flags)
{
    if (flags->count == 1)
        return &flags->all[0];
    if (flags->has_more) /* any of them, also of those that are not kept */
        return NULL;
    uint32_t v = timeline_before(view, view->vertices[vertex].thread, part.end_ns);
    for (uint32_t i = 0; i < MAX_LOOK_BACK && v != ARGUS_NONE; i++) {
        note_writes(view, v, part, flags);
        v = argus_graph_previous(view->graph, v);
    }
    const struct read_flag *missing = only_one(flags, false);
    return missing ? missing : only_one(flags, true);
}

void watched_flag_find(const struct view *view, uint32_t vertex, struct window part,
                       struct watched_flag *ret)
{
    struct read_flags flags = {.count = 0};
    for (uint32_t v = timeline_before(view, view->vertices[vertex].thread, part.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns; v = timeline_next(view, v))
        add_reads(view, v, &flags);
    *ret = (struct watched_flag){.is_read = flags.count > 0, .read_at = ARGUS_NONE};
    const struct read_flag *found = flags.count > 0 ? choose(view, vertex, part, &flags) : NULL;
    if (!found)
        return;
    ret->low = found->low;
    ret->read_at = found->read_at;
}

bool watched_flag_has(const struct watched_flag *flag, const struct view *view,
                      const struct argus_edge *edge)
{
    uint64_t address = 0;
    if (edge->kind != ARGUS_EDGE_FLAG)
        return false;
    (void)argus_graph_edge_flag(view->graph, edge, &address);
    return !flag->is_read || !address ||
           (flag->read_at != ARGUS_NONE && (address & LOW_BITS) == flag->low);
}

bool vertex_writes_flag(const struct view *view, uint32_t vertex, uint64_t address)
{
    const struct argus_op *ops;
    const struct argus_vertex *v = &view->vertices[vertex];
    argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count; i++)
        if (ops[v->first_op + i].code ==
            (ARGUS_OP_FLAG_WRITE << 24 | (uint32_t)(address & LOW_BITS)))
            return true;
    return false;
}

bool loop_went_on(const struct view *view, uint32_t vertex, struct window part, uint64_t time_ns)
{
    uint64_t end_ns = 0;
    for (uint32_t v = vertex; v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns;
         v = timeline_next(view, v))
        if (v == vertex || is_yielding(view, v) || is_same_pause(view, vertex, v))
            end_ns = timeline_wait_end(view, v);
    end_ns = end_ns < part.end_ns ? end_ns : part.end_ns;
    return end_ns > time_ns && end_ns - time_ns > window_ns(part) / 2;
}
