/* The backend of macOS: kdebug's records, as they are, in rings of the recorder's own memory.
 *
 * A record of kdebug is a record of Argus, but for its clock (kdebug_times.c); what it means on Darwin, the reader knows. So nothing is
 * translated here. kdebug merges its cpus by time; they are dealt out again to a ring for each, which is what the core of
 * the recorder wants. kdebug's own buffer only has to hold what comes between two collections.
 *
 * What can be missing: when the kernel's buffer overflows between two collections, its oldest records are overwritten, and it says
 * that, but not how many. Each such place counts as one lost record, and a note says so.
 */
#include "macos/kdebug_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/idmap.h"
#include "category.h"
#include "macos/kdebug_filter.h"
#include "macos/kdebug_images.h"
#include "macos/kdebug_session.h"
#include "macos/kdebug_times.h"
#include "macos/kperf.h"
#include "macos/threads_of_kdebug.h"
#include "record_ring.h"

#define COLLECT_MS     20
#define CHECK_EVERY    50u        /* collections */
#define KERNEL_RECORDS (1u << 20) /* 64 MB: a third of a second of three million a second */
#define LEAST_SLOTS    (1u << 12)

struct kdebug_backend {
    struct backend base;
    const struct kdebug_os *os; /* borrowed */
    struct kdebug_session session;
    struct record_rings rings;
    struct kdebug_threads threads;
    uint32_t numer, denom;
    unsigned collections;
    uint64_t lost_places, foreign_cpus;
    struct idmap written; /* processes whose mappings were written */
    bool stacks, detached;
};

static struct kdebug_backend *of_base(const struct backend *base)
{
    return (struct kdebug_backend *)base;
}

static uint64_t now_ns(const struct kdebug_backend *backend)
{
    return kdebug_ticks_to_ns(backend->os->now_ticks(backend->os->context), backend->numer,
                              backend->denom);
}

/* --- records --- */

/* Darwin's argument of a lost record is not a count, as that of BACKEND_ID_LOST is. */
static void take_lost(struct kdebug_backend *backend, struct argus_record *record)
{
    *record = (struct argus_record){
        .timestamp = record->timestamp,
        .debugid = BACKEND_ID_LOST,
        .cpu = record->cpu < backend->rings.cpu_count ? record->cpu : 0,
        .arg = {1},
    };
    if (backend->lost_places++ == 0)
        backend_note(&backend->base,
                     "the kernel overwrote records before they were read, and does not say how "
                     "many: each place counts as one lost record");
    record_rings_push(&backend->rings, record);
}

static void take_record(void *context, const struct argus_record *given)
{
    struct kdebug_backend *backend = context;
    struct argus_record record = *given;
    record.unused = 0;
    kdebug_times_to_ns(&record, backend->numer, backend->denom);
    if (ARGUS_DEBUGID_EVENT(record.debugid) == KDEBUG_ID_LOST)
        take_lost(backend, &record);
    else if (record.cpu < backend->rings.cpu_count)
        record_rings_push(&backend->rings, &record);
    else
        backend->foreign_cpus++;
}

static struct argus_error *kdebug_collect(struct backend *base)
{
    struct kdebug_backend *backend = of_base(base);
    if (backend->detached)
        return NULL;
    struct argus_error *error = kdebug_session_read(&backend->session, take_record, backend);
    if (!error && ++backend->collections >= CHECK_EVERY) {
        backend->collections = 0;
        error = kdebug_session_check(&backend->session);
    }
    return error;
}

/* --- the beginning and the end --- */

static uint32_t slots_for(uint64_t ring_bytes, uint32_t cpu_count)
{
    uint64_t each = ring_bytes / sizeof(struct argus_record) / cpu_count;
    uint32_t slots = LEAST_SLOTS;
    while (slots < 1u << 30 && slots * 2ull <= each)
        slots *= 2;
    return slots;
}

