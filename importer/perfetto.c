/* Perfetto's traces: a sequence of packets, each a length and a protobuf message.
 *
 * Only the kernel's events (ftrace), the tables of processes and CPU samples (perfetto_samples.c)
 * are read. An event of the kernel is a field of FtraceEvent with the tracepoint's name, whose
 * message has the tracepoint's fields, so both are found by name in the descriptors that protoc-c
 * makes. Switches and wake-ups may also come in columns (CompactSched), without the previous thread
 * and without the waker: both are the thread to which the CPU switched last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "kernel_events.h"
#include "perfetto_others.h"
#include "perfetto_packed.h"
#include "perfetto_samples.h"

enum { MOST_PACKET_BYTES = 256 << 20, PACKET_TAG = 0x0a, REALTIME = 1, BOOTTIME = 6 };

struct reading {
    struct sink *sink;
    struct kernel_events *events;
    struct perfetto_samples *samples;
    uint64_t file_bytes, unpacked_bytes;
};

/* --- fields of a message --- */

static const void *field_of(const ProtobufCMessage *message, const char *name,
                            const ProtobufCFieldDescriptor **ret)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    *ret = field;
    return field ? (const char *)message + field->offset : NULL;
}

static bool is_set(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    return *(const protobuf_c_boolean *)((const char *)message + field->quantifier_offset);
}

static bool number(const struct foreign_event *event, const char *name, uint64_t *ret)
{
    const ProtobufCMessage *message = event->source;
    const ProtobufCFieldDescriptor *field;
    const void *at = field_of(message, name, &field);
    if (!at || field->label != PROTOBUF_C_LABEL_OPTIONAL)
        return false;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        *ret = (uint64_t)(int64_t) * (const int32_t *)at;
        return is_set(message, field);
    case PROTOBUF_C_TYPE_UINT32:
        *ret = *(const uint32_t *)at;
        return is_set(message, field);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        *ret = *(const uint64_t *)at;
        return is_set(message, field);
    default:
        return false;
    }
}

static const char *text(const struct foreign_event *event, const char *name)
{
    const ProtobufCFieldDescriptor *field;
    const void *at = field_of(event->source, name, &field);
    return at && field->type == PROTOBUF_C_TYPE_STRING ? *(char *const *)at : NULL;
}

static bool argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    const ProtobufCMessage *message = event->source;
    if (message->descriptor != &perfetto_part__sys_enter__descriptor)
        return false;
    const PerfettoPart__SysEnter *enter = event->source;
    if (index >= enter->n_args)
        return false;
    *ret = enter->args[index];
    return true;
}

static const struct foreign_fields fields = {number, text, argument};

/* --- events --- */

static void take_event(struct reading *reading, uint32_t cpu, const PerfettoPart__FtraceEvent *from)
{
    const ProtobufCMessageDescriptor *descriptor = &perfetto_part__ftrace_event__descriptor;
    struct foreign_event event = {.time_ns = from->timestamp,
                                  .tid = from->pid,
                                  .cpu = cpu,
                                  .context = from->has_common_flags
                                                 ? kernel_events_context(from->common_flags)
                                                 : ARGUS_CONTEXT_UNKNOWN,
                                  .fields = &fields};
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        event.source = *(void *const *)((const char *)from + field->offset);
        event.name = field->name;
        if (event.source)
            kernel_events_take(reading->events, &event);
    }
    perfetto_others_take_event(reading->sink, from);
    uint64_t *current = kernel_events_current(reading->events, cpu);
    if (current && from->sched_switch)
        *current = (uint64_t)(int64_t)from->sched_switch->next_pid;
}

/* --- columns --- */

/* Where the reader is in the columns: times are differences to the one before. */
struct column {
    size_t at, count;
    const uint64_t *differences;
    uint64_t time_ns; /* of the entry `at` */
};

static void column_next(struct column *column)
{
    column->at++;
    if (column->at < column->count)
        column->time_ns += column->differences[column->at];
}

static char *name_at(const PerfettoPart__CompactSched *from, const uint32_t *indexes, size_t count,
                     size_t at)
{
    return at < count && indexes[at] < from->n_intern_table ? from->intern_table[indexes[at]]
                                                            : NULL;
}

