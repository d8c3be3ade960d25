/* Traces in the Common Trace Format, as LTTng writes them, read by libbabeltrace2: a folder with a
 * file "metadata" and streams of events.
 *
 * The library runs a graph: a source of events for each folder, a muxer that puts them in order, and
 * a sink, which is this file. Times are ns since 1970, so the trace clock of the result is the wall
 * clock. Names of LTTng's contexts and fields: lttng-modules 2.13.
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
#include "formats.h"
#include "kernel_events.h"

enum { METADATA_BYTES = 4 };

struct reading {
    struct sink *sink;
    struct kernel_events *events;
    bt_message_iterator *messages; /* owned */
    uint64_t strange_count;        /* events without time or CPU */
};

/* --- fields --- */

static const bt_field *member(const bt_field *of, const char *name)
{
    if (!of || bt_field_get_class_type(of) != BT_FIELD_CLASS_TYPE_STRUCTURE)
        return NULL;
    return bt_field_structure_borrow_member_field_by_name_const(of, name);
}

/* Only of the event itself: its contexts have fields of the same names about the current thread. */
static const bt_field *field_of(const bt_event *event, const char *name)
{
    return member(bt_event_borrow_payload_field_const(event), name);
}

static bool field_number(const bt_field *field, uint64_t *ret)
{
    bt_field_class_type type = field ? bt_field_get_class_type(field) : 0;
    if (!field)
        return false;
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
        *ret = bt_field_integer_unsigned_get_value(field);
    else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
        *ret = (uint64_t)bt_field_integer_signed_get_value(field);
    else
        return false;
    return true;
}

static bool number(const struct foreign_event *event, const char *name, uint64_t *ret)
{
    return field_number(field_of(event->source, name), ret);
}

static const char *field_text(const bt_field *field)
{
    if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
        return NULL;
    return bt_field_string_get_value(field);
}

static const char *text(const struct foreign_event *event, const char *name)
{
    return field_text(field_of(event->source, name));
}

/* LTTng gives the arguments of a system call by name, without their places. These are the calls by
 * which threads wait and the arguments that tell for what. To add one: a row. */
static const struct {
    const char *call, *field;
    unsigned index;
} arguments[] = {
    {"", "fd", 0},
    {"", "fildes", 0},
    {"", "epfd", 0},
    {"", "ufds", 0},
    {"", "uaddr", 0},
    {"", "upid", 0},
    {"", "which_clock", 0},
    {"", "rqtp", 0},
    {"", "filename", 0},
    {"openat", "filename", 1},
    {"openat", "dfd", 0},
    {"futex", "op", 1},
    {"futex", "val", 2},
    {"futex", "utime", 3},
    {"poll", "nfds", 1},
    {"poll", "timeout_msecs", 2},
    {"ppoll", "nfds", 1},
    {"epoll_wait", "maxevents", 2},
    {"epoll_wait", "timeout", 3},
    {"epoll_pwait", "maxevents", 2},
    {"epoll_pwait", "timeout", 3},
    {"select", "n", 0},
    {"pselect6", "n", 0},
    {"read", "count", 2},
    {"write", "count", 2},
    {"kill", "pid", 0},
    {"kill", "sig", 1},
    {"clock_nanosleep", "flags", 1},
    {"clock_nanosleep", "rqtp", 2},
};

static bool argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    static const char beginning[] = "syscall_entry_";
    const char *call = event->name + sizeof(beginning) - 1;
    if (strncmp(event->name, beginning, sizeof(beginning) - 1) != 0)
        return false;
    for (int own = 1; own >= 0; own--) /* a row of the call itself comes before a general one */
        for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
            if (arguments[i].index == index && strcmp(arguments[i].call, own ? call : "") == 0 &&
                number(event, arguments[i].field, ret))
                return true;
    return false;
}

static const struct foreign_fields fields = {number, text, argument};

/* --- events --- */

