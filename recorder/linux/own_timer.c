/* Which function perf_event's cpu clock has its timers call. /proc/kallsyms would say it by name, but the kernel writes some
 * 100,000 lines before that one: 30 ms, and a second in an emulator. So a clock is started for this thread alone, a few times,
 * while the tracepoint of timers is listened to: the function that comes each time is it. */
#include "linux/own_timer.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS     4u /* a tick of the scheduler does not come so often in some microseconds */
#define CANDIDATES 8u

struct candidates {
    uint64_t functions[CANDIDATES];
    unsigned counts[CANDIDATES];
};

static int open_for_this_thread(uint32_t type, uint64_t config, uint64_t period)
{
    struct perf_event_attr attributes = {
        .type = type,
        .size = sizeof(attributes),
        .config = config,
        .sample_period = period,
        .sample_type = PERF_SAMPLE_RAW,
        .disabled = 1,
        .pinned = type == PERF_TYPE_TRACEPOINT, /* stays while the clock comes and goes */
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void count(struct candidates *candidates, uint64_t function)
{
    for (size_t i = 0; function && i < CANDIDATES; i++) {
        if (candidates->functions[i] && candidates->functions[i] != function)
            continue;
        candidates->functions[i] = function;
        candidates->counts[i]++;
        return;
    }
}

/* The buffer is never so full that a record wraps: it is one page, and each record takes about 100 bytes. */
static void read_samples(const struct perf_event_mmap_page *page, size_t page_bytes,
                         const struct event_field *function, struct candidates *ret)
{
    const char *data = (const char *)page + page_bytes;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;
    while (at + sizeof(struct perf_event_header) + sizeof(uint32_t) <= head && head <= page_bytes) {
        const struct perf_event_header *header = (const void *)(data + at);
        uint32_t raw_bytes;
        memcpy(&raw_bytes, header + 1, sizeof(raw_bytes));
        if (header->size < sizeof(*header) + sizeof(raw_bytes))
            return;
        if (header->type == PERF_RECORD_SAMPLE &&
            raw_bytes <= header->size - sizeof(*header) - sizeof(raw_bytes))
            count(ret, event_field_number(function, (const char *)(header + 1) + sizeof(raw_bytes),
                                          raw_bytes));
        at += header->size;
    }
}

static void listen(int timers, int clock, const struct event_field *function,
                   struct candidates *ret)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, timers, 0);
    if (page == MAP_FAILED)
        return;
    ioctl(timers, PERF_EVENT_IOC_ENABLE, 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        ioctl(clock, PERF_EVENT_IOC_ENABLE, 0);
        ioctl(clock, PERF_EVENT_IOC_DISABLE, 0);
    }
    ioctl(timers, PERF_EVENT_IOC_DISABLE, 0);
    read_samples(page, page_bytes, function, ret);
    munmap(page, 2 * page_bytes);
}

uint64_t own_timer_function(uint32_t tracepoint, const struct event_field *function)
{
    struct candidates candidates = {0};
    uint64_t found = 0;
    unsigned several = 0;
    int timers = open_for_this_thread(PERF_TYPE_TRACEPOINT, tracepoint, 1);
    int clock = open_for_this_thread(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1000000000u);
    if (timers >= 0 && clock >= 0)
        listen(timers, clock, function, &candidates);
    for (size_t i = 0; i < CANDIDATES; i++) {
        bool is_it = candidates.counts[i] >= ROUNDS;
        found = is_it ? candidates.functions[i] : found;
        several += is_it;
    }
    if (timers >= 0)
        close(timers);
    if (clock >= 0)
        close(clock);
    return several == 1 ? found : 0;
}
