/* When the reader of a stream trades latency for CPU time: records come fast, and there are too few
 * CPUs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/linux/cpu_overload.h"
#include "recorder/server/pace.h"

#define MS 1000000u

/* As when a recording begins on a machine that has been up for days. */
static void a_rate_is_that_since_the_last_look(void **state)
{
    (void)state;
    uint64_t now_ns = 3600ull * 1000 * MS;
    struct pace pace = {0};
    assert_false(pace_is_fast(&pace, now_ns, 5000000));
    const uint64_t enough = PACE_RECORDS_PER_S / 100; /* in 10 ms */
    uint64_t emitted = 5000000 + enough + 1;
    assert_true(pace_is_fast(&pace, now_ns += 10 * MS, emitted));
    emitted += enough - 1;
    assert_false(pace_is_fast(&pace, now_ns += 10 * MS, emitted));
    assert_false(pace_is_fast(&pace, now_ns + 1000, emitted + enough)); /* too early to decide */
    assert_true(pace_is_fast(&pace, now_ns + 10 * MS, emitted + 2 * enough));
}

static void more_runnable_threads_than_cpus_is_overload(void **state)
{
    (void)state;
    assert_false(cpu_overload_parse("0.20 0.18 0.12 1/80 11206\n", 1));
    assert_false(cpu_overload_parse("68.07 24.79 10.09 2/615 3200\n", 2));
    assert_true(cpu_overload_parse("0.00 0.00 0.00 3/615 3200\n", 2));
    assert_true(cpu_overload_parse("68.07 24.79 10.09 120/615 3200\n", 64));
    assert_false(cpu_overload_parse("", 2));
    assert_false(cpu_overload_parse("many", 2));
    assert_false(cpu_overload_parse("0.20 0.18 0.12", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_that_since_the_last_look),
        cmocka_unit_test(more_runnable_threads_than_cpus_is_overload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
