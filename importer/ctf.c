/* Traces in the Common Trace Format, as LTTng writes them, read by libbabeltrace2: a folder with a
 * file "metadata" and streams of events.
 *
 * The library runs a graph: a source of events for each folder, a muxer that puts them in order,
 * and a sink, which is this file. Times are ns since 1970, so the trace clock of the result is the
 * wall clock.
 *
 * The muxer ends with an error if a stream is damaged, or if its times go back (old LTTng). Then
 * the file is read again without it, each stream by a sink of its own, up to its damage.
 */
#include <babeltrace2/babeltrace.h>
#include <ftw.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"
#include "ctf_events.h"
#include "formats.h"
#include "library_abort.h"

enum { METADATA_BYTES = 4 };

/* --- the graph --- */

static bt_graph_simple_sink_component_initialize_func_status begin(bt_message_iterator *messages,
                                                                   void *data)
{
    (void)messages;
    (void)data;
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *messages,
                                                                  void *data)
{
    struct ctf_reading *reading = data;
    bt_message_array_const batch;
    uint64_t count;
    bt_message_iterator_next_status status = bt_message_iterator_next(messages, &batch, &count);
    if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR && reading->is_alone) {
        bt_current_thread_clear_error();
        reading->has_stopped = true;
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    }
    if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
        return (bt_graph_simple_sink_component_consume_func_status)status;
    for (uint64_t i = 0; i < count; i++) {
        ctf_take_message(reading, batch[i]);
        bt_message_put_ref(batch[i]);
    }
    return sink_failed(reading->sink) ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR
                                      : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* Without the addresses and IDs of its objects, which it lists behind its sentence as
 * "msg-it-addr=0x556ce4661e70, stream-class-id=0". */
static size_t sentence_bytes(const char *message)
{
    const char *address = strstr(message, "-addr=0x"), *end = NULL;
    for (const char *at = message; address && at < address; at++)
        if (strncmp(at, ": ", 2) == 0)
            end = at;
    return end ? (size_t)(end - message) : strlen(message);
}

static struct argus_error *library_error(const char *what)
{
    const bt_error *error = bt_current_thread_take_error();
    const char *message = NULL;
    if (error && bt_error_get_cause_count(error))
        message = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
    struct argus_error *result =
        argus_error_create(ARGUS_ERROR_FORMAT, "libbabeltrace2 %s%s%.*s", what, message ? ": " : "",
                           message ? (int)sentence_bytes(message) : 0, message ? message : "");
    if (error)
        bt_error_release(error);
    return result;
}

static const bt_plugin *plugin(const char *name)
{
    const bt_plugin *found = NULL;
    bt_plugin_find(name, BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &found);
    return found;
}

static bool add_source(bt_graph *graph, const char *folder, unsigned number,
                       const bt_component_source **ret)
{
    const bt_plugin *ctf = plugin("ctf");
    const bt_component_class_source *class =
        ctf ? bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs") : NULL;
    bt_value *params = bt_value_map_create(), *inputs = NULL;
    char name[32];
    snprintf(name, sizeof(name), "in%u", number);
    bool good =
        class && params && bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) == 0 &&
        bt_value_array_append_string_element(inputs, folder) == 0 &&
        bt_graph_add_source_component(graph, class, name, params, BT_LOGGING_LEVEL_NONE, ret) == 0;
    bt_value_put_ref(params);
    bt_plugin_put_ref(ctf);
    return good;
}

/* The muxer always has one free input port, its last one. */
static bool connect_muxer(bt_graph *graph, const bt_component_source *source,
                          const bt_component_filter *muxer)
{
    uint64_t count = bt_component_source_get_output_port_count(source);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t last = bt_component_filter_get_input_port_count(muxer) - 1;
        if (bt_graph_connect_ports(
                graph, bt_component_source_borrow_output_port_by_index_const(source, i),
                bt_component_filter_borrow_input_port_by_index_const(muxer, last), NULL) != 0)
            return false;
    }
    return true;
}

static bool add_muxer(bt_graph *graph, const bt_component_filter **ret)
{
    const bt_plugin *utils = plugin("utils");
    const bt_component_class_filter *class =
        utils ? bt_plugin_borrow_filter_component_class_by_name_const(utils, "muxer") : NULL;
    bool good = class && bt_graph_add_filter_component(graph, class, "mux", NULL,
                                                       BT_LOGGING_LEVEL_NONE, ret) == 0;
    bt_plugin_put_ref(utils);
    return good;
}

static bool add_sink(bt_graph *graph, const char *name, const bt_port_output *from,
                     struct ctf_reading *reading)
{
    const bt_component_sink *sink;
    return bt_graph_add_simple_sink_component(graph, name, begin, consume, NULL, reading, &sink) ==
               0 &&
           bt_graph_connect_ports(
               graph, from, bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) == 0;
}

