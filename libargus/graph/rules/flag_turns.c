/* Data flags whose writes come in pairs, as the user declared (argus watchflag --semantics).
 *
 * A *flip* is set by one thread and cleared by the thread that saw it; the edge leads from the set
 * to the clear. A *queue* counts work: adding n leaves n pieces of work, subtracting n takes the n
 * oldest ones. The paper's prototype had both for its five flags. Only writes have to be watched,
 * so such a flag needs half of the hits, since reads cost as much as writes.
 *
 * The previous value of the flag is that of its latest recorded write, or its value when the watch
 * began.
 */
#include "graph/build/actor.h"
#include "graph/build/builder.h"
#include "graph/rules/flag_state.h"
#include "graph/rules/queue_order.h"

#define MOST_PIECES 64 /* of one write; a counter that changes by more was set, not incremented */

static int64_t as_number(uint64_t value, uint32_t bytes)
{
    uint32_t unused = bytes && bytes < 8 ? 64 - 8 * bytes : 0;
    return (int64_t)(value << unused) >> unused;
}

/* The number of pieces that the write adds; negative: that it takes. */
static int64_t pieces_of(const struct flag_state *flag, const struct flag_access *write)
{
    if (flag->semantics == ARGUS_FLAG_FLIP)
        return (write->value != 0) - (flag->value != 0);
    uint64_t change;
    change = (uint64_t)as_number(write->value, flag->bytes) -
             (uint64_t)as_number(flag->value, flag->bytes);
    return (int64_t)change;
}

static void take_one(struct builder *builder, struct flag_state *flag,
                     const struct flag_access *write, enum rule_id rule, const struct actor *before)
{
    bool same = before && before->slot == flag->queue.by.slot &&
                before->since_ns == flag->queue.by.since_ns;
    if (!same && flag->queue.by.thread != write->by.thread)
        rule_flag_edge(builder, &flag->queue.by, write, rule);
}

void rule_flag_turn(struct builder *builder, struct flag_state *flag,
                    const struct flag_access *write)
{
    enum rule_id rule = flag->semantics == ARGUS_FLAG_FLIP ? RULE_FLAG_FLIPPED : RULE_FLAG_QUEUED;
    int64_t pieces = pieces_of(flag, write);
    struct actor before, *taken = NULL;
    if (pieces > MOST_PIECES || pieces < -MOST_PIECES) {
        while (queue_order_take(builder, &flag->queue))
            ; /* start over */
        return;
    }
    for (; pieces > 0; pieces--) {
        flag->queue.by = write->by;
        queue_order_put(builder, &flag->queue);
    }
    for (; pieces < 0 && queue_order_take(builder, &flag->queue); pieces++) {
        take_one(builder, flag, write, rule, taken);
        before = flag->queue.by;
        taken = &before;
    }
}
