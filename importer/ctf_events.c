/* Names of LTTng's contexts and fields: lttng-modules and lttng-ust 2.13; those of
 * `perf data convert --to-ctf`: tools/perf/util/data-convert-bt.c in Linux 6.1.
 *
 * Events of user space are kept as marks: records "hook" with the event's name as the label.
 */
#include "ctf_events.h"

#include <stdio.h>
#include <string.h>

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

/* perf has them in one array. */
static bool array_argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    const bt_field *array = field_of(event->source, "args");
    if (!array ||
        !bt_field_class_type_is(bt_field_get_class_type(array), BT_FIELD_CLASS_TYPE_ARRAY))
        return false;
    return index < bt_field_array_get_length(array) &&
           field_number(bt_field_array_borrow_element_field_by_index_const(array, index), ret);
}

static bool argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    static const char beginning[] = "syscall_entry_";
    const char *call = event->name + sizeof(beginning) - 1;
    if (strncmp(event->name, beginning, sizeof(beginning) - 1) != 0)
        return array_argument(event, index, ret);
    for (int own = 1; own >= 0; own--) /* a row of the call itself comes before a general one */
        for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
            if (arguments[i].index == index && strcmp(arguments[i].call, own ? call : "") == 0 &&
                number(event, arguments[i].field, ret))
                return true;
    return false;
}

static const struct foreign_fields fields = {number, text, argument};

/* --- time, CPU, machine --- */

static bool packet_cpu(const bt_packet *packet, uint64_t *ret)
{
    return field_number(member(bt_packet_borrow_context_field_const(packet), "cpu_id"), ret);
}

static bool cpu_of(const bt_event *event, uint32_t *ret)
{
    uint64_t cpu;
    bool has_packet = bt_stream_class_supports_packets(
        bt_stream_borrow_class_const(bt_event_borrow_stream_const(event)));
    if (!(has_packet && packet_cpu(bt_event_borrow_packet_const(event), &cpu)) &&
        !field_number(field_of(event, "perf_cpu"), &cpu))
        return false;
    *ret = (uint32_t)cpu;
    return cpu < SINK_MOST_CPUS;
}

/* Damaged times may be out of range, and no function of the library may be called with its error.
 */
static bool ns_of(const bt_clock_snapshot *clock, uint64_t *ret_ns)
{
    int64_t ns = 0;
    bool is_known = bt_clock_snapshot_get_ns_from_origin(clock, &ns) == 0;
    if (!is_known)
        bt_current_thread_clear_error();
    *ret_ns = ns > 0 ? (uint64_t)ns : 0;
    return is_known && ns >= 0;
}

static bool time_of(const bt_message *message, uint64_t *ret_ns)
{
    const bt_event *event = bt_message_event_borrow_event_const(message);
    const bt_stream_class *class =
        bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
    if (!bt_stream_class_borrow_default_clock_class_const(class))
        return false;
    return ns_of(bt_message_event_borrow_default_clock_snapshot_const(message), ret_ns);
}

