/* What a running thread does: samples of its stack, counted by stack and by function. */
#include "live/live_sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"

enum {
    MOST_STACKS = 256,
    LEAST_SAMPLES = 8,
    LEAST_PERCENT = 90, /* of the samples, in one loop */
};

/* A distinct stack. */
struct counted {
    uint64_t key;
    uint64_t *addresses; /* owned */
    uint32_t count, samples, kernel_samples;
    bool is_cut;
};

struct sampling {
    struct argus_live *live;
    uint32_t thread, pid;
    VEC(struct counted) stacks;
    uint32_t samples;
};

static struct counted *find_stack(struct sampling *sampling, const uint64_t *addresses,
                                  size_t count, bool is_cut)
{
    uint64_t key = hash64(0, addresses, count * sizeof(*addresses));
    for (size_t i = 0; i < sampling->stacks.length; i++)
        if (sampling->stacks.data[i].key == key && sampling->stacks.data[i].count == count)
            return &sampling->stacks.data[i];
    struct counted stack = {.key = key, .count = (uint32_t)count, .is_cut = is_cut};
    stack.addresses = malloc(count * sizeof(*addresses));
    if (!stack.addresses || !vec_push(&sampling->stacks, stack)) {
        sampling->live->no_memory = true;
        free(stack.addresses);
        return NULL;
    }
    memcpy(stack.addresses, addresses, count * sizeof(*addresses));
    // cppcheck-suppress memleak // the vector has it
    return &sampling->stacks.data[sampling->stacks.length - 1];
}

static void take_moment(void *context, const struct live_moment *moment)
{
    struct sampling *sampling = context;
    uint64_t addresses[LIVE_STACK_FRAMES];
    bool is_cut;
    size_t count = live_stack_at(sampling->live, sampling->pid, moment, addresses, &is_cut);
    sampling->samples++;
    if (!count || sampling->stacks.length == MOST_STACKS)
        return;
    struct counted *stack = find_stack(sampling, addresses, count, is_cut);
    if (!stack)
        return;
    stack->samples++;
    stack->kernel_samples += moment->is_in_kernel;
}

static int by_samples(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    return a->samples < b->samples ? 1 : a->samples > b->samples ? -1 : 0;
}

/* --- the result --- */

struct result {
    VEC(struct argus_live_sampled_stack) stacks;
    VEC(struct argus_live_sampled_function) functions;
    VEC(struct argus_live_frame) frames;
};

static struct argus_live_sampled_function *
function_of(struct sampling *sampling, struct result *result, const struct argus_live_frame *frame)
{
    for (size_t i = 0; i < result->functions.length; i++)
        if (result->functions.data[i].function == frame->function &&
            result->functions.data[i].image == frame->image)
            return &result->functions.data[i];
    struct argus_live_sampled_function function = {frame->function, frame->image, 0, 0};
    if (vec_push(&result->functions, function))
        return &result->functions.data[result->functions.length - 1];
    sampling->live->no_memory = true;
    return NULL;
}

/* A function that calls itself counts once. */
static bool is_repeated(const struct argus_live_frame *frames, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (frames[i].function == frames[at].function && frames[i].image == frames[at].image)
            return true;
    return false;
}

static void count_functions(struct sampling *sampling, struct result *result,
                            const struct argus_live_sampled_stack *stack)
{
    const struct argus_live_frame *frames = result->frames.data + stack->first_frame;
    for (size_t i = 0; i < stack->frame_count; i++) {
        struct argus_live_sampled_function *function =
            frames[i].function && !is_repeated(frames, i)
                ? function_of(sampling, result, &frames[i])
                : NULL;
        if (!function)
            continue;
        function->all += stack->samples;
        function->own += i == 0 ? stack->samples : 0;
    }
}

