/* Records from samples of perf_event, row by row: the test makes the samples, field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "recorder/linux/online_cpus.h"
#include "recorder/linux/perf/perf_translate.h"

#define OWN_PID  77
#define CLOCK_FN 0xffffffff81000000ull

struct fixture {
    struct record_rings rings;
    struct translator translator;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_null(record_rings_init(&fixture->rings, 2, 4096));
    fixture->translator = (struct translator){
        .rings = &fixture->rings,
        .stacks = stack_table_create(),
        .threads = seen_threads_create(),
        .own_pid = OWN_PID,
        .own_timer_function = CLOCK_FN,
        .long_syscalls = {1ull << 9},
    };
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    stack_table_destroy(fixture->translator.stacks);
    seen_threads_destroy(fixture->translator.threads);
    idmap_deinit(&fixture->translator.own_timers);
    record_rings_deinit(&fixture->rings);
    free(fixture);
    return 0;
}

/* The contents of a sample; every field of the row is a 64-bit number, or `text`. */
struct made {
    const char *row; /* NULL: the clock */
    uint64_t numbers[PERF_FIELD_LIMIT];
    const char *text; /* of the field at `text_at` */
    unsigned text_at;
    uint8_t flags;
    uint32_t pid, tid;
    bool is_32bit;
    const uint64_t *frames;
    size_t frame_count;
};

static const struct perf_row *row_named(const char *name)
{
    for (size_t i = 0; i < perf_row_count; i++) {
        if (name ? perf_rows[i].name && strcmp(perf_rows[i].name, name) == 0 : !perf_rows[i].name)
            return &perf_rows[i];
    }
    fail_msg("there is no row %s", name);
    return NULL;
}

/* Translates the sample; returns the number of records in `ret`. */
static size_t translate(struct fixture *fixture, const struct made *made, struct argus_record *ret)
{
    char raw[PERF_FIELD_LIMIT * 8 + 32] = {0};
    struct event_field fields[PERF_FIELD_LIMIT];
    for (unsigned i = 0; i < PERF_FIELD_LIMIT; i++) {
        fields[i] = (struct event_field){.offset = i * 8, .bytes = 8};
        memcpy(raw + fields[i].offset, &made->numbers[i], 8);
    }
    if (made->text) {
        fields[made->text_at] = (struct event_field){.offset = PERF_FIELD_LIMIT * 8, .bytes = 32};
        memcpy(raw + PERF_FIELD_LIMIT * 8, made->text, strlen(made->text));
    }
    struct perf_sample sample = {
        .cpu = 1,
        .time_ns = 1000,
        .pid = made->pid,
        .is_32bit = made->is_32bit,
        .frames = made->frames,
        .frame_count = made->frame_count,
        .raw = raw,
        .raw_bytes = sizeof(raw),
    };
    struct translation now = {
        .translator = &fixture->translator,
        .sample = &sample,
        .fields = fields,
        .tid = made->tid ? made->tid : made->pid,
        .flags = made->flags,
    };
    uint64_t lost;
    row_named(made->row)->translate(&now);
    return record_rings_read(&fixture->rings, 1, ret, 8, &lost);
}

static void states_of_the_outgoing_thread(void **state)
{
    static const struct {
        uint64_t reported, expected;
    } cases[] = {
        {0, 0},       {1, 1},       {2, 2},        {4, 4},     {8, 8},
        {0x10, 0x80}, {0x20, 0x80}, {0x80, 0x402}, {0x100, 0}, {0x101, 0},
    };
    struct argus_record records[8];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made = {
            .row = "sched_switch", .pid = 10, .numbers = {cases[i].reported, 11, 120, 100}};
        assert_int_equal(translate(*state, &made, records), 1);
        assert_int_equal(records[0].debugid, ARGUS_ID_SWITCH);
        assert_int_equal(records[0].arg[0], cases[i].expected);
        assert_int_equal(records[0].arg[1], 11);
        assert_int_equal(records[0].arg[2], 120);
        assert_int_equal(records[0].arg[3], 100);
        assert_int_equal(records[0].tid, 10);
        assert_int_equal(records[0].cpu, 1);
        assert_int_equal(records[0].timestamp, 1000);
    }
}