/* --- folders --- */

/* A trace of LTTng has its parts up to five folders deep. Somebody may name the root of a disk. */
enum { MOST_DEEP = 8, MOST_FILES = 200000 };

/* nftw() has no argument for its callback. */
static VEC(char *) folders;
static uint32_t seen_files;
static bool is_cut, lacked_memory; /* not all folders were found */

static int add_folder(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    if (++seen_files > MOST_FILES) {
        is_cut = true;
        return -1;
    }
    if (place->level > MOST_DEEP)
        return 0;
    if (kind != FTW_F || strcmp(path + place->base, "metadata") != 0)
        return 0;
    char *folder = strndup(path, place->base > 1 ? (size_t)place->base - 1 : 1);
    if (folder && vec_push(&folders, folder))
        return 0;
    free(folder);
    lacked_memory = true;
    return -1;
}

static void find_folders(const char *path)
{
    while (folders.length)
        free(folders.data[--folders.length]);
    seen_files = 0;
    is_cut = lacked_memory = false;
    nftw(path, add_folder, 16, FTW_PHYS);
}

static bool matches(const char *path, const unsigned char *bytes, size_t length)
{
    static const unsigned char packed[METADATA_BYTES] = {0x57, 0x1d, 0xd1, 0x75},
                               stream[METADATA_BYTES] = {0xc1, 0x1f, 0xfc, 0xc1};
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        find_folders(path);
        return folders.length > 0;
    }
    return length >= METADATA_BYTES && (memcmp(bytes, packed, METADATA_BYTES) == 0 ||
                                        memcmp(bytes, stream, METADATA_BYTES) == 0 ||
                                        (length > 6 && memcmp(bytes, "/* CTF", 6) == 0));
}

/* Its metadata are JSON in text sequences (RFC 7464). libbabeltrace2 reads it from 2.1 on. */
static bool is_ctf_2(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/metadata", folder);
    FILE *file = fopen(path, "rbe");
    bool is = file && fgetc(file) == 0x1e;
    if (file)
        fclose(file);
    return is;
}

static struct argus_error *cannot_read(const char *folder)
{
    if (!is_ctf_2(folder))
        return library_error("cannot read the folder");
    bt_current_thread_clear_error();
    return argus_error_create(ARGUS_ERROR_FORMAT, "it is CTF 2, which this version of "
                                                  "libbabeltrace2 cannot read (2.1 can)");
}

static struct argus_error *run(bt_graph *graph, const struct sink *sink)
{
    if (bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK && !sink_failed(sink))
        return library_error("stopped in the middle");
    return NULL;
}

/* All streams in the order of time. */
static struct argus_error *read_in_order(bt_graph *graph, struct ctf_reading *reading)
{
    const bt_component_filter *muxer;
    const bt_component_source *source;
    if (!add_muxer(graph, &muxer))
        return library_error("has no component to order events");
    for (size_t i = 0; i < folders.length; i++)
        if (!add_source(graph, folders.data[i], (unsigned)i, &source) ||
            !connect_muxer(graph, source, muxer))
            return cannot_read(folders.data[i]);
    if (!add_sink(graph, "out", bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
                  reading))
        return library_error("cannot connect its components");
    return run(graph, reading->sink);
}

/* --- each stream alone --- */

enum { MOST_STREAMS = 4096 };

struct alone {
    const struct ctf_reading *model; /* borrowed */
    struct ctf_reading *streams;     /* owned; room for MOST_STREAMS */
    size_t count;
};

static bool add_streams(bt_graph *graph, const bt_component_source *source, struct alone *alone)
{
    uint64_t count = bt_component_source_get_output_port_count(source);
    for (uint64_t i = 0; i < count; i++) {
        char name[32];
        if (alone->count == MOST_STREAMS)
            return false;
        struct ctf_reading *stream = &alone->streams[alone->count];
        snprintf(name, sizeof(name), "out%zu", alone->count++);
        *stream = (struct ctf_reading){.sink = alone->model->sink,
                                       .events = alone->model->events,
                                       .machine = alone->model->machine,
                                       .is_alone = true};
        if (!add_sink(graph, name, bt_component_source_borrow_output_port_by_index_const(source, i),
                      stream))
            return false;
    }
    return true;
}

static struct argus_error *run_streams(bt_graph *graph, struct alone *alone)
{
    const bt_component_source *source;
    for (size_t i = 0; i < folders.length; i++)
        if (!add_source(graph, folders.data[i], (unsigned)i, &source) ||
            !add_streams(graph, source, alone))
            return cannot_read(folders.data[i]);
    return run(graph, alone->model->sink);
}

