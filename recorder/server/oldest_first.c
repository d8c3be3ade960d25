#include "server/oldest_first.h"

#include <stdlib.h>

#include "base/lower_bound.h"
#include "server/clocks.h"

/* So much of a ring that is full, or soon will be, is left out, because it is overwritten before
 * it is read. */
#define SHARE_LEFT_OUT 64
/* What a record takes at most, from the ring into a chunk, on a machine with other work. */
#define NS_OF_RECORD 100
/* Programs that fill this share of a ring while the snapshot is taken are too fast. */
#define SHARE_WRITTEN 2
#define FIRST_LOOK    32 /* after this share of the records; before, the speed is unknown */

static size_t read_ring(const struct oldest_first *rest, uint32_t cpu, struct argus_record *records,
                        size_t room, uint64_t *ret_lost)
{
    struct ring_part *part = &rest->parts[cpu];
    size_t left = part->end - part->next;
    size_t count = backend_read_at(rest->backend, cpu, &part->next, records,
                                   left < room ? left : room, ret_lost);
    if (part->next <= part->end)
        return count;
    /* so much was overwritten that the last records read, or all of them, are newer than the end */
    uint64_t beyond = part->next - part->end;
    size_t newer = beyond < count ? beyond : count;
    *ret_lost -= beyond - newer;
    part->next = part->end;
    return count - newer;
}

/* The time of the first record that is still there from sequence number `at` on; UINT64_MAX: none.
 */
static uint64_t time_at(const struct oldest_first *rest, uint32_t cpu, uint64_t at)
{
    struct argus_record record;
    uint64_t lost;
    bool is_there = backend_read_at(rest->backend, cpu, &at, &record, 1, &lost) == 1;
    return is_there ? record.timestamp : UINT64_MAX;
}

/* --- where each CPU begins --- */

static bool is_full(const struct ring_part *part)
{
    return part->first > 0;
}

/* The time from which all CPUs are complete. A full ring on a busy CPU reaches back less far than
 * one on an idle CPU. Before that time, records of the other CPUs would show threads that were
 * woken but never ran. */
static uint64_t complete_from(const struct oldest_first *rest)
{
    uint64_t from_ns = 0;
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++) {
        const struct ring_part *part = &rest->parts[cpu];
        uint64_t first_ns = 0;
        if (!is_full(part))
            continue;
        if (!part->copied)
            first_ns = time_at(rest, cpu, part->first);
        else if (part->copied_count)
            first_ns = part->copied[0].timestamp;
        if (first_ns != UINT64_MAX && first_ns > from_ns)
            from_ns = first_ns;
    }
    return from_ns;
}

/* Skips what a CPU recorded before `from_ns`. */
static void begin_at(struct oldest_first *rest, uint32_t cpu, uint64_t from_ns)
{
    struct ring_part *part = &rest->parts[cpu];
    size_t skipped;
    while (part->copied_at < part->copied_count &&
           part->copied[part->copied_at].timestamp < from_ns)
        part->copied_at++;
    if (!part->copied) {
        LOWER_BOUND(skipped, part->end - part->next,
                    time_at(rest, cpu, part->next + skipped) < from_ns);
        part->first = part->next += skipped;
    }
    part->next_ns = from_ns;
    rest->total += part->copied ? part->copied_count - part->copied_at : part->end - part->next;
}

/* --- copying --- */

static struct argus_error *copy_part(struct oldest_first *rest, uint32_t cpu)
{
    struct ring_part *part = &rest->parts[cpu];
    uint64_t lost;
    size_t left = part->end - part->next;
    part->copied = malloc((left ? left : 1) * sizeof(*part->copied));
    if (!part->copied)
        return argus_error_memory();
    part->copied_count = read_ring(rest, cpu, part->copied, left, &lost);
    part->lost_before_copy = lost;
    return NULL;
}

static struct argus_error *copy_all(struct oldest_first *rest)
{
    struct argus_error *error = NULL;
    rest->copied = true;
    for (uint32_t cpu = 0; cpu < rest->cpu_count && !error; cpu++)
        error = copy_part(rest, cpu);
    return error;
}

