/* Reading everything that rings hold, with a writer that goes on meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "recorder/server/oldest_first.h"

#define CPUS  2
#define SLOTS 65536u

/* Each CPU's record number n has the time n * step_ns. */
static struct {
    uint64_t emitted[CPUS], step_ns[CPUS];
    uint64_t written_meanwhile; /* on CPU 0, for each call of read_at() */
} machine;

static uint32_t cpu_count(const struct backend *backend)
{
    (void)backend;
    return CPUS;
}

static uint64_t ring_bytes(const struct backend *backend)
{
    (void)backend;
    return (uint64_t)CPUS * SLOTS * sizeof(struct argus_record);
}

static uint64_t emitted(const struct backend *backend, uint32_t cpu)
{
    (void)backend;
    return machine.emitted[cpu];
}

static size_t read_at(const struct backend *backend, uint32_t cpu, uint64_t *next,
                      struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    uint64_t all = machine.emitted[cpu], oldest = all > SLOTS ? all - SLOTS : 0;
    size_t count = 0;
    (void)backend;
    /* as rings_read_at(), which leaves out more, so that it is not overtaken again */
    *ret_lost = oldest > *next ? oldest + SLOTS / 8 - *next : 0;
    *next += *ret_lost;
    for (; count < room && *next < all; (*next)++)
        records[count++] =
            (struct argus_record){.timestamp = *next * machine.step_ns[cpu], .cpu = cpu};
    machine.emitted[0] += machine.written_meanwhile;
    return count;
}

static const struct backend_ops ops = {
    .cpu_count = cpu_count,
    .ring_bytes = ring_bytes,
    .emitted = emitted,
    .read_at = read_at,
};

const struct backend_ops *const backend_table[] = {&ops, NULL};

struct seen {
    uint64_t first_ns[CPUS], last_ns[CPUS], count[CPUS], lost;
    uint64_t disorder_ns; /* how much older a record is than one read before it */
    bool copied;
};

static struct seen read_all(void)
{
    static struct oldest_first rest;
    const struct backend backend = {.ops = &ops};
    struct seen seen = {.first_ns = {UINT64_MAX, UINT64_MAX}};
    static struct argus_record records[2 * OLDEST_RUN];
    struct oldest_run run;
    uint64_t latest_ns = 0;
    uint32_t cpu;
    memset(&rest, 0, sizeof(rest));
    assert_null(oldest_first_init(&rest, &backend));
    while ((cpu = oldest_first_cpu(&rest)) < CPUS) {
        assert_null(oldest_first_read(&rest, cpu, records, 2 * OLDEST_RUN, &run));
        seen.lost += run.lost;
        for (size_t i = 0; i < run.count; i++) {
            uint64_t time = run.records[i].timestamp;
            if (time < seen.first_ns[cpu])
                seen.first_ns[cpu] = time;
            if (time + seen.disorder_ns < latest_ns)
                seen.disorder_ns = latest_ns - time;
            seen.last_ns[cpu] = time;
            latest_ns = time > latest_ns ? time : latest_ns;
        }
        seen.count[cpu] += run.count;
    }
    seen.copied = rest.copied;
    oldest_first_deinit(&rest);
    return seen;
}

/* CPU 0 has written ten rounds, 1 a tenth of one. */
static void begin(uint64_t written_meanwhile)
{
    machine.emitted[0] = 10 * SLOTS;
    machine.emitted[1] = SLOTS / 10;
    machine.step_ns[0] = 1000;
    machine.step_ns[1] = 100000;
    machine.written_meanwhile = written_meanwhile;
}

static void all_cpus_begin_at_the_same_time(void **state)
{
    (void)state;
    begin(0);
    struct seen seen = read_all();
    assert_false(seen.copied);
    assert_int_equal(seen.lost, 0);
    assert_in_range(seen.count[0], SLOTS - SLOTS / 32, SLOTS);
    assert_in_range(seen.first_ns[1], seen.first_ns[0], seen.first_ns[0] + machine.step_ns[1]);
    assert_int_equal(seen.last_ns[0], (10 * SLOTS - 1) * 1000ull);
    assert_in_range(seen.disorder_ns, 0, OLDEST_RUN * machine.step_ns[1]);
}

static void records_that_are_newer_than_the_beginning_are_left_out(void **state)
{
    (void)state;
    begin(10);
    struct seen seen = read_all();
    assert_false(seen.copied);
    assert_int_equal(seen.lost, 0);
    assert_true(machine.emitted[0] > 10 * SLOTS);
    assert_int_equal(seen.last_ns[0], (10 * SLOTS - 1) * 1000ull);
}

static void a_fast_writer_makes_it_copy(void **state)
{
    (void)state;
    begin(900);
    struct seen seen = read_all();
    assert_true(seen.copied);
    assert_int_equal(seen.last_ns[0], (10 * SLOTS - 1) * 1000ull);
    assert_in_range(seen.count[0] + seen.lost, SLOTS - SLOTS / 32, SLOTS);
}

/* What is overwritten before it is read is said. */
static void a_writer_that_is_too_fast_is_a_loss(void **state)
{
    (void)state;
    begin(SLOTS / 4);
    struct seen seen = read_all();
    assert_true(seen.lost > 0);
    assert_in_range(seen.last_ns[0], 0, (10 * SLOTS - 1) * 1000ull);
    assert_in_range(seen.count[0] + seen.lost, SLOTS - SLOTS / 32, SLOTS);
}

static void an_empty_ring(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    struct seen seen = read_all();
    assert_int_equal(seen.count[0] + seen.count[1] + seen.lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_cpus_begin_at_the_same_time),
        cmocka_unit_test(records_that_are_newer_than_the_beginning_are_left_out),
        cmocka_unit_test(a_fast_writer_makes_it_copy),
        cmocka_unit_test(a_writer_that_is_too_fast_is_a_loss),
        cmocka_unit_test(an_empty_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
