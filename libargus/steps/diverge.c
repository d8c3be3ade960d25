#include "argus/diverge.h"

#include <stdlib.h>

#include "steps/align.h"
#include "steps/diverger.h"

enum { LOOKED_AT = 12 }; /* decisions examined; later ones matter least */

/* The caller's result, and what owns its contents. */
struct owner {
    struct argus_divergence divergence;
    struct strtab *strings;
};

struct argus_error *diverger_note(struct diverger *d, const char *text)
{
    return vec_push(&d->notes, text) ? NULL : argus_error_memory();
}

static struct argus_error *open_runs(struct diverger *d, struct argus_steps *normal,
                                     struct argus_steps *bad)
{
    struct argus_error *error = run_create(bad, &d->runs[1]);
    if (!error && normal)
        error = run_create(normal, &d->runs[0]);
    if (!error && normal && argus_steps_about(normal)->arch != argus_steps_about(bad)->arch)
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s and %s are of different processors",
                                   argus_steps_path(normal), argus_steps_path(bad));
    if (!error && normal)
        places_compare(d->runs[0]->places, d->runs[1]->places);
    if (!error && normal)
        error = run_make_keys(d->runs[0]);
    if (!error)
        error = run_make_keys(d->runs[1]);
    bool with_callers = !error && normal && run_key(d->runs[0], 0) != run_key(d->runs[1], 0);
    for (unsigned i = 0; i < 2 && !error; i++)
        if (d->runs[i])
            error = run_find_activations(d->runs[i], with_callers);
    for (unsigned i = 0; i < 2; i++)
        d->describers[i] = (struct describer){.run = d->runs[i], .strings = d->strings};
    return error;
}

/* --- notes for the reader --- */

static struct argus_error *note_builds(struct diverger *d)
{
    for (size_t i = 0; i < d->runs[1]->places->modules.length; i++) {
        const struct module *module = &d->runs[1]->places->modules.data[i];
        struct argus_error *error = NULL;
        if (module->differs)
            error = diverger_note(
                d, describe_text(&d->describers[1],
                                 "%s was another build in the two runs: its code is compared by "
                                 "function and offset, where the instructions are of one kind",
                                 module->name));
        else if (module->is_stale)
            error = diverger_note(
                d, describe_text(
                       &d->describers[1],
                       "%s has changed since then: its functions and variables have no names here",
                       module->path));
        if (error)
            return error;
    }
    return NULL;
}

static struct argus_error *note_trace(struct diverger *d, unsigned which)
{
    const struct run *run = d->runs[which];
    const char *path = argus_steps_path(run->steps);
    struct argus_error *error = NULL;
    if (argus_steps_end(run->steps) == ARGUS_STEP_END_NONE)
        error = diverger_note(d, describe_text(&d->describers[which],
                                               "%s was cut off: its last steps are missing", path));
    if (!error && run->undecoded)
        error = diverger_note(
            d,
            describe_text(&d->describers[which],
                          "%u steps of %s are instructions that Capstone does not know, or whose "
                          "code is not in the file: values are not followed through them",
                          run->undecoded, path));
    return error;
}

/* If two traces took the same ways, often both are bad or both are good. */
static struct argus_error *note_ends(struct diverger *d)
{
    if (!d->runs[0] || d->picks.length)
        return NULL;
    return diverger_note(
        d, describe_text(&d->describers[1],
                         "both runs took the same ways. The normal one ended because: %s. The bad "
                         "one because: %s. Was the first one normal? If the function only "
                         "waits, step its caller: argus step --frame 1",
                         argus_steps_end_text(d->runs[0]->steps),
                         argus_steps_end_text(d->runs[1]->steps)));
}

static struct argus_error *add_notes(struct diverger *d)
{
    struct argus_error *error = note_builds(d);
    if (!error)
        error = note_ends(d);
    for (unsigned i = 0; i < 2 && !error; i++)
        if (d->runs[i])
            error = note_trace(d, i);
    if (!error && d->decisions.in_any_context)
        error = diverger_note(d, "the traces began in different calls: their branches are compared "
                                 "without regard to who called the function");
    return error;
}

