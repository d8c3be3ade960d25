/* A simulated system and clock for the tests of hang_watch.h. Each test may change what the system
 * answers; set_up() resets that. */
#ifndef ARGUS_TESTS_RECORDER_HANG_SCENE_H
#define ARGUS_TESTS_RECORDER_HANG_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/server/hang_watch.h"

#define MS        1000000ull
#define THRESHOLD (2000 * MS)

static bool gone, ready, untaken, windowless, helping, unread, typed, display_unread;
static uint32_t display_asked;
static struct hang_sight sight;

static bool look(uint32_t pid, uint32_t tid, struct hang_sight *ret)
{
    (void)pid;
    (void)tid;
    *ret = sight;
    memcpy(ret->process, "editor", sizeof("editor"));
    return !gone;
}

static bool is_ready(const struct poll_set *set, uint32_t pid)
{
    (void)set;
    (void)pid;
    return ready;
}

static bool is_untaken(const struct poll_set *set, uint32_t pid)
{
    (void)set;
    (void)pid;
    return untaken;
}

static bool has_window(uint32_t pid)
{
    (void)pid;
    return !windowless;
}

static bool works_for_windows(uint32_t pid)
{
    (void)pid;
    return helping;
}

static bool has_typed(uint32_t pid)
{
    (void)pid;
    return typed;
}

/* The sets with this object have the display. */
#define DISPLAY 7

static bool has_display(const struct poll_set *set, uint32_t pid)
{
    (void)pid;
    return set->object == DISPLAY;
}

static bool has_untaken(uint32_t pid)
{
    (void)pid;
    return unread;
}

static bool display_has_unread(uint32_t pid)
{
    (void)pid;
    display_asked++;
    return display_unread;
}

/* The sets with this object have a terminal. */
#define TERMINAL 77

static bool has_terminal(const struct poll_set *set, uint32_t pid)
{
    (void)pid;
    return set->object == TERMINAL;
}

/* Where main threads are; 0: they run. */
static struct proc_place place_now;

static bool place(uint32_t pid, uint32_t tid, struct proc_place *ret)
{
    (void)pid, (void)tid;
    *ret = place_now;
    return place_now.sp;
}

static uint64_t command_ns; /* when a command was started that lives; 0: none */

static uint64_t command_since(uint32_t pid, uint64_t since_ns)
{
    (void)pid;
    return command_ns >= since_ns ? command_ns : 0;
}

static const struct hang_system system_of_test = {.look = look,
                                                  .is_ready = is_ready,
                                                  .is_untaken = is_untaken,
                                                  .has_window = has_window,
                                                  .works_for_windows = works_for_windows,
                                                  .has_typed = has_typed,
                                                  .has_display = has_display,
                                                  .has_terminal = has_terminal,
                                                  .has_untaken = has_untaken,
                                                  .display_has_untaken = display_has_unread,
                                                  .place = place,
                                                  .command_since = command_since};

static int set_up(void **state)
{
    gone = ready = untaken = windowless = helping = unread = typed = display_unread = false;
    display_asked = 0;
    place_now = (struct proc_place){.sp = 0};
    command_ns = 0;
    sight = (struct hang_sight){.excused = false};
    *state = hang_watch_create(THRESHOLD, "", &system_of_test);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    hang_watch_destroy(*state);
    return 0;
}

/* A thread of process 10 that has come back from its loop's poll often, the last time at that
 * moment. */
static inline struct backend_poller away_since(uint32_t tid, uint64_t returned_ns)
{
    return (struct backend_poller){
        .tid = tid, .pid = 10, .returned_ns = returned_ns, .returns = 100};
}

/* Looks every 200 ms from `from` to `to`. */
static void look_between(struct hang_watch *watch, const struct backend_poller *pollers,
                         size_t count, uint64_t from, uint64_t to)
{
    for (uint64_t now = from; now <= to; now += 200 * MS)
        assert_true(hang_watch_look(watch, pollers, count, now));
}

#define WATCH_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
