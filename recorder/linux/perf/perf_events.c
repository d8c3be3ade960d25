#include "linux/perf/perf_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/idmap.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4) /* Linux 6.0 */
#endif

#define NO_FD -1

/* The buffer of a cpu belongs to its first event; the others are directed into it. */
struct perf_cpu {
    int *fds; /* one for each spec; -1: not open */
    struct perf_event_mmap_page *page;
    uint64_t lost_said; /* by PERF_RECORD_LOST */
    /* While draining: */
    uint64_t tail, head;
    bool has_sample;
    struct perf_sample sample;
    char *wrapped; /* buffer for a record that wraps; owned */
};

struct perf_events {
    struct perf_event_spec *specs;
    int *failed; /* for each spec */
    size_t spec_count;
    uint32_t cpu_count;
    size_t page_bytes, data_bytes;
    struct idmap numbers; /* the kernel's id of an event → index of its spec */
    struct perf_cpu *cpus;
};

static struct perf_event_attr attributes_of(const struct perf_event_spec *spec, size_t data_bytes)
{
    struct perf_event_attr attributes = {
        .type = spec->tracepoint ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = spec->tracepoint ? spec->tracepoint : PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = spec->tracepoint ? 1 : spec->period_ns,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                       (spec->tracepoint ? PERF_SAMPLE_RAW : PERF_SAMPLE_IP) |
                       (spec->chain ? PERF_SAMPLE_CALLCHAIN : 0) |
                       (spec->wants_bits ? PERF_SAMPLE_REGS_USER : 0),
        /* Any register: the ABI (32 or 64 bits) is reported with it. */
        .sample_regs_user = spec->wants_bits ? 1 : 0,
        .read_format = PERF_FORMAT_LOST,
        .exclude_callchain_kernel = spec->chain == PERF_CHAIN_USER,
        .exclude_idle = !spec->tracepoint,
        .disabled = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(data_bytes < 1u << 31 ? data_bytes : 1u << 31),
    };
    return attributes;
}

static int open_event(const struct perf_event_spec *spec, uint32_t cpu, size_t data_bytes)
{
    struct perf_event_attr attributes = attributes_of(spec, data_bytes);
    int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL) { /* before Linux 6.0 */
        attributes.read_format = 0;
        fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd;
}

static bool map_buffer(struct perf_events *events, struct perf_cpu *cpu, int fd)
{
    void *page = mmap(NULL, events->page_bytes + events->data_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);
    cpu->page = page == MAP_FAILED ? NULL : page;
    return cpu->page != NULL;
}

/* Directs the event into the buffer of its CPU, which the first event owns, and enables it. */
static bool begin_event(struct perf_events *events, struct perf_cpu *cpu, size_t index, int fd)
{
    const struct perf_event_spec *spec = &events->specs[index];
    uint64_t id;
    bool first = !cpu->page;
    for (size_t i = 0; i < index && !first; i++) {
        if (cpu->fds[i] >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->fds[i]) < 0)
            return false;
        if (cpu->fds[i] >= 0)
            break;
    }
    if (first && !map_buffer(events, cpu, fd))
        return false;
    return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 &&
           idmap_put(&events->numbers, id, (uint32_t)index) &&
           (!spec->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, spec->filter) == 0) &&
           ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static void open_on_cpu(struct perf_events *events, uint32_t number)
{
    struct perf_cpu *cpu = &events->cpus[number];
    for (size_t i = 0; i < events->spec_count; i++) {
        int fd = open_event(&events->specs[i], number, events->data_bytes);
        if (fd < 0 && errno == ENODEV)
            return; /* the cpu is off */
        if (fd >= 0 && begin_event(events, cpu, i, fd)) {
            cpu->fds[i] = fd;
            continue;
        }
        events->failed[i] = errno;
        if (fd >= 0)
            close(fd);
    }
}

static void close_on_cpu(struct perf_events *events, struct perf_cpu *cpu)
{
    for (size_t i = 0; cpu->fds && i < events->spec_count; i++) {
        if (cpu->fds[i] >= 0)
            close(cpu->fds[i]);
        cpu->fds[i] = NO_FD;
    }
    if (cpu->page)
        munmap(cpu->page, events->page_bytes + events->data_bytes);
    cpu->page = NULL;
    cpu->lost_said = cpu->tail = cpu->head = 0;
}