/* Stacks that differ only in the lines of their functions are one. */
static bool is_alike(const struct result *result, const struct argus_live_sampled_stack *a,
                     const struct argus_live_sampled_stack *b)
{
    const struct argus_live_frame *of_a = result->frames.data + a->first_frame;
    const struct argus_live_frame *of_b = result->frames.data + b->first_frame;
    if (a->frame_count != b->frame_count || a->is_cut != b->is_cut)
        return false;
    for (uint32_t i = 0; i < a->frame_count; i++)
        if (!of_a[i].function || of_a[i].function != of_b[i].function ||
            of_a[i].image != of_b[i].image)
            return false;
    return true;
}

static bool merge_stack(struct result *result, const struct argus_live_sampled_stack *stack)
{
    for (size_t i = 0; i < result->stacks.length; i++) {
        struct argus_live_sampled_stack *earlier = &result->stacks.data[i];
        if (!is_alike(result, earlier, stack))
            continue;
        earlier->samples += stack->samples;
        earlier->kernel_samples += stack->kernel_samples;
        return true;
    }
    return false;
}

static int by_stack_samples(const void *left, const void *right)
{
    const struct argus_live_sampled_stack *a = left, *b = right;
    return a->samples < b->samples ? 1 : a->samples > b->samples ? -1 : 0;
}

static void add_stack(struct sampling *sampling, struct result *result, const struct counted *stack)
{
    struct argus_live_sampled_stack named = {.samples = stack->samples,
                                             .kernel_samples = stack->kernel_samples,
                                             .first_frame = (uint32_t)result->frames.length,
                                             .frame_count = stack->count,
                                             .is_cut = stack->is_cut};
    for (uint32_t i = 0; i < stack->count; i++) {
        struct argus_live_frame frame;
        live_stack_name(sampling->live, sampling->pid, stack->addresses[i], i > 0, &frame);
        if (!vec_push(&result->frames, frame)) {
            sampling->live->no_memory = true;
            return;
        }
    }
    count_functions(sampling, result, &named);
    if (merge_stack(result, &named))
        result->frames.length = named.first_frame;
    else if (!vec_push(&result->stacks, named))
        sampling->live->no_memory = true;
}

static int by_own(const void *left, const void *right)
{
    const struct argus_live_sampled_function *a = left, *b = right;
    if (a->own != b->own)
        return a->own < b->own ? 1 : -1;
    return a->all < b->all ? 1 : a->all > b->all ? -1 : 0;
}

/* The loop in which nearly all samples are. */
static void find_loop(struct sampling *sampling, struct argus_live_loop *ret)
{
    uint32_t wanted = (sampling->samples * LEAST_PERCENT + 99) / 100, inside = 0;
    uint32_t left = sampling->samples;
    uint64_t found = 0, key;
    struct argus_live_loop loop;
    ret->flag_count = 0;
    for (size_t i = 0; i < sampling->stacks.length && inside + left >= wanted; i++) {
        const struct counted *stack = &sampling->stacks.data[i];
        left -= stack->samples;
        if (!live_loop(sampling->live, sampling->thread, stack->addresses, stack->count, true,
                       &loop, &key) ||
            (found && found != key))
            continue;
        if (!found)
            *ret = loop;
        found = key;
        inside += stack->samples;
    }
    if (inside < wanted || sampling->samples < LEAST_SAMPLES)
        ret->flag_count = 0;
}

static enum argus_live_sampler take_samples(struct sampling *sampling, uint32_t tid,
                                            uint64_t duration_ns)
{
    if (live_perf(tid, duration_ns, take_moment, sampling))
        return ARGUS_LIVE_SAMPLER_PERF;
    if (live_stops(sampling->pid, tid, duration_ns, take_moment, sampling))
        return ARGUS_LIVE_SAMPLER_STOPS;
    return ARGUS_LIVE_SAMPLER_NONE;
}

