/* The peer: a bare perf_event breakpoint for writes, on a process with one thread, and on threads
 * that it creates later.
 *
 * bare_watch count|sample PID ADDRESS: prints "ready", and at the end of its input how often the
 * flag was hit. count: the event alone. sample: each hit leaves a sample with address, thread,
 * time, pc, call chain and registers in a per-CPU buffer that is never read (as `perf record -e
 * mem:ADDRESS:w -g` does, without the writing).
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_CPUS = 1024, BUFFER_PAGES = 1024 };

static int open_event(pid_t pid, int cpu, uint64_t address, int sample)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(attributes),
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = address,
        .bp_len = HW_BREAKPOINT_LEN_8,
        .sample_period = 1,
        .sample_type = sample ? PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                    PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN
                              : 0,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_callchain_kernel = 1,
        .write_backward = 1, /* the newest samples overwrite the oldest: none is dropped */
    };
    int fd = (int)syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "bare_watch: perf_event_open: %s\n", strerror(errno));
        exit(1);
    }
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (sample &&
        mmap(NULL, (1 + BUFFER_PAGES) * page_bytes, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) {
        fprintf(stderr, "bare_watch: mmap: %s\n", strerror(errno));
        exit(1);
    }
    return fd;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    int sample = strcmp(argv[1], "sample") == 0;
    pid_t pid = (pid_t)atoi(argv[2]);
    uint64_t address = strtoull(argv[3], NULL, 16), hits = 0;
    int fds[MOST_CPUS], cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < cpus && cpu < MOST_CPUS; cpu++)
        fds[cpu] = open_event(pid, cpu, address, sample);
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    for (int cpu = 0; cpu < cpus && cpu < MOST_CPUS; cpu++) {
        uint64_t count;
        if (read(fds[cpu], &count, sizeof(count)) == sizeof(count))
            hits += count;
    }
    printf("%" PRIu64 "\n", hits);
    return 0;
}
