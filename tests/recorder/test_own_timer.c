/* The function behind perf_event's cpu clock, found by its tracepoint, is the one in
 * /proc/kallsyms. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "linux/kallsyms.h"
#include "linux/perf/own_timer.h"
#include "linux/tracefs.h"

static void test_the_same_as_by_name(void **state)
{
    (void)state;
    int tracefs = -1;
    uint64_t expected = geteuid() == 0 ? kallsyms_find("perf_swevent_hrtimer") : 0;
    struct argus_error *error = expected ? tracefs_open(&tracefs) : NULL;
    if (!expected || error) {
        argus_error_destroy(error);
        skip();
    }
    char *format = tracefs_format(tracefs, "timer", "hrtimer_start");
    close(tracefs);
    struct event_field function;
    assert_non_null(format);
    assert_true(event_format_find(format, "function", &function));
    for (int i = 0; i < 20; i++)
        assert_int_equal(own_timer_function(event_format_id(format), &function), expected);
    free(format);
}

static void test_another_tracepoint(void **state)
{
    (void)state;
    struct event_field function = {.offset = 16, .bytes = 8};
    assert_int_equal(own_timer_function(UINT32_MAX, &function), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_as_by_name),
        cmocka_unit_test(test_another_tracepoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
