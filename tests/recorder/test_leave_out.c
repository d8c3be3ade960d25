/* Which marks are kept of what was left out, and what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/server/clocks.h"
#include "recorder/server/leave_out.h"

#define INTERRUPTS CATEGORY_BIT(CATEGORY_INTERRUPTS)
#define BLOCK      CATEGORY_BIT(CATEGORY_BLOCK)
#define PERIOD_NS  OVERHEAD_PERIOD_NS
#define MOST_MARKS 4096

static uint64_t interrupts_ns; /* what that category has cost so far */
static uint32_t told;          /* what the backend was told to leave out */
static unsigned notes;

/* In place of the functions of backend.c. */
void backend_cost(const struct backend *backend, uint64_t ret_ns[CATEGORY_COUNT])
{
    (void)backend;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        ret_ns[i] = i == CATEGORY_INTERRUPTS ? interrupts_ns : 0;
}

struct argus_error *backend_leave_out(struct backend *backend, uint32_t categories)
{
    (void)backend;
    told = categories;
    return NULL;
}

void backend_note(struct backend *backend, const char *format, ...)
{
    (void)backend;
    (void)format;
    notes++;
}

static struct leave_out begin(void)
{
    struct leave_out left;
    interrupts_ns = told = notes = 0;
    leave_out_init(&left, 300, INTERRUPTS);
    return left;
}

static void mark(struct leave_out *left, uint64_t time_ns, uint32_t out, uint32_t changed)
{
    const struct argus_record record = {
        .timestamp = time_ns, .arg = {out, changed}, .debugid = ARGUS_ID_LEFT_OUT};
    assert_true(vec_push(&left->marks, record));
}

/* One period in which that category has cost half of the time of all CPUs, or nothing; returns the
 * number of new marks. */
static size_t pass(struct leave_out *left, bool busy)
{
    size_t added;
    left->looked_ns = clock_ns(TRACE_CLOCK) - PERIOD_NS;
    interrupts_ns += busy ? PERIOD_NS / 2 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) : 0;
    assert_null(leave_out_look(left, NULL, 0, &added));
    return added;
}

static void the_last_mark_before_says_what_is_out(void **state)
{
    (void)state;
    struct leave_out left = begin();
    assert_int_equal(leave_out_at(&left, 100), 0);
    mark(&left, 10, INTERRUPTS, INTERRUPTS);
    mark(&left, 20, INTERRUPTS | BLOCK, BLOCK);
    mark(&left, 30, 0, INTERRUPTS | BLOCK);
    assert_int_equal(leave_out_at(&left, 10), 0);
    assert_int_equal(leave_out_at(&left, 11), INTERRUPTS);
    assert_int_equal(leave_out_at(&left, 30), INTERRUPTS | BLOCK);
    leave_out_forget(&left, 25);
    assert_int_equal(left.marks.length, 2);
    assert_int_equal(leave_out_at(&left, 25), INTERRUPTS | BLOCK);
    leave_out_forget(&left, 1000);
    assert_int_equal(left.marks.length, 1);
    assert_int_equal(leave_out_at(&left, 1000), 0);
    leave_out_deinit(&left);
}

static void a_change_has_two_marks(void **state)
{
    (void)state;
    struct leave_out left = begin();
    assert_int_equal(pass(&left, true), 0);
    assert_int_equal(pass(&left, true), 2);
    assert_int_equal(told, INTERRUPTS);
    assert_int_equal(left.marks.data[0].arg[0], INTERRUPTS);
    assert_int_equal(left.marks.data[1].arg[1], INTERRUPTS);
    leave_out_deinit(&left);
}

static void a_full_list_lets_things_only_come_back(void **state)
{
    (void)state;
    struct leave_out left = begin();
    for (size_t i = 0; i < MOST_MARKS; i++)
        mark(&left, i, 0, INTERRUPTS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(pass(&left, true), 0);
    assert_int_equal(told, 0);
    assert_true(notes > 0);
    left.marks.length = 0;
    for (int i = 0; i < 10 && !told; i++)
        pass(&left, true);
    assert_int_equal(told, INTERRUPTS);
    while (left.marks.length < MOST_MARKS)
        mark(&left, 0, 0, INTERRUPTS);
    left.policy.groups[0].changed_ns = 1; /* long ago */
    assert_int_equal(pass(&left, false), 2);
    assert_int_equal(told, 0);
    leave_out_deinit(&left);
}

/* The file's writer, which has no privileges, tells its own CPU time. */
static void a_clock_that_goes_back_costs_nothing(void **state)
{
    (void)state;
    struct leave_out left = begin();
    size_t added;
    for (int i = 0; i < 10; i++) {
        left.looked_ns = clock_ns(TRACE_CLOCK) - PERIOD_NS;
        assert_null(leave_out_look(&left, NULL, PERIOD_NS - (uint64_t)i, &added));
        assert_true(i == 0 || left.policy.share == 0);
    }
    assert_int_equal(told, 0);
    leave_out_deinit(&left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_mark_before_says_what_is_out),
        cmocka_unit_test(a_change_has_two_marks),
        cmocka_unit_test(a_full_list_lets_things_only_come_back),
        cmocka_unit_test(a_clock_that_goes_back_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
