#include <stdio.h>
#include <stdlib.h>

#include "context/rank.h"
#include "context/wakers.h"
#include "report/json.h"

static void add_frames(json_t *frames, const struct argus_contexts *contexts)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(contexts, &functions);
    for (size_t i = 0; i < count; i++) {
        json_t *frame = json_object();
        json_put(frame, "name", json_text(functions[i].name));
        if (functions[i].image[0])
            json_put(frame, "file", json_text(functions[i].image));
        json_add(frames, frame);
    }
}

/* The functions of the trace, then those of the base. */
static json_t *frames_json(const struct argus_contexts_report *report)
{
    json_t *frames = json_array();
    add_frames(frames, report->contexts);
    if (report->base)
        add_frames(frames, report->base);
    return frames;
}

/* The frame numbers of a path, outermost first; `first`: of its trace's functions. */
static json_t *stack_json(const struct argus_context_node *nodes, uint32_t node, size_t first)
{
    json_t *stack = json_array();
    for (uint32_t at = node; at == node || nodes[at].depth >= INFERENCE_FIRST_DEPTH;
         at = nodes[at].parent)
        if (json_array_insert_new(stack, 0, json_integer((json_int_t)first + nodes[at].function)))
            break;
    return stack;
}

struct profile {
    json_t *samples, *weights;
    json_int_t sum;
};

static struct profile profile_begin(void)
{
    return (struct profile){.samples = json_array(), .weights = json_array()};
}

static void profile_add(struct profile *profile, json_t *stack, json_int_t ns)
{
    json_add(profile->samples, stack);
    json_add(profile->weights, json_integer(ns));
    profile->sum += ns;
}

static json_t *profile_end(const struct profile *profile, const char *program, const char *suffix)
{
    char name[256];
    json_t *json = json_object();
    snprintf(name, sizeof(name), "%s%s", program, suffix);
    json_put(json, "type", json_text("sampled"));
    json_put(json, "name", json_text(name));
    json_put(json, "unit", json_text("nanoseconds"));
    json_put(json, "startValue", json_integer(0));
    json_put(json, "endValue", json_integer(profile->sum));
    json_put(json, "samples", profile->samples);
    json_put(json, "weights", profile->weights);
    return json;
}

/* Adds what is positive in `sign` times the cost. speedscope shows no differences: with a base,
 * what is slower and what is faster are two profiles. */
static void add_costs(struct profile *profile, const struct argus_contexts_report *report,
                      uint32_t program, int sign)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    for (uint32_t i = 1; i < count; i++) {
        struct rank_pair pair = rank_pair_of(report, i);
        json_int_t ns = (json_int_t)(sign * (pair.now_ns - pair.base_ns));
        if (ns > 0 && program_of_node(nodes, i) == program)
            profile_add(profile, stack_json(nodes, i, 0), ns);
    }
}

/* Adds the paths of a program of the base that only the base has (`is_gone`, by node). */
static void add_gone(struct profile *profile, const struct argus_contexts_report *report,
                     const bool *is_gone, uint32_t base_program)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    size_t first = argus_contexts_functions(report->contexts, &functions);
    size_t count = argus_contexts_nodes(report->base, &nodes);
    for (uint32_t i = 1; i < count; i++) {
        json_int_t ns = is_gone[i] ? (json_int_t)rank_value(&nodes[i], &report->options) : 0;
        if (ns > 0 && program_of_node(nodes, i) == base_program)
            profile_add(profile, stack_json(nodes, i, first), ns);
    }
}

static void add_profiles(json_t *profiles, const struct argus_contexts_report *report,
                         const bool *is_gone, uint32_t program)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    const char *name = functions[nodes[program].function].name;
    struct profile slower = profile_begin();
    add_costs(&slower, report, program, 1);
    json_add(profiles, profile_end(&slower, name, report->base ? ", slower than in the base" : ""));
    if (!report->base)
        return;
    struct profile faster = profile_begin();
    uint32_t base_program = report->ranking->base_node[program];
    add_costs(&faster, report, program, -1);
    if (base_program != ARGUS_NONE)
        add_gone(&faster, report, is_gone, base_program);
    json_add(profiles, profile_end(&faster, name, ", faster than in the base"));
}

/* Programs that only the base has. */
static void add_gone_profiles(json_t *profiles, const struct argus_contexts_report *report,
                              const bool *is_gone)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    size_t count = argus_contexts_nodes(report->base, &nodes);
    argus_contexts_functions(report->base, &functions);
    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i].depth != 1 || !is_gone[i])
            continue;
        struct profile profile = profile_begin();
        add_gone(&profile, report, is_gone, i);
        json_add(profiles,
                 profile_end(&profile, functions[nodes[i].function].name, ", only in the base"));
    }
}

/* The profile with the most time, which speedscope shows at first. With a base, every second one is
 * of what is faster, and is not shown at first. */
static json_int_t most_time(const json_t *profiles, size_t step)
{
    json_int_t most = -1;
    size_t found = 0;
    for (size_t i = 0; i < json_array_size(profiles); i += step) {
        const json_t *end = json_object_get(json_array_get(profiles, i), "endValue");
        if (json_integer_value(end) > most) {
            most = json_integer_value(end);
            found = i;
        }
    }
    return (json_int_t)found;
}

struct argus_error *argus_report_contexts_speedscope(const struct argus_sink *sink,
                                                     const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    bool *is_gone = report->base ? rank_find_gone(report) : NULL;
    if (report->base && !is_gone)
        return argus_error_memory();
    json_t *json = json_object(), *shared = json_object(), *profiles = json_array();
    for (size_t i = 1; i < count; i++)
        if (nodes[i].depth == 1)
            add_profiles(profiles, report, is_gone, (uint32_t)i);
    json_put(json, "activeProfileIndex", json_integer(most_time(profiles, report->base ? 2 : 1)));
    if (report->base)
        add_gone_profiles(profiles, report, is_gone);
    free(is_gone);
    json_put(shared, "frames", frames_json(report));
    json_put(json, "$schema", json_text("https://www.speedscope.app/file-format-schema.json"));
    json_put(json, "shared", shared);
    json_put(json, "profiles", profiles);
    json_put(json, "exporter", json_text("argus"));
    return json_write(sink, NULL, json);
}
