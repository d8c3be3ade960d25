#include "event/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/vec.h"
#include "event/darwin/darwin.h"
#include "event/order.h"
#include "event/read_ahead.h"

/* By how much a record may be out of order across the end of a chunk: that many records are held
 * back. */
enum { HELD_BACK = READ_AHEAD_MARGIN - 1 };

/* Records between two checks of the memory that the reader of the records has taken. */
enum { CHECK_MEMORY_EVERY = 1 << 13 };

/* The chunks of one lane: of one cpu. */
struct source {
    uint32_t lane;
    VEC(uint32_t) chunks; /* indices, in order of writing */
    size_t next_chunk;
    struct read_chunk buffer;      /* contains the records */
    struct argus_record *records;  /* sorted; the first may be in the margin before the chunk */
    size_t position, ready, count; /* next record; end of those that may be emitted; end of all */
    uint64_t key; /* time of the next record; before the chunk is read, the time its header says */
    uint64_t last_ns; /* time of the last record read */
};

struct merge {
    const struct argus_trace *trace; /* borrowed */
    const struct argus_chunk *chunks;
    struct read_ahead *read_ahead; /* owned */
    VEC(struct source) sources;
    VEC(uint32_t) heap;    /* sources that have records; the top has the next one */
    struct darwin *darwin; /* owned; NULL: records are emitted unchanged */
    /* records for the translation, with its look-ahead */
    struct argus_record ahead[DARWIN_AHEAD + 1];
    size_t ahead_count;
    uint64_t now_ns; /* time of the last emitted record */
    uint64_t position;
    uint64_t taken; /* records and markers of losses */
};

static bool before(const struct source *a, const struct source *b)
{
    return a->key != b->key ? a->key < b->key : a->lane < b->lane;
}

static struct source *heap_at(const struct merge *merge, size_t i)
{
    return &merge->sources.data[merge->heap.data[i]];
}

static void sift_down(struct merge *merge, size_t at)
{
    size_t count = merge->heap.length;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        if (child + 1 < count && before(heap_at(merge, child + 1), heap_at(merge, child)))
            child++;
        if (!before(heap_at(merge, child), heap_at(merge, at)))
            return;
        uint32_t swap = merge->heap.data[at];
        merge->heap.data[at] = merge->heap.data[child];
        merge->heap.data[child] = swap;
        at = child;
    }
}

static struct argus_record lost_marker(const struct merge *merge, const struct source *source,
                                       const struct argus_chunk *chunk, uint64_t count,
                                       bool damaged)
{
    uint64_t time_ns = argus_trace_ticks_to_ns(merge->trace, chunk->first_ticks);
    return (struct argus_record){
        .timestamp = time_ns > source->last_ns ? time_ns : source->last_ns,
        .arg = {count, source->last_ns, damaged},
        .debugid = MERGE_ID_LOST,
        .cpu = chunk->cpu,
    };
}

/* Puts the held-back records, and a record about losses, before the records of the next chunk. A
 * damaged chunk counts as lost. */
static void join(struct merge *merge, struct source *source, const struct argus_chunk *chunk,
                 struct read_chunk *next)
{
    size_t held = source->count - source->position;
    bool lost = chunk->lost || next->damaged;
    struct argus_record *records = next->records - held - lost;
    if (held)
        memcpy(records, source->records + source->position, held * sizeof(*records));
    if (lost)
        records[held] = lost_marker(merge, source, chunk, chunk->lost ? chunk->lost : chunk->count,
                                    !chunk->lost);
    read_ahead_give_back(merge->read_ahead, &source->buffer);
    source->buffer = *next;
    source->records = records;
    source->position = 0;
    source->count = held + lost + next->count;
}

/* Both parts are sorted, so only records near their border can be out of order. */
static bool sort_joint(struct source *source, size_t parts_end)
{
    for (size_t i = 1; i <= parts_end && i < source->count; i++)
        if (source->records[i - 1].timestamp > source->records[i].timestamp)
            return order_records(source->records, source->count);
    return true;
}

