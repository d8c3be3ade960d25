#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fixture_setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    strcpy(fixture->path, "/tmp/argus-test-XXXXXX");
    fixture->fd = mkstemp(fixture->path);
    assert_true(fixture->fd >= 0);
    *state = fixture;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    close(fixture->fd);
    unlink(fixture->path);
    free(fixture);
    return 0;
}

struct argus_trace_header fixture_header(uint64_t ring_bytes)
{
    return (struct argus_trace_header){
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = 2,
        .ring_bytes = ring_bytes,
        .host = "test",
    };
}

static void write_tables(struct argus_writer *writer)
{
    struct argus_thread_entry thread = {.tid = 12, .pid = 10, .parent_pid = 1, .name = "editor"};
    struct argus_image_entry image = {
        .pid = 10, .start = 0x400000, .end = 0x500000, .inode = 7, .path = "/usr/bin/editor"};
    struct argus_kernel_symbol symbol = {0xffffffff81000000u, "schedule", ""};
    uint64_t frames[] = {0x401000, 0x402000};
    static const uint8_t stack[256] = {1, 2, 3};
    struct argus_snapshot snapshot = {
        .id = 0x13, .pid = 10, .tid = 12, .register_count = 17, .stack = stack, .stack_bytes = 256};
    assert_ok(argus_writer_threads(writer, &thread, 1));
    assert_ok(argus_writer_images(writer, &image, 1));
    assert_ok(argus_writer_kernel_symbols(writer, &symbol, 1));
    assert_ok(argus_writer_stack(writer, 0x11, frames, 2));
    assert_ok(argus_writer_snapshot(writer, &snapshot));
    assert_ok(argus_writer_note(writer, "a note"));
}

size_t fixture_write_small(struct fixture *fixture)
{
    struct argus_trace_header header = fixture_header(0);
    struct argus_counter counter = {"records", 3};
    struct argus_record records[] = {
        {.timestamp = 1000, .tid = 12, .debugid = ARGUS_ID_SWITCH, .arg = {1, 13, 120, 120}},
        {.timestamp = 1500, .tid = 13, .debugid = ARGUS_ID_MAKE_RUNNABLE, .arg = {12, 120, 0, 0}},
        {.timestamp = 1501, .tid = 13, .debugid = ARGUS_ID_STACK, .arg = {0x11, 0, 2, 0}},
    };
    struct argus_writer *writer = NULL;
    assert_ok(argus_writer_create(fixture->fd, &header, &writer));
    write_tables(writer);
    assert_ok(argus_writer_records(writer, 0, records, 2, 0));
    assert_ok(argus_writer_records(writer, 1, records + 2, 1, 5));
    assert_ok(argus_writer_end(writer, &counter, 1));
    size_t bytes = argus_writer_bytes(writer);
    argus_writer_destroy(writer);
    return bytes;
}

void assert_ok(struct argus_error *error)
{
    if (error)
        fail_msg("%s", error->message);
}

void assert_error(struct argus_error *error, enum argus_error_code code, const char *part)
{
    assert_non_null(error);
    if (error->code != code || !strstr(error->message, part))
        fail_msg("code %d, not %d, or not '%s': %s", error->code, code, part, error->message);
    argus_error_destroy(error);
}

uint8_t *fixture_read(const struct fixture *fixture, size_t *ret_length)
{
    struct stat status;
    assert_int_equal(fstat(fixture->fd, &status), 0);
    *ret_length = (size_t)status.st_size;
    uint8_t *data = malloc(*ret_length + 1);
    assert_non_null(data);
    assert_int_equal(pread(fixture->fd, data, *ret_length, 0), *ret_length);
    return data;
}

void fixture_replace(struct fixture *fixture, const void *data, size_t length)
{
    assert_int_equal(ftruncate(fixture->fd, 0), 0);
    assert_int_equal(pwrite(fixture->fd, data, length, 0), length);
}

static size_t count_damaged_chunks(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks), damaged = 0;
    for (size_t i = 0; i < count; i++) {
        struct argus_record *records = malloc((chunks[i].count + 1) * sizeof(*records));
        assert_non_null(records);
        struct argus_error *error = argus_trace_read_chunk(trace, &chunks[i], records);
        damaged += error != NULL;
        argus_error_destroy(error);
        free(records);
    }
    return damaged;
}

struct argus_error *fixture_read_all(const struct fixture *fixture, size_t *ret_damage,
                                     uint64_t *ret_records)
{
    struct argus_trace *trace = NULL;
    struct argus_error *error = argus_trace_open(fixture->path, &trace);
    if (error)
        return error;
    const struct argus_damage *damage;
    *ret_damage = argus_trace_damage(trace, &damage) + count_damaged_chunks(trace);
    *ret_records = argus_trace_record_count(trace);
    argus_trace_close(trace);
    return NULL;
}
