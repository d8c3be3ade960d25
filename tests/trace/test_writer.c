/* The writer: rings that wrap, full disks, and files that are continued. */
#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/layout.h"

enum { RECORDS = 500 };

/* A number that does not compress well. */
static uint64_t noise(uint64_t n)
{
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9u;
    n = (n ^ n >> 27) * 0x94d049bb133111ebu;
    return n ^ n >> 31;
}

/* Records of about 20 bytes each, made from their number. */
static void fill(struct argus_record *records, size_t count, uint64_t from, uint32_t cpu)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t n = from + i;
        records[i] = (struct argus_record){
            .timestamp = 1000 * n,
            .arg = {noise(n), noise(n + 1), n, 0},
            .tid = n % 5,
            .debugid = ARGUS_ID_SWITCH + 4 * (uint32_t)(n % 3),
            .cpu = cpu,
        };
    }
}

static struct argus_writer *create(struct fixture *fixture, uint64_t ring_bytes)
{
    struct argus_trace_header header = fixture_header(ring_bytes);
    struct argus_writer *writer = NULL;
    assert_ok(argus_writer_create(fixture->fd, &header, &writer));
    return writer;
}

/* Every record in the ring must be the one that fill() made from its number, without a gap, up to
 * the last one. */
static uint64_t check_ring(const struct fixture *fixture, uint64_t written)
{
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    const struct argus_damage *damage;
    assert_int_equal(argus_trace_damage(trace, &damage), 0);
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    uint64_t next = written - argus_trace_record_count(trace);
    for (size_t i = 0; i < count; i++) {
        struct argus_record got[RECORDS], expected[RECORDS];
        assert_true(chunks[i].count <= RECORDS);
        assert_ok(argus_trace_read_chunk(trace, &chunks[i], got));
        fill(expected, chunks[i].count, next, chunks[i].cpu);
        assert_memory_equal(got, expected, chunks[i].count * sizeof(*got));
        next += chunks[i].count;
    }
    assert_int_equal(next, written);
    uint64_t kept = argus_trace_record_count(trace);
    argus_trace_close(trace);
    return kept;
}

/* After each chunk of hundreds of laps, in areas whose end lies at every distance from a whole
 * chunk. */
static void a_ring_is_whole_at_any_time(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t ring_bytes = 65536; ring_bytes < 65536 + 80; ring_bytes += 8) {
        assert_int_equal(ftruncate(fixture->fd, 0), 0);
        struct argus_writer *writer = create(fixture, ring_bytes);
        uint64_t written = 0, kept = 0;
        for (unsigned i = 0; i < 300; i++) {
            struct argus_record records[RECORDS];
            size_t count = 1 + (i * 7919) % (i % 3 ? 20 : RECORDS);
            fill(records, count, written, i % 2);
            assert_ok(argus_writer_records(writer, i % 2, records, count, 0));
            written += count;
            if (i % 10 == 0)
                kept = check_ring(fixture, written);
        }
        assert_true(argus_writer_bytes(writer) > 3 * ring_bytes);
        assert_true(kept > RECORDS && kept < written);
        struct stat status;
        assert_int_equal(fstat(fixture->fd, &status), 0);
        assert_int_equal(status.st_size, 4096 + ring_bytes);
        argus_writer_destroy(writer);
    }
}

/* A batch that is larger than the ring is cut into chunks that are not. */
static void a_large_batch_is_split_in_a_ring(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 65536);
    size_t count = 20000;
    struct argus_record *records = malloc(count * sizeof(*records));
    assert_non_null(records);
    fill(records, count, 0, 0);
    assert_ok(argus_writer_records(writer, 0, records, count, 3));
    assert_int_equal(argus_writer_records_written(writer), count);
    size_t damage;
    uint64_t kept;
    assert_ok(fixture_read_all(fixture, &damage, &kept));
    assert_int_equal(damage, 0);
    assert_true(kept > 1000 && kept < count);
    argus_writer_destroy(writer);
    free(records);
}

