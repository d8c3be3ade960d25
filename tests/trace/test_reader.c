/* The reader with damaged and unusual files. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/layout.h"

static struct argus_trace *open_fixture(const struct fixture *fixture)
{
    struct argus_trace *trace = NULL;
    assert_ok(argus_trace_open(fixture->path, &trace));
    return trace;
}

static void a_small_trace_reads_back(void **state)
{
    struct fixture *fixture = *state;
    size_t bytes = fixture_write_small(fixture);
    struct argus_trace *trace = open_fixture(fixture);
    const struct argus_chunk *chunks;
    const struct argus_loss *losses;
    const struct argus_damage *damage;
    const struct argus_thread_entry *threads;
    const struct argus_counter *counters;
    const uint64_t *frames;
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);

    assert_int_equal(argus_trace_file_bytes(trace), bytes);
    assert_int_equal(argus_trace_record_count(trace), 3);
    assert_int_equal(argus_trace_chunks(trace, &chunks), 2);
    assert_int_equal(start_ns, 1000);
    assert_int_equal(end_ns, 1501);
    assert_int_equal(argus_trace_damage(trace, &damage), 0);
    assert_true(argus_trace_complete(trace));
    assert_int_equal(argus_trace_lost_count(trace), 5);
    assert_int_equal(argus_trace_losses(trace, &losses), 1);
    assert_int_equal(losses[0].cpu, 1);
    assert_int_equal(losses[0].to_ticks, 1501);
    assert_int_equal(argus_trace_threads(trace, &threads), 1);
    assert_string_equal(threads[0].name, "editor");
    assert_int_equal(argus_trace_stack(trace, 0x11, &frames), 2);
    assert_int_equal(frames[1], 0x402000);
    assert_int_equal(argus_trace_stack(trace, 0x12, &frames), 0);
    assert_int_equal(argus_trace_counters(trace, &counters), 1);
    assert_int_equal(counters[0].value, 3);
    argus_trace_close(trace);
}

static void build_ids_reach_their_images(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    struct argus_writer *writer = NULL;
    assert_ok(argus_writer_append(fixture->fd, &writer));
    struct argus_image_entry found[] = {
        {.inode = 7, .path = "/usr/bin/editor", .build_id = {1}, .build_id_bytes = 20},
        {.inode = 7, .path = "/usr/bin/editor", .build_id = {2}, .build_id_bytes = 4},
        {.inode = 8, .path = "/usr/bin/editor", .build_id = {3}, .build_id_bytes = 4},
    };
    assert_ok(argus_writer_build_ids(writer, found, 3));
    argus_writer_destroy(writer);

    struct argus_trace *trace = open_fixture(fixture);
    const struct argus_image_entry *images;
    assert_int_equal(argus_trace_images(trace, &images), 1);
    assert_int_equal(images[0].build_id_bytes, 4);
    assert_int_equal(images[0].build_id[0], 2);
    assert_true(argus_trace_complete(trace));
    argus_trace_close(trace);
}

static void what_is_no_trace_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct argus_trace *trace = NULL;
    assert_error(argus_trace_open(fixture->path, &trace), ARGUS_ERROR_FORMAT, "is empty");
    assert_error(argus_trace_open("/tmp", &trace), ARGUS_ERROR_FORMAT, "is a directory");
    assert_error(argus_trace_open("/dev/null", &trace), ARGUS_ERROR_FORMAT, "not a regular file");
    assert_error(argus_trace_open("/nonexistent", &trace), ARGUS_ERROR_IO, "No such file");
    fixture_replace(fixture, "some text\n", 10);
    assert_error(argus_trace_open(fixture->path, &trace), ARGUS_ERROR_FORMAT,
                 "is not an Argus trace");
    fixture_replace(fixture, "ARGUSTRC", 8);
    assert_error(argus_trace_open(fixture->path, &trace), ARGUS_ERROR_FORMAT,
                 "cut off inside its file header");
    assert_null(trace);
}

static void a_newer_version_is_refused(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    uint16_t version = 2;
    assert_int_equal(pwrite(fixture->fd, &version, 2, 8), 2);
    struct argus_trace *trace = NULL;
    assert_error(argus_trace_open(fixture->path, &trace), ARGUS_ERROR_VERSION, "newer Argus");
}

static void a_newer_minor_version_is_read(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    size_t length;
    uint8_t *data = fixture_read(fixture, &length);
    data[10] = 9;
    uint32_t crc = (uint32_t)crc32(0, data, 4092);
    memcpy(data + 4092, &crc, 4);
    fixture_replace(fixture, data, length);
    free(data);
    size_t damage;
    uint64_t records;
    assert_ok(fixture_read_all(fixture, &damage, &records));
    assert_int_equal(damage, 0);
    assert_int_equal(records, 3);
}

/* An unknown kind of chunk is skipped silently. */
static void an_unknown_chunk_is_skipped(void **state)
{
    struct fixture *fixture = *state;
    size_t length = fixture_write_small(fixture);
    struct layout_chunk chunk = {.kind = 99, .sequence = 50, .cpu = ARGUS_CPU_MIXED};
    memcpy(chunk.magic, LAYOUT_CHUNK_MAGIC, 4);
    chunk.header_crc = (uint32_t)crc32(0, (const void *)&chunk, 60);
    assert_int_equal(pwrite(fixture->fd, &chunk, sizeof(chunk), (off_t)length), sizeof(chunk));
    size_t damage;
    uint64_t records;
    assert_ok(fixture_read_all(fixture, &damage, &records));
    assert_int_equal(damage, 0);
    assert_int_equal(records, 3);
}

