/* Which polls bpf/poller.h takes for those of a thread's event loop: its functions, called for a
 * simulated thread outside the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <string.h>

#include "linux/shared.h"

/* --- what bpf/ready.h, bpf/ring.h and the helpers of BPF are to it --- */

#define ARGUS_BPF_READY_H
#define ARGUS_BPF_RING_H

#undef __always_inline
#define __always_inline inline
#define __noinline
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, type)  type *name

#define BPF_MAP_TYPE_ARRAY    2
#define BPF_MAP_TYPE_LRU_HASH 9
#define BPF_ANY               0

#define ARCH_POLL         7
#define ARCH_SELECT       23
#define ARCH_WAIT4        61
#define ARCH_RESTART      219
#define ARCH_PSELECT6     270
#define ARCH_PPOLL        271
#define ARCH_EPOLL_PWAIT2 441

struct moment {
    uint64_t time_ns, tid;
};

static const struct {
    bool watch_polls;
    uint64_t poll_syscalls;
} settings = {.watch_polls = true};

static struct bpf_poller of_thread, none;
static bool is_known;

static bool bit_is_set(uint64_t bits, uint64_t number)
{
    (void)bits;
    return number != ARCH_RESTART && number != ARCH_WAIT4;
}

static uint64_t bounded(uint64_t bytes, uint64_t limit)
{
    assert_true(bytes <= limit);
    return bytes;
}

static bool is_poll(uint64_t number)
{
    return number == ARCH_POLL || number == ARCH_PPOLL;
}

static bool is_select(uint64_t number)
{
    return number == ARCH_SELECT || number == ARCH_PSELECT6;
}

static int bpf_probe_read_user(void *to, uint64_t bytes, const void *from)
{
    memcpy(to, from, bytes);
    return 0;
}

static void *lookup(bool is_of_thread)
{
    return !is_of_thread ? (void *)&none : is_known ? &of_thread : NULL;
}

#define bpf_map_lookup_elem(map, key)                                                              \
    ((void)*(key), lookup((const void *)(map) == (const void *)&pollers))
#define bpf_map_update_elem(map, key, value, flags)                                                \
    ((void)*(key), of_thread = *(value), is_known = true)
#define bpf_map_delete_elem(map, key) ((void)*(key), is_known = false)

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* for clang, which compiles it for BPF */
#include "linux/bpf/poller.h"

/* --- the thread --- */

#define SECOND_NS 1000000000ull
#define TOP       0x7fff0000ull /* the stack pointer in main() */
#define FOREVER   ((uint64_t)-1 >> 32)

enum { DISPLAY = 3, SERVER = 9, WAKE_UP = 5 };

static struct moment now;

static int set_up(void **state)
{
    (void)state;
    is_known = false;
    now = (struct moment){.time_ns = SECOND_NS, .tid = 10};
    return 0;
}

/* Polls `fd` (-1: nothing) in a function whose stack is `depth` bytes deep, for a second unless it is
 * a look. Returns where the thread was meanwhile. */
static uint16_t polls_for(int fd, uint64_t depth, uint64_t timeout_ms, bool finds, short events)
{
    static struct pollfd sets[1024]; /* one for each place on the stack */
    struct pollfd *set = &sets[depth];
    *set = (struct pollfd){.fd = fd, .events = events};
    uint64_t sp = TOP - depth;
    poller_enters(&now, (struct poll_call){.number = ARCH_POLL,
                                           .first = (uint64_t)(uintptr_t)set,
                                           .second = fd >= 0,
                                           .sp = sp,
                                           .timeout = timeout_ms});
    uint16_t place = of_thread.place;
    now.time_ns += timeout_ms ? SECOND_NS : 1000;
    poller_returns(&now, (struct poll_result){ARCH_POLL, sp, finds, 10});
    return place;
}

static uint16_t polls(int fd, uint64_t depth, uint64_t timeout_ms, bool finds)
{
    return polls_for(fd, depth, timeout_ms, finds, POLLIN);
}

static void looks(int times, int fd, uint64_t depth)
{
    for (int i = 0; i < times; i++)
        polls(fd, depth, 0, false);
}

static void expect_handler(int fd, uint64_t depth, bool finds)
{
    assert_int_equal(polls(fd, depth, FOREVER, finds), BPF_POLLER_IN_HANDLER);
}

