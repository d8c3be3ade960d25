#include "server/sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/vec.h"
#include "server/clocks.h"
#include "server/stack_store.h"

#define RUN_RECORDS   1024u  /* scanned and copied while they are in the cache */
#define CHUNK_RECORDS 65536u /* about 200 KB on disk, a fraction of a second of a busy cpu */
#define SPARE_RECORDS 8192u  /* of a chunk that is small enough to be written from the cache */

/* This many new threads also end an epoch of a ring file. Linux reuses a thread ID after 30,000 or
 * more new threads, and by then the name of the earlier thread must be in the file. */
#define EPOCH_BIRTHS 4096u
#define EPOCH_STACKS 65536u

/* Kernel symbols of a stream are written at its end, and also earlier in case the recorder is
 * killed: after this time, then after twice the time, and so on. While CPU time is to be saved,
 * only after the longest time. Reading the kernel's list of symbols takes about 50 ms. */
#define SYMBOLS_FIRST_NS 2000000000ull
#define SYMBOLS_LAST_NS  60000000000ull

struct pending {
    struct argus_record *records; /* room for CHUNK_RECORDS; owned */
    size_t count;
    uint64_t lost;       /* directly before records[0] */
    uint64_t total_lost; /* ever */
    uint64_t taken_ns;   /* the time of the last record */
};

/* Counters that decide when an epoch of a ring file ends. */
struct epoch {
    uint64_t begun_bytes; /* file position after its tables */
    uint32_t births;      /* threads */
};

struct sink {
    struct argus_writer *writer;
    struct backend *backend; /* borrowed */
    struct pending *pending; /* for each cpu */
    uint32_t cpu_count;
    uint64_t ring_bytes; /* 0: a stream */
    struct epoch epoch;
    size_t notes_written;
    struct stack_store stacks;
    struct idmap kernel_known;      /* the addresses in kernel_addresses */
    VEC(uint64_t) kernel_addresses; /* frames of kernel stacks, functions of work queues */
    size_t symbols_written;         /* of kernel_addresses, from the first on */
    uint64_t symbols_due_ns, symbols_late_ns, symbols_interval_ns;
    bool spare;                       /* the cpu */
    VEC(struct argus_record) markers; /* of a ring file: all of them, to be written again */
    uint64_t left_out;                /* categories, by the last mark */
    bool has_key;                     /* copied stacks can be written */
    struct sink_totals totals;
};

/* Those that were not written yet. While a write waits, the server answers requests, which may add
 * a note and so move the list: it is fetched for each note. */
static struct argus_error *write_notes(struct sink *sink)
{
    const char *const *notes;
    struct argus_error *error = NULL;
    while (!error && sink->notes_written < backend_notes(sink->backend, &notes))
        error = argus_writer_note(sink->writer, notes[sink->notes_written++]);
    return error;
}

static struct argus_error *sink_start(struct sink *sink, const struct argus_output *output,
                                      uint64_t ring_bytes, enum argus_codec codec,
                                      const struct argus_snapshot_key *key)
{
    sink->cpu_count = backend_cpu_count(sink->backend);
    sink->ring_bytes = ring_bytes;
    sink->stacks.keeps_frames = ring_bytes != 0;
    sink->symbols_interval_ns = SYMBOLS_FIRST_NS;
    sink->symbols_due_ns = clock_ns(TRACE_CLOCK) + SYMBOLS_FIRST_NS;
    sink->symbols_late_ns = clock_ns(TRACE_CLOCK) + SYMBOLS_LAST_NS;
    sink->pending = calloc(sink->cpu_count, sizeof(*sink->pending));
    if (!sink->pending)
        return argus_error_memory();
    struct argus_trace_header header = {0};
    struct argus_error *error = backend_header(sink->backend, &header);
    header.ring_bytes = ring_bytes & ~(uint64_t)7;
    if (!error)
        error = argus_writer_create_into(output, &header, &sink->writer);
    if (!error)
        error = argus_writer_choose_codec(sink->writer, codec);
    sink->has_key = argus_snapshot_key_is_set(key);
    if (!error && sink->has_key)
        error = argus_writer_encrypt(sink->writer, key);
    return error ? error : write_notes(sink);
}

struct argus_error *sink_create(const struct argus_output *output, struct backend *backend,
                                uint64_t ring_bytes, enum argus_codec codec,
                                const struct argus_snapshot_key *key, struct sink **ret)
{
    struct sink *sink = calloc(1, sizeof(*sink));
    if (!sink)
        return argus_error_memory();
    sink->backend = backend;
    struct argus_error *error = sink_start(sink, output, ring_bytes, codec, key);
    if (error) {
        sink_destroy(sink);
        return error;
    }
    *ret = sink;
    return NULL;
}

