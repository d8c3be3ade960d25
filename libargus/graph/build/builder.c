/* The parts of a builder: its threads and cpus, the states of its features, and shared helpers. */
#include "graph/build/builder.h"

#include <string.h>

#include "graph/build/absence.h"
#include "graph/build/cpu_state.h"
#include "graph/build/cut_points.h"
#include "graph/build/on_block.h"
#include "graph/build/on_file_lock.h"
#include "graph/build/on_interrupt.h"
#include "graph/build/on_ipc.h"
#include "graph/build/on_lock_name.h"
#include "graph/build/on_object_name.h"
#include "graph/build/on_open_end.h"
#include "graph/build/on_signal.h"
#include "graph/build/on_stack.h"
#include "graph/build/on_work.h"
#include "graph/build/path_lookup.h"
#include "graph/build/thread_state.h"
#include "graph/rules/callback.h"
#include "graph/rules/flag_state.h"
#include "graph/rules/queue_order.h"
#include "graph/rules/voucher.h"

bool builder_init(struct builder *builder)
{
    bool made = true;
#define FEATURE(name) made = (builder->name = name##_create()) && made;
#include "graph/build/features.def"
#undef FEATURE
    return made;
}

void builder_deinit(struct builder *builder)
{
    for (size_t i = 0; i < builder->threads.length; i++)
        vec_deinit(&builder->threads.data[i].ops);
    vec_deinit(&builder->threads);
    vec_deinit(&builder->cpus);
    idmap_deinit(&builder->cpu_by_number);
#define FEATURE(name) name##_destroy(builder->name);
#include "graph/build/features.def"
#undef FEATURE
}

struct cpu_state *builder_cpu(struct builder *builder, uint32_t number)
{
    uint32_t index = idmap_get(&builder->cpu_by_number, number);
    if (index != IDMAP_NONE)
        return &builder->cpus.data[index];
    struct cpu_state made = {
        .cpu = number,
        .thread = ARGUS_NONE,
        .bh_queuer = {.thread = ARGUS_NONE, .slot = ARGUS_NONE},
        .itimer = ARGUS_NONE,
        .last_new = ARGUS_NONE,
        .wakee = ARGUS_NONE,
        .wake_stack = ARGUS_NONE,
    };
    index = (uint32_t)builder->cpus.length;
    if (!vec_push(&builder->cpus, made) || !idmap_put(&builder->cpu_by_number, number, index)) {
        builder->no_memory = true;
        return NULL;
    }
    return &builder->cpus.data[index];
}

bool builder_add_threads(struct builder *builder)
{
    size_t wanted = builder->graph->machine.threads.length;
    if (!vec_reserve(&builder->threads, wanted - builder->threads.length))
        return false;
    while (builder->threads.length < wanted) {
        struct thread_state *state = &builder->threads.data[builder->threads.length++];
        *state = (struct thread_state){
            .slot = ARGUS_NONE,
            .previous = ARGUS_NONE,
            .older = ARGUS_NONE,
            .spare = {ARGUS_NONE, ARGUS_NONE},
            .own_timer = ARGUS_NONE,
            .marks = {.begun = {.slot = ARGUS_NONE},
                      .ended = {.slot = ARGUS_NONE},
                      .last = {.slot = ARGUS_NONE}},
            .open = {.loop = {.thread = ARGUS_NONE, .slot = ARGUS_NONE}},
            .syscall = ARGUS_NO_SYSCALL,
            .restart.syscall = ARGUS_NO_SYSCALL,
        };
        wait_forget_notes(state);
    }
    return true;
}

uint32_t builder_thread(struct builder *builder, uint64_t tid)
{
    uint32_t thread = machine_thread(&builder->graph->machine, tid);
    if (builder->threads.length < builder->graph->machine.threads.length &&
        !builder_add_threads(builder)) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    return thread;
}

bool builder_add_edge(struct builder *builder, const struct argus_edge *edge)
{
    bool full = builder->graph->edges.length >= ARGUS_NONE - 1;
    bool added = !full && vec_push(&builder->graph->edges, *edge);
    builder->full |= full;
    builder->no_memory |= !full && !added;
    return added;
}

uint32_t builder_place_in(struct builder *builder, struct idmap *ids, uint64_t key, void **data,
                          size_t *length, size_t *capacity, size_t element_bytes)
{
    uint32_t index = idmap_get(ids, key);
    if (index != IDMAP_NONE)
        return index;
    if (*length >= ARGUS_NONE - 1) {
        builder->full = true;
        return ARGUS_NONE;
    }
    if (!vec_grow(data, capacity, *length, 1, element_bytes) ||
        !idmap_put(ids, key, (uint32_t)*length)) {
        builder->no_memory = true;
        return ARGUS_NONE;
    }
    memset((char *)*data + *length * element_bytes, 0, element_bytes);
    return (uint32_t)(*length)++;
}

bool builder_report_progress(struct builder *builder, double share)
{
    if (!builder->stopped && builder->progress &&
        !builder->progress(builder->progress_context, "putting the graph in order", share))
        builder->stopped = true;
    return !builder->stopped;
}
