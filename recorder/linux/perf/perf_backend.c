/* The fallback on Linux. Tracepoints are perf_events (perf_events.c), whose samples become the
 * records that the BPF programs would have written (perf_rows.c), in rings of the recorder's own
 * memory (record_ring.c). So every reader of a trace finds the usual records. A note says what
 * perf_event cannot see.
 *
 * It costs what `perf record` costs, several times as much as BPF (measured: 730 ns of the recorded
 * program for a system call record, `perf record` 680, BPF 120; a tenth of it is spent on
 * recognizing 32-bit programs): a sample is larger than a record, it is copied twice, and a thread
 * must read samples all the time. If that thread is late, samples are lost; the kernel counts them
 * and marks the place.
 */
#include "linux/perf/perf_backend.h"
#include "linux/cpu_overload.h"
#include "linux/load/compat_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "linux/host_header.h"
#include "linux/kallsyms.h"
#include "linux/load/syscall_bitmaps.h"
#include "linux/mapped_images.h"
#include "linux/missing_rights.h"
#include "linux/online_cpus.h"
#include "linux/perf/own_timer.h"
#include "linux/perf/perf_handlers.h"
#include "linux/perf/perf_translate.h"
#include "linux/pid_namespace.h"
#include "linux/rings.h"
#include "linux/threads.h"
#include "linux/tracefs.h"

#define COLLECT_MS     20
#define CPUS_EVERY     5 /* collections between two checks for CPUs that came or went */
#define DATA_BYTES_MIN (512u << 10)
#define DATA_BYTES_MAX (32u << 20)
#define SPEC_LIMIT     128

/* A row of the table on this kernel. */
struct row_state {
    uint32_t tracepoint; /* 0: missing, or not wanted */
    struct event_field fields[PERF_FIELD_LIMIT];
};

struct perf_backend {
    struct backend base;
    struct row_state *rows;     /* perf_row_count; owned */
    struct perf_events *events; /* NULL before the start */
    struct record_rings rings;
    struct stack_table *stacks;
    struct seen_threads *threads;
    struct thread_list *first_threads;
    struct images *images;
    const struct probe_list *probes; /* borrowed; NULL: none */
    struct translator translator;
    bool *online;         /* for each cpu; owned */
    unsigned collections; /* since the last look at the cpus */
    bool detached;
    bool ids_differ; /* the recorder is in a pid namespace of its own, … */
    /* … where this is its ID; a getpid() for each sample would itself be recorded. */
    uint32_t pid_here;
};

static struct perf_backend *of_base(const struct backend *base)
{
    return (struct perf_backend *)base;
}

/* --- what comes out of the kernel's buffers --- */

/* The IDs of a sample are those of this pid namespace, 0 for a process outside of it. The
 * tracepoint's own IDs are the host's. They do not tell the process of a thread, so it counts as a
 * separate process. */
static void use_host_ids(const struct perf_backend *backend, uint32_t tid,
                         struct perf_sample *sample)
{
    sample->pid = sample->pid == backend->pid_here ? backend->translator.own_pid : tid;
    sample->tid = tid;
}

static void on_sample(void *context, const struct perf_sample *kernels)
{
    struct perf_backend *backend = context;
    struct translator *translator = &backend->translator;
    struct perf_sample own_copy = *kernels, *sample = &own_copy;
    struct translation now = {
        .translator = translator,
        .sample = sample,
        .fields = backend->rows[sample->number].fields,
        .tid = sample->tid,
    };
    if (sample->raw) {
        now.tid =
            (uint32_t)event_field_number(&translator->common_pid, sample->raw, sample->raw_bytes);
        now.flags =
            (uint8_t)event_field_number(&translator->common_flags, sample->raw, sample->raw_bytes);
    }
    if (backend->ids_differ && !sample->raw)
        return; /* a CPU sample: the thread is unknown */
    if (backend->ids_differ)
        use_host_ids(backend, now.tid, sample);
    perf_rows[sample->number].translate(&now);
}

