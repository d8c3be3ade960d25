/* Finds what decided a branch: the sources of its slice become candidates, each variable once.
 *
 * Order of the candidates: variables that the thread itself writes in every iteration, and
 * read-only memory, come last. Before these, candidates are sorted by the importance of their
 * decision (choose.c). A variable that is compared with the result of a call is more often a
 * deadline (for time()) than a flag, so it comes later. Within one decision, a value that was equal
 * in both runs did not decide; a word on the thread's own stack is less often written by other
 * threads than one elsewhere; and of the rest, the load nearest to the branch is first.
 */
#include <stdlib.h>
#include <string.h>

#include "steps/diverger.h"

enum { EXECUTIONS_MOST = 8 }; /* the last executions of a branch in the loop that are examined */

/* The values that decided one decision, in both runs. */
struct evidence {
    const struct pick *pick;
    uint32_t step; /* of run 1: the execution that is examined */
    struct sources sources[2];
    uint32_t turns[2]; /* the step at which the loop iteration began; ARGUS_NONE: no loop */
};

static const struct run *bad_run(const struct diverger *d)
{
    return d->runs[1];
}

/* A branch may be executed several times in an iteration of an outer loop; stores in between count
 * as well. */
static uint32_t loop_turn(const struct diverger *d, uint32_t step, uint32_t turn)
{
    uint32_t first = step > d->turn_steps ? step - d->turn_steps : 0;
    return turn == ARGUS_NONE || turn > first ? first : turn;
}

static void gather(const struct diverger *d, struct evidence *evidence)
{
    const uint32_t steps[2] = {evidence->pick->normal_step, evidence->step};
    for (unsigned i = 0; i < 2; i++) {
        evidence->sources[i].count = 0;
        evidence->turns[i] = ARGUS_NONE;
        if (!d->runs[i] || steps[i] == ARGUS_NONE)
            continue;
        evidence->turns[i] = dataflow_turn(d->runs[i], steps[i]);
        if (i == 1 && evidence->pick->in_loop)
            evidence->turns[1] = loop_turn(d, steps[1], evidence->turns[1]);
        dataflow_sources(d->runs[i], steps[i],
                         evidence->turns[i] == ARGUS_NONE ? 0 : evidence->turns[i],
                         &evidence->sources[i]);
        for (uint32_t j = 0; j < evidence->sources[i].count; j++)
            dataflow_narrow(d->runs[i], &evidence->sources[i].all[j], steps[i]);
    }
}

/* The load of the normal run that corresponds to `source` in the bad run. */
static const struct source *counterpart(const struct diverger *d, const struct evidence *evidence,
                                        const struct source *source)
{
    uint64_t key = run_key(bad_run(d), source->step);
    for (uint32_t i = 0; i < evidence->sources[0].count; i++) {
        const struct source *other = &evidence->sources[0].all[i];
        if (other->kind == SOURCE_LOAD && run_key(d->runs[0], other->step) == key)
            return other;
    }
    return NULL;
}

static void take_values(const struct diverger *d, const struct evidence *evidence,
                        const struct source *source, struct argus_flag_candidate *ret)
{
    const struct source *other = counterpart(d, evidence, source);
    struct argus_flag_value *values = ret->values;
    values[1].known = dataflow_value(bad_run(d), source, &values[1].value);
    if (other)
        values[0].known = dataflow_value(d->runs[0], other, &values[0].value);
}

static bool is_writable(const struct diverger *d, uint64_t address)
{
    const struct argus_step_image *images;
    uint32_t image = argus_steps_image_of(bad_run(d)->steps, address);
    argus_steps_images(bad_run(d)->steps, &images);
    return image == ARGUS_NONE || images[image].writable;
}

static enum argus_flag_role role_of(const struct diverger *d, const struct evidence *evidence,
                                    const struct source *source)
{
    if (source->has_address && !is_writable(d, source->address))
        return ARGUS_FLAG_CONSTANT;
    return source->is_stored_in_turn && evidence->turns[1] != ARGUS_NONE ? ARGUS_FLAG_COUNTER
                                                                         : ARGUS_FLAG_CANDIDATE;
}

/* The candidate with the same variable as `source`, if it is known. While a list is traversed, the
 * same load has other addresses each time. */
