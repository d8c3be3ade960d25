/* Doubts about main threads that are not at home, with a simulated system and clock. */
#include "hang_scene.h"

#define HOME   ((struct proc_place){.number = 232, .sp = 0x9000})
#define NESTED ((struct proc_place){.number = 232, .sp = 0x7000})
#define DEEPER ((struct proc_place){.number = 232, .sp = 0x5000})

/* It takes all input wherever it is. */
static struct backend_poller loop = {.tid = 10, .pid = 10, .returns = 100, .polling = true};

static void stay(struct hang_watch *watch, struct proc_place at, uint64_t from, uint64_t to)
{
    place_now = at;
    look_between(watch, &loop, 1, from, to);
}

static void poll_fds(uint32_t count)
{
    loop.handler_set = (struct poll_set){.kind = POLL_SET_BITS, .count = 1};
    loop.handler_set.words[0] = (1ull << count) - 1;
}

static void expect_doubt(struct hang_watch *watch, uint64_t start_ns, uint64_t end_ns, bool ended)
{
    struct reply_hang hang;
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.start_ns, start_ns);
    assert_int_equal(hang.duration_ns, end_ns - start_ns);
    assert_int_equal(hang.ended, ended);
    assert_int_equal(hang_watch_seen(watch), 0);
    assert_false(hang_watch_next(watch, &hang));
}

static void expect_nothing(struct hang_watch *watch)
{
    struct reply_hang hang;
    assert_false(hang_watch_next(watch, &hang));
    assert_int_equal(hang_watch_doubts(watch), 0);
}

/* An editor in a terminal waits for a command in a nested loop of the same epoll set. */
static void a_command_is_awaited(void **state)
{
    windowless = true;
    sight.in_foreground = true;
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    command_ns = 3100 * MS;
    stay(*state, NESTED, 3200 * MS, 6000 * MS);
    command_ns = 0;
    stay(*state, HOME, 6200 * MS, 8000 * MS);
    expect_doubt(*state, 3100 * MS, 6000 * MS, true);
}

/* Who is neither seen nor typed at. */
static void a_service_is_not_watched(void **state)
{
    windowless = true;
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    command_ns = 3100 * MS;
    stay(*state, NESTED, 3200 * MS, 6000 * MS);
    stay(*state, HOME, 6200 * MS, 8000 * MS);
    expect_nothing(*state);
}

/* At home it may have commands that run for an hour; a dialog is open meanwhile, too. */
static void a_command_of_before_is_not_awaited(void **state)
{
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    command_ns = 2000 * MS;
    stay(*state, NESTED, 3200 * MS, 9000 * MS);
    stay(*state, HOME, 9200 * MS, 12000 * MS);
    expect_nothing(*state);
}

/* It waits for a new connection; then it goes on to another place, still not at home. */
static void a_new_connection_is_awaited(void **state)
{
    poll_fds(4);
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    poll_fds(5);
    stay(*state, NESTED, 3200 * MS, 6000 * MS);
    stay(*state, DEEPER, 6200 * MS, 20000 * MS);
    expect_doubt(*state, 3200 * MS, 6000 * MS, true);
}

/* A dialog polls what the loop does. */
static void no_connection_is_new(void **state)
{
    poll_fds(4);
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    stay(*state, NESTED, 3200 * MS, 60000 * MS);
    expect_nothing(*state);
}

/* A connection of a moment. */
static void a_short_wait_is_no_hang(void **state)
{
    poll_fds(4);
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    poll_fds(5);
    stay(*state, NESTED, 3200 * MS, 4800 * MS);
    poll_fds(4);
    stay(*state, HOME, 5000 * MS, 9000 * MS);
    expect_nothing(*state);
}

/* What goes on is reported once. */
static void a_long_wait_is_reported_before_its_end(void **state)
{
    struct reply_hang hang;
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    command_ns = 3200 * MS;
    stay(*state, NESTED, 3200 * MS, 15200 * MS);
    expect_doubt(*state, 3200 * MS, 15200 * MS, false);
    stay(*state, NESTED, 15400 * MS, 40000 * MS);
    stay(*state, HOME, 40200 * MS, 42000 * MS);
    assert_false(hang_watch_next(*state, &hang));
}

/* The first waits of a program that has just been started are not at home. */
static void a_start_is_no_home(void **state)
{
    windowless = true;
    stay(*state, HOME, 500 * MS, 500 * MS);
    windowless = false;
    sight.started_ns = 900 * MS;
    poll_fds(4);
    stay(*state, NESTED, 1000 * MS, 3000 * MS);
    poll_fds(5);
    stay(*state, HOME, 3200 * MS, 20000 * MS);
    expect_nothing(*state);
}

/* A stopped program, and a shell that has given its terminal to the command. */
static void what_is_excused_does_not_count(void **state)
{
    stay(*state, HOME, 1000 * MS, 3000 * MS);
    command_ns = 3100 * MS;
    sight.excused = true;
    stay(*state, NESTED, 3200 * MS, 9000 * MS);
    sight.excused = false;
    stay(*state, HOME, 9200 * MS, 12000 * MS);
    expect_nothing(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_command_is_awaited),
        WATCH_TEST(a_service_is_not_watched),
        WATCH_TEST(a_command_of_before_is_not_awaited),
        WATCH_TEST(a_new_connection_is_awaited),
        WATCH_TEST(no_connection_is_new),
        WATCH_TEST(a_short_wait_is_no_hang),
        WATCH_TEST(a_long_wait_is_reported_before_its_end),
        WATCH_TEST(a_start_is_no_home),
        WATCH_TEST(what_is_excused_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
