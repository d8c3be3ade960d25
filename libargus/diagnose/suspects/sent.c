#include "diagnose/suspects/sent.h"

#include "base/lower_bound.h"
#include "diagnose/suspects/chunk_records.h"

/* A vertex has more records than that only if it ran for long. The last chunks count. */
#define MAX_CHUNKS 16

static void keep_latest(struct sent_list *list, struct sent sent)
{
    size_t at = list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].channel == sent.channel && list->items[i].kind == sent.kind) {
            at = i; /* only the last message on each channel is kept */
            break;
        }
    }
    if (at == list->count && list->count < MAX_SENT)
        list->count++;
    if (at < MAX_SENT)
        list->items[at] = sent;
}

struct sent_reader {
    const struct argus_trace *trace;
    uint64_t tid;
    struct window window;
    struct sent_list *list;
};

static bool keep_sent(void *context, struct argus_record *records, size_t count)
{
    const struct sent_reader *reader = context;
    for (size_t i = 0; i < count; i++) {
        const struct argus_record *record = &records[i];
        uint64_t time_ns = argus_trace_ticks_to_ns(reader->trace, record->timestamp);
        if ((record->debugid & ~3u) != ARGUS_ID_MESSAGE || record->tid != reader->tid ||
            time_ns < reader->window.start_ns || time_ns > reader->window.end_ns ||
            ARGUS_MESSAGE_FLAGS(record->arg[1]) & (ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_DROPPED))
            continue;
        keep_latest(reader->list, (struct sent){.time_ns = time_ns,
                                                .channel = record->arg[0],
                                                .other = record->arg[3],
                                                .kind = ARGUS_MESSAGE_KIND(record->arg[1])});
    }
    return true;
}

struct argus_error *sent_list_read(const struct view *view, uint32_t vertex, struct sent_list *ret)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    struct sent_reader reader = {.trace = argus_graph_trace(view->graph),
                                 .tid = view->threads[v->thread].tid,
                                 .window = {v->start_ns, v->end_ns},
                                 .list = ret};
    const struct argus_chunk *chunks;
    size_t count = reader.trace ? argus_trace_chunks(reader.trace, &chunks) : 0, used = 0;
    struct argus_error *error = NULL;
    *ret = (struct sent_list){.count = 0};
    for (size_t i = count; !error && i > 0 && used < MAX_CHUNKS; i--) {
        const struct argus_chunk *chunk = &chunks[i - 1];
        if (!chunk->count ||
            argus_trace_ticks_to_ns(reader.trace, chunk->first_ticks) > v->end_ns ||
            argus_trace_ticks_to_ns(reader.trace, chunk->last_ticks) < v->start_ns)
            continue;
        error = chunk_records_read(reader.trace, chunk, keep_sent, &reader);
        used++;
    }
    return error;
}

uint64_t sent_receiving_inode(const struct view *view, const struct sent *sent)
{
    const struct argus_object_use *uses;
    size_t count;
    switch (sent->kind) {
    case ARGUS_CHANNEL_UNIX_STREAM:
    case ARGUS_CHANNEL_UNIX_SEQPACKET:
    case ARGUS_CHANNEL_UNIX_DATAGRAM:
        return sent->channel;
    case ARGUS_CHANNEL_PIPE:
        return (uint32_t)sent->channel;
    case ARGUS_CHANNEL_TCP:
        count = argus_graph_object_uses(view->graph, &uses);
        for (size_t i = 0; i < count; i++)
            if (uses[i].inode == sent->other)
                return uses[i].peer_inode;
        return 0;
    default:
        return 0;
    }
}

bool sent_end_is_read(const struct view *view, uint32_t sender, uint64_t inode)
{
    const struct argus_object_use *uses;
    size_t first, count = argus_graph_object_uses(view->graph, &uses);
    LOWER_BOUND(first, count, uses[first].inode < inode);
    for (size_t i = first; i < count && uses[i].inode == inode; i++)
        if (uses[i].thread != sender)
            return true;
    return false;
}
