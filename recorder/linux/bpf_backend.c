/* The Linux backend: BPF programs write into mmap-able rings (programs.c, rings.c), perf_event
 * reports mappings (mapped_images.c), /proc and a BPF map name threads (threads.c). */
#include "linux/bpf_backend.h"

#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "linux/condition_loops.h"
#include "linux/cpu_overload.h"
#include "linux/cpu_watch.h"
#include "linux/epoll_sets.h"
#include "linux/flags/flags.h"
#include "linux/held_locks.h"
#include "linux/host_header.h"
#include "linux/interpreter_frames.h"
#include "linux/kallsyms.h"
#include "linux/load/programs.h"
#include "linux/mapped_images.h"
#include "linux/missing_rights.h"
#include "linux/open_ends.h"
#include "linux/pid_namespace.h"
#include "linux/pollers.h"
#include "linux/rings.h"
#include "linux/shared_mappings.h"
#include "linux/shared_watch.h"
#include "linux/snapshots.h"
#include "linux/thread_map.h"
#include "linux/threads.h"
#include "linux/waiting.h"
#include "server/clocks.h"

struct bpf_backend {
    struct backend base;
    struct programs *programs;
    struct images *images;
    struct thread_list *threads;
    struct rings rings;
    struct cpu_watch cpu_watch;
    struct snapshots snapshots;
    struct waiting waiting;
    struct interpreters interpreters;
    bool copies_late; /* copy stacks of all processes */
    bool records_calls;
    struct condition_loops *loops; /* NULL: not asked for yet */
    struct flags *flags;           /* NULL: none has been watched */
    struct shared_watch shared;
    int stacks_fd, threads_fd;       /* maps, borrowed from `programs` */
    const struct probe_list *probes; /* borrowed; NULL: none */
};

static struct bpf_backend *of_base(const struct backend *base)
{
    return (struct bpf_backend *)base;
}

static void collect_notes(struct bpf_backend *backend)
{
    const char *const *notes;
    size_t count = programs_notes(backend->programs, &notes);
    missing_rights_note(&backend->base);
    if (pid_namespace_note())
        backend_note(&backend->base, "%s", pid_namespace_note());
    for (size_t i = 0; i < count; i++)
        backend_note(&backend->base, "%s", notes[i]);
}

static void on_image(void *context, const struct argus_image_entry *image, const char *path)
{
    struct bpf_backend *backend = context;
    flags_on_image(backend->flags, image, path);
    interpreters_on_image(&backend->interpreters, image, path);
}

static void on_exec(void *context, uint32_t pid, uint64_t time_ns)
{
    struct bpf_backend *backend = context;
    flags_on_exec(backend->flags, pid, time_ns);
    interpreters_on_exec(&backend->interpreters, pid);
}

static void listen_to_images(struct bpf_backend *backend)
{
    const struct image_listener listener = {on_image, on_exec, backend};
    images_listen(backend->images, &listener);
    if (backend->interpreters.list)
        images_tell(backend->images);
}

/* Mappings are monitored before the programs run, so that the images of every recorded thread are
 * known. */
static struct argus_error *bpf_start(struct bpf_backend *backend,
                                     const struct backend_options *options)
{
    int cpu_count = libbpf_num_possible_cpus();
    if (cpu_count <= 0)
        return argus_error_os(-cpu_count, "cannot count the cpus");
    uint32_t slot_count = rings_slot_count(options->ring_bytes, (uint32_t)cpu_count);
    if (!cpu_watch_init(&backend->cpu_watch, (uint32_t)cpu_count))
        return argus_error_memory();
    struct argus_error *error = images_create((uint32_t)cpu_count, &backend->images);
    if (!error)
        error = programs_create(options, (uint32_t)cpu_count, slot_count, &backend->programs);
    if (error)
        return error;
    backend->stacks_fd = programs_map(backend->programs, "stacks");
    backend->threads_fd = programs_map(backend->programs, "threads");
    backend->probes = options->probes;
    backend->copies_late = options->late_ns != 0;
    backend->records_calls = options->categories & CATEGORY_BIT(CATEGORY_SYSCALLS);
    collect_notes(backend);
    error = rings_init(&backend->rings, programs_map(backend->programs, "ring"),
                       programs_map(backend->programs, "cpus"), (uint32_t)cpu_count, slot_count);
    if (!error && snapshots_wanted(options))
        error = snapshots_init(&backend->snapshots, programs_object(backend->programs),
                               (uint32_t)cpu_count, options->snapshot_bytes);
    epoll_sets_fill(programs_map(backend->programs, "epoll_sets"));
    interpreters_init(&backend->interpreters, programs_object(backend->programs), options);
    listen_to_images(backend);
    return error ? error : thread_list_create(&backend->threads);
}

