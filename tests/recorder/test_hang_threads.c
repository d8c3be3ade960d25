/* Which of a process's threads hangs; the system and the clock are simulated. */
#include "hang_scene.h"

static void one_of_a_process_at_a_time(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loops[2] = {away_since(10, 1000 * MS), away_since(11, 1100 * MS)};
    look_between(watch, loops, 2, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
    loops[1].pid = 20;
    struct hang_watch *other = hang_watch_create(THRESHOLD, "", &system_of_test);
    look_between(other, loops, 2, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(other), 2);
    hang_watch_destroy(other);
    look_between(watch, loops, 0, 5200 * MS, 6200 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_false(hang_watch_next(watch, &hang));
}

/* A worker that seemed to hang first. */
static void a_main_thread_hangs_beside_a_worker(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loops[2] = {away_since(11, 1000 * MS), away_since(10, 1100 * MS)};
    loops[0].pid = loops[1].pid = 10;
    look_between(watch, loops, 2, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(watch), 2);
    look_between(watch, loops, 0, 5200 * MS, 6200 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.tid, 11);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.tid, 10);
}

/* A worker of a pool, after a task for which it polled. */
static void a_worker_at_a_futex_is_awaited_with_input_only(void **state)
{
    struct backend_poller loop = away_since(11, 1000 * MS);
    loop.pid = 10;
    loop.rested_ns = 1000 * MS;
    sight.at_futex = true;
    look_between(*state, &loop, 1, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    ready = true;
    look_between(*state, &loop, 1, 5200 * MS, 8000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

static void a_loop_at_a_condition_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 1000 * MS);
    loop.waits_for_condition = true;
    loop.rested_ns = 1000 * MS;
    sight.at_futex = windowless = true;
    look_between(watch, &loop, 1, 1000 * MS, 4000 * MS);
    look_between(watch, &loop, 0, 4200 * MS, 5200 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.ended, 1);
}

/* In Tcl, a handler waits for a command. What is pending is not known. */
static void a_loop_at_a_condition_waits_for_a_child(void **state)
{
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 1000 * MS);
    loop.waits_for_condition = true;
    sight.at_child = true;
    ready = false;
    look_between(*state, &loop, 1, 1000 * MS, 4000 * MS);
    look_between(*state, &loop, 0, 4200 * MS, 5200 * MS);
    assert_true(hang_watch_next(*state, &hang));
    assert_int_not_equal(hang.doubt, 0);
}

/* It need not be the main thread. Where it waits tells one doubt from another. */
static void a_queue_at_a_condition_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hangs[2];
    struct backend_poller queue = away_since(10, 1000 * MS);
    queue.tid = queue.pid + 1;
    queue.waits_for_condition = true;
    queue.rested_ns = 1000 * MS;
    queue.handler_set.count = 2;
    for (int i = 0; i < 2; i++) {
        queue.handler_set.words[1] = (uint64_t)i;
        queue.returned_ns = (uint64_t)(1 + 10 * i) * 1000 * MS;
        look_between(watch, &queue, 1, queue.returned_ns, queue.returned_ns + 3000 * MS);
        look_between(watch, &queue, 0, queue.returned_ns + 3200 * MS,
                     queue.returned_ns + 5000 * MS);
        assert_true(hang_watch_next(watch, &hangs[i]));
        assert_int_equal(hangs[i].tid, queue.tid);
    }
    assert_int_not_equal(hangs[0].doubt, 0);
    assert_int_not_equal(hangs[0].doubt, hangs[1].doubt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(one_of_a_process_at_a_time),
        WATCH_TEST(a_main_thread_hangs_beside_a_worker),
        WATCH_TEST(a_worker_at_a_futex_is_awaited_with_input_only),
        WATCH_TEST(a_loop_at_a_condition_is_doubtful),
        WATCH_TEST(a_queue_at_a_condition_is_doubtful),
        WATCH_TEST(a_loop_at_a_condition_waits_for_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