static void expect_loop(int fd, uint64_t depth, bool finds)
{
    assert_int_equal(polls(fd, depth, FOREVER, finds), BPF_POLLER_IN_LOOP);
}

/* --- tests --- */

static void a_loop_waits_and_its_handler_deeper(void **state)
{
    (void)state;
    polls(DISPLAY, 100, FOREVER, true);
    expect_loop(DISPLAY, 100, true);
    expect_handler(SERVER, 900, true);
    expect_loop(DISPLAY, 100, true);
}

/* Its handler's requests are answered many times, and then not. The handler's stack may be less deep
 * than that of the looks, as in an interpreter. */
static void a_loop_that_only_looks(void **state)
{
    (void)state;
    const uint64_t depths[] = {900, 50, 300};
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        set_up(NULL);
        for (int k = 0; k < 50; k++) {
            looks(k ? 1 : 30, DISPLAY, 300);
            expect_handler(SERVER, depths[i], true);
        }
        assert_true(of_thread.returns > 40);
        uint64_t back_ns = of_thread.returned_ns;
        expect_handler(SERVER, depths[i], false);
        assert_int_equal(of_thread.returned_ns, back_ns);
        assert_int_equal((uint32_t)of_thread.loop_set.words[0], DISPLAY);
    }
}

/* A reply of the display server, or of another one, was waited for when the program started. */
static void a_loop_that_only_looks_after_a_wait(void **state)
{
    (void)state;
    const struct {
        int fd;
        uint64_t depth;
    } starts[] = {{DISPLAY, 900}, {DISPLAY, 50}, {SERVER, 900}, {SERVER, 50}};
    for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
        set_up(NULL);
        for (int k = 0; k < 4; k++)
            polls(starts[i].fd, starts[i].depth, FOREVER, true);
        for (int k = 0; k < 40; k++)
            polls(DISPLAY, 300, 0, true);
        assert_int_equal(of_thread.place, BPF_POLLER_AWAY);
        expect_handler(SERVER, 800, true);
        assert_int_equal((uint32_t)of_thread.loop_set.words[0], DISPLAY);
    }
}

/* It sleeps by a poll of nothing. */
static void a_loop_that_only_looks_and_sleeps(void **state)
{
    (void)state;
    looks(30, DISPLAY, 300);
    for (int i = 0; i < 30; i++) {
        expect_handler(-1, 200, false);
        looks(1, DISPLAY, 300);
    }
    expect_handler(SERVER, 900, false);
}

/* Emacs, vim and mc look nearer to main() than where they wait. */
static void looks_beside_a_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        looks(1 + i % 40, DISPLAY, 100);
        expect_loop(DISPLAY, 500, true);
    }
    expect_handler(DISPLAY, 900, true); /* a prompt */
    expect_handler(SERVER, 900, false);
}

/* A program looks for something else when it starts, and then in each turn. */
static void looks_for_something_else(void **state)
{
    (void)state;
    looks(5, WAKE_UP, 100);
    for (int i = 0; i < 100; i++) {
        expect_loop(DISPLAY, 500, i % 2);
        looks(3, WAKE_UP, 100);
    }
}

/* After many looks a loop begins that does not look any more. */
static void a_loop_that_looks_no_more(void **state)
{
    (void)state;
    looks(50, WAKE_UP, 100);
    for (int i = 0; i < POLLER_ADOPTS; i++)
        expect_handler(DISPLAY, 500, true);
    for (int i = 0; i < 50; i++)
        expect_loop(DISPLAY, 500, true);
    expect_handler(SERVER, 900, false);
}

/* The argument of a loop's calls: an array that is elsewhere on each call, one on the stack, one
 * that GLib keeps; or no array. */
enum object { MOVED, ON_STACK, KEPT, NONE };

