#include "trace/late_stacks.h"

#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Both orders compare all members in the end, so that entries that compare equal are identical. */
static int compare_rest(const struct argus_late_stack *a, const struct argus_late_stack *b)
{
    int order = compare(a->from_ticks, b->from_ticks);
    if (!order)
        order = compare(a->to_ticks, b->to_ticks);
    if (!order)
        order = compare(a->id, b->id);
    return order ? order : compare(a->sp, b->sp);
}

static int compare_times(const void *left, const void *right)
{
    const struct argus_late_stack *a = left, *b = right;
    int order = compare(a->tid, b->tid);
    return order ? order : compare_rest(a, b);
}

static int compare_places(const void *left, const void *right)
{
    const struct argus_late_stack *a = left, *b = right;
    int order = compare(a->tid, b->tid);
    if (!order)
        order = compare(a->sp, b->sp);
    return order ? order : compare_rest(a, b);
}

bool late_stacks_finish(struct trace_tables *tables)
{
    size_t count = tables->late_stacks.length;
    tables->late_places.length = 0;
    if (!count)
        return true;
    if (!vec_reserve(&tables->late_places, count))
        return false;
    for (size_t i = 0; i < count; i++)
        tables->late_places.data[i] = tables->late_stacks.data[i];
    tables->late_places.length = count;
    qsort(tables->late_stacks.data, count, sizeof(struct argus_late_stack), compare_times);
    qsort(tables->late_places.data, count, sizeof(struct argus_late_stack), compare_places);
    return true;
}

/* How many of the sorted `stacks` come at or before `wanted`. */
static size_t count_up_to(const struct argus_late_stack *stacks, size_t count,
                          const struct argus_late_stack *wanted,
                          int (*order)(const void *, const void *))
{
    size_t first = 0;
    while (count > 0) {
        size_t half = count / 2;
        bool before = order(&stacks[first + half], wanted) <= 0;
        first = before ? first + half + 1 : first;
        count = before ? count - half - 1 : half;
    }
    return first;
}

static const struct trace_stack *find_stack(const struct trace_tables *tables, uint64_t id)
{
    uint32_t at = id ? idmap_get(&tables->stack_index, id) : IDMAP_NONE;
    return at == IDMAP_NONE ? NULL : &tables->stacks.data[at];
}

/* The late stack of the time in which the wait began; 0: there is none, or it is not in the
 * file. */
static uint64_t find_own(const struct trace_tables *tables, const struct argus_late_stack *wanted)
{
    const struct argus_late_stack *stacks = tables->late_stacks.data;
    size_t behind = count_up_to(stacks, tables->late_stacks.length, wanted, compare_times);
    const struct argus_late_stack *found = behind ? &stacks[behind - 1] : NULL;
    bool fits = found && found->tid == wanted->tid && wanted->from_ticks <= found->to_ticks;
    return fits && find_stack(tables, found->id) ? found->id : 0;
}

/* The late stack of another wait at the same place; `own`: the stack by frame pointers. */
static uint64_t find_same_place(const struct trace_tables *tables,
                                const struct argus_late_stack *wanted, uint64_t own)
{
    const struct argus_late_stack *places = tables->late_places.data;
    size_t count = tables->late_places.length;
    size_t behind = count_up_to(places, count, wanted, compare_places);
    const struct trace_stack *short_stack = find_stack(tables, own);
    for (size_t i = behind ? behind - 1 : 0; i <= behind && i < count; i++) {
        if (places[i].tid != wanted->tid || places[i].sp != wanted->sp)
            continue;
        const struct trace_stack *stack = find_stack(tables, places[i].id);
        return stack && short_stack &&
                       tables->frames.data[stack->first] == tables->frames.data[short_stack->first]
                   ? places[i].id
                   : 0;
    }
    return 0;
}

void late_stacks_put(const struct trace_tables *tables, struct argus_record *records, size_t count)
{
    for (size_t i = 0; i < count && tables->late_stacks.length; i++) {
        struct argus_record *record = &records[i];
        if (record->debugid != ARGUS_ID_STACK || record->arg[2] != ARGUS_STACK_BLOCK)
            continue;
        const struct argus_late_stack wanted = {.tid = record->tid,
                                                .from_ticks = record->timestamp,
                                                .to_ticks = UINT64_MAX,
                                                .sp = record->arg[3],
                                                .id = UINT64_MAX};
        uint64_t late = find_own(tables, &wanted);
        if (!late && wanted.sp)
            late = find_same_place(tables, &wanted, record->arg[0]);
        if (late)
            record->arg[0] = late;
    }
}
