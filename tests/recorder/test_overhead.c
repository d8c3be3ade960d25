/* Which categories are left out to stay below --max-overhead, in which order, and when they come
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/server/overhead.h"

#define SECOND_NS OVERHEAD_PERIOD_NS
#define LIMIT     300 /* 3 % */
#define CALLS                                                                                      \
    (CATEGORY_BIT(CATEGORY_SYSCALLS) | CATEGORY_BIT(CATEGORY_MESSAGES) |                           \
     CATEGORY_BIT(CATEGORY_PROBES))
#define ALL (CATEGORIES_ALL & ~CATEGORY_BIT(CATEGORY_SCHED))

/* A load: what each category costs when it is recorded, in 1/10000 of the time of all CPUs. */
struct load {
    uint32_t cost[CATEGORY_COUNT];
};

struct machine {
    struct overhead overhead;
    uint64_t now_ns;
    uint32_t out;
};

static struct machine begin(uint32_t allowed)
{
    struct machine machine = {.now_ns = 3600 * SECOND_NS};
    overhead_init(&machine.overhead, LIMIT, allowed);
    return machine;
}

/* One period; returns whether the answer has changed. */
static bool pass(struct machine *machine, const struct load *load)
{
    struct overhead_cost cost = {.available_ns = 2 * SECOND_NS};
    uint32_t before = machine->out;
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        bool is_out = machine->out & CATEGORY_BIT(i);
        cost.saved_ns[i] = is_out ? 0 : cost.available_ns / OVERHEAD_WHOLE * load->cost[i];
        cost.total_ns += cost.saved_ns[i];
    }
    machine->now_ns += SECOND_NS;
    machine->out = overhead_decide(&machine->overhead, machine->now_ns, &cost);
    return machine->out != before;
}

/* Periods until the answer changes; at most `most`. */
static unsigned pass_until_change(struct machine *machine, const struct load *load, unsigned most)
{
    unsigned periods = 1;
    while (periods < most && !pass(machine, load))
        periods++;
    return periods;
}

static void below_the_limit_all_is_recorded(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load load = {.cost = {[CATEGORY_SCHED] = 100, [CATEGORY_SYSCALLS] = 199}};
    assert_int_equal(pass_until_change(&machine, &load, 1000), 1000);
    assert_int_equal(machine.out, 0);
    assert_int_equal(machine.overhead.share, 299);
}

static void one_busy_second_is_no_reason(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load busy = {.cost = {[CATEGORY_SYSCALLS] = 2000}}, calm = {.cost = {10}};
    for (int i = 0; i < 21; i++)
        assert_false(pass(&machine, i % 2 ? &busy : &calm));
    assert_false(pass(&machine, &busy));
    assert_true(pass(&machine, &busy));
}

static void what_costs_little_is_not_left_out(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load load = {.cost = {[CATEGORY_INTERRUPTS] = 20, [CATEGORY_SYSCALLS] = 900}};
    pass_until_change(&machine, &load, 10);
    assert_int_equal(machine.out, CALLS);
    assert_int_equal(pass_until_change(&machine, &load, 8), 8);
}

static void what_is_needed_least_goes_first(void **state)
{
    (void)state;
    static const uint32_t order[] = {
        CATEGORY_BIT(CATEGORY_INTERRUPTS),
        CATEGORY_BIT(CATEGORY_WORK),
        CATEGORY_BIT(CATEGORY_TIMERS),
        CATEGORY_BIT(CATEGORY_SIGNALS),
        CATEGORY_BIT(CATEGORY_BLOCK),
        CATEGORY_BIT(CATEGORY_STACKS),
        CALLS,
    };
    struct machine machine = begin(ALL);
    struct load load = {.cost = {0}};
    for (size_t i = 1; i < CATEGORY_COUNT; i++)
        load.cost[i] = 34;
    uint32_t out = 0;
    for (size_t i = 0; i < OVERHEAD_GROUPS; i++) {
        load.cost[CATEGORY_SCHED] = i < 6 ? 10 + 34 * (uint32_t)i : 310; /* 316 in all, or more */
        assert_true(pass_until_change(&machine, &load, 10) <= 2);
        assert_int_equal(machine.out, out |= order[i]);
    }
    assert_false(overhead_is_helpless(&machine.overhead));
    assert_int_equal(pass_until_change(&machine, &load, 1000), 1000); /* sched alone is too much */
    assert_true(overhead_is_helpless(&machine.overhead));
}