/* Waits in a loop at `depth`. Returns its distance from the usual place during the last wait. */
static uint64_t polls_in(uint64_t depth, int times, enum object object)
{
    static struct pollfd sets[64];
    uint64_t bitmap[2] = {1 << DISPLAY}, elsewhere = 0;
    for (int i = 0; i < times; i++) {
        struct pollfd local,
            *set = object == ON_STACK ? &local : &sets[object == MOVED ? i % 64 : 0];
        *set = (struct pollfd){.fd = DISPLAY, .events = POLLIN};
        struct poll_call call = {.number = object == NONE ? ARCH_SELECT : ARCH_POLL,
                                 .first = object == NONE ? DISPLAY + 1 : (uint64_t)(uintptr_t)set,
                                 .second = object == NONE ? (uint64_t)(uintptr_t)bitmap : 1,
                                 .sp = TOP - depth,
                                 .timeout = object == NONE ? POLL_WAITS : FOREVER};
        poller_enters(&now, call);
        elsewhere = of_thread.elsewhere;
        now.time_ns += SECOND_NS;
        poller_returns(&now, (struct poll_result){call.number, call.sp, 1, 10});
    }
    return elsewhere;
}

/* A nested loop of GLib, whether it is deeper or not: the usual place may be in a deep function. It
 * becomes the usual one when it has waited there more often. */
static void the_set_is_polled_elsewhere(void **state)
{
    (void)state;
    const uint64_t depths[] = {900, 300};
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        set_up(NULL);
        polls_in(500, 101, KEPT); /* the first makes the thread known */
        uint64_t back_ns = of_thread.usual_ns;
        assert_int_equal(back_ns, now.time_ns);
        polls_in(depths[i], 99, KEPT);
        assert_int_equal(polls_in(depths[i], 1, KEPT), depths[i] - 500);
        assert_int_equal(of_thread.usual_ns, back_ns);
        assert_int_equal(of_thread.usual, 100);
        assert_int_equal(polls_in(500, 1, KEPT), 0);
        assert_int_equal(of_thread.usual_ns, now.time_ns);
        polls_in(depths[i], 2, KEPT);
        assert_int_equal(of_thread.usual_ns, now.time_ns);
        assert_int_equal(of_thread.usual, 102);
        assert_int_equal(of_thread.other, 101);
        assert_int_equal(polls_in(500, 1, KEPT), 500 - depths[i]);
    }
}

/* Whatever it calls, and wherever its array is. */
static void each_loop_has_a_usual_place(void **state)
{
    (void)state;
    const enum object objects[] = {MOVED, ON_STACK, KEPT, NONE};
    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        set_up(NULL);
        polls_in(500, 8, KEPT); /* as in a dialog at its start */
        polls_in(100, POLLER_MOVES, objects[i]);
        assert_int_equal(of_thread.usual_sp, TOP - 100);
        assert_int_equal(of_thread.usual_ns, now.time_ns);
        assert_int_equal(of_thread.elsewhere, 0);
        polls_in(100, 100 * POLLER_WAITS, objects[i]);
        assert_in_range(of_thread.usual, POLLER_WAITS / 2, POLLER_WAITS);
        polls_in(50, POLLER_WAITS, objects[i]); /* another loop, for the rest of its life */
        assert_int_equal(of_thread.usual_sp, TOP - 50);
    }
}

/* The first waits, and a few at a new place, show nothing. */
static void a_place_has_to_be_waited_at_often(void **state)
{
    (void)state;
    for (uint64_t depth = 900; depth > 100; depth -= 10)
        polls_in(depth, 1, KEPT);
    assert_true(of_thread.usual < BPF_POLLER_SURE);
    polls_in(100, 20, KEPT); /* with 8 the usual place, as at the start of a program */
    uint64_t back_ns = of_thread.usual_ns;
    polls_in(300, POLLER_MOVES - 1, KEPT);
    assert_int_equal(of_thread.usual_sp, TOP - 100);
    assert_int_equal(of_thread.usual_ns, back_ns);
}

/* Replies are waited for in handlers, more often than the loop waits. */
static void replies_have_no_place(void **state)
{
    (void)state;
    polls(DISPLAY, 100, FOREVER, true);
    expect_loop(DISPLAY, 100, true);
    for (int i = 0; i < 100; i++) {
        expect_handler(SERVER, 500, true);
        expect_handler(SERVER, 500, true);
        expect_loop(DISPLAY, 100, true);
        assert_int_equal(of_thread.usual_ns, now.time_ns);
    }
    assert_int_equal(of_thread.other, 0);
}