static bool allocate(struct perf_events *events, const struct perf_event_spec *specs)
{
    events->specs = calloc(events->spec_count, sizeof(*specs));
    events->failed = calloc(events->spec_count, sizeof(*events->failed));
    events->cpus = calloc(events->cpu_count, sizeof(*events->cpus));
    if (!events->specs || !events->failed || !events->cpus)
        return false;
    memcpy(events->specs, specs, events->spec_count * sizeof(*specs));
    for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
        events->cpus[cpu].fds = malloc(events->spec_count * sizeof(int));
        events->cpus[cpu].wrapped = malloc(UINT16_MAX + 1u);
        if (!events->cpus[cpu].fds || !events->cpus[cpu].wrapped)
            return false;
        for (size_t i = 0; i < events->spec_count; i++)
            events->cpus[cpu].fds[i] = NO_FD;
    }
    return true;
}

struct argus_error *perf_events_create(const struct perf_event_spec *specs, size_t count,
                                       uint32_t cpu_count, size_t data_bytes,
                                       struct perf_events **ret)
{
    struct perf_events *events = calloc(1, sizeof(*events));
    if (!events)
        return argus_error_memory();
    events->spec_count = count;
    events->cpu_count = cpu_count;
    events->data_bytes = data_bytes;
    events->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (!allocate(events, specs)) {
        perf_events_destroy(events);
        return argus_error_memory();
    }
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
        open_on_cpu(events, cpu);
    *ret = events;
    return NULL;
}

void perf_events_destroy(struct perf_events *events)
{
    if (!events)
        return;
    for (uint32_t cpu = 0; events->cpus && cpu < events->cpu_count; cpu++) {
        close_on_cpu(events, &events->cpus[cpu]);
        free(events->cpus[cpu].fds);
        free(events->cpus[cpu].wrapped);
    }
    idmap_deinit(&events->numbers);
    free(events->cpus);
    free(events->failed);
    free(events->specs);
    free(events);
}

int perf_events_failed(const struct perf_events *events, size_t index)
{
    return events->failed[index];
}

/* --- reading --- */

struct parser {
    const char *at, *end;
    bool good;
};

static const void *take(struct parser *parser, uint64_t bytes)
{
    const void *place = parser->at;
    if (!parser->good || bytes > (uint64_t)(parser->end - parser->at)) {
        parser->good = false;
        return NULL;
    }
    parser->at += bytes;
    return place;
}

static uint64_t take_u64(struct parser *parser)
{
    uint64_t value = 0;
    const void *place = take(parser, sizeof(value));
    if (place)
        memcpy(&value, place, sizeof(value));
    return value;
}

static uint32_t take_u32(struct parser *parser)
{
    uint32_t value = 0;
    const void *place = take(parser, sizeof(value));
    if (place)
        memcpy(&value, place, sizeof(value));
    return value;
}

/* The order of the parts is that of perf_output_sample() in kernel/events/core.c. */
static bool parse_sample(const struct perf_events *events, struct parser *parser,
                         struct perf_sample *ret)
{
    uint32_t index = idmap_get(&events->numbers, take_u64(parser));
    if (index >= events->spec_count)
        return false;
    const struct perf_event_spec *spec = &events->specs[index];
    ret->number = spec->number;
    if (!spec->tracepoint)
        ret->address = take_u64(parser);
    ret->pid = take_u32(parser);
    ret->tid = take_u32(parser);
    ret->time_ns = take_u64(parser);
    if (spec->chain) {
        uint64_t count = take_u64(parser);
        if (count > UINT16_MAX)
            return false;
        ret->frame_count = count;
        ret->frames = take(parser, count * sizeof(uint64_t));
    }
    if (spec->tracepoint) {
        ret->raw_bytes = take_u32(parser);
        ret->raw = take(parser, ret->raw_bytes);
    }
    if (spec->wants_bits)
        ret->is_32bit = take_u64(parser) == PERF_SAMPLE_REGS_ABI_32;
    return parser->good;
}

/* The record at the tail: in place, or copied together if it wraps. */
static const struct perf_event_header *record_at_tail(const struct perf_events *events,
                                                      struct perf_cpu *cpu)
{
    const char *data = (const char *)cpu->page + events->page_bytes;
    size_t at = cpu->tail & (events->data_bytes - 1), until_end = events->data_bytes - at;
    const struct perf_event_header *header = (const void *)(data + at); /* 8-aligned, so whole */
    if (header->size <= until_end)
        return header;
    memcpy(cpu->wrapped, header, until_end);
    memcpy(cpu->wrapped + until_end, data, header->size - until_end);
    return (const void *)cpu->wrapped;
}