static void take_compact_switch(struct reading *reading, uint32_t cpu,
                                const PerfettoPart__CompactSched *from, const struct column *column)
{
    PerfettoPart__SchedSwitch as_event = PERFETTO_PART__SCHED_SWITCH__INIT;
    uint64_t *current = kernel_events_current(reading->events, cpu);
    size_t at = column->at;
    if (!current || at >= from->n_switch_next_pid || at >= from->n_switch_prev_state)
        return;
    as_event.has_prev_pid = as_event.has_prev_state = as_event.has_next_pid = true;
    as_event.prev_pid = (int32_t)*current;
    as_event.prev_state = from->switch_prev_state[at];
    as_event.next_pid = from->switch_next_pid[at];
    as_event.has_next_prio = at < from->n_switch_next_prio;
    as_event.next_prio = as_event.has_next_prio ? from->switch_next_prio[at] : 0;
    as_event.next_comm =
        name_at(from, from->switch_next_comm_index, from->n_switch_next_comm_index, at);
    struct foreign_event event = {.name = "sched_switch",
                                  .time_ns = column->time_ns,
                                  .tid = *current,
                                  .cpu = cpu,
                                  .context = ARGUS_CONTEXT_UNKNOWN,
                                  .fields = &fields,
                                  .source = &as_event};
    kernel_events_take(reading->events, &event);
    *current = (uint64_t)(int64_t)as_event.next_pid;
}

static void take_compact_waking(struct reading *reading, uint32_t cpu,
                                const PerfettoPart__CompactSched *from, const struct column *column)
{
    PerfettoPart__SchedWakeup as_event = PERFETTO_PART__SCHED_WAKEUP__INIT;
    const uint64_t *current = kernel_events_current(reading->events, cpu);
    size_t at = column->at;
    bool has_flags = at < from->n_waking_common_flags;
    if (!current || at >= from->n_waking_pid)
        return;
    as_event.has_pid = true;
    as_event.pid = from->waking_pid[at];
    as_event.has_prio = at < from->n_waking_prio;
    as_event.prio = as_event.has_prio ? from->waking_prio[at] : 0;
    as_event.comm = name_at(from, from->waking_comm_index, from->n_waking_comm_index, at);
    struct foreign_event event = {
        .name = "sched_waking",
        .time_ns = column->time_ns,
        .tid = *current,
        .cpu = cpu,
        .context = has_flags ? kernel_events_context(from->waking_common_flags[at])
                             : ARGUS_CONTEXT_UNKNOWN,
        .fields = &fields,
        .source = &as_event};
    kernel_events_take(reading->events, &event);
}

static void take_compact(struct reading *reading, uint32_t cpu,
                         const PerfettoPart__CompactSched *from)
{
    struct column switches = {.count = from->n_switch_timestamp,
                              .differences = from->switch_timestamp,
                              .time_ns = from->n_switch_timestamp ? from->switch_timestamp[0] : 0};
    struct column wakes = {.count = from->n_waking_timestamp,
                           .differences = from->waking_timestamp,
                           .time_ns = from->n_waking_timestamp ? from->waking_timestamp[0] : 0};
    while (switches.at < switches.count || wakes.at < wakes.count) {
        bool is_wake = switches.at == switches.count ||
                       (wakes.at < wakes.count && wakes.time_ns < switches.time_ns);
        if (is_wake) {
            take_compact_waking(reading, cpu, from, &wakes);
            column_next(&wakes);
        } else {
            take_compact_switch(reading, cpu, from, &switches);
            column_next(&switches);
        }
    }
}

static void take_bundle(struct reading *reading, const PerfettoPart__FtraceEventBundle *bundle)
{
    uint64_t first_ns = bundle->n_event ? bundle->event[0]->timestamp
                        : bundle->compact_sched && bundle->compact_sched->n_switch_timestamp
                            ? bundle->compact_sched->switch_timestamp[0]
                            : sink_last_ns(reading->sink);
    if (bundle->lost_events) /* it does not say how many */
        sink_lost(reading->sink, bundle->cpu, first_ns, 1);
    for (size_t i = 0; i < bundle->n_event; i++)
        take_event(reading, bundle->cpu, bundle->event[i]);
    if (bundle->compact_sched)
        take_compact(reading, bundle->cpu, bundle->compact_sched);
}