void sink_destroy(struct sink *sink)
{
    if (!sink)
        return;
    stack_store_deinit(&sink->stacks);
    idmap_deinit(&sink->kernel_known);
    for (uint32_t cpu = 0; sink->pending && cpu < sink->cpu_count; cpu++)
        free(sink->pending[cpu].records);
    free(sink->pending);
    vec_deinit(&sink->kernel_addresses);
    vec_deinit(&sink->markers);
    argus_writer_destroy(sink->writer);
    free(sink);
}

/* Tests the top bit, which kernel addresses have on every 64-bit Linux. */
static bool is_kernel_address(uint64_t address)
{
    return address >> 63;
}

/* Remembers the addresses of a kernel stack or of one function, for their symbols; false without
 * memory. */
static bool take_addresses(struct sink *sink, const uint64_t *frames, size_t count)
{
    if (count == 0 || !is_kernel_address(frames[0]))
        return true;
    for (size_t i = 0; i < count; i++) {
        if (idmap_get(&sink->kernel_known, frames[i]) != IDMAP_NONE)
            continue;
        if (!idmap_put(&sink->kernel_known, frames[i], 0) ||
            !vec_push(&sink->kernel_addresses, frames[i]))
            return false;
    }
    return true;
}

/* The interpreter's frames that belong to a copied stack; most stacks have none. */
static struct argus_error *need_interpreted(struct sink *sink, uint64_t snapshot_id)
{
    uint64_t frames[ARGUS_STACK_MAX_FRAMES], id = snapshot_id ^ ARGUS_STACK_INTERPRETED;
    size_t count = backend_stack(sink->backend, id, frames);
    if (!count)
        return NULL;
    return stack_store_add(&sink->stacks, id, frames, count, false, 0)
               ? argus_writer_stack(sink->writer, id, frames, count)
               : argus_error_memory();
}

/* Fetches a stack when its ID is first seen, without delay, because the kernel's table drops old
 * stacks. One that was gone may be there when its ID is seen again. */
static struct argus_error *need_stack(struct sink *sink, uint64_t id, uint64_t now_ns)
{
    if (id == 0)
        return NULL;
    if (stack_store_use(&sink->stacks, id, now_ns)) {
        stack_store_use(&sink->stacks, id ^ ARGUS_STACK_INTERPRETED, now_ns);
        return NULL;
    }
    sink->totals.stacks_lost -= stack_store_lacks(&sink->stacks, id);
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    struct argus_snapshot snapshot;
    size_t count = backend_stack(sink->backend, id, frames);
    bool copied = count == 0 && sink->has_key && backend_snapshot(sink->backend, id, &snapshot);
    if (!stack_store_add(&sink->stacks, id, frames, count, copied, now_ns) ||
        !take_addresses(sink, frames, count))
        return argus_error_memory();
    sink->totals.stacks_lost += count == 0 && !copied;
    if (copied) {
        struct argus_error *error = argus_writer_snapshot(sink->writer, &snapshot);
        return error ? error : need_interpreted(sink, id);
    }
    return count ? argus_writer_stack(sink->writer, id, frames, count) : NULL;
}

static struct argus_error *note_late_stack(struct sink *sink, const struct argus_record *record)
{
    const struct argus_late_stack late = {
        .tid = record->tid,
        .from_ticks = record->arg[3],
        .to_ticks = record->timestamp,
        .id = record->arg[0],
        .sp = record->arg[1],
    };
    bool valid = late.id && late.from_ticks <= late.to_ticks;
    return valid ? argus_writer_late_stack(sink->writer, &late) : NULL;
}

static struct argus_error *need_stacks(struct sink *sink, const struct argus_record *records,
                                       size_t count)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        uint32_t id = records[i].debugid;
        sink->epoch.births += id == ARGUS_ID_NEW_THREAD || id == ARGUS_ID_EXEC;
        if (id == (ARGUS_ID_WORK | ARGUS_FUNC_START) &&
            !take_addresses(sink, &records[i].arg[1], 1))
            return argus_error_memory();
        if (id != ARGUS_ID_STACK && id != ARGUS_ID_SAMPLE)
            continue;
        bool is_late = id == ARGUS_ID_STACK && records[i].arg[2] == ARGUS_STACK_WAITED;
        error = need_stack(sink, records[i].arg[0], records[i].timestamp);
        if (!error)
            error = is_late ? note_late_stack(sink, &records[i])
                            : need_stack(sink, records[i].arg[1], records[i].timestamp);
    }
    return error;
}

