#include "fake_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_CPUS    2
#define FAKE_RECORDS 100

void require(bool fact, const char *what)
{
    if (fact)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

struct fake_backend {
    struct backend base;
    uint64_t emitted[FAKE_CPUS], read[FAKE_CPUS];
    bool detached;
};

struct fake_state fake;

static struct fake_backend *of_base(const struct backend *base)
{
    return (struct fake_backend *)base;
}

static void fake_destroy(struct backend *base)
{
    fake.alive--;
    free(base);
}

static void fake_detach(struct backend *base)
{
    require(!of_base(base)->detached, "a recording ends once");
    of_base(base)->detached = true;
}

static struct argus_error *fake_header(const struct backend *base, struct argus_trace_header *ret)
{
    (void)base;
    *ret = (struct argus_trace_header){
        .version_major = ARGUS_TRACE_VERSION_MAJOR,
        .version_minor = ARGUS_TRACE_VERSION_MINOR,
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = FAKE_CPUS,
    };
    return NULL;
}

static uint32_t fake_cpu_count(const struct backend *base)
{
    (void)base;
    return FAKE_CPUS;
}

static uint64_t fake_ring_bytes(const struct backend *base)
{
    (void)base;
    return FAKE_CPUS * 4096 * sizeof(struct argus_record);
}

static uint64_t fake_emitted(const struct backend *base, uint32_t cpu)
{
    return of_base(base)->emitted[cpu];
}

static struct argus_record make_record(uint32_t cpu, uint64_t number)
{
    struct argus_record record = {.timestamp = number, .cpu = cpu, .debugid = ARGUS_ID_SWITCH};
    if (number % 10 == 9)
        record.debugid = ARGUS_ID_STACK;
    if (number % 10 == 9)
        record.arg[0] = number % 7;
    if (number % 50 == 49)
        record = (struct argus_record){.debugid = BACKEND_ID_LOST, .arg = {3}, .cpu = cpu};
    return record;
}

static size_t fake_read_at(const struct backend *base, uint32_t cpu, uint64_t *next,
                           struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    size_t count = 0;
    *ret_lost = fake.loses ? 7 : 0;
    *next += *ret_lost;
    fake.loses = false;
    while (count < room && *next < of_base(base)->emitted[cpu])
        records[count++] = make_record(cpu, (*next)++);
    return count;
}

static size_t fake_read(struct backend *base, uint32_t cpu, struct argus_record *records,
                        size_t room, uint64_t *ret_lost)
{
    return fake_read_at(base, cpu, &of_base(base)->read[cpu], records, room, ret_lost);
}

static uint64_t fake_unread(const struct backend *base, uint32_t cpu)
{
    return of_base(base)->emitted[cpu] - of_base(base)->read[cpu];
}

static size_t fake_peek(const struct backend *base, uint32_t cpu, bool oldest,
                        struct argus_record *records, size_t room)
{
    (void)base;
    for (size_t i = 0; i < room && i < 3; i++)
        records[i] = make_record(cpu, oldest ? i : 1000 + i);
    return room < 3 ? room : 3;
}

static struct argus_error *fake_collect(struct backend *base)
{
    for (uint32_t cpu = 0; cpu < FAKE_CPUS && !of_base(base)->detached; cpu++)
        of_base(base)->emitted[cpu] += FAKE_RECORDS;
    return NULL;
}

static size_t fake_stack(struct backend *base, uint64_t id, uint64_t *frames)
{
    (void)base;
    frames[0] = id % 2 ? 0x1000 : 0xffffffff81000000ull;
    frames[1] = id;
    return id % 3;
}

static struct argus_error *fake_write_threads(struct backend *base, struct argus_writer *writer)
{
    struct argus_thread_entry thread = {.tid = 1, .pid = 1, .name = "fake"};
    (void)base;
    return argus_writer_threads(writer, &thread, 1);
}

static struct argus_error *fake_write_images(struct backend *base, struct argus_writer *writer,
                                             bool all)
{
    (void)base;
    (void)writer;
    (void)all;
    return NULL;
}

static struct argus_error *fake_write_kernel_symbols(struct backend *base, uint64_t *addresses,
                                                     size_t count, struct argus_writer *writer)
{
    (void)base;
    (void)addresses;
    (void)count;
    (void)writer;
    return NULL;
}

static size_t fake_counters(const struct backend *base, struct argus_counter *ret, size_t room)
{
    (void)base;
    if (room > 0)
        ret[0] = (struct argus_counter){"made_up", 1};
    return room > 0;
}

static struct argus_error *fake_pollers(struct backend *base, struct backend_poller *ret,
                                        size_t room, size_t *ret_count)
{
    (void)base;
    *ret_count = room > 0;
    if (room > 0)
        ret[0] = (struct backend_poller){.tid = 1, .pid = 1, .returned_ns = 5};
    return NULL;
}

static struct argus_error *fake_renew_names(struct backend *base, uint64_t taken_ns,
                                            struct argus_writer *writer)
{
    (void)taken_ns;
    return fake_write_threads(base, writer);
}

static struct argus_error *fake_create(const struct backend_options *options, struct backend **ret)
{
    require(options->unwind_count <= PROTOCOL_UNWIND_MAX, "options were checked");
    require(options->rate_hz <= PROTOCOL_RATE_MAX, "options were checked");
    require(options->ring_bytes <= PROTOCOL_RING_MAX, "options were checked");
    require(options->categories & CATEGORY_BIT(CATEGORY_SCHED), "options were checked");
    if (fake.create_fails) {
        fake.create_fails = false;
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "as the input wants it");
    }
    struct fake_backend *backend = calloc(1, sizeof(*backend));
    if (!backend)
        return argus_error_memory();
    backend->base.ops = backend_table[0];
    fake.alive++;
    for (int i = 0; i < 100; i++)
        backend_note(&backend->base, "note %d of a backend that says a lot, to fill a page", i);
    *ret = &backend->base;
    return NULL;
}

static const struct backend_ops fake_ops = {
    .name = "fake",
    .title = "an invention",
    .kind = BACKEND_BPF,
    .create = fake_create,
    .destroy = fake_destroy,
    .detach = fake_detach,
    .header = fake_header,
    .cpu_count = fake_cpu_count,
    .ring_bytes = fake_ring_bytes,
    .emitted = fake_emitted,
    .read = fake_read,
    .unread = fake_unread,
    .peek = fake_peek,
    .read_at = fake_read_at,
    .collect = fake_collect,
    .stack = fake_stack,
    .write_threads = fake_write_threads,
    .write_images = fake_write_images,
    .renew_names = fake_renew_names,
    .write_kernel_symbols = fake_write_kernel_symbols,
    .counters = fake_counters,
    .pollers = fake_pollers,
};

const struct backend_ops *const backend_table[] = {&fake_ops, NULL};
