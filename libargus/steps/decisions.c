#include "steps/decisions.h"

#include "base/hash64.h"

/* Jumps through the dynamic linker's table have another target the first time, and decide
 * nothing. */
static bool is_linkage(const struct instruction *instruction)
{
    return instruction->flow == FLOW_JUMP_INDIRECT && instruction->memory_count > 0 &&
           instruction->memory[0].is_relative;
}

static bool decides(const struct run *run, uint32_t step)
{
    const struct instruction *instruction = run_instruction(run, step);
    if (instruction->flow == FLOW_BRANCH)
        return true;
    bool indirect =
        instruction->flow == FLOW_JUMP_INDIRECT || instruction->flow == FLOW_CALL_INDIRECT;
    return indirect && run->skip_of[step] == ARGUS_NONE && !is_linkage(instruction);
}

static uint64_t key_of(const struct decisions *decisions, const struct run *run, uint32_t step)
{
    uint64_t context = decisions->in_any_context ? 0 : run_activation(run, step)->context_key;
    const uint64_t parts[2] = {run_key(run, step), context};
    return hash64(5, parts, sizeof(parts));
}

static struct decision *find(struct decisions *decisions, uint64_t key)
{
    uint32_t at = idmap_get(&decisions->by_key, key);
    struct decision fresh = {.key = key, .first = {ARGUS_NONE, ARGUS_NONE}};
    if (at != IDMAP_NONE)
        return &decisions->all.data[at];
    if (!vec_push(&decisions->all, fresh) ||
        !idmap_put(&decisions->by_key, key, (uint32_t)decisions->all.length - 1))
        return NULL;
    return &decisions->all.data[decisions->all.length - 1];
}

static struct way *find_way(struct decision *decision, uint64_t key)
{
    for (uint32_t i = 0; i < decision->way_count; i++)
        if (decision->ways[i].key == key)
            return &decision->ways[i];
    if (decision->way_count < DECISION_WAYS)
        decision->ways[decision->way_count++] = (struct way){.key = key};
    return &decision->ways[decision->way_count - 1];
}

static void count_use(struct way_use *use, uint32_t step)
{
    if (use->count++ == 0)
        use->first = step;
    use->last = step;
}

struct argus_error *decisions_add(struct decisions *decisions, const struct run *run,
                                  unsigned which, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && i + 1 < run->count; i++) {
        if (!decides(run, i))
            continue;
        struct decision *decision = find(decisions, key_of(decisions, run, i));
        if (!decision)
            return argus_error_memory();
        if (decision->first[which] == ARGUS_NONE)
            decision->first[which] = i;
        count_use(&find_way(decision, run_key(run, i + 1))->use[which], i);
    }
    return NULL;
}

void decisions_deinit(struct decisions *decisions)
{
    vec_deinit(&decisions->all);
    idmap_deinit(&decisions->by_key);
}

const struct way *decision_only(const struct decision *decision, unsigned which)
{
    const struct way *found = NULL;
    if (decision->first[0] == ARGUS_NONE || decision->first[1] == ARGUS_NONE)
        return NULL;
    for (uint32_t i = 0; i < decision->way_count; i++) {
        const struct way *way = &decision->ways[i];
        bool only = way->use[which].count > 0 && way->use[!which].count == 0;
        if (only && (!found || way->use[which].first < found->use[which].first))
            found = way;
    }
    return found;
}

uint32_t decision_count(const struct decision *decision, unsigned which)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < decision->way_count; i++)
        count += decision->ways[i].use[which].count;
    return count;
}
