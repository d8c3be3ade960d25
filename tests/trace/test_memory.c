/* Without memory every call fails with an error and leaks nothing: the library runs inside the user's
 * debugger.
 *
 * The linker sends the allocations of the library's objects here (--wrap), and the n-th one fails,
 * for every n. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static size_t allocations_left = SIZE_MAX;

static bool allowed(void)
{
    if (allocations_left == 0)
        return false;
    allocations_left -= allocations_left != SIZE_MAX;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return allowed() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allowed() ? __real_calloc(count, size) : NULL;
}

void *__wrap_realloc(void *old, size_t size)
{
    return allowed() ? __real_realloc(old, size) : NULL;
}

static struct argus_error *read_everything(const struct fixture *fixture)
{
    struct argus_trace *trace = NULL;
    struct argus_error *error = argus_trace_open(fixture->path, &trace);
    if (error)
        return error;
    const struct argus_chunk *chunks;
    struct argus_record records[4];
    size_t count = argus_trace_chunks(trace, &chunks);
    for (size_t i = 0; i < count && !error; i++)
        error = argus_trace_read_chunk(trace, &chunks[i], records);
    argus_trace_close(trace);
    return error;
}

static struct argus_error *write_something(const struct fixture *fixture)
{
    struct argus_trace_header header = fixture_header(65536);
    struct argus_record records[] = {{.timestamp = 1, .debugid = 4}, {.timestamp = 2}};
    struct argus_thread_entry thread = {.tid = 12, .name = "editor"};
    uint64_t frames[] = {1, 2};
    struct argus_snapshot snapshot = {.id = 2, .stack = (const uint8_t *)"stack", .stack_bytes = 5};
    struct argus_writer *writer = NULL;
    struct argus_error *error = argus_writer_create(fixture->fd, &header, &writer);
    if (!error)
        error = argus_writer_records(writer, 0, records, 2, 0);
    if (!error)
        error = argus_writer_threads(writer, &thread, 1);
    if (!error)
        error = argus_writer_stack(writer, 1, frames, 2);
    if (!error)
        error = argus_writer_snapshot(writer, &snapshot);
    if (!error)
        error = argus_writer_end(writer, NULL, 0);
    argus_writer_destroy(writer);
    return error;
}

/* Lets the first, second, … allocation fail until there are no more. Returns how many there were.
 */
static size_t starve(struct fixture *fixture,
                     struct argus_error *(*run)(const struct fixture *fixture))
{
    for (size_t allowance = 0;; allowance++) {
        allocations_left = allowance;
        struct argus_error *error = run(fixture);
        bool used_up = allocations_left == 0;
        allocations_left = SIZE_MAX;
        if (error)
            assert_error(error, ARGUS_ERROR_MEMORY, "out of memory");
        else if (!used_up)
            return allowance;
    }
}

static void reading_without_memory_fails(void **state)
{
    struct fixture *fixture = *state;
    fixture_write_small(fixture);
    assert_true(starve(fixture, read_everything) > 20);
}

static void writing_without_memory_fails(void **state)
{
    struct fixture *fixture = *state;
    assert_true(starve(fixture, write_something) > 10);
    size_t damage;
    uint64_t records;
    assert_ok(fixture_read_all(fixture, &damage, &records));
    assert_int_equal(records, 2);
}

/* Replaces the snapshot by a stack. */
static struct argus_error *replace_snapshots(const struct fixture *fixture)
{
    const uint64_t frames[] = {0x401000, 0x402000};
    struct argus_trace *trace = NULL;
    uint64_t lost;
    struct argus_error *error = argus_trace_open(fixture->path, &trace);
    if (!error)
        error = argus_trace_add_stack(trace, 0x13, frames, 2);
    if (!error)
        error = argus_snapshots_replace(fixture->fd, trace, &lost);
    argus_trace_close(trace);
    return error;
}

static void replacing_without_memory_fails(void **state)
{
    struct fixture *fixture = *state;
    size_t bytes = fixture_write_small(fixture), damage, length;
    uint64_t records;
    assert_true(starve(fixture, replace_snapshots) > 10);
    assert_ok(fixture_read_all(fixture, &damage, &records));
    assert_int_equal(damage, 0);
    assert_int_equal(records, 3);
    free(fixture_read(fixture, &length));
    assert_int_equal(length, bytes);
    struct argus_trace *trace = NULL;
    const uint64_t *frames;
    const struct argus_chunk *chunks;
    assert_ok(argus_trace_open(fixture->path, &trace));
    assert_int_equal(argus_trace_snapshot_chunks(trace, &chunks), 0);
    assert_int_equal(argus_trace_stack(trace, 0x13, &frames), 2);
    assert_int_equal(argus_trace_stack(trace, 0x11, &frames), 2);
    argus_trace_close(trace);
}

int main(void)
{
#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        FILE_TEST(reading_without_memory_fails),
        FILE_TEST(writing_without_memory_fails),
        FILE_TEST(replacing_without_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
