/* The units of the event stage: order, merge, tracepoints as text, system calls, threads and
 * processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>

#include <cmocka.h>

#include "event/images.h"
#include "event/machine.h"
#include "event/merge.h"
#include "event/order.h"
#include "event/stacks.h"
#include "event/syscalls.h"
#include "event/tracepoints.h"

/* --- a trace in memory --- */

struct made {
    int fd;
    struct argus_writer *writer;
    char path[32];
};

static struct made make(uint32_t numer, uint32_t denom)
{
    struct argus_trace_header header = {
        .version_major = 1,
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = numer,
        .timebase_denom = denom,
        .page_bytes = 4096,
        .cpu_count = 8,
    };
    struct made made = {.fd = memfd_create("test_event", MFD_CLOEXEC)};
    snprintf(made.path, sizeof(made.path), "/proc/self/fd/%d", made.fd);
    assert_null(argus_writer_create(made.fd, &header, &made.writer));
    return made;
}

static struct argus_trace *finish(struct made *made)
{
    struct argus_trace *trace;
    assert_null(argus_writer_end(made->writer, NULL, 0));
    argus_writer_destroy(made->writer);
    assert_null(argus_trace_open(made->path, &trace));
    return trace;
}

static void unmake(struct made *made, struct argus_trace *trace)
{
    argus_trace_close(trace);
    close(made->fd);
}

static struct argus_record at(uint64_t ticks, uint32_t cpu, uint64_t serial)
{
    return (struct argus_record){
        .timestamp = ticks, .cpu = cpu, .debugid = ARGUS_ID_SAMPLE, .tid = 1, .arg = {serial}};
}

/* --- order --- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 16;
}

/* Sorted, nothing lost, ties in the order they came. */
static void check_order(const struct argus_record *records, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += records[i].arg[0];
        if (!i)
            continue;
        assert_true(records[i - 1].timestamp <= records[i].timestamp);
        if (records[i - 1].timestamp == records[i].timestamp)
            assert_true(records[i - 1].arg[0] < records[i].arg[0]);
    }
    assert_int_equal(sum, count * (count - 1) / 2);
}

static void orders_any_array(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct argus_record *records = calloc(COUNT, sizeof(*records));
    uint64_t random = 1234567;
    for (int shape = 0; shape < 4; shape++) {
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t times[] = {
                i * 10,                              /* sorted */
                i * 10 + next_random(&random) % 50,  /* nearly */
                (COUNT - i) / 3,                     /* backward, with ties */
                next_random(&random) % (COUNT / 10), /* none */
            };
            records[i] = at(times[shape], 0, i);
        }
        assert_true(order_records(records, COUNT));
        check_order(records, COUNT);
    }
    free(records);
}

/* --- merge --- */

static void merges_cpus_across_chunks(void **state)
{
    (void)state;
    enum { CPUS = 5, CHUNKS = 7, RECORDS = 300 };
    struct made made = make(1, 1);
    uint64_t random = 99, base[CPUS] = {0};
    for (int chunk = 0; chunk < CHUNKS; chunk++)
        for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
            struct argus_record records[RECORDS];
            for (size_t i = 0; i < RECORDS; i++) {
                /* up to 30 places from their own: also across the end of the chunk */
                base[cpu] += 10 + cpu;
                records[i] = at(1000 + base[cpu] - next_random(&random) % 300, cpu,
                                (uint64_t)chunk * RECORDS + i);
            }
            assert_null(argus_writer_records(made.writer, cpu, records, RECORDS, 0));
        }
    struct argus_trace *trace = finish(&made);
    struct merge *merge;
    assert_null(merge_create(trace, &merge));
    const struct argus_record *record;
    uint64_t last_ns = 0, of_cpu[CPUS] = {0}, count = 0;
    uint32_t last_cpu = 0;
    for (;;) {
        assert_null(merge_next(merge, &record));
        if (!record)
            break;
        assert_true(record->timestamp >= last_ns);
        if (record->timestamp == last_ns && count)
            assert_true(record->cpu >= last_cpu);
        last_ns = record->timestamp;
        last_cpu = record->cpu;
        of_cpu[record->cpu] += record->arg[0];
        count++;
    }
    assert_int_equal(count, CPUS * CHUNKS * RECORDS);
    assert_int_equal(merge_position(merge), count);
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) /* every serial number once */
        assert_int_equal(of_cpu[cpu], (uint64_t)CHUNKS * RECORDS * (CHUNKS * RECORDS - 1) / 2);
    merge_destroy(merge);
    unmake(&made, trace);
}