static struct argus_error *bpf_create(const struct backend_options *options, struct backend **ret)
{
    struct bpf_backend *backend = calloc(1, sizeof(*backend));
    if (!backend)
        return argus_error_memory();
    backend->base.ops = &bpf_backend_ops;
    struct argus_error *error = bpf_start(backend, options);
    if (error) {
        backend_destroy(&backend->base);
        return error;
    }
    *ret = &backend->base;
    return NULL;
}

static void bpf_destroy(struct backend *base)
{
    struct bpf_backend *backend = of_base(base);
    rings_deinit(&backend->rings);
    cpu_watch_deinit(&backend->cpu_watch);
    snapshots_deinit(&backend->snapshots);
    waiting_deinit(&backend->waiting);
    shared_watch_deinit(&backend->shared);
    condition_loops_destroy(backend->loops);
    flags_destroy(backend->flags);
    programs_destroy(backend->programs);
    images_destroy(backend->images);
    thread_list_destroy(backend->threads);
    free(backend);
}

static void bpf_detach(struct backend *base)
{
    struct bpf_backend *backend = of_base(base);
    flags_detach(backend->flags);
    programs_detach(backend->programs);
}

static void bpf_release(struct backend *base)
{
    programs_release(of_base(base)->programs);
}

static struct argus_error *bpf_header(const struct backend *base, struct argus_trace_header *ret)
{
    return host_header(of_base(base)->rings.cpu_count, ret);
}

static uint32_t bpf_cpu_count(const struct backend *base)
{
    struct bpf_backend *backend = of_base(base);
    return backend->rings.cpu_count;
}

static uint64_t bpf_ring_bytes(const struct backend *base)
{
    struct bpf_backend *backend = of_base(base);
    return (uint64_t)backend->rings.cpu_count * backend->rings.slot_count *
           sizeof(struct argus_record);
}

static uint64_t bpf_emitted(const struct backend *base, uint32_t cpu)
{
    struct bpf_backend *backend = of_base(base);
    return rings_head(&backend->rings, cpu);
}

static size_t bpf_read(struct backend *base, uint32_t cpu, struct argus_record *records,
                       size_t room, uint64_t *ret_lost)
{
    struct bpf_backend *backend = of_base(base);
    size_t count = rings_read(&backend->rings, cpu, records, room, ret_lost);
    shared_watch_see(&backend->shared, records, count);
    return count;
}

static uint64_t bpf_unread(const struct backend *base, uint32_t cpu)
{
    struct bpf_backend *backend = of_base(base);
    return rings_head(&backend->rings, cpu) - backend->rings.next[cpu];
}

static size_t bpf_read_at(const struct backend *base, uint32_t cpu, uint64_t *next,
                          struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    return rings_read_at(&of_base(base)->rings, cpu, next, records, room, ret_lost);
}

static size_t bpf_peek(const struct backend *base, uint32_t cpu, bool oldest,
                       struct argus_record *records, size_t room)
{
    return rings_peek(&of_base(base)->rings, cpu, oldest, records, room);
}

/* Reports from before the CPU went offline have been collected already. */
static void cpu_came(void *context, uint32_t cpu)
{
    struct bpf_backend *backend = context;
    images_cpu_came(backend->images, cpu);
    struct argus_error *error = programs_cpu_came(backend->programs, cpu);
    collect_notes(backend);
    backend_note(&backend->base, "cpu %u came online while recording%s%s", cpu,
                 error ? ", and is not sampled: " : "", error ? error->message : "");
    argus_error_destroy(error);
}

