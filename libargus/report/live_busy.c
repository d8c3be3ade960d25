#include "report/live_busy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/live_words.h"

enum { MOST_FUNCTIONS = 8, MOST_STACKS = 2, MOST_FRAMES = 24 };

static unsigned percent(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)((part * 100 + whole / 2) / whole) : 0;
}

static void add_flag(struct text *text, const struct argus_live *live,
                     const struct argus_live_flag *flag)
{
    const char *image = argus_live_text(live, flag->image);
    char holder[LIVE_TEXT_BYTES / 8];
    text_add(text, "%s'%s'%s%s", flag->is_lock ? "the lock " : "",
             argus_live_text(live, flag->name), image[0] ? " of " : "", image);
    if (flag->has_value)
        text_add(text, ", which is %" PRIu64 " now", flag->value);
    if (flag->holder != ARGUS_LIVE_NONE)
        text_add(text, ", which %s %sholds",
                 live_thread_text(live, flag->holder, holder, sizeof(holder)),
                 flag->is_holder_guess ? "probably " : "");
}

const char *live_loop_text(const struct argus_live *live, const struct argus_live_loop *loop,
                           char *buffer, size_t bytes)
{
    struct text text = {.buffer = buffer, .bytes = bytes};
    char place[LIVE_TEXT_BYTES / 2];
    buffer[0] = '\0';
    text_add(&text, "its loop in %s waits for %s",
             live_frame_text(live, &loop->place, place, sizeof(place)),
             loop->flag_count > 1     ? "variables: "
             : loop->flags[0].is_lock ? ""
                                      : "the variable ");
    for (uint32_t i = 0; i < loop->flag_count; i++) {
        text_add(&text, "%s", i ? "; " : "");
        add_flag(&text, live, &loop->flags[i]);
    }
    return buffer;
}

static void print_functions(const struct argus_sink *sink, const struct argus_live *live,
                            const struct argus_live_samples *samples)
{
    argus_sink_printf(sink, "  own   with callees  function\n");
    for (size_t i = 0; i < samples->function_count && i < MOST_FUNCTIONS; i++) {
        const struct argus_live_sampled_function *function = &samples->functions[i];
        argus_sink_printf(
            sink, "  %3u %%       %3u %%    %s (%s)\n", percent(function->own, samples->count),
            percent(function->all, samples->count), argus_live_text(live, function->function),
            argus_live_text(live, function->image));
    }
}

static void print_stack(const struct argus_sink *sink, const struct argus_live *live,
                        const struct argus_live_samples *samples,
                        const struct argus_live_sampled_stack *stack)
{
    char text[LIVE_TEXT_BYTES];
    argus_sink_printf(sink, "  %u %% of the samples%s:\n", percent(stack->samples, samples->count),
                      stack->kernel_samples * 2 > stack->samples ? ", most of them in the kernel"
                                                                 : "");
    for (uint32_t i = 0; i < stack->frame_count && i < MOST_FRAMES; i++)
        argus_sink_printf(
            sink, "    %s\n",
            live_frame_text(live, &samples->frames[stack->first_frame + i], text, sizeof(text)));
    if (stack->frame_count > MOST_FRAMES)
        argus_sink_printf(sink, "    … %u more frames\n", stack->frame_count - MOST_FRAMES);
    else if (stack->is_cut)
        argus_sink_printf(sink, "    … its callers are not known\n");
}

void report_busy(const struct argus_sink *sink, const struct argus_live *live, uint32_t thread,
                 const struct argus_live_samples *samples)
{
    char name[LIVE_TEXT_BYTES], text[2 * LIVE_TEXT_BYTES];
    report_heading(sink, "What it does");
    live_thread_text(live, thread, name, sizeof(name));
    snprintf(text, sizeof(text), "%s ran for %u %% of %.1f s%s", name,
             percent(samples->ran_ns, samples->elapsed_ns), (double)samples->elapsed_ns / 1e9,
             samples->sampler == ARGUS_LIVE_SAMPLER_NONE
                 ? "; this user may neither sample nor stop it (perf_event, ptrace; macOS: "
                   "task_for_pid), so its functions are not known: run argus with sudo"
                 : "");
    size_t length = strlen(text);
    if (percent(samples->wanted_cpu_ns, samples->elapsed_ns))
        snprintf(text + length, sizeof(text) - length, ", and waited %u %% for a CPU",
                 percent(samples->wanted_cpu_ns, samples->elapsed_ns));
    argus_sink_printf(sink, "  ");
    report_wrapped(sink, 2, text);
    if (samples->loop.flag_count) {
        argus_sink_printf(sink, "  It does not make progress: ");
        report_wrapped(sink, 2, live_loop_text(live, &samples->loop, text, sizeof(text)));
    }
    if (!samples->count)
        return;
    print_functions(sink, live, samples);
    for (size_t i = 0; i < samples->stack_count && i < MOST_STACKS; i++)
        print_stack(sink, live, samples, &samples->stacks[i]);
}