static void more_records_than_a_chunk_holds_are_split(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    size_t count = 2 * ARGUS_CHUNK_MAX_RECORDS + 1;
    struct argus_record *records = calloc(count, sizeof(*records));
    assert_non_null(records);
    assert_ok(argus_writer_records(writer, 0, records, count, 9));
    argus_writer_destroy(writer);
    free(records);
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    const struct argus_chunk *chunks;
    assert_int_equal(argus_trace_chunks(trace, &chunks), 3);
    assert_int_equal(argus_trace_record_count(trace), count);
    assert_int_equal(argus_trace_lost_count(trace), 9);
    argus_trace_close(trace);
}

/* A chunk without records that only reports a loss is written after the last record. */
static void a_loss_at_the_end_is_told(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    struct argus_record records[3];
    fill(records, 3, 0, 1);
    assert_ok(argus_writer_records(writer, 1, records, 3, 0));
    assert_ok(argus_writer_records(writer, 1, NULL, 0, 77));
    assert_ok(argus_writer_records(writer, 1, NULL, 0, 0)); /* no loss: no chunk */
    argus_writer_destroy(writer);
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    const struct argus_loss *losses;
    const struct argus_chunk *chunks;
    assert_int_equal(argus_trace_chunks(trace, &chunks), 2);
    assert_int_equal(argus_trace_losses(trace, &losses), 1);
    assert_int_equal(losses[0].count, 77);
    assert_int_equal(losses[0].from_ticks, 2000);
    assert_int_equal(losses[0].to_ticks, 2000);
    assert_false(argus_trace_complete(trace));
    argus_trace_close(trace);
}

/* A full disk, simulated by the limit on file size: the written data stays readable, and the writer
 * continues afterwards. */