/* Whether a file of `length` bytes ends with a complete chunk, perhaps without all of its padding.
 * */
static bool ends_with_a_chunk(const uint8_t *data, size_t length)
{
    for (size_t at = 4096; at < length;) {
        struct layout_chunk chunk;
        if (length - at < sizeof(chunk))
            return false;
        memcpy(&chunk, data + at, sizeof(chunk));
        if (length - at < sizeof(chunk) + chunk.stored_bytes)
            return false;
        at += layout_chunk_extent(chunk.stored_bytes);
    }
    return true;
}

/* Wherever a file is cut off: inside the file header it is refused. Elsewhere it opens, and the loss
 * is reported: as damage up to the end, or as a missing end if only complete chunks are gone. */
static void every_cut_is_noticed(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    size_t length;
    uint8_t *data = fixture_read(fixture, &length);
    size_t end_bytes = 64 + 9 + 7; /* the end chunk's header, payload and padding */
    for (size_t cut = length - 1; cut >= 4096; cut--) {
        assert_int_equal(ftruncate(fixture->fd, (off_t)cut), 0);
        struct argus_trace *trace = open_fixture(fixture);
        const struct argus_damage *damage;
        size_t count = argus_trace_damage(trace, &damage);
        assert_int_equal(count, ends_with_a_chunk(data, cut) ? 0 : 1);
        if (count)
            assert_int_equal(damage[0].offset_bytes + damage[0].length_bytes, cut);
        if (cut < length - 7)
            assert_false(argus_trace_complete(trace));
        if (cut >= length - end_bytes)
            assert_int_equal(argus_trace_record_count(trace), 3);
        argus_trace_close(trace);
    }
    for (size_t cut = 4095; cut > 0; cut--) {
        assert_int_equal(ftruncate(fixture->fd, (off_t)cut), 0);
        struct argus_trace *trace = NULL;
        assert_error(argus_trace_open(fixture->path, &trace), ARGUS_ERROR_FORMAT, fixture->path);
    }
    free(data);
}