static const uint64_t both_stacks[] = {(uint64_t)PERF_CONTEXT_KERNEL,
                                       0xffffffff81000001ull,
                                       0xffffffff81000002ull,
                                       (uint64_t)PERF_CONTEXT_USER,
                                       0x401000,
                                       0x402000,
                                       0x10,
                                       0x403000};
static const uint64_t kernel_stack[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000001ull};

static void stacks_of_who_blocks(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[8];
    uint64_t frames[127];
    struct made made = {.row = "sched_switch",
                        .pid = 10,
                        .numbers = {1, 11, 120, 120},
                        .frames = both_stacks,
                        .frame_count = 8};
    assert_int_equal(translate(fixture, &made, records), 2);
    assert_int_equal(records[1].debugid, ARGUS_ID_STACK);
    assert_int_equal(records[1].arg[2], ARGUS_STACK_BLOCK);
    /* 0x10 is no address: an invalid frame pointer */
    assert_int_equal(stack_table_get(fixture->translator.stacks, records[1].arg[0], frames), 2);
    assert_int_equal(frames[1], 0x402000);
    assert_int_equal(stack_table_get(fixture->translator.stacks, records[1].arg[1], frames), 2);
    assert_int_equal(frames[0], 0xffffffff81000001ull);

    made.frames = kernel_stack; /* a kernel thread */
    made.frame_count = 2;
    assert_int_equal(translate(fixture, &made, records), 1);
    made.pid = OWN_PID; /* the thread is on this CPU, but its stack is not known */
    made.frames = both_stacks;
    made.frame_count = 8;
    assert_int_equal(translate(fixture, &made, records), 1);
}

static void contexts_of_a_wake_up(void **state)
{
    static const struct {
        uint8_t flags, expected;
    } cases[] = {
        {0x01, ARGUS_CONTEXT_TASK},    {0x10, ARGUS_CONTEXT_SOFTIRQ}, {0x18, ARGUS_CONTEXT_HARDIRQ},
        {0x09, ARGUS_CONTEXT_HARDIRQ}, {0x58, ARGUS_CONTEXT_NMI},     {0x80, ARGUS_CONTEXT_TASK},
    };
    struct argus_record records[8];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made made = {
            .row = "sched_waking", .pid = 10, .flags = cases[i].flags, .numbers = {20, 120}};
        assert_int_equal(translate(*state, &made, records), 1);
        assert_int_equal(records[0].debugid, ARGUS_ID_MAKE_RUNNABLE);
        assert_int_equal(records[0].arg[0], 20);
        assert_int_equal(records[0].arg[2], 0);
        assert_int_equal(records[0].arg[3], cases[i].expected);
    }
    struct made made = {.row = "sched_wakeup_new", .pid = 10, .numbers = {20, 120}};
    assert_int_equal(translate(*state, &made, records), 1);
    assert_int_equal(records[0].arg[2], 1);
}

static void we_are_not_recorded(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[8];
    struct bpf_thread own = {.pid = OWN_PID};
    seen_threads_put(fixture->translator.threads, OWN_PID, &own);
    struct made waking = {.row = "sched_waking", .pid = OWN_PID, .numbers = {20, 120}};
    assert_int_equal(translate(fixture, &waking, records), 0);
    waking.flags = 0x08; /* but a thread that an interrupt wakes meanwhile is recorded */
    assert_int_equal(translate(fixture, &waking, records), 1);
    waking = (struct made){.row = "sched_waking", .pid = 10, .numbers = {OWN_PID, 120}};
    assert_int_equal(translate(fixture, &waking, records), 0);
    struct made call = {.row = "sys_enter", .pid = OWN_PID};
    assert_int_equal(translate(fixture, &call, records), 0);
    call.row = "sys_exit";
    assert_int_equal(translate(fixture, &call, records), 0);
}

