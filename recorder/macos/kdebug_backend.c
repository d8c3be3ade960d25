/* The backend of macOS: kdebug's records, as they are, in rings of the recorder's own memory.
 *
 * A kdebug record is an Argus record except for its clock (kdebug_times.c), and the reader knows
 * its meaning on Darwin. So nothing is translated here. kdebug merges its CPUs by time; this file
 * distributes the records again to one ring per CPU, as the recorder's core expects. kdebug's own
 * buffer only has to hold what comes between two collections.
 *
 * Losses: when the kernel's buffer overflows between two collections, it overwrites its oldest
 * records and reports that, but not how many. Each such place counts as one lost record, and a note
 * says so.
 */
#include "macos/kdebug_backend.h"

#include <stdlib.h>

#include "category.h"
#include "macos/kdebug_answers.h"
#include "macos/kdebug_filter.h"
#include "macos/kperf.h"

#define COLLECT_MS     20
#define CHECK_EVERY    50u        /* collections */
#define KERNEL_RECORDS (1u << 20) /* 64 MB: a third of a second of three million a second */
#define LEAST_SLOTS    (1u << 12)

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
    if (backend->watch_polls)
        kdebug_pollers_note(&backend->pollers, &record);
    if (ARGUS_DEBUGID_EVENT(record.debugid) == KDEBUG_ID_LOST)
        take_lost(backend, &record);
    else if (record.cpu < backend->rings.cpu_count)
        record_rings_push(&backend->rings, &record);
    else
        backend->foreign_cpus++;
}

static struct argus_error *kdebug_collect(struct backend *base)
{
    struct kdebug_backend *backend = kdebug_of_base(base);
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
        wanted |= CATEGORY_BIT(CATEGORY_STACKS); /* samples come from kperf as well */
    if (options->watch_polls)
        wanted |= CATEGORY_BIT(CATEGORY_SYSCALLS); /* they can be seen in no other way */
    backend->watch_polls = options->watch_polls;
    struct argus_error *error = kdebug_cpu_count(backend->os, &cpu_count);
    if (!error)
        error = record_rings_init(&backend->rings, cpu_count,
                                  slots_for(options->ring_bytes, cpu_count));
    if (error)
        return error;
    kdebug_filter_fill(wanted, filter);
    error = kdebug_session_begin(&backend->session, backend->os, KERNEL_RECORDS, filter);
    if (!error && wanted & CATEGORY_BIT(CATEGORY_MESSAGES))
        voucher_contents_begin(&backend->vouchers, backend->os);
    if (!error)
        error = start_stacks(backend, options);
    return error ? error
                 : kdebug_threads_read(&backend->threads, backend->os, kdebug_now_ns(backend));
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

/* Reads the kernel's remaining records before kdebug is released. */
static void kdebug_detach(struct backend *base)
{
    struct kdebug_backend *backend = kdebug_of_base(base);
    if (backend->detached)
        return;
    kdebug_session_stop(&backend->session);
    struct argus_error *error = kdebug_session_read(&backend->session, take_record, backend);
    if (error)
        backend_note(base, "the last records are missing: %s", error->message);
    argus_error_destroy(error);
    voucher_contents_end(&backend->vouchers, backend->os);
    if (backend->stacks)
        kperf_end(backend->os);
    kdebug_session_end(&backend->session);
    backend->detached = true;
}

static void kdebug_destroy(struct backend *base)
{
    struct kdebug_backend *backend = kdebug_of_base(base);
    voucher_contents_end(&backend->vouchers, backend->os);
    if (backend->stacks && !backend->detached)
        kperf_end(backend->os);
    kdebug_session_end(&backend->session);
    kdebug_threads_deinit(&backend->threads);
    kdebug_pollers_deinit(&backend->pollers);
    idmap_deinit(&backend->written);
    record_rings_deinit(&backend->rings);
    free(backend);
}

const struct backend_ops kdebug_backend_ops = {
    .name = "kdebug",
    .title = "kdebug",
    .kind = BACKEND_KDEBUG,
    .collect_ms = COLLECT_MS,
    .create = kdebug_create,
    .destroy = kdebug_destroy,
    .detach = kdebug_detach,
    .header = kdebug_answer_header,
    .cpu_count = kdebug_answer_cpus,
    .ring_bytes = kdebug_answer_ring_bytes,
    .emitted = kdebug_answer_emitted,
    .read = kdebug_answer_read,
    .unread = kdebug_answer_unread,
    .peek = kdebug_answer_peek,
    .read_at = kdebug_answer_read_at,
    .collect = kdebug_collect,
    .stack = kdebug_answer_stack,
    .write_threads = kdebug_answer_write_threads,
    .write_images = kdebug_answer_write_images,
    .renew_names = kdebug_answer_renew_names,
    .write_kernel_symbols = kdebug_answer_write_kernel_symbols,
    .pollers = kdebug_answer_pollers,
    .counters = kdebug_answer_counters,
};