/* Every flipped bit of the file header is detected. */
static void every_flip_in_the_file_header_is_refused(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    size_t length;
    uint8_t *data = fixture_read(fixture, &length);
    for (size_t i = 0; i < 4096; i++) {
        uint8_t flipped = data[i] ^ 0x10;
        assert_int_equal(pwrite(fixture->fd, &flipped, 1, (off_t)i), 1);
        struct argus_trace *trace = NULL;
        struct argus_error *error = argus_trace_open(fixture->path, &trace);
        assert_non_null(error);
        argus_error_destroy(error);
        assert_int_equal(pwrite(fixture->fd, data + i, 1, (off_t)i), 1);
    }
    free(data);
}

/* Every flipped bit of a chunk is detected, and costs only that chunk. */
static void every_flip_in_a_chunk_costs_that_chunk_only(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    size_t length;
    uint8_t *data = fixture_read(fixture, &length);
    for (size_t at = 4096; at < length;) {
        struct layout_chunk chunk;
        memcpy(&chunk, data + at, sizeof(chunk));
        size_t used = sizeof(chunk) + chunk.stored_bytes;
        for (size_t i = 0; i < used; i++) {
            uint8_t flipped = data[at + i] ^ 0x04;
            assert_int_equal(pwrite(fixture->fd, &flipped, 1, (off_t)(at + i)), 1);
            size_t damage;
            uint64_t records;
            assert_ok(fixture_read_all(fixture, &damage, &records));
            assert_int_equal(damage, 1);
            assert_true(records >= 1);
            assert_int_equal(pwrite(fixture->fd, data + at + i, 1, (off_t)(at + i)), 1);
        }
        at += layout_chunk_extent(chunk.stored_bytes);
    }
    free(data);
}

/* Bytes inserted between two chunks: the walk finds the next chunk. */
static void a_hole_is_walked_around(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    size_t length;
    uint8_t *data = fixture_read(fixture, &length);
    size_t hole = 200000; /* larger than one read of the search */
    uint8_t *longer = calloc(1, length + hole);
    assert_non_null(longer);
    memcpy(longer, data, 4096);
    memcpy(longer + 4096 + hole, data + 4096, length - 4096);
    fixture_replace(fixture, longer, length + hole);
    struct argus_trace *trace = open_fixture(fixture);
    const struct argus_damage *damage;
    assert_int_equal(argus_trace_damage(trace, &damage), 1);
    assert_int_equal(damage[0].offset_bytes, 4096);
    assert_int_equal(damage[0].length_bytes, hole);
    assert_int_equal(argus_trace_record_count(trace), 3);
    argus_trace_close(trace);
    free(longer);
    free(data);
}

static void a_damaged_chunk_names_its_offset(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    struct argus_trace *trace = open_fixture(fixture);
    const struct argus_chunk *chunks;
    argus_trace_chunks(trace, &chunks);
    uint8_t byte;
    off_t inside = (off_t)chunks[0].offset_bytes + 70;
    assert_int_equal(pread(fixture->fd, &byte, 1, inside), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fixture->fd, &byte, 1, inside), 1);
    struct argus_record records[2];
    char part[64];
    snprintf(part, sizeof(part), "the chunk at offset %lu is damaged: the checksum",
             (unsigned long)chunks[0].offset_bytes);
    assert_error(argus_trace_read_chunk(trace, &chunks[0], records), ARGUS_ERROR_FORMAT, part);
    argus_trace_close(trace);
}

static void a_file_that_shrinks_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    struct argus_trace *trace = open_fixture(fixture);
    const struct argus_chunk *chunks;
    argus_trace_chunks(trace, &chunks);
    assert_int_equal(ftruncate(fixture->fd, 4096), 0);
    struct argus_record records[2];
    assert_error(argus_trace_read_chunk(trace, &chunks[0], records), ARGUS_ERROR_FORMAT,
                 "became shorter");
    argus_trace_close(trace);
}