/* --- tables --- */

static void take_tree(struct reading *reading, const PerfettoPart__ProcessTree *tree)
{
    for (size_t i = 0; i < tree->n_processes; i++) {
        const PerfettoPart__Process *process = tree->processes[i];
        sink_thread(reading->sink, (uint64_t)process->pid, (uint64_t)process->pid,
                    (uint64_t)process->ppid,
                    process->n_cmdline ? kernel_events_last_part(process->cmdline[0]) : NULL,
                    process->has_is_kthread && process->is_kthread);
    }
    for (size_t i = 0; i < tree->n_threads; i++)
        sink_thread(reading->sink, (uint64_t)tree->threads[i]->tid,
                    (uint64_t)tree->threads[i]->tgid, 0, tree->threads[i]->name, false);
}

/* Times of ftrace events are of BOOTTIME. */
static void take_clocks(struct reading *reading, const PerfettoPart__ClockSnapshot *snapshot)
{
    struct argus_trace_header *header = sink_header(reading->sink);
    uint64_t wall_ns = 0, boot_ns = 0;
    for (size_t i = 0; i < snapshot->n_clocks; i++) {
        if (snapshot->clocks[i]->clock_id == REALTIME)
            wall_ns = snapshot->clocks[i]->timestamp;
        if (snapshot->clocks[i]->clock_id == BOOTTIME)
            boot_ns = snapshot->clocks[i]->timestamp;
    }
    if (!wall_ns || !boot_ns || header->anchor_wall_ns)
        return;
    header->anchor_wall_ns = wall_ns;
    header->anchor_ticks = boot_ns;
}

static void take_system(struct reading *reading, const PerfettoPart__Utsname *system)
{
    struct argus_trace_header *header = sink_header(reading->sink);
    snprintf(header->host, sizeof(header->host), "%s %s", system->sysname ? system->sysname : "",
             system->release ? system->release : "");
    if (system->machine && strcmp(system->machine, "aarch64") == 0)
        header->arch = ARGUS_ARCH_AARCH64;
    else if (system->machine && strcmp(system->machine, "x86_64") == 0)
        header->arch = ARGUS_ARCH_X86_64;
}

/* --- packets --- */

static struct argus_error *damaged(uint64_t offset, const char *reason)
{
    return argus_error_create(ARGUS_ERROR_FORMAT, "offset %" PRIu64 ": %s", offset, reason);
}

static struct argus_error *take_packets(struct reading *reading, const uint8_t *bytes,
                                        size_t length, uint64_t offset, bool is_inner);

/* Perfetto's service compresses some hundred KB at a time; its own records shrink to a third,
 * seldom to a tenth. What shrank far more was made to keep a reader busy: each packet of two bytes
 * costs time. */
enum { MOST_RATIO = 32, LEAST_LIMIT = 16 << 20 };

static struct argus_error *unpack(struct reading *reading, const PerfettoPart__TracePacket *packet,
                                  uint64_t offset, uint8_t **ret, size_t *ret_length)
{
    struct argus_error *failed = perfetto_unpack(packet, ret, ret_length);
    if (!failed && *ret)
        reading->unpacked_bytes += *ret_length;
    if (!failed && reading->unpacked_bytes > MOST_RATIO * reading->file_bytes + LEAST_LIMIT) {
        free(*ret);
        *ret = NULL;
        return damaged(offset, "its compressed packets are larger than any Perfetto writes");
    }
    if (!failed || failed->code != ARGUS_ERROR_FORMAT)
        return failed;
    struct argus_error *error = damaged(offset, failed->message);
    argus_error_destroy(failed);
    return error;
}

static struct argus_error *take_compressed(struct reading *reading,
                                           const PerfettoPart__TracePacket *packet, uint64_t offset)
{
    uint8_t *plain;
    size_t length;
    struct argus_error *error = unpack(reading, packet, offset, &plain, &length);
    if (error || !plain)
        return error;
    error = take_packets(reading, plain, length, offset, true);
    free(plain);
    return error;
}