static struct argus_error *flush_cpu(struct sink *sink, uint32_t cpu)
{
    struct pending *pending = &sink->pending[cpu];
    if (pending->count == 0 && pending->lost == 0)
        return NULL;
    struct argus_error *error =
        argus_writer_records(sink->writer, cpu, pending->records, pending->count, pending->lost);
    if (error)
        return error;
    sink->totals.records += pending->count;
    sink->totals.lost += pending->lost;
    pending->count = 0;
    pending->lost = 0;
    return NULL;
}

static struct argus_error *reserve(struct pending *pending)
{
    if (!pending->records)
        pending->records = malloc(CHUNK_RECORDS * sizeof(*pending->records));
    return pending->records ? NULL : argus_error_memory();
}

static struct argus_error *flush_records(struct sink *sink)
{
    struct argus_error *error = NULL;
    for (uint32_t cpu = 0; cpu < sink->cpu_count && !error; cpu++)
        error = flush_cpu(sink, cpu);
    return error;
}

/* Writes the symbols of addresses that are new since the last call. */
static struct argus_error *write_symbols(struct sink *sink)
{
    size_t first = sink->symbols_written, count = sink->kernel_addresses.length - first;
    if (count == 0)
        return NULL;
    sink->symbols_written += count;
    return backend_write_kernel_symbols(sink->backend, sink->kernel_addresses.data + first, count,
                                        sink->writer);
}

/* --- epochs --- */

static bool epoch_is_over(const struct sink *sink)
{
    return sink->ring_bytes &&
           (argus_writer_bytes(sink->writer) - sink->epoch.begun_bytes > sink->ring_bytes / 4 ||
            sink->epoch.births > EPOCH_BIRTHS || sink->stacks.stacks.length > EPOCH_STACKS);
}

/* Copies are not stored here: recently used ones are still in the kernel's ring of snapshots. */
static struct argus_error *renew_snapshot(struct sink *sink, struct kept_stack *stack)
{
    struct argus_snapshot snapshot;
    stack->copied = backend_snapshot(sink->backend, stack->id, &snapshot);
    if (stack->copied)
        return argus_writer_snapshot(sink->writer, &snapshot);
    sink->totals.stacks_lost++;
    return NULL;
}

/* Writes again the stacks that the epoch used, and the symbols of their addresses. */
static struct argus_error *renew_stacks(struct sink *sink)
{
    argus_writer_forget_stacks(sink->writer);
    idmap_clear(&sink->kernel_known);
    sink->kernel_addresses.length = sink->symbols_written = 0;
    if (!stack_store_renew(&sink->stacks))
        return argus_error_memory();
    struct argus_error *error = NULL;
    for (size_t i = 0; i < sink->stacks.stacks.length && !error; i++) {
        struct kept_stack *stack = &sink->stacks.stacks.data[i];
        const uint64_t *frames = sink->stacks.frames.data + stack->first;
        if (stack->copied) {
            error = renew_snapshot(sink, stack);
            continue;
        }
        error = take_addresses(sink, frames, stack->count)
                    ? argus_writer_stack(sink->writer, stack->id, frames, stack->count)
                    : argus_error_memory();
    }
    if (!error)
        error = argus_writer_flush(sink->writer);
    return error ? error : write_symbols(sink);
}

/* The time up to which the records of all cpus have been taken. */
static uint64_t taken_ns(const struct sink *sink)
{
    uint64_t until_ns = clock_ns(TRACE_CLOCK);
    for (uint32_t cpu = 0; cpu < sink->cpu_count; cpu++) {
        if (sink->pending[cpu].taken_ns < until_ns && backend_unread(sink->backend, cpu) > 0)
            until_ns = sink->pending[cpu].taken_ns;
    }
    return until_ns;
}

static struct argus_error *write_marker(struct sink *sink, const struct argus_record *marker)
{
    struct argus_error *error = argus_writer_records(sink->writer, ARGUS_CPU_MIXED, marker, 1, 0);
    sink->totals.records += error == NULL;
    return error;
}

struct argus_error *sink_marker(struct sink *sink, const struct argus_record *marker)
{
    if (sink->ring_bytes && !vec_push(&sink->markers, *marker))
        return argus_error_memory();
    return write_marker(sink, marker);
}

