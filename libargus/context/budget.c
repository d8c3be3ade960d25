/* A list of contexts says nothing of the time that it leaves out. So the whole time of a program's
 * threads is stated first, and divided: into what its contexts did themselves, into their waits,
 * and into what cannot be attributed to a function, with the reason. The parts add up to the whole.
 */
#include "context/budget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context/contexts_data.h"
#include "context/wakers.h"

static const struct {
    const char *key, *text;
} part_names[BUDGET_PARTS] = {
    [BUDGET_CPU] = {"on_cpu", "on a CPU"},
    [BUDGET_DEVICE] = {"device", "for disks, pages or stops"},
    [BUDGET_OTHERS] = {"others", "waits for others"},
    [BUDGET_IDLE] = {"idle", "timed out"},
    [BUDGET_SLEPT] = {"slept", "slept"},
    [BUDGET_SCHEDULER] = {"scheduler",
                          "in threads without a goroutine (blocked goroutines are not seen)"},
    [BUDGET_WANTED_CPU] = {"cpu", "waits for a CPU"},
    [BUDGET_BETWEEN] = {"between", "between stacks without a common function"},
    [BUDGET_UNSEEN + ARGUS_UNSEEN_EVER] = {"no_stack", "in threads without any stack"},
    [BUDGET_UNSEEN + ARGUS_UNSEEN_BEFORE] = {"before", "before a thread's first stack"},
    [BUDGET_UNSEEN + ARGUS_UNSEEN_AFTER] = {"after", "after a thread's last stack"},
    [BUDGET_UNSEEN + ARGUS_UNSEEN_OPEN] = {"open", "in waits that had not ended"},
    [BUDGET_UNSEEN + ARGUS_UNSEEN_LOST] = {"lost", "where records are missing"},
};

const char *budget_part_key(enum budget_part part)
{
    return part_names[part].key;
}

const char *budget_part_text(enum budget_part part)
{
    return part_names[part].text;
}

/* --- the parts --- */

/* Adds a node's own time, `sign` times. What a thread waited for is known even if it belongs to no
 * function: mostly a CPU, between two stacks without a common function. */
static void add_node(struct budget *budget, const struct argus_context_node *node,
                     enum argus_estimate estimate, int sign)
{
    static const uint8_t part_of[ARGUS_WAITED_KINDS] = {
        [ARGUS_WAITED_OTHERS] = BUDGET_OTHERS, [ARGUS_WAITED_IDLE] = BUDGET_IDLE,
        [ARGUS_WAITED_SLEPT] = BUDGET_SLEPT,   [ARGUS_WAITED_CPU] = BUDGET_WANTED_CPU,
        [ARGUS_WAITED_DEVICE] = BUDGET_DEVICE, [ARGUS_WAITED_SCHEDULER] = BUDGET_SCHEDULER,
    };
    double cpu = sign * (double)node_cpu_ns(node, estimate);
    budget->cpu_ns += cpu;
    budget->parts[node->depth < INFERENCE_FIRST_DEPTH ? BUDGET_BETWEEN : BUDGET_CPU] += cpu;
    for (int i = 0; i < ARGUS_WAITED_KINDS; i++)
        budget->parts[part_of[i]] += sign * (double)node->waited_ns[estimate][i];
}

/* A program's place among `budgets` by its node; NULL: not there. */
static struct budget *budget_of(struct budgets *budgets, uint32_t program)
{
    for (size_t i = 0; i < budgets->count; i++)
        if (budgets->items[i].node == program)
            return &budgets->items[i];
    return NULL;
}

static void add_program(struct budget *budget, const struct argus_context_program *program,
                        int sign)
{
    budget->threads += sign * (int64_t)program->threads;
    budget->wall_ns += sign * (double)(program->last_ns - program->first_ns);
    budget->thread_ns += sign * (double)program->thread_ns;
    budget->parts[BUDGET_WANTED_CPU] += sign * (double)program->wanted_cpu_ns;
    budget->wanted_unseen_ns += sign * (double)program->wanted_cpu_ns;
    for (int i = 0; i < ARGUS_UNSEEN_KINDS; i++)
        budget->parts[BUDGET_UNSEEN + i] += sign * (double)program->unseen_ns[i];
}

/* --- both sides --- */

struct side {
    const struct argus_contexts *contexts;
    const uint32_t *budget_node; /* node → node of the report's tree; NULL: the same */
    int sign;
};

static uint32_t report_node(const struct side *side, uint32_t node)
{
    return side->budget_node && node ? side->budget_node[node] : node;
}

static bool add_programs(struct budgets *budgets, const struct side *side)
{
    const struct argus_context_program *programs;
    size_t count = argus_contexts_programs(side->contexts, &programs);
    for (size_t i = 0; i < count; i++) {
        uint32_t node = report_node(side, programs[i].node);
        struct budget *budget = node == ARGUS_NONE ? NULL : budget_of(budgets, node);
        if (!budget && !side->budget_node) {
            budget = &budgets->items[budgets->count++];
            *budget = (struct budget){.node = node};
        }
        if (budget)
            add_program(budget, &programs[i], side->sign);
    }
    return true;
}