/* Reads the next chunk behind the records held back. */
static struct argus_error *append_chunk(struct merge *merge, struct source *source, uint32_t index)
{
    struct read_chunk next;
    struct argus_error *error = read_ahead_take(merge->read_ahead, index, &next);
    if (error)
        return error;
    size_t read = next.count;
    join(merge, source, &merge->chunks[index], &next);
    return sort_joint(source, source->count - read) ? NULL : argus_error_memory();
}

static bool has_more(const struct source *source)
{
    return source->next_chunk < source->chunks.length;
}

/* Reads chunks until a record may be emitted or all chunks are read. */
static struct argus_error *refill(struct merge *merge, struct source *source)
{
    while (source->position == source->ready && has_more(source)) {
        uint32_t index = source->chunks.data[source->next_chunk++];
        struct argus_error *error = append_chunk(merge, source, index);
        if (error)
            return error;
        if (source->count)
            source->last_ns = source->records[source->count - 1].timestamp;
        size_t held = has_more(source) ? HELD_BACK : 0;
        source->ready = source->count > held ? source->count - held : 0;
    }
    if (source->position < source->ready)
        source->key = source->records[source->position].timestamp;
    return NULL;
}

static void drop_top(struct merge *merge)
{
    struct source *source = heap_at(merge, 0);
    read_ahead_give_back(merge->read_ahead, &source->buffer);
    source->position = source->ready = source->count = 0;
    merge->heap.data[0] = merge->heap.data[--merge->heap.length];
    sift_down(merge, 0);
}

/* Makes the source with the next record the top of the heap. If no record is left, the heap is
 * empty. */
static struct argus_error *settle_top(struct merge *merge)
{
    while (merge->heap.length) {
        struct source *top = heap_at(merge, 0);
        if (top->position < top->ready) {
            sift_down(merge, 0);
            if (heap_at(merge, 0)->position < heap_at(merge, 0)->ready)
                return NULL;
            continue;
        }
        struct argus_error *error = refill(merge, top);
        if (error)
            return error;
        if (top->position == top->ready)
            drop_top(merge);
        else
            sift_down(merge, 0);
    }
    return NULL;
}

/* Where the records of `source` that were read last are in the file. */
static uint64_t file_offset(const struct merge *merge, const struct source *source)
{
    size_t at = source->next_chunk ? source->next_chunk - 1 : 0;
    return merge->chunks[source->chunks.data[at]].offset_bytes;
}

/* All that commands build grows with the records they take here: so here is the check. */
static struct argus_error *check_memory(const struct merge *merge)
{
    return merge->taken % CHECK_MEMORY_EVERY
               ? NULL
               : argus_trace_check_memory(merge->trace, file_offset(merge, heap_at(merge, 0)));
}

static struct argus_error *next_raw(struct merge *merge, const struct argus_record **ret)
{
    *ret = NULL;
    if (!merge->heap.length)
        return NULL;
    merge->taken++;
    struct argus_error *bound = check_memory(merge);
    if (bound)
        return bound;
    struct source *top = heap_at(merge, 0);
    bool first = top->position < top->ready;
    for (size_t i = 1; first && i <= 2 && i < merge->heap.length; i++)
        first = before(top, heap_at(merge, i));
    if (!first) {
        struct argus_error *error = settle_top(merge);
        if (error || !merge->heap.length)
            return error;
        top = heap_at(merge, 0);
    }
    struct argus_record *record = &top->records[top->position++];
    if (top->position < top->ready)
        top->key = top->records[top->position].timestamp;
    if (record->timestamp < merge->now_ns)
        record->timestamp = merge->now_ns;
    merge->now_ns = record->timestamp;
    merge->position += record->debugid != MERGE_ID_LOST;
    *ret = record;
    return NULL;
}