/* Takes one record; true when it is a sample, now in cpu->sample. */
static bool take_record(struct perf_events *events, uint32_t number,
                        const struct perf_visitor *visitor)
{
    struct perf_cpu *cpu = &events->cpus[number];
    const struct perf_event_header *header = record_at_tail(events, cpu);
    if (header->size < sizeof(*header)) {
        cpu->tail = cpu->head;
        return false;
    }
    cpu->tail += header->size;
    struct parser parser = {
        .at = (const char *)(header + 1), .end = (const char *)header + header->size, .good = true};
    if (header->type == PERF_RECORD_LOST) {
        take_u64(&parser); /* the event that found room again */
        uint64_t count = take_u64(&parser);
        cpu->lost_said += count;
        visitor->lost(visitor->context, number, count);
    }
    cpu->sample = (struct perf_sample){.cpu = number};
    return header->type == PERF_RECORD_SAMPLE && parse_sample(events, &parser, &cpu->sample);
}

static void take_sample(struct perf_events *events, uint32_t number,
                        const struct perf_visitor *visitor)
{
    struct perf_cpu *cpu = &events->cpus[number];
    cpu->has_sample = false;
    while (cpu->tail < cpu->head && !cpu->has_sample)
        cpu->has_sample = take_record(events, number, visitor);
}

/* The CPU with the oldest sample; NULL if none has a sample. */
static struct perf_cpu *oldest_cpu(struct perf_events *events)
{
    struct perf_cpu *oldest = NULL;
    for (uint32_t i = 0; i < events->cpu_count; i++) {
        struct perf_cpu *cpu = &events->cpus[i];
        if (cpu->has_sample && (!oldest || cpu->sample.time_ns < oldest->sample.time_ns))
            oldest = cpu;
    }
    return oldest;
}

/* In time order over all CPUs: the end of a thread on one CPU must follow its start on another. */
void perf_events_drain(struct perf_events *events, const struct perf_visitor *visitor)
{
    for (uint32_t i = 0; i < events->cpu_count; i++) {
        struct perf_cpu *cpu = &events->cpus[i];
        if (!cpu->page)
            continue;
        cpu->head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
        cpu->tail = cpu->page->data_tail;
    }
    for (uint32_t i = 0; i < events->cpu_count; i++)
        take_sample(events, i, visitor);
    struct perf_cpu *cpu;
    while ((cpu = oldest_cpu(events))) {
        visitor->sample(visitor->context, &cpu->sample);
        take_sample(events, cpu->sample.cpu, visitor);
    }
    for (uint32_t i = 0; i < events->cpu_count; i++) {
        if (events->cpus[i].page)
            __atomic_store_n(&events->cpus[i].page->data_tail, events->cpus[i].head,
                             __ATOMIC_RELEASE);
    }
}

/* The kernel reports a loss in the buffer when there is room again. Losses counted but not reported
 * are the most recent ones. */
static uint64_t lost_at_the_end(const struct perf_events *events, const struct perf_cpu *cpu)
{
    struct {
        uint64_t value, lost;
    } counts;
    uint64_t lost = 0;
    for (size_t i = 0; i < events->spec_count; i++) {
        if (cpu->fds[i] >= 0 && read(cpu->fds[i], &counts, sizeof(counts)) == sizeof(counts))
            lost += counts.lost;
    }
    return lost > cpu->lost_said ? lost - cpu->lost_said : 0;
}

static void disable_cpu(struct perf_events *events, const struct perf_cpu *cpu)
{
    for (size_t i = 0; i < events->spec_count; i++) {
        if (cpu->fds[i] >= 0)
            ioctl(cpu->fds[i], PERF_EVENT_IOC_DISABLE, 0);
    }
}

/* Everything in the buffer has been visited. */
static void visit_last_loss(const struct perf_events *events, uint32_t cpu,
                            const struct perf_visitor *visitor)
{
    uint64_t lost = lost_at_the_end(events, &events->cpus[cpu]);
    if (lost)
        visitor->lost(visitor->context, cpu, lost);
}

/* The descriptors stay open: closing the last one of a tracepoint takes the kernel about 30 ms,
 * which would delay the end of the recording. */
void perf_events_stop(struct perf_events *events, const struct perf_visitor *visitor)
{
    /* First, so that little is lost while the events are disabled. */
    perf_events_drain(events, visitor);
    for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
        disable_cpu(events, &events->cpus[cpu]);
    perf_events_drain(events, visitor);
    for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
        visit_last_loss(events, cpu, visitor);
}

void perf_events_follow_cpus(struct perf_events *events, const bool *is_online,
                             const struct perf_visitor *visitor)
{
    for (uint32_t i = 0; i < events->cpu_count; i++) {
        if (is_online[i] && !events->cpus[i].page)
            open_on_cpu(events, i);
        if (is_online[i] || !events->cpus[i].page)
            continue;
        visit_last_loss(events, i, visitor);
        close_on_cpu(events, &events->cpus[i]);
    }
}
