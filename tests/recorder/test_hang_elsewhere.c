/* Doubts about loops that wait in another place than usually, with a simulated system and clock. */
#include "hang_scene.h"

/* It takes all input, so that only an answer through the display server can be missing. */
static struct backend_poller elsewhere_since(uint64_t usual_ns)
{
    return (struct backend_poller){.tid = 10,
                                   .pid = 10,
                                   .returned_ns = usual_ns,
                                   .seen_ns = usual_ns,
                                   .returns = 100,
                                   .rested_ns = 5000 * MS,
                                   .usual_ns = usual_ns - 300 * MS,
                                   .elsewhere = 400,
                                   .polling = true};
}

static void expect_doubt(struct hang_watch *watch, uint64_t start_ns, uint64_t duration_ns)
{
    struct reply_hang hang;
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.start_ns, start_ns);
    assert_int_equal(hang.duration_ns, duration_ns);
}

static void expect_nothing(struct hang_watch *watch)
{
    struct reply_hang hang;
    assert_false(hang_watch_next(watch, &hang));
    assert_int_equal(hang_watch_seen(watch), 0);
    assert_int_equal(hang_watch_doubts(watch), 0);
}

/* The thread need not be back where it usually is. */
static void unread_data_is_doubtful(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    display_unread = true;
    look_between(*state, &loop, 1, 1200 * MS, 4000 * MS);
    display_unread = false;
    look_between(*state, &loop, 1, 4200 * MS, 5200 * MS);
    expect_doubt(*state, 1200 * MS, 3000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
}

/* A dialog is open for an hour before data is unread, for a moment or for long. */
static void only_unread_time_counts(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    const uint64_t hour = 3600000 * MS;
    look_between(*state, &loop, 1, 1200 * MS, hour);
    display_unread = true;
    look_between(*state, &loop, 1, hour + 200 * MS, hour + 1200 * MS);
    display_unread = false;
    look_between(*state, &loop, 1, hour + 1400 * MS, hour + 9000 * MS);
    expect_nothing(*state);
    display_unread = true;
    look_between(*state, &loop, 1, hour + 10000 * MS, hour + 13000 * MS);
    loop.usual_ns = 0; /* it is back */
    look_between(*state, &loop, 1, hour + 13200 * MS, hour + 14200 * MS);
    expect_doubt(*state, hour + 10000 * MS, 3200 * MS);
}

/* The server sends much, and the clients read it. */
static void every_look_must_find_unread_data(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    for (uint64_t now = 1200; now < 60000; now += 200) {
        display_unread = now % 1800;
        assert_true(hang_watch_look(*state, &loop, 1, now * MS));
    }
    expect_nothing(*state);
}

/* A handler runs for a moment, and then for longer. */
static void a_moment_in_a_handler(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    display_unread = true;
    for (uint64_t now = 1200; now <= 3600; now += 200) {
        loop.polling = now != 2000;
        assert_true(hang_watch_look(*state, &loop, 1, now * MS));
    }
    loop.polling = false;
    loop.returned_ns = 3700 * MS;
    look_between(*state, &loop, 1, 3800 * MS, 4600 * MS);
    expect_doubt(*state, 1200 * MS, 2600 * MS);
}

/* Other threads, and programs without windows, cost nothing. */
static void who_is_asked_how_often(void **state)
{
    const struct {
        uint32_t tid;
        bool windowless, unread;
        uint32_t least, most;
    } cases[] = {
        {11, false, true, 0, 0},
        {10, true, true, 0, 0},
        {10, false, false, 15, 17}, /* each look just after it left, then once a second */
        {10, false, true, 50, 70},  /* each look until it is reported, then once a second */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct hang_watch *watch = hang_watch_create(THRESHOLD, "", &system_of_test);
        struct backend_poller loop = elsewhere_since(1000 * MS);
        loop.tid = cases[i].tid;
        windowless = cases[i].windowless;
        display_unread = cases[i].unread;
        display_asked = 0;
        look_between(watch, &loop, 1, 1200 * MS, i < 3 ? 11200 * MS : 21200 * MS);
        assert_in_range(display_asked, cases[i].least, cases[i].most);
        assert_int_equal(hang_watch_seen(watch), 0);
        hang_watch_destroy(watch);
    }
}

/* In each turn it waits in two places. */
static void who_comes_back_is_not_asked(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    display_unread = true;
    for (uint64_t now = 1200; now < 9000; now += 200) {
        loop.usual_ns = (now - 100) * MS;
        assert_true(hang_watch_look(*state, &loop, 1, now * MS));
    }
    assert_int_equal(display_asked, 0);
    expect_nothing(*state);
}

/* Another place, where it waits for something else, is asked about at once. */
static void a_new_place_is_asked_about(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    look_between(*state, &loop, 1, 1200 * MS, 1200 * MS);
    display_unread = true;
    loop.elsewhere = 800;
    look_between(*state, &loop, 1, 1400 * MS, 3400 * MS);
    loop.usual_ns = 0;
    look_between(*state, &loop, 1, 3600 * MS, 4600 * MS);
    expect_doubt(*state, 1400 * MS, 2200 * MS);
}

/* A hang after such a doubt has its own beginning, and a doubt after a hang, too. */
static void hangs_and_doubts_are_apart(void **state)
{
    struct reply_hang hang;
    struct backend_poller loop = elsewhere_since(1000 * MS);
    display_unread = true;
    look_between(*state, &loop, 1, 1200 * MS, 4000 * MS);
    loop.polling = false;
    loop.returned_ns = 4100 * MS;
    look_between(*state, &loop, 1, 4200 * MS, 8000 * MS);
    expect_doubt(*state, 1200 * MS, 3000 * MS);
    loop.polling = true;
    loop.usual_ns = 7900 * MS;
    look_between(*state, &loop, 1, 8200 * MS, 11000 * MS);
    assert_true(hang_watch_next(*state, &hang));
    assert_int_equal(hang.doubt, 0);
    assert_int_equal(hang.start_ns, 4100 * MS);
    assert_int_equal(hang.duration_ns, 4100 * MS);
    loop.usual_ns = 0;
    look_between(*state, &loop, 1, 11200 * MS, 12200 * MS);
    expect_doubt(*state, 8200 * MS, 3000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* A main thread with windows that has not reached its loop, and takes no input, is a hang. */
static void a_call_while_it_starts_is_no_doubt(void **state)
{
    struct backend_poller loop = elsewhere_since(1000 * MS);
    loop.rested_ns = 3 * MS;
    loop.loop_set = (struct poll_set){.object = DISPLAY + 1, .kind = POLL_SET_ARRAY};
    look_between(*state, &loop, 1, 1200 * MS, 3200 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
    assert_int_equal(hang_watch_doubts(*state), 0);
}

/* Doubts about one place have one number, wherever the stack is. */
static void places_have_numbers(void **state)
{
    const uint64_t places[] = {400, 800, 400};
    uint64_t numbers[3] = {0};
    struct reply_hang hang;
    display_unread = true;
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t start = (1 + 10 * i) * 1000 * MS;
        struct backend_poller loop = elsewhere_since(start);
        loop.elsewhere = places[i];
        look_between(*state, &loop, 1, start + 200 * MS, start + 3000 * MS);
        look_between(*state, &loop, 0, start + 3200 * MS, start + 5000 * MS);
        assert_true(hang_watch_next(*state, &hang));
        numbers[i] = hang.doubt;
    }
    assert_int_equal(numbers[0], numbers[2]);
    assert_int_not_equal(numbers[0], numbers[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(unread_data_is_doubtful),
        WATCH_TEST(only_unread_time_counts),
        WATCH_TEST(every_look_must_find_unread_data),
        WATCH_TEST(a_moment_in_a_handler),
        WATCH_TEST(who_is_asked_how_often),
        WATCH_TEST(a_new_place_is_asked_about),
        WATCH_TEST(hangs_and_doubts_are_apart),
        WATCH_TEST(a_call_while_it_starts_is_no_doubt),
        WATCH_TEST(who_comes_back_is_not_asked),
        WATCH_TEST(places_have_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