static void on_lost(void *context, uint32_t cpu, uint64_t count)
{
    struct perf_backend *backend = context;
    struct argus_record record = {.debugid = BACKEND_ID_LOST, .cpu = cpu, .arg = {count}};
    record_rings_push(&backend->rings, &record);
}

static struct perf_visitor visitor_of(struct perf_backend *backend)
{
    return (struct perf_visitor){.sample = on_sample, .lost = on_lost, .context = backend};
}

/* --- the beginning --- */

static bool find_fields(const char *format, const struct perf_row *row, struct row_state *state,
                        const char **ret_missing)
{
    for (size_t i = 0; i < PERF_FIELD_LIMIT && row->fields[i]; i++) {
        bool is_optional = row->fields[i][0] == '?';
        *ret_missing = row->fields[i] + is_optional;
        if (!event_format_find(format, *ret_missing, &state->fields[i])) {
            state->fields[i] = (struct event_field){0};
            if (!is_optional)
                return false;
        }
    }
    return true;
}

static struct argus_error *miss(struct perf_backend *backend, const struct perf_row *row,
                                const char *why)
{
    if (row->options.required)
        return argus_error_create(
            ARGUS_ERROR_UNSUPPORTED,
            "perf_event cannot record %s (%s: it needs root, or CAP_PERFMON and CAP_IPC_LOCK, "
            "and a kernel with this tracepoint), without which there are %s",
            row->name, why, row->lost_without);
    backend_note(&backend->base, "cannot record the tracepoint %s (%s): %s", row->name, why,
                 row->lost_without);
    return NULL;
}

static struct argus_error *read_row(struct perf_backend *backend, int tracefs, size_t index)
{
    const struct perf_row *row = &perf_rows[index];
    struct row_state *state = &backend->rows[index];
    struct translator *translator = &backend->translator;
    const char *missing = "ID";
    char *format = tracefs_format(tracefs, row->system, row->name);
    if (!format)
        return miss(backend, row, "this kernel does not have it");
    uint32_t id = event_format_id(format);
    bool good = id != 0 && find_fields(format, row, state, &missing) &&
                event_format_find(format, "common_pid", &translator->common_pid) &&
                event_format_find(format, "common_flags", &translator->common_flags);
    free(format);
    if (!good)
        return miss(backend, row, "its format is not the expected one");
    state->tracepoint = id;
    return NULL;
}

static struct argus_error *read_rows(struct perf_backend *backend, uint32_t categories)
{
    int tracefs;
    struct argus_error *error = tracefs_open(&tracefs);
    if (error)
        return error;
    for (size_t i = 0; i < perf_row_count && !error; i++) {
        if (perf_rows[i].system && categories & CATEGORY_BIT(perf_rows[i].category))
            error = read_row(backend, tracefs, i);
    }
    close(tracefs);
    return error;
}

static size_t add_specs(const struct perf_backend *backend, uint32_t number,
                        const struct backend_options *options, struct perf_event_spec *specs)
{
    const struct perf_row *row = &perf_rows[number];
    bool is_clock = !row->system, stacks = options->categories & CATEGORY_BIT(CATEGORY_STACKS);
    struct perf_event_spec spec = {
        .number = number,
        .tracepoint = backend->rows[number].tracepoint,
        .wants_bits = row->options.wants_bits,
    };
    if (is_clock ? options->rate_hz == 0 : spec.tracepoint == 0)
        return 0;
    if (is_clock)
        spec.period_ns = 1000000000u / options->rate_hz;
    specs[0] = spec;
    if (!row->options.filter_rest || stacks)
        specs[0].filter = row->options.filter;
    if (!row->options.chain || (!stacks && !is_clock))
        return 1;
    specs[0].chain = row->options.chain;
    if (!row->options.filter_rest)
        return 1;
    specs[1] = spec;
    specs[1].filter = row->options.filter_rest;
    return 2;
}

static size_t data_bytes_for(uint64_t ring_bytes, uint32_t cpu_count)
{
    size_t bytes = DATA_BYTES_MIN;
    while (bytes < DATA_BYTES_MAX && (uint64_t)bytes * 2 * 16 * cpu_count <= ring_bytes)
        bytes *= 2;
    return bytes;
}

