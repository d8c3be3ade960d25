/* A recorder that dies in the middle of a write, at every byte of it: only what that write was
 * about to replace may be missing, in a stream and in a ring. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CHUNKS = 4096 };

/* Sequence numbers of the record chunks that can be read. */
struct chunk_set {
    bool has[MOST_CHUNKS];
};

static struct chunk_set readable_chunks(const struct fixture *fixture)
{
    struct chunk_set set = {0};
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    for (size_t i = 0; i < count; i++) {
        struct argus_record *records = malloc((chunks[i].count + 1) * sizeof(*records));
        struct argus_error *error = argus_trace_read_chunk(trace, &chunks[i], records);
        assert_true(chunks[i].sequence < MOST_CHUNKS);
        set.has[chunks[i].sequence] = !error;
        argus_error_destroy(error);
        free(records);
    }
    argus_trace_close(trace);
    return set;
}

static void write_chunk(struct argus_writer *writer, uint64_t number)
{
    struct argus_record records[300];
    size_t count = 20 + number * 37 % 280;
    uint64_t noise = number;
    for (size_t i = 0; i < count; i++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        records[i] =
            (struct argus_record){.timestamp = number * 1000 + i, .arg = {noise, noise >> 7}};
    }
    assert_ok(argus_writer_records(writer, 0, records, count, 0));
}

/* The file as if only the first `written` bytes of the change from `before` to `after` had reached
 * the disk. */
static void tear(struct fixture *fixture, const uint8_t *before, size_t before_bytes,
                 const uint8_t *after, size_t from, size_t written)
{
    size_t length = from + written > before_bytes ? from + written : before_bytes;
    assert_int_equal(ftruncate(fixture->fd, (off_t)before_bytes), 0);
    assert_int_equal(pwrite(fixture->fd, before, before_bytes, 0), before_bytes);
    assert_int_equal(pwrite(fixture->fd, after + from, written, (off_t)from), written);
    assert_int_equal(lseek(fixture->fd, 0, SEEK_END), length);
}

static void check_all_tears(struct fixture *fixture, const uint8_t *before, size_t before_bytes,
                            const uint8_t *after, size_t after_bytes)
{
    size_t from = 0, to = after_bytes;
    while (from < before_bytes && before[from] == after[from])
        from++;
    while (to <= before_bytes && before[to - 1] == after[to - 1])
        to--;
    tear(fixture, before, before_bytes, after, from, 0);
    struct chunk_set old = readable_chunks(fixture);
    tear(fixture, before, before_bytes, after, from, to - from);
    struct chunk_set new = readable_chunks(fixture);
    for (size_t written = 0; written < to - from; written += 1 + written / 16) {
        tear(fixture, before, before_bytes, after, from, written);
        struct chunk_set torn = readable_chunks(fixture);
        for (size_t i = 0; i < MOST_CHUNKS; i++)
            if (old.has[i] && new.has[i])
                assert_true(torn.has[i]);
    }
}

static void tear_writes(struct fixture *fixture, uint64_t ring_bytes, unsigned chunks)
{
    struct argus_trace_header header = fixture_header(ring_bytes);
    struct argus_writer *writer = NULL;
    assert_ok(argus_writer_create(fixture->fd, &header, &writer));
    for (unsigned i = 0; i < chunks; i++) {
        size_t before_bytes, after_bytes;
        uint8_t *before = fixture_read(fixture, &before_bytes);
        write_chunk(writer, i);
        uint8_t *after = fixture_read(fixture, &after_bytes);
        if (i % 5 == 0 &&
            after_bytes - before_bytes < 10000) /* except where the ring gets its full size */
            check_all_tears(fixture, before, before_bytes, after, after_bytes);
        fixture_replace(fixture, after, after_bytes);
        free(before);
        free(after);
    }
    assert_true(!ring_bytes || argus_writer_bytes(writer) > 3 * ring_bytes);
    argus_writer_destroy(writer);
}

static void a_torn_write_of_a_stream_costs_one_chunk(void **state)
{
    tear_writes(*state, 0, 20);
}

static void a_torn_write_of_a_ring_costs_what_it_replaces(void **state)
{
    tear_writes(*state, 65536 + 8, 100);
}

int main(void)
{
#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_torn_write_of_a_stream_costs_one_chunk),
        FILE_TEST(a_torn_write_of_a_ring_costs_what_it_replaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
