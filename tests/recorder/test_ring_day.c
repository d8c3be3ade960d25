/* A day in a ring file: a simulated machine whose clock runs as fast as the records can be written.
 * Its processes begin and end, thread IDs are reused, and its table of stacks drops entries. At the
 * end every thread and stack in the ring must have a name.
 *
 * test_recorder_ring_day [MILLION RECORDS] [RING MB]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/idmap.h"
#include "recorder/server/sink.h"
#include "trace/file.h"

enum { CPUS = 2, BATCH = 4096, LIVING = 400, LONG_LIVED = 50, TIDS = 32768, STACKS_KEPT = 4096 };

#define DAY_NS (86400ull * 1000000000u)

struct life {
    uint32_t tid;
    uint64_t died_ns; /* 0: it still runs */
};

struct machine {
    struct backend base;
    uint64_t now_ns, step_ns, taken_ns, random;
    /* All IDs up to this one have been used; those more than STACKS_KEPT before it are dropped. */
    uint64_t newest_stack;
    uint32_t next_tid;
    bool in_use[TIDS];
    struct life living[LIVING]; /* the first LONG_LIVED of them never end */
    VEC(struct life) ended;
    struct argus_record batch[CPUS][BATCH];
};

static uint64_t records_wanted = 6000000, ring_bytes = 2 << 20;

static uint64_t draw(struct machine *machine, uint64_t below)
{
    machine->random = machine->random * 6364136223846793005u + 1442695040888963407u;
    return (machine->random >> 33) % below;
}

static uint32_t new_tid(struct machine *machine)
{
    do
        machine->next_tid = machine->next_tid % (TIDS - 1) + 1;
    while (machine->in_use[machine->next_tid]);
    machine->in_use[machine->next_tid] = true;
    return machine->next_tid;
}

/* --- the backend --- */

static uint32_t day_cpu_count(const struct backend *base)
{
    (void)base;
    return CPUS;
}

static struct argus_error *day_header(const struct backend *base, struct argus_trace_header *ret)
{
    (void)base;
    *ret = (struct argus_trace_header){.os = ARGUS_OS_LINUX,
                                       .arch = ARGUS_ARCH_X86_64,
                                       .timebase_numer = 1,
                                       .timebase_denom = 1,
                                       .page_bytes = 4096,
                                       .cpu_count = CPUS};
    return NULL;
}

/* Records are always pending, so that the sink uses the times of records. */
static uint64_t day_unread(const struct backend *base, uint32_t cpu)
{
    (void)base;
    (void)cpu;
    return 1;
}

static size_t day_stack(struct backend *base, uint64_t id, uint64_t *frames)
{
    struct machine *machine = (struct machine *)base;
    if (id + STACKS_KEPT < machine->newest_stack && id > 500)
        return 0;
    frames[0] = 0x400000 + id * 16;
    frames[1] = 0x300000;
    return 2;
}

static struct argus_error *write_lives(struct machine *machine, struct argus_writer *writer)
{
    size_t count = 0, room = LIVING + machine->ended.length;
    struct argus_thread_entry *entries = calloc(room, sizeof(*entries));
    assert_non_null(entries);
    for (size_t i = 0; i < room; i++) {
        const struct life *life = i < machine->ended.length
                                      ? &machine->ended.data[i]
                                      : &machine->living[i - machine->ended.length];
        entries[count++] = (struct argus_thread_entry){
            .tid = life->tid, .pid = life->tid, .seen_ticks = machine->now_ns, .name = "thread"};
    }
    struct argus_error *error = argus_writer_threads(writer, entries, count);
    free(entries);
    return error;
}

static struct argus_error *day_renew_names(struct backend *base, uint64_t taken_ns,
                                           struct argus_writer *writer)
{
    struct machine *machine = (struct machine *)base;
    struct argus_error *error = write_lives(machine, writer);
    size_t kept = 0;
    for (size_t i = 0; i < machine->ended.length; i++) {
        if (machine->ended.data[i].died_ns >= machine->taken_ns)
            machine->ended.data[kept++] = machine->ended.data[i];
    }
    machine->ended.length = kept;
    machine->taken_ns = taken_ns;
    return error;
}