/* Records that compress to nothing: each chunk takes a few hundred bytes of the file. */
static void write_many(const struct fixture *fixture, size_t chunks)
{
    struct argus_trace_header header = fixture_header(0);
    struct argus_writer *writer = NULL;
    enum { COUNT = ARGUS_CHUNK_MAX_RECORDS };
    struct argus_record *records = calloc(COUNT, sizeof(*records));
    assert_non_null(records);
    for (size_t i = 0; i < COUNT; i++)
        records[i] = (struct argus_record){.timestamp = 1000, .tid = 12, .debugid = 4};
    assert_ok(argus_writer_create(fixture->fd, &header, &writer));
    for (size_t i = 0; i < chunks; i++)
        assert_ok(argus_writer_records(writer, 0, records, COUNT, 0));
    assert_ok(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    free(records);
}

static void more_records_than_such_a_file_has_are_refused(void **state)
{
    struct argus_trace *trace = NULL;
    unsetenv("ARGUS_MEMORY");
    write_many(*state, 8);
    struct argus_error *error = argus_trace_open(((struct fixture *)*state)->path, &trace);
    assert_error(error, ARGUS_ERROR_FORMAT, "set ARGUS_MEMORY (such as 8G)");
    error = argus_trace_open(((struct fixture *)*state)->path, &trace);
    assert_error(error, ARGUS_ERROR_FORMAT, ": offset ");
    assert_null(trace);
}

static void the_user_can_lift_the_bound(void **state)
{
    write_many(*state, 8);
    setenv("ARGUS_MEMORY", "8G", 1);
    struct argus_trace *trace = open_fixture(*state);
    assert_int_equal(argus_trace_record_count(trace), 8 * ARGUS_CHUNK_MAX_RECORDS);
    assert_ok(argus_trace_check_memory(trace, 4096));
    argus_trace_close(trace);
    unsetenv("ARGUS_MEMORY");
}

static void memory_beyond_the_bound_is_an_error(void **state)
{
    enum { BYTES = 8 << 20 };
    fixture_write_small(*state);
    setenv("ARGUS_MEMORY", "4M", 1);
    struct argus_trace *trace = open_fixture(*state);
    unsetenv("ARGUS_MEMORY");
    assert_ok(argus_trace_check_memory(trace, 4096));
    /* not malloc(): it may have that much left of what was freed */
    char *taken = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(taken != MAP_FAILED);
    memset(taken, 1, BYTES);
    struct argus_error *error = argus_trace_check_memory(trace, 4096);
    munmap(taken, BYTES);
    assert_error(error, ARGUS_ERROR_MEMORY, "offset 4096: this file needs more memory than");
    argus_trace_close(trace);
}

static void memory_of_a_host_is_not_that_of_the_file(void **state)
{
    enum { BYTES = 8 << 20 };
    struct argus_trace *trace;
    fixture_write_small(*state);
    setenv("ARGUS_MEMORY", "4M", 1);
    assert_ok(argus_trace_open_shared(((struct fixture *)*state)->path, &trace));
    unsetenv("ARGUS_MEMORY");
    char *taken = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(taken != MAP_FAILED);
    memset(taken, 1, BYTES);
    assert_ok(argus_trace_check_memory(trace, 4096));
    munmap(taken, BYTES);
    argus_trace_close(trace);
}

int main(void)
{
#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_small_trace_reads_back),
        FILE_TEST(build_ids_reach_their_images),
        FILE_TEST(what_is_no_trace_is_refused),
        FILE_TEST(a_newer_version_is_refused),
        FILE_TEST(a_newer_minor_version_is_read),
        FILE_TEST(an_unknown_chunk_is_skipped),
        FILE_TEST(every_cut_is_noticed),
        FILE_TEST(every_flip_in_the_file_header_is_refused),
        FILE_TEST(every_flip_in_a_chunk_costs_that_chunk_only),
        FILE_TEST(a_hole_is_walked_around),
        FILE_TEST(a_damaged_chunk_names_its_offset),
        FILE_TEST(a_file_that_shrinks_is_an_error),
        FILE_TEST(more_records_than_such_a_file_has_are_refused),
        FILE_TEST(the_user_can_lift_the_bound),
        FILE_TEST(memory_beyond_the_bound_is_an_error),
        FILE_TEST(memory_of_a_host_is_not_that_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
