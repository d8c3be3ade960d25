#include "server/measure.h"

#include <stdlib.h>

#include "rates.h"

#define SAMPLE_RECORDS                                                                             \
    65536 /* of each CPU: fewer could all be from one burst of a few milliseconds */

/* Adds the rates of one cpu, whose newest records stand for `span_ns`. */
static void add_rates(const struct argus_record *records, size_t count, uint64_t span_ns,
                      uint64_t *rates)
{
    uint64_t counts[CATEGORY_COUNT] = {0};
    for (size_t i = 0; i < count; i++)
        counts[category_of_record(records[i].debugid)]++;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        rates[i] += (uint64_t)((double)counts[i] * 1e9 / (double)span_ns);
}

struct argus_error *measure_rates(const struct backend *backend, uint64_t started_ns,
                                  uint64_t now_ns, uint64_t *ret_rates)
{
    struct argus_record *records = malloc(SAMPLE_RECORDS * sizeof(*records));
    if (!records)
        return argus_error_memory();
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        ret_rates[i] = 0;
    for (uint32_t cpu = 0; cpu < backend_cpu_count(backend); cpu++) {
        size_t count = backend_peek(backend, cpu, false, records, SAMPLE_RECORDS);
        if (!count)
            continue;
        bool all = backend_emitted(backend, cpu) <= count;
        add_rates(records, count, rates_span_ns(started_ns, records[0].timestamp, all, now_ns),
                  ret_rates);
    }
    free(records);
    return NULL;
}

void measure_ring(const struct backend *backend, uint32_t cpu, uint64_t *ret_oldest_ns,
                  uint64_t *ret_newest_ns)
{
    /* more than one: the oldest may be overwritten while it is read, the newest may be
     * incomplete */
    struct argus_record records[16];
    const size_t room = sizeof(records) / sizeof(records[0]);
    size_t count = backend_peek(backend, cpu, true, records, room);
    *ret_oldest_ns = count ? records[0].timestamp : 0;
    count = backend_peek(backend, cpu, false, records, room);
    *ret_newest_ns = count ? records[count - 1].timestamp : 0;
    if (!*ret_oldest_ns)
        *ret_oldest_ns = *ret_newest_ns;
}

uint64_t measure_oldest(const struct backend *backend, uint64_t started_ns)
{
    uint32_t cpu_count = backend_cpu_count(backend);
    uint64_t slots = backend_ring_bytes(backend) / sizeof(struct argus_record) / cpu_count;
    uint64_t since_ns = started_ns;
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        uint64_t oldest_ns, newest_ns;
        if (backend_emitted(backend, cpu) <= slots)
            continue;
        measure_ring(backend, cpu, &oldest_ns, &newest_ns);
        if (oldest_ns > since_ns)
            since_ns = oldest_ns;
    }
    return since_ns;
}
