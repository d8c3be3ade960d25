/* A merge of the cpus. Chunks of one cpu follow each other in time; within one, records are out of order by a few places,
 * so each chunk is sorted as it comes. Chunks of mixed cpus (ARGUS_CPU_MIXED) are a lane of their own.
 */
#include "plugin/record_order.h"

#include <stdlib.h>

/* The chunks of one cpu that are still to come, and the one that is open. */
struct lane {
    uint32_t cpu;
    size_t next_chunk;            /* where to look for this cpu's next chunk */
    struct argus_record *records; /* of the open chunk, sorted; owned */
    uint32_t count, position;
};

struct merge {
    struct session *session;
    const struct argus_trace *trace;
    const struct argus_chunk *chunks;
    size_t chunk_count;
    struct lane *lanes; /* owned */
    size_t lane_count;
};

static int compare_records(const void *a, const void *b)
{
    const struct argus_record *x = a, *y = b;
    if (x->timestamp != y->timestamp)
        return x->timestamp < y->timestamp ? -1 : 1;
    return x->unused < y->unused ? -1 : x->unused > y->unused; /* the place in the chunk */
}

/* A chunk's records; `*ret_usable` is false, after a warning, when it is damaged. */
static struct argus_error *read_chunk(struct session *session, const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, struct argus_record *records,
                                      bool *ret_usable)
{
    if (session_interrupted(session))
        return session_interrupt_error();
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    *ret_usable = !error;
    if (!error || error->code == ARGUS_ERROR_MEMORY)
        return error;
    session->damage_seen = true;
    session_warn(session, "left out: %s", error->message);
    argus_error_destroy(error);
    return NULL;
}

struct argus_error *records_in_file_order(struct session *session, const struct argus_trace *trace,
                                          record_visitor visit, void *context)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    bool usable, more = true;
    for (size_t i = 0; i < count && more && !error; i++) {
        error = read_chunk(session, trace, &chunks[i], records, &usable);
        for (uint32_t j = 0; !error && usable && more && j < chunks[i].count; j++)
            more = visit(context, &records[j]);
    }
    free(records);
    return error;
}

/* Opens the lane's next chunk that has records; at the end its `count` is 0. */
static struct argus_error *advance(struct merge *merge, struct lane *lane)
{
    lane->count = lane->position = 0;
    while (lane->next_chunk < merge->chunk_count) {
        const struct argus_chunk *chunk = &merge->chunks[lane->next_chunk++];
        if (chunk->cpu != lane->cpu || !chunk->count)
            continue;
        struct argus_record *records =
            realloc(lane->records, chunk->count * sizeof(*lane->records));
        if (!records)
            return argus_error_memory();
        lane->records = records;
        bool usable;
        struct argus_error *error =
            read_chunk(merge->session, merge->trace, chunk, records, &usable);
        if (error)
            return error;
        if (!usable)
            continue;
        for (uint32_t i = 0; i < chunk->count; i++)
            records[i].unused = i;
        qsort(records, chunk->count, sizeof(*records), compare_records);
        lane->count = chunk->count;
        return NULL;
    }
    return NULL;
}

static struct lane *find_lane(struct merge *merge, uint32_t cpu)
{
    for (size_t i = 0; i < merge->lane_count; i++)
        if (merge->lanes[i].cpu == cpu)
            return &merge->lanes[i];
    return NULL;
}

static int compare_lanes(const void *a, const void *b)
{
    const struct lane *x = a, *y = b;
    return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static struct argus_error *open_lanes(struct merge *merge)
{
    for (size_t i = 0; i < merge->chunk_count; i++) {
        if (find_lane(merge, merge->chunks[i].cpu))
            continue;
        struct lane *lanes = realloc(merge->lanes, (merge->lane_count + 1) * sizeof(*merge->lanes));
        if (!lanes)
            return argus_error_memory();
        merge->lanes = lanes;
        lanes[merge->lane_count++] = (struct lane){.cpu = merge->chunks[i].cpu, .next_chunk = i};
    }
    if (merge->lane_count)
        qsort(merge->lanes, merge->lane_count, sizeof(*merge->lanes), compare_lanes);
    struct argus_error *error = NULL;
    for (size_t i = 0; i < merge->lane_count && !error; i++)
        error = advance(merge, &merge->lanes[i]);
    return error;
}

static struct lane *earliest(struct merge *merge)
{
    struct lane *best = NULL;
    for (size_t i = 0; i < merge->lane_count; i++) {
        struct lane *lane = &merge->lanes[i];
        if (lane->position == lane->count)
            continue;
        if (!best ||
            lane->records[lane->position].timestamp < best->records[best->position].timestamp)
            best = lane;
    }
    return best;
}

struct argus_error *records_in_time_order(struct session *session, const struct argus_trace *trace,
                                          record_visitor visit, void *context)
{
    struct merge merge = {.session = session, .trace = trace};
    merge.chunk_count = argus_trace_chunks(trace, &merge.chunks);
    struct argus_error *error = open_lanes(&merge);
    struct lane *lane;
    while (!error && (lane = earliest(&merge))) {
        struct argus_record record = lane->records[lane->position++];
        record.unused = 0;
        if (!visit(context, &record))
            break;
        if (lane->position == lane->count)
            error = advance(&merge, lane);
    }
    for (size_t i = 0; i < merge.lane_count; i++)
        free(merge.lanes[i].records);
    free(merge.lanes);
    return error;
}
