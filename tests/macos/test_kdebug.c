/* The backend of macOS against a simulated kernel (simulated_kdebug.h): the order of its calls, the
 * handling of records, and that nothing stays set up after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "argus/trace.h"
#include "category.h"
#include "macos/kdebug_backend.h"
#include "macos/kdebug_session.h"
#include "macos/kdebug_times.h"
#include "simulated_kdebug.h"

#define SWITCH  0x01400000u
#define SYSCALL 0x040c0001u

static struct simulated_kdebug *kernel;
static struct kdebug_os os;

static int set_up(void **state)
{
    (void)state;
    kernel = simulated_kdebug_create();
    os = simulated_kdebug_os(kernel);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    simulated_kdebug_destroy(kernel);
    return 0;
}

static struct backend_options options_of(uint32_t categories)
{
    return (struct backend_options){.ring_bytes = 64 << 20, .categories = categories};
}

static struct backend *begin_with(const struct backend_options *options)
{
    struct backend *backend = NULL;
    struct argus_error *error = kdebug_backend_create(&os, options, &backend);
    assert_null(error);
    return backend;
}

static struct backend *begin(void)
{
    struct backend_options options = options_of(CATEGORIES_ALL & ~CATEGORY_BIT(CATEGORY_STACKS));
    return begin_with(&options);
}

static void assert_free(void)
{
    assert_false(kernel->enabled);
    assert_false(kernel->set_up);
    assert_false(kernel->sampling);
    assert_int_equal(kernel->owner, 0);
}

static void expect_refused(enum argus_error_code code, const char *word)
{
    struct backend_options options = options_of(CATEGORIES_ALL);
    struct backend *backend = NULL;
    struct argus_error *error = kdebug_backend_create(&os, &options, &backend);
    assert_non_null(error);
    assert_null(backend);
    assert_int_equal(error->code, code);
    assert_non_null(strstr(error->message, word));
    argus_error_destroy(error);
    assert_free();
}

/* --- beginning and end --- */

static void test_the_sequence(void **state)
{
    (void)state;
    static const int expected[] = {KDEBUG_REMOVE,    KDEBUG_SET_BUFFER, KDEBUG_SET_UP,
                                   KDEBUG_SET_FLAGS, KDEBUG_SET_FILTER, KDEBUG_EXCLUDE_PID,
                                   KDEBUG_ENABLE};
    struct backend *backend = begin();
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(kernel->order[i], expected[i]);
    assert_true(kernel->enabled);
    assert_int_equal(kernel->flags, KDEBUG_FLAG_NO_COPROCESSORS);
    assert_int_equal(kernel->excluded_pid, SIM_PID);
    backend_detach(backend);
    assert_free();
    backend_destroy(backend);
    assert_int_equal(kernel->illegal, 0);
}

static void test_destroying_is_enough(void **state)
{
    (void)state;
    struct backend_options options = options_of(CATEGORIES_ALL);
    struct backend *backend = begin_with(&options);
    assert_true(kernel->sampling);
    backend_destroy(backend);
    assert_free();
}

/* The setting is as before, also if a user had set it, after an error, and where the kernel lacks it. */
static void test_voucher_contents_are_recorded(void **state)
{
    (void)state;
    struct backend_options options = options_of(CATEGORIES_ALL);
    struct backend *backend = begin_with(&options);
    assert_int_equal(kernel->voucher_contents, 1);
    backend_detach(backend);
    assert_int_equal(kernel->voucher_contents, 0);
    backend_destroy(backend);
    kernel->voucher_contents = 1;
    backend_destroy(begin_with(&options));
    assert_int_equal(kernel->voucher_contents, 1);
    kernel->voucher_contents = 0;
    kernel->refuse_operation = KDEBUG_READ_THREADS;
    kernel->refuse_with = EIO;
    expect_refused(ARGUS_ERROR_IO, "cannot ");
    assert_int_equal(kernel->voucher_contents, 0);
    kernel->refuse_operation = 0;
    kernel->refuse_control = "kern.ipc_voucher_trace_contents";
    backend_destroy(begin_with(&options));
    assert_int_equal(kernel->voucher_contents, 0);
}

static void test_busy_names_the_owner(void **state)
{
    (void)state;
    kernel->foreign_owner = 77;
    expect_refused(ARGUS_ERROR_BUSY, "tool77 (process 77)");
}

static void test_without_root(void **state)
{
    (void)state;
    kernel->refuse_operation = KDEBUG_REMOVE;
    kernel->refuse_with = EPERM;
    expect_refused(ARGUS_ERROR_PERMISSION, "root");
}

