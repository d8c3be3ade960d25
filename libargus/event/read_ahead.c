#include "event/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/compat.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "event/order.h"

/* One thread unpacks about twice as fast as the graph is built. */
enum { MOST_WORKERS = 3, AHEAD_PER_WORKER = 2 };

enum slot_state { SLOT_WAITING, SLOT_WORKING, SLOT_DONE, SLOT_TAKEN };

struct slot {
    struct argus_record *buffer; /* owned while DONE; NULL: see error */
    struct argus_error *error;   /* owned while DONE */
    uint8_t state;               /* enum slot_state */
};

struct read_ahead {
    const struct argus_trace *trace; /* borrowed */
    const struct argus_chunk *chunks;
    size_t chunk_count;
    bool ticks_are_ns;
    size_t buffer_records; /* of the largest chunk, plus the margin */
    uint32_t *order;       /* owned; the chunks in order of their first records */
    pthread_t workers[MOST_WORKERS];
    unsigned worker_count, ahead_most;
    /* --- guarded by the mutex --- */
    pthread_mutex_t mutex;
    pthread_cond_t done, room; /* signalled when a chunk is done, and when one was taken */
    struct slot *slots;        /* owned */
    size_t next;               /* index into `order` */
    unsigned ahead;            /* slots that are WORKING or DONE */
    VEC(struct argus_record *) spare;
    bool stop;
};

/* --- one chunk --- */

static struct argus_record *get_buffer(struct read_ahead *ahead)
{
    struct argus_record *buffer = NULL;
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->spare.length)
        buffer = ahead->spare.data[--ahead->spare.length];
    pthread_mutex_unlock(&ahead->mutex);
    return buffer ? buffer : reallocarray(NULL, ahead->buffer_records, sizeof(*buffer));
}

static void put_buffer(struct read_ahead *ahead, struct argus_record *buffer)
{
    pthread_mutex_lock(&ahead->mutex);
    bool kept = !buffer || vec_push(&ahead->spare, buffer);
    pthread_mutex_unlock(&ahead->mutex);
    if (!kept)
        free(buffer);
}

static struct argus_error *unpack(const struct read_ahead *ahead, const struct argus_chunk *chunk,
                                  struct argus_record *records)
{
    struct argus_error *error = argus_trace_read_chunk(ahead->trace, chunk, records);
    if (error)
        return error;
    for (uint32_t i = 0; !ahead->ticks_are_ns && i < chunk->count; i++)
        records[i].timestamp = argus_trace_ticks_to_ns(ahead->trace, records[i].timestamp);
    return order_records(records, chunk->count) ? NULL : argus_error_memory();
}

/* Fills the slot of a chunk that no other thread works on. */
static void fill_slot(struct read_ahead *ahead, uint32_t index, struct slot *ret)
{
    struct argus_record *buffer = get_buffer(ahead);
    struct argus_error *error =
        buffer ? unpack(ahead, &ahead->chunks[index], buffer + READ_AHEAD_MARGIN)
               : argus_error_memory();
    ret->error = error;
    ret->buffer = buffer;
}

/* --- the threads --- */

/* The next chunk that no thread has begun; false: none is left, or it is time to stop. Waits while
 * too many chunks are ahead. */
static bool next_chunk(struct read_ahead *ahead, uint32_t *ret)
{
    while (!ahead->stop && ahead->ahead >= ahead->ahead_most)
        pthread_cond_wait(&ahead->room, &ahead->mutex);
    while (!ahead->stop && ahead->next < ahead->chunk_count) {
        uint32_t index = ahead->order[ahead->next++];
        if (ahead->slots[index].state != SLOT_WAITING)
            continue;
        *ret = index;
        return true;
    }
    return false;
}

