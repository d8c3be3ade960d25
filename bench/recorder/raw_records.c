/* raw_records FILE OUT: the records of a trace as they lie in the recorder's rings, 64 bytes each,
 * so that other programs can be given the same bytes. Prints how many. */
#include <stdio.h>
#include <stdlib.h>

#include "argus/trace.h"

static struct argus_error *write_chunk(const struct argus_trace *trace,
                                       const struct argus_chunk *chunk,
                                       struct argus_record *records, FILE *out)
{
    struct argus_error *error = argus_trace_read_chunk(trace, chunk, records);
    if (!error && fwrite(records, sizeof(*records), chunk->count, out) != chunk->count)
        error = argus_error_create(ARGUS_ERROR_IO, "cannot write");
    return error;
}

static struct argus_error *write_records(const struct argus_trace *trace, FILE *out)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < count; i++)
        error = write_chunk(trace, &chunks[i], records, out);
    free(records);
    return error;
}

int main(int argc, char **argv)
{
    struct argus_trace *trace = NULL;
    FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
    if (!out) {
        fprintf(stderr, "usage: raw_records FILE OUT\n");
        return 2;
    }
    struct argus_error *error = argus_trace_open(argv[1], &trace);
    if (!error)
        error = write_records(trace, out);
    if (fclose(out) && !error)
        error = argus_error_create(ARGUS_ERROR_IO, "cannot write");
    if (error)
        fprintf(stderr, "raw_records: %s\n", error->message);
    else
        printf("%llu\n", (unsigned long long)argus_trace_record_count(trace));
    argus_trace_close(trace);
    return error ? 1 : 0;
}