static const char *environment(const bt_stream *stream, const char *name)
{
    const bt_trace *trace = bt_stream_borrow_trace_const(stream);
    const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
    return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

/* CPUs and threads of two machines have the same numbers. */
static void check_machine(struct ctf_reading *reading, const bt_stream *stream)
{
    const char *name = environment(stream, "hostname");
    if (!name || strncmp(reading->machine, name, CTF_MACHINE_BYTES - 1) == 0)
        return;
    if (reading->machine[0])
        sink_fail(reading->sink,
                  argus_error_create(ARGUS_ERROR_USAGE,
                                     "the folder has traces of several machines, %s and %s: name "
                                     "the folder of one of them",
                                     reading->machine, name));
    snprintf(reading->machine, CTF_MACHINE_BYTES, "%s", name);
}

static void take_environment(struct ctf_reading *reading, const bt_stream *stream)
{
    struct argus_trace_header *header = sink_header(reading->sink);
    const bt_trace *trace = bt_stream_borrow_trace_const(stream);
    if (trace == reading->trace)
        return;
    reading->trace = trace;
    check_machine(reading, stream);
    if (header->host[0])
        return;
    const char *release = environment(stream, "kernel_release"); /* LTTng */
    if (!release)
        release = environment(stream, "release"); /* perf */
    if (release)
        snprintf(header->host, sizeof(header->host), "Linux %s", release);
}

/* --- threads --- */

/* The first of the names that the context has. */
static uint64_t context_number(const bt_field *context, const char *first, const char *second)
{
    uint64_t value = 0;
    if (!field_number(member(context, first), &value))
        field_number(member(context, second), &value);
    return value;
}

/* IDs with a 'v' are those of the thread's PID namespace: another thread may have this number. They
 * are believed if the kernel's events agree, or never tell. */
static bool is_believed(const struct ctf_reading *reading, const struct foreign_event *event,
                        uint64_t vtid)
{
    return event->tid ? event->tid == vtid : reading->is_alone || !reading->knows_thread;
}

/* What one context tells about the current thread. */
static void take_context(struct ctf_reading *reading, const bt_field *context,
                         struct foreign_event *event)
{
    uint64_t tid = context_number(context, "tid", "vtid"), parent = 0;
    if (!tid || (!member(context, "tid") && !is_believed(reading, event, tid)))
        return;
    event->tid = tid;
    field_number(member(context, "ppid"), &parent);
    sink_thread(reading->sink, tid, context_number(context, "pid", "vpid"), parent,
                field_text(member(context, "procname")), false);
}

/* False: the event does not tell. */
static bool take_thread(struct ctf_reading *reading, struct foreign_event *event)
{
    const bt_event *source = event->source;
    uint64_t tid, process = 0;
    take_context(reading, bt_event_borrow_common_context_field_const(source), event);
    take_context(reading, bt_event_borrow_specific_context_field_const(source), event);
    if (!number(event, "perf_tid", &tid))
        return event->tid != 0;
    event->tid = tid;
    number(event, "perf_pid", &process);
    if (tid && process < UINT32_MAX)
        sink_thread(reading->sink, tid, process, 0, NULL, false);
    return true;
}

/* --- events --- */

static bool is_user_space(const bt_stream *stream)
{
    const char *domain = environment(stream, "domain");
    return domain && strcmp(domain, "ust") == 0;
}

/* The tracer's own events in a program: what was loaded when it began. */
static bool is_own_event(const char *name)
{
    return strncmp(name, "lttng_ust_statedump:", 20) == 0;
}

static uint64_t next_number(const bt_field *payload, uint64_t *at, uint64_t count)
{
    uint64_t value;
    while (*at < count)
        if (field_number(bt_field_structure_borrow_member_field_by_index_const(payload, (*at)++),
                         &value))
            return value;
    return 0;
}

/* The numbers among its fields become the values of the mark. Thread 0: not known. */
static void take_mark(struct ctf_reading *reading, const struct foreign_event *event)
{
    const bt_field *payload = bt_event_borrow_payload_field_const(event->source);
    uint64_t at = 0, count = 0, mark = 0;
    if (is_own_event(event->name))
        return;
    if (!(mark = sink_mark(reading->sink, event->name))) {
        reading->markless_count++;
        return;
    }
    reading->threadless_count += !event->tid;
    if (payload && bt_field_get_class_type(payload) == BT_FIELD_CLASS_TYPE_STRUCTURE)
        count = bt_field_class_structure_get_member_count(bt_field_borrow_class_const(payload));
    struct argus_record record = {.timestamp = event->time_ns,
                                  .tid = event->tid,
                                  .debugid = ARGUS_ID_HOOK,
                                  .cpu = event->cpu};
    record.arg[0] = next_number(payload, &at, count);
    record.arg[1] = next_number(payload, &at, count);
    record.arg[2] = mark;
    record.arg[3] = next_number(payload, &at, count);
    sink_record(reading->sink, &record);
}

/* perf writes "sched:sched_switch". */
static const char *without_system(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* `is_known`: the event itself tells its thread. */
static void take_kernel_event(struct ctf_reading *reading, struct foreign_event *event,
                              uint64_t *current, bool is_known)
{
    uint64_t next, flags;
    event->name = without_system(event->name);
    bool is_switch = strcmp(event->name, "sched_switch") == 0;
    if (number(event, "common_flags", &flags))
        event->context = kernel_events_context((uint32_t)flags);
    if (reading->is_alone && !reading->knows_thread && !is_known && !is_switch) {
        reading->strange_count++;
        return;
    }
    kernel_events_take(reading->events, event);
    if (is_switch && (number(event, "next_tid", &next) || number(event, "next_pid", &next))) {
        *current = next;
        reading->knows_thread = true;
    }
}

static void take_event(struct ctf_reading *reading, const bt_message *message)
{
    const bt_event *source = bt_message_event_borrow_event_const(message);
    const bt_stream *stream = bt_event_borrow_stream_const(source);
    struct foreign_event event = {.name =
                                      bt_event_class_get_name(bt_event_borrow_class_const(source)),
                                  .context = ARGUS_CONTEXT_UNKNOWN,
                                  .fields = &fields,
                                  .source = source};
    uint64_t *current = NULL;
    if (!event.name || !time_of(message, &event.time_ns) || !cpu_of(source, &event.cpu) ||
        !(current = reading->is_alone ? &reading->thread
                                      : kernel_events_current(reading->events, event.cpu))) {
        reading->strange_count++;
        if (event.name)
            sink_other(reading->sink, event.name, 1);
        return;
    }
    event.tid = *current;
    reading->cpu = event.cpu;
    sink_lost(reading->sink, event.cpu, event.time_ns, reading->lost_count);
    reading->lost_count = 0;
    take_environment(reading, stream);
    bool is_known = take_thread(reading, &event);
    if (is_user_space(stream))
        take_mark(reading, &event);
    else
        take_kernel_event(reading, &event, current, is_known);
}

/* --- losses --- */

/* A loss is told between two packets, not in one. */
static void take_packet(struct ctf_reading *reading, const bt_message *message)
{
    const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(message);
    uint64_t cpu, stream = (uintptr_t)bt_packet_borrow_stream_const(packet);
    if (!packet_cpu(packet, &cpu) || cpu >= SINK_MOST_CPUS)
        return;
    if (reading->is_alone)
        reading->cpu = (uint32_t)cpu;
    else if (!idmap_put(&reading->cpu_of_stream, stream, (uint32_t)cpu))
        sink_fail(reading->sink, argus_error_memory());
}

/* Switches may be among what was lost. */
static void forget_thread(struct ctf_reading *reading, uint32_t cpu)
{
    uint64_t *current = reading->is_alone   ? &reading->thread
                        : cpu == IDMAP_NONE ? NULL
                                            : kernel_events_current(reading->events, cpu);
    if (current)
        *current = 0;
    if (reading->is_alone)
        reading->knows_thread = false;
}

/* If nothing tells when or where, or the stream is read alone, it was before the next event.
 * `ns`: 0 is not known. */
static void take_kernel_loss(struct ctf_reading *reading, const bt_stream *stream, uint64_t ns,
                             uint64_t count)
{
    uint32_t cpu = idmap_get(&reading->cpu_of_stream, (uintptr_t)stream);
    forget_thread(reading, cpu);
    if (ns && cpu != IDMAP_NONE)
        sink_lost(reading->sink, cpu, ns, count);
    else
        reading->lost_count += count;
}

static void take_discarded_events(struct ctf_reading *reading, const bt_message *message)
{
    uint64_t count = 1, ns = 0;
    const bt_stream *stream = bt_message_discarded_events_borrow_stream_const(message);
    bt_message_discarded_events_get_count(message, &count);
    if (bt_stream_class_discarded_events_have_default_clock_snapshots(
            bt_stream_borrow_class_const(stream)))
        ns_of(bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message),
              &ns);
    if (is_user_space(stream))
        reading->user_lost_count += count;
    else
        take_kernel_loss(reading, stream, ns, count);
}

/* How many events were in a packet is not known: each packet counts as one. */
static void take_discarded_packets(struct ctf_reading *reading, const bt_message *message)
{
    uint64_t count = 1, ns = 0;
    const bt_stream *stream = bt_message_discarded_packets_borrow_stream_const(message);
    bt_message_discarded_packets_get_count(message, &count);
    if (bt_stream_class_discarded_packets_have_default_clock_snapshots(
            bt_stream_borrow_class_const(stream)))
        ns_of(bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(message),
              &ns);
    reading->lost_packets[is_user_space(stream)] += count;
    if (!is_user_space(stream))
        take_kernel_loss(reading, stream, ns, count);
}

void ctf_end(struct ctf_reading *reading)
{
    sink_lost(reading->sink, reading->cpu, sink_last_ns(reading->sink), reading->lost_count);
    reading->lost_count = 0;
    idmap_deinit(&reading->cpu_of_stream);
}

void ctf_take_message(struct ctf_reading *reading, const bt_message *message)
{
    switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_EVENT:
        take_event(reading, message);
        return;
    case BT_MESSAGE_TYPE_PACKET_BEGINNING:
        take_packet(reading, message);
        return;
    case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        take_discarded_events(reading, message);
        return;
    case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
        take_discarded_packets(reading, message);
        return;
    default:
        return;
    }
}