/* Whichever step fails, nothing stays set up. */
static void test_each_step_may_fail(void **state)
{
    (void)state;
    static const int steps[] = {KDEBUG_SET_BUFFER, KDEBUG_SET_UP, KDEBUG_SET_FLAGS,
                                KDEBUG_SET_FILTER, KDEBUG_ENABLE, KDEBUG_READ_THREADS};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        simulated_kdebug_destroy(kernel);
        set_up(NULL);
        kernel->refuse_operation = steps[i];
        kernel->refuse_with = EIO;
        expect_refused(ARGUS_ERROR_IO, "cannot ");
        assert_int_equal(kernel->calls[KDEBUG_REMOVE], 2);
    }
}

static void test_a_kernel_that_cannot_leave_us_out(void **state)
{
    (void)state;
    kernel->refuse_operation = KDEBUG_EXCLUDE_PID;
    kernel->refuse_with = EINVAL;
    backend_destroy(begin());
    assert_free();
}

/* --- records --- */

static size_t read_all(struct backend *backend, uint32_t cpu, struct argus_record *records,
                       size_t room)
{
    uint64_t lost;
    size_t count = backend_read(backend, cpu, records, room, &lost);
    assert_int_equal(lost, 0);
    return count;
}

static void test_short_reads(void **state)
{
    (void)state;
    struct argus_record *records = calloc(10000, sizeof(*records));
    struct backend *backend = begin();
    kernel->most_at_once = 333; /* fewer than asked for, repeatedly */
    for (uint64_t i = 0; i < 10000; i++)
        simulated_kdebug_emit(kernel, SWITCH, 40 + i % 3, i % SIM_CPUS, i);
    assert_null(backend_collect(backend));
    for (uint32_t cpu = 0; cpu < SIM_CPUS; cpu++) {
        assert_int_equal(read_all(backend, cpu, records, 10000), 5000);
        for (uint64_t i = 0; i < 5000; i++) {
            assert_int_equal(records[i].arg[0], i * 2 + cpu);
            assert_int_equal(records[i].cpu, cpu);
            assert_int_equal(records[i].tid, 40 + (i * 2 + cpu) % 3);
        }
    }
    backend_destroy(backend);
    free(records);
}

static void test_what_comes_until_the_end_is_read(void **state)
{
    (void)state;
    struct argus_record records[8];
    struct backend *backend = begin();
    simulated_kdebug_emit(kernel, SWITCH, 40, 1, 9);
    backend_detach(backend);
    assert_free();
    assert_int_equal(read_all(backend, 1, records, 8), 1);
    assert_int_equal(records[0].arg[0], 9);
    assert_null(backend_collect(backend)); /* nothing more, and no error */
    backend_destroy(backend);
}

static void test_loss_is_told(void **state)
{
    (void)state;
    struct argus_record *records = calloc(SIM_RECORDS, sizeof(*records));
    struct backend *backend = begin();
    const char *const *notes;
    for (uint64_t i = 0; i < kernel->capacity + 10; i++)
        simulated_kdebug_emit(kernel, SWITCH, 40, 0, i);
    kernel->lost = true;
    assert_null(backend_collect(backend));
    assert_int_equal(backend_peek(backend, 0, true, records, SIM_RECORDS) > 0, 1);
    struct argus_counter counters[8] = {0};
    assert_true(backend_counters(backend, counters, 8) >= 1);
    assert_string_equal(counters[0].name, "lost_places");
    assert_int_equal(counters[0].value, 1);
    size_t count = backend_notes(backend, &notes);
    assert_int_equal(count, 1);
    assert_non_null(strstr(notes[0], "does not say how many"));
    backend_destroy(backend);
    free(records);
}

static void test_a_lost_record_is_the_cores(void **state)
{
    (void)state;
    struct argus_record records[8];
    struct backend *backend = begin();
    simulated_kdebug_emit(kernel, SWITCH, 40, 0, 1);
    kernel->lost = true;
    assert_null(backend_collect(backend));
    assert_int_equal(read_all(backend, 0, records, 8), 2);
    assert_int_equal(records[0].debugid, BACKEND_ID_LOST);
    assert_int_equal(records[0].arg[0], 1);
    backend_destroy(backend);
}

static void test_the_ring_wraps(void **state)
{
    (void)state;
    struct backend_options options = options_of(CATEGORY_BIT(CATEGORY_SCHED));
    options.ring_bytes = 1; /* the smallest size */
    struct backend *backend = begin_with(&options);
    size_t slots = backend_ring_bytes(backend) / sizeof(struct argus_record) / SIM_CPUS;
    struct argus_record record;
    uint64_t lost;
    for (uint64_t i = 0; i < slots + 5; i++)
        simulated_kdebug_emit(kernel, SWITCH, 40, 0, i);
    assert_null(backend_collect(backend));
    assert_int_equal(backend_read(backend, 0, &record, 1, &lost), 1);
    assert_int_equal(lost, 5);
    assert_int_equal(record.arg[0], 5);
    backend_destroy(backend);
}