/* Its notes are added when something happens. */
static struct argus_error *spare_programs(struct bpf_backend *backend)
{
    const char *const *notes;
    size_t before = programs_notes(backend->programs, &notes);
    struct argus_error *error = programs_spare(backend->programs, clock_ns(TRACE_CLOCK));
    if (programs_notes(backend->programs, &notes) != before)
        collect_notes(backend);
    return error;
}

static struct argus_error *bpf_collect(struct backend *base)
{
    struct bpf_backend *backend = of_base(base);
    struct argus_error *error = images_collect(backend->images);
    if (!error)
        error = spare_programs(backend);
    flags_look(backend->flags);
    snapshots_collect(&backend->snapshots, backend->rings.cpus);
    if (!error)
        cpu_watch_look(&backend->cpu_watch, cpu_came, backend);
    return error;
}

static bool bpf_copies_hurry(const struct backend *base)
{
    return of_base(base)->snapshots.hurry;
}

static size_t bpf_stack(struct backend *base, uint64_t id, uint64_t *frames)
{
    struct bpf_backend *backend = of_base(base);
    struct bpf_stack stack;
    bool known = bpf_map_lookup_elem(backend->stacks_fd, &id, &stack) == 0 ||
                 interpreters_frames(&backend->interpreters, id, &stack);
    if (!known || stack.count > BPF_STACK_FRAMES)
        return 0;
    size_t count = stack.count;
    memcpy(frames, stack.frames, count * sizeof(*frames));
    if (count == BPF_STACK_FRAMES && !(frames[0] >> 63)) /* a user stack that may be cut off */
        frames[count++] = ARGUS_FRAME_DEEP;
    return count;
}

static bool bpf_snapshot(struct backend *base, uint64_t id, struct argus_snapshot *ret)
{
    return snapshots_find(&of_base(base)->snapshots, id, ret);
}

static struct argus_error *bpf_look_at_waits(struct backend *base)
{
    struct bpf_backend *backend = of_base(base);
    return waiting_look(&backend->waiting, programs_object(backend->programs),
                        &backend->interpreters, backend->snapshots.stack_bytes);
}

static struct argus_error *bpf_write_waits(const struct backend *base, struct argus_writer *writer)
{
    return waiting_write(&of_base(base)->waiting, writer);
}

static struct argus_error *bpf_write_threads(struct backend *base, struct argus_writer *writer)
{
    struct bpf_backend *backend = of_base(base);
    struct thread_source source = thread_map_source(backend->threads_fd);
    return thread_list_write(backend->threads, &source, writer);
}

static struct argus_error *bpf_write_images(struct backend *base, struct argus_writer *writer,
                                            bool all)
{
    struct bpf_backend *backend = of_base(base);
    struct argus_error *error = images_collect(backend->images);
    return error ? error : images_write(backend->images, writer, all);
}

static struct argus_error *bpf_renew_names(struct backend *base, uint64_t taken_ns,
                                           struct argus_writer *writer)
{
    struct bpf_backend *backend = of_base(base);
    struct thread_source source = thread_map_source(backend->threads_fd);
    struct argus_error *error = thread_list_renew(backend->threads, &source, taken_ns, writer);
    return error ? error : images_renew(backend->images, taken_ns, writer);
}

static struct argus_error *bpf_write_probes(struct backend *base, struct argus_writer *writer)
{
    struct bpf_backend *backend = of_base(base);
    return backend->probes ? probe_list_write(backend->probes, false, writer) : NULL;
}

static struct argus_error *bpf_write_code(struct backend *base, struct argus_writer *writer)
{
    return interpreters_write(&of_base(base)->interpreters, writer);
}

static struct argus_error *bpf_write_kernel_symbols(struct backend *base, uint64_t *addresses,
                                                    size_t count, struct argus_writer *writer)
{
    (void)base;
    return kallsyms_write(addresses, count, writer);
}

/* Counters of the programs, per CPU. To add one: a field in struct bpf_cpu (shared.h), a row, and a
 * line in argus-recorder(8). */
