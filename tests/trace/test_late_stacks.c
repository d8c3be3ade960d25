/* The stack of a wait if its file has late stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

enum {
    TID = 7,
    OTHER = 8,
    SP = 0x7000,
    BY_POINTERS = 1,
    ELSEWHERE = 2,
    LATE = 3,
    LATER = 4,
    GONE = 9
};

/* The stack that a wait of `tid` at `ticks` with this stack pointer has, when frame pointers gave `own`. */
struct row {
    uint64_t tid, ticks, sp, own, wanted;
};

static const struct row rows[] = {
    {TID, 100, SP, BY_POINTERS, LATE}, /* within the time of the late stack */
    {TID, 200, SP, BY_POINTERS, LATE},
    {TID, 150, 0, ELSEWHERE, LATE},                /* whatever its own stack is */
    {TID, 90, SP, BY_POINTERS, LATE},              /* earlier, at the same place */
    {TID, 250, SP, BY_POINTERS, LATE},             /* later, at the same place */
    {TID, 250, SP, ELSEWHERE, ELSEWHERE},          /* the same stack pointer, another function */
    {TID, 250, SP + 16, BY_POINTERS, BY_POINTERS}, /* another depth */
    {TID, 250, 0, BY_POINTERS, BY_POINTERS},       /* unknown */
    {TID, 300, SP, BY_POINTERS, LATER},
    {TID, 900, SP, BY_POINTERS, LATER}, /* the last one before */
    {TID, 955, SP, BY_POINTERS,
     BY_POINTERS}, /* its stack is not in the file, and no other one replaces it */
    {OTHER, 150, SP, BY_POINTERS, BY_POINTERS}, /* another thread */
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static void put_stack(struct argus_writer *writer, uint64_t id, uint64_t innermost)
{
    const uint64_t frames[] = {innermost, 0x100 + id};
    assert_null(argus_writer_stack(writer, id, frames, 2));
}

static void put_late(struct argus_writer *writer, uint64_t from, uint64_t to, uint64_t id)
{
    const struct argus_late_stack late = {
        .tid = TID, .from_ticks = from, .to_ticks = to, .sp = SP, .id = id};
    assert_null(argus_writer_late_stack(writer, &late));
}

static void write_trace(int fd)
{
    struct argus_writer *writer;
    struct argus_record records[ROWS];
    const struct argus_trace_header header = {.os = ARGUS_OS_LINUX,
                                              .arch = ARGUS_ARCH_X86_64,
                                              .timebase_numer = 1,
                                              .timebase_denom = 1,
                                              .page_bytes = 4096,
                                              .cpu_count = 1};
    assert_null(argus_writer_create(fd, &header, &writer));
    for (size_t i = 0; i < ROWS; i++)
        records[i] = (struct argus_record){.timestamp = rows[i].ticks,
                                           .tid = rows[i].tid,
                                           .debugid = ARGUS_ID_STACK,
                                           .arg = {rows[i].own, 0, ARGUS_STACK_BLOCK, rows[i].sp}};
    assert_null(argus_writer_records(writer, 0, records, ROWS, 0));
    put_stack(writer, BY_POINTERS, 0x10);
    put_stack(writer, ELSEWHERE, 0x20);
    put_stack(writer, LATE, 0x10);
    put_stack(writer, LATER, 0x10);
    put_late(writer, 300, 320, LATER);
    put_late(writer, 100, 200, LATE);
    put_late(writer, 950, 960, GONE);
    assert_null(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
}

static void test_waits_have_the_right_stack(void **state)
{
    const struct fixture *fixture = *state;
    struct argus_trace *trace;
    const struct argus_chunk *chunks;
    struct argus_record records[ROWS];
    write_trace(fixture->fd);
    assert_null(argus_trace_open(fixture->path, &trace));
    assert_int_equal(argus_trace_chunks(trace, &chunks), 1);
    assert_null(argus_trace_read_chunk(trace, &chunks[0], records));
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(records[i].arg[0], rows[i].wanted);
    argus_trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waits_have_the_right_stack, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