static struct argus_error *check_opened(struct perf_backend *backend,
                                        const struct perf_event_spec *specs, size_t count)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        int failed = perf_events_failed(backend->events, i);
        const struct perf_row *row = &perf_rows[specs[i].number];
        if (failed && row->system)
            error = miss(backend, row, strerror(failed));
        else if (failed)
            backend_note(&backend->base, "%s: %s", row->lost_without, strerror(failed));
    }
    return error;
}

static struct argus_error *open_events(struct perf_backend *backend,
                                       const struct backend_options *options)
{
    struct perf_event_spec specs[SPEC_LIMIT];
    size_t count = 0;
    for (uint32_t i = 0; i < perf_row_count && count + 2 <= SPEC_LIMIT; i++)
        count += add_specs(backend, i, options, specs + count);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* an event on each cpu is a descriptor */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    uint32_t cpu_count = backend->rings.cpu_count;
    struct argus_error *error = perf_events_create(
        specs, count, cpu_count, data_bytes_for(options->ring_bytes, cpu_count), &backend->events);
    return error ? error : check_opened(backend, specs, count);
}

/* The categories without a tracepoint that perf_event can use. */
static void note_what_is_missing(struct perf_backend *backend,
                                 const struct backend_options *options)
{
    uint32_t known = CATEGORY_BIT(CATEGORY_STACKS);
    missing_rights_note(&backend->base);
    if (pid_namespace_note())
        backend_note(&backend->base, "%s", pid_namespace_note());
    for (size_t i = 0; i < perf_row_count; i++)
        known |= CATEGORY_BIT(perf_rows[i].category);
    backend_note(&backend->base,
                 "perf_event passes no objects of the kernel: waits and wake-ups do "
                 "not name their file, socket or lock");
    for (int category = 0; category < CATEGORY_COUNT; category++) {
        if (options->categories & ~known & CATEGORY_BIT(category))
            backend_note(&backend->base, "perf_event cannot record %s: %s", category_name(category),
                         category_lost_without(category));
    }
    if (options->call_stacks)
        backend_note(&backend->base,
                     "perf_event records no stacks at system calls: those at waits, "
                     "wake-ups and samples have to do");
    if (options->unwind_count > 0)
        backend_note(&backend->base,
                     "perf_event records no user stacks to unwind later: stacks are "
                     "those that frame pointers give");
}

static void take_over_threads(struct perf_backend *backend)
{
    struct bpf_thread thread;
    uint32_t tid;
    for (size_t i = 0; thread_list_get(backend->first_threads, i, &tid, &thread); i++)
        seen_threads_put(backend->threads, tid, &thread);
}

static struct argus_error *make_tables(struct perf_backend *backend)
{
    backend->rows = calloc(perf_row_count, sizeof(*backend->rows));
    backend->stacks = stack_table_create();
    backend->threads = seen_threads_create();
    if (!backend->rows || !backend->stacks || !backend->threads)
        return argus_error_memory();
    struct bpf_settings settings = {0};
    syscalls_fill(&settings);
    compat_calls_fill(&settings);
    backend->translator = (struct translator){
        .rings = &backend->rings,
        .stacks = backend->stacks,
        .threads = backend->threads,
        .own_pid = pid_namespace_own_id(),
        .tick_ns = host_tick_ns(),
    };
    memcpy(backend->translator.long_syscalls, settings.long_syscalls,
           sizeof(settings.long_syscalls));
    memcpy(backend->translator.compat_calls, settings.compat_calls, sizeof(settings.compat_calls));
    return NULL;
}

/* Called after the events are open: closing the last event of a tracepoint takes the kernel about
 * 30 ms. No sample has been read yet. */
