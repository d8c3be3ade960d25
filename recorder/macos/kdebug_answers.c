/* The backend's records and tables, for the core of the recorder. */
#include "macos/kdebug_answers.h"

#include <stdlib.h>
#include <unistd.h>

#include "macos/kdebug_images.h"

#define THREADS_EVERY_NS 1000000000ull

struct argus_error *kdebug_answer_header(const struct backend *base, struct argus_trace_header *ret)
{
    const struct kdebug_backend *backend = kdebug_of_base(base);
    const struct kdebug_os *os = backend->os;
    *ret = (struct argus_trace_header)
    {
        .version_major = ARGUS_TRACE_VERSION_MAJOR, .version_minor = ARGUS_TRACE_VERSION_MINOR,
        .os = ARGUS_OS_DARWIN,
#if defined(__aarch64__)
        .arch = ARGUS_ARCH_AARCH64,
#else
        .arch = ARGUS_ARCH_X86_64,
#endif
        .timebase_numer = 1, .timebase_denom = 1, .anchor_ticks = kdebug_now_ns(backend),
        .anchor_wall_ns = os->wall_ns(os->context), .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
        .cpu_count = backend->rings.cpu_count,
    };
    int number = os->host(os->context, ret->host, sizeof(ret->host));
    return number ? argus_error_os(number, "cannot ask the system for its name") : NULL;
}

uint32_t kdebug_answer_cpus(const struct backend *base)
{
    return kdebug_of_base(base)->rings.cpu_count;
}

uint64_t kdebug_answer_ring_bytes(const struct backend *base)
{
    const struct record_rings *rings = &kdebug_of_base(base)->rings;
    return (uint64_t)rings->cpu_count * rings->slot_count * sizeof(struct argus_record);
}

uint64_t kdebug_answer_emitted(const struct backend *base, uint32_t cpu)
{
    return kdebug_of_base(base)->rings.heads[cpu];
}

size_t kdebug_answer_read(struct backend *base, uint32_t cpu, struct argus_record *records,
                          size_t room, uint64_t *ret_lost)
{
    return record_rings_read(&kdebug_of_base(base)->rings, cpu, records, room, ret_lost);
}

uint64_t kdebug_answer_unread(const struct backend *base, uint32_t cpu)
{
    const struct record_rings *rings = &kdebug_of_base(base)->rings;
    return rings->heads[cpu] - rings->next[cpu];
}

size_t kdebug_answer_peek(const struct backend *base, uint32_t cpu, bool oldest,
                          struct argus_record *records, size_t room)
{
    return record_rings_peek(&kdebug_of_base(base)->rings, cpu, oldest, records, room);
}

size_t kdebug_answer_read_at(const struct backend *base, uint32_t cpu, uint64_t *next,
                             struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    return record_rings_read_at(&kdebug_of_base(base)->rings, cpu, next, records, room, ret_lost);
}

/* Stacks are records of kperf. */
size_t kdebug_answer_stack(struct backend *base, uint64_t id, uint64_t *frames)
{
    (void)base;
    (void)id;
    (void)frames;
    return 0;
}

/* --- tables --- */

struct argus_error *kdebug_answer_write_threads(struct backend *base, struct argus_writer *writer)
{
    struct kdebug_backend *backend = kdebug_of_base(base);
    /* The map can be read only while this process owns kdebug; entries read before stay. */
    struct argus_error *error =
        backend->detached
            ? NULL
            : kdebug_threads_read(&backend->threads, backend->os, kdebug_now_ns(backend));
    return error ? error : kdebug_threads_write(&backend->threads, writer);
}

/* New threads are not in the map yet, so it is read again. Ended threads never will be, so reading
 * is rate-limited. */
struct argus_error *kdebug_answer_pollers(struct backend *base, struct backend_poller *ret,
                                          size_t room, size_t *ret_count)
{
    struct kdebug_backend *backend = kdebug_of_base(base);
    struct kdebug_pollers *pollers = &backend->pollers;
    uint64_t now_ns = kdebug_now_ns(backend);
    struct argus_error *error = pollers->no_memory ? argus_error_memory() : NULL;
    if (!error && !backend->detached && now_ns - pollers->threads_read_ns >= THREADS_EVERY_NS &&
        kdebug_pollers_lack(pollers, &backend->threads)) {
        pollers->threads_read_ns = now_ns;
        error = kdebug_threads_read(&backend->threads, backend->os, now_ns);
    }
    *ret_count = error ? 0 : kdebug_pollers_copy(pollers, &backend->threads, ret, room);
    return error;
}

/* Keeps those of `pids` whose mappings were not yet written; dyld's records report later
 * mappings. */
static size_t keep_new(struct kdebug_backend *backend, uint32_t *pids, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (idmap_get(&backend->written, pids[i]) != IDMAP_NONE)
            continue;
        idmap_put(&backend->written, pids[i], 1); /* without memory: written again */
        pids[kept++] = pids[i];
    }
    return kept;
}

struct argus_error *kdebug_answer_write_images(struct backend *base, struct argus_writer *writer,
                                               bool all)
{
    struct kdebug_backend *backend = kdebug_of_base(base);
    uint32_t *pids;
    size_t count;
    if (!kdebug_threads_processes(&backend->threads, &pids, &count))
        return argus_error_memory();
    if (!all)
        count = keep_new(backend, pids, count);
    struct argus_error *error =
        kdebug_images_write(backend->os, pids, count, all || !backend->cache_written, writer);
    backend->cache_written |= !error;
    free(pids);
    return error;
}

struct argus_error *kdebug_answer_renew_names(struct backend *base, uint64_t taken_ns,
                                              struct argus_writer *writer)
{
    (void)taken_ns;
    struct argus_error *error = kdebug_answer_write_threads(base, writer);
    return error ? error : kdebug_answer_write_images(base, writer, true);
}

/* A stock Mac does not publish kernel symbols; addresses in records are unslid. */
struct argus_error *kdebug_answer_write_kernel_symbols(struct backend *base, uint64_t *addresses,
                                                       size_t count, struct argus_writer *writer)
{
    (void)base;
    (void)addresses;
    (void)count;
    (void)writer;
    return NULL;
}

size_t kdebug_answer_counters(const struct backend *base, struct argus_counter *ret, size_t room)
{
    const struct kdebug_backend *backend = kdebug_of_base(base);
    const struct argus_counter counters[] = {
        {"lost_places", backend->lost_places},
        {"coprocessor_records_skipped", backend->foreign_cpus},
    };
    size_t count = sizeof(counters) / sizeof(counters[0]);
    for (size_t i = 0; i < count && i < room; i++)
        ret[i] = counters[i];
    return count < room ? count : room;
}