static void merge_says_what_was_lost(void **state)
{
    (void)state;
    struct made made = make(1, 1);
    struct argus_record one = at(1000, 2, 0), two = at(5000, 2, 1);
    assert_null(argus_writer_records(made.writer, 2, &one, 1, 0));
    assert_null(argus_writer_records(made.writer, 2, &two, 1, 42));
    assert_null(argus_writer_records(made.writer, 2, NULL, 0, 7)); /* lost at the end */
    struct argus_trace *trace = finish(&made);
    struct merge *merge;
    assert_null(merge_create(trace, &merge));
    const struct argus_record *record;
    static const struct {
        uint32_t debugid;
        uint64_t arg1, arg2;
    } expected[] = {
        {ARGUS_ID_SAMPLE, 0, 0},
        {MERGE_ID_LOST, 42, 1000},
        {ARGUS_ID_SAMPLE, 1, 0},
        {MERGE_ID_LOST, 7, 5000},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
        assert_null(merge_next(merge, &record));
        assert_non_null(record);
        assert_int_equal(record->debugid, expected[i].debugid);
        assert_int_equal(record->arg[0], expected[i].arg1);
        assert_int_equal(record->arg[1], expected[i].arg2);
        assert_int_equal(record->cpu, 2);
    }
    assert_null(merge_next(merge, &record));
    assert_null(record);
    assert_int_equal(merge_position(merge), 2);
    merge_destroy(merge);
    unmake(&made, trace);
}

static void merge_gives_nanoseconds(void **state)
{
    (void)state;
    struct made made = make(125, 3);
    struct argus_record one = at(3000, 0, 0);
    assert_null(argus_writer_records(made.writer, 0, &one, 1, 0));
    struct argus_trace *trace = finish(&made);
    struct merge *merge;
    const struct argus_record *record;
    assert_null(merge_create(trace, &merge));
    assert_null(merge_next(merge, &record));
    assert_int_equal(record->timestamp, 125000);
    merge_destroy(merge);
    unmake(&made, trace);
}

/* --- tracepoints --- */