static uint32_t find_candidate(const struct diverger *d, const struct source *source)
{
    uint32_t instruction = bad_run(d)->instruction_of[source->step];
    for (uint32_t i = 0; i < d->candidates.length; i++) {
        const struct argus_flag_candidate *one = &d->candidates.data[i];
        if (d->ranks.data[i].source_instruction == instruction ||
            (source->has_address && one->address == source->address &&
             one->size_bytes == source->size_bytes))
            return i;
    }
    return ARGUS_NONE;
}

static bool has_results(const struct sources *sources)
{
    for (uint32_t i = 0; i < sources->count; i++)
        if (sources->all[i].kind != SOURCE_LOAD)
            return true;
    return false;
}

/* A constant is an immediate, or zero in a test of a register with itself. */
static bool compares_loads(const struct run *run, const struct sources *sources)
{
    if (sources->compare_step == ARGUS_NONE)
        return false;
    const struct instruction *compare = run_instruction(run, sources->compare_step);
    uint64_t registers = compare->reads & (REGISTER_BIT(REGISTER_FLAGS) - 1);
    int operands = __builtin_popcountll(registers) + compare->memory_count;
    return !compare->has_immediate && !compare->tests_bits && operands > 1;
}

static bool is_own(const struct source *source, enum stored_value stored)
{
    return source &&
           (stored == STORED_SAME || (stored == STORED_UNKNOWN && source->is_stored_in_turn));
}

/* In a loop until all of several variables are set, as in "while (!(a & b))", one that is set ends
 * nothing while another one is 0. */
static bool is_satisfied(const struct diverger *d, const struct sources *sources, uint32_t index)
{
    uint64_t own, other;
    if (d->runs[0] || sources->gathers || compares_loads(bad_run(d), sources) ||
        !dataflow_value(bad_run(d), &sources->all[index], &own) || !own)
        return false;
    for (uint32_t i = 0; i < sources->count; i++)
        if (i != index && sources->all[i].kind == SOURCE_LOAD && !sources->all[i].is_spill &&
            dataflow_value(bad_run(d), &sources->all[i], &other) && !other)
            return true;
    return false;
}

static bool add_candidate(struct diverger *d, const struct evidence *evidence,
                          const struct source *source, uint32_t order, uint32_t *ret)
{
    const struct source *other = counterpart(d, evidence, source);
    struct argus_flag_candidate candidate = {.role = role_of(d, evidence, source)};
    enum stored_value stored = other ? dataflow_stored_value(d->runs[0], other) : STORED_UNKNOWN;
    struct candidate_rank rank = {
        .source_instruction = bad_run(d)->instruction_of[source->step],
        .class = evidence->pick->class,
        .is_satisfied =
            is_satisfied(d, &evidence->sources[1], (uint32_t)(source - evidence->sources[1].all)),
        .with_results = has_results(&evidence->sources[1]),
        .is_own = is_own(other, stored),
        .is_of_another = stored == STORED_OTHER,
        .compares_loads = compares_loads(bad_run(d), &evidence->sources[1]),
        .has_changed = other && dataflow_has_changed(d->runs[0], other),
        .is_elsewhere = !other && evidence->sources[0].count > 0,
        .order = order};
    rank.is_request =
        rank.compares_loads && dataflow_stored_value(bad_run(d), source) == STORED_SAME;
    describe_memory(&d->describers[1], source, &candidate);
    take_values(d, evidence, source, &candidate);
    candidate.loads = bad_run(d)->executions.data[bad_run(d)->instruction_of[source->step]];
    *ret = (uint32_t)d->candidates.length;
    return vec_push(&d->candidates, candidate) && vec_push(&d->ranks, rank);
}

/* --- the decision itself --- */

static struct argus_decision_way describe_way(struct diverger *d, const struct way *way)
{
    unsigned which = way->use[1].count > 0 ? 1 : 0;
    uint32_t step = way->use[which].first;
    return (struct argus_decision_way){
        .to = describe_code(&d->describers[which], d->runs[which]->pcs[step + 1]),
        .counts = {way->use[0].count, way->use[1].count},
    };
}

static bool take_ways(struct diverger *d, const struct decision *decision,
                      struct argus_decision *ret)
{
    ret->ways = calloc(decision->way_count, sizeof(*ret->ways));
    if (!ret->ways)
        return false;
    for (uint32_t i = 0; i < decision->way_count; i++)
        ret->ways[ret->way_count++] = describe_way(d, &decision->ways[i]);
    return true;
}

