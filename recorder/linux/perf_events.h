/* perf_event on every cpu: a set of events, all of one cpu into one buffer, and taking the samples out. What they mean is
 * perf_rows.c's business.
 *
 * The kernel guarantees: a sample is whole or not there; samples of a cpu come in the order in which they were begun; when
 * the buffer is full, samples are dropped and counted, and the count stands where they are missing
 * (PERF_RECORD_LOST). Nobody is woken: the reader comes often enough, or loses.
 */
#ifndef ARGUS_RECORDER_LINUX_PERF_EVENTS_H
#define ARGUS_RECORDER_LINUX_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

enum perf_chain { PERF_CHAIN_NONE, PERF_CHAIN_USER, PERF_CHAIN_BOTH };

/* One event to open on every cpu. */
struct perf_event_spec {
    uint32_t number;     /* comes back in its samples */
    uint32_t tracepoint; /* its id; 0: the cpu clock */
    uint64_t period_ns;  /* of the cpu clock */
    enum perf_chain chain;
    bool wants_bits;    /* fill is_32bit */
    const char *filter; /* in the kernel's filter language; NULL: none */
};

struct perf_sample {
    uint32_t number, cpu;
    uint64_t time_ns;  /* CLOCK_MONOTONIC */
    uint64_t address;  /* cpu clock: where the cpu was */
    uint32_t pid, tid; /* in the recorder's pid namespace */
    bool is_32bit;     /* a program of 32 bits */
    const uint64_t *frames;
    size_t frame_count; /* with the markers PERF_CONTEXT_… between them */
    const void *raw;    /* the tracepoint's own bytes */
    size_t raw_bytes;
};

struct perf_visitor {
    void (*sample)(void *context, const struct perf_sample *sample);
    void (*lost)(void *context, uint32_t cpu, uint64_t count);
    void *context;
};

struct perf_events;

/* Begins to record. `data_bytes` (a power of two, at least a page) for each cpu. */
struct argus_error *perf_events_create(const struct perf_event_spec *specs, size_t count,
                                       uint32_t cpu_count, size_t data_bytes,
                                       struct perf_events **ret);
void perf_events_destroy(struct perf_events *events);

/* The error number that the event at `index` failed with on some cpu; 0: none did. */
int perf_events_failed(const struct perf_events *events, size_t index);

/* Opens on cpus that have come online, and closes those that have gone, whose events the kernel has ended; after a drain.
 * `is_online` for each cpu. */
void perf_events_follow_cpus(struct perf_events *events, const bool *is_online,
                             const struct perf_visitor *visitor);

/* Visits what has come since, in the order of time. */
void perf_events_drain(struct perf_events *events, const struct perf_visitor *visitor);
/* Ends the recording, and visits the rest. */
void perf_events_stop(struct perf_events *events, const struct perf_visitor *visitor);

#endif
