#include "server/recording.h"

#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "platform.h"
#include "server/clock_watch.h"
#include "server/clocks.h"
#include "server/leave_out.h"
#include "server/measure.h"
#include "server/oldest_first.h"
#include "server/pace.h"
#include "server/sink.h"

#define READ_RECORDS                                                                               \
    2048 /* copied at a time: fits the second-level cache together with a chunk of each CPU */
#define FLUSH_INTERVAL_NS 1000000000ull /* a crash loses at most this much of a stream */
#define WAIT_SHORT_MS     5             /* also soon enough to watch the flag of a new process */
#define WAIT_LONG_MS      40
#define STUCK_NS          500000000ull /* before such a file is waited for, everything is removed */
#define RUNS_OF_TURN      64           /* of a snapshot: a few ms, then requests are answered */
#define WAIT_MEMORY_MS    200          /* only mappings have to be collected */

struct recording {
    enum recording_mode mode;
    struct backend *backend;
    struct sink *sink;     /* NULL in memory mode */
    struct outlet *outlet; /* to the file; NULL: none (memory mode) */
    bool was_behind;       /* see recording_step() */
    uint64_t file_ring_bytes;
    enum argus_codec codec;
    struct argus_record *buffer;
    uint64_t started_ns, stopped_ns; /* CLOCK_MONOTONIC; 0: not stopped */
    uint64_t flushed_ns;
    struct clock_watch clocks;
    record_list held; /* locks held, and memory shared */
    struct pace pace;
    struct leave_out left;
};

/* On a saturated machine the reader of a stream must still get a CPU. With hundreds of runnable
 * threads the best nice value is not enough (measured: hackbench with 320 processes, 1.6 of 20
 * million records lost in one run of six), so the reader is a real-time thread. Each time it runs,
 * it reads only what was written in the last few milliseconds. */
static void raise_priority(void)
{
    platform_real_time(true);
}

static void lower_priority(void)
{
    platform_real_time(false);
}

/* Writes the locks from index `first` on. */
static struct argus_error *write_locks(const struct recording *recording, size_t first,
                                       struct sink *sink)
{
    if (first == recording->held.length)
        return NULL;
    return sink_read_elsewhere(sink, recording->held.data + first, recording->held.length - first);
}

/* Flags in shared memory that are watched since the last call, and memory that is shared since
 * then. */
static struct argus_error *look_at_shared(struct recording *recording)
{
    size_t before = recording->held.length;
    struct argus_error *error = backend_take_shared(recording->backend, &recording->held);
    if (error || !recording->sink)
        return error;
    error = write_locks(recording, before, recording->sink);
    recording->held.length = before; /* it is in the file */
    return error;
}

/* Collects the file locks that are held now, and writes them if there is a sink. At the end, also
 * which ends of pipes and sockets are open. */
static struct argus_error *look_at_locks(struct recording *recording, bool at_end)
{
    struct argus_error *error = look_at_shared(recording);
    size_t before = recording->held.length;
    if (!error)
        error = backend_held_locks(recording->backend, &recording->held);
    if (!error && at_end)
        error = backend_read_last(recording->backend, &recording->held);
    return error || !recording->sink ? error : write_locks(recording, before, recording->sink);
}

static struct argus_error *recording_start(struct recording *recording,
                                           const struct argus_snapshot_key *key)
{
    recording->buffer = malloc(READ_RECORDS * sizeof(*recording->buffer));
    if (!recording->buffer)
        return argus_error_memory();
    struct clock_readings clocks = clock_read();
    clock_watch_init(&recording->clocks, &clocks);
    recording->started_ns = recording->flushed_ns = clock_ns(TRACE_CLOCK);
    if (recording->mode != RECORDING_MEMORY || recording->backend->ops->collect_ms)
        raise_priority();
    if (recording->mode == RECORDING_MEMORY)
        return look_at_locks(recording, false);
    struct argus_output output = outlet_output(recording->outlet);
    struct argus_error *error = sink_create(&output, recording->backend, recording->file_ring_bytes,
                                            recording->codec, key, &recording->sink);
    if (!error)
        error = sink_tables(recording->sink);
    return error ? error : look_at_locks(recording, false);
}