static void names_and_texts(void **state)
{
    (void)state;
    static const struct {
        struct argus_record record;
        const char *name, *text;
    } rows[] = {
        {{.debugid = ARGUS_ID_SWITCH, .arg = {1, 4712, 120, 100}},
         "switch",
         "switch state=1 next=4712 priority=120 next_priority=100"},
        {{.debugid = ARGUS_ID_SYSCALL(202) | ARGUS_FUNC_START, .arg = {0x7000, 128, 0, 0}},
         "syscall_start",
         "syscall_start nr=202 arg1=0x7000 arg2=0x80 arg3=0x0 arg4=0x0"},
        {{.debugid = ARGUS_ID_SYSCALL(0) | ARGUS_FUNC_END, .arg = {4, ~0ull, 0, 10}},
         "syscall_end",
         "syscall_end nr=0 error=4 result=-1 pid=10"},
        {{.debugid = ARGUS_ID_TIMER_FIRED | ARGUS_FUNC_START, .arg = {0xffff8880, 0x81, 9}},
         "timer_fired_start",
         "timer_fired_start timer=0xffff8880 function=0x81 now=9 mode=0x0"},
        {{.debugid = ARGUS_ID_NAME_EXEC, .arg = {0x68736162}}, "name_exec", "name_exec name=bash"},
        {{.debugid = ARGUS_ID_CPU_LIMITS, .arg = {3, 77, 5000000, 1000000000}},
         "cpu_limits",
         "cpu_limits cpus=0x3 group=77 quota=5000000 period=1000000000"},
        {{.debugid = ARGUS_ID_CPU_GROUP, .arg = {0x707061}}, "cpu_group", "cpu_group name=app"},
        {{.debugid = ARGUS_ID_FILE_LOCK_NAME, .arg = {0x707061}},
         "file_lock_name",
         "file_lock_name name=app"},
        {{.debugid = ARGUS_ID_CALL_PATH, .arg = {0x70612f}}, "call_path", "call_path name=/ap"},
        {{.debugid = ARGUS_ID_OPEN_END, .arg = {77, 2, 3, 0x1000}},
         "open_end",
         "open_end inode=77 access=2 fd=3 mode=0x1000"},
        {{.debugid = ARGUS_ID_REMOTE, .arg = {77, 0x0201000a, 0, 53}},
         "remote",
         "remote inode=77 address=0x201000a address_low=0x0 ports=0x35"},
        {{.debugid = ARGUS_ID_FILE_NAME, .arg = {77, 0x70612f}},
         "file_name",
         "file_name inode=77 name=/ap"},
        {{.debugid = ARGUS_ID_WAITING, .arg = {7, 1, 2, 3}},
         "waiting",
         "waiting call=0x7 arg1=0x1 arg2=0x2 stack=0x3"},
        {{.debugid = ARGUS_ID_MEMORY_STALL, .arg = {2, 5000000, 77, 1 << 20}},
         "memory_stall",
         "memory_stall what=0x2 length=5000000 group=77 limit=1048576"},
        {{.debugid = ARGUS_ID_MEMORY_GROUP, .arg = {0x707061}},
         "memory_group",
         "memory_group name=app"},
        {{.debugid = ARGUS_ID_MEMORY_SIZE, .arg = {10, 4096, 8192, 0}},
         "memory_size",
         "memory_size process=10 own=4096 shared=8192 swapped=0"},
        {{.debugid = ARGUS_ID_FLAG_SHARED, .arg = {0x7000, 77, 0x19, 64}},
         "flag_shared",
         "flag_shared flag=0x7000 inode=77 device=0x19 offset=64"},
        {{.debugid = ARGUS_ID_SHARED_MEMORY, .arg = {0x7001, 77, 4096, 1ull << 32 | 25}},
         "shared_memory",
         "shared_memory start=0x7001 inode=77 offset=4096 size=0x100000019"},
        {{.debugid = 0x12345678, .arg = {1, 2, 3, 4}},
         NULL,
         "0x12345678 arg1=0x1 arg2=0x2 arg3=0x3 arg4=0x4"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[300], small[8];
        if (rows[i].name)
            assert_string_equal(argus_tracepoint_name(rows[i].record.debugid), rows[i].name);
        else
            assert_null(argus_tracepoint_name(rows[i].record.debugid));
        assert_string_equal(argus_record_text(&rows[i].record, ARGUS_OS_LINUX, text, sizeof(text)),
                            rows[i].text);
        argus_record_text(&rows[i].record, ARGUS_OS_LINUX, small, sizeof(small));
        assert_int_equal(strlen(small), sizeof(small) - 1);
        assert_memory_equal(small, rows[i].text, sizeof(small) - 1);
    }
}

static void system_calls(void **state)
{
    (void)state;
    assert_string_equal(syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_X86_64, 202)->name, "futex");
    assert_string_equal(syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_AARCH64, 98)->name, "futex");
    assert_string_equal(syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_AARCH64, 63)->name, "read");
    assert_int_equal(syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_AARCH64, 63)->wait, ARGUS_WAIT_READ);
    assert_null(syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_X86_64, 9999)->name);
    assert_null(syscall_row(ARGUS_OS_DARWIN, ARGUS_ARCH_X86_64, 0)->name);
    uint64_t none[4] = {0x7000, 0, 100, 0}, some[4] = {0x7000, 2, 100, 0};
    const struct syscall_row *poll = syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_X86_64, 7);
    assert_true(syscall_polls_nothing(poll, none));
    assert_false(syscall_polls_nothing(poll, some));
    assert_false(syscall_polls_nothing(syscall_row(ARGUS_OS_LINUX, ARGUS_ARCH_X86_64, 0), none));
}

/* --- machine --- */

static void write_tables(struct argus_writer *writer)
{
    struct argus_thread_entry early[] = {
        {.tid = 10, .pid = 10, .parent_pid = 1, .name = "editor", .seen_ticks = 100},
        {.tid = 11, .pid = 10, .parent_pid = 1, .name = "worker", .seen_ticks = 100},
    };
    struct argus_thread_entry late[] = {
        {.tid = 20, .pid = 20, .parent_pid = 1, .name = "met-before", .seen_ticks = 9000},
        {.tid = 30, .pid = 30, .parent_pid = 1, .name = "second-life", .seen_ticks = 9000},
    };
    assert_null(argus_writer_threads(writer, early, 2));
    struct argus_record record = at(9000, 0, 0);
    assert_null(argus_writer_records(writer, 0, &record, 1, 0));
    assert_null(argus_writer_threads(writer, late, 2));
}

