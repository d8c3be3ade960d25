#include "report/json.h"

#include <stdio.h>
#include <string.h>

#include "base/wall_time.h"
#include "report/lines.h"
#include "slice/timeline.h"

static int dump_piece(const char *text, size_t bytes, void *context)
{
    const struct argus_sink *sink = context;
    return sink->write(sink->context, text, bytes) ? 0 : -1;
}

/* json_put() adds this key if a value could not be made, so that json_write() notices the loss. */
#define FAILED_KEY "\x01"

json_t *json_with_format(const char *format, json_t *json)
{
    json_t *whole = json ? json_object() : NULL;
    bool good = whole && !json_object_set_new(whole, "format", json_text(format)) &&
                !json_object_update(whole, json);
    json_decref(json);
    if (good)
        return whole;
    json_decref(whole);
    return NULL;
}

bool json_is_whole(const json_t *json)
{
    return json && !json_object_get(json, FAILED_KEY);
}

struct argus_error *json_write(const struct argus_sink *sink, const char *format, json_t *json)
{
    if (format)
        json = json_with_format(format, json);
    if (!json_is_whole(json)) {
        json_decref(json);
        return argus_error_memory();
    }
    /* A sink that accepts no more is not a failure: the reader has closed its end. */
    if (json_dump_callback(json, dump_piece, (void *)(uintptr_t)sink, JSON_FORM) == 0)
        dump_piece("\n", 1, (void *)(uintptr_t)sink);
    json_decref(json);
    return NULL;
}

json_t *json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *json = json_string(text);
    return json ? json : json_string("?");
}

json_t *json_ns(uint64_t ns)
{
    return json_integer((json_int_t)ns);
}

json_t *json_time(const struct argus_trace *trace, uint64_t ns)
{
    char text[WALL_TIME_BYTES];
    return json_string(wall_utc_text(argus_trace_ns_to_wall_ns(trace, ns), text, sizeof(text)));
}

void json_put(json_t *object, const char *key, json_t *value)
{
    if (!value || (json_is_object(value) && json_object_get(value, FAILED_KEY)))
        json_object_set_new(object, FAILED_KEY, json_null());
    json_object_set_new(object, key, value);
}

bool json_add(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0;
}

json_t *json_vertex(const struct argus_report_context *context, uint32_t vertex,
                    uint64_t threshold_ns)
{
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    const struct argus_thread *thread = &view.threads[v->thread];
    const struct argus_process *process = &view.processes[thread->process];
    char id[16], wait[512];
    json_t *json = json_object();
    snprintf(id, sizeof(id), "v%u", vertex);
    json_put(json, "id", json_text(id));
    json_put(json, "process", json_text(process->name));
    json_put(json, "pid", json_ns(process->pid));
    json_put(json, "tid", json_ns(thread->tid));
    json_put(json, "thread", json_text(thread->name));
    json_put(json, "type", json_text(argus_vertex_type_name(argus_vertex_type(v, threshold_ns))));
    json_put(json, "start_ns", json_ns(v->start_ns));
    json_put(json, "run_ns", json_ns(v->run_ns));
    json_put(json, "runnable_ns", json_ns(v->runnable_ns));
    json_put(json, "wait_ns", json_ns(argus_vertex_wait_ns(v)));
    json_put(json, "wait_on",
             v->wait.kind == ARGUS_WAIT_NONE
                 ? json_null()
                 : json_text(argus_wait_text(context->graph, vertex, wait, sizeof(wait))));
    return json;
}

json_t *json_vertex_or_null(const struct argus_report_context *context, uint32_t vertex,
                            uint64_t threshold_ns)
{
    return vertex == ARGUS_NONE ? json_null() : json_vertex(context, vertex, threshold_ns);
}

json_t *json_stack(const struct argus_report_context *context, uint32_t vertex, uint32_t stack)
{
    json_t *json = json_array();
    if (stack == ARGUS_NONE)
        return json;
    struct argus_stack frames = report_frames(context, vertex, stack);
    char text[4096]; /* enough for full names */
    struct argus_functions functions;
    for (uint32_t i = 0; i < frames.count; i++) {
        uint64_t address = frames.frames[i];
        report_functions(context, vertex, address, i > 0, &functions);
        for (uint32_t k = 0; k < functions.count; k++)
            json_add(json, json_text(report_function(&functions.symbols[k], address, false, text,
                                                     sizeof(text))));
    }
    return json;
}

static const char *by_name(enum argus_answer_by by)
{
    return by == ARGUS_BY_USER ? "user" : by == ARGUS_BY_AUTO ? "auto" : "file";
}

static json_t *options_json(const struct argus_graph *graph, const struct argus_question *question)
{
    json_t *options = json_array();
    char text[ARGUS_OPTION_TEXT_BYTES];
    for (size_t i = 0; i < question->option_count; i++)
        json_add(options,
                 json_text(argus_option_text(graph, &question->options[i], text, sizeof(text))));
    return options;
}

static json_t *question_json(const struct argus_graph *graph, const struct argus_asked *asked)
{
    const struct argus_question *question = &asked->question;
    char text[ARGUS_QUESTION_TEXT_BYTES];
    json_t *json = json_object();
    json_put(json, "kind", json_text(argus_question_kind_name(question->kind)));
    json_put(json, "text", json_text(argus_question_text(question, text, sizeof(text))));
    json_put(json, "options", options_json(graph, question));
    json_put(json, "default", json_integer((json_int_t)question->default_option + 1));
    json_put(json, "default_reason",
             json_text(argus_default_reason_text(question, text, sizeof(text))));
    size_t runner_up = argus_asked_runner_up(asked);
    json_put(json, "runner_up",
             runner_up < question->option_count ? json_integer((json_int_t)runner_up + 1)
                                                : json_null());
    json_put(json, "answer",
             asked->answer == ARGUS_ANSWER_OPEN   ? json_null()
             : asked->answer == ARGUS_ANSWER_STOP ? json_text("stop")
                                                  : json_integer(asked->answer + 1));
    json_put(json, "by",
             asked->answer == ARGUS_ANSWER_OPEN ? json_null() : json_text(by_name(asked->by)));
    return json;
}

json_t *json_questions(const struct argus_graph *graph, const struct argus_asked *asked,
                       size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_add(list, question_json(graph, &asked[i]));
    return list;
}
