/* The rates of `argus status` right after the start, and later. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/rates.h"

#define MS    1000000ull
#define START (3600ull * 1000 * MS)

static void a_cpu_share_needs_five_seconds(void **state)
{
    double share = -1;
    (void)state;
    assert_false(rates_cpu_share(500 * MS, 10 * MS, &share)); /* was 5000 % */
    assert_false(rates_cpu_share(0, 0, &share));
    assert_false(rates_cpu_share(500 * MS, 5000 * MS - 1, &share));
    assert_true(share == -1);
    assert_true(rates_cpu_share(50 * MS, 5000 * MS, &share));
    assert_true(share == 0.01);
}

static void records_are_spread_over_a_second_at_least(void **state)
{
    (void)state;
    /* three records in 2 us, 5 ms after the start: not 1.5 million a second */
    uint64_t now_ns = START + 5 * MS;
    assert_int_equal(rates_span_ns(START, now_ns - 2000, true, now_ns), 1000 * MS);
    /* the first records of a cpu that was idle for ten seconds */
    now_ns = START + 10000 * MS;
    assert_int_equal(rates_span_ns(START, now_ns - 2000, true, now_ns), 10000 * MS);
    assert_int_equal(rates_span_ns(START, START, true, START - 1), 1000 * MS);
}

static void a_busy_cpu_is_measured_by_its_newest_records(void **state)
{
    (void)state;
    uint64_t now_ns = START + 10000 * MS;
    assert_int_equal(rates_span_ns(START, now_ns - 4 * MS, false, now_ns), 4 * MS);
    assert_int_equal(rates_span_ns(START, now_ns, false, now_ns), 1);
    assert_int_equal(rates_span_ns(START, now_ns + 1, false, now_ns), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cpu_share_needs_five_seconds),
        cmocka_unit_test(records_are_spread_over_a_second_at_least),
        cmocka_unit_test(a_busy_cpu_is_measured_by_its_newest_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