struct argus_error *sink_note(struct sink *sink, const char *text)
{
    return argus_writer_note(sink->writer, text);
}

struct argus_error *sink_read_elsewhere(struct sink *sink, const struct argus_record *records,
                                        size_t count)
{
    struct argus_error *error =
        argus_writer_records(sink->writer, ARGUS_CPU_MIXED, records, count, 0);
    sink->totals.records += error ? 0 : count;
    return error;
}

struct argus_error *sink_left_out(struct sink *sink, const struct argus_record *marks, size_t count)
{
    sink->left_out = marks[count - 1].arg[0];
    return sink_read_elsewhere(sink, marks, count);
}

/* A mark that changes nothing: the reader may have lost all others. */
static struct argus_error *renew_left_out(struct sink *sink)
{
    const struct argus_record mark = {
        .timestamp = clock_ns(TRACE_CLOCK), .arg = {sink->left_out}, .debugid = ARGUS_ID_LEFT_OUT};
    return sink->left_out ? write_marker(sink, &mark) : NULL;
}

/* Written with the current time: otherwise the ring would seem to begin at the oldest of them. */
static struct argus_error *renew_markers(struct sink *sink)
{
    struct argus_error *error = renew_left_out(sink);
    for (size_t i = 0; i < sink->markers.length && !error; i++) {
        struct argus_record marker = sink->markers.data[i];
        marker.timestamp = clock_ns(TRACE_CLOCK);
        error = write_marker(sink, &marker);
    }
    return error;
}

/* Writes the names for the records of the ending epoch, and all notes. */
static struct argus_error *renew_tables(struct sink *sink)
{
    struct argus_error *error = backend_renew_names(sink->backend, taken_ns(sink), sink->writer);
    if (!error)
        error = backend_write_code(sink->backend, sink->writer);
    if (!error)
        error = backend_write_probes(sink->backend, sink->writer);
    if (!error)
        error = backend_write_flags(sink->backend, sink->writer);
    if (!error)
        error = renew_stacks(sink);
    if (!error)
        error = renew_markers(sink);
    sink->notes_written = 0;
    return error ? error : write_notes(sink);
}

/* All pending records of the epoch are written first, because they name stacks that it used. */
static struct argus_error *begin_epoch(struct sink *sink)
{
    struct argus_error *error = flush_records(sink);
    uint64_t before_bytes = argus_writer_bytes(sink->writer);
    if (!error)
        error = renew_tables(sink);
    sink->epoch = (struct epoch){.begun_bytes = argus_writer_bytes(sink->writer)};
    if (!error && sink->epoch.begun_bytes - before_bytes > sink->ring_bytes / 3)
        backend_note(sink->backend, "the ring file is too small for the threads, images and stacks "
                                    "of this machine: its oldest records may have no names");
    return error;
}

/* Flushes every CPU that has more pending records than this. */
static size_t chunk_records(const struct sink *sink)
{
    return sink->spare ? SPARE_RECORDS : CHUNK_RECORDS;
}

/* Begins a new chunk for the next records, because `lost` records are missing before them. */
static struct argus_error *note_loss(struct sink *sink, uint32_t cpu, uint64_t lost)
{
    struct argus_error *error = flush_cpu(sink, cpu);
    sink->pending[cpu].lost += lost;
    sink->pending[cpu].total_lost += lost;
    return error;
}

/* Appends records without a loss between them that fit into the chunk. */
static struct argus_error *take_run(struct sink *sink, uint32_t cpu,
                                    const struct argus_record *records, size_t count)
{
    struct pending *pending = &sink->pending[cpu];
    struct argus_error *error = need_stacks(sink, records, count);
    if (!error)
        error = reserve(pending);
    if (error)
        return error;
    struct argus_record *to = pending->records + pending->count;
    if (records != to) /* it may be behind a loss in the same buffer */
        memmove(to, records, count * sizeof(*records));
    pending->count += count;
    pending->taken_ns = to[count - 1].timestamp;
    return pending->count == chunk_records(sink) ? flush_cpu(sink, cpu) : NULL;
}

/* The number of records before the next loss; at most `limit`. */
static size_t run_length(const struct argus_record *records, size_t limit)
{
    size_t length = 0;
    while (length < limit && records[length].debugid != BACKEND_ID_LOST)
        length++;
    return length;
}