static bool cpu_of(const bt_event *event, uint32_t *ret)
{
    uint64_t cpu;
    const bt_packet *packet = bt_stream_class_supports_packets(
                                  bt_stream_borrow_class_const(bt_event_borrow_stream_const(event)))
                                  ? bt_event_borrow_packet_const(event)
                                  : NULL;
    const bt_field *context = packet ? bt_packet_borrow_context_field_const(packet) : NULL;
    if (!field_number(member(context, "cpu_id"), &cpu) || cpu >= 65536)
        return false;
    *ret = (uint32_t)cpu;
    return true;
}

static bool time_of(const bt_message *message, uint64_t *ret_ns)
{
    int64_t ns;
    const bt_event *event = bt_message_event_borrow_event_const(message);
    const bt_stream_class *class =
        bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
    if (!bt_stream_class_borrow_default_clock_class_const(class))
        return false;
    const bt_clock_snapshot *clock = bt_message_event_borrow_default_clock_snapshot_const(message);
    if (bt_clock_snapshot_get_ns_from_origin(clock, &ns) != 0 || ns < 0)
        return false;
    *ret_ns = (uint64_t)ns;
    return true;
}

/* What the contexts tell about the current thread, if they were recorded. */
static void take_contexts(struct reading *reading, struct foreign_event *event)
{
    const bt_field *context = bt_event_borrow_common_context_field_const(event->source);
    uint64_t pid = 0, parent = 0;
    if (!field_number(member(context, "tid"), &event->tid))
        return;
    field_number(member(context, "pid"), &pid);
    field_number(member(context, "ppid"), &parent);
    sink_thread(reading->sink, event->tid, pid, parent, field_text(member(context, "procname")),
                false);
}

/* What the environment of the trace tells about the machine. */
static void take_environment(struct reading *reading, const bt_event *event)
{
    struct argus_trace_header *header = sink_header(reading->sink);
    const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
    const bt_value *release =
        bt_trace_borrow_environment_entry_value_by_name_const(trace, "kernel_release");
    if (!header->host[0] && release && bt_value_is_string(release))
        snprintf(header->host, sizeof(header->host), "Linux %s", bt_value_string_get(release));
}

static void take_event(struct reading *reading, const bt_message *message)
{
    const bt_event *source = bt_message_event_borrow_event_const(message);
    struct foreign_event event = {.name =
                                      bt_event_class_get_name(bt_event_borrow_class_const(source)),
                                  .context = ARGUS_CONTEXT_UNKNOWN,
                                  .fields = &fields,
                                  .source = source};
    uint64_t *current, next;
    if (!event.name || !time_of(message, &event.time_ns) || !cpu_of(source, &event.cpu) ||
        !(current = kernel_events_current(reading->events, event.cpu))) {
        reading->strange_count++;
        return;
    }
    event.tid = *current;
    take_environment(reading, source);
    take_contexts(reading, &event);
    kernel_events_take(reading->events, &event);
    if (strcmp(event.name, "sched_switch") == 0 && number(&event, "next_tid", &next))
        *current = next;
}

static void take_discarded(struct reading *reading, const bt_message *message)
{
    uint64_t count = 1;
    int64_t ns = 0;
    const bt_stream *stream = bt_message_discarded_events_borrow_stream_const(message);
    const bt_stream_class *class = bt_stream_borrow_class_const(stream);
    bt_message_discarded_events_get_count(message, &count);
    if (bt_stream_class_discarded_events_have_default_clock_snapshots(class))
        bt_clock_snapshot_get_ns_from_origin(
            bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message),
            &ns);
    sink_lost(reading->sink, 0, ns > 0 ? (uint64_t)ns : sink_last_ns(reading->sink), count);
}

/* --- the graph --- */