static struct argus_error *start_stacks(struct kdebug_backend *backend,
                                        const struct backend_options *options)
{
    const struct kperf_options wanted = {
        .wait_stacks = options->categories & CATEGORY_BIT(CATEGORY_STACKS),
        .rate_hz = options->rate_hz,
    };
    if (!wanted.wait_stacks && wanted.rate_hz == 0)
        return NULL;
    struct argus_error *error = kperf_begin(backend->os, &wanted);
    backend->stacks = !error;
    if (error)
        backend_note(&backend->base, "no call stacks: %s", error->message);
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *start(struct kdebug_backend *backend,
                                 const struct backend_options *options)
{
    uint8_t filter[KDEBUG_FILTER_BYTES];
    uint32_t cpu_count = 0, wanted = options->categories;
    if (options->rate_hz)
        wanted |= CATEGORY_BIT(CATEGORY_STACKS); /* samples are kperf's as well */
    struct argus_error *error = kdebug_cpu_count(backend->os, &cpu_count);
    if (!error)
        error = record_rings_init(&backend->rings, cpu_count,
                                  slots_for(options->ring_bytes, cpu_count));
    if (error)
        return error;
    kdebug_filter_fill(wanted, filter);
    error = kdebug_session_begin(&backend->session, backend->os, KERNEL_RECORDS, filter);
    if (!error)
        error = start_stacks(backend, options);
    return error ? error : kdebug_threads_read(&backend->threads, backend->os, now_ns(backend));
}

struct argus_error *kdebug_backend_create(const struct kdebug_os *os,
                                          const struct backend_options *options,
                                          struct backend **ret)
{
    struct kdebug_backend *backend = calloc(1, sizeof(*backend));
    if (!backend)
        return argus_error_memory();
    backend->base.ops = &kdebug_backend_ops;
    backend->os = os;
    os->timebase(os->context, &backend->numer, &backend->denom);
    struct argus_error *error =
        backend->numer == 0 || backend->denom == 0
            ? argus_error_create(ARGUS_ERROR_FORMAT, "the system's timebase is %u/%u",
                                 backend->numer, backend->denom)
            : start(backend, options);
    if (error) {
        backend_destroy(&backend->base);
        return error;
    }
    *ret = &backend->base;
    return NULL;
}

static struct argus_error *kdebug_create(const struct backend_options *options,
                                         struct backend **ret)
{
#ifdef __APPLE__
    return kdebug_backend_create(&kdebug_os_darwin, options, ret);
#else
    (void)options;
    (void)ret;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "this system has no kdebug");
#endif
}

/* What the kernel still has is read before kdebug is given up. */
static void kdebug_detach(struct backend *base)
{
    struct kdebug_backend *backend = of_base(base);
    if (backend->detached)
        return;
    kdebug_session_stop(&backend->session);
    struct argus_error *error = kdebug_session_read(&backend->session, take_record, backend);
    if (error)
        backend_note(base, "the last records are missing: %s", error->message);
    argus_error_destroy(error);
    if (backend->stacks)
        kperf_end(backend->os);
    kdebug_session_end(&backend->session);
    backend->detached = true;
}

static void kdebug_destroy(struct backend *base)
{
    struct kdebug_backend *backend = of_base(base);
    if (backend->stacks && !backend->detached)
        kperf_end(backend->os);
    kdebug_session_end(&backend->session);
    kdebug_threads_deinit(&backend->threads);
    idmap_deinit(&backend->written);
    record_rings_deinit(&backend->rings);
    free(backend);
}

/* --- questions --- */

static struct argus_error *kdebug_header(const struct backend *base, struct argus_trace_header *ret)
{
    const struct kdebug_backend *backend = of_base(base);
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
        .timebase_numer = 1, .timebase_denom = 1, .anchor_ticks = now_ns(backend),
        .anchor_wall_ns = os->wall_ns(os->context), .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
        .cpu_count = backend->rings.cpu_count,
    };
    int number = os->host(os->context, ret->host, sizeof(ret->host));
    return number ? argus_error_os(number, "cannot ask the system for its name") : NULL;
}

static uint32_t kdebug_cpus(const struct backend *base)
{
    return of_base(base)->rings.cpu_count;
}

static uint64_t kdebug_ring_bytes(const struct backend *base)
{
    const struct record_rings *rings = &of_base(base)->rings;
    return (uint64_t)rings->cpu_count * rings->slot_count * sizeof(struct argus_record);
}

static uint64_t kdebug_emitted(const struct backend *base, uint32_t cpu)
{
    return of_base(base)->rings.heads[cpu];
}

static size_t kdebug_read(struct backend *base, uint32_t cpu, struct argus_record *records,
                          size_t room, uint64_t *ret_lost)
{
    return record_rings_read(&of_base(base)->rings, cpu, records, room, ret_lost);
}

