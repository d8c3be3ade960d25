/* The "processed" format of the Firefox Profiler (docs-developer/processed-profile-format.md of
 * github.com/firefox-devtools/profiler; the members are those of version 46, which newer ones
 * upgrade): for each thread its CPU samples with their call stacks and CPU time, and as markers its
 * waits and hangs. Times are ms from the beginning of the trace. A thread has tables of its own,
 * with only the frames that it needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_edges.h"
#include "export/export_writers.h"
#include "export/profile.h"
#include "report/diagnosis_words.h"
#include "report/json.h"

enum { VERSION = 46, CATEGORY_CODE = 0, CATEGORY_KERNEL = 1, CATEGORY_WAIT = 2 };
enum { MARKER_INTERVAL = 1 };

/* A thread's own numbers for what it uses of the profile. */
struct firefox {
    struct profile profile;
    struct idmap strings, functions, nodes;
    json_t *texts, *function_names, *node_frames, *node_parents, *node_categories;
    bool failed; /* no memory */
};

/* Takes `value`, which is NULL if there was no memory. The loops that fill columns end then: at the
 * limit of memory each further attempt is slow. */
static void add(struct firefox *out, json_t *column, json_t *value)
{
    out->failed |= !json_add(column, value);
}

static json_t *ms(const struct firefox *out, uint64_t ns)
{
    uint64_t start_ns = argus_graph_start_ns(out->profile.context->graph);
    return json_real(ns > start_ns ? (double)(ns - start_ns) / 1e6 : 0);
}

/* `count` times the same value, for columns in which nothing is known. Takes `value`. */
static json_t *column_of(struct firefox *out, json_t *value, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && !out->failed; i++)
        add(out, list, json_incref(value));
    json_decref(value);
    return list;
}

/* --- numbers within the thread --- */

static uint32_t string_number(struct firefox *out, const char *text)
{
    uint32_t id = 0, number;
    struct argus_error *error = strtab_intern(out->profile.names, text, strlen(text), &id);
    out->failed |= error != NULL;
    argus_error_destroy(error);
    if ((number = idmap_get(&out->strings, id)) != IDMAP_NONE)
        return number;
    number = (uint32_t)json_array_size(out->texts);
    add(out, out->texts, json_text(text));
    out->failed |= !idmap_put(&out->strings, id, number);
    return number;
}

/* The number of a function, which is also that of its frame. */
static uint32_t function_number(struct firefox *out, uint32_t frame)
{
    uint32_t number = idmap_get(&out->functions, frame);
    if (number != IDMAP_NONE)
        return number;
    const struct profile_frame *from = &out->profile.frames.data[frame];
    number = (uint32_t)json_array_size(out->function_names);
    add(out, out->function_names,
        json_integer(string_number(out, strtab_get(out->profile.names, from->name))));
    out->failed |= !idmap_put(&out->functions, frame, number);
    return number;
}

static int category_of(const struct firefox *out, uint32_t frame)
{
    const struct profile_frame *from = &out->profile.frames.data[frame];
    if (strncmp(strtab_get(out->profile.names, from->name), "[waits: ", 8) == 0)
        return CATEGORY_WAIT;
    return strcmp(strtab_get(out->profile.names, from->image), "[kernel]") == 0 ? CATEGORY_KERNEL
                                                                                : CATEGORY_CODE;
}

/* Parents come first: a stack has at most 256 frames. */
static uint32_t node_number(struct firefox *out, uint32_t node)
{
    uint32_t number = idmap_get(&out->nodes, node);
    if (number != IDMAP_NONE || out->failed)
        return number;
    const struct profile_node *from = &out->profile.nodes.data[node];
    json_t *parent =
        from->parent == ARGUS_NONE ? json_null() : json_integer(node_number(out, from->parent));
    number = (uint32_t)json_array_size(out->node_frames);
    add(out, out->node_parents, parent);
    add(out, out->node_frames, json_integer(function_number(out, from->frame)));
    add(out, out->node_categories, json_integer(category_of(out, from->frame)));
    out->failed |= !idmap_put(&out->nodes, node, number);
    return number;
}

/* --- the tables of a thread --- */