static void name_stacks(struct sampling *sampling, struct argus_live_samples *ret)
{
    struct result result = {{0}, {0}, {0}};
    if (sampling->stacks.length)
        qsort(sampling->stacks.data, sampling->stacks.length, sizeof(struct counted), by_samples);
    for (size_t i = 0; i < sampling->stacks.length; i++)
        add_stack(sampling, &result, &sampling->stacks.data[i]);
    if (result.functions.length)
        qsort(result.functions.data, result.functions.length, sizeof(*result.functions.data),
              by_own);
    if (result.stacks.length)
        qsort(result.stacks.data, result.stacks.length, sizeof(*result.stacks.data),
              by_stack_samples);
    ret->count = sampling->samples;
    ret->stacks = result.stacks.data;
    ret->stack_count = result.stacks.length;
    ret->functions = result.functions.data;
    ret->function_count = result.functions.length;
    ret->frames = result.frames.data;
    ret->frame_count = result.frames.length;
}

struct argus_error *live_sample(struct argus_live *live, uint32_t thread, uint64_t duration_ns,
                                struct argus_live_samples *ret)
{
    struct sampling sampling = {.live = live, .thread = thread, .pid = live_pid_of(live, thread)};
    uint32_t tid = live->threads.data[thread].tid;
    uint64_t begin = live_now_ns(), ran, wanted;
    *ret = (struct argus_live_samples){.count = 0};
    live_run_time(live, thread, &ran, &wanted);
    ret->sampler = take_samples(&sampling, tid, duration_ns);
    live_run_time(live, thread, &ret->ran_ns, &ret->wanted_cpu_ns);
    ret->elapsed_ns = live_now_ns() - begin;
    ret->ran_ns -= ret->ran_ns > ran ? ran : ret->ran_ns;
    ret->wanted_cpu_ns -= ret->wanted_cpu_ns > wanted ? wanted : ret->wanted_cpu_ns;
    name_stacks(&sampling, ret);
    find_loop(&sampling, &ret->loop);
    for (size_t i = 0; i < sampling.stacks.length; i++)
        free(sampling.stacks.data[i].addresses);
    vec_deinit(&sampling.stacks);
    if (!live->no_memory)
        return NULL;
    live_samples_deinit(ret);
    return argus_error_memory();
}

void live_samples_deinit(struct argus_live_samples *samples)
{
    free(samples->stacks);
    free(samples->functions);
    free(samples->frames);
    *samples = (struct argus_live_samples){.count = 0};
}

/* The loop in which the main goroutine of a Go program sleeps. Its stack is the step's; the one of
 * the thread is that of Go's scheduler. */
static void find_goroutine_loop(struct argus_live *live, const struct argus_live_step *step,
                                struct argus_live_answer *answer)
{
    uint64_t addresses[LIVE_STACK_FRAMES], key;
    size_t count = step->frame_count < LIVE_STACK_FRAMES ? step->frame_count : LIVE_STACK_FRAMES;
    for (size_t i = 0; i < count; i++)
        addresses[i] = answer->frames[step->first_frame + i].address;
    live_loop(live, step->thread, addresses, count, false, &answer->loop, &key);
}

struct argus_error *argus_live_look_closer(struct argus_live *live, uint64_t duration_ns,
                                           struct argus_live_answer *answer)
{
    const struct argus_live_step *last = &answer->steps[answer->step_count - 1];
    const char *call = argus_live_call_name(&live->threads.data[last->thread]);
    bool is_goroutine = last->wait.kind == ARGUS_LIVE_SLEEP && last->is_goroutine;
    /* a runtime's own sleep (Java's), which waits for a futex, tells nothing of the program */
    if (is_goroutine)
        find_goroutine_loop(live, last, answer);
    else if (last->wait.kind == ARGUS_LIVE_SLEEP && (!call || strcmp(call, "futex") != 0))
        live_loop_of(live, last->thread, &answer->loop);
    if ((last->wait.kind != ARGUS_LIVE_RUNS && !last->went_on) ||
        live->threads.data[last->thread].state == 't')
        return NULL;
    answer->samples = calloc(1, sizeof(*answer->samples));
    if (!answer->samples)
        return argus_error_memory();
    struct argus_error *error = live_sample(live, last->thread, duration_ns, answer->samples);
    if (!error && !(is_goroutine && answer->loop.flag_count))
        answer->loop = answer->samples->loop;
    return error;
}