static void find_own_timer(struct perf_backend *backend)
{
    for (size_t i = 0; i < perf_row_count; i++) {
        const struct row_state *state = &backend->rows[i];
        if (perf_rows[i].translate != perf_on_timer_start || !state->tracepoint)
            continue;
        uint64_t function = own_timer_function(state->tracepoint, &state->fields[1]);
        backend->translator.own_timer_function =
            function ? function : kallsyms_find("perf_swevent_hrtimer");
    }
}

/* Threads and mappings are read before the events begin, so that every recorded one has a name. */
static struct argus_error *perf_start(struct perf_backend *backend,
                                      const struct backend_options *options)
{
    int cpu_count = libbpf_num_possible_cpus();
    if (cpu_count <= 0)
        return argus_error_os(-cpu_count, "cannot count the cpus");
    backend->online = calloc((size_t)cpu_count, sizeof(*backend->online));
    if (!backend->online)
        return argus_error_memory();
    struct argus_error *error = make_tables(backend);
    if (!error)
        error = read_rows(backend, options->categories);
    if (!error)
        error = record_rings_init(&backend->rings, (uint32_t)cpu_count,
                                  rings_slot_count(options->ring_bytes, (uint32_t)cpu_count));
    if (!error)
        error = images_create((uint32_t)cpu_count, &backend->images);
    if (!error)
        error = thread_list_create(&backend->first_threads);
    if (error)
        return error;
    take_over_threads(backend);
    note_what_is_missing(backend, options);
    error = open_events(backend, options);
    if (!error && options->rate_hz)
        find_own_timer(backend);
    return error;
}

static struct argus_error *perf_create(const struct backend_options *options, struct backend **ret)
{
    struct perf_backend *backend = calloc(1, sizeof(*backend));
    if (!backend)
        return argus_error_memory();
    backend->base.ops = &perf_backend_ops;
    backend->probes = options->probes;
    backend->ids_differ = pid_namespace_is_own();
    backend->pid_here = (uint32_t)getpid();
    struct argus_error *error = perf_start(backend, options);
    if (error) {
        backend_destroy(&backend->base);
        return error;
    }
    *ret = &backend->base;
    return NULL;
}

static void perf_destroy(struct backend *base)
{
    struct perf_backend *backend = of_base(base);
    perf_events_destroy(backend->events);
    images_destroy(backend->images);
    thread_list_destroy(backend->first_threads);
    seen_threads_destroy(backend->threads);
    stack_table_destroy(backend->stacks);
    record_rings_deinit(&backend->rings);
    idmap_deinit(&backend->translator.own_timers);
    free(backend->online);
    free(backend->rows);
    free(backend);
}

static void perf_detach(struct backend *base)
{
    struct perf_backend *backend = of_base(base);
    struct perf_visitor visitor = visitor_of(backend);
    if (!backend->detached)
        perf_events_stop(backend->events, &visitor);
    backend->detached = true;
}

static struct argus_error *perf_header(const struct backend *base, struct argus_trace_header *ret)
{
    return host_header(of_base(base)->rings.cpu_count, ret);
}

static uint32_t perf_cpu_count(const struct backend *base)
{
    return of_base(base)->rings.cpu_count;
}

static uint64_t perf_ring_bytes(const struct backend *base)
{
    const struct record_rings *rings = &of_base(base)->rings;
    return (uint64_t)rings->cpu_count * rings->slot_count * sizeof(struct argus_record);
}

static uint64_t perf_emitted(const struct backend *base, uint32_t cpu)
{
    return of_base(base)->rings.heads[cpu];
}

static size_t perf_read(struct backend *base, uint32_t cpu, struct argus_record *records,
                        size_t room, uint64_t *ret_lost)
{
    return record_rings_read(&of_base(base)->rings, cpu, records, room, ret_lost);
}

static uint64_t perf_unread(const struct backend *base, uint32_t cpu)
{
    const struct record_rings *rings = &of_base(base)->rings;
    return rings->heads[cpu] - rings->next[cpu];
}

static size_t perf_peek(const struct backend *base, uint32_t cpu, bool oldest,
                        struct argus_record *records, size_t room)
{
    return record_rings_peek(&of_base(base)->rings, cpu, oldest, records, room);
}