static const struct cpu_counter {
    const char *name;
    size_t offset; /* in struct bpf_cpu */
    bool unwind;   /* only with --unwind */
} cpu_counters[] = {
    {"stacks_not_taken", offsetof(struct bpf_cpu, stacks_lost), false},
    {"compat_syscalls_skipped", offsetof(struct bpf_cpu, compat_skipped), false},
    {"timers_skipped", offsetof(struct bpf_cpu, timers_skipped), false},
    {"messages_unseen", offsetof(struct bpf_cpu, messages_unseen), false},
    {"snapshots_copied", offsetof(struct bpf_cpu, snapshot_head), true},
    {"snapshots_known", offsetof(struct bpf_cpu, snapshots_known), true},
    {"snapshots_same", offsetof(struct bpf_cpu, snapshots_same), true},
    {"snapshots_missed", offsetof(struct bpf_cpu, snapshots_missed), true},
};

static uint64_t sum_of_cpus(const struct rings *rings, size_t offset)
{
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < rings->cpu_count; cpu++)
        sum += *(const uint64_t *)((const char *)&rings->cpus[cpu] + offset);
    return sum;
}

static size_t bpf_counters(const struct backend *base, struct argus_counter *ret, size_t room)
{
    struct bpf_backend *backend = of_base(base);
    size_t count = 0;
    for (size_t i = 0; i < sizeof(cpu_counters) / sizeof(cpu_counters[0]); i++) {
        const struct cpu_counter *counter = &cpu_counters[i];
        if (count < room && (!counter->unwind || backend->snapshots.slots))
            ret[count++] = (struct argus_counter){counter->name,
                                                  sum_of_cpus(&backend->rings, counter->offset)};
    }
    if (count < room)
        ret[count++] = (struct argus_counter){"nested_missed", programs_missed(backend->programs)};
    if (count < room)
        ret[count++] =
            (struct argus_counter){"shared_memory_missed", shared_watch_missed(&backend->shared)};
    if (count < room)
        ret[count++] = (struct argus_counter){"images_lost", images_lost(backend->images)};
    return count;
}

static struct argus_error *bpf_pollers(struct backend *base, struct backend_poller *ret,
                                       size_t room, size_t *ret_count)
{
    struct bpf_backend *backend = of_base(base);
    struct argus_error *error =
        pollers_read(programs_map(backend->programs, "pollers"),
                     programs_map(backend->programs, "terminals"), ret, room, ret_count);
    if (!backend->loops)
        backend->loops = condition_loops_create();
    if (!error && backend->loops)
        condition_loops_add(backend->loops, clock_ns(TRACE_CLOCK), ret, room, ret_count);
    return error;
}

static struct argus_error *begin_flags(struct bpf_backend *backend)
{
    return flags_create(programs_object(backend->programs), &backend->base, &backend->flags);
}

/* A plan also applies to processes that have mapped the image already. */
static struct argus_error *bpf_flag_add(struct backend *base, const struct request_flag *wanted,
                                        uid_t owner, uint32_t *ret_number)
{
    struct bpf_backend *backend = of_base(base);
    struct argus_error *error = backend->flags ? NULL : begin_flags(backend);
    if (!error)
        error = flags_add(backend->flags, wanted, owner, ret_number);
    if (!error && !wanted->pid)
        images_tell(backend->images);
    return error;
}

static bool bpf_flags_awaited(const struct backend *base)
{
    return flags_awaited(of_base(base)->flags);
}

static bool bpf_take_shared(struct backend *base, record_list *ret)
{
    struct bpf_backend *backend = of_base(base);
    bool good = flags_take_shared(backend->flags, ret) &&
                (!backend->records_calls ||
                 shared_watch_take(&backend->shared, clock_ns(TRACE_CLOCK), ret));
    if (shared_watch_missed(&backend->shared))
        backend_note(base, "not all memory that processes share is listed: too much was mapped at "
                           "once, or a process could not be looked at");
    return good;
}

static struct argus_error *bpf_write_flags(struct backend *base, struct argus_writer *writer)
{
    return flags_write(of_base(base)->flags, writer);
}

static struct argus_error *bpf_flag_remove(struct backend *base, uint32_t number)
{
    return flags_remove(of_base(base)->flags, number);
}

