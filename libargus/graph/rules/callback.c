/* The cause of a callback: the segment that queued it, found by its key. For a UI event: the
 * segment that read it from the display server, if that is in the trace. Otherwise: the event
 * loop's segment that found it ready. */
#include "graph/rules/callback.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/rules/queue_order.h"
#include "graph/schema/rule_binding.h"

/* UI events of one kind that a thread has read but not yet delivered; found by thread and kind. */
struct ui_read {
    struct actor by; /* the segment that read the latest of them */
    uint32_t waiting;
};

struct dispatches {
    VEC(struct queued_callback) queued;
    struct idmap queued_by_key;
    VEC(struct ui_read) ui_reads;
    struct idmap ui_read_by_key;
};

struct dispatches *dispatches_create(void)
{
    return calloc(1, sizeof(struct dispatches));
}

void dispatches_destroy(struct dispatches *dispatches)
{
    if (!dispatches)
        return;
    vec_deinit(&dispatches->queued);
    idmap_deinit(&dispatches->queued_by_key);
    vec_deinit(&dispatches->ui_reads);
    idmap_deinit(&dispatches->ui_read_by_key);
    free(dispatches);
}

/* The space whose probes share their keys; 0 if the trace has lost the table of probes. */
static uint32_t space_of(const struct builder *builder, uint64_t number)
{
    const struct argus_probe_entry *probe =
        number > UINT32_MAX ? NULL : argus_graph_probe(builder->graph, (uint32_t)number);
    return probe ? probe->space : 0;
}

/* The callback that `record` names for `thread`; created if `make`. Two callbacks whose keys mix to
 * the same number replace each other: then one has no edge, but none has a wrong edge. */
static struct queued_callback *find(struct builder *builder, uint32_t thread,
                                    const struct argus_record *record, bool make)
{
    uint32_t process = builder->graph->machine.threads.data[thread].process;
    uint32_t space = space_of(builder, record->arg[2]);
    /* Keys can be small numbers, so they are mixed with the process and the space. */
    uint64_t mixed = record->arg[0] * 0x9e3779b97f4a7c15u ^
                     ((uint64_t)process << 32 | space) * 0xbf58476d1ce4e5b9u;
    uint32_t index = make ? builder_place(builder, &builder->dispatches->queued,
                                          &builder->dispatches->queued_by_key, mixed)
                          : idmap_get(&builder->dispatches->queued_by_key, mixed);
    if (index == ARGUS_NONE)
        return NULL;
    struct queued_callback *found = &builder->dispatches->queued.data[index];
    bool same = found->key == record->arg[0] && found->process == process && found->space == space;
    if (make && !same)
        *found =
            (struct queued_callback){.key = record->arg[0], .process = process, .space = space};
    return make || same ? found : NULL;
}

static const struct argus_probe_entry *probe_of(const struct builder *builder,
                                                const struct argus_record *record)
{
    return record->arg[2] > UINT32_MAX
               ? NULL
               : argus_graph_probe(builder->graph, (uint32_t)record->arg[2]);
}

static void add_ping(struct builder *builder, uint32_t thread, uint64_t key, uint64_t to,
                     const struct argus_probe_entry *probe)
{
    struct argus_ping ping = {
        .time_ns = builder->now_ns, .key = key, .to = to, .thread = thread, .probe = probe->number};
    if (!vec_push(&builder->graph->pings, ping))
        builder->no_memory = true;
}

/* Probes of the same shape also report pings. */
static bool note_ping(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    const struct argus_probe_entry *probe = probe_of(builder, record);
    const char *label = probe ? strrchr(probe->label, ' ') : NULL;
    if (!label || (strcmp(label, " ping") != 0 && strcmp(label, " pong") != 0))
        return false;
    add_ping(builder, thread, record->arg[0], record->arg[1], probe);
    return true;
}

void rule_note_hook(struct builder *builder, uint32_t thread, const struct argus_record *record)
{
    const struct argus_probe_entry *probe = probe_of(builder, record);
    if (probe && strcmp(probe->label, ARGUS_LABEL_SPINNING) == 0)
        add_ping(builder, thread, record->arg[0], record->arg[3], probe);
}