static json_t *samples_json(struct firefox *out, size_t first, size_t last)
{
    json_t *json = json_object(), *stacks = json_array(), *times = json_array();
    json_t *cpu = json_array();
    for (size_t i = first; i < last && !out->failed; i++) {
        const struct profile_item *item = &out->profile.items.data[i];
        if (!item->is_sample)
            continue;
        add(out, stacks, json_integer(node_number(out, item->node)));
        add(out, times, ms(out, item->time_ns));
        add(out, cpu, json_integer((json_int_t)(item->cpu_ns / 1000)));
    }
    size_t count = json_array_size(stacks);
    json_put(json, "length", json_integer((json_int_t)count));
    json_put(json, "stack", stacks);
    json_put(json, "time", times);
    json_put(json, "weight", column_of(out, json_integer(1), count));
    json_put(json, "weightType", json_text("samples"));
    json_put(json, "threadCPUDelta", cpu);
    return json;
}

struct markers {
    json_t *data, *names, *starts, *ends, *phases, *categories;
};

static void put_marker(struct firefox *out, struct markers *markers, const char *name,
                       uint64_t start_ns, uint64_t end_ns, json_t *data)
{
    add(out, markers->data, data);
    add(out, markers->names, json_integer(string_number(out, name)));
    add(out, markers->starts, ms(out, start_ns));
    add(out, markers->ends, ms(out, end_ns));
    add(out, markers->phases, json_integer(MARKER_INTERVAL));
    add(out, markers->categories, json_integer(CATEGORY_WAIT));
}

static void put_wait(struct firefox *out, struct markers *markers, const struct profile_item *item)
{
    char text[256];
    const struct argus_graph *graph = out->profile.context->graph;
    json_t *data = json_object(), *cause = json_object();
    json_put(data, "type", json_text("wait"));
    json_put(data, "on", json_text(argus_wait_text(graph, item->vertex, text, sizeof(text))));
    json_put(data, "vertex", json_integer(item->vertex));
    json_put(cause, "time", ms(out, item->time_ns));
    json_put(cause, "stack", json_integer(node_number(out, item->node)));
    json_put(data, "cause", cause);
    put_marker(out, markers, "Wait", item->time_ns, item->time_ns + item->wait_ns, data);
}

static void put_hangs(struct firefox *out, struct markers *markers, uint32_t thread)
{
    const struct argus_export *part = out->profile.part;
    for (size_t i = 0; i < part->hang_count && !out->failed; i++) {
        const struct argus_hang *hang = part->hangs[i].hang;
        char words[DIAGNOSIS_SUMMARY_BYTES];
        const char *summary = NULL;
        if (hang->thread != thread)
            continue;
        if (part->hangs[i].diagnosis)
            summary = diagnosis_summary_text(out->profile.context->graph, part->hangs[i].diagnosis,
                                             words, sizeof(words));
        json_t *data = json_object();
        json_put(data, "type", json_text("hang"));
        json_put(data, "why", json_text(summary ? summary : "not diagnosed"));
        put_marker(out, markers, "Hang", hang->start_ns, hang->end_ns, data);
    }
}

static json_t *markers_json(struct firefox *out, size_t first, size_t last, uint32_t thread)
{
    struct markers markers = {json_array(), json_array(), json_array(),
                              json_array(), json_array(), json_array()};
    put_hangs(out, &markers, thread);
    for (size_t i = first; i < last && !out->failed; i++)
        if (out->profile.items.data[i].wait_ns)
            put_wait(out, &markers, &out->profile.items.data[i]);
    json_t *json = json_object();
    json_put(json, "length", json_integer((json_int_t)json_array_size(markers.data)));
    json_put(json, "data", markers.data);
    json_put(json, "name", markers.names);
    json_put(json, "startTime", markers.starts);
    json_put(json, "endTime", markers.ends);
    json_put(json, "phase", markers.phases);
    json_put(json, "category", markers.categories);
    return json;
}

static json_t *stacks_json(struct firefox *out)
{
    json_t *json = json_object();
    size_t count = json_array_size(out->node_frames);
    json_put(json, "length", json_integer((json_int_t)count));
    json_put(json, "frame", json_incref(out->node_frames));
    json_put(json, "prefix", json_incref(out->node_parents));
    json_put(json, "category", json_incref(out->node_categories));
    json_put(json, "subcategory", column_of(out, json_integer(0), count));
    return json;
}

