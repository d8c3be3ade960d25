/* Assigns steps to calls, by following calls and returns.
 *
 * A return may lead to an address that is not the return address of any open call (a longjmp, a
 * stack switch, or the end of the function in which the trace began). Then the following steps
 * belong to a new activation, whose beginning is unknown.
 */
#include "steps/run.h"

#include "base/hash64.h"

enum { CONTEXT_CALLS = 3 }; /* number of callers that distinguish two uses of a function */

static uint64_t key_at(const struct run *run, uint64_t pc)
{
    const struct module *module = places_module(run->places, pc);
    uint64_t offset = module ? pc - module->base : pc & 0xfff;
    return hash64(3, &offset, sizeof(offset));
}

static void make_context(struct run *run, struct activation *activation)
{
    uint64_t keys[CONTEXT_CALLS] = {activation->call_key};
    uint32_t at = activation->caller;
    for (unsigned i = 1; i < CONTEXT_CALLS && at != ARGUS_NONE; i++) {
        keys[i] = run->activations.data[at].call_key;
        at = run->activations.data[at].caller;
    }
    activation->context_key = hash64(4, keys, sizeof(keys));
}

static bool add(struct run *run, struct activation activation, uint32_t *ret)
{
    make_context(run, &activation);
    *ret = (uint32_t)run->activations.length;
    return vec_push(&run->activations, activation);
}

/* The calls that were open when the trace began, outermost first, as far as the step file knows
 * them. */
static bool add_open_calls(struct run *run, bool with_callers, uint32_t *ret_now)
{
    const struct argus_step_frame *frames;
    uint32_t chain[64], length = 0;
    size_t count = argus_steps_frames(run->steps, &frames);
    uint32_t frame = argus_steps_first_frame(run->steps);
    for (; with_callers && frame < count && length < 64; frame = frames[frame].caller)
        chain[length++] = frame;
    *ret_now = ARGUS_NONE;
    while (length > 0) {
        const struct argus_step_frame *one = &frames[chain[--length]];
        struct activation activation = {
            .caller = *ret_now,
            .first_step = one->function == run->pcs[0] && length == 0 ? 0 : ARGUS_NONE,
            .call_step = ARGUS_NONE,
            .depth = *ret_now == ARGUS_NONE ? 0 : run->activations.data[*ret_now].depth + 1,
            .return_address = one->return_address,
            .call_key = key_at(run, one->return_address),
        };
        if (!add(run, activation, ret_now))
            return false;
    }
    bool begins = argus_steps_about(run->steps)->begin == ARGUS_STEP_BEGIN_PLACE;
    struct activation bare = {
        .caller = ARGUS_NONE, .first_step = begins ? 0 : ARGUS_NONE, .call_step = ARGUS_NONE};
    return *ret_now != ARGUS_NONE || add(run, bare, ret_now);
}

/* The innermost open call whose return address is `pc`; ARGUS_NONE: none. */
static uint32_t find_open(const struct run *run, uint32_t now, uint64_t pc)
{
    uint32_t a = now;
    while (a != ARGUS_NONE && run->activations.data[a].return_address != pc)
        a = run->activations.data[a].caller;
    return a;
}

static bool enter(struct run *run, uint32_t step, uint32_t *now)
{
    uint64_t back = run->pcs[step] + run_instruction(run, step)->length;
    struct activation activation = {
        .caller = *now,
        .first_step = step + 1,
        .call_step = step,
        .depth = run->activations.data[*now].depth + 1,
        .return_address = back,
        .call_key = run_key(run, step),
    };
    return add(run, activation, now);
}

static bool leave(struct run *run, uint32_t step, uint32_t *now)
{
    uint32_t ended = find_open(run, *now, run->pcs[step + 1]);
    if (ended != ARGUS_NONE && run->activations.data[ended].caller != ARGUS_NONE) {
        *now = run->activations.data[ended].caller;
        return true;
    }
    return add(run, (struct activation){ARGUS_NONE, ARGUS_NONE, ARGUS_NONE, 0, 0, 0, 0}, now);
}

static bool follow(struct run *run, uint32_t step, uint32_t *now)
{
    switch (run_instruction(run, step)->flow) {
    case FLOW_CALL:
    case FLOW_CALL_INDIRECT:
        return run_fell_through(run, step) || enter(run, step, now);
    case FLOW_RETURN:
        return leave(run, step, now);
    /* a jump into a library that was stepped over: the library returned to the caller of the
     * function that jumped */
    case FLOW_JUMP:
    case FLOW_JUMP_INDIRECT:
        return run->skip_of[step] == ARGUS_NONE || leave(run, step, now);
    default:
        return true;
    }
}

struct argus_error *run_find_activations(struct run *run, bool with_callers)
{
    uint32_t now;
    if (!add_open_calls(run, with_callers, &now))
        return argus_error_memory();
    for (uint32_t i = 0; i < run->count; i++) {
        run->activation_of[i] = now;
        if (i + 1 < run->count && !follow(run, i, &now))
            return argus_error_memory();
    }
    return NULL;
}
