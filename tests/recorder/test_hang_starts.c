/* Which programs waited for too long while they started, with a simulated system and clock. */
#include "hang_scene.h"

/* A program that waits for a service before it opens its window. */
static void a_late_start_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = {.tid = 10,
                                  .pid = 10,
                                  .returns = 1,
                                  .polling = true,
                                  .returned_ns = 6000 * MS,
                                  .seen_ns = 6000 * MS,
                                  .first_ns = 6000 * MS};
    sight.started_ns = 1000 * MS;
    look_between(watch, &loop, 0, 500 * MS, 5900 * MS);
    windowless = true;
    look_between(watch, &loop, 1, 6100 * MS, 6500 * MS);
    assert_false(hang_watch_next(watch, &hang));
    windowless = false;
    look_between(watch, &loop, 1, 6600 * MS, 20000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.start_ns, 1000 * MS);
    assert_int_equal(hang.duration_ns, 5600 * MS);
    assert_false(hang_watch_next(watch, &hang));
}

/* A program that has its display, and waits before its main thread first rests in its loop. */
static void who_waits_before_the_first_rest_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = {
        .tid = 10, .pid = 10, .returns = 2, .returned_ns = 1100 * MS, .first_ns = 1100 * MS};
    loop.loop_set = (struct poll_set){.kind = POLL_SET_ARRAY, .object = DISPLAY};
    sight.started_ns = 1000 * MS;
    look_between(watch, &loop, 0, 500 * MS, 900 * MS);
    look_between(watch, &loop, 1, 1100 * MS, 5900 * MS);
    loop.polling = true;
    loop.seen_ns = 6000 * MS;
    sight.ran_ns = 1000 * MS;
    look_between(watch, &loop, 1, 6100 * MS, 20000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.start_ns, 1000 * MS);
    assert_int_equal(hang.duration_ns, 5000 * MS);
    assert_int_equal(hang.ended, 1);
    assert_false(hang_watch_next(watch, &hang));
}

/* The same, but it has computed for most of the time. */
static void who_computes_before_the_first_rest_is_none(void **state)
{
    struct hang_watch *watch = *state;
    struct backend_poller loop = {
        .tid = 10, .pid = 10, .returns = 2, .returned_ns = 1100 * MS, .first_ns = 1100 * MS};
    sight.started_ns = 1000 * MS;
    look_between(watch, &loop, 0, 500 * MS, 900 * MS);
    look_between(watch, &loop, 1, 1100 * MS, 5900 * MS);
    loop.polling = true;
    loop.seen_ns = 6000 * MS;
    sight.ran_ns = 3500 * MS;
    look_between(watch, &loop, 1, 6100 * MS, 20000 * MS);
    assert_int_equal(hang_watch_doubts(watch), 0);
}

/* A start that does not end is reported once, like other hangs. */
static void a_start_that_lasts_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = {
        .tid = 10, .pid = 10, .returns = 2, .returned_ns = 1100 * MS, .first_ns = 1100 * MS};
    sight.started_ns = 1000 * MS;
    look_between(watch, &loop, 0, 500 * MS, 900 * MS);
    look_between(watch, &loop, 1, 1100 * MS, 30000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.ended, 0);
    assert_int_equal(hang.start_ns, 1000 * MS);
    assert_false(hang_watch_next(watch, &hang));
}

/* One look each 200 ms at a loop that comes back every 90 ms; every third finds it in its poll. */
static void turn_between(struct hang_watch *watch, struct backend_poller *loop, uint64_t from_ns,
                         uint64_t to_ns)
{
    for (uint64_t now_ns = from_ns; now_ns <= to_ns; now_ns += 200 * MS) {
        loop->returns += 2;
        loop->returned_ns = loop->seen_ns = now_ns - 50 * MS;
        loop->polling = now_ns / MS % 3 == 0;
        assert_true(hang_watch_look(watch, loop, 1, now_ns));
    }
}

/* A program with an animation never rests, and its start is over all the same. */
static void a_loop_that_never_rests_is_reached(void **state)
{
    struct hang_watch *watch = *state;
    struct backend_poller loop = {.tid = 10, .pid = 10, .first_ns = 1100 * MS};
    loop.loop_set = (struct poll_set){.kind = POLL_SET_ARRAY, .object = DISPLAY};
    sight.started_ns = 1000 * MS;
    look_between(watch, &loop, 0, 500 * MS, 900 * MS);
    turn_between(watch, &loop, 1100 * MS, 60000 * MS);
    assert_int_equal(hang_watch_doubts(watch), 0);
}

/* The same loop, reached only after a wait. */
static void a_late_loop_that_never_rests_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = {
        .tid = 10, .pid = 10, .returns = 2, .returned_ns = 1100 * MS, .first_ns = 1100 * MS};
    loop.loop_set = (struct poll_set){.kind = POLL_SET_ARRAY, .object = DISPLAY};
    sight.started_ns = 1000 * MS;
    look_between(watch, &loop, 0, 500 * MS, 900 * MS);
    look_between(watch, &loop, 1, 1100 * MS, 5900 * MS);
    turn_between(watch, &loop, 6000 * MS, 30000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.duration_ns, 5000 * MS);
    assert_int_equal(hang.ended, 1);
    assert_false(hang_watch_next(watch, &hang));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_late_start_is_doubtful),
        WATCH_TEST(who_waits_before_the_first_rest_is_doubtful),
        WATCH_TEST(who_computes_before_the_first_rest_is_none),
        WATCH_TEST(a_start_that_lasts_is_doubtful),
        WATCH_TEST(a_loop_that_never_rests_is_reached),
        WATCH_TEST(a_late_loop_that_never_rests_is_doubtful),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
