/* Sorts decisions by importance. A way that the normal run took and the bad run never took shows
 * what failed to happen. Ways out of the loop in which the bad run ended come first, then others
 * within that loop, then those before it. Ways that only the bad run took are mostly consequences
 * and come last. Within a class, decisions are in the order in which the bad run reached them.
 *
 * With a single trace, there is a loop but no other run: each branch in the loop that always went
 * the same way is checked for whether its other way leads out of the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "steps/diverger.h"

static bool in_loop(const struct diverger *d, uint32_t step)
{
    return d->has_spin && d->spin.executes[d->runs[1]->instruction_of[step]];
}

/* The address in the process of run 1 to which a way of run 0 leads; 0: it is in no file that both
 * runs have. */
static uint64_t in_bad_run(const struct diverger *d, uint64_t address)
{
    const struct module *module = places_module(d->runs[0]->places, address);
    const struct places *places = d->runs[1]->places;
    for (size_t i = 0; module && i < places->modules.length; i++)
        if (strcmp(places->modules.data[i].name, module->name) == 0)
            return address - module->base + places->modules.data[i].base;
    return 0;
}

static uint32_t last_use(const struct decision *decision, unsigned which)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < decision->way_count; i++)
        if (decision->ways[i].use[which].count > 0 && decision->ways[i].use[which].last > last)
            last = decision->ways[i].use[which].last;
    return last;
}

/* The bad run never took the way that the normal run took. */
static void classify_missing(const struct diverger *d, const struct decision *decision,
                             const struct way *way, struct pick *ret)
{
    ret->step = last_use(decision, 1);
    ret->normal_step = way->use[0].first;
    ret->in_loop = in_loop(d, ret->step);
    uint64_t target = in_bad_run(d, d->runs[0]->pcs[ret->normal_step + 1]);
    ret->leaves = ret->in_loop && spin_leaves(d->runs[1], &d->spin, ret->step, target);
    ret->class = ret->leaves ? PICK_LEAVES_LOOP : ret->in_loop ? PICK_IN_LOOP : PICK_BEFORE;
}

static bool classify_pair(const struct diverger *d, const struct decision *decision,
                          struct pick *ret)
{
    const struct way *missing = decision_only(decision, 0), *extra = decision_only(decision, 1);
    if (missing) {
        classify_missing(d, decision, missing, ret);
        return true;
    }
    if (!extra)
        return false;
    ret->step = extra->use[1].first;
    ret->normal_step = last_use(decision, 0);
    ret->in_loop = in_loop(d, ret->step);
    ret->class = PICK_BAD_ONLY;
    return true;
}

/* The way of a branch that the loop never took. */
static uint64_t other_way(const struct run *run, uint32_t step)
{
    const struct instruction *branch = run_instruction(run, step);
    return run_fell_through(run, step) ? branch->target : branch->address + branch->length;
}

static bool classify_alone(const struct diverger *d, const struct decision *decision,
                           struct pick *ret)
{
    const struct run *run = d->runs[1];
    if (decision->first[1] == ARGUS_NONE || decision->way_count != 1)
        return false;
    ret->step = decision->ways[0].use[1].last;
    if (run_instruction(run, ret->step)->flow != FLOW_BRANCH)
        return false;
    ret->in_loop = true;
    ret->normal_step = ARGUS_NONE;
    ret->leaves = spin_leaves(run, &d->spin, ret->step, other_way(run, ret->step));
    ret->class = ret->leaves ? PICK_LEAVES_LOOP : PICK_IN_LOOP;
    return true;
}

static int by_weight(const void *left, const void *right)
{
    const struct pick *a = left, *b = right;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->first_step != b->first_step)
        return a->first_step < b->first_step ? -1 : 1;
    return a->decision < b->decision ? -1 : a->decision > b->decision;
}

static struct argus_error *pick_all(struct diverger *d)
{
    for (uint32_t i = 0; i < d->decisions.all.length; i++) {
        const struct decision *decision = &d->decisions.all.data[i];
        struct pick pick = {.decision = i, .first_step = decision->first[1]};
        bool chosen =
            d->runs[0] ? classify_pair(d, decision, &pick) : classify_alone(d, decision, &pick);
        if (chosen && !vec_push(&d->picks, pick))
            return argus_error_memory();
    }
    if (d->picks.length)
        qsort(d->picks.data, d->picks.length, sizeof(*d->picks.data), by_weight);
    return NULL;
}

static struct argus_error *add_both(struct diverger *d)
{
    struct argus_error *error = decisions_add(&d->decisions, d->runs[0], 0, 0, d->runs[0]->count);
    return error ? error : decisions_add(&d->decisions, d->runs[1], 1, 0, d->runs[1]->count);
}

static bool has_common(const struct decisions *decisions)
{
    for (size_t i = 0; i < decisions->all.length; i++)
        if (decisions->all.data[i].first[0] != ARGUS_NONE &&
            decisions->all.data[i].first[1] != ARGUS_NONE)
            return true;
    return false;
}

/* If the runs began at different call depths, no branch has the same context in both. */
static struct argus_error *compare(struct diverger *d)
{
    struct argus_error *error = add_both(d);
    if (!error && !has_common(&d->decisions)) {
        decisions_deinit(&d->decisions);
        d->decisions = (struct decisions){.in_any_context = true};
        error = add_both(d);
    }
    if (!error && !has_common(&d->decisions))
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                   "the traces have no branch in common: have both begun at the "
                                   "same function of the same program?");
    return error;
}

struct argus_error *diverger_choose(struct diverger *d)
{
    struct argus_error *error =
        d->runs[0] ? compare(d)
                   : decisions_add(&d->decisions, d->runs[1], 1, d->spin.first, d->spin.last);
    return error ? error : pick_all(d);
}
