/* Steps of the wall clock, needed to convert trace times before and after a step correctly. */
#include <stdlib.h>

#include "trace/reader.h"

/* The recorder writes its own records as one chunk each, without a CPU. Other chunks without a CPU
 * (of imported files) are larger. */
#define MOST_RECORDS 16

static int by_time(const void *left, const void *right)
{
    const struct trace_clock_step *a = left, *b = right;
    return a->since_ns < b->since_ns ? -1 : a->since_ns > b->since_ns;
}

static struct argus_error *take_chunk(struct argus_trace *trace, const struct argus_chunk *chunk)
{
    struct argus_record records[MOST_RECORDS];
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    if (error) {
        bool is_damage = error->code == ARGUS_ERROR_FORMAT;
        if (is_damage)
            argus_error_destroy(error);
        return is_damage ? NULL : error;
    }
    for (uint32_t i = 0; i < chunk->count; i++) {
        struct trace_clock_step step = {.since_ns = records[i].arg[1],
                                        .change_ns = records[i].arg[0]};
        if (records[i].debugid == ARGUS_ID_CLOCK_STEP && !vec_push(&trace->clock_steps, step))
            return argus_error_memory();
    }
    return NULL;
}

/* a ring file contains a step several times */
static void sort_and_merge(struct argus_trace *trace)
{
    struct trace_clock_step *steps = trace->clock_steps.data;
    size_t kept = 0;
    if (trace->clock_steps.length)
        qsort(steps, trace->clock_steps.length, sizeof(*steps), by_time);
    for (size_t i = 0; i < trace->clock_steps.length; i++) {
        if (kept == 0 || steps[kept - 1].since_ns != steps[i].since_ns)
            steps[kept++] = steps[i];
    }
    trace->clock_steps.length = kept;
}

struct argus_error *clock_steps_load(struct argus_trace *trace)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < trace->chunks.length && !error; i++) {
        const struct argus_chunk *chunk = &trace->chunks.data[i];
        if (chunk->cpu == ARGUS_CPU_MIXED && chunk->count && chunk->count <= MOST_RECORDS)
            error = take_chunk(trace, chunk);
    }
    if (!error)
        sort_and_merge(trace);
    return error;
}