static void a_full_disk_costs_one_chunk(void **state)
{
    struct fixture *fixture = *state;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct argus_writer *writer = create(fixture, 0);
    struct argus_record records[RECORDS];
    fill(records, RECORDS, 0, 0);
    assert_ok(argus_writer_records(writer, 0, records, RECORDS, 0));

    limit = (struct rlimit){argus_writer_bytes(writer) + 100, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct argus_error *error = argus_writer_records(writer, 0, records, RECORDS, 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_error(error, ARGUS_ERROR_IO, "cannot write the trace at offset");
    assert_int_equal(argus_writer_records_written(writer), RECORDS);

    size_t damage;
    uint64_t kept;
    assert_ok(fixture_read_all(fixture, &damage, &kept));
    assert_int_equal(damage, 0);
    assert_int_equal(kept, RECORDS);

    assert_ok(argus_writer_records(writer, 0, records, 1, RECORDS));
    assert_ok(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    assert_ok(fixture_read_all(fixture, &damage, &kept));
    assert_int_equal(damage, 0);
    assert_int_equal(kept, RECORDS + 1);
}

/* After a torn chunk: the torn chunk is cut off, and the next one takes its place. */
static void appending_replaces_a_torn_end(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    struct argus_record records[RECORDS];
    fill(records, RECORDS, 0, 0);
    assert_ok(argus_writer_records(writer, 0, records, RECORDS, 0));
    uint64_t whole = argus_writer_bytes(writer);
    assert_ok(argus_writer_records(writer, 0, records, RECORDS, 0));
    argus_writer_destroy(writer);
    assert_int_equal(ftruncate(fixture->fd, (off_t)whole + 1001), 0);

    assert_ok(argus_writer_append(fixture->fd, &writer));
    assert_int_equal(argus_writer_bytes(writer), whole);
    assert_ok(argus_writer_note(writer, "went on"));
    argus_writer_destroy(writer);
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    const struct argus_damage *damage;
    const char *const *notes;
    assert_int_equal(argus_trace_damage(trace, &damage), 0);
    assert_int_equal(argus_trace_record_count(trace), RECORDS);
    assert_int_equal(argus_trace_notes(trace, &notes), 1);
    argus_trace_close(trace);
}

/* Before it has wrapped, and after: each writer finds the newest chunk and overwrites the oldest ones. */
static void a_ring_is_gone_on_with(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[RECORDS];
    argus_writer_destroy(create(fixture, 65536));
    uint64_t written = 0, kept_before = 0;
    for (int round = 0; round < 200; round++) {
        struct argus_writer *writer = NULL;
        assert_ok(argus_writer_append(fixture->fd, &writer));
        for (int chunk = 0; chunk < round % 3; chunk++) {
            size_t count = 10 + noise(written) % (RECORDS - 10);
            fill(records, count, written, 0);
            assert_ok(argus_writer_records(writer, 0, records, count, 0));
            written += count;
        }
        if (round % 7 == 0)
            assert_ok(argus_writer_note(writer, "went on"));
        struct argus_trace *trace = NULL;
        assert_ok(argus_trace_open(fixture->path, &trace));
        uint64_t kept = argus_trace_record_count(trace);
        assert_true(written == 0 || argus_writer_oldest_ticks(writer) == 1000 * (written - kept));
        argus_trace_close(trace);
        argus_writer_destroy(writer);
        kept_before = check_ring(fixture, written);
    }
    assert_true(kept_before > RECORDS && kept_before < written / 4);
}

static void a_stack_is_written_once_until_forgotten(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    uint64_t frames[] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        assert_ok(argus_writer_stack(writer, 42, frames, 3));
        assert_ok(argus_writer_flush(writer));
    }
    uint64_t once = argus_writer_bytes(writer);
    argus_writer_forget_stacks(writer);
    assert_ok(argus_writer_stack(writer, 42, frames, 3));
    assert_ok(argus_writer_flush(writer));
    assert_true(argus_writer_bytes(writer) > once);
    assert_true(once - 4096 < 2 * (argus_writer_bytes(writer) - once));
    argus_writer_destroy(writer);
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    assert_int_equal(argus_trace_stack_count(trace), 1);
    argus_trace_close(trace);
}

static void wrong_use_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct argus_trace_header header = fixture_header(1000);
    struct argus_writer *writer = NULL;
    assert_error(argus_writer_create(fixture->fd, &header, &writer), ARGUS_ERROR_USAGE, "a ring");
    header = fixture_header(0);
    header.cpu_count = 0;
    assert_error(argus_writer_create(fixture->fd, &header, &writer), ARGUS_ERROR_USAGE, "cpus");
    writer = create(fixture, 65536);
    struct argus_record record = {.cpu = 2};
    assert_error(argus_writer_records(writer, 2, &record, 1, 0), ARGUS_ERROR_USAGE, "cpu");
    assert_error(argus_writer_records(writer, ARGUS_CPU_MIXED, &record, 1, 0), ARGUS_ERROR_USAGE,
                 "cpu");
    struct argus_kernel_symbol symbols[] = {{2, "b", ""}, {1, "a", ""}};
    assert_error(argus_writer_kernel_symbols(writer, symbols, 2), ARGUS_ERROR_USAGE, "ascend");
    char *long_text = calloc(1, ARGUS_CHUNK_MAX_BYTES + 1);
    assert_non_null(long_text);
    memset(long_text, 'x', ARGUS_CHUNK_MAX_BYTES);
    assert_error(argus_writer_note(writer, long_text), ARGUS_ERROR_USAGE, "too long");
    long_text[40000] = '\0';
    assert_ok(argus_writer_note(writer, long_text)); /* packs well */
    free(long_text);
    argus_writer_destroy(writer);
}

/* The codec of the last chunk that is not padding. */
static enum argus_codec last_codec(const struct fixture *fixture)
{
    size_t length;
    uint8_t *data = fixture_read(fixture, &length);
    struct layout_chunk header;
    enum argus_codec codec = ARGUS_CODEC_NONE;
    for (size_t at = LAYOUT_AREA_START; at + sizeof(header) <= length;
         at += layout_chunk_extent(header.stored_bytes)) {
        memcpy(&header, data + at, sizeof(header));
        if (header.kind != ARGUS_CHUNK_PAD)
            codec = header.codec;
    }
    free(data);
    return codec;
}

static void chunks_of_all_codecs_read_the_same(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    struct argus_record records[RECORDS];
    uint64_t written = 0;
    for (uint32_t codec = ARGUS_CODEC_NONE; codec < ARGUS_CODECS; codec++) {
        if (codec && !argus_codec_is_built(codec)) {
            assert_error(argus_writer_choose_codec(writer, codec), ARGUS_ERROR_USAGE, "without it");
            continue;
        }
        assert_ok(argus_writer_choose_codec(writer, codec));
        fill(records, RECORDS, written, 0);
        assert_ok(argus_writer_records(writer, 0, records, RECORDS, 0));
        if (codec)
            assert_int_equal(last_codec(fixture), codec);
        written += RECORDS;
    }
    assert_ok(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    assert_int_equal(check_ring(fixture, written), written);
}

static size_t hurried_rounds(struct argus_writer *writer, size_t rounds)
{
    struct argus_record records[RECORDS];
    for (size_t i = 0; i < rounds; i++) {
        fill(records, RECORDS, i * RECORDS, i % 2);
        assert_ok(argus_writer_records(writer, i % 2, records, RECORDS, 0));
        if (i % 7 == 3)
            assert_ok(argus_writer_note(writer, "a chunk of another kind"));
    }
    return rounds * RECORDS;
}

/* Chunks that a thread packs are in the file in the order in which they were given, also between
 * others. */
static void a_hurrying_writer_keeps_the_order(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    argus_writer_hurry(writer);
    size_t written = hurried_rounds(writer, 100);
    assert_ok(argus_writer_flush(writer));
    assert_int_equal(argus_writer_records_written(writer), written);
    assert_int_equal(check_ring(fixture, written), written);
    assert_ok(argus_writer_records(writer, 0, NULL, 0, 5));
    assert_ok(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    assert_int_equal(check_ring(fixture, written), written);
}

/* A failure to write is told, at the latest, by the flush, and not only to the thread. */
static void a_hurrying_writer_tells_of_a_full_disk(void **state)
{
    struct fixture *fixture = *state;
    struct argus_writer *writer = create(fixture, 0);
    argus_writer_hurry(writer);
    hurried_rounds(writer, 1);
    if (argus_writer_records_written(writer)) { /* one CPU: there is no thread */
        argus_writer_destroy(writer);
        skip();
    }
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    limit = (struct rlimit){LAYOUT_AREA_START + 100, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct argus_error *error = argus_writer_flush(writer);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_error(error, ARGUS_ERROR_IO, "cannot write the trace at offset");
    assert_int_equal(argus_writer_records_written(writer), 0);
    hurried_rounds(writer, 3); /* and what is on the way at the end is dropped */
    argus_writer_destroy(writer);
}

/* Added data can be read by every user who can read the file. */
static void appending_keeps_the_codec(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[RECORDS];
    fill(records, RECORDS, 0, 0);
    struct argus_writer *writer = create(fixture, 0);
    assert_ok(argus_writer_choose_codec(writer, ARGUS_CODEC_ZLIB));
    assert_ok(argus_writer_records(writer, 0, records, RECORDS, 0));
    argus_writer_destroy(writer);
    assert_ok(argus_writer_append(fixture->fd, &writer));
    assert_ok(argus_writer_records(writer, 0, records, RECORDS, 0));
    argus_writer_destroy(writer);
    assert_int_equal(last_codec(fixture), ARGUS_CODEC_ZLIB);
}

int main(void)
{
#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_ring_is_whole_at_any_time),
        FILE_TEST(a_large_batch_is_split_in_a_ring),
        FILE_TEST(more_records_than_a_chunk_holds_are_split),
        FILE_TEST(chunks_of_all_codecs_read_the_same),
        FILE_TEST(a_hurrying_writer_keeps_the_order),
        FILE_TEST(a_hurrying_writer_tells_of_a_full_disk),
        FILE_TEST(appending_keeps_the_codec),
        FILE_TEST(a_loss_at_the_end_is_told),
        FILE_TEST(a_full_disk_costs_one_chunk),
        FILE_TEST(appending_replaces_a_torn_end),
        FILE_TEST(a_ring_is_gone_on_with),
        FILE_TEST(a_stack_is_written_once_until_forgotten),
        FILE_TEST(wrong_use_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
