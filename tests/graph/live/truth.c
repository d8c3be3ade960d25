#include "truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_OF_A_SECOND 1000000000ull

uint64_t truth_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_OF_A_SECOND + (uint64_t)now.tv_nsec;
}

int truth_tid(void)
{
    return (int)syscall(SYS_gettid);
}

static long switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

struct truth_wait truth_begin(void)
{
    return (struct truth_wait){
        .thread = truth_tid(), .switches = switches(), .from_ns = truth_now_ns()};
}

void truth_say(const struct truth_wait *wait)
{
    uint64_t to_ns = truth_now_ns();
    char line[256];
    int length =
        snprintf(line, sizeof(line),
                 "wait %d %" PRIu64 " %" PRIu64 " direct %d %s through %d,%d never %d,%d,%d,%d\n",
                 wait->thread, wait->from_ns, to_ns, wait->direct, wait->weak ? "weak" : "strong",
                 wait->through[0], wait->through[1], wait->never[0], wait->never[1], wait->never[2],
                 wait->never[3]);
    if (switches() != wait->switches && write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(1);
}

void truth_sleep_until_ns(uint64_t time_ns)
{
    struct timespec until = {.tv_sec = (time_t)(time_ns / NS_OF_A_SECOND),
                             .tv_nsec = (long)(time_ns % NS_OF_A_SECOND)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
        continue;
}

void truth_spin_ms(unsigned ms)
{
    uint64_t until_ns = truth_now_ns() + ms * 1000000ull;
    while (truth_now_ns() < until_ns)
        continue;
}