static void results_of_system_calls(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[8];
    struct made made = {.row = "sys_exit", .pid = 10, .tid = 12, .numbers = {0, (uint64_t)-11}};
    assert_int_equal(translate(fixture, &made, records), 1);
    assert_int_equal(records[0].debugid, ARGUS_ID_SYSCALL(0) | ARGUS_FUNC_END);
    assert_int_equal(records[0].tid, 12);
    assert_int_equal(records[0].arg[0], 11);
    assert_int_equal(records[0].arg[1], (uint64_t)-11);
    assert_int_equal(records[0].arg[3], 10);

    made.numbers[0] = UINT64_MAX; /* after a signal handler */
    made.numbers[1] = 5;
    assert_int_equal(translate(fixture, &made, records), 1);
    assert_int_equal(records[0].debugid, ARGUS_ID_SYSCALL(SYS_rt_sigreturn) | ARGUS_FUNC_END);
    assert_int_equal(records[0].arg[0], 0);
}

/* Their numbers have another meaning; the operation of a multiplexed call is unknown. */
static void calls_of_32_bit_programs(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[8];
    struct made made = {.row = "sys_enter", .pid = 10, .numbers = {4}, .is_32bit = true};
    fixture->translator.compat_calls[4] = SYS_write + 1;
    fixture->translator.compat_calls[102] = COMPAT_SOCKETCALL | 1;
    fixture->translator.compat_skipped = 0;
    assert_int_equal(translate(fixture, &made, records), 1);
    assert_int_equal(records[0].debugid, ARGUS_ID_SYSCALL(SYS_write) | ARGUS_FUNC_START);
    made.row = "sys_exit";
    assert_int_equal(translate(fixture, &made, records), 1);
    assert_int_equal(records[0].debugid, ARGUS_ID_SYSCALL(SYS_write) | ARGUS_FUNC_END);
    made.numbers[0] = 102;
    assert_int_equal(translate(fixture, &made, records), 0);
    made.numbers[0] = 17; /* in no table */
    assert_int_equal(translate(fixture, &made, records), 0);
    assert_int_equal(fixture->translator.compat_skipped, 2);
}

static void a_long_system_call_has_a_second_record(void **state)
{
    struct argus_record records[8];
    struct made made = {.row = "sys_enter", .pid = 10, .numbers = {9}};
    assert_int_equal(translate(*state, &made, records), 2);
    assert_int_equal(records[0].debugid, ARGUS_ID_SYSCALL(9) | ARGUS_FUNC_START);
    assert_int_equal(records[1].debugid, ARGUS_ID_SYSCALL_MORE);
    assert_int_equal(records[1].arg[0], 9);
    made.numbers[0] = 1;
    assert_int_equal(translate(*state, &made, records), 1);
}

static void the_life_of_a_process(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[8];
    struct bpf_thread shell = {.pid = 10, .parent_pid = 1};
    seen_threads_put(fixture->translator.threads, 10, &shell);

    struct made fork = {
        .row = "task_newtask", .pid = 10, .numbers = {20}, .text = "sh", .text_at = 1};
    assert_int_equal(translate(fixture, &fork, records), 2);
    assert_int_equal(records[0].debugid, ARGUS_ID_NEW_THREAD);
    assert_int_equal(records[0].arg[1], 20); /* a new process … */
    assert_int_equal(records[0].arg[2], 1);
    assert_int_equal(records[0].arg[3], 10);
    assert_int_equal(records[1].debugid, ARGUS_ID_NAME_NEW);
    assert_memory_equal(records[1].arg, "sh\0", 3);

    struct made thread = {
        .row = "task_newtask", .pid = 20, .numbers = {21, 0, 0x10000}, .text = "x", .text_at = 1};
    assert_int_equal(translate(fixture, &thread, records), 2);
    assert_int_equal(records[0].arg[1], 20); /* … and a thread in it, with the same parent */
    assert_int_equal(records[0].arg[2], 0);
    assert_int_equal(records[0].arg[3], 10);

    struct made exec = {.row = "sched_process_exec",
                        .pid = 20,
                        .numbers = {0, 20},
                        .text = "/usr/bin/a-very-long-name",
                        .text_at = 0};
    assert_int_equal(translate(fixture, &exec, records), 2);
    assert_int_equal(records[0].debugid, ARGUS_ID_EXEC);
    assert_int_equal(records[1].debugid, ARGUS_ID_NAME_EXEC);
    assert_memory_equal(records[1].arg, "a-very-long-nam\0\0", 17);
    assert_string_equal(seen_threads_find(fixture->translator.threads, 20)->comm,
                        "a-very-long-nam");
}

