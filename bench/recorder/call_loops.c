/* call_loops SECONDS RATE: on every CPU a thread that only makes system calls, for each of which a
 * recorder writes two records. RATE is in calls a second of all threads together, in bursts of a
 * millisecond; 0: as fast as possible. Each call passes its thread's count and a mark as arguments
 * that getppid() ignores, so that check_calls can tell which calls a trace lacks. Prints {"calls":
 * …, "seconds": …}. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "call_mark.h"

#define BURST_NS    1000000ull
#define CALLS_ROUND 256 /* calls between two readings of the clock */
#define THREADS_MAX 256

struct loop {
    pthread_t thread;
    int cpu;
    uint64_t calls, duration_ns, burst_calls; /* burst_calls 0: no pauses */
};

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t time_ns)
{
    struct timespec until = {(time_t)(time_ns / 1000000000u), (long)(time_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void call(struct loop *loop, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        syscall(SYS_getppid, ++loop->calls, CALL_MARK);
}

static void *run(void *argument)
{
    struct loop *loop = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(loop->cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
    uint64_t end_ns = clock_ns() + loop->duration_ns, next_ns = clock_ns();
    while (clock_ns() < end_ns) {
        call(loop, loop->burst_calls ? loop->burst_calls : CALLS_ROUND);
        if (loop->burst_calls) {
            next_ns += BURST_NS; /* a late burst is followed by the next at once */
            sleep_until(next_ns);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct loop loops[THREADS_MAX];
    double seconds = argc == 3 ? strtod(argv[1], NULL) : 0;
    uint64_t rate = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, calls = 0;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN), count = cpus < THREADS_MAX ? cpus : THREADS_MAX;
    if (seconds <= 0) {
        fprintf(stderr, "usage: call_loops SECONDS RATE\n");
        return 2;
    }
    uint64_t began_ns = clock_ns();
    for (long i = 0; i < count; i++) {
        loops[i].cpu = (int)i;
        loops[i].duration_ns = (uint64_t)(seconds * 1e9);
        loops[i].burst_calls = rate * BURST_NS / 1000000000u / (uint64_t)count;
        if (pthread_create(&loops[i].thread, NULL, run, &loops[i]) != 0)
            return 1;
    }
    for (long i = 0; i < count; i++) {
        pthread_join(loops[i].thread, NULL);
        calls += loops[i].calls;
    }
    printf("{\"calls\": %llu, \"seconds\": %.6f}\n", (unsigned long long)calls,
           (double)(clock_ns() - began_ns) / 1e9);
    return 0;
}
