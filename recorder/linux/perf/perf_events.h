/* A set of perf_event events on every CPU, with one buffer for each CPU, and reading their samples.
 * perf_rows.c interprets them.
 *
 * The kernel guarantees: a sample is complete or missing; samples of a CPU are in the order in
 * which they were begun; when the buffer is full, samples are dropped and counted, and the count is
 * written where they are missing (PERF_RECORD_LOST). The kernel does not wake the reader, which
 * must poll often enough or lose samples.
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
    uint32_t number;     /* returned in its samples */
    uint32_t tracepoint; /* its id; 0: the cpu clock */
    uint64_t period_ns;  /* of the cpu clock */
    enum perf_chain chain;
    bool wants_bits;    /* fill is_32bit */
    const char *filter; /* in the kernel's filter language; NULL: none */
};

struct perf_sample {
    uint32_t number, cpu;
    uint64_t time_ns;  /* CLOCK_MONOTONIC */
    uint64_t address;  /* CPU clock: the instruction pointer */
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

/* Opens events on CPUs that have come online, and closes those of offline CPUs, which the kernel
 * has ended. Call it after a drain. `is_online` for each cpu. */
void perf_events_follow_cpus(struct perf_events *events, const bool *is_online,
                             const struct perf_visitor *visitor);

/* Visits the samples since the last call, in time order. */
void perf_events_drain(struct perf_events *events, const struct perf_visitor *visitor);
/* Ends the recording, and visits the rest. */
void perf_events_stop(struct perf_events *events, const struct perf_visitor *visitor);

#endif