struct argus_error *sink_take(struct sink *sink, uint32_t cpu, const struct argus_record *records,
                              size_t count, uint64_t lost)
{
    struct argus_error *error = lost ? note_loss(sink, cpu, lost) : NULL;
    while (!error && count > 0) {
        size_t limit = chunk_records(sink) - sink->pending[cpu].count;
        if (limit > RUN_RECORDS)
            limit = RUN_RECORDS;
        size_t run = run_length(records, count < limit ? count : limit);
        if (run > 0)
            error = take_run(sink, cpu, records, run);
        else
            error = note_loss(sink, cpu, records[run++].arg[0]);
        records += run;
        count -= run;
    }
    return !error && epoch_is_over(sink) ? begin_epoch(sink) : error;
}

struct argus_record *sink_room(struct sink *sink, uint32_t cpu, size_t *ret_room)
{
    struct pending *pending = &sink->pending[cpu];
    struct argus_error *error = reserve(pending);
    if (error) {
        argus_error_destroy(error);
        return NULL;
    }
    *ret_room = chunk_records(sink) - pending->count;
    return pending->records + pending->count;
}

struct argus_error *sink_hurry(struct sink *sink)
{
    argus_writer_hurry(sink->writer);
    return sink_spare(sink, true);
}

struct argus_error *sink_spare(struct sink *sink, bool spare)
{
    struct argus_error *error = spare && !sink->spare ? flush_records(sink) : NULL;
    if (error)
        return error;
    sink->spare = spare;
    return NULL;
}

static struct argus_error *write_symbols_when_due(struct sink *sink)
{
    uint64_t now = clock_ns(TRACE_CLOCK);
    if (now < (sink->spare ? sink->symbols_late_ns : sink->symbols_due_ns))
        return NULL;
    if (sink->symbols_interval_ns < SYMBOLS_LAST_NS)
        sink->symbols_interval_ns *= 2;
    sink->symbols_due_ns = now + sink->symbols_interval_ns;
    sink->symbols_late_ns = now + SYMBOLS_LAST_NS;
    return write_symbols(sink);
}

struct argus_error *sink_flush(struct sink *sink)
{
    struct argus_error *error = argus_writer_flush(sink->writer);
    if (!error)
        error = flush_records(sink);
    if (!error)
        error = backend_write_images(sink->backend, sink->writer, false);
    if (!error)
        error = write_notes(sink);
    if (!error)
        error = write_symbols_when_due(sink);
    return !error && epoch_is_over(sink) ? begin_epoch(sink) : error;
}

struct argus_error *sink_tables(struct sink *sink)
{
    if (sink->ring_bytes)
        return begin_epoch(sink);
    struct argus_error *error = backend_write_threads(sink->backend, sink->writer);
    if (!error)
        error = backend_write_probes(sink->backend, sink->writer);
    return error ? error : backend_write_images(sink->backend, sink->writer, false);
}

static struct argus_error *write_end(struct sink *sink)
{
    struct argus_counter counters[16] = {
        {"records", sink->totals.records},
        {"lost", sink->totals.lost},
        {"stacks_lost", sink->totals.stacks_lost},
    };
    size_t count = 3 + backend_counters(sink->backend, counters + 3, 13);
    return argus_writer_end(sink->writer, counters, count);
}

struct argus_error *sink_finish(struct sink *sink, bool all_images)
{
    struct argus_error *error = flush_records(sink);
    if (!error && sink->ring_bytes)
        error = backend_renew_names(sink->backend, taken_ns(sink), sink->writer);
    if (!error && !sink->ring_bytes)
        error = backend_write_threads(sink->backend, sink->writer);
    if (!error)
        error = backend_write_probes(sink->backend, sink->writer);
    if (!error)
        error = backend_write_flags(sink->backend, sink->writer);
    if (!error)
        error = backend_write_waits(sink->backend, sink->writer);
    if (!error)
        error = backend_write_code(sink->backend, sink->writer);
    if (!error)
        error = backend_write_images(sink->backend, sink->writer, all_images);
    if (!error)
        error = write_symbols(sink);
    if (!error)
        error = write_notes(sink);
    return error ? error : write_end(sink);
}

uint64_t sink_lost(const struct sink *sink, uint32_t cpu)
{
    return sink->pending[cpu].total_lost;
}

struct sink_totals sink_totals(const struct sink *sink)
{
    struct sink_totals totals = sink->totals;
    totals.bytes = argus_writer_bytes(sink->writer);
    totals.oldest_ns = argus_writer_oldest_ticks(sink->writer);
    return totals;
}