/* The row says whether the kernel reports it; here it does not. */
static void the_last_thread_of_a_process(void **state)
{
    struct fixture *fixture = *state;
    struct bpf_thread thread = {.pid = 20};
    seen_threads_put(fixture->translator.threads, 20, &thread);
    seen_threads_put(fixture->translator.threads, 21, &thread);
    assert_false(seen_threads_end(fixture->translator.threads, 20, 5));
    assert_true(seen_threads_end(fixture->translator.threads, 21, 5));
    assert_false(seen_threads_end(fixture->translator.threads, 21, 5));
    seen_threads_put(fixture->translator.threads, 21, &thread); /* the number is used again */
    assert_true(seen_threads_end(fixture->translator.threads, 21, 5));
    assert_non_null(seen_threads_find(fixture->translator.threads, 20));
}

static void our_own_clock_is_no_timer_of_theirs(void **state)
{
    struct argus_record records[8];
    struct made made = {.row = "hrtimer_start", .pid = 10, .numbers = {0x1000, CLOCK_FN, 5, 0}};
    assert_int_equal(translate(*state, &made, records), 0);
    made.row = "hrtimer_expire_exit";
    assert_int_equal(translate(*state, &made, records), 0);
    made.row = "hrtimer_cancel";
    assert_int_equal(translate(*state, &made, records), 0);
    made =
        (struct made){.row = "hrtimer_start", .pid = 10, .numbers = {0x2000, CLOCK_FN + 1, 5, 1}};
    assert_int_equal(translate(*state, &made, records), 1);
    assert_int_equal(records[0].debugid, ARGUS_ID_TIMER_ARMED);
    assert_int_equal(records[0].arg[1], CLOCK_FN + 1);
    assert_int_equal(records[0].arg[2], 5);
}

static void a_request_has_one_id_from_issue_to_completion(void **state)
{
    static const struct {
        const char *letters;
        uint64_t operation;
    } cases[] = {{"R", 0}, {"RA", 0}, {"W", 1}, {"WS", 1}, {"FW", 1}, {"FF", 2}, {"D", 3}};
    struct argus_record records[8];
    struct made done = {.row = "block_rq_complete", .pid = 10, .numbers = {0xfe00000, 99, 8, 0}};
    assert_int_equal(translate(*state, &done, records), 1);
    uint64_t request = records[0].arg[0];
    assert_int_equal(records[0].arg[2], 4096);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made issue = {.row = "block_rq_issue",
                             .pid = 10,
                             .numbers = {0xfe00000, 99, 4096},
                             .text = cases[i].letters,
                             .text_at = 3};
        assert_int_equal(translate(*state, &issue, records), 1);
        assert_int_equal(records[0].arg[0], request);
        assert_int_equal(records[0].arg[3], 0xfe00000 | cases[i].operation << 32);
    }
    done.numbers[0]++;
    assert_int_equal(translate(*state, &done, records), 1);
    assert_int_not_equal(records[0].arg[0], request);
}