static void lives_of_threads(void **state)
{
    (void)state;
    struct made made = make(1, 1);
    write_tables(made.writer);
    struct argus_trace *trace = finish(&made);
    struct machine machine;
    assert_null(machine_init(&machine, trace));
    machine_apply_tables(&machine, 1000);
    uint32_t worker = machine_find_thread(&machine, 11);
    assert_string_equal(machine.threads.data[worker].name, "worker");
    assert_int_equal(machine_thread(&machine, 0), ARGUS_NONE);

    /* seen before its table: named at once; ID 30 is reused before, so the entry is that of the
     * later life */
    uint32_t met = machine_thread(&machine, 20), first = machine_thread(&machine, 30);
    assert_string_equal(machine.threads.data[met].name, "met-before");
    struct argus_record creation = {.tid = 10, .arg = {30, 30, 1, 10}};
    uint32_t second =
        machine_new_thread(&machine, &creation, machine_find_thread(&machine, 10), 5000);
    assert_int_not_equal(first, second);
    assert_string_equal(machine.threads.data[first].name, "");
    assert_int_equal(machine.threads.data[first].end_ns, 5000);
    assert_int_equal(machine.threads.data[second].start_ns, 5000);

    /* an unknown thread, whose process is known from a system call */
    uint32_t unknown = machine_thread(&machine, 12);
    machine_belongs(&machine, unknown, 10);
    machine_finish(&machine);
    assert_string_equal(machine.threads.data[second].name, "second-life");
    const struct argus_process *processes = machine.processes.data;
    assert_int_equal(processes[machine.threads.data[unknown].process].pid, 10);
    assert_string_equal(processes[machine.threads.data[worker].process].name, "editor");
    const struct argus_process *forked = &processes[machine.threads.data[second].process];
    assert_int_equal(processes[forked->forked_from].pid, 10);
    assert_int_equal(forked->parent_pid, 10);
    for (size_t i = 0; i < machine.processes.length; i++) /* no empty entry of thread 12 */
        assert_int_not_equal(processes[i].pid, 12);
    machine_deinit(&machine);
    unmake(&made, trace);
}

static void stacks_are_used_once(void **state)
{
    (void)state;
    struct made made = make(1, 1);
    uint64_t frames[] = {0x1000, 0x2000, 0x3000};
    assert_null(argus_writer_stack(made.writer, 0x11, frames, 3));
    assert_null(argus_writer_stack(made.writer, 0x22, frames, 1));
    assert_null(
        argus_writer_stack(made.writer, 0x44, frames, 3)); /* the same place with another ID */
    struct argus_trace *trace = finish(&made);
    struct stacks stacks = {.trace = trace};
    uint32_t one = stacks_use(&stacks, 0x22), two = stacks_use(&stacks, 0x11);
    assert_int_equal(one, 0);
    assert_int_equal(two, 1);
    assert_int_equal(stacks_use(&stacks, 0x22), one);
    assert_int_equal(stacks_use(&stacks, 0x44), two);
    assert_int_equal(stacks_use(&stacks, 0), ARGUS_NONE);
    assert_int_equal(stacks_use(&stacks, 0x33), ARGUS_NONE);
    assert_int_equal(stacks_get(&stacks, two).count, 3);
    assert_int_equal(stacks_get(&stacks, two).frames[2], 0x3000);
    assert_int_equal(stacks_get(&stacks, ARGUS_NONE).count, 0);
    stacks_deinit(&stacks);
    unmake(&made, trace);
}

/* In a ring the record of a process's fork may have been overwritten. */
static void images_of_older_processes(void **state)
{
    (void)state;
    struct made made = make(1, 1);
    struct argus_image_entry entries[] = {
        {.pid = 10, .start = 0x1000, .end = 0x2000, .path = "/usr/lib/of_parent.so"},
        {.pid = 20, .start = 0x1000, .end = 0x1800, .path = "/usr/lib/of_child.so"},
    };
    assert_null(argus_writer_images(made.writer, entries, 2));
    struct argus_trace *trace = finish(&made);
    const struct argus_process processes[] = {
        {.pid = 20, .parent_pid = 10, .end_ns = UINT64_MAX, .forked_from = ARGUS_NONE},
        {.pid = 21, .end_ns = UINT64_MAX, .forked_from = ARGUS_NONE},
        {.pid = 22,
         .parent_pid = 10,
         .end_ns = UINT64_MAX,
         .exec_ns = 5,
         .forked_from = ARGUS_NONE},
        {.pid = 23, .parent_pid = 10, .start_ns = 5, .end_ns = 9, .forked_from = ARGUS_NONE},
    };
    struct images images;
    assert_null(images_init(&images, trace, processes, 4));
    assert_int_equal(images_find(&images, 0, 9, 0x1400), 1);
    assert_int_equal(images_find(&images, 0, 9, 0x1900), 0);
    for (uint32_t process = 1; process < 4; process++) /* which does not share its parent's */
        assert_int_equal(images_find(&images, process, 9, 0x1900), UINT32_MAX);
    images_deinit(&images);
    unmake(&made, trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_any_array),          cmocka_unit_test(merges_cpus_across_chunks),
        cmocka_unit_test(merge_says_what_was_lost),  cmocka_unit_test(merge_gives_nanoseconds),
        cmocka_unit_test(names_and_texts),           cmocka_unit_test(system_calls),
        cmocka_unit_test(lives_of_threads),          cmocka_unit_test(stacks_are_used_once),
        cmocka_unit_test(images_of_older_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