static json_t *frames_json(struct firefox *out)
{
    static const char *const unknown[] = {"category", "subcategory",    "nativeSymbol", "line",
                                          "column",   "implementation", "optimizations"};
    json_t *json = json_object(), *functions = json_array();
    size_t count = json_array_size(out->function_names);
    for (size_t i = 0; i < count && !out->failed; i++)
        add(out, functions, json_integer((json_int_t)i));
    json_put(json, "length", json_integer((json_int_t)count));
    json_put(json, "func", functions);
    json_put(json, "address", column_of(out, json_integer(-1), count));
    json_put(json, "inlineDepth", column_of(out, json_integer(0), count));
    json_put(json, "innerWindowID", column_of(out, json_integer(0), count));
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        json_put(json, unknown[i], column_of(out, json_null(), count));
    return json;
}

static json_t *functions_json(struct firefox *out)
{
    json_t *json = json_object();
    size_t count = json_array_size(out->function_names);
    json_put(json, "length", json_integer((json_int_t)count));
    json_put(json, "name", json_incref(out->function_names));
    json_put(json, "isJS", column_of(out, json_boolean(false), count));
    json_put(json, "relevantForJS", column_of(out, json_boolean(false), count));
    json_put(json, "resource", column_of(out, json_integer(-1), count));
    json_put(json, "fileName", column_of(out, json_null(), count));
    json_put(json, "lineNumber", column_of(out, json_null(), count));
    json_put(json, "columnNumber", column_of(out, json_null(), count));
    return json;
}

/* A table without rows; `columns` ends with NULL. */
static json_t *empty_table(const char *const *columns)
{
    json_t *json = json_object();
    json_put(json, "length", json_integer(0));
    for (; *columns; columns++)
        json_put(json, *columns, json_array());
    return json;
}

static void begin_thread(struct firefox *out)
{
    json_t **lists[] = {&out->texts, &out->function_names, &out->node_frames, &out->node_parents,
                        &out->node_categories};
    idmap_clear(&out->strings);
    idmap_clear(&out->functions);
    idmap_clear(&out->nodes);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        json_decref(*lists[i]);
        *lists[i] = json_array();
        out->failed |= !*lists[i];
    }
}

static void end_threads(struct firefox *out)
{
    json_t *lists[] = {out->texts, out->function_names, out->node_frames, out->node_parents,
                       out->node_categories};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        json_decref(lists[i]);
    idmap_deinit(&out->strings);
    idmap_deinit(&out->functions);
    idmap_deinit(&out->nodes);
    profile_deinit(&out->profile);
}

/* As text, because the viewer takes these as names that may have a suffix. */
static json_t *id_text(uint64_t id)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)id);
    return json_text(text);
}

static json_t *thread_json(struct firefox *out, size_t first, size_t last)
{
    static const char *const resources[] = {"lib", "name", "host", "type", NULL};
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
    uint32_t index = out->profile.items.data[first].thread;
    const struct argus_thread *thread = &out->profile.view.threads[index];
    const struct argus_process *process = &out->profile.view.processes[thread->process];
    begin_thread(out);
    json_t *json = json_object(), *samples = samples_json(out, first, last);
    json_t *markers = markers_json(out, first, last, index);
    json_put(json, "name", json_text(thread->name));
    json_put(json, "isMainThread", json_boolean(thread->tid == process->pid));
    json_put(json, "processName", json_text(process->name));
    json_put(json, "processType", json_text("default"));
    json_put(json, "pid", id_text(process->pid));
    json_put(json, "tid", id_text(thread->tid));
    json_put(json, "registerTime", ms(out, thread->start_ns));
    json_put(json, "unregisterTime",
             thread->end_ns == UINT64_MAX ? json_null() : ms(out, thread->end_ns));
    json_put(json, "processStartupTime", ms(out, process->start_ns));
    json_put(json, "processShutdownTime",
             process->end_ns == UINT64_MAX ? json_null() : ms(out, process->end_ns));
    json_put(json, "pausedRanges", json_array());
    json_put(json, "samples", samples);
    json_put(json, "markers", markers);
    json_put(json, "stackTable", stacks_json(out));
    json_put(json, "frameTable", frames_json(out));
    json_put(json, "funcTable", functions_json(out));
    json_put(json, "resourceTable", empty_table(resources));
    json_put(json, "nativeSymbols", empty_table(symbols));
    json_put(json, "stringArray", json_incref(out->texts));
    return json;
}