static void a_coarse_timer_has_its_expiry_in_ns(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[8];
    fixture->translator.tick_ns = 4000000;
    struct made made = {.row = "timer_start", .pid = 10, .numbers = {0x1000, 0x2000, 105, 100}};
    assert_int_equal(translate(fixture, &made, records), 1);
    assert_int_equal(records[0].arg[2], 1000 + 5 * 4000000);
    assert_int_equal(records[0].arg[3], ARGUS_TIMER_WHEEL);
    made.pid = OWN_PID;
    assert_int_equal(translate(fixture, &made, records), 0);
}

static void old_stacks_are_forgotten_first(void **state)
{
    struct fixture *fixture = *state;
    struct stack_table *stacks = fixture->translator.stacks;
    uint64_t frames[127], first[2] = {0x1000, 1}, used = 0;
    uint64_t first_id = stack_table_put(stacks, first, 2);
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t made[3] = {0x2000, i, 3};
        assert_true(stack_table_put(stacks, made, 3) != 0);
        used = stack_table_put(stacks, (uint64_t[1]){7}, 1); /* one that is always in use */
    }
    assert_int_equal(stack_table_get(stacks, first_id, frames), 0);
    assert_int_equal(stack_table_get(stacks, used, frames), 1);
    assert_int_equal(frames[0], 7);
    uint64_t last[3] = {0x2000, 199999, 3};
    assert_int_equal(stack_table_get(stacks, stack_table_put(stacks, last, 3), frames), 3);
    assert_memory_equal(frames, last, sizeof(last));
}

static void a_ring_keeps_the_newest(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record some[8];
    uint64_t lost, next = 4990;
    for (uint64_t i = 0; i < 5000; i++) {
        struct argus_record record = {.timestamp = i, .cpu = 1};
        record_rings_push(&fixture->rings, &record);
    }
    assert_int_equal(record_rings_read_at(&fixture->rings, 1, &next, some, 8, &lost), 8);
    assert_int_equal(some[0].timestamp, 4990);
    assert_int_equal(record_rings_read_at(&fixture->rings, 1, &next, some, 8, &lost), 2);
    assert_int_equal(some[1].timestamp, 4999);
    assert_int_equal(next, 5000);
    assert_int_equal(record_rings_peek(&fixture->rings, 1, true, some, 2), 2);
    assert_int_equal(some[0].timestamp, 904);
    assert_int_equal(record_rings_peek(&fixture->rings, 1, false, some, 2), 2);
    assert_int_equal(some[1].timestamp, 4999);
    assert_int_equal(record_rings_read(&fixture->rings, 1, some, 8, &lost), 8);
    assert_int_equal(lost, 904);
    assert_int_equal(some[0].timestamp, 904);
    assert_int_equal(record_rings_read(&fixture->rings, 1, some, 8, &lost), 8);
    assert_int_equal(lost, 0);
    assert_int_equal(record_rings_read(&fixture->rings, 0, some, 8, &lost), 0);
}

static void lists_of_cpus(void **state)
{
    bool online[6];
    (void)state;
    assert_true(online_cpus_parse("0-1,3,5-9\n", 6, online));
    const bool expected[6] = {true, true, false, true, false, true};
    assert_memory_equal(online, expected, sizeof(expected));
    assert_true(online_cpus_parse("0\n", 6, online));
    assert_true(online[0] && !online[1]);
    assert_false(online_cpus_parse("0-\n", 6, online));
    assert_false(online_cpus_parse("none\n", 6, online));
    assert_false(online_cpus_parse("0;1\n", 6, online));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(states_of_the_outgoing_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stacks_of_who_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contexts_of_a_wake_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(we_are_not_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_of_system_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(calls_of_32_bit_programs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_system_call_has_a_second_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_life_of_a_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_thread_of_a_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(our_own_clock_is_no_timer_of_theirs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_has_one_id_from_issue_to_completion, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_coarse_timer_has_its_expiry_in_ns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_stacks_are_forgotten_first, set_up, tear_down),
        cmocka_unit_test(lists_of_cpus),
        cmocka_unit_test_setup_teardown(a_ring_keeps_the_newest, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