static void test_categories_are_a_filter(void **state)
{
    (void)state;
    struct argus_record records[8];
    struct backend_options options = options_of(CATEGORY_BIT(CATEGORY_SCHED));
    struct backend *backend = begin_with(&options);
    simulated_kdebug_emit(kernel, SYSCALL, 40, 0, 1);     /* not wanted */
    simulated_kdebug_emit(kernel, 0x07000004u, 40, 0, 2); /* always */
    simulated_kdebug_emit(kernel, 0x60110004u, 40, 0, 3); /* a patched kernel's wait */
    simulated_kdebug_emit(kernel, 0x60100004u, 40, 0, 4); /* its message: not wanted */
    assert_null(backend_collect(backend));
    assert_int_equal(read_all(backend, 0, records, 8), 2);
    assert_int_equal(records[0].arg[0], 2);
    assert_int_equal(records[1].arg[0], 3);
    backend_destroy(backend);
}

static void test_cpus_that_are_none(void **state)
{
    (void)state;
    struct argus_record records[8];
    struct argus_counter counters[8] = {0};
    struct backend *backend = begin();
    simulated_kdebug_emit(kernel, SWITCH, 40, SIM_CPUS, 1);
    simulated_kdebug_emit(kernel, SWITCH, 40, UINT32_MAX, 1);
    assert_null(backend_collect(backend));
    assert_int_equal(read_all(backend, 0, records, 8), 0);
    backend_counters(backend, counters, 8);
    assert_int_equal(counters[1].value, 2);
    backend_destroy(backend);
}

static void test_ticks_become_ns(void **state)
{
    (void)state;
    struct argus_record wait = {.timestamp = 24, .debugid = 0x01400040u, .arg = {24, 24, 48, 24}};
    kdebug_times_to_ns(&wait, 125, 3);
    assert_int_equal(wait.timestamp, 1000);
    assert_int_equal(wait.arg[2], 2000); /* the deadline … */
    assert_int_equal(wait.arg[1], 24);   /* … and nothing else */
    assert_int_equal(kdebug_ticks_to_ns(UINT64_MAX, 125, 3), UINT64_MAX);
    assert_int_equal(kdebug_ticks_to_ns(UINT64_MAX - 1, 125, 3), UINT64_MAX);
    assert_int_equal(kdebug_ticks_to_ns(7, 125, 3), 291);

    struct argus_record records[2];
    kernel->numer = 125;
    kernel->denom = 3;
    struct backend *backend = begin();
    kernel->now_ticks = 23999999;
    simulated_kdebug_emit(kernel, SWITCH, 40, 0, 1);
    assert_null(backend_collect(backend));
    assert_int_equal(read_all(backend, 0, records, 2), 1);
    assert_int_equal(records[0].timestamp, 1000000000);
    struct argus_trace_header header;
    assert_null(backend_header(backend, &header));
    assert_int_equal(header.timebase_numer, header.timebase_denom);
    assert_int_equal(header.os, ARGUS_OS_DARWIN);
    assert_int_equal(header.cpu_count, SIM_CPUS);
    backend_destroy(backend);
}

/* --- others --- */

static void expect_lost_kdebug(struct backend *backend, const char *word)
{
    struct argus_error *error = NULL;
    for (int i = 0; i < 100 && !error; i++)
        error = backend_collect(backend);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_BUSY);
    assert_non_null(strstr(error->message, word));
    argus_error_destroy(error);
    backend_destroy(backend);
}

static void test_somebody_takes_it_away(void **state)
{
    (void)state;
    struct backend *backend = begin();
    kernel->foreign_owner = 99;
    expect_lost_kdebug(backend, "taken away by tool99 (process 99)");
}

static void test_a_kernel_that_stops(void **state)
{
    (void)state;
    struct backend *backend = begin();
    kernel->stopped = true;
    expect_lost_kdebug(backend, "another program stopped kdebug");
    assert_free();
}

static void test_a_kernel_that_was_reset(void **state)
{
    (void)state;
    struct backend *backend = begin();
    kernel->set_up = false;
    kernel->owner = 0;
    expect_lost_kdebug(backend, "only one tool");
}

/* --- stacks --- */

static void test_stacks(void **state)
{
    (void)state;
    struct backend_options options = options_of(CATEGORIES_ALL);
    options.rate_hz = 1000;
    kernel->numer = 125;
    kernel->denom = 3;
    struct backend *backend = begin_with(&options);
    assert_true(kernel->sampling);
    assert_int_equal(kernel->timer_period, 24000);  /* ticks of 1 ms */
    assert_int_equal(kernel->wait_threshold, 2400); /* 100 µs */
    backend_detach(backend);
    assert_false(kernel->sampling);
    backend_destroy(backend);
}