static struct argus_error *day_write_images(struct backend *base, struct argus_writer *writer,
                                            bool all)
{
    (void)base;
    (void)writer;
    (void)all;
    return NULL;
}

static struct argus_error *day_write_probes(struct backend *base, struct argus_writer *writer)
{
    (void)base;
    (void)writer;
    return NULL;
}

static size_t day_counters(const struct backend *base, struct argus_counter *ret, size_t room)
{
    (void)base;
    (void)ret;
    (void)room;
    return 0;
}

static const struct backend_ops day_ops = {
    .name = "day",
    .header = day_header,
    .cpu_count = day_cpu_count,
    .unread = day_unread,
    .stack = day_stack,
    .renew_names = day_renew_names,
    .write_images = day_write_images,
    .write_probes = day_write_probes,
    .counters = day_counters,
};

const struct backend_ops *const backend_table[] = {NULL};

/* --- the life of the machine --- */

static struct argus_record make_record(struct machine *machine, uint32_t cpu, uint32_t debugid,
                                       uint32_t tid)
{
    return (struct argus_record){
        .timestamp = machine->now_ns += machine->step_ns,
        .arg = {draw(machine, 1000), draw(machine, 100)},
        .tid = tid,
        .debugid = debugid,
        .cpu = cpu,
    };
}

/* One thread ends, and another one begins: two records. */
static void replace_thread(struct machine *machine, uint32_t cpu, struct argus_record *ret)
{
    struct life *life = &machine->living[LONG_LIVED + draw(machine, LIVING - LONG_LIVED)];
    ret[0] = make_record(machine, cpu, ARGUS_ID_THREAD_EXIT, life->tid);
    life->died_ns = machine->now_ns;
    assert_true(vec_push(&machine->ended, *life));
    machine->in_use[life->tid] = false;
    *life = (struct life){.tid = new_tid(machine)};
    ret[1] = make_record(machine, cpu, ARGUS_ID_NEW_THREAD, machine->living[0].tid);
    ret[1].arg[0] = ret[1].arg[1] = life->tid;
}

static void fill_batch(struct machine *machine, uint32_t cpu)
{
    struct argus_record *batch = machine->batch[cpu];
    for (size_t i = 0; i < BATCH; i++) {
        uint32_t tid = machine->living[draw(machine, LIVING)].tid;
        uint64_t what = draw(machine, 100);
        if (what == 0 && i + 1 < BATCH) {
            replace_thread(machine, cpu, &batch[i]);
            i++;
        } else if (what < 10) {
            batch[i] = make_record(machine, cpu, ARGUS_ID_STACK, tid);
            uint64_t hot = 1 + draw(machine, 500);
            batch[i].arg[0] = draw(machine, 200) ? hot : 1000 + machine->newest_stack++;
            batch[i].arg[1] = 0;
        } else {
            batch[i] = make_record(machine, cpu, ARGUS_ID_SWITCH, tid);
        }
    }
}

/* Sometimes from where the sink keeps the records, as far as there is room. */
static void take_batch(struct machine *machine, struct sink *sink, uint32_t cpu)
{
    size_t room, first = 0;
    if (draw(machine, 2)) {
        struct argus_record *records = sink_room(sink, cpu, &room);
        assert_non_null(records);
        first = room < BATCH ? room : BATCH;
        memcpy(records, machine->batch[cpu], first * sizeof(*records));
        assert_null(sink_take(sink, cpu, records, first, 0));
    }
    assert_null(sink_take(sink, cpu, machine->batch[cpu] + first, BATCH - first, 0));
}

static void play_day(struct machine *machine, struct sink *sink)
{
    for (uint64_t done = 0; done < records_wanted; done += CPUS * BATCH) {
        for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
            fill_batch(machine, cpu);
            take_batch(machine, sink, cpu);
        }
        if (done / BATCH % 64 == 0)
            assert_null(sink_flush(sink));
        if (draw(machine, 16) == 0) /* the load varies */
            assert_null(sink_spare(sink, draw(machine, 2)));
    }
}

/* --- the expected contents of the file --- */

struct needs {
    struct idmap named; /* thread ids */
    uint64_t nameless, stacks, stacks_missing;
};