struct argus_error *recording_create(const struct recording_options *options,
                                     struct backend *backend, struct outlet *outlet,
                                     struct recording **ret)
{
    struct recording *recording = calloc(1, sizeof(*recording));
    if (!recording) {
        backend_destroy(backend);
        outlet_destroy(outlet);
        return argus_error_memory();
    }
    recording->mode = options->mode;
    recording->backend = backend;
    recording->outlet = outlet;
    recording->codec = options->codec;
    leave_out_init(&recording->left, options->max_overhead, options->may_leave_out);
    recording->file_ring_bytes = options->mode == RECORDING_RING ? options->file_ring_bytes : 0;
    struct argus_error *error = recording_start(recording, &options->key);
    if (error) {
        recording_destroy(recording);
        return error;
    }
    *ret = recording;
    return NULL;
}

void recording_destroy(struct recording *recording)
{
    if (!recording)
        return;
    clock_watch_deinit(&recording->clocks);
    vec_deinit(&recording->held);
    leave_out_deinit(&recording->left);
    sink_destroy(recording->sink);
    backend_destroy(recording->backend);
    outlet_destroy(recording->outlet);
    free(recording->buffer);
    free(recording);
}

/* Of one cpu. */
static uint64_t ring_records(const struct recording *recording)
{
    return backend_ring_bytes(recording->backend) / sizeof(struct argus_record) /
           backend_cpu_count(recording->backend);
}

/* The largest number of unread records of any CPU. */
static uint64_t most_unread(const struct recording *recording)
{
    uint64_t most = 0;
    for (uint32_t cpu = 0; cpu < backend_cpu_count(recording->backend); cpu++) {
        uint64_t unread = backend_unread(recording->backend, cpu);
        if (unread > most)
            most = unread;
    }
    return most;
}

/* While much waits for the file system, records stay in the rings, which count what they lose. At
 * the end everything is written. */
static bool is_behind(const struct recording *recording)
{
    return !recording->stopped_ns && outlet_is_behind(recording->outlet);
}

/* Reads some records of each CPU in turn, so that no CPU waits while another is drained.
 * `*ret_more`: there may be more. */
static struct argus_error *drain_round(struct recording *recording, bool *ret_more)
{
    *ret_more = false;
    for (uint32_t cpu = 0; cpu < backend_cpu_count(recording->backend); cpu++) {
        uint64_t lost;
        if (is_behind(recording))
            return NULL;
        size_t count =
            backend_read(recording->backend, cpu, recording->buffer, READ_RECORDS, &lost);
        struct argus_error *error = sink_take(recording->sink, cpu, recording->buffer, count, lost);
        if (error)
            return error;
        *ret_more |= count == READ_RECORDS;
    }
    return NULL;
}

/* Reads all records that exist now. Bounded, because a machine may write as fast as this process
 * reads. */
static struct argus_error *drain(struct recording *recording)
{
    uint64_t rounds = ring_records(recording) / READ_RECORDS + 1;
    bool more = true;
    struct argus_error *error = NULL;
    while (more && rounds-- > 0 && !error)
        error = drain_round(recording, &more);
    return error;
}

/* After detaching. A BPF program may still be writing a record; wait a moment for it. A record that
 * stays incomplete counts as lost. */
static struct argus_error *drain_to_the_end(struct recording *recording)
{
    struct argus_error *error = drain(recording);
    for (int tries = 0; tries < 50 && !error && most_unread(recording) > 0; tries++) {
        poll(NULL, 0, 2);
        error = drain(recording);
    }
    for (uint32_t cpu = 0; cpu < backend_cpu_count(recording->backend) && !error; cpu++)
        error = sink_take(recording->sink, cpu, NULL, 0, backend_unread(recording->backend, cpu));
    return error;
}

/* See pace.h. */
static struct argus_error *choose_pace(struct recording *recording)
{
    uint64_t emitted = 0;
    for (uint32_t cpu = 0; cpu < backend_cpu_count(recording->backend); cpu++)
        emitted += backend_emitted(recording->backend, cpu);
    bool fast = pace_is_fast(&recording->pace, clock_ns(TRACE_CLOCK), emitted);
    return sink_spare(recording->sink, fast && backend_is_overloaded(recording->backend));
}

/* If a write has failed, `error` is what the writer made of it, and the outlet knows the reason. */
static struct argus_error *name_failure(const struct outlet *outlet, struct argus_error *error)
{
    struct argus_error *failed = error ? outlet_check(outlet) : NULL;
    if (!failed)
        return error;
    argus_error_destroy(error);
    return failed;
}