static void test_stacks_that_the_kernel_refuses(void **state)
{
    (void)state;
    const char *const *notes;
    struct backend_options options = options_of(CATEGORIES_ALL);
    kernel->refuse_control = "kperf.lazy.wait_action";
    struct backend *backend = begin_with(&options);
    assert_true(kernel->enabled);
    assert_false(kernel->sampling);
    assert_int_equal(backend_notes(backend, &notes), 1);
    assert_non_null(strstr(notes[0], "no call stacks: cannot set kperf.lazy.wait_action"));
    backend_destroy(backend);
}

/* --- the polling thread --- */

#define MACH_MSG2 0x010c00bcu

static void emit_call(uint64_t tid, uint64_t options)
{
    kernel->arg2 = options;
    simulated_kdebug_emit(kernel, MACH_MSG2 | ARGUS_FUNC_START, tid, 0, 0);
}

static void emit_return(uint64_t tid)
{
    simulated_kdebug_emit(kernel, MACH_MSG2 | ARGUS_FUNC_END, tid, 0, 0);
}

static void add_thread(uint64_t tid, int pid)
{
    struct kdebug_thread thread = {.tid = tid, .pid = pid, .name = "loop"};
    kernel->threads[kernel->thread_count++] = thread;
}

static size_t pollers_now(struct backend *backend, struct backend_poller *ret)
{
    size_t count = 99;
    assert_null(backend_collect(backend));
    assert_null(backend_pollers(backend, ret, 8, &count));
    return count;
}

static void test_an_event_loop_waits_for_messages(void **state)
{
    (void)state;
    struct backend_options options = options_of(CATEGORY_BIT(CATEGORY_SCHED));
    struct backend_poller pollers[8];
    options.watch_polls = true;
    add_thread(40, 9);
    struct backend *backend = begin_with(&options);
    assert_int_equal(pollers_now(backend, pollers), 0);
    emit_call(40, 3); /* sends and receives: it waits for an answer */
    emit_return(40);
    assert_int_equal(pollers_now(backend, pollers), 0);
    emit_call(40, 2);
    assert_int_equal(pollers_now(backend, pollers), 1);
    assert_true(pollers[0].polling && pollers[0].tid == 40 && pollers[0].pid == 9);
    assert_int_equal(pollers[0].returns, 0);
    emit_return(40);
    uint64_t returned_ns = kernel->now_ticks;
    emit_call(40, 3);
    emit_return(40);
    assert_int_equal(pollers_now(backend, pollers), 1);
    assert_false(pollers[0].polling);
    assert_int_equal(pollers[0].returns, 1);
    assert_int_equal(pollers[0].returned_ns, returned_ns);
    backend_destroy(backend);
}

static void test_a_new_thread_polls(void **state)
{
    (void)state;
    struct backend_options options = options_of(CATEGORIES_ALL);
    struct backend_poller pollers[8];
    options.watch_polls = true;
    struct backend *backend = begin_with(&options);
    kernel->now_ticks += 2000000000;
    emit_call(41, 2);
    assert_int_equal(pollers_now(backend, pollers), 0); /* of an unknown process */
    int readings = kernel->calls[KDEBUG_READ_THREADS];
    add_thread(41, 9);
    assert_int_equal(pollers_now(backend, pollers), 0); /* the map was read a short time before */
    assert_int_equal(kernel->calls[KDEBUG_READ_THREADS], readings);
    kernel->now_ticks += 2000000000;
    assert_int_equal(pollers_now(backend, pollers), 1);
    assert_int_equal(pollers[0].pid, 9);
    backend_destroy(backend);
}

static void test_nobody_asked_who_polls(void **state)
{
    (void)state;
    struct backend_poller pollers[8];
    add_thread(40, 9);
    struct backend *backend = begin();
    emit_call(40, 2);
    assert_int_equal(pollers_now(backend, pollers), 0);
    backend_destroy(backend);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_sequence),
        TEST(destroying_is_enough),
        TEST(voucher_contents_are_recorded),
        TEST(busy_names_the_owner),
        TEST(without_root),
        TEST(each_step_may_fail),
        TEST(a_kernel_that_cannot_leave_us_out),
        TEST(short_reads),
        TEST(what_comes_until_the_end_is_read),
        TEST(loss_is_told),
        TEST(a_lost_record_is_the_cores),
        TEST(the_ring_wraps),
        TEST(categories_are_a_filter),
        TEST(cpus_that_are_none),
        TEST(ticks_become_ns),
        TEST(somebody_takes_it_away),
        TEST(a_kernel_that_stops),
        TEST(a_kernel_that_was_reset),
        TEST(stacks),
        TEST(an_event_loop_waits_for_messages),
        TEST(a_new_thread_polls),
        TEST(nobody_asked_who_polls),
        TEST(stacks_that_the_kernel_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