/* Adds to `reading` what was left out. */
static struct argus_error *read_alone(bt_graph *graph, struct ctf_reading *reading)
{
    struct alone alone = {.model = reading,
                          .streams = calloc(MOST_STREAMS, sizeof(*alone.streams))};
    struct argus_error *error = alone.streams ? NULL : argus_error_memory();
    size_t stopped = 0;
    if (!error)
        error = run_streams(graph, &alone);
    for (size_t i = 0; i < alone.count; i++) {
        ctf_end(&alone.streams[i]);
        reading->strange_count += alone.streams[i].strange_count;
        reading->threadless_count += alone.streams[i].threadless_count;
        reading->markless_count += alone.streams[i].markless_count;
        reading->user_lost_count += alone.streams[i].user_lost_count;
        for (int user = 0; user < 2; user++)
            reading->lost_packets[user] += alone.streams[i].lost_packets[user];
        stopped += alone.streams[i].has_stopped;
    }
    if (!error && stopped)
        sink_note(reading->sink,
                  "imported: %zu of %zu streams are damaged, and were read up to the damage",
                  stopped, alone.count);
    free(alone.streams);
    return error;
}

/* For a file inside a trace, the whole folder is read. */
static void choose_folders(const char *path)
{
    struct stat status;
    char *copy = strdup(path);
    if (copy && stat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        find_folders(dirname(copy));
    else
        find_folders(path);
    free(copy);
}

static void note_user_space(const struct ctf_reading *reading)
{
    if (reading->threadless_count)
        sink_note(reading->sink,
                  "imported: the thread of %" PRIu64 " events of user space is not known; it is "
                  "with \"lttng add-context -u -t vtid -t vpid -t procname\"",
                  reading->threadless_count);
    if (reading->markless_count)
        sink_note(reading->sink,
                  "imported: %" PRIu64 " events of user space were left out, because they have too "
                  "many names",
                  reading->markless_count);
    if (reading->user_lost_count)
        sink_note(reading->sink, "imported: the tracer lost %" PRIu64 " events of user space",
                  reading->user_lost_count);
}

static void note_lost_packets(const struct ctf_reading *reading)
{
    static const char *const where[] = {"the kernel", "user space"};
    for (int user = 0; user < 2; user++)
        if (reading->lost_packets[user])
            sink_note(reading->sink,
                      "imported: the tracer lost %" PRIu64
                      " packets of events of %s; how many events were in them is not known",
                      reading->lost_packets[user], where[user]);
}

static void note_left_out(const struct ctf_reading *reading)
{
    if (reading->strange_count)
        sink_note(reading->sink,
                  "%" PRIu64 " events without a time, a CPU or a known thread were left out",
                  reading->strange_count);
    if (is_cut)
        sink_note(reading->sink,
                  "imported: the folder has more than %d files; traces among the others were not "
                  "looked for",
                  MOST_FILES);
}

static struct argus_error *read_with(struct argus_error *(*read)(bt_graph *, struct ctf_reading *),
                                     struct sink *sink)
{
    char machine[CTF_MACHINE_BYTES] = "";
    struct ctf_reading reading = {
        .sink = sink, .events = kernel_events_create(sink), .machine = machine};
    bt_graph *graph = bt_graph_create(0);
    struct argus_error *error = reading.events && graph ? NULL : argus_error_memory();
    sink_header(sink)->anchor_ticks = 1;
    sink_header(sink)->anchor_wall_ns = 1;
    if (!error)
        error = read(graph, &reading);
    ctf_end(&reading);
    if (!error) {
        note_left_out(&reading);
        note_user_space(&reading);
        note_lost_packets(&reading);
        kernel_events_note_gaps(reading.events);
    }
    bt_graph_put_ref(graph);
    kernel_events_destroy(reading.events);
    return error;
}

static struct argus_error *read_chosen(struct sink *sink)
{
    struct argus_error *error =
        lacked_memory ? argus_error_memory() : read_with(read_in_order, sink);
    if (!error || error->code != ARGUS_ERROR_FORMAT)
        return error;
    sink_clear(sink);
    struct argus_error *again = read_with(read_alone, sink);
    if (again || !sink_last_ns(sink)) {
        argus_error_destroy(again);
        return error;
    }
    sink_note(sink, "imported: each stream was read by itself, because %s", error->message);
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *read_folder(const char *path, struct sink *sink)
{
    choose_folders(path);
    library_abort_begin("libbabeltrace2", path);
    struct argus_error *error = read_chosen(sink);
    library_abort_end();
    return error;
}

const struct format format_ctf = {"CTF (LTTng)", matches, read_folder, true};