static void only_what_may_go_goes(void **state)
{
    (void)state;
    struct machine machine = begin(ALL & ~CALLS);
    const struct load load = {.cost = {[CATEGORY_TIMERS] = 40, [CATEGORY_SYSCALLS] = 2000}};
    pass_until_change(&machine, &load, 10);
    assert_int_equal(machine.out, CATEGORY_BIT(CATEGORY_TIMERS));
    assert_int_equal(pass_until_change(&machine, &load, 9), 9);
}

static void it_comes_back_after_a_pause_in_calm(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load busy = {.cost = {[CATEGORY_SYSCALLS] = 900}}, calm = {.cost = {100}};
    const struct load between = {.cost = {250}}; /* below the limit, but not well below */
    pass_until_change(&machine, &busy, 10);
    assert_int_equal(pass_until_change(&machine, &between, 100), 100);
    assert_true(pass(&machine, &calm));
    assert_int_equal(machine.out, 0);
}

/* Seconds that system calls are out, each time, under a load that lasts. */
static void the_pauses_grow_under_a_lasting_load(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load busy = {.cost = {[CATEGORY_SYSCALLS] = 900}};
    uint64_t longest_ns = OVERHEAD_PAUSE_FIRST_NS;
    for (int i = 0; i < 10; i++) {
        pass_until_change(&machine, &busy, 10);
        assert_int_equal(machine.out, CALLS);
        assert_int_equal(pass_until_change(&machine, &busy, 10000), longest_ns / SECOND_NS);
        assert_int_equal(machine.out, 0);
        longest_ns =
            2 * longest_ns < OVERHEAD_PAUSE_LONGEST_NS ? 2 * longest_ns : OVERHEAD_PAUSE_LONGEST_NS;
    }
}

static void a_new_load_begins_with_a_short_pause(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load busy = {.cost = {[CATEGORY_SYSCALLS] = 900}}, calm = {.cost = {10}};
    for (int i = 0; i < 4; i++) {
        pass_until_change(&machine, &busy, 10);
        pass_until_change(&machine, &busy, 1000);
    }
    for (int i = 0; i < 100; i++)
        pass(&machine, &calm);
    assert_int_equal(machine.out, 0);
    pass_until_change(&machine, &busy, 10);
    assert_int_equal(pass_until_change(&machine, &busy, 1000), 10);
}

/* A tenth of such a limit is less than the unit, and a group that saves nothing must not go. */
static void what_saves_nothing_stays(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct load load = {.cost = {[CATEGORY_SCHED] = 300}};
    overhead_init(&machine.overhead, 5, ALL); /* 0.05 % */
    assert_int_equal(pass_until_change(&machine, &load, 100), 100);
    assert_int_equal(machine.out, 0);
    assert_true(overhead_is_helpless(&machine.overhead));
}

/* More CPU time than there was. */
static void a_share_is_at_most_the_whole(void **state)
{
    (void)state;
    struct machine machine = begin(ALL);
    const struct overhead_cost cost = {.available_ns = 1, .total_ns = UINT64_MAX};
    overhead_decide(&machine.overhead, machine.now_ns, &cost);
    assert_int_equal(machine.overhead.share, OVERHEAD_WHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_the_limit_all_is_recorded),
        cmocka_unit_test(one_busy_second_is_no_reason),
        cmocka_unit_test(what_costs_little_is_not_left_out),
        cmocka_unit_test(what_is_needed_least_goes_first),
        cmocka_unit_test(only_what_may_go_goes),
        cmocka_unit_test(it_comes_back_after_a_pause_in_calm),
        cmocka_unit_test(the_pauses_grow_under_a_lasting_load),
        cmocka_unit_test(a_new_load_begins_with_a_short_pause),
        cmocka_unit_test(what_saves_nothing_stays),
        cmocka_unit_test(a_share_is_at_most_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