static bt_graph_simple_sink_component_initialize_func_status begin(bt_message_iterator *messages,
                                                                   void *data)
{
    struct reading *reading = data;
    reading->messages = messages;
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *messages,
                                                                  void *data)
{
    struct reading *reading = data;
    bt_message_array_const batch;
    uint64_t count;
    bt_message_iterator_next_status status = bt_message_iterator_next(messages, &batch, &count);
    if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
        return (bt_graph_simple_sink_component_consume_func_status)status;
    for (uint64_t i = 0; i < count; i++) {
        if (bt_message_get_type(batch[i]) == BT_MESSAGE_TYPE_EVENT)
            take_event(reading, batch[i]);
        else if (bt_message_get_type(batch[i]) == BT_MESSAGE_TYPE_DISCARDED_EVENTS)
            take_discarded(reading, batch[i]);
        bt_message_put_ref(batch[i]);
    }
    return sink_failed(reading->sink) ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR
                                      : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

static struct argus_error *library_error(const char *what)
{
    const bt_error *error = bt_current_thread_take_error();
    const char *message = NULL;
    if (error && bt_error_get_cause_count(error))
        message = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
    struct argus_error *result =
        argus_error_create(ARGUS_ERROR_FORMAT, "libbabeltrace2 %s%s%s", what, message ? ": " : "",
                           message ? message : "");
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
static bool connect(bt_graph *graph, const bt_component_source *source,
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

static bool add_sink(bt_graph *graph, const bt_component_filter *muxer, struct reading *reading)
{
    const bt_component_sink *sink;
    return bt_graph_add_simple_sink_component(graph, "out", begin, consume, NULL, reading, &sink) ==
               0 &&
           bt_graph_connect_ports(
               graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
               bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL) == 0;
}

/* --- folders --- */

/* A trace of LTTng has its parts up to five folders deep. Somebody may name the root of a disk. */
enum { MOST_DEEP = 8, MOST_FILES = 200000 };

/* nftw() has no argument for its callback. */
static VEC(char *) folders;
static uint32_t seen_files;

static int add_folder(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    if (++seen_files > MOST_FILES || place->level > MOST_DEEP)
        return seen_files > MOST_FILES ? -1 : 0;
    if (kind != FTW_F || strcmp(path + place->base, "metadata") != 0)
        return 0;
    char *folder = strndup(path, place->base > 1 ? (size_t)place->base - 1 : 1);
    return folder && vec_push(&folders, folder) ? 0 : -1;
}

static void find_folders(const char *path)
{
    while (folders.length)
        free(folders.data[--folders.length]);
    seen_files = 0;
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

static struct argus_error *run(bt_graph *graph, struct reading *reading)
{
    const bt_component_filter *muxer;
    const bt_component_source *source;
    if (!add_muxer(graph, &muxer))
        return library_error("has no component to order events");
    for (size_t i = 0; i < folders.length; i++)
        if (!add_source(graph, folders.data[i], (unsigned)i, &source) ||
            !connect(graph, source, muxer))
            return is_ctf_2(folders.data[i])
                       ? argus_error_create(ARGUS_ERROR_FORMAT,
                                            "it is CTF 2, which this version of libbabeltrace2 "
                                            "cannot read (2.1 can)")
                       : library_error("cannot read the folder");
    if (!add_sink(graph, muxer, reading))
        return library_error("cannot connect its components");
    if (bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK && !sink_failed(reading->sink))
        return library_error("stopped in the middle");
    return NULL;
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

static struct argus_error *read_folder(const char *path, struct sink *sink)
{
    struct reading reading = {.sink = sink, .events = kernel_events_create(sink)};
    bt_graph *graph = bt_graph_create(0);
    struct argus_error *error = reading.events && graph ? NULL : argus_error_memory();
    sink_header(sink)->anchor_ticks = 1;
    sink_header(sink)->anchor_wall_ns = 1;
    choose_folders(path);
    if (!error)
        error = run(graph, &reading);
    if (error && error->code == ARGUS_ERROR_FORMAT && sink_last_ns(sink)) {
        sink_note(sink, "only the part before a damaged place was imported: %s", error->message);
        argus_error_destroy(error);
        error = NULL;
    }
    if (!error)
        kernel_events_note_gaps(reading.events);
    if (reading.strange_count)
        sink_note(sink, "%" PRIu64 " events without a time or a CPU were left out",
                  reading.strange_count);
    bt_graph_put_ref(graph);
    kernel_events_destroy(reading.events);
    return error;
}

const struct format format_ctf = {"CTF (LTTng)", matches, read_folder};
