/* The files of a process that was forked: its own, and those of the process that forked it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "diagnose/suspects/flag_files.h"

/* Where each file is said to be mapped, as a whole; the addresses are made up. */
enum {
    PARENT_AT = 0x100000000,
    LATER_AT = 0x200000000,
    OWN_AT = 0x300000000,
    OLD_AT = 0x400000000
};

static char own_path[4096], trace_path[] = "/tmp/argus-flag-files-XXXXXX";

static struct argus_image_entry image_at(uint64_t pid, uint64_t start, uint64_t mapped_ns)
{
    struct stat status;
    assert_int_equal(stat(own_path, &status), 0);
    return (struct argus_image_entry){.pid = pid,
                                      .start = start,
                                      .end = start + (1 << 24),
                                      .mapped_ticks = mapped_ns,
                                      .inode = status.st_ino,
                                      .path = own_path};
}

/* Process 10 forks 11, whose process ID another one had before. Each maps a library later. */
static void write_trace(void)
{
    const struct argus_trace_header header = {
        .version_major = 1,
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = 1,
        .anchor_wall_ns = 2000000000ull * 1000000000ull, /* after this program was built */
    };
    const struct argus_thread_entry thread = {.tid = 10, .pid = 10, .name = "ten"};
    const struct argus_image_entry images[] = {
        image_at(10, PARENT_AT, 0), image_at(10, LATER_AT, 0), image_at(11, OLD_AT, 1000),
        image_at(11, OWN_AT, 7000)};
    const struct argus_record records[] = {
        {.timestamp = 5000, .tid = 10, .debugid = ARGUS_ID_SYSCALL(39) | ARGUS_FUNC_START},
        {.timestamp = 6000, .tid = 10, .debugid = ARGUS_ID_NEW_THREAD, .arg = {11, 11, 1, 10}},
        {.timestamp = 8000, .tid = 11, .debugid = ARGUS_ID_SYSCALL(39) | ARGUS_FUNC_START},
    };
    struct argus_writer *writer;
    int fd = mkstemp(trace_path);
    assert_true(fd >= 0);
    assert_null(argus_writer_create(fd, &header, &writer));
    assert_null(argus_writer_threads(writer, &thread, 1));
    assert_null(argus_writer_images(writer, images, sizeof(images) / sizeof(images[0])));
    assert_null(argus_writer_records(writer, 0, records, sizeof(records) / sizeof(records[0]), 0));
    assert_null(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    close(fd);
}

static uint32_t find_process(const struct diagnoser *d, uint64_t pid)
{
    uint32_t at = 0;
    while (at < d->view.process_count && d->view.processes[at].pid != pid)
        at++;
    assert_true(at < d->view.process_count);
    return at;
}

/* The places of the files, a bit each: 1 for PARENT_AT, 2 for LATER_AT and so on. */
static unsigned places_of(struct diagnoser *d, uint64_t pid, uint64_t time_ns)
{
    unsigned places = 0;
    struct mapped_file mapped;
    struct mapped_files files = mapped_files_at(d, find_process(d, pid), time_ns);
    while (mapped_files_next(&files, &mapped))
        places |= 1u << (files.images[files.next - 1].start / PARENT_AT - 1);
    return places;
}

static void a_fork_has_both(void **state)
{
    (void)state;
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct diagnoser d = {.symbols = NULL};
    write_trace();
    assert_null(argus_trace_open(trace_path, &trace));
    assert_null(argus_graph_build(trace, NULL, NULL, NULL, &graph));
    assert_null(argus_symbols_create(graph, &d.symbols));
    d.view = view_of(graph);
    assert_int_equal(places_of(&d, 10, 8000), 1 | 2);
    assert_int_equal(places_of(&d, 11, 8000), 1 | 2 | 4); /* nothing of the former process 11 */
    argus_symbols_destroy(d.symbols);
    argus_graph_destroy(graph);
    argus_trace_close(trace);
    unlink(trace_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_fork_has_both)};
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);
    if (length < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