static struct argus_error *finish_outlet(struct outlet *outlet, struct argus_error *error)
{
    return error ? name_failure(outlet, error) : outlet_finish(outlet);
}

/* Whether nothing should be written now. Says so once for each time. */
static bool note_behind(struct recording *recording)
{
    bool behind = is_behind(recording);
    if (behind && !recording->was_behind)
        backend_note(recording->backend,
                     "the file system of the trace was too slow: records wait in the ring, and the "
                     "oldest may be lost");
    recording->was_behind = behind;
    return behind;
}

/* Writes what has been left out since the last call, and its notes; memory mode keeps both for
 * snapshots, as long as its rings reach back. */
static struct argus_error *write_left_out(struct recording *recording, size_t added)
{
    struct leave_out *left = &recording->left;
    char note[256];
    if (added && recording->mode == RECORDING_MEMORY)
        leave_out_forget(left, measure_oldest(recording->backend, recording->started_ns));
    if (!added || recording->mode == RECORDING_MEMORY)
        return NULL;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (leave_out_note(left, (enum category)i, 0, note, sizeof(note)))
            backend_note(recording->backend, "%s", note);
    struct argus_error *error =
        sink_left_out(recording->sink, left->marks.data, left->marks.length);
    left->marks.length = 0;
    return error;
}

static struct argus_error *look_at_cost(struct recording *recording)
{
    size_t added;
    uint64_t own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + recording_writer_cpu_ns(recording);
    struct argus_error *error =
        leave_out_look(&recording->left, recording->backend, own_ns, &added);
    return error ? error : write_left_out(recording, added);
}

static struct argus_error *write_new(struct recording *recording)
{
    struct argus_error *error = choose_pace(recording);
    if (!error)
        error = drain(recording);
    if (!error && clock_ns(TRACE_CLOCK) - recording->flushed_ns > FLUSH_INTERVAL_NS) {
        recording->flushed_ns = clock_ns(TRACE_CLOCK);
        error = sink_flush(recording->sink);
    }
    return error;
}

struct argus_error *recording_step(struct recording *recording, int *ret_wait_ms)
{
    int longest_ms = (int)recording->backend->ops->collect_ms;
    bool awaited = backend_flags_awaited(recording->backend);
    struct argus_error *error = backend_collect(recording->backend);
    awaited |= backend_copies_hurry(recording->backend);
    *ret_wait_ms = awaited ? WAIT_SHORT_MS : longest_ms ? longest_ms : WAIT_MEMORY_MS;
    if (!error)
        error = look_at_shared(recording);
    if (!error)
        error = look_at_cost(recording);
    struct clock_readings clocks = clock_read();
    size_t added = clock_watch_look(&recording->clocks, &clocks);
    if (error || recording->mode == RECORDING_MEMORY)
        return error;
    for (size_t i = recording->clocks.markers.length - added;
         i < recording->clocks.markers.length && !error; i++)
        error = sink_marker(recording->sink, &recording->clocks.markers.data[i]);
    if (error)
        return error;
    bool busy = most_unread(recording) > ring_records(recording) / 64;
    error = outlet_check(recording->outlet);
    if (!error && !note_behind(recording))
        error = write_new(recording);
    *ret_wait_ms = busy || awaited ? WAIT_SHORT_MS : longest_ms ? longest_ms : WAIT_LONG_MS;
    return name_failure(recording->outlet, error);
}

/* Writes some of the oldest records that were not read yet; `*ret_over`: there are none. */
static struct argus_error *copy_run(struct oldest_first *rest, struct sink *sink, bool *ret_over)
{
    struct oldest_run run;
    size_t room;
    uint32_t cpu = oldest_first_cpu(rest);
    *ret_over = cpu == rest->cpu_count;
    if (*ret_over)
        return NULL;
    struct argus_record *records = sink_room(sink, cpu, &room);
    struct argus_error *error =
        records ? oldest_first_read(rest, cpu, records, room, &run) : argus_error_memory();
    return error ? error : sink_take(sink, cpu, run.records, run.count, run.lost);
}

/* Writes what the rings hold, while the recording goes on, and answers requests. */
static struct argus_error *copy_rings(struct recording *recording, struct outlet *outlet,
                                      struct sink *sink)
{
    struct oldest_first rest = {0};
    struct argus_error *error = sink_hurry(sink);
    if (!error)
        error = oldest_first_init(&rest, recording->backend);
    bool over = false;
    for (unsigned runs = 0; !error && !over; runs++) {
        error = copy_run(&rest, sink, &over);
        if (runs % RUNS_OF_TURN == 0)
            outlet_serve(outlet);
    }
    oldest_first_deinit(&rest);
    return error;
}