static uint32_t only_step(const struct decision *decision, unsigned which)
{
    const struct way *way = decision_only(decision, which);
    return way ? way->use[which].first : ARGUS_NONE;
}

/* "usleep(), clock_gettime()": results on which the branch depends besides memory. */
static const char *results_text(struct diverger *d, const struct sources *sources)
{
    const struct argus_step_event *events;
    const char *text = NULL;
    argus_steps_events(bad_run(d)->steps, &events);
    for (uint32_t i = 0; i < sources->count; i++) {
        const struct source *source = &sources->all[i];
        const char *name = "a system call";
        if (source->kind == SOURCE_LOAD)
            continue;
        if (source->kind == SOURCE_CALL)
            name =
                describe_text(&d->describers[1], "%s()",
                              describe_function(&d->describers[1],
                                                events[bad_run(d)->skip_of[source->step]].address));
        if (!text || !strstr(text, name))
            text = describe_text(&d->describers[1], "%s%s%s", text ? text : "", text ? ", " : "",
                                 name);
    }
    return text;
}

static bool describe_decision(struct diverger *d, const struct evidence *evidence,
                              struct argus_decision *ret)
{
    const struct pick *pick = evidence->pick;
    const struct decision *decision = &d->decisions.all.data[pick->decision];
    uint32_t compare = evidence->sources[1].compare_step;
    *ret = (struct argus_decision){
        .branch = describe_code(&d->describers[1], bad_run(d)->pcs[pick->step]),
        .steps = {only_step(decision, 0), only_step(decision, 1)},
        .first_steps = {decision->first[0], decision->first[1]},
        .in_loop = pick->in_loop,
        .leaves_loop = pick->leaves,
        .results = results_text(d, &evidence->sources[1]),
    };
    if (compare != ARGUS_NONE)
        ret->compare = describe_code(&d->describers[1], bad_run(d)->pcs[compare]);
    ret->candidates = calloc(SOURCES_MAX * EXECUTIONS_MOST, sizeof(*ret->candidates));
    return ret->candidates && take_ways(d, decision, ret);
}

static bool has_candidate(const struct argus_decision *decision, uint32_t candidate)
{
    for (size_t i = 0; i < decision->candidate_count; i++)
        if (decision->candidates[i] == candidate)
            return true;
    return false;
}

static bool add_candidates(struct diverger *d, const struct evidence *evidence,
                           struct argus_decision *decision)
{
    const struct sources *sources = &evidence->sources[1];
    uint32_t order = (uint32_t)d->found.length * SOURCES_MAX;
    for (uint32_t i = 0; i < sources->count; i++) {
        const struct source *source = &sources->all[i];
        if (source->kind != SOURCE_LOAD || source->is_spill)
            continue;
        uint32_t candidate = find_candidate(d, source);
        if (candidate == ARGUS_NONE && !add_candidate(d, evidence, source, order + i, &candidate))
            return false;
        if (!has_candidate(decision, candidate))
            decision->candidates[decision->candidate_count++] = candidate;
    }
    return true;
}

/* Earlier executions of the branch in the loop: a call through a table of functions has another
 * target each time. */
static bool add_executions(struct diverger *d, struct evidence *evidence,
                           struct argus_decision *decision)
{
    for (unsigned i = 1; evidence->pick->in_loop && i < EXECUTIONS_MOST; i++) {
        uint32_t before = dataflow_turn(bad_run(d), evidence->step);
        if (before == ARGUS_NONE || before < d->spin.first)
            break;
        evidence->step = before;
        gather(d, evidence);
        if (!add_candidates(d, evidence, decision))
            return false;
    }
    return true;
}

struct argus_error *diverger_propose(struct diverger *d, const struct pick *pick)
{
    struct evidence evidence = {.pick = pick, .step = pick->step};
    struct argus_decision decision;
    gather(d, &evidence);
    bool done = describe_decision(d, &evidence, &decision) &&
                add_candidates(d, &evidence, &decision) &&
                add_executions(d, &evidence, &decision) && vec_push(&d->found, decision);
    if (done)
        return NULL;
    free(decision.ways);
    free(decision.candidates);
    return argus_error_memory();
}