/* Fills `ahead` as far as possible. */
static struct argus_error *look_ahead(struct merge *merge)
{
    while (merge->ahead_count <= DARWIN_AHEAD) {
        const struct argus_record *record;
        struct argus_error *error = next_raw(merge, &record);
        if (error || !record)
            return error;
        merge->ahead[merge->ahead_count++] = *record;
    }
    return NULL;
}

/* Translates the first record of `ahead` and removes it. */
static bool translate(struct merge *merge)
{
    const struct argus_record record = merge->ahead[0];
    merge->ahead_count--;
    memmove(merge->ahead, merge->ahead + 1, merge->ahead_count * sizeof(record));
    return darwin_feed(merge->darwin, &record, merge->ahead, merge->ahead_count);
}

struct argus_error *merge_next(struct merge *merge, const struct argus_record **ret)
{
    if (!merge->darwin)
        return next_raw(merge, ret);
    while (!(*ret = darwin_take(merge->darwin))) {
        struct argus_error *error = look_ahead(merge);
        if (error || !merge->ahead_count)
            return error;
        if (!translate(merge))
            return argus_error_memory();
    }
    return NULL;
}

uint64_t merge_position(const struct merge *merge)
{
    return merge->position;
}

/* The source of `lane`, created on first use. */
static struct source *source_of(struct merge *merge, struct idmap *by_lane, uint32_t lane)
{
    uint32_t at = idmap_get(by_lane, lane);
    if (at == IDMAP_NONE) {
        at = (uint32_t)merge->sources.length;
        if (!idmap_put(by_lane, lane, at) ||
            !vec_push(&merge->sources, (struct source){.lane = lane}))
            return NULL;
    }
    return &merge->sources.data[at];
}

static bool add_sources(struct merge *merge, struct idmap *by_lane)
{
    size_t count = argus_trace_chunks(merge->trace, &merge->chunks);
    for (size_t i = 0; i < count; i++) {
        struct source *source = source_of(merge, by_lane, merge->chunks[i].lane);
        if (!source || !vec_push(&source->chunks, (uint32_t)i))
            return false;
        if (source->chunks.length == 1)
            source->key = argus_trace_ticks_to_ns(merge->trace, merge->chunks[i].first_ticks);
    }
    for (size_t i = 0; i < merge->sources.length; i++)
        if (!vec_push(&merge->heap, (uint32_t)i))
            return false;
    for (size_t i = merge->heap.length; i-- > 0;)
        sift_down(merge, i);
    return true;
}

struct argus_error *merge_create(const struct argus_trace *trace, struct merge **ret)
{
    struct argus_error *error = merge_create_raw(trace, ret);
    if (error || argus_trace_header(trace)->os != ARGUS_OS_DARWIN)
        return error;
    (*ret)->darwin = darwin_create(trace);
    if ((*ret)->darwin)
        return NULL;
    merge_destroy(*ret);
    return argus_error_memory();
}

struct argus_error *merge_create_raw(const struct argus_trace *trace, struct merge **ret)
{
    struct merge *merge = calloc(1, sizeof(*merge));
    if (!merge)
        return argus_error_memory();
    merge->trace = trace;
    struct idmap by_lane = {0};
    bool added = add_sources(merge, &by_lane);
    idmap_deinit(&by_lane);
    struct argus_error *error =
        added ? read_ahead_create(trace, &merge->read_ahead) : argus_error_memory();
    if (error) {
        merge_destroy(merge);
        return error;
    }
    *ret = merge;
    return NULL;
}

void merge_destroy(struct merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->sources.length; i++) {
        vec_deinit(&merge->sources.data[i].chunks);
        if (merge->read_ahead)
            read_ahead_give_back(merge->read_ahead, &merge->sources.data[i].buffer);
    }
    vec_deinit(&merge->sources);
    vec_deinit(&merge->heap);
    read_ahead_destroy(merge->read_ahead);
    darwin_destroy(merge->darwin);
    free(merge);
}
