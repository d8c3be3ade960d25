/* A back edge leads to an instruction that dominates where it begins: each way there goes through
 * it. The loop of such a head is what reaches the back edge without going through the head.
 *
 * Dominators: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". Where a jump goes
 * through a table, its targets are not always known (code_tables.h): an instruction to which no
 * known way leads is then a beginning like the function's first. So no loop is found that is none.
 */
#include "steps/loops/code_loops.h"

#include <stdlib.h>

struct dominators {
    const struct code_function *function;
    uint32_t count;
    uint32_t *order;    /* reverse postorder; the number of a node, 1 and up; 0: not visited */
    uint32_t *by_order; /* the node of a number */
    uint32_t
        *dominator; /* by number; number of the immediate dominator; 0 is above all beginnings */
    bool *is_beginning; /* by node */
    uint32_t visited;
};

/* --- the order --- */

struct frame {
    uint32_t node, way;
};

/* Numbers of postorder first; they are turned around at the end. */
static void visit_from(struct dominators *d, struct frame *stack, bool *seen, uint32_t node)
{
    uint32_t depth = 0;
    stack[depth++] = (struct frame){node, 0};
    seen[node] = true;
    while (depth) {
        struct frame *top = &stack[depth - 1];
        struct code_way way;
        if (!code_function_way(d->function, top->node, top->way++, &way)) {
            d->by_order[d->visited++] = top->node;
            depth--;
            continue;
        }
        uint32_t to = way.to;
        if (to != CODE_NONE && !seen[to]) {
            seen[to] = true;
            stack[depth++] = (struct frame){to, 0};
        }
    }
}

static bool number_nodes(struct dominators *d)
{
    struct frame *stack = calloc(d->count, sizeof(*stack));
    bool *seen = calloc(d->count, sizeof(*seen));
    bool good = stack && seen;
    for (uint32_t i = 0; good && i < d->count; i++) {
        if (seen[i])
            continue;
        d->is_beginning[i] = true;
        visit_from(d, stack, seen, i);
    }
    free(stack);
    free(seen);
    /* by_order[k] is the k-th in postorder; the last one gets number 1. */
    for (uint32_t i = 0; good && i < d->count; i++)
        d->order[d->by_order[i]] = d->count - i;
    for (uint32_t i = 0; good && i < d->count; i++)
        d->by_order[d->order[i]] = i;
    return good;
}

/* --- dominators --- */

static uint32_t meet(const uint32_t *dominator, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b)
            a = dominator[a];
        while (b > a)
            b = dominator[b];
    }
    return a;
}

static uint32_t dominator_of(const struct dominators *d, uint32_t node, const bool *known)
{
    uint32_t found = CODE_NONE;
    const struct code_function *function = d->function;
    if (d->is_beginning[node])
        return 0;
    for (uint32_t i = function->first_before[node]; i < function->first_before[node + 1]; i++) {
        uint32_t before = d->order[function->before[i]];
        if (known[before])
            found = found == CODE_NONE ? before : meet(d->dominator, found, before);
    }
    return found == CODE_NONE ? 0 : found;
}

static bool find_dominators(struct dominators *d)
{
    bool changed = true, *known = calloc((size_t)d->count + 1, sizeof(*known));
    if (!known)
        return false;
    while (changed) {
        changed = false;
        for (uint32_t k = 1; k <= d->count; k++) {
            uint32_t found = dominator_of(d, d->by_order[k], known);
            changed |= !known[k] || found != d->dominator[k];
            d->dominator[k] = found;
            known[k] = true;
        }
    }
    free(known);
    return true;
}

static bool dominates(const struct dominators *d, uint32_t above, uint32_t below)
{
    uint32_t wanted = d->order[above], at = d->order[below];
    while (at > wanted)
        at = d->dominator[at];
    return at == wanted;
}

static bool dominators_init(struct dominators *d, const struct code_function *function)
{
    size_t count = function->nodes.length;
    *d = (struct dominators){.function = function, .count = (uint32_t)count};
    d->order = calloc(count, sizeof(*d->order));
    d->by_order = calloc(count + 1, sizeof(*d->by_order));
    d->dominator = calloc(count + 1, sizeof(*d->dominator));
    d->is_beginning = calloc(count, sizeof(*d->is_beginning));
    return d->order && d->by_order && d->dominator && d->is_beginning && number_nodes(d) &&
           find_dominators(d);
}

static void dominators_deinit(struct dominators *d)
{
    free(d->order);
    free(d->by_order);
    free(d->dominator);
    free(d->is_beginning);
}

/* --- loops --- */

/* Adds to `loop` all that reaches `node` without going through the head. `open` has room for all
 * nodes. */
static void take_body(const struct code_function *function, struct code_loop *loop, uint32_t node,
                      uint32_t *open)
{
    uint32_t count = 0;
    if (!loop->has[node]) {
        loop->has[node] = true;
        loop->size++;
        open[count++] = node;
    }
    while (count) {
        uint32_t at = open[--count];
        for (uint32_t i = function->first_before[at]; i < function->first_before[at + 1]; i++) {
            uint32_t before = function->before[i];
            if (loop->has[before])
                continue;
            loop->has[before] = true;
            loop->size++;
            open[count++] = before;
        }
    }
}

