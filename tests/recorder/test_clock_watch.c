/* Steps of the clocks: noticed by the recorder, marked by records, and corrected in the times of
 * day that a reader prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "argus/trace.h"
#include "recorder/server/clock_watch.h"

#define S 1000000000ull

static struct clock_readings at(uint64_t trace_s, uint64_t boot_s, uint64_t wall_s)
{
    return (struct clock_readings){trace_s * S, boot_s * S, wall_s * S};
}

static void nothing_happens(void **state)
{
    (void)state;
    struct clock_watch watch;
    struct clock_readings now = at(100, 100, 5000);
    clock_watch_init(&watch, &now);
    for (uint64_t i = 1; i < 1000; i++) {
        now = at(100 + i, 100 + i, 5000 + i);
        now.wall_ns += i % 7 * 100000; /* noise */
        assert_int_equal(clock_watch_look(&watch, &now), 0);
    }
    clock_watch_deinit(&watch);
}

static void suspend_and_steps(void **state)
{
    (void)state;
    struct clock_watch watch;
    struct clock_readings now = at(100, 100, 5000);
    clock_watch_init(&watch, &now);
    now = at(101, 161, 5061); /* suspended for a minute */
    assert_int_equal(clock_watch_look(&watch, &now), 2);
    assert_int_equal(watch.markers.data[0].debugid, ARGUS_ID_SUSPENDED);
    assert_int_equal(watch.markers.data[0].arg[0], 60 * S);
    assert_int_equal(watch.markers.data[0].arg[1], 101 * S);
    assert_int_equal(watch.markers.data[1].debugid, ARGUS_ID_CLOCK_STEP);
    assert_int_equal(watch.markers.data[1].arg[0], 60 * S);
    now = at(102, 162, 1462); /* set back by an hour */
    assert_int_equal(clock_watch_look(&watch, &now), 1);
    assert_int_equal((int64_t)watch.markers.data[2].arg[0], -3600 * (int64_t)S);
    now = at(103, 163, 1463);
    assert_int_equal(clock_watch_look(&watch, &now), 0);
    /* a slow drift is reported when it has become large */
    size_t told = 0;
    for (uint64_t i = 1; i <= 100; i++) {
        now = at(103 + i, 163 + i, 1463 + i);
        now.wall_ns += i * 200000;
        told += clock_watch_look(&watch, &now);
    }
    assert_int_equal(told, 4);
    clock_watch_deinit(&watch);
}

/* A trace whose anchor is at `anchor_s`, with a step of one hour forward at 200 s, which a ring has repeated. */
static struct argus_trace *make_trace(char *path, uint64_t anchor_s, uint64_t anchor_wall_s)
{
    int fd = mkstemp(path);
    struct argus_trace_header header = {.os = ARGUS_OS_LINUX,
                                        .arch = ARGUS_ARCH_X86_64,
                                        .timebase_numer = 1,
                                        .timebase_denom = 1,
                                        .anchor_ticks = anchor_s * S,
                                        .anchor_wall_ns = anchor_wall_s * S,
                                        .page_bytes = 4096,
                                        .cpu_count = 1};
    struct argus_writer *writer;
    struct argus_trace *trace;
    assert_true(fd >= 0);
    assert_null(argus_writer_create(fd, &header, &writer));
    for (uint64_t told_s = 200; told_s < 400; told_s += 100) {
        struct argus_record step = {
            .timestamp = told_s * S, .arg = {3600 * S, 200 * S}, .debugid = ARGUS_ID_CLOCK_STEP};
        assert_null(argus_writer_records(writer, ARGUS_CPU_MIXED, &step, 1, 0));
    }
    argus_writer_destroy(writer);
    close(fd);
    assert_null(argus_trace_open(path, &trace));
    unlink(path);
    return trace;
}

static void times_of_day(void **state)
{
    (void)state;
    const uint64_t anchors[][2] = {{100, 10100}, {500, 14100}}; /* before the step, and behind it */
    for (size_t i = 0; i < 2; i++) {
        char path[] = "/tmp/argus-clock-XXXXXX";
        struct argus_trace *trace = make_trace(path, anchors[i][0], anchors[i][1]);
        assert_int_equal(argus_trace_ns_to_wall_ns(trace, 50 * S), 10050 * S);
        assert_int_equal(argus_trace_ns_to_wall_ns(trace, 199 * S), 10199 * S);
        assert_int_equal(argus_trace_ns_to_wall_ns(trace, 200 * S), 13800 * S);
        assert_int_equal(argus_trace_ns_to_wall_ns(trace, 600 * S), 14200 * S);
        argus_trace_close(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_happens),
        cmocka_unit_test(suspend_and_steps),
        cmocka_unit_test(times_of_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
