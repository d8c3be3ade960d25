/* Darwin's vouchers: the process on whose behalf a thread works (event/darwin/darwin_vouchers.c).
 *
 * A voucher that comes with a message names its beneficiary, which the splits use (rules/split.c).
 * A voucher also passes on what a thread works for: libdispatch takes the voucher of the thread
 * that queues an item, and the thread that runs the item adopts it. If neither a message nor a
 * libdispatch item is recorded, the voucher is the only sign of this. So an edge leads from the
 * previous holder of the voucher to the thread that adopts it. The edge is weak, because a voucher
 * can be passed on several times.
 *
 * A thread that has just received the voucher itself gets no edge, because the message is the edge.
 */
#include "graph/rules/voucher.h"

#include <stdlib.h>

#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

/* A voucher and its latest holder. */
struct voucher_state {
    struct actor last;
    bool known;
};

struct vouchers {
    VEC(struct voucher_state) all;
    struct idmap by_key;
};

struct vouchers *vouchers_create(void)
{
    return calloc(1, sizeof(struct vouchers));
}

void vouchers_destroy(struct vouchers *vouchers)
{
    if (!vouchers)
        return;
    vec_deinit(&vouchers->all);
    idmap_deinit(&vouchers->by_key);
    free(vouchers);
}

bool vouchers_seen(const struct vouchers *vouchers)
{
    return vouchers->all.length > 0;
}

static bool can_act(const struct builder *builder, uint32_t thread)
{
    return thread < builder->threads.length && builder->threads.data[thread].slot != ARGUS_NONE &&
           builder->threads.data[thread].activity == THREAD_RUNNING;
}

static void note_beneficiary(struct builder *builder, uint32_t thread, uint64_t pid)
{
    const struct machine *machine = &builder->graph->machine;
    const struct argus_process *own =
        &machine->processes.data[machine->threads.data[thread].process];
    struct argus_callback note = {.time_ns = builder->now_ns,
                                  .function = pid,
                                  .vertex = thread_at(builder, thread)->slot,
                                  .probe = ARGUS_PROBE_VOUCHER,
                                  .what = ARGUS_CALLBACK_BEHALF};
    if (!pid || pid == own->pid)
        return;
    if (builder->graph->callbacks.length >= ARGUS_NONE - 1)
        builder->full = true;
    else if (!vec_push(&builder->graph->callbacks, note))
        builder->no_memory = true;
}

void rule_voucher(struct builder *builder, const struct argus_record *record)
{
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->tid);
    if (!record->arg[0] || !can_act(builder, thread))
        return;
    uint32_t index =
        builder_place(builder, &builder->vouchers->all, &builder->vouchers->by_key, record->arg[0]);
    if (index == ARGUS_NONE)
        return;
    struct voucher_state *voucher = &builder->vouchers->all.data[index];
    bool other = voucher->known && voucher->last.thread != thread;
    if (record->arg[3] == ARGUS_VOUCHER_ADOPTED && other) {
        struct cause cause = actor_cause(&voucher->last, ARGUS_EDGE_DISPATCH, RULE_VOUCHER);
        cause.edge.strong = false;
        if (cause.known)
            vertex_add_edge(builder, thread, &cause);
    }
    if (record->arg[3] != ARGUS_VOUCHER_SENT)
        note_beneficiary(builder, thread, record->arg[1]);
    voucher->known = true;
    voucher->last = (struct actor){
        .since_ns = builder->now_ns, .thread = thread, .slot = thread_at(builder, thread)->slot};
}