static struct argus_error *take_packet(struct reading *reading, const uint8_t *bytes, size_t length,
                                       uint64_t offset, bool is_inner)
{
    PerfettoPart__TracePacket *packet = perfetto_part__trace_packet__unpack(NULL, length, bytes);
    struct argus_error *error = NULL;
    if (!packet)
        return damaged(offset, "a packet is no valid message");
    if (packet->system_info && packet->system_info->utsname)
        take_system(reading, packet->system_info->utsname);
    if (packet->clock_snapshot)
        take_clocks(reading, packet->clock_snapshot);
    if (packet->process_tree)
        take_tree(reading, packet->process_tree);
    if (packet->ftrace_events)
        take_bundle(reading, packet->ftrace_events);
    perfetto_samples_take(reading->samples, reading->events, packet);
    perfetto_others_take_packet(reading->sink, packet);
    if (!is_inner)
        error = take_compressed(reading, packet, offset);
    perfetto_part__trace_packet__free_unpacked(packet, NULL);
    return error;
}

/* Reads a varint; 0: it is none. */
static size_t read_length(const uint8_t *bytes, size_t length, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < length && i < 10; i++) {
        *ret |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (!(bytes[i] & 0x80))
            return i + 1;
    }
    return 0;
}

static struct argus_error *take_packets(struct reading *reading, const uint8_t *bytes,
                                        size_t length, uint64_t offset, bool is_inner)
{
    struct argus_error *error = NULL;
    for (size_t at = 0; at < length && !error && !sink_failed(reading->sink);) {
        uint64_t packet_bytes;
        size_t head = bytes[at] == PACKET_TAG
                          ? read_length(bytes + at + 1, length - at - 1, &packet_bytes)
                          : 0;
        if (!head)
            return damaged(offset + at, "no packet begins there");
        at += 1 + head;
        if (packet_bytes > length - at)
            return damaged(offset + at, "the file ends inside a packet");
        error = take_packet(reading, bytes + at, (size_t)packet_bytes, offset + at, is_inner);
        at += (size_t)packet_bytes;
    }
    return error;
}

static bool matches(const char *path, const unsigned char *bytes, size_t length)
{
    uint64_t packet_bytes;
    (void)path;
    if (length < 4 || bytes[0] != PACKET_TAG)
        return false;
    size_t head = read_length(bytes + 1, length - 1, &packet_bytes);
    size_t next = 1 + head + (size_t)packet_bytes;
    return head && packet_bytes && packet_bytes < MOST_PACKET_BYTES &&
           (next >= length || bytes[next] == PACKET_TAG);
}

static struct argus_error *read_whole(const char *path, uint8_t **ret, size_t *ret_length)
{
    FILE *file = fopen(path, "rbe");
    off_t length = file && fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
    uint8_t *bytes = length >= 0 ? malloc((size_t)length + 1) : NULL;
    bool good = bytes && fseeko(file, 0, SEEK_SET) == 0 &&
                fread(bytes, 1, (size_t)length, file) == (size_t)length;
    if (file)
        fclose(file);
    if (good) {
        *ret = bytes;
        *ret_length = (size_t)length;
        return NULL;
    }
    free(bytes);
    return argus_error_create(ARGUS_ERROR_IO, "it cannot be read");
}

static struct argus_error *read_file(const char *path, struct sink *sink)
{
    struct reading reading = {.sink = sink,
                              .events = kernel_events_create(sink),
                              .samples = perfetto_samples_create(sink)};
    uint8_t *bytes = NULL;
    size_t length = 0;
    struct argus_error *error = reading.events && reading.samples
                                    ? read_whole(path, &bytes, &length)
                                    : argus_error_memory();
    reading.file_bytes = length;
    if (!error)
        error = take_packets(&reading, bytes, length, 0, false);
    if (error && error->code == ARGUS_ERROR_FORMAT && sink_last_ns(sink)) {
        sink_note(sink, "only the part before a damaged place was imported: %s", error->message);
        argus_error_destroy(error);
        error = NULL;
    }
    if (!error) {
        kernel_events_note_gaps(reading.events);
        perfetto_samples_note(reading.samples);
    }
    free(bytes);
    perfetto_samples_destroy(reading.samples);
    kernel_events_destroy(reading.events);
    return error;
}

const struct format format_perfetto = {"Perfetto", matches, read_file, false};
