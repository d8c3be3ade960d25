/* A divergence as JSON; argus-diverge(1) lists the keys. */
#include "report/report_divergence.h"

#include <stdio.h>

#include "report/json.h"

/* Addresses are strings, "0x…", because JSON numbers are exact only up to 2^53. 0: null. */
static json_t *address_json(uint64_t address)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
    return address ? json_text(text) : json_null();
}

static json_t *step_json(uint32_t step)
{
    return step == ARGUS_NONE ? json_null() : json_integer(step);
}

json_t *report_place_json(const struct argus_code_place *place)
{
    json_t *json = json_object();
    if (!place->address) {
        json_decref(json);
        return json_null();
    }
    json_put(json, "address", address_json(place->address));
    json_put(json, "image", json_text(place->image));
    json_put(json, "image_offset", address_json(place->image_offset));
    json_put(json, "function", json_text(place->function));
    json_put(json, "function_offset", json_integer((json_int_t)place->function_offset));
    json_put(json, "file", json_text(place->file));
    json_put(json, "line", place->file ? json_integer(place->line) : json_null());
    json_put(json, "instruction", json_text(place->text));
    return json;
}

static json_t *run_json(const struct argus_steps *steps)
{
    const uint64_t *pcs;
    json_t *json = json_object();
    if (!steps) {
        json_decref(json);
        return json_null();
    }
    const struct argus_steps_about *about = argus_steps_about(steps);
    json_put(json, "path", json_text(argus_steps_path(steps)));
    json_put(json, "steps", json_integer((json_int_t)argus_steps_pcs(steps, &pcs)));
    json_put(json, "thread", json_text(about->comm));
    json_put(json, "pid", json_integer((json_int_t)about->pid));
    json_put(json, "tid", json_integer((json_int_t)about->tid));
    return json;
}

static json_t *loop_json(const struct argus_divergence *divergence)
{
    const struct argus_spin_loop *loop = &divergence->loop;
    if (!divergence->has_loop)
        return json_null();
    json_t *json = json_object();
    json_put(json, "head", report_place_json(&loop->head));
    json_put(json, "first_step", json_integer(loop->first_step));
    json_put(json, "last_step", json_integer(loop->last_step));
    json_put(json, "turns", json_integer(loop->turns));
    json_put(json, "turn_steps", json_integer(loop->turn_steps));
    json_put(json, "to_the_end", json_boolean(loop->to_the_end));
    return json;
}

static json_t *first_json(const struct argus_first_divergence *first)
{
    if (!first->found)
        return json_null();
    json_t *json = json_object();
    json_put(json, "last_common", report_place_json(&first->last_common));
    json_put(json, "normal", report_place_json(&first->to[0]));
    json_put(json, "bad", report_place_json(&first->to[1]));
    json_put(json, "normal_step", json_integer(first->steps[0]));
    json_put(json, "bad_step", json_integer(first->steps[1]));
    return json;
}

static json_t *ways_json(const struct argus_decision *decision)
{
    json_t *list = json_array();
    for (size_t i = 0; i < decision->way_count; i++) {
        json_t *json = json_object();
        json_put(json, "to", report_place_json(&decision->ways[i].to));
        json_put(json, "normal", json_integer(decision->ways[i].counts[0]));
        json_put(json, "bad", json_integer(decision->ways[i].counts[1]));
        json_add(list, json);
    }
    return list;
}

static json_t *decision_json(const struct argus_decision *decision)
{
    json_t *json = json_object(), *candidates = json_array();
    for (size_t i = 0; i < decision->candidate_count; i++)
        json_add(candidates, json_integer(decision->candidates[i]));
    json_put(json, "branch", report_place_json(&decision->branch));
    json_put(json, "compare", report_place_json(&decision->compare));
    json_put(json, "ways", ways_json(decision));
    json_put(json, "normal_step", step_json(decision->steps[0]));
    json_put(json, "bad_step", step_json(decision->steps[1]));
    json_put(json, "in_loop", json_boolean(decision->in_loop));
    json_put(json, "leaves_loop", json_boolean(decision->leaves_loop));
    json_put(json, "results", json_text(decision->results));
    json_put(json, "candidates", candidates);
    return json;
}

static json_t *value_json(const struct argus_flag_value *value)
{
    return value->known ? json_integer((json_int_t)value->value) : json_null();
}

static json_t *candidate_json(const struct argus_flag_candidate *one)
{
    static const char *const wheres[] = {"variable", "thread-local", "stack", "heap", "unknown"};
    static const char *const roles[] = {"candidate", "counter", "constant"};
    json_t *json = json_object();
    json_put(json, "role", json_text(roles[one->role]));
    json_put(json, "where", json_text(wheres[one->where]));
    json_put(json, "address", address_json(one->address));
    json_put(json, "size", json_integer(one->size_bytes));
    json_put(json, "image", json_text(one->image));
    json_put(json, "image_offset", address_json(one->image_offset));
    json_put(json, "symbol", json_text(one->symbol));
    json_put(json, "symbol_offset", json_integer((json_int_t)one->symbol_offset));
    json_put(json, "path", json_text(one->path));
    json_put(json, "member", json_text(one->member));
    json_put(json, "member_function", json_text(one->member_in));
    json_put(json, "detail", json_text(one->detail));
    json_put(json, "load", report_place_json(&one->load));
    json_put(json, "normal_value", value_json(&one->values[0]));
    json_put(json, "bad_value", value_json(&one->values[1]));
    json_put(json, "loads", json_integer(one->loads));
    json_put(json, "why", json_text(one->why));
    json_put(json, "command", json_text(one->command));
    return json;
}

struct argus_error *report_divergence_json(const struct argus_sink *sink,
                                           struct argus_steps *const runs[2],
                                           const struct argus_divergence *divergence)
{
    json_t *json = json_object(), *decisions = json_array(), *candidates = json_array(),
           *notes = json_array();
    for (size_t i = 0; i < divergence->decision_count; i++)
        json_add(decisions, decision_json(&divergence->decisions[i]));
    for (size_t i = 0; i < divergence->candidate_count; i++)
        json_add(candidates, candidate_json(&divergence->candidates[i]));
    for (size_t i = 0; i < divergence->note_count; i++)
        json_add(notes, json_text(divergence->notes[i]));
    json_put(json, "normal", run_json(runs[0]));
    json_put(json, "bad", run_json(runs[1]));
    json_put(json, "loop", loop_json(divergence));
    json_put(json, "first_divergence", first_json(&divergence->first));
    json_put(json, "decisions", decisions);
    json_put(json, "decisions_left_out", json_integer((json_int_t)divergence->decisions_left_out));
    json_put(json, "candidates", candidates);
    json_put(json, "notes", notes);
    return json_write(sink, "argus-diverge 1", json);
}