static uint64_t kdebug_unread(const struct backend *base, uint32_t cpu)
{
    const struct record_rings *rings = &of_base(base)->rings;
    return rings->heads[cpu] - rings->next[cpu];
}

static size_t kdebug_peek(const struct backend *base, uint32_t cpu, bool oldest,
                          struct argus_record *records, size_t room)
{
    return record_rings_peek(&of_base(base)->rings, cpu, oldest, records, room);
}

static struct argus_error *kdebug_copy(struct backend *base, uint32_t cpu,
                                       struct argus_record **ret_records, size_t *ret_count)
{
    return record_rings_copy(&of_base(base)->rings, cpu, ret_records, ret_count);
}

/* Stacks are records of kperf's. */
static size_t kdebug_stack(struct backend *base, uint64_t id, uint64_t *frames)
{
    (void)base;
    (void)id;
    (void)frames;
    return 0;
}

/* --- tables --- */

static struct argus_error *kdebug_write_threads(struct backend *base, struct argus_writer *writer)
{
    struct kdebug_backend *backend = of_base(base);
    /* The map can be read only while kdebug is ours; what was seen until then stays. */
    struct argus_error *error =
        backend->detached ? NULL
                          : kdebug_threads_read(&backend->threads, backend->os, now_ns(backend));
    return error ? error : kdebug_threads_write(&backend->threads, writer);
}

/* Keeps those of `pids` whose mappings were not written before; what a process maps later, dyld's records tell. */
static size_t keep_new(struct kdebug_backend *backend, uint32_t *pids, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (idmap_get(&backend->written, pids[i]) != IDMAP_NONE)
            continue;
        idmap_put(&backend->written, pids[i], 1); /* without memory: written once more */
        pids[kept++] = pids[i];
    }
    return kept;
}

static struct argus_error *kdebug_write_images(struct backend *base, struct argus_writer *writer,
                                               bool all)
{
    struct kdebug_backend *backend = of_base(base);
    uint32_t *pids;
    size_t count;
    if (!kdebug_threads_processes(&backend->threads, &pids, &count))
        return argus_error_memory();
    if (!all)
        count = keep_new(backend, pids, count);
    struct argus_error *error = kdebug_images_write(backend->os, pids, count, writer);
    free(pids);
    return error;
}

static struct argus_error *kdebug_renew_names(struct backend *base, uint64_t taken_ns,
                                              struct argus_writer *writer)
{
    (void)taken_ns;
    struct argus_error *error = kdebug_write_threads(base, writer);
    return error ? error : kdebug_write_images(base, writer, true);
}

/* The kernel's symbols are Apple's secret on a stock Mac; addresses in records are unslid. */
static struct argus_error *kdebug_write_kernel_symbols(struct backend *base, uint64_t *addresses,
                                                       size_t count, struct argus_writer *writer)
{
    (void)base;
    (void)addresses;
    (void)count;
    (void)writer;
    return NULL;
}

static size_t kdebug_counters(const struct backend *base, struct argus_counter *ret, size_t room)
{
    const struct kdebug_backend *backend = of_base(base);
    const struct argus_counter counters[] = {
        {"lost_places", backend->lost_places},
        {"coprocessor_records_skipped", backend->foreign_cpus},
    };
    size_t count = sizeof(counters) / sizeof(counters[0]);
    for (size_t i = 0; i < count && i < room; i++)
        ret[i] = counters[i];
    return count < room ? count : room;
}

const struct backend_ops kdebug_backend_ops = {
    .name = "kdebug",
    .title = "kdebug",
    .kind = BACKEND_KDEBUG,
    .collect_ms = COLLECT_MS,
    .create = kdebug_create,
    .destroy = kdebug_destroy,
    .detach = kdebug_detach,
    .header = kdebug_header,
    .cpu_count = kdebug_cpus,
    .ring_bytes = kdebug_ring_bytes,
    .emitted = kdebug_emitted,
    .read = kdebug_read,
    .unread = kdebug_unread,
    .peek = kdebug_peek,
    .copy = kdebug_copy,
    .collect = kdebug_collect,
    .stack = kdebug_stack,
    .write_threads = kdebug_write_threads,
    .write_images = kdebug_write_images,
    .renew_names = kdebug_renew_names,
    .write_kernel_symbols = kdebug_write_kernel_symbols,
    .counters = kdebug_counters,
};
