/* Which absences count as a hang, with a simulated system and clock. */
#include "hang_scene.h"

static void a_hang_is_reported_when_it_ends(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 1000 * MS);
    look_between(watch, &loop, 1, 1000 * MS, 2999 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    look_between(watch, &loop, 1, 3000 * MS, 4000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
    assert_false(hang_watch_next(watch, &hang));
    loop.polling = true;
    look_between(watch, &loop, 1, 4200 * MS, 5000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_string_equal(hang.process, "editor");
    assert_int_equal(hang.start_ns, 1000 * MS);
    assert_int_equal(hang.duration_ns, 3200 * MS);
    assert_int_equal(hang.ended, 1);
    assert_false(hang_watch_next(watch, &hang));
    look_between(watch, &loop, 1, 5000 * MS, 50000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
}

static void a_hang_that_lasts_is_reported_once(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 1000 * MS);
    look_between(watch, &loop, 1, 1000 * MS, 12800 * MS);
    assert_false(hang_watch_next(watch, &hang));
    look_between(watch, &loop, 1, 13000 * MS, 14000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.ended, 0);
    loop.polling = true;
    look_between(watch, &loop, 1, 14200 * MS, 60000 * MS);
    assert_false(hang_watch_next(watch, &hang));
    assert_int_equal(hang_watch_seen(watch), 1);
}

/* A handler that calls a service which is stopped, and cannot take input meanwhile. */
static void a_call_that_nobody_takes_is_away(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    loop.returns = 5;
    loop.inner = 1;
    loop.polling_in_handler = true;
    loop.loop_set = (struct poll_set){.object = DISPLAY, .kind = POLL_SET_ARRAY};
    loop.handler_set = (struct poll_set){.object = DISPLAY + 1, .kind = POLL_SET_ARRAY};
    look_between(*state, &loop, 1, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    unread = true;
    loop.returned_ns = 5000 * MS;
    loop.handler_set.object = DISPLAY;
    look_between(*state, &loop, 1, 5200 * MS, 9000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.returned_ns = 9000 * MS;
    loop.handler_set.object = DISPLAY + 1;
    look_between(*state, &loop, 1, 9200 * MS, 11200 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* A poll before the thread has reached its loop. It is none if another thread takes the input, or if
 * the thread has rested: then it is its loop. */
static void a_call_while_it_starts_is_away(void **state)
{
    struct backend_poller start[2] = {away_since(10, 900 * MS), away_since(11, 900 * MS)};
    for (int i = 0; i < 2; i++) {
        start[i].polling = true;
        start[i].seen_ns = 1000 * MS;
        start[i].loop_set =
            (struct poll_set){.object = (uint64_t)(DISPLAY + 1 - i), .kind = POLL_SET_ARRAY};
    }
    look_between(*state, start, 2, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    start[1].loop_set.object = DISPLAY + 1;
    start[0].rested_ns = 300 * MS;
    look_between(*state, start, 2, 5200 * MS, 9000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    start[0].rested_ns = 3 * MS;
    start[1].loop_set.object = TERMINAL;
    look_between(*state, start, 2, 9200 * MS, 12000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    start[1].loop_set.object = DISPLAY + 1;
    start[0].seen_ns = 12000 * MS;
    start[0].returned_ns = 11900 * MS;
    look_between(*state, start, 2, 12200 * MS, 14400 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* It runs its own event loop in between, so its window is drawn. */
static void who_asks_for_a_child_hangs(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    loop.inner = loop.served = 50;
    loop.polling_in_handler = true;
    for (uint64_t now = 1000 * MS; now < 3100 * MS; now += 200 * MS) {
        loop.seen_ns = loop.asked_ns = now - 10 * MS;
        assert_true(hang_watch_look(*state, &loop, 1, now));
    }
    assert_int_equal(hang_watch_seen(*state), 1);
}

static void who_asked_for_a_child_long_ago_is_none(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    loop.inner = loop.served = 50;
    loop.polling_in_handler = true;
    loop.asked_ns = 990 * MS;
    look_between(*state, &loop, 1, 1400 * MS, 60000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
}

static void a_loop_that_comes_back_in_time_is_none(void **state)
{
    struct hang_watch *watch = *state;
    struct backend_poller loop = away_since(10, 1000 * MS);
    for (uint64_t now = 1000; now < 60000; now += 200) {
        if (now % 1800 == 0)
            loop.returned_ns = now * MS;
        assert_true(hang_watch_look(watch, &loop, 1, now * MS));
    }
    assert_int_equal(hang_watch_seen(watch), 0);
}

static void a_thread_that_polled_twice_is_no_loop(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    loop.returns = 2;
    look_between(*state, &loop, 1, 1000 * MS, 60000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
}

static void stopped_time_does_not_count(void **state)
{
    struct hang_watch *watch = *state;
    struct backend_poller loop = away_since(10, 1000 * MS);
    look_between(watch, &loop, 1, 1000 * MS, 2600 * MS);
    sight.excused = true;
    look_between(watch, &loop, 1, 2800 * MS, 20000 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    sight.excused = false;
    look_between(watch, &loop, 1, 20200 * MS,
                 20400 * MS); /* it may have been stopped until 20.2 s */
    assert_int_equal(hang_watch_seen(watch), 0);
    look_between(watch, &loop, 1, 20600 * MS, 20600 * MS); /* 1.6 s before, 0.4 s now */
    assert_int_equal(hang_watch_seen(watch), 1);
}

/* Stopped at the first look: since when is unknown. */
static void stopped_from_the_beginning(void **state)
{
    struct hang_watch *watch = *state;
    struct backend_poller loop = away_since(10, 1000 * MS);
    sight.excused = true;
    look_between(watch, &loop, 1, 2000 * MS, 5000 * MS);
    sight.excused = false;
    look_between(watch, &loop, 1, 5200 * MS, 7000 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    look_between(watch, &loop, 1, 7200 * MS, 7200 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
}

/* The whole machine stopped, or this process got no CPU. */
/* A signal stops it, and then somebody uses its window. A debugger's stop is its user's wish. */
static void who_is_stopped_with_input_hangs(void **state)
{
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 2000 * MS);
    sight.excused = ready = true;
    look_between(*state, &loop, 1, 2000 * MS, 6000 * MS);
    sight.stopped = true;
    ready = false;
    look_between(*state, &loop, 1, 6200 * MS, 9000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    ready = true; /* the time before that does not count */
    look_between(*state, &loop, 1, 9200 * MS, 11000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    look_between(*state, &loop, 1, 11200 * MS, 12000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
    look_between(*state, &loop, 0, 12200 * MS, 14000 * MS);
    assert_true(hang_watch_next(*state, &hang));
    assert_int_equal(hang.doubt, 0);
}

static void time_in_which_nobody_looked_does_not_count(void **state)
{
    struct hang_watch *watch = *state;
    struct backend_poller loop = away_since(10, 1000 * MS);
    look_between(watch, &loop, 1, 1000 * MS, 1800 * MS);
    look_between(watch, &loop, 1, 30000 * MS, 30800 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    look_between(watch, &loop, 1, 31000 * MS, 32000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
}

static void only_the_wanted_process(void **state)
{
    (void)state;
    const char *const names[] = {"editor", "edit"};
    struct backend_poller loop = away_since(10, 1000 * MS);
    for (uint32_t i = 0; i < 2; i++) {
        struct hang_watch *watch = hang_watch_create(THRESHOLD, names[i], &system_of_test);
        look_between(watch, &loop, 1, 1000 * MS, 5000 * MS);
        assert_int_equal(hang_watch_seen(watch), 1 - i);
        hang_watch_destroy(watch);
    }
}

static void a_process_that_is_gone_is_none(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    gone = true;
    look_between(*state, &loop, 1, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
}

/* Polls of a loop that looks at descriptors 3 and 5. */
static struct backend_poller inside_since(uint64_t returned_ns)
{
    struct backend_poller loop = away_since(10, returned_ns);
    loop.inner = 30;
    loop.polling_in_handler = true;
    loop.loop_set = (struct poll_set){
        .kind = POLL_SET_ARRAY, .count = 2, .words = {3 | 1ull << 32, 5 | 1ull << 32}};
    loop.handler_set =
        (struct poll_set){.kind = POLL_SET_ARRAY, .count = 1, .words = {9 | 1ull << 32}};
    return loop;
}

static void a_handler_that_polls_is_away(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    look_between(*state, &loop, 1, 1000 * MS, 3000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

static void a_nested_loop_is_none(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    loop.handler_set = loop.loop_set;
    ready = true;
    look_between(*state, &loop, 1, 1000 * MS, 60000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.handler_set.kind = POLL_SET_BITS;
    loop.handler_set.count = 1;
    loop.handler_set.words[0] = 1 << 3 | 1 << 5 | 1 << 7;
    look_between(*state, &loop, 1, 60200 * MS, 90000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
}

/* A viewer in a terminal leaves its shell's output for later. */
static void a_poll_that_takes_keys_is_none(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    loop.handler_set.object = TERMINAL;
    ready = true;
    look_between(*state, &loop, 1, 1000 * MS, 60000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.handler_set.object = 0;
    look_between(*state, &loop, 1, 60200 * MS, 63000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* With the terminal it polls a socket, whose peer has not read the request. */
static void a_call_that_takes_keys_meanwhile_is_away(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    loop.inner = 1;
    loop.handler_set.object = TERMINAL;
    look_between(*state, &loop, 1, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.returned_ns = 5000 * MS;
    untaken = true;
    look_between(*state, &loop, 1, 5200 * MS, 7200 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* What seems to be the loop only looks at something else, now and then. */
static void a_poll_that_takes_the_display_is_none(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    loop.handler_set.object = DISPLAY;
    ready = true;
    look_between(*state, &loop, 1, 1000 * MS, 60000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.loop_set.object = DISPLAY; /* the handler only waits for a reply of the server */
    look_between(*state, &loop, 1, 60200 * MS, 63000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* FLTK's window has events that nobody reads while a dialog of GTK is open, which has its own connection. */
static void a_dialog_of_another_toolkit_is_none(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    loop.loop_set.object = loop.handler_set.object = DISPLAY;
    loop.served = 3;
    ready = true;
    look_between(*state, &loop, 1, 1000 * MS, 60000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.handler_set.words[0] = loop.loop_set.words[0]; /* only one of the loop's own */
    look_between(*state, &loop, 1, 60200 * MS, 63000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* It had polls in a handler that found input, like a nested loop, and then does not poll any more.
 * */
static void a_nested_loop_that_stays_away_is_one(void **state)
{
    struct backend_poller loop = inside_since(1000 * MS);
    loop.served = 10;
    look_between(*state, &loop, 1, 1000 * MS, 10000 * MS); /* still in its poll */
    assert_int_equal(hang_watch_seen(*state), 0);
    loop.polling_in_handler = false;
    loop.seen_ns = 10000 * MS;
    look_between(*state, &loop, 1, 10200 * MS, 11800 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    look_between(*state, &loop, 1, 12000 * MS, 13000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

/* It serves another client meanwhile, or is not the main thread. */
static void another_loop_is_one_while_input_lies_there(void **state)
{
    struct backend_poller loops[2] = {inside_since(1000 * MS), inside_since(1000 * MS)};
    loops[0].served = 3;
    loops[1].tid = 11;
    for (int i = 0; i < 2; i++) {
        struct hang_watch *watch = hang_watch_create(THRESHOLD, "", &system_of_test);
        ready = false;
        look_between(watch, &loops[i], 1, 1000 * MS, 20000 * MS);
        assert_int_equal(hang_watch_seen(watch), 0);
        ready = true;
        look_between(watch, &loops[i], 1, 20200 * MS, 22000 * MS);
        assert_int_equal(hang_watch_seen(watch), 0);
        look_between(watch, &loops[i], 1, 22200 * MS, 22400 * MS);
        assert_int_equal(hang_watch_seen(watch), 1);
        hang_watch_destroy(watch);
    }
    (void)state;
}

/* A shell that runs a command; a thread for which another one polls, or that waits elsewhere; a
 * process without a window. */
static void what_nobody_waits_for_is_none(void **state)
{
    const struct {
        bool at_child, at_futex, windowless;
        uint64_t rested_ns;
        uint32_t seen;
    } cases[] = {
        {true, false, false, 10000 * MS, 0}, {false, true, false, 10 * MS, 0},
        {false, true, false, 10000 * MS, 1}, {false, true, true, 10000 * MS, 0},
        {false, false, true, 10000 * MS, 0}, {false, false, false, 10000 * MS, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct hang_watch *watch = hang_watch_create(THRESHOLD, "", &system_of_test);
        struct backend_poller loop = away_since(10, 1000 * MS);
        loop.rested_ns = cases[i].rested_ns;
        sight = (struct hang_sight){.at_child = cases[i].at_child, .at_futex = cases[i].at_futex};
        windowless = cases[i].windowless;
        ready = typed = false;
        look_between(watch, &loop, 1, 1000 * MS, 20000 * MS);
        assert_int_equal(hang_watch_seen(watch), cases[i].seen);
        ready = true; /* from now on input is pending */
        typed = cases[i].windowless;
        look_between(watch, &loop, 1, 20200 * MS, 22600 * MS);
        assert_int_equal(hang_watch_seen(watch), 1);
        hang_watch_destroy(watch);
    }
    (void)state;
}

/* A program without a window is watched if the user names it. */
/* A process that runs the scripts of a browser's page: whether it is awaited, the analysis decides. */
static void a_helper_with_pending_input_is_doubtful(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    struct reply_hang hang;
    windowless = helping = true;
    look_between(*state, &loop, 1, 1000 * MS, 5000 * MS);
    loop.polling = true;
    look_between(*state, &loop, 1, 5200 * MS, 9000 * MS);
    assert_false(hang_watch_next(*state, &hang));
    loop.polling = false;
    loop.returned_ns = 9000 * MS;
    ready = true;
    look_between(*state, &loop, 1, 9000 * MS, 13000 * MS);
    loop.polling = true;
    look_between(*state, &loop, 1, 13200 * MS, 17000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    assert_true(hang_watch_next(*state, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.start_ns, 9000 * MS);
}

/* A shell of a database, in a terminal that takes lines meanwhile. */
static void typed_keys_are_awaited(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    windowless = true;
    look_between(*state, &loop, 1, 1000 * MS, 2000 * MS);
    loop.typed = true;
    look_between(*state, &loop, 1, 2200 * MS, 4000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
    look_between(*state, &loop, 1, 4200 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(*state), 1);
}

static void a_named_process_needs_no_window(void **state)
{
    (void)state;
    struct hang_watch *watch = hang_watch_create(THRESHOLD, "editor", &system_of_test);
    struct backend_poller loop = away_since(10, 1000 * MS);
    windowless = true;
    look_between(watch, &loop, 1, 1000 * MS, 5000 * MS);
    assert_int_equal(hang_watch_seen(watch), 1);
    hang_watch_destroy(watch);
}

/* It polls for everything that the loop polls for, but only a reply would make it continue; a loop
 * that draws at each frame would continue. */
static void a_nested_wait_for_an_answer_is_away(void **state)
{
    (void)state;
    const uint64_t polls[] = {1, 3, 30};
    for (size_t i = 0; i < sizeof(polls) / sizeof(*polls); i++) {
        struct hang_watch *watch = hang_watch_create(THRESHOLD, "", &system_of_test);
        struct backend_poller loop = inside_since(1000 * MS);
        loop.handler_set = loop.loop_set;
        loop.inner = polls[i];
        loop.served = 2;
        untaken = false;
        look_between(watch, &loop, 1, 1000 * MS, 20000 * MS);
        assert_int_equal(hang_watch_seen(watch), 0);
        untaken = true;
        look_between(watch, &loop, 1, 20200 * MS, 22600 * MS);
        assert_int_equal(hang_watch_seen(watch), polls[i] <= 3);
        hang_watch_destroy(watch);
    }
}

static void a_hang_goes_on_after_a_moment(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 1000 * MS);
    look_between(watch, &loop, 1, 1000 * MS, 4000 * MS);
    loop.returned_ns = 4100 * MS; /* it polled, and left at once */
    look_between(watch, &loop, 1, 4200 * MS, 7000 * MS);
    assert_false(hang_watch_next(watch, &hang));
    loop.polling = true;
    look_between(watch, &loop, 1, 7200 * MS, 8200 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.start_ns, 1000 * MS);
    assert_int_equal(hang.duration_ns, 6200 * MS);
    assert_false(hang_watch_next(watch, &hang));
}

static void a_hang_is_over_after_a_rest(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = away_since(10, 1000 * MS);
    look_between(watch, &loop, 1, 1000 * MS, 4000 * MS);
    loop.returned_ns = 4500 * MS;
    look_between(watch, &loop, 1, 4600 * MS, 8000 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_equal(hang.start_ns, 1000 * MS);
    assert_false(hang_watch_next(watch, &hang));
    assert_int_equal(hang_watch_seen(watch), 2);
}

/* Only the analysis can tell. */
static void a_nested_loop_is_doubtful(void **state)
{
    struct hang_watch *watch = *state;
    struct reply_hang hang;
    struct backend_poller loop = inside_since(1000 * MS);
    loop.handler_set = loop.loop_set;
    look_between(watch, &loop, 1, 1000 * MS, 4000 * MS);
    loop.polling = true;
    look_between(watch, &loop, 1, 4200 * MS, 5200 * MS);
    assert_true(hang_watch_next(watch, &hang));
    assert_int_not_equal(hang.doubt, 0);
    assert_int_equal(hang.duration_ns, 3200 * MS);
    assert_int_equal(hang_watch_seen(watch), 0);
    assert_int_equal(hang_watch_doubts(watch), 1);
}

static void who_is_left_out_is_none(void **state)
{
    struct backend_poller loop = away_since(10, 1000 * MS);
    hang_watch_leave_out(*state, loop.pid);
    look_between(*state, &loop, 1, 1000 * MS, 20000 * MS);
    assert_int_equal(hang_watch_seen(*state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WATCH_TEST(a_hang_is_reported_when_it_ends),
        WATCH_TEST(a_hang_that_lasts_is_reported_once),
        WATCH_TEST(who_asks_for_a_child_hangs),
        WATCH_TEST(who_asked_for_a_child_long_ago_is_none),
        WATCH_TEST(a_loop_that_comes_back_in_time_is_none),
        WATCH_TEST(a_thread_that_polled_twice_is_no_loop),
        WATCH_TEST(stopped_time_does_not_count),
        WATCH_TEST(stopped_from_the_beginning),
        WATCH_TEST(who_is_stopped_with_input_hangs),
        WATCH_TEST(time_in_which_nobody_looked_does_not_count),
        WATCH_TEST(only_the_wanted_process),
        WATCH_TEST(a_process_that_is_gone_is_none),
        WATCH_TEST(a_handler_that_polls_is_away),
        WATCH_TEST(a_nested_loop_is_none),
        WATCH_TEST(a_poll_that_takes_keys_is_none),
        WATCH_TEST(a_call_that_takes_keys_meanwhile_is_away),
        WATCH_TEST(a_poll_that_takes_the_display_is_none),
        WATCH_TEST(a_dialog_of_another_toolkit_is_none),
        WATCH_TEST(a_nested_loop_that_stays_away_is_one),
        WATCH_TEST(another_loop_is_one_while_input_lies_there),
        WATCH_TEST(what_nobody_waits_for_is_none),
        WATCH_TEST(a_helper_with_pending_input_is_doubtful),
        WATCH_TEST(typed_keys_are_awaited),
        WATCH_TEST(a_named_process_needs_no_window),
        WATCH_TEST(a_nested_wait_for_an_answer_is_away),
        WATCH_TEST(a_call_that_nobody_takes_is_away),
        WATCH_TEST(a_call_while_it_starts_is_away),
        WATCH_TEST(a_hang_goes_on_after_a_moment),
        WATCH_TEST(a_hang_is_over_after_a_rest),
        WATCH_TEST(a_nested_loop_is_doubtful),
        WATCH_TEST(who_is_left_out_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
