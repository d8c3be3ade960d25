#include "steps/spin.h"

#include <stdlib.h>

#include "base/hash64.h"

enum {
    EXPLORED_MOST = 2000, /* instructions searched for a way back into the loop */
    PENDING_MOST = 64,
    CODE_MOST = 16,
};

/* The executions of a place. */
struct visit {
    uint32_t first, last, count;
};

struct visits {
    VEC(struct visit) all;
    struct idmap by_key;
};

static bool visit(struct visits *visits, uint64_t key, uint32_t step)
{
    uint32_t at = idmap_get(&visits->by_key, key);
    if (at == IDMAP_NONE) {
        struct visit fresh = {step, step, 1};
        return vec_push(&visits->all, fresh) &&
               idmap_put(&visits->by_key, key, (uint32_t)visits->all.length - 1);
    }
    visits->all.data[at].last = step;
    visits->all.data[at].count++;
    return true;
}

static bool visit_all(struct visits *visits, const struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const uint64_t parts[2] = {run_key(run, i), run_activation(run, i)->context_key};
        if (!visit(visits, hash64(6, parts, sizeof(parts)), i))
            return false;
    }
    return true;
}

static uint32_t turn_of(const struct visit *visit)
{
    return (visit->last - visit->first) / (visit->count - 1);
}

/* The trace may end within an iteration, so a distance of up to two iterations is accepted. */
static bool goes_to_the_end(const struct run *run, const struct visit *visit)
{
    return run->count - visit->last <= 2 * turn_of(visit) + 64;
}

static bool note_executed(const struct run *run, struct spin *spin)
{
    spin->executes = calloc(run->instructions.length, sizeof(*spin->executes));
    for (uint32_t i = spin->first; spin->executes && i <= spin->last; i++)
        spin->executes[run->instruction_of[i]] = true;
    return spin->executes != NULL;
}

void spin_deinit(struct spin *spin)
{
    free(spin->executes);
    spin->executes = NULL;
}

/* Whether `one`, which was first executed later than `best`, is a longer repetition. If it lasts
 * less than an iteration longer, it is only the rest of an iteration, or a loop within the loop. */
static bool is_longer(const struct visit *one, const struct visit *best)
{
    if (one->count < 2 || (best && one->last - one->first <= best->last - best->first))
        return false;
    return !best || best->count < 4 || best->last + turn_of(best) < one->last;
}

struct argus_error *spin_find(const struct run *run, struct spin *ret, bool *ret_found)
{
    struct visits visits = {0};
    struct argus_error *error = visit_all(&visits, run) ? NULL : argus_error_memory();
    const struct visit *best = NULL;
    for (size_t i = 0; !error && i < visits.all.length; i++) {
        const struct visit *one = &visits.all.data[i];
        if (is_longer(one, best))
            best = one;
    }
    *ret_found = best != NULL;
    if (best) {
        *ret = (struct spin){.first = best->first,
                             .last = best->last,
                             .turns = best->count - 1,
                             .to_the_end = goes_to_the_end(run, best)};
        error = note_executed(run, ret) ? NULL : argus_error_memory();
    }
    vec_deinit(&visits.all);
    idmap_deinit(&visits.by_key);
    return error;
}

/* --- ways out --- */

struct exploration {
    const struct run *run;
    const struct spin *spin;
    uint64_t pending[PENDING_MOST];
    unsigned pending_count, explored;
    struct idmap seen;
};

static bool executed_in_loop(const struct run *run, const struct spin *spin, uint64_t address)
{
    uint32_t instruction = idmap_get(&run->by_pc, address);
    return instruction != IDMAP_NONE && spin->executes[instruction];
}

static void put_off(struct exploration *exploration, uint64_t address)
{
    if (exploration->pending_count < PENDING_MOST &&
        idmap_get(&exploration->seen, address) == IDMAP_NONE &&
        idmap_put(&exploration->seen, address, 0))
        exploration->pending[exploration->pending_count++] = address;
}

/* Follows code from `address` to its next branch. True: it returns to the loop. */
static bool comes_back(struct exploration *exploration, uint64_t address)
{
    const struct run *run = exploration->run;
    while (exploration->explored++ < EXPLORED_MOST) {
        uint8_t code[CODE_MOST];
        struct instruction instruction;
        if (executed_in_loop(run, exploration->spin, address))
            return true;
        size_t bytes = run_code(run, address, sizeof(code), code);
        if (!instruction_decode(run->decoder, code, bytes, address, &instruction))
            return false;
        if (instruction.flow == FLOW_BRANCH || instruction.flow == FLOW_JUMP)
            put_off(exploration, instruction.target);
        if (instruction.flow == FLOW_JUMP || instruction.flow == FLOW_RETURN ||
            instruction.flow == FLOW_JUMP_INDIRECT || instruction.flow == FLOW_TRAP)
            return false;
        address += instruction.length;
        if (idmap_get(&exploration->seen, address) != IDMAP_NONE)
            return false;
        if (instruction.flow == FLOW_BRANCH && !idmap_put(&exploration->seen, address, 0))
            return false;
    }
    return false;
}

bool spin_leaves(const struct run *run, const struct spin *spin, uint32_t branch_step,
                 uint64_t address)
{
    struct exploration exploration = {.run = run, .spin = spin};
    if (run_activation(run, branch_step)->depth > run_activation(run, spin->first)->depth)
        return false;
    bool back = false;
    put_off(&exploration, address);
    while (!back && exploration.pending_count > 0)
        back = comes_back(&exploration, exploration.pending[--exploration.pending_count]);
    idmap_deinit(&exploration.seen);
    return !back;
}