/* Puts `loop` in its place, and takes it. The widest ones go where there is no room. */
static void insert(struct code_loops *loops, struct code_loop loop)
{
    uint32_t at = 0;
    while (at < loops->count && loops->all[at].size <= loop.size)
        at++;
    if (loops->count == CODE_LOOPS_MAX)
        free(at == CODE_LOOPS_MAX ? loop.has : loops->all[--loops->count].has);
    if (at == CODE_LOOPS_MAX)
        return;
    for (uint32_t i = loops->count; i > at; i--)
        loops->all[i] = loops->all[i - 1];
    loops->all[at] = loop;
    loops->count++;
}

/* The loop whose head is `head`, by the way back from `from`; CODE_NONE: by all of them. False: no
 * memory. */
static bool make_loop(const struct dominators *d, uint32_t head, uint32_t from, uint32_t *open,
                      struct code_loop *ret)
{
    const struct code_function *function = d->function;
    *ret = (struct code_loop){.head = head, .size = 1, .has = NULL};
    for (uint32_t i = function->first_before[head]; i < function->first_before[head + 1]; i++) {
        uint32_t before = function->before[i];
        if (!dominates(d, head, before) || (from != CODE_NONE && from != before))
            continue;
        if (!ret->has && !(ret->has = calloc(d->count, sizeof(*ret->has))))
            return false;
        ret->has[head] = true;
        take_body(function, ret, before, open);
    }
    return true;
}

/* Adds it if it has `node`, and is smaller than `whole` (0: any). Takes what it owns. */
static void add_loop(struct code_loops *loops, struct code_loop loop, uint32_t node, uint32_t whole)
{
    if (loop.has && loop.has[node] && (!whole || loop.size < whole))
        insert(loops, loop);
    else
        free(loop.has);
}

static bool add_loops(struct code_loops *loops, const struct dominators *d, uint32_t head,
                      uint32_t node, bool splits, uint32_t *open)
{
    struct code_loop loop;
    const struct code_function *function = d->function;
    bool good = make_loop(d, head, CODE_NONE, open, &loop);
    uint32_t whole = loop.has ? loop.size : 0;
    if (good)
        add_loop(loops, loop, node, 0);
    for (uint32_t i = function->first_before[head];
         good && splits && whole && i < function->first_before[head + 1]; i++) {
        good = make_loop(d, head, function->before[i], open, &loop);
        if (good)
            add_loop(loops, loop, node, whole);
    }
    return good;
}

/* --- loops with several beginnings --- */

/* What the ways from `node` lead to, or, backward, what leads to it, within `inside` (NULL: the
 * function) and without its head. `open` has room for all nodes. */
static void mark_reached(const struct code_function *function, const struct code_loop *inside,
                         uint32_t node, bool backward, bool *marked, uint32_t *open)
{
    uint32_t count = 0;
    open[count++] = node;
    while (count) {
        struct code_way way;
        uint32_t at = open[--count], first = function->first_before[at];
        for (uint32_t k = 0;; k++) {
            uint32_t to;
            if (backward && first + k < function->first_before[at + 1])
                to = function->before[first + k];
            else if (!backward && code_function_way(function, at, k, &way))
                to = way.to;
            else
                break;
            if (to == CODE_NONE || marked[to] ||
                (inside && (!inside->has[to] || to == inside->head)))
                continue;
            marked[to] = true;
            open[count++] = to;
        }
    }
}

/* Adds the loop of the nodes that `node` reaches and that reach `node`. If a compiler repeats a
 * part of a loop before it (`while (!*lock(m)) sleep();`), several ways lead into the loop, and
 * none of its instructions dominates the others. Its turns are counted from `node` on. */
static bool add_knot(struct code_loops *loops, const struct code_function *function, uint32_t node,
                     uint32_t *open)
{
    const struct code_loop *inside = loops->count ? &loops->all[0] : NULL;
    struct code_loop knot = {.head = node, .has = calloc(function->nodes.length, sizeof(bool))};
    bool *before = calloc(function->nodes.length, sizeof(*before));
    bool good = knot.has && before;
    if (good && (!inside || inside->head != node)) {
        mark_reached(function, inside, node, false, knot.has, open);
        mark_reached(function, inside, node, true, before, open);
        for (uint32_t i = 0; i < function->nodes.length; i++) {
            knot.has[i] &= before[i];
            knot.size += knot.has[i];
        }
    }
    free(before);
    if (good && knot.size)
        insert(loops, knot);
    else
        free(knot.has);
    return good;
}

bool code_loops_init(struct code_loops *loops, const struct code_function *function, uint32_t node,
                     bool splits)
{
    struct dominators d;
    *loops = (struct code_loops){0};
    uint32_t *open = calloc(function->nodes.length, sizeof(*open));
    bool good = dominators_init(&d, function) && open;
    for (uint32_t head = 0; good && head < d.count; head++)
        if (dominates(&d, head, node))
            good = add_loops(loops, &d, head, node, splits, open);
    dominators_deinit(&d);
    good = good && (splits || add_knot(loops, function, node, open));
    free(open);
    if (!good)
        code_loops_deinit(loops);
    return good;
}

void code_loops_deinit(struct code_loops *loops)
{
    for (uint32_t i = 0; i < loops->count; i++)
        free(loops->all[i].has);
    *loops = (struct code_loops){0};
}