static size_t perf_read_at(const struct backend *base, uint32_t cpu, uint64_t *next,
                           struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    return record_rings_read_at(&of_base(base)->rings, cpu, next, records, room, ret_lost);
}

static void follow_cpus(struct perf_backend *backend, const struct perf_visitor *visitor)
{
    if (++backend->collections < CPUS_EVERY)
        return;
    backend->collections = 0;
    if (online_cpus_read(backend->rings.cpu_count, backend->online))
        perf_events_follow_cpus(backend->events, backend->online, visitor);
}

static struct argus_error *perf_collect(struct backend *base)
{
    struct perf_backend *backend = of_base(base);
    struct perf_visitor visitor = visitor_of(backend);
    if (!backend->detached) {
        perf_events_drain(backend->events, &visitor);
        follow_cpus(backend, &visitor);
    }
    return images_collect(backend->images);
}

static size_t perf_stack(struct backend *base, uint64_t id, uint64_t *frames)
{
    return stack_table_get(of_base(base)->stacks, id, frames);
}

static struct argus_error *perf_write_threads(struct backend *base, struct argus_writer *writer)
{
    struct perf_backend *backend = of_base(base);
    struct thread_source source = seen_threads_source(backend->threads);
    return thread_list_write(backend->first_threads, &source, writer);
}

static struct argus_error *perf_renew_names(struct backend *base, uint64_t taken_ns,
                                            struct argus_writer *writer)
{
    struct perf_backend *backend = of_base(base);
    struct thread_source source = seen_threads_source(backend->threads);
    struct argus_error *error =
        thread_list_renew(backend->first_threads, &source, taken_ns, writer);
    return error ? error : images_renew(backend->images, taken_ns, writer);
}

static struct argus_error *perf_write_images(struct backend *base, struct argus_writer *writer,
                                             bool all)
{
    struct perf_backend *backend = of_base(base);
    struct argus_error *error = images_collect(backend->images);
    return error ? error : images_write(backend->images, writer, all);
}

static struct argus_error *perf_write_kernel_symbols(struct backend *base, uint64_t *addresses,
                                                     size_t count, struct argus_writer *writer)
{
    (void)base;
    return kallsyms_write(addresses, count, writer);
}

static size_t perf_counters(const struct backend *base, struct argus_counter *ret, size_t room)
{
    const struct perf_backend *backend = of_base(base);
    const struct argus_counter counters[] = {
        {"stacks_not_taken", backend->translator.stacks_not_taken},
        {"compat_syscalls_skipped", backend->translator.compat_skipped},
        {"images_lost", images_lost(backend->images)},
    };
    size_t count = sizeof(counters) / sizeof(counters[0]);
    for (size_t i = 0; i < count && i < room; i++)
        ret[i] = counters[i];
    return count < room ? count : room;
}

/* Probes are programs of BPF; hooks report by themselves. */
static struct argus_error *perf_write_probes(struct backend *base, struct argus_writer *writer)
{
    const struct perf_backend *backend = of_base(base);
    return backend->probes ? probe_list_write(backend->probes, true, writer) : NULL;
}

const struct backend_ops perf_backend_ops = {
    .name = "perf",
    .title = "perf_event",
    .kind = BACKEND_PERF,
    .collect_ms = COLLECT_MS,
    .create = perf_create,
    .destroy = perf_destroy,
    .detach = perf_detach,
    .header = perf_header,
    .cpu_count = perf_cpu_count,
    .ring_bytes = perf_ring_bytes,
    .emitted = perf_emitted,
    .read = perf_read,
    .unread = perf_unread,
    .peek = perf_peek,
    .read_at = perf_read_at,
    .collect = perf_collect,
    .stack = perf_stack,
    .write_threads = perf_write_threads,
    .write_images = perf_write_images,
    .renew_names = perf_renew_names,
    .write_probes = perf_write_probes,
    .write_kernel_symbols = perf_write_kernel_symbols,
    .counters = perf_counters,
    .is_overloaded = cpu_overload_now,
};
