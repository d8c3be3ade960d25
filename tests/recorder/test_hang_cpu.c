/* Threads that were woken in their loop's poll and get no CPU; the system and the clock are
 * simulated. */
#include "hang_scene.h"

/* The loop's poll was ended by input, but the thread does not come back from it. */
static void who_is_woken_and_gets_no_cpu_hangs(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 100 * MS);
    loop.polling = true;
    loop.inner = 3; /* in handlers of the last turn */
    loop.seen_ns = 200 * MS;
    loop.woken_ns = 190 * MS; /* for that turn */
    sight.wants_cpu = true;   /* as seen from a look in the moment of the wake-up */
    look_between(watch, &loop, 1, 1000 * MS, 9000 * MS);
    loop.woken_ns = 9000 * MS;
    sight.wants_cpu = false; /* it found nothing, and waits again */
    look_between(watch, &loop, 1, 9200 * MS, 14000 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    loop.woken_ns = 14000 * MS;
    sight.wants_cpu = true;
    look_between(watch, &loop, 1, 14200 * MS, 15999 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    look_between(watch, &loop, 1, 16000 * MS, 17000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
    loop.returned_ns = loop.seen_ns = 17000 * MS;
    loop.inner = 0;
    sight.wants_cpu = false;
    look_between(watch, &loop, 1, 17200 * MS, 19000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.start_ns, 14000 * MS);
    assert_int_equal(hang.duration_ns, 3200 * MS);
    assert_int_equal(hang.ended, 1);
    assert_int_equal(hang.doubt, 0);
    assert_false(hang_watch_next(watch, &hang));
}

/* It gets a cpu at last, and computes on: that is one hang. */
static void who_computes_after_a_wait_for_a_cpu_hangs_once(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 900 * MS);
    loop.polling = true;
    loop.seen_ns = 950 * MS;
    loop.woken_ns = 1000 * MS;
    sight.wants_cpu = true;
    look_between(watch, &loop, 1, 1000 * MS, 2400 * MS);
    loop.polling = false;
    loop.returned_ns = 2500 * MS;
    look_between(watch, &loop, 1, 2600 * MS, 6000 * MS);
    loop.polling = true;
    loop.seen_ns = 6100 * MS;
    sight.wants_cpu = false;
    look_between(watch, &loop, 1, 6200 * MS, 8000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
    assert_true(hang_watch_next(watch, &hang));
    assert_false(hang_watch_next(watch, &hang));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(who_is_woken_and_gets_no_cpu_hangs),
        WATCH_TEST(who_computes_after_a_wait_for_a_cpu_hangs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