static void *work(void *context)
{
    struct read_ahead *ahead = context;
    uint32_t index;
    pthread_mutex_lock(&ahead->mutex);
    while (next_chunk(ahead, &index)) {
        struct slot filled = {.state = SLOT_DONE};
        ahead->slots[index].state = SLOT_WORKING;
        ahead->ahead++;
        pthread_mutex_unlock(&ahead->mutex);
        fill_slot(ahead, index, &filled);
        pthread_mutex_lock(&ahead->mutex);
        ahead->slots[index] = filled;
        pthread_cond_signal(&ahead->done);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

struct argus_error *read_ahead_take(struct read_ahead *ahead, uint32_t index,
                                    struct read_chunk *ret)
{
    struct slot *slot = &ahead->slots[index], taken;
    pthread_mutex_lock(&ahead->mutex);
    bool begun = slot->state != SLOT_WAITING;
    while (slot->state == SLOT_WORKING)
        pthread_cond_wait(&ahead->done, &ahead->mutex);
    taken = *slot;
    *slot = (struct slot){.state = SLOT_TAKEN};
    ahead->ahead -= begun;
    if (begun)
        pthread_cond_signal(&ahead->room);
    pthread_mutex_unlock(&ahead->mutex);
    if (!begun)
        fill_slot(ahead, index, &taken);
    bool damaged = taken.error && taken.error->code == ARGUS_ERROR_FORMAT;
    if (taken.error && !damaged) {
        put_buffer(ahead, taken.buffer);
        return taken.error;
    }
    argus_error_destroy(taken.error);
    *ret = (struct read_chunk){
        .records = taken.buffer + READ_AHEAD_MARGIN,
        .count = damaged ? 0 : ahead->chunks[index].count,
        .damaged = damaged,
    };
    return NULL;
}

void read_ahead_give_back(struct read_ahead *ahead, struct read_chunk *chunk)
{
    if (chunk->records)
        put_buffer(ahead, chunk->records - READ_AHEAD_MARGIN);
    *chunk = (struct read_chunk){0};
}

/* --- beginning and end --- */

static int by_first_record(const void *left, const void *right, void *context)
{
    const struct argus_chunk *chunks = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (chunks[a].first_ticks != chunks[b].first_ticks)
        return chunks[a].first_ticks < chunks[b].first_ticks ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool plan(struct read_ahead *ahead)
{
    uint32_t largest = 0;
    ahead->order = calloc(ahead->chunk_count + 1, sizeof(*ahead->order));
    ahead->slots = calloc(ahead->chunk_count + 1, sizeof(*ahead->slots));
    if (!ahead->order || !ahead->slots)
        return false;
    for (size_t i = 0; i < ahead->chunk_count; i++) {
        ahead->order[i] = (uint32_t)i;
        if (ahead->chunks[i].count > largest)
            largest = ahead->chunks[i].count;
    }
    if (ahead->chunk_count)
        qsort_r(ahead->order, ahead->chunk_count, sizeof(*ahead->order), by_first_record,
                (void *)(uintptr_t)ahead->chunks);
    ahead->buffer_records = READ_AHEAD_MARGIN + (size_t)largest;
    return true;
}

/* The caller's own thread takes one CPU. */
static void start_workers(struct read_ahead *ahead)
{
    unsigned wanted = parallel_threads(MOST_WORKERS + 1) - 1;
    ahead->ahead_most = wanted * AHEAD_PER_WORKER;
    while (ahead->worker_count < wanted && ahead->worker_count + 1 < ahead->chunk_count &&
           parallel_start(&ahead->workers[ahead->worker_count], work, ahead))
        ahead->worker_count++;
}

struct argus_error *read_ahead_create(const struct argus_trace *trace, struct read_ahead **ret)
{
    const struct argus_trace_header *header = argus_trace_header(trace);
    struct read_ahead *ahead = calloc(1, sizeof(*ahead));
    if (!ahead)
        return argus_error_memory();
    ahead->trace = trace;
    ahead->chunk_count = argus_trace_chunks(trace, &ahead->chunks);
    ahead->ticks_are_ns = header->timebase_numer == header->timebase_denom;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->done, NULL);
    pthread_cond_init(&ahead->room, NULL);
    if (!plan(ahead)) {
        read_ahead_destroy(ahead);
        return argus_error_memory();
    }
    start_workers(ahead);
    *ret = ahead;
    return NULL;
}

void read_ahead_destroy(struct read_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->stop = true;
    pthread_cond_broadcast(&ahead->room);
    pthread_mutex_unlock(&ahead->mutex);
    for (unsigned i = 0; i < ahead->worker_count; i++)
        pthread_join(ahead->workers[i], NULL);
    for (size_t i = 0; ahead->slots && i < ahead->chunk_count; i++) {
        free(ahead->slots[i].buffer);
        argus_error_destroy(ahead->slots[i].error);
    }
    for (size_t i = 0; i < ahead->spare.length; i++)
        free(ahead->spare.data[i]);
    vec_deinit(&ahead->spare);
    free(ahead->slots);
    free(ahead->order);
    pthread_cond_destroy(&ahead->room);
    pthread_cond_destroy(&ahead->done);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead);
}