/* Whether the rings would be overwritten to a large part if reading took so long. */
static bool is_short(const struct oldest_first *rest)
{
    uint64_t records = 0, from_ns = complete_from(rest);
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++)
        records += rest->parts[cpu].end - rest->parts[cpu].first;
    return from_ns && clock_ns(TRACE_CLOCK) < from_ns + SHARE_WRITTEN * NS_OF_RECORD * records;
}

/* The same, by what was written on a CPU while the first records were read. */
static bool is_chased(const struct oldest_first *rest)
{
    if (rest->copied || rest->done < rest->total / FIRST_LOOK)
        return false;
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++) {
        uint64_t written = backend_emitted(rest->backend, cpu) - rest->parts[cpu].end;
        if ((double)written * (double)rest->total * SHARE_WRITTEN >
            (double)rest->slots * (double)rest->done)
            return true;
    }
    return false;
}

/* --- its life --- */

struct argus_error *oldest_first_init(struct oldest_first *rest, const struct backend *backend)
{
    rest->backend = backend;
    rest->cpu_count = backend_cpu_count(backend);
    rest->slots = backend_ring_bytes(backend) / sizeof(struct argus_record) / rest->cpu_count;
    rest->total = rest->done = 0;
    rest->copied = false;
    rest->parts = calloc(rest->cpu_count, sizeof(*rest->parts));
    if (!rest->parts)
        return argus_error_memory();
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++)
        rest->parts[cpu].end = backend_emitted(backend, cpu);
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++) {
        struct ring_part *part = &rest->parts[cpu];
        uint64_t left_out = rest->slots / SHARE_LEFT_OUT;
        if (part->end + left_out > rest->slots)
            part->first = part->next = part->end + left_out - rest->slots;
    }
    struct argus_error *error = is_short(rest) ? copy_all(rest) : NULL;
    if (error)
        return error;
    uint64_t from_ns = complete_from(rest);
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++) {
        rest->parts[cpu].lost_before_copy = 0; /* they are older than what is read */
        begin_at(rest, cpu, from_ns);
    }
    return NULL;
}

void oldest_first_deinit(struct oldest_first *rest)
{
    for (uint32_t cpu = 0; rest->parts && cpu < rest->cpu_count; cpu++)
        free(rest->parts[cpu].copied);
    free(rest->parts);
    rest->parts = NULL;
}

/* --- reading --- */

uint32_t oldest_first_cpu(const struct oldest_first *rest)
{
    uint32_t oldest = rest->cpu_count;
    for (uint32_t cpu = 0; cpu < rest->cpu_count; cpu++) {
        const struct ring_part *part = &rest->parts[cpu];
        bool is_older = oldest == rest->cpu_count || part->next_ns < rest->parts[oldest].next_ns;
        if (!part->over && is_older)
            oldest = cpu;
    }
    return oldest;
}

static void take_copied(struct ring_part *part, size_t room, struct oldest_run *ret)
{
    size_t left = part->copied_count - part->copied_at;
    ret->records = part->copied + part->copied_at;
    ret->count = left < room ? left : room;
    ret->lost = part->lost_before_copy;
    part->lost_before_copy = 0;
    part->copied_at += ret->count;
}

struct argus_error *oldest_first_read(struct oldest_first *rest, uint32_t cpu,
                                      struct argus_record *records, size_t room,
                                      struct oldest_run *ret)
{
    struct argus_error *error = is_chased(rest) ? copy_all(rest) : NULL;
    struct ring_part *part = &rest->parts[cpu];
    *ret = (struct oldest_run){.records = records};
    if (error)
        return error;
    room = room < OLDEST_RUN ? room : OLDEST_RUN;
    if (part->copied)
        take_copied(part, room, ret);
    else
        ret->count = read_ring(rest, cpu, records, room, &ret->lost);
    if (ret->count)
        part->next_ns = ret->records[ret->count - 1].timestamp;
    /* without a record, a program was interrupted while it wrote one */
    part->over = ret->count == 0 && ret->lost == 0;
    rest->done += ret->count + ret->lost;
    return NULL;
}
