#include <stdio.h>

#include "context/rank.h"
#include "context/wakers.h"
#include "report/json.h"

static json_t *frames_json(const struct argus_contexts_report *report)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(report->contexts, &functions);
    json_t *frames = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *frame = json_object();
        json_put(frame, "name", json_text(functions[i].name));
        if (functions[i].image[0])
            json_put(frame, "file", json_text(functions[i].image));
        json_add(frames, frame);
    }
    return frames;
}

/* The function numbers of a path, outermost first. */
static json_t *stack_json(const struct argus_context_node *nodes, uint32_t node)
{
    json_t *stack = json_array();
    for (uint32_t at = node; at == node || nodes[at].depth >= INFERENCE_FIRST_DEPTH;
         at = nodes[at].parent)
        if (json_array_insert_new(stack, 0, json_integer(nodes[at].function)))
            break;
    return stack;
}

/* A profile of what is positive in `sign` times the cost. speedscope shows no differences: with a
 * base, what is slower and what is faster are two profiles. */
static json_t *profile_json(const struct argus_contexts_report *report, uint32_t program,
                            const char *suffix, int sign)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    char name[256];
    argus_contexts_functions(report->contexts, &functions);
    json_t *profile = json_object(), *samples = json_array(), *weights = json_array();
    json_int_t sum = 0;
    for (uint32_t i = 1; i < count; i++) {
        struct rank_pair pair = rank_pair_of(report, i);
        json_int_t ns = (json_int_t)(sign * (pair.now_ns - pair.base_ns));
        if (ns <= 0 || program_of_node(nodes, i) != program)
            continue;
        json_add(samples, stack_json(nodes, i));
        json_add(weights, json_integer(ns));
        sum += ns;
    }
    snprintf(name, sizeof(name), "%s%s", functions[nodes[program].function].name, suffix);
    json_put(profile, "type", json_text("sampled"));
    json_put(profile, "name", json_text(name));
    json_put(profile, "unit", json_text("nanoseconds"));
    json_put(profile, "startValue", json_integer(0));
    json_put(profile, "endValue", json_integer(sum));
    json_put(profile, "samples", samples);
    json_put(profile, "weights", weights);
    return profile;
}

static void add_profiles(json_t *profiles, const struct argus_contexts_report *report,
                         uint32_t program)
{
    if (!report->base) {
        json_add(profiles, profile_json(report, program, "", 1));
        return;
    }
    json_add(profiles, profile_json(report, program, ", slower than in the base", 1));
    json_add(profiles, profile_json(report, program, ", faster than in the base", -1));
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
    json_t *json = json_object(), *shared = json_object(), *profiles = json_array();
    for (size_t i = 1; i < count; i++)
        if (nodes[i].depth == 1)
            add_profiles(profiles, report, (uint32_t)i);
    json_put(json, "activeProfileIndex", json_integer(most_time(profiles, report->base ? 2 : 1)));
    json_put(shared, "frames", frames_json(report));
    json_put(json, "$schema", json_text("https://www.speedscope.app/file-format-schema.json"));
    json_put(json, "shared", shared);
    json_put(json, "profiles", profiles);
    json_put(json, "exporter", json_text("argus"));
    return json_write(sink, NULL, json);
}
