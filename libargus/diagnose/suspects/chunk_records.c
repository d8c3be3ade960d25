#include "diagnose/suspects/chunk_records.h"

#include <stdlib.h>

struct argus_error *chunk_records_read(const struct argus_trace *trace,
                                       const struct argus_chunk *chunk, take_records take,
                                       void *context)
{
    struct argus_record *records = calloc(chunk->count + 1, sizeof(*records));
    if (!records)
        return argus_error_memory();
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    if (!error && !take(context, records, chunk->count))
        error = argus_error_memory();
    free(records);
    if (error && error->code == ARGUS_ERROR_FORMAT) {
        argus_error_destroy(error);
        return NULL;
    }
    return error;
}

struct argus_error *chunk_records_read_window(const struct argus_trace *trace, struct window window,
                                              take_records take, void *context)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++)
        if (argus_trace_ticks_to_ns(trace, chunks[i].last_ticks) >= window.start_ns &&
            argus_trace_ticks_to_ns(trace, chunks[i].first_ticks) < window.end_ns)
            error = chunk_records_read(trace, &chunks[i], take, context);
    return error;
}