static bool bpf_flag_get(const struct backend *base, uint32_t number, struct reply_flag *ret)
{
    return flags_get(of_base(base)->flags, number, ret);
}

static struct argus_error *bpf_offer_names(struct backend *base, struct name_search *search)
{
    struct bpf_backend *backend = of_base(base);
    struct thread_source source = thread_map_source(backend->threads_fd);
    /* with late stacks a copy may be of any process */
    search->any_stack = !backend->copies_late && snapshots_any(&backend->snapshots);
    return thread_list_offer_names(backend->threads, &source, search);
}

/* They name the callers of system calls; without system calls they are useless. */
static bool bpf_held_locks(const struct backend *base, record_list *ret)
{
    const struct bpf_backend *backend = (const struct bpf_backend *)base;
    return !backend->records_calls || held_locks_read(clock_ns(TRACE_CLOCK), ret);
}

/* What threads wait for now, and who could end it. Open ends are looked up for waits in system
 * calls, shared memory for loops around them. */
static bool bpf_read_last(const struct backend *base, record_list *ret)
{
    const struct bpf_backend *backend = (const struct bpf_backend *)base;
    uint64_t now_ns = clock_ns(TRACE_CLOCK);
    if (backend->records_calls &&
        (!open_ends_read(now_ns, ret) || !shared_mappings_read(now_ns, ret)))
        return false;
    for (size_t i = 0; i < backend->waiting.records.length; i++) {
        struct argus_record record = backend->waiting.records.data[i];
        record.timestamp = now_ns; /* in order with those before */
        if (!vec_push(ret, record))
            return false;
    }
    return true;
}

/* The kernel's buffers for mappings are small. An error shows again at the next bpf_collect(). */
static void collect_images(void *context)
{
    struct bpf_backend *backend = context;
    argus_error_destroy(images_collect(backend->images));
}

static struct argus_error *bpf_leave_out(struct backend *base, uint32_t categories)
{
    struct bpf_backend *backend = of_base(base);
    const struct programs_meanwhile meanwhile = {collect_images, backend};
    struct argus_error *error = programs_leave_out(backend->programs, categories, &meanwhile);
    collect_notes(backend);
    return error;
}

static void bpf_cost(const struct backend *base, uint64_t ret_ns[CATEGORY_COUNT])
{
    programs_cost(of_base((struct backend *)base)->programs, ret_ns);
}

const struct backend_ops bpf_backend_ops = {
    .name = "bpf",
    .title = "BPF programs",
    .kind = BACKEND_BPF,
    .create = bpf_create,
    .destroy = bpf_destroy,
    .detach = bpf_detach,
    .header = bpf_header,
    .cpu_count = bpf_cpu_count,
    .ring_bytes = bpf_ring_bytes,
    .emitted = bpf_emitted,
    .read = bpf_read,
    .unread = bpf_unread,
    .peek = bpf_peek,
    .read_at = bpf_read_at,
    .collect = bpf_collect,
    .stack = bpf_stack,
    .look_at_waits = bpf_look_at_waits,
    .write_waits = bpf_write_waits,
    .snapshot = bpf_snapshot,
    .write_threads = bpf_write_threads,
    .write_images = bpf_write_images,
    .renew_names = bpf_renew_names,
    .write_probes = bpf_write_probes,
    .write_code = bpf_write_code,
    .write_kernel_symbols = bpf_write_kernel_symbols,
    .counters = bpf_counters,
    .pollers = bpf_pollers,
    .flag_add = bpf_flag_add,
    .flag_remove = bpf_flag_remove,
    .flag_get = bpf_flag_get,
    .flags_awaited = bpf_flags_awaited,
    .take_shared = bpf_take_shared,
    .write_flags = bpf_write_flags,
    .is_overloaded = cpu_overload_now,
    .copies_hurry = bpf_copies_hurry,
    .held_locks = bpf_held_locks,
    .read_last = bpf_read_last,
    .leave_out = bpf_leave_out,
    .cost = bpf_cost,
    .offer_names = bpf_offer_names,
    .release = bpf_release,
};