static bool add_nodes(struct budgets *budgets, const struct side *side,
                      enum argus_estimate estimate)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(side->contexts, &nodes);
    struct budget **of = calloc(count + 1, sizeof(*of)); /* by node: of its program */
    for (size_t i = 1; of && i < count; i++) {
        uint32_t node = nodes[i].depth == 1 ? report_node(side, (uint32_t)i) : ARGUS_NONE;
        of[i] = nodes[i].depth > 1   ? of[nodes[i].parent]
                : node == ARGUS_NONE ? NULL
                                     : budget_of(budgets, node);
        if (of[i])
            add_node(of[i], &nodes[i], estimate, side->sign);
    }
    free(of);
    return of != NULL;
}

/* Node of the base → node of the trace. */
static uint32_t *turn_around(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->base, &nodes);
    size_t here = argus_contexts_nodes(report->contexts, &nodes);
    uint32_t *map = malloc((count + 1) * sizeof(*map));
    if (!map)
        return NULL;
    memset(map, 0xff, (count + 1) * sizeof(*map));
    for (size_t i = 0; i < here; i++)
        if (report->ranking->base_node[i] != ARGUS_NONE)
            map[report->ranking->base_node[i]] = (uint32_t)i;
    return map;
}

static int by_difference(const void *left, const void *right)
{
    const struct budget *a = left, *b = right;
    if (fabs(a->thread_ns) != fabs(b->thread_ns))
        return fabs(a->thread_ns) > fabs(b->thread_ns) ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

struct argus_error *budgets_create(const struct argus_contexts_report *report, struct budgets *ret)
{
    const struct argus_context_program *programs;
    size_t count = argus_contexts_programs(report->contexts, &programs);
    enum argus_estimate estimate = report->options.estimate;
    struct side now = {report->contexts, NULL, 1}, base = {report->base, NULL, -1};
    *ret = (struct budgets){.items = calloc(count + 1, sizeof(*ret->items))};
    bool good = ret->items && add_programs(ret, &now) && add_nodes(ret, &now, estimate);
    if (good && report->base) {
        uint32_t *map = turn_around(report);
        base.budget_node = map;
        good = map && add_programs(ret, &base) && add_nodes(ret, &base, estimate);
        free(map);
    }
    if (!good) {
        budgets_deinit(ret);
        return argus_error_memory();
    }
    qsort(ret->items, ret->count, sizeof(*ret->items), by_difference);
    return NULL;
}

void budgets_deinit(struct budgets *budgets)
{
    free(budgets->items);
    budgets->items = NULL;
}

/* --- whom it waited for --- */

#define PEERS_MOST 64

static size_t add_peers(const struct argus_contexts *contexts, uint32_t program, int sign,
                        struct budget_peer *peers, size_t count)
{
    const struct argus_context_node *nodes;
    const struct argus_context_wait *waits;
    const struct argus_process *processes;
    argus_contexts_nodes(contexts, &nodes);
    size_t wait_count = argus_contexts_waits(contexts, &waits);
    argus_graph_processes(argus_contexts_graph(contexts), &processes);
    for (size_t i = 0; i < wait_count; i++) {
        const char *name = processes[waits[i].process].name;
        size_t at = 0;
        if (!waits[i].ns || program_of_node(nodes, waits[i].node) != program)
            continue;
        while (at < count && strcmp(peers[at].name, name) != 0)
            at++;
        if (at == count && count == PEERS_MOST)
            continue;
        if (at == count)
            peers[count++] = (struct budget_peer){.name = name};
        peers[at].ns += sign * (double)waits[i].ns;
    }
    return count;
}

static int by_ns(const void *left, const void *right)
{
    const struct budget_peer *a = left, *b = right;
    if (fabs(a->ns) != fabs(b->ns))
        return fabs(a->ns) > fabs(b->ns) ? -1 : 1;
    return strcmp(a->name, b->name);
}

size_t budget_peers(const struct argus_contexts_report *report, const struct budget *budget,
                    struct budget_peer *ret, size_t room)
{
    struct budget_peer peers[PEERS_MOST];
    uint32_t other = report->base ? report->ranking->base_node[budget->node] : ARGUS_NONE;
    size_t count = budget->node ? add_peers(report->contexts, budget->node, 1, peers, 0) : 0;
    if (count && other != ARGUS_NONE)
        count = add_peers(report->base, other, -1, peers, count);
    qsort(peers, count, sizeof(*peers), by_ns);
    count = count < room ? count : room;
    memcpy(ret, peers, count * sizeof(*ret));
    return count;
}