static struct argus_error *find_loop(struct diverger *d)
{
    struct argus_error *error = spin_find(d->runs[1], &d->spin, &d->has_spin);
    uint32_t turn = error || !d->has_spin ? ARGUS_NONE : dataflow_turn(d->runs[1], d->spin.last);
    d->turn_steps = turn == ARGUS_NONE ? 0 : d->spin.last - turn;
    if (!error && !d->runs[0] && !d->has_spin)
        error = argus_error_create(
            ARGUS_ERROR_NOT_FOUND,
            "%s: nothing in its %u steps was executed twice: there is no loop to look at; record "
            "more steps (argus step --max), or compare with a normal run",
            argus_steps_path(d->runs[1]->steps), d->runs[1]->count);
    return error;
}

static struct argus_error *propose(struct diverger *d)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < d->picks.length && i < LOOKED_AT && !error; i++)
        error = diverger_propose(d, &d->picks.data[i]);
    return error ? error : diverger_rank(d);
}

static struct argus_error *work(struct diverger *d, struct argus_divergence *ret)
{
    struct argus_error *error = find_loop(d);
    if (!error)
        error = diverger_choose(d);
    if (!error)
        error = propose(d);
    if (!error && d->runs[0])
        error = align_runs(d->runs, &d->describers[0], &d->describers[1], ret);
    return error ? error : add_notes(d);
}

/* --- the result --- */

static void take_loop(const struct diverger *d, struct argus_divergence *ret)
{
    const struct run *run = d->runs[1];
    struct describer describer = d->describers[1];
    ret->has_loop = d->has_spin;
    if (!d->has_spin)
        return;
    ret->loop = (struct argus_spin_loop){
        .head = describe_code(&describer, run->pcs[d->spin.first]),
        .first_step = d->spin.first,
        .last_step = d->spin.last,
        .turns = d->spin.turns,
        .turn_steps = d->turn_steps,
        .to_the_end = d->spin.to_the_end,
    };
}

static void take_result(struct diverger *d, struct argus_divergence *ret)
{
    ret->alone = !d->runs[0];
    take_loop(d, ret);
    ret->decisions = d->found.data;
    ret->decision_count = d->found.length;
    ret->decisions_left_out = d->picks.length > LOOKED_AT ? d->picks.length - LOOKED_AT : 0;
    ret->candidates = d->candidates.data;
    ret->candidate_count = d->candidates.length;
    ret->notes = d->notes.data;
    ret->note_count = d->notes.length;
}

static void close_runs(struct diverger *d)
{
    spin_deinit(&d->spin);
    decisions_deinit(&d->decisions);
    vec_deinit(&d->picks);
    vec_deinit(&d->ranks);
    run_destroy(d->runs[0]);
    run_destroy(d->runs[1]);
}

struct argus_error *argus_diverge(struct argus_steps *normal, struct argus_steps *bad,
                                  struct argus_divergence **ret)
{
    struct diverger d = {.strings = strtab_create()};
    struct owner *owner = calloc(1, sizeof(*owner));
    struct argus_error *error =
        d.strings && owner ? open_runs(&d, normal, bad) : argus_error_memory();
    if (!error)
        error = work(&d, &owner->divergence);
    if (!error && (d.describers[0].no_memory || d.describers[1].no_memory))
        error = argus_error_memory();
    if (owner) {
        owner->strings = d.strings;
        take_result(&d, &owner->divergence);
    } else {
        strtab_destroy(d.strings);
    }
    if (error && owner)
        argus_divergence_destroy(&owner->divergence);
    else if (owner)
        *ret = &owner->divergence;
    close_runs(&d);
    return error;
}

void argus_divergence_destroy(struct argus_divergence *divergence)
{
    struct owner *owner = (struct owner *)divergence; /* its first member */
    if (!owner)
        return;
    for (size_t i = 0; i < divergence->decision_count; i++) {
        free(divergence->decisions[i].ways);
        free(divergence->decisions[i].candidates);
    }
    free(divergence->decisions);
    free(divergence->candidates);
    free(divergence->notes);
    strtab_destroy(owner->strings);
    free(owner);
}
