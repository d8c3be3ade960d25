#include "report/report_limits.h"

#include <stdlib.h>

#include "report/lines.h"
#include "slice/timeline.h"

#define MAX_SENTENCES 2

/* By kind of wait. To add a subject: a bit in argus/gaps.h, and the waits that it is about here. */
static const uint16_t subjects_of_wait[] = {
    [ARGUS_WAIT_FUTEX] = ARGUS_GAP_WAIT | ARGUS_GAP_LOCK,
    [ARGUS_WAIT_POLL] = ARGUS_GAP_WAIT | ARGUS_GAP_INPUT,
    [ARGUS_WAIT_READ] = ARGUS_GAP_WAIT | ARGUS_GAP_INPUT,
    [ARGUS_WAIT_WRITE] = ARGUS_GAP_WAIT | ARGUS_GAP_INPUT,
    [ARGUS_WAIT_SLEEP] = ARGUS_GAP_WAIT | ARGUS_GAP_TIMER,
    [ARGUS_WAIT_CHILD] = ARGUS_GAP_WAIT | ARGUS_GAP_SIGNAL,
    [ARGUS_WAIT_SIGNAL] = ARGUS_GAP_WAIT | ARGUS_GAP_SIGNAL,
    [ARGUS_WAIT_DISK] = ARGUS_GAP_WAIT | ARGUS_GAP_DISK,
    [ARGUS_WAIT_FAULT] = ARGUS_GAP_WAIT | ARGUS_GAP_DISK,
    [ARGUS_WAIT_STOPPED] = ARGUS_GAP_WAIT | ARGUS_GAP_SIGNAL,
    [ARGUS_WAIT_KERNEL] = ARGUS_GAP_WAIT | ARGUS_GAP_KERNEL,
    [ARGUS_WAIT_OTHER] = ARGUS_GAP_WAIT,
};

uint32_t limits_subjects_of(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    uint8_t kind = vertices[vertex].wait.kind;
    return kind < sizeof(subjects_of_wait) / sizeof(*subjects_of_wait) ? subjects_of_wait[kind] : 0;
}

/* A wait counts if it is a part of the hang. */
uint32_t limits_subjects_of_diagnosis(const struct argus_graph *graph,
                                      const struct argus_diagnosis *diagnosis)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    uint32_t subjects = ARGUS_GAP_ANY;
    for (size_t i = 0; i < diagnosis->path_count; i++) {
        const struct argus_vertex *vertex = &vertices[diagnosis->path[i].vertex];
        if (vertex->end_ns < diagnosis->hang.end_ns &&
            vertex->wait.end_ns > diagnosis->hang.start_ns)
            subjects |= limits_subjects_of(graph, diagnosis->path[i].vertex);
    }
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        if (diagnosis->culprits[i].type != ARGUS_TYPE_LONG_WAIT)
            subjects |= ARGUS_GAP_RUN;
    return subjects;
}

void programs_32_bit_of_diagnosis(struct programs_32_bit *programs, const struct argus_graph *graph,
                                  const struct argus_diagnosis *diagnosis)
{
    programs_32_bit_init(programs, graph);
    programs_32_bit_touch_vertex(programs, diagnosis->hang.vertex);
    for (size_t i = 0; i < diagnosis->path_count; i++)
        programs_32_bit_touch_vertex(programs, diagnosis->path[i].vertex);
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        programs_32_bit_touch_vertex(programs, diagnosis->culprits[i].vertex);
}

static struct argus_error *find(const struct argus_trace *trace, enum argus_gap_command command,
                                uint32_t subjects, struct argus_gaps *gaps,
                                struct argus_limits *ret)
{
    struct argus_error *error = argus_gaps_read(trace, gaps);
    if (error)
        return error;
    error = argus_limits_find(gaps, command, subjects, ret);
    if (error)
        argus_gaps_deinit(gaps);
    return error;
}

struct argus_error *report_limits(const struct argus_sink *sink, const struct argus_trace *trace,
                                  enum argus_gap_command command, uint32_t subjects)
{
    struct argus_gaps gaps;
    struct argus_limits limits;
    struct argus_error *error = find(trace, command, subjects, &gaps, &limits);
    if (error)
        return error;
    if (limits.count > 0)
        report_heading(sink, "What this trace cannot tell");
    for (size_t at = 0, told = 0; at < limits.count && told < MAX_SENTENCES && !error; told++) {
        char *text = NULL;
        error = argus_limits_sentence(&limits, &at, &text);
        argus_sink_printf(sink, "  - ");
        if (!error)
            report_wrapped(sink, 4, text);
        free(text);
    }
    argus_limits_deinit(&limits);
    argus_gaps_deinit(&gaps);
    return error;
}

static json_t *limit_json(const struct argus_limits *limits, size_t i)
{
    struct argus_limits one = {&limits->items[i], 1};
    size_t at = 0;
    char *text = NULL;
    struct argus_error *error = argus_limits_sentence(&one, &at, &text);
    argus_error_destroy(error);
    json_t *json = error ? NULL : json_object();
    json_put(json, "missing", json_text(limits->items[i].gap->name));
    json_put(json, "partly", json_boolean(limits->items[i].gap->partly));
    json_put(json, "text", json_text(text));
    free(text);
    return json;
}

json_t *json_limits(const struct argus_trace *trace, enum argus_gap_command command,
                    uint32_t subjects)
{
    struct argus_gaps gaps;
    struct argus_limits limits;
    struct argus_error *error = find(trace, command, subjects, &gaps, &limits);
    if (error) {
        argus_error_destroy(error);
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < limits.count; i++)
        json_add(list, limit_json(&limits, i));
    argus_limits_deinit(&limits);
    argus_gaps_deinit(&gaps);
    return list;
}