/* --- the file --- */

static json_t *category_json(const char *name, const char *color)
{
    return json_pack("{s:s, s:s, s:[s]}", "name", name, "color", color, "subcategories", "Other");
}

static json_t *meta_json(const struct firefox *out)
{
    const struct argus_graph *graph = out->profile.context->graph;
    const struct argus_trace *trace = argus_graph_trace(graph);
    json_t *json = json_pack(
        "{s:i, s:i, s:f, s:i, s:s, s:b, s:b, s:b, s:b, s:b, s:{s:s, s:s, s:s}, s:[], s:[]}",
        "version", 24, "preprocessedProfileVersion", VERSION, "interval", 1.0, "processType", 0,
        "product", "Argus", "stackwalk", true, "debug", false, "symbolicated", true,
        "usesOnlyOneStackType", true, "doesNotUseFrameImplementation", true, "sampleUnits", "time",
        "ms", "eventDelay", "ms", "threadCPUDelta", "\u00b5s", "markerSchema", "pausedRanges");
    json_t *categories = json_array();
    json_add(categories, category_json("Program", "blue"));
    json_add(categories, category_json("Kernel", "orange"));
    json_add(categories, category_json("Wait", "transparent"));
    json_put(json, "categories", categories);
    json_put(
        json, "startTime",
        json_real((double)argus_trace_ns_to_wall_ns(trace, argus_graph_start_ns(graph)) / 1e6));
    json_put(json, "oscpu", json_text(argus_trace_header(trace)->host));
    json_t *schemas = json_object_get(json, "markerSchema");
    json_add(schemas, json_pack("{s:s, s:s, s:s, s:[s, s], s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}]}",
                                "name", "wait", "tooltipLabel", "Wait: {marker.data.on}",
                                "tableLabel", "{marker.data.on}", "display", "marker-chart",
                                "marker-table", "data", "key", "on", "label", "Waits for", "format",
                                "string", "key", "vertex", "label", "Vertex", "format", "integer"));
    json_add(schemas,
             json_pack("{s:s, s:s, s:s, s:[s, s, s], s:[{s:s, s:s, s:s}]}", "name", "hang",
                       "tooltipLabel", "{marker.data.why}", "tableLabel", "{marker.data.why}",
                       "display", "marker-chart", "marker-table", "timeline-overview", "data",
                       "key", "why", "label", "Diagnosis", "format", "string"));
    return json;
}

static void write_json(struct firefox *out, json_t *json)
{
    char *text =
        json_is_whole(json) ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(json);
    out->failed |= !text;
    if (text)
        argus_sink_printf(out->profile.context->sink, "%s", text);
    free(text);
}

/* Thread by thread, so that memory does not hold the text of all. */
static void write_threads(struct firefox *out)
{
    size_t count = out->profile.items.length, last;
    for (size_t first = 0; first < count && !out->failed; first = last) {
        last = first + 1;
        while (last < count &&
               out->profile.items.data[last].thread == out->profile.items.data[first].thread)
            last++;
        if (first)
            argus_sink_printf(out->profile.context->sink, ",\n");
        write_json(out, thread_json(out, first, last));
    }
}

struct argus_error *argus_export_firefox(const struct argus_report_context *context,
                                         const struct argus_export *part, uint64_t *ret_edges_cut)
{
    struct firefox out = {.failed = false};
    struct argus_error *error = profile_collect(context, part, &out.profile);
    if (!error) {
        argus_sink_printf(context->sink, "{\"meta\":");
        write_json(&out, meta_json(&out));
        argus_sink_printf(context->sink, ",\n\"libs\":[],\"pages\":[],\"counters\":[],"
                                         "\"profilerOverhead\":[],\"threads\":[\n");
        write_threads(&out);
        argus_sink_printf(context->sink, "]}\n");
        error = out.failed ? argus_error_memory() : NULL;
    }
    *ret_edges_cut = export_count_cut(context->graph, part);
    end_threads(&out);
    return error;
}