/* A look at the usual place is a return to it; one at another place is not a wait there. */
static void a_look_is_not_elsewhere(void **state)
{
    (void)state;
    polls_in(500, 100, KEPT);
    uint64_t back_ns = of_thread.usual_ns;
    looks(3, DISPLAY, 100);
    assert_int_equal(of_thread.usual_ns, back_ns);
    assert_int_equal(of_thread.other, 0);
    looks(1, DISPLAY, 500);
    assert_int_equal(of_thread.usual_ns, now.time_ns);
}

/* XCB waits nearer to main() than the loop does, until its requests can be written. While the server
 * does not read, the thread is not in its loop. */
static void a_wait_to_write_is_no_loop(void **state)
{
    (void)state;
    polls(DISPLAY, 100, FOREVER, true);
    expect_loop(DISPLAY, 100, true);
    for (int i = 0; i < 20; i++) {
        uint64_t back_ns = of_thread.returned_ns;
        assert_int_equal(polls_for(DISPLAY, 50, FOREVER, true, POLLIN | POLLOUT),
                         BPF_POLLER_WRITING);
        assert_int_equal(of_thread.returned_ns, back_ns);
        assert_int_equal(of_thread.inner, 0);
        expect_loop(DISPLAY, 100, true);
    }
    assert_int_equal(polls_for(DISPLAY, 900, FOREVER, true, POLLOUT), BPF_POLLER_WRITING);
    expect_handler(SERVER, 900, true);
    expect_loop(DISPLAY, 100, true);
}

/* A loop with one connection also waits until it can send what it has to: at its place, or with its array. */
static void a_loop_may_wait_to_write(void **state)
{
    (void)state;
    polls(DISPLAY, 100, FOREVER, true);
    expect_loop(DISPLAY, 100, true);
    for (int i = 0; i < 3; i++)
        assert_int_equal(polls_for(DISPLAY, 100, FOREVER, true, POLLIN | POLLOUT),
                         BPF_POLLER_IN_LOOP);
    assert_int_equal(of_thread.returned_ns, now.time_ns);
    of_thread.usual_sp = of_thread.other_sp = 0; /* the array is enough */
    assert_int_equal(polls_for(DISPLAY, 100, FOREVER, true, POLLIN | POLLOUT), BPF_POLLER_IN_LOOP);
}

/* A handler waits for an event of the display server, asks for more once a second, and its user
 * moves the mouse. Then the place is the loop's, but an unusual one. */
static void a_wait_for_an_event(void **state)
{
    (void)state;
    polls(DISPLAY, 100, FOREVER, true);
    for (int i = 0; i < 100; i++)
        expect_loop(DISPLAY, 100, true);
    uint64_t back_ns = of_thread.usual_ns;
    for (int i = 0; i < 3; i++) {
        expect_handler(DISPLAY, 500, i == 0);
        for (uint64_t depth = 600; depth < 604; depth++)
            expect_handler(DISPLAY, depth, true);
    }
    for (int i = 0; i < POLLER_ADOPTS - 1; i++)
        expect_handler(DISPLAY, 500, true);
    expect_loop(DISPLAY, 500, true);
    assert_int_equal(of_thread.usual_ns, back_ns);
    assert_int_equal(of_thread.elsewhere, 400);
    assert_true(of_thread.usual > BPF_POLLER_SURE);
}

#define POLLER_TEST(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POLLER_TEST(a_loop_waits_and_its_handler_deeper),
        POLLER_TEST(a_loop_that_only_looks),
        POLLER_TEST(a_loop_that_only_looks_after_a_wait),
        POLLER_TEST(a_loop_that_only_looks_and_sleeps),
        POLLER_TEST(looks_beside_a_wait),
        POLLER_TEST(looks_for_something_else),
        POLLER_TEST(a_loop_that_looks_no_more),
        POLLER_TEST(the_set_is_polled_elsewhere),
        POLLER_TEST(each_loop_has_a_usual_place),
        POLLER_TEST(a_place_has_to_be_waited_at_often),
        POLLER_TEST(replies_have_no_place),
        POLLER_TEST(a_look_is_not_elsewhere),
        POLLER_TEST(a_wait_to_write_is_no_loop),
        POLLER_TEST(a_loop_may_wait_to_write),
        POLLER_TEST(a_wait_for_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