/* Writes the clock markers within the time span of the rings. The header's clock anchor is later:
 * it is from now. */
static struct argus_error *copy_markers(const struct recording *recording, struct sink *sink)
{
    struct argus_error *error = NULL;
    uint64_t oldest_ns = measure_oldest(recording->backend, recording->started_ns);
    for (size_t i = 0; i < recording->clocks.markers.length && !error; i++) {
        const struct argus_record *marker = &recording->clocks.markers.data[i];
        if (marker->timestamp >= oldest_ns)
            error = sink_marker(sink, marker);
    }
    return error;
}

/* Writes what was left out within the time span of the rings, and at its beginning. */
static struct argus_error *copy_left_out(const struct recording *recording, struct sink *sink)
{
    const struct leave_out *left = &recording->left;
    uint64_t oldest_ns = measure_oldest(recording->backend, recording->started_ns);
    struct argus_error *error = NULL;
    char note[256];
    for (size_t i = 0; i < CATEGORY_COUNT && !error; i++)
        if (leave_out_note(left, (enum category)i, oldest_ns, note, sizeof(note)))
            error = sink_note(sink, note);
    const struct argus_record begin = {.timestamp = oldest_ns,
                                       .arg = {leave_out_at(left, oldest_ns)},
                                       .debugid = ARGUS_ID_LEFT_OUT};
    if (!error && begin.arg[0])
        error = sink_left_out(sink, &begin, 1);
    for (size_t i = 0; i < left->marks.length && !error; i++)
        if (left->marks.data[i].timestamp >= oldest_ns)
            error = sink_left_out(sink, &left->marks.data[i], 1);
    return error;
}

/* What is shared is so until the end, however old the record is. */
static struct argus_error *copy_flags(const struct recording *recording, uint64_t oldest_ns,
                                      struct sink *sink)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < recording->held.length && !error; i++) {
        struct argus_record record = recording->held.data[i];
        if (record.debugid != ARGUS_ID_FLAG_SHARED || record.timestamp >= oldest_ns)
            continue;
        record.timestamp = oldest_ns;
        error = sink_read_elsewhere(sink, &record, 1);
    }
    return error;
}

/* Writes the locks held now and the ends open now, and earlier locks within the time span of the
 * rings. */
static struct argus_error *copy_locks(struct recording *recording, struct sink *sink)
{
    struct argus_error *error = look_at_shared(recording);
    size_t kept = recording->held.length, first = 0;
    uint64_t oldest_ns = measure_oldest(recording->backend, recording->started_ns);
    if (!error)
        error = copy_flags(recording, oldest_ns, sink);
    if (!error && !recording->stopped_ns)
        error = backend_held_locks(recording->backend, &recording->held);
    if (!error && !recording->stopped_ns)
        error = backend_read_last(recording->backend, &recording->held);
    while (first < recording->held.length && recording->held.data[first].timestamp < oldest_ns)
        first++;
    if (!error)
        error = write_locks(recording, first, sink);
    if (!recording->stopped_ns)
        recording->held.length = kept;
    return error;
}

struct argus_error *recording_snapshot(struct recording *recording, struct outlet *outlet,
                                       const struct argus_snapshot_key *key,
                                       struct recording_numbers *ret)
{
    struct sink *sink = NULL;
    struct argus_output output = outlet_output(outlet);
    struct argus_error *error =
        recording->stopped_ns ? NULL : backend_look_at_waits(recording->backend);
    if (!error)
        error = sink_create(&output, recording->backend, 0, recording->codec, key, &sink);
    if (!error)
        error = copy_markers(recording, sink);
    if (!error)
        error = copy_left_out(recording, sink);
    if (!error)
        error = copy_locks(recording, sink);
    if (!error)
        error = copy_rings(recording, outlet, sink);
    if (!error)
        error = sink_finish(sink, true);
    error = finish_outlet(outlet, error);
    if (!error) {
        struct sink_totals totals = sink_totals(sink);
        *ret = recording_numbers(recording);
        ret->records = totals.records;
        ret->lost = totals.lost;
        ret->stacks_lost = totals.stacks_lost;
        ret->bytes = totals.bytes;
    }
    sink_destroy(sink);
    outlet_destroy(outlet);
    return error;
}

