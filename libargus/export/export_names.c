#include "export/export_names.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "report/lines.h"
#include "report/phrases.h"
#include "report/report_callbacks.h"
#include "slice/timeline.h"

/* More samples of one vertex change nothing about the most frequent function. */
#define MOST_SAMPLES 64u

/* A vertex is named after what its event loop executed rather than after a mark inside of that. */
static const struct argus_callback *naming_callback(const struct argus_callback *callbacks,
                                                    size_t count)
{
    const struct argus_callback *mark = NULL;
    for (size_t i = 0; i < count; i++) {
        enum argus_callback_what what = callbacks[i].what;
        if (what == ARGUS_CALLBACK_BEHALF || what == ARGUS_CALLBACK_UI_READ)
            continue;
        if (what != ARGUS_CALLBACK_MARK)
            return &callbacks[i];
        mark = mark ? mark : &callbacks[i];
    }
    return mark;
}

static bool callback_name(const struct argus_report_context *context, uint32_t vertex, char *buffer,
                          size_t bytes)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(context->graph, vertex, &callbacks);
    const struct argus_callback *callback = naming_callback(callbacks, count);
    if (callback)
        report_callback(context, callback, buffer, bytes);
    return callback != NULL;
}

/* A function, and how many samples are in it. */
struct tally {
    const char *function;
    uint32_t count;
};

static void count_function(struct tally *tally, size_t *count, const char *function)
{
    size_t i = 0;
    while (i < *count && strcmp(tally[i].function, function) != 0)
        i++;
    if (i == *count)
        tally[(*count)++] = (struct tally){.function = function};
    tally[i].count++;
}

static bool sampled_name(const struct argus_report_context *context, uint32_t vertex, char *buffer,
                         size_t bytes)
{
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    const struct argus_sample *samples;
    struct tally tally[MOST_SAMPLES];
    size_t count = 0, most = 0;
    argus_graph_samples(context->graph, &samples);
    for (uint32_t i = 0; context->symbols && i < v->sample_count && i < MOST_SAMPLES; i++) {
        const struct argus_sample *sample = &samples[v->first_sample + i];
        const char *function = argus_symbols_function(
            context->symbols, view.threads[v->thread].process, sample->time_ns, sample->pc, false);
        if (function)
            count_function(tally, &count, function);
    }
    for (size_t i = 1; i < count; i++)
        if (tally[i].count > tally[most].count)
            most = i;
    if (count)
        snprintf(buffer, bytes, "%s", tally[most].function);
    return count > 0;
}

const char *export_calls(const struct argus_report_context *context, uint32_t vertex, char *buffer,
                         size_t bytes)
{
    const struct argus_vertex *vertices;
    const struct argus_op *ops;
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    struct text text = {buffer, bytes, 0};
    char name[64];
    argus_graph_vertices(context->graph, &vertices);
    argus_graph_ops(context->graph, &ops);
    buffer[0] = '\0';
    for (uint32_t i = 0; i < vertices[vertex].op_count && text.length + 1 < bytes; i++) {
        const struct argus_op *op = &ops[vertices[vertex].first_op + i];
        if (op->code >> 24 != ARGUS_OP_SYSCALL)
            continue;
        text_add(&text, "%s%s", text.length ? ", " : "",
                 argus_syscall_name(trace, op->code & 0xffff, name, sizeof(name)));
        if (op->repeat > 1)
            text_add(&text, " x%u", op->repeat);
    }
    utf8_repair_name(buffer, strlen(buffer));
    return buffer;
}

const char *export_segment_name(const struct argus_report_context *context, uint32_t vertex,
                                char *buffer, size_t bytes)
{
    struct view view = view_of(context->graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    uint32_t stack = v->wait.user_stack;
    bool named = callback_name(context, vertex, buffer, bytes) ||
                 sampled_name(context, vertex, buffer, bytes);
    if (!named && stack != ARGUS_NONE && context->symbols)
        named = text_function(&view, context->symbols, vertex, stack, buffer, bytes) != NULL;
    if (!named && !export_calls(context, vertex, buffer, bytes < 80 ? bytes : 80)[0])
        snprintf(buffer, bytes, "%s", view.threads[v->thread].name);
    utf8_repair_name(buffer, strlen(buffer));
    return buffer;
}

/* `text` with at most EXPORT_NAME_BYTES of it. */
static json_t *short_text(const char *text, size_t length)
{
    char cut[EXPORT_NAME_BYTES + sizeof("…")];
    if (length <= EXPORT_NAME_BYTES)
        return json_text(text);
    snprintf(cut, sizeof(cut), "%.*s…", (int)utf8_cut(text, length, EXPORT_NAME_BYTES), text);
    return json_text(cut);
}

json_t *export_stack(const struct argus_report_context *context, uint32_t vertex, uint32_t stack)
{
    json_t *frames = json_stack(context, vertex, stack), *ret = json_array();
    size_t count = json_array_size(frames), bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *frame = json_string_value(json_array_get(frames, i));
        size_t length = frame ? strlen(frame) : 0;
        bytes += length < EXPORT_NAME_BYTES ? length : EXPORT_NAME_BYTES;
        if (bytes > EXPORT_STACK_BYTES) {
            char more[32];
            snprintf(more, sizeof(more), "… %zu more", count - i);
            json_add(ret, json_text(more));
            break;
        }
        if (frame)
            json_add(ret, short_text(frame, length));
    }
    json_decref(frames);
    return ret;
}