static void check_record(const struct argus_trace *trace, const struct argus_record *record,
                         struct needs *needs)
{
    const uint64_t *frames;
    needs->nameless += idmap_get(&needs->named, record->tid) == IDMAP_NONE;
    if (record->debugid == ARGUS_ID_STACK) {
        needs->stacks++;
        needs->stacks_missing += argus_trace_stack(trace, record->arg[0], &frames) == 0;
    }
}

static void check_records(const struct argus_trace *trace, struct needs *needs)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    assert_non_null(records);
    for (int pass = 0; pass < 2;
         pass++) { /* starts of threads first: the order between CPUs is not guaranteed */
        for (size_t i = 0; i < count; i++) {
            assert_null(argus_trace_read_chunk(trace, &chunks[i], records));
            for (uint32_t r = 0; r < chunks[i].count; r++) {
                if (pass == 1)
                    check_record(trace, &records[r], needs);
                else if (records[r].debugid == ARGUS_ID_NEW_THREAD)
                    assert_true(idmap_put(&needs->named, records[r].arg[0], 0));
            }
        }
    }
    free(records);
}

static void check_file(const char *path)
{
    struct argus_trace *trace;
    const struct argus_thread_entry *threads;
    struct needs needs = {0};
    uint64_t start_ns, end_ns;
    struct stat status;
    assert_null(argus_trace_open(path, &trace));
    size_t count = argus_trace_threads(trace, &threads);
    for (size_t i = 0; i < count; i++)
        assert_true(idmap_put(&needs.named, threads[i].tid, 0));
    check_records(trace, &needs);
    argus_trace_time_range(trace, &start_ns, &end_ns);
    printf("%" PRIu64 " of %" PRIu64 " records in the ring: the last %.1f s of %.1f s; %" PRIu64
           " stacks named\n",
           argus_trace_record_count(trace), records_wanted, (double)(end_ns - start_ns) / 1e9,
           (double)end_ns / 1e9, needs.stacks);
    assert_int_equal(needs.nameless, 0);
    assert_int_equal(needs.stacks_missing, 0);
    assert_true(needs.stacks > 1000);
    assert_true(argus_trace_complete(trace));
    assert_int_equal(argus_trace_lost_count(trace), 0);
    assert_true(argus_trace_record_count(trace) < records_wanted / 2);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 4096 + (off_t)ring_bytes);
    idmap_deinit(&needs.named);
    argus_trace_close(trace);
}

static int write_day(void *context, const void *bytes, size_t length, uint64_t offset)
{
    return file_write(*(int *)context, bytes, length, offset);
}

static int resize_day(void *context, uint64_t bytes)
{
    return ftruncate(*(int *)context, (off_t)bytes) < 0 ? errno : 0;
}

static void a_day(void **state)
{
    (void)state;
    char path[] = "/tmp/argus-day-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct machine *machine = calloc(1, sizeof(*machine));
    struct sink *sink;
    assert_non_null(machine);
    machine->base.ops = &day_ops;
    machine->now_ns = 1000000000;
    machine->step_ns = DAY_NS / records_wanted;
    for (size_t i = 0; i < LIVING; i++)
        machine->living[i].tid = new_tid(machine);
    const struct argus_output output = {write_day, resize_day, &fd};
    const struct argus_snapshot_key no_key = {0};
    assert_null(sink_create(&output, &machine->base, ring_bytes, ARGUS_CODEC_NONE, &no_key, &sink));
    assert_null(sink_tables(sink));
    play_day(machine, sink);
    uint64_t written_bytes = sink_totals(sink).bytes, oldest_ns = sink_totals(sink).oldest_ns;
    assert_true(written_bytes > 4 * ring_bytes);
    assert_true(oldest_ns > machine->now_ns / 2 && oldest_ns < machine->now_ns);
    assert_int_equal(sink_totals(sink).stacks_lost, 0);
    assert_null(sink_finish(sink, false));
    sink_destroy(sink);
    close(fd);
    check_file(path);
    unlink(path);
    const char *const *notes;
    assert_int_equal(backend_notes(&machine->base, &notes), 0);
    vec_deinit(&machine->ended);
    free(machine);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        records_wanted = strtoull(argv[1], NULL, 10) * 1000000;
    if (argc > 2)
        ring_bytes = strtoull(argv[2], NULL, 10) << 20;
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_day)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
