/* Finds the function that the timers of perf_event's CPU clock call. /proc/kallsyms lists it by
 * name, but the kernel writes about 100,000 lines before it: 30 ms, and a second in an emulator. So
 * this code starts a clock for its own thread a few times and reads the tracepoint of timers: the
 * function that appears each time is the one. */
#include "linux/perf/own_timer.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/perf/self_tracepoint.h"

#define ROUNDS     4u /* the scheduler's tick cannot occur this often in some microseconds */
#define CANDIDATES 8u

struct search {
    const struct event_field *function;
    int clock;
    uint64_t functions[CANDIDATES];
    unsigned counts[CANDIDATES];
};

static int open_clock(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = 1000000000u,
        .disabled = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void run_clock(void *context)
{
    const struct search *search = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        ioctl(search->clock, PERF_EVENT_IOC_ENABLE, 0);
        ioctl(search->clock, PERF_EVENT_IOC_DISABLE, 0);
    }
}

static void count(void *context, const void *raw, size_t raw_bytes)
{
    struct search *search = context;
    uint64_t function = event_field_number(search->function, raw, raw_bytes);
    for (size_t i = 0; function && i < CANDIDATES; i++) {
        if (search->functions[i] && search->functions[i] != function)
            continue;
        search->functions[i] = function;
        search->counts[i]++;
        return;
    }
}

uint64_t own_timer_function(uint32_t tracepoint, const struct event_field *function)
{
    struct search search = {.function = function, .clock = open_clock()};
    struct self_tracepoint timers = {tracepoint, run_clock, count, &search};
    uint64_t found = 0;
    unsigned several = 0;
    if (search.clock < 0)
        return 0;
    self_tracepoint_listen(&timers);
    close(search.clock);
    for (size_t i = 0; i < CANDIDATES; i++) {
        bool is_it = search.counts[i] >= ROUNDS;
        found = is_it ? search.functions[i] : found;
        several += is_it;
    }
    return several == 1 ? found : 0;
}