void graph_on_callback_queued(struct builder *builder, struct cpu_state *cpu,
                              const struct argus_record *record)
{
    if (cpu->thread == ARGUS_NONE || thread_at(builder, cpu->thread)->slot == ARGUS_NONE)
        return;
    if (note_ping(builder, cpu->thread, record))
        return;
    struct queued_callback *queued = find(builder, cpu->thread, record, true);
    if (!queued)
        return;
    struct thread_state *state = thread_at(builder, cpu->thread);
    queued->by =
        (struct actor){.since_ns = builder->now_ns, .thread = cpu->thread, .slot = state->slot};
    queued->waits = true;
    queued->rule =
        rule_binding_find(builder->binding, record->arg[2], RULE_KIND_BIT(ARGUS_RULE_ENQUEUE));
    if (queued->rule != ARGUS_NONE && builder->binding->rules[queued->rule].fifo)
        queue_order_put(builder, queued);
    state->acted = true;
}

/* Counts the rule that makes this probe a cancel probe. */
static void count_cancel(struct builder *builder, const struct argus_record *record)
{
    uint32_t rule =
        rule_binding_find(builder->binding, record->arg[2], RULE_KIND_BIT(ARGUS_RULE_CANCEL));
    if (rule != ARGUS_NONE)
        builder_count(builder, rule_of_user(rule));
}

void graph_on_callback_cancelled(struct builder *builder, struct cpu_state *cpu,
                                 const struct argus_record *record)
{
    struct queued_callback *queued =
        cpu->thread == ARGUS_NONE ? NULL : find(builder, cpu->thread, record, false);
    if (!queued)
        return;
    count_cancel(builder, record);
    queued->waits = false;
    queued->first = queued->last = 0;
}

static struct ui_read *find_read(struct builder *builder, uint32_t thread, uint64_t kind)
{
    uint32_t index =
        builder_place(builder, &builder->dispatches->ui_reads, &builder->dispatches->ui_read_by_key,
                      (uint64_t)thread << 8 | kind);
    return index == ARGUS_NONE ? NULL : &builder->dispatches->ui_reads.data[index];
}

/* Toolkits drop events (a motion that a later one replaces). So events that an earlier segment read
 * are forgotten as soon as a later segment reads the same kind. */
void rule_ui_read(struct builder *builder, uint32_t thread, uint64_t kind)
{
    struct ui_read *read = find_read(builder, thread, kind);
    uint32_t slot = thread_at(builder, thread)->slot;
    if (!read)
        return;
    if (read->by.slot != slot)
        read->waiting = 0;
    read->by = (struct actor){.since_ns = builder->now_ns, .thread = thread, .slot = slot};
    read->waiting++;
}

/* The cause of what was queued. A user's rule says how strong it is, and whether it can run
 * again. */
static struct cause cause_of(struct builder *builder, struct queued_callback *queued)
{
    if (queued->rule == ARGUS_NONE)
        return actor_cause(&queued->by, ARGUS_EDGE_DISPATCH, RULE_DISPATCH_QUEUED);
    const struct argus_user_rule *rule = &builder->binding->rules[queued->rule];
    if (rule->fifo)
        queue_order_take(builder, queued);
    queued->waits = rule->repeats || queued->first;
    struct cause cause = actor_cause(&queued->by, ARGUS_EDGE_DISPATCH, rule_of_user(queued->rule));
    cause.edge.strong = !rule->weak;
    return cause;
}

void rule_dispatch(struct builder *builder, uint32_t thread, const struct argus_record *record,
                   bool is_ui, const struct actor *loop, struct cause *ret)
{
    struct queued_callback *queued =
        is_ui || !record->arg[0] ? NULL : find(builder, thread, record, false);
    struct ui_read *read = is_ui ? find_read(builder, thread, record->arg[0] & 0xff) : NULL;
    if (queued && queued->waits) {
        *ret = cause_of(builder, queued);
    } else if (read && read->waiting) {
        read->waiting--;
        *ret = actor_cause(&read->by, ARGUS_EDGE_DISPATCH, RULE_DISPATCH_READ);
    } else if (rule_binding_find(builder->binding, record->arg[2], RULE_KINDS_OF_UNITS) !=
               ARGUS_NONE) {
        /* a user's unit need not belong to an event loop: what ran before it may be unrelated */
        *ret = (struct cause){0};
    } else {
        *ret = actor_cause(loop, ARGUS_EDGE_DISPATCH, RULE_DISPATCH_READY);
    }
}