/* --- JSON --- */

static json_t *flag_object(const struct argus_live *live, const struct argus_live_flag *flag)
{
    json_t *object = json_object();
    json_put(object, "name", json_text(argus_live_text(live, flag->name)));
    json_put(object, "image", json_text(argus_live_text(live, flag->image)));
    json_put(object, "value",
             flag->has_value ? json_integer((json_int_t)flag->value) : json_null());
    json_put(object, "lock", json_boolean(flag->is_lock));
    json_put(object, "holder_tid",
             flag->holder == ARGUS_LIVE_NONE
                 ? json_null()
                 : json_integer(argus_live_thread_at(live, flag->holder)->tid));
    return object;
}

json_t *json_loop(const struct argus_live *live, const struct argus_live_loop *loop)
{
    char text[2 * LIVE_TEXT_BYTES];
    if (!loop->flag_count)
        return json_null();
    json_t *object = json_object(), *flags = json_array();
    for (uint32_t i = 0; i < loop->flag_count; i++)
        json_add(flags, flag_object(live, &loop->flags[i]));
    json_put(object, "place", json_text(live_frame_text(live, &loop->place, text, sizeof(text))));
    json_put(object, "variables", flags);
    json_put(object, "only_these", json_boolean(loop->is_whole));
    return object;
}

static json_t *function_object(const struct argus_live *live,
                               const struct argus_live_sampled_function *function)
{
    json_t *object = json_object();
    json_put(object, "function", json_text(argus_live_text(live, function->function)));
    json_put(object, "image", json_text(argus_live_text(live, function->image)));
    json_put(object, "own", json_integer(function->own));
    json_put(object, "all", json_integer(function->all));
    return object;
}

static json_t *stack_object(const struct argus_live *live, const struct argus_live_samples *samples,
                            const struct argus_live_sampled_stack *stack)
{
    json_t *object = json_object(), *frames = json_array();
    char text[LIVE_TEXT_BYTES];
    for (uint32_t i = 0; i < stack->frame_count; i++)
        json_add(frames, json_text(live_frame_text(live, &samples->frames[stack->first_frame + i],
                                                   text, sizeof(text))));
    json_put(object, "samples", json_integer(stack->samples));
    json_put(object, "kernel_samples", json_integer(stack->kernel_samples));
    json_put(object, "stack", frames);
    json_put(object, "stack_complete", json_boolean(!stack->is_cut));
    return object;
}

json_t *json_samples(const struct argus_live *live, uint32_t thread,
                     const struct argus_live_samples *samples)
{
    static const char *const samplers[] = {NULL, "perf_event", "stops"};
    if (!samples)
        return json_null();
    json_t *object = json_object(), *functions = json_array(), *stacks = json_array();
    for (size_t i = 0; i < samples->function_count; i++)
        json_add(functions, function_object(live, &samples->functions[i]));
    for (size_t i = 0; i < samples->stack_count; i++)
        json_add(stacks, stack_object(live, samples, &samples->stacks[i]));
    json_put(object, "tid", json_integer(argus_live_thread_at(live, thread)->tid));
    json_put(object, "by", json_text(samplers[samples->sampler]));
    json_put(object, "elapsed_ns", json_integer((json_int_t)samples->elapsed_ns));
    json_put(object, "ran_ns", json_integer((json_int_t)samples->ran_ns));
    json_put(object, "wanted_cpu_ns", json_integer((json_int_t)samples->wanted_cpu_ns));
    json_put(object, "samples", json_integer(samples->count));
    json_put(object, "functions", functions);
    json_put(object, "stacks", stacks);
    return object;
}