struct argus_error *recording_stop(struct recording *recording)
{
    struct argus_error *error = backend_look_at_waits(recording->backend);
    if (!error)
        error = look_at_locks(recording, true);
    backend_detach(recording->backend);
    recording->stopped_ns = clock_ns(TRACE_CLOCK);
    if (recording_waiting_ns(recording) > STUCK_NS)
        backend_release(recording->backend);
    if (error || recording->mode == RECORDING_MEMORY)
        return error ? error : backend_collect(recording->backend);
    error = drain_to_the_end(recording);
    if (!error)
        error = sink_spare(recording->sink, false);
    lower_priority(); /* the rest can be written at ordinary priority */
    if (!error)
        error = sink_finish(recording->sink, false);
    return finish_outlet(recording->outlet, error);
}

void recording_give_up(struct recording *recording, const char *reason)
{
    backend_release(recording->backend);
    recording->stopped_ns = clock_ns(TRACE_CLOCK);
    lower_priority();
    backend_note(recording->backend, "the recording has ended: %s", reason);
}

/* The numbers of what the rings hold now. */
static uint64_t kept_records(const struct recording *recording)
{
    uint64_t kept = 0, slots = ring_records(recording);
    for (uint32_t cpu = 0; cpu < backend_cpu_count(recording->backend); cpu++) {
        uint64_t emitted = backend_emitted(recording->backend, cpu);
        kept += emitted < slots ? emitted : slots;
    }
    return kept;
}

struct recording_numbers recording_numbers(const struct recording *recording)
{
    uint64_t until = recording->stopped_ns ? recording->stopped_ns : clock_ns(TRACE_CLOCK);
    struct recording_numbers numbers = {
        .ring_bytes = backend_ring_bytes(recording->backend),
        .duration_ns = until - recording->started_ns,
        .now_ns = until,
    };
    for (uint32_t cpu = 0; cpu < backend_cpu_count(recording->backend); cpu++)
        numbers.emitted += backend_emitted(recording->backend, cpu);
    if (recording->sink) {
        struct sink_totals totals = sink_totals(recording->sink);
        numbers.records = totals.records;
        numbers.lost = totals.lost;
        numbers.stacks_lost = totals.stacks_lost;
        numbers.bytes = totals.bytes;
        numbers.oldest_ns = totals.oldest_ns;
    } else {
        numbers.records = kept_records(recording);
        numbers.oldest_ns = measure_oldest(recording->backend, recording->started_ns);
    }
    return numbers;
}

enum recording_mode recording_mode(const struct recording *recording)
{
    return recording->mode;
}

size_t recording_notes(const struct recording *recording, const char *const **ret)
{
    return backend_notes(recording->backend, ret);
}

uint32_t recording_cpu_count(const struct recording *recording)
{
    return backend_cpu_count(recording->backend);
}

void recording_path(const struct recording *recording, char *ret, size_t room, bool *ret_gone)
{
    ret[0] = '\0';
    *ret_gone = false;
    if (recording->outlet)
        outlet_path(recording->outlet, ret, room, ret_gone);
}

uint64_t recording_waiting_ns(const struct recording *recording)
{
    return recording->outlet ? outlet_waiting_ns(recording->outlet) : 0;
}

uint64_t recording_writer_cpu_ns(const struct recording *recording)
{
    return recording->outlet ? outlet_cpu_ns(recording->outlet) : 0;
}

struct backend *recording_backend(const struct recording *recording)
{
    return recording->backend;
}

struct recording_overhead recording_overhead(const struct recording *recording)
{
    const struct leave_out *left = &recording->left;
    struct recording_overhead overhead = {.share = left->policy.share, .left_out = left->out};
    uint64_t now_ns = clock_ns(TRACE_CLOCK);
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        overhead.left_ns[i] = left->out & CATEGORY_BIT(i) ? now_ns - left->since_ns[i] : 0;
    return overhead;
}

struct reply_cpu recording_cpu_numbers(const struct recording *recording, uint32_t cpu)
{
    uint64_t newest_ns;
    struct reply_cpu numbers = {
        .emitted = backend_emitted(recording->backend, cpu),
        .lost = recording->sink ? sink_lost(recording->sink, cpu) : 0,
    };
    measure_ring(recording->backend, cpu, &numbers.oldest_ns, &newest_ns);
    return numbers;
}
