#include "report/report_callbacks.h"

#include <stdio.h>

#include "argus/symbols.h"
#include "report/lines.h"
#include "slice/timeline.h"

#define MAX_SHOWN 20

static const char *const what_names[] = {
    [ARGUS_CALLBACK_RUN] = "callback",     [ARGUS_CALLBACK_UI_EVENT] = "ui event",
    [ARGUS_CALLBACK_UI_READ] = "read",     [ARGUS_CALLBACK_HANDLER] = "handler",
    [ARGUS_CALLBACK_BEHALF] = "works for", [ARGUS_CALLBACK_MARK] = "mark",
};

static struct argus_symbol symbol_of(const struct argus_report_context *context,
                                     const struct argus_callback *callback, uint64_t address)
{
    struct view view = view_of(context->graph);
    uint32_t thread = view.vertices[callback->vertex].thread;
    if (!context->symbols || !address)
        return (struct argus_symbol){0};
    return argus_symbols_show(context->symbols, view.threads[thread].process, callback->time_ns,
                              address, false);
}

/* "alpha [100]": the process that a voucher names. */
static const char *beneficiary(const struct argus_report_context *context,
                               const struct argus_callback *callback, char *buffer, size_t bytes)
{
    struct view view = view_of(context->graph);
    const char *name = NULL;
    for (uint32_t i = 0; i < view.process_count && !name; i++)
        if (view.processes[i].pid == callback->function &&
            view.processes[i].start_ns <= callback->time_ns)
            name = view.processes[i].name;
    snprintf(buffer, bytes, "%s [%llu], by its voucher", name ? name : "process",
             (unsigned long long)callback->function);
    return buffer;
}

/* The address that names the function best. A probe may have read one that is not a function's: 0
 * if no address is in an image. */
static uint64_t function_of(const struct argus_report_context *context,
                            const struct argus_callback *callback)
{
    const uint64_t addresses[] = {callback->function, callback->other};
    uint64_t in_image = 0;
    if (!context->symbols)
        return callback->function;
    for (int i = 0; i < 2; i++) {
        struct argus_symbol symbol = symbol_of(context, callback, addresses[i]);
        if (symbol.function && symbol.offset == 0)
            return addresses[i];
        if (symbol.image && !in_image)
            in_image = addresses[i];
    }
    return in_image;
}

static const char *label_of(const struct argus_report_context *context,
                            const struct argus_callback *callback)
{
    const struct argus_probe_entry *probe = argus_graph_probe(context->graph, callback->probe);
    return probe ? probe->label : "unknown probe";
}

static bool is_ui(const struct argus_callback *callback)
{
    return callback->what == ARGUS_CALLBACK_UI_EVENT || callback->what == ARGUS_CALLBACK_UI_READ;
}

const char *report_callback(const struct argus_report_context *context,
                            const struct argus_callback *callback, char *buffer, size_t bytes)
{
    char function[512] = "";
    if (callback->what == ARGUS_CALLBACK_BEHALF)
        return beneficiary(context, callback, buffer, bytes);
    uint64_t address = is_ui(callback) ? 0 : function_of(context, callback);
    if (address)
        report_frame(context, callback->vertex, address, false, function, sizeof(function));
    if (is_ui(callback))
        snprintf(buffer, bytes, "%s (%s)", argus_ui_event_name(callback->ui_event),
                 label_of(context, callback));
    else
        snprintf(buffer, bytes, "%s%s%s", label_of(context, callback), address ? " " : "",
                 function);
    return buffer;
}

static const char *heading_of(const struct argus_callback *callbacks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (callbacks[i].what == ARGUS_CALLBACK_MARK)
            return "Callbacks, UI events and marks";
    return "Callbacks and UI events";
}

void report_callbacks(const struct argus_report_context *context, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(context->graph, vertex, &callbacks);
    if (count)
        report_heading(context->sink, heading_of(callbacks, count));
    for (size_t i = 0; i < count && i < MAX_SHOWN; i++) {
        const struct argus_callback *callback = &callbacks[i];
        char time[32], text[700];
        argus_time_text(argus_graph_trace(context->graph), callback->time_ns, time, sizeof(time));
        argus_sink_printf(context->sink, "  %s  %-9s%s%s\n", time,
                          callback->what < sizeof(what_names) / sizeof(*what_names)
                              ? what_names[callback->what]
                              : "",
                          callback->nested ? " (inside) " : " ",
                          report_callback(context, callback, text, sizeof(text)));
    }
    if (count > MAX_SHOWN)
        argus_sink_printf(context->sink, "  … %zu more\n", count - MAX_SHOWN);
}

static json_t *callback_json(const struct argus_report_context *context,
                             const struct argus_callback *callback)
{
    json_t *json = json_object();
    char function[512];
    bool behalf = callback->what == ARGUS_CALLBACK_BEHALF;
    uint64_t address = is_ui(callback) || behalf ? 0 : function_of(context, callback);
    json_put(json, "time_ns", json_ns(callback->time_ns));
    json_put(json, "what", json_text(what_names[callback->what]));
    if (behalf)
        json_put(json, "for",
                 json_text(beneficiary(context, callback, function, sizeof(function))));
    json_put(json, "ui_event",
             is_ui(callback) ? json_text(argus_ui_event_name(callback->ui_event)) : json_null());
    json_put(json, "function",
             address ? json_text(report_frame(context, callback->vertex, address, false, function,
                                              sizeof(function)))
                     : json_null());
    json_put(json, "probe", behalf ? json_null() : json_text(label_of(context, callback)));
    json_put(json, "nested", json_boolean(callback->nested));
    return json;
}

json_t *json_callbacks(const struct argus_report_context *context, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(context->graph, vertex, &callbacks);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_add(list, callback_json(context, &callbacks[i]));
    return list;
}

const char *report_ui_event(const struct argus_graph *graph, uint32_t vertex)
{
    struct argus_callback event;
    return argus_graph_ui_event(graph, vertex, &event) ? argus_ui_event_name(event.ui_event) : NULL;
}
