/* Sorts the candidates (propose.c has the criteria), and writes for each the sentence that explains
 * its rank. */
#include <stdlib.h>

#include "steps/diverger.h"

static bool is_equal_in_both(const struct argus_flag_candidate *candidate)
{
    return candidate->values[0].known && candidate->values[1].known &&
           candidate->values[0].value == candidate->values[1].value;
}

static bool is_different(const struct argus_flag_candidate *candidate)
{
    return candidate->values[0].known && candidate->values[1].known &&
           candidate->values[0].value != candidate->values[1].value;
}

static uint64_t weight(const struct diverger *d, uint32_t candidate)
{
    const struct argus_flag_candidate *one = &d->candidates.data[candidate];
    const struct candidate_rank *rank = &d->ranks.data[candidate];
    return ((uint64_t)one->role << 48) + ((uint64_t)rank->class << 40) +
           ((uint64_t)rank->is_own << 47) + ((uint64_t)rank->is_elsewhere << 38) +
           ((uint64_t)(!d->runs[0] && rank->with_results) << 37) +
           ((uint64_t)rank->is_request << 36) +
           ((uint64_t)(is_equal_in_both(one) && !rank->compares_loads) << 36) +
           ((uint64_t)(d->runs[0] && !is_different(one) && !rank->compares_loads) << 35) +
           ((uint64_t)(d->runs[0] && rank->compares_loads && !rank->has_changed) << 34) +
           ((uint64_t)(rank->compares_loads && is_equal_in_both(one) && !rank->has_changed) << 33) +
           ((uint64_t)rank->is_satisfied << 35) + /* with a normal run, its values tell */
           ((uint64_t)(one->where == ARGUS_FLAG_STACK) << 32) + rank->order;
}

static const char *value_text(struct diverger *d, const struct argus_flag_candidate *candidate)
{
    const struct argus_flag_value *values = candidate->values;
    struct describer *describer = &d->describers[1];
    if (values[0].known && values[1].known)
        return describe_text(describer, "it was %lld in the normal run and %lld in the bad one; ",
                             (long long)values[0].value, (long long)values[1].value);
    if (values[1].known)
        return describe_text(describer, "it was %lld%s; ", (long long)values[1].value,
                             d->runs[0] ? " in the bad run" : "");
    return "";
}

static const char *decides_text(const struct diverger *d, const struct candidate_rank *rank)
{
    if (!d->runs[0])
        return rank->class == PICK_LEAVES_LOOP
                   ? "a branch that could lead out of the loop depends on it"
                   : "a branch in the loop that always went one way depends on it";
    switch (rank->class) {
    case PICK_LEAVES_LOOP:
        return "the normal run left the loop by a branch that depends on it";
    case PICK_IN_LOOP:
        return "within the loop the normal run went another way by a branch that depends on it";
    case PICK_BEFORE:
        return "the normal run went another way by a branch that depends on it";
    default:
        return "the bad run went a way of its own by a branch that depends on it";
    }
}

static const char *writer_text(const struct diverger *d, uint32_t index)
{
    const struct argus_flag_candidate *candidate = &d->candidates.data[index];
    if (candidate->role == ARGUS_FLAG_COUNTER)
        return "this thread writes it in every turn: a counter or a deadline";
    if (candidate->role == ARGUS_FLAG_CONSTANT)
        return "but its memory cannot be written";
    if (d->ranks.data[index].is_own)
        return "but in the normal run this thread wrote it itself";
    if (d->ranks.data[index].is_request)
        return "but this thread wrote its value, and compares it with another variable";
    if (d->ranks.data[index].is_of_another)
        return "in the normal run this thread had written another value, so another thread wrote "
               "it";
    if (d->ranks.data[index].is_satisfied)
        return "the loop waits for another one as well, which is still 0";
    if (candidate->where == ARGUS_FLAG_UNKNOWN)
        return "its address is not known";
    return d->has_spin ? "this thread does not write it in the loop"
                       : "this thread did not write it just before";
}

static uint32_t *sorted(const struct diverger *d)
{
    uint32_t *order = calloc(d->candidates.length + 1, sizeof(*order));
    for (uint32_t i = 0; order && i < d->candidates.length; i++) {
        uint32_t at = i; /* insertion sort: there are few */
        for (; at > 0 && weight(d, order[at - 1]) > weight(d, i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

/* Sorts the candidates into `order`, and renumbers them in the decisions. */
static bool rearrange(struct diverger *d, const uint32_t *order)
{
    size_t count = d->candidates.length;
    struct argus_flag_candidate *moved = calloc(count + 1, sizeof(*moved));
    uint32_t *number = calloc(count + 1, sizeof(*number));
    for (uint32_t i = 0; moved && number && i < count; i++) {
        moved[i] = d->candidates.data[order[i]];
        number[order[i]] = i;
    }
    for (size_t i = 0; moved && number && i < d->found.length; i++)
        for (size_t j = 0; j < d->found.data[i].candidate_count; j++)
            d->found.data[i].candidates[j] = number[d->found.data[i].candidates[j]];
    bool done = moved && number;
    free(number);
    if (!done) {
        free(moved);
        return false;
    }
    free(d->candidates.data);
    d->candidates.data = moved;
    d->candidates.capacity = count + 1;
    return true;
}

struct argus_error *diverger_rank(struct diverger *d)
{
    for (uint32_t i = 0; i < d->candidates.length; i++) {
        struct argus_flag_candidate *one = &d->candidates.data[i];
        one->why = describe_text(&d->describers[1], "%s; %s%s", decides_text(d, &d->ranks.data[i]),
                                 value_text(d, one), writer_text(d, i));
    }
    uint32_t *order = sorted(d);
    bool done = order && rearrange(d, order);
    free(order);
    return done ? NULL : argus_error_memory();
}
