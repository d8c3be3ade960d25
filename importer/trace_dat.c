/* Files of trace-cmd and kernelshark, read by libtracecmd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd/trace-cmd.h>

#include "formats.h"
#include "kernel_events.h"
#include "tep_fields.h"

struct reading {
    struct sink *sink;
    struct kernel_events *events;
    struct tep_handle *tep;
};

static bool matches(const char *path, const unsigned char *bytes, size_t length)
{
    static const char magic[] = "\x17\x08\x44tracing";
    (void)path;
    return length >= sizeof(magic) - 1 && memcmp(bytes, magic, sizeof(magic) - 1) == 0;
}

/* libtraceevent calls threads that are not in the file's table "<...>". */
static const char *known_name(const char *name)
{
    return name && name[0] != '<' ? name : NULL;
}

static int take(struct tracecmd_input *input, struct tep_record *record, int cpu, void *context)
{
    struct reading *reading = context;
    struct foreign_event event;
    struct tep_source source;
    (void)input, (void)cpu;    /* which counts the CPUs of all buffers */
    if (record->missed_events) /* -1: it is not known how many */
        sink_lost(reading->sink, (uint32_t)record->cpu, record->ts,
                  record->missed_events > 0 ? (uint64_t)record->missed_events : 1);
    if (tep_event_of(reading->tep, record, &source, &event)) {
        sink_thread(reading->sink, event.tid, 0, 0,
                    known_name(tep_data_comm_from_pid(reading->tep, (int)event.tid)), false);
        kernel_events_take(reading->events, &event);
    }
    return sink_failed(reading->sink) ? -1 : 0;
}

/* The file's own buffer, and those of instances (trace-cmd record -B NAME), together in the order
 * of time. */
static int read_buffers(struct tracecmd_input *input, struct reading *reading)
{
    int instances = tracecmd_buffer_instances(input), count = 1, failed;
    struct tracecmd_input **inputs = calloc((size_t)instances + 1, sizeof(struct tracecmd_input *));
    if (!inputs) {
        sink_fail(reading->sink, argus_error_memory());
        return -1;
    }
    inputs[0] = input;
    for (int i = 0; i < instances; i++)
        if ((inputs[count] = tracecmd_buffer_instance_handle(input, i)))
            count++;
    failed = tracecmd_iterate_events_multi(inputs, count, take, reading);
    if (count <= instances)
        sink_note(reading->sink, "imported: %d of %d buffers of instances cannot be read",
                  instances + 1 - count, instances);
    while (--count)
        tracecmd_close(inputs[count]);
    free(inputs);
    return failed;
}

static struct argus_error *read_events(struct tracecmd_input *input, struct sink *sink)
{
    struct reading reading = {
        .sink = sink, .events = kernel_events_create(sink), .tep = tracecmd_get_tep(input)};
    if (!reading.events)
        return argus_error_memory();
    int failed = read_buffers(input, &reading);
    kernel_events_note_gaps(reading.events);
    kernel_events_destroy(reading.events);
    if (failed && !sink_failed(sink))
        return argus_error_create(ARGUS_ERROR_FORMAT, "libtracecmd cannot read its records");
    return NULL;
}

static struct argus_error *read_file(const char *path, struct sink *sink)
{
    struct tracecmd_input *input = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
    if (!input)
        return argus_error_create(ARGUS_ERROR_FORMAT, "libtracecmd cannot open it: %s",
                                  strerror(errno ? errno : EINVAL));
    struct argus_error *error = read_events(input, sink);
    tracecmd_close(input);
    return error;
}

const struct format format_trace_dat = {"trace.dat", matches, read_file, true};
