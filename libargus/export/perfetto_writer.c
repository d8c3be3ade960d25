#include "export/perfetto_writer.h"

#include <string.h>

bool perfetto_stopped(const struct perfetto *out)
{
    return out->closed || out->failed || out->error;
}

/* A packet is field 1 of the file: its tag, its length as a varint, its bytes. */
enum { PACKET_TAG = 1 << 3 | 2, MOST_HEAD_BYTES = 11 };

static size_t put_head(uint8_t *head, size_t length)
{
    size_t bytes = 0;
    head[bytes++] = PACKET_TAG;
    for (; length >= 0x80; length >>= 7)
        head[bytes++] = (uint8_t)(length | 0x80);
    head[bytes++] = (uint8_t)length;
    return bytes;
}

void perfetto_put(struct perfetto *out, ArgusPerfetto__TracePacket *packet, uint32_t sequence)
{
    uint8_t head[MOST_HEAD_BYTES];
    const struct argus_sink *sink = out->context->sink;
    packet->has_trusted_packet_sequence_id = true;
    packet->trusted_packet_sequence_id = sequence;
    size_t bytes = argus_perfetto__trace_packet__get_packed_size(packet);
    out->packed.length = 0;
    if (perfetto_stopped(out))
        return;
    if (!vec_reserve(&out->packed, bytes + 1)) {
        out->failed = true;
        return;
    }
    argus_perfetto__trace_packet__pack(packet, out->packed.data);
    if (!sink->write(sink->context, (const char *)head, put_head(head, bytes)) ||
        !sink->write(sink->context, (const char *)out->packed.data, bytes))
        out->closed = true;
}

void perfetto_put_event(struct perfetto *out, ArgusPerfetto__TrackEvent *event, uint64_t time_ns)
{
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    packet.has_timestamp = true;
    packet.timestamp = time_ns;
    packet.track_event = event;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}

void perfetto_put_slice(struct perfetto *out, int type, uint64_t track, uint64_t time_ns,
                        const char *category, const char *name)
{
    ArgusPerfetto__TrackEvent event = ARGUS_PERFETTO__TRACK_EVENT__INIT;
    char *categories[] = {(char *)category};
    event.has_type = event.has_track_uuid = true;
    event.type = (uint32_t)type;
    event.track_uuid = track;
    event.name = (char *)name;
    event.categories = categories;
    event.n_categories = category ? 1 : 0;
    perfetto_put_event(out, &event, time_ns);
}

static ArgusPerfetto__DebugAnnotation *argument(struct perfetto_arguments *arguments,
                                                const char *name)
{
    ArgusPerfetto__DebugAnnotation *item = &arguments->items[arguments->count];
    argus_perfetto__debug_annotation__init(item);
    item->name = (char *)name;
    arguments->pointers[arguments->count++] = item;
    return item;
}

void perfetto_argument_number(struct perfetto_arguments *arguments, const char *name,
                              uint64_t value)
{
    if (arguments->count == PERFETTO_MOST_ARGUMENTS)
        return;
    ArgusPerfetto__DebugAnnotation *item = argument(arguments, name);
    item->has_uint_value = true;
    item->uint_value = value;
}

void perfetto_argument_text(struct perfetto_arguments *arguments, const char *name,
                            const char *value)
{
    if (arguments->count < PERFETTO_MOST_ARGUMENTS)
        argument(arguments, name)->string_value = (char *)value;
}

void perfetto_put_track(struct perfetto *out, uint64_t track, uint64_t parent, const char *name)
{
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__TrackDescriptor descriptor = ARGUS_PERFETTO__TRACK_DESCRIPTOR__INIT;
    descriptor.has_uuid = true;
    descriptor.uuid = track;
    descriptor.has_parent_uuid = parent != 0;
    descriptor.parent_uuid = parent;
    descriptor.name = (char *)name;
    packet.track_descriptor = &descriptor;
    perfetto_put(out, &packet, PERFETTO_EVENTS);
}
