/* Appends a second trace to a first one: what a debugger recorded at the same time on the same
 * machine (plugin/flags/flag_session.h). Its records get a lane of their own, because the CPU in
 * them means nothing. The reader merges lanes by time. */
#include <stdlib.h>
#include <string.h>

#include "argus/trace.h"

static struct argus_error *check_same(const struct argus_trace *base,
                                      const struct argus_trace *extra)
{
    const struct argus_trace_header *a = argus_trace_header(base), *b = argus_trace_header(extra);
    if (argus_trace_is_kdebug(base) || argus_trace_is_kdebug(extra))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "a kdebug file has to be converted first: argus import");
    static const uint8_t unknown[16];
    bool boots = memcmp(a->boot_id, unknown, 16) != 0 && memcmp(b->boot_id, unknown, 16) != 0;
    if (a->os != b->os || a->arch != b->arch || (boots && memcmp(a->boot_id, b->boot_id, 16) != 0))
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%s and %s are not from one boot of the same machine, so their "
                                  "clocks cannot be compared",
                                  argus_trace_path(base), argus_trace_path(extra));
    if ((uint64_t)a->timebase_numer * b->timebase_denom !=
        (uint64_t)b->timebase_numer * a->timebase_denom)
        return argus_error_create(ARGUS_ERROR_USAGE, "%s and %s have different clocks",
                                  argus_trace_path(base), argus_trace_path(extra));
    return NULL;
}

static struct argus_error *join_flags(struct argus_writer *writer, const struct argus_trace *base,
                                      const struct argus_trace *extra)
{
    const struct argus_flag_entry *there, *flags;
    size_t before = argus_trace_flags(base, &there), count = argus_trace_flags(extra, &flags);
    uint32_t highest = before ? there[before - 1].number : 0;
    for (size_t i = 0; i < count; i++) {
        struct argus_flag_entry flag = flags[i];
        flag.number = highest + 1 + (uint32_t)i;
        struct argus_error *error = argus_writer_flags(writer, &flag, 1);
        if (error)
            return error;
    }
    return NULL;
}

static struct argus_error *join_stacks(struct argus_writer *writer, const struct argus_trace *extra)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < argus_trace_stack_count(extra) && !error; i++) {
        uint64_t id;
        const uint64_t *frames;
        size_t count = argus_trace_stack_at(extra, i, &id, &frames);
        error = argus_writer_stack(writer, id, frames, count);
    }
    return error ? error : argus_writer_flush(writer);
}

static struct argus_error *join_records(struct argus_writer *writer,
                                        const struct argus_trace *extra)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(extra, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    for (size_t i = 0; i < count && !error; i++) {
        error = argus_trace_read_chunk(extra, &chunks[i], records);
        for (uint32_t k = 0; k < chunks[i].count && !error; k++)
            records[k].cpu = 0;
        if (!error)
            error = argus_writer_records(writer, ARGUS_CPU_MIXED, records, chunks[i].count,
                                         chunks[i].lost);
    }
    free(records);
    return error;
}

struct argus_error *argus_trace_join(int fd, const struct argus_trace *base,
                                     const struct argus_trace *extra)
{
    struct argus_writer *writer = NULL;
    const struct argus_counter *counters;
    size_t count = argus_trace_counters(base, &counters);
    struct argus_error *error = check_same(base, extra);
    if (!error)
        error = argus_writer_append(fd, &writer);
    if (error)
        return error;
    error = join_flags(writer, base, extra);
    if (!error)
        error = join_stacks(writer, extra);
    if (!error)
        error = join_records(writer, extra);
    if (!error && argus_trace_complete(base))
        error = argus_writer_end(writer, counters, count);
    argus_writer_destroy(writer);
    return error;
}
