#include "step_trace.h"

#include "argus/trace.h"
#include "event/tracepoints.h"

/* A step at whose second byte a chunk ends is rare: reading many chunks of a few records takes most of
 * the time of a target. */
enum { STEP_BYTES = 8, MOST_RECORDS = 4096, CPUS = 3, ENDS_CHUNK = 240 };

struct input {
    struct argus_writer *writer;
    struct argus_record batch[64];
    size_t count;
    uint64_t now;
};

static void flush(struct input *input, uint32_t cpu, uint64_t lost)
{
    argus_error_destroy(argus_writer_records(input->writer, cpu, input->batch, input->count, lost));
    input->count = 0;
}

static uint32_t debugid_of(uint8_t kind, uint8_t which)
{
    static const uint16_t calls[] = {0, 1, 7, 24, 35, 44, 61, 62, 202, 230, 231, 232, 9999};
    const struct tracepoint *row = &tracepoints[kind % TRACEPOINT_COUNT];
    uint32_t func = row->paired ? 1 + (which & 1) : 0;
    if (kind % TRACEPOINT_COUNT == TRACEPOINT_syscall)
        return ARGUS_ID_SYSCALL(calls[(which >> 1) % (sizeof(calls) / sizeof(*calls))]) | func;
    return row->debugid | func;
}

/* Few channels and positions, so that sends match receives. */
static void shape_message(struct argus_record *record, const uint8_t *step)
{
    static const uint64_t sizes[] = {0, 1, 2, 8, 100, 4096, 5000, 1 << 20};
    record->arg[0] = step[6] % 2;
    record->arg[1] =
        ARGUS_MESSAGE_WHAT(sizes[step[4] % 8], step[5] % (ARGUS_CHANNEL_COUNT + 1), step[7]);
    record->arg[2] = (step[5] >> 4) * 50u + ((uint64_t)(step[4] >> 4) << 20);
}

static void add_step(struct input *input, const uint8_t *step)
{
    static const uint64_t values[] = {0,  1,   2,    3,   4,    10,    11,
                                      12, 128, 0x80, 512, 5000, ~0ull, 1ull << 63};
    enum { VALUES = sizeof(values) / sizeof(*values) };
    uint32_t cpu = step[1] % CPUS;
    input->now += step[2] < 240 ? step[2] * 100u : step[2] * 1000000u;
    if (step[2] == 239 && input->now > 5000)
        input->now -= 5000;
    struct argus_record record = {
        .timestamp = input->now,
        .tid = step[3] % 6,
        .debugid = debugid_of(step[0], step[4]),
        .cpu = cpu,
        .arg = {values[step[5] % VALUES], step[6] % 6, values[step[7] % VALUES], step[4] % 6},
    };
    if (record.debugid == ARGUS_ID_MESSAGE)
        shape_message(&record, step);
    if (step[0] == 255)
        record.debugid = (uint32_t)step[4] << 24 | (uint32_t)step[5] << 2;
    input->batch[input->count++] = record;
    bool full = input->count == sizeof(input->batch) / sizeof(*input->batch);
    if (full || step[1] >= ENDS_CHUNK)
        flush(input, cpu, step[1] == 255 ? 1 + step[7] : 0);
}

/* Names for the rules of fuzz_graph.c: of the frames, of a function that handler records can have, and of probes. */
static void add_names(struct argus_writer *writer, const uint64_t frames[4])
{
    const struct argus_kernel_symbol symbols[] = {
        {1ull << 63, "unit", ""},     {frames[0] - 1, "first", ""}, {frames[1] - 1, "second", ""},
        {frames[2] - 1, "third", ""}, {frames[3] - 1, "main", ""},
    };
    const struct argus_probe_entry probes[] = {
        {0, 1, ARGUS_PROBE_QUEUE, 1, "/lib/l.so", "queue_it", "queue"},
        {0, 2, ARGUS_PROBE_BEGIN, 1, "/lib/l.so", "run_it", "run"},
        {0, 3, ARGUS_PROBE_END, 2, "/lib/l.so", "end_it", "end"},
        {0, 4, ARGUS_PROBE_BEGIN, 2, "/lib/l.so", "begin_it", "begin"},
        {0, 10, ARGUS_PROBE_BEGIN, 3, "/lib/l.so", "step_it", "step"},
        {0, 11, ARGUS_PROBE_CANCEL, 1, "/lib/l.so", "cancel_it", "cancel"},
        {0, 12, ARGUS_PROBE_QUEUE, 1, "/lib/l.so", "queue_ordered", "queue"},
    };
    argus_error_destroy(argus_writer_kernel_symbols(writer, symbols, 5));
    argus_error_destroy(argus_writer_probes(writer, probes, 7));
}

void step_trace_write(int fd, const uint8_t *data, size_t size)
{
    struct argus_trace_header header = {
        .os = size && data[0] & 1 ? ARGUS_OS_DARWIN : ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = size && data[0] & 2 ? 125 : 1,
        .timebase_denom = size && data[0] & 2 ? 3 : 1,
        .page_bytes = 4096,
        .cpu_count = CPUS,
        .version_major = ARGUS_TRACE_VERSION_MAJOR,
    };
    struct input input = {.now = 1000000};
    struct argus_error *error = argus_writer_create(fd, &header, &input.writer);
    if (error) {
        argus_error_destroy(error);
        return;
    }
    struct argus_thread_entry threads[] = {
        {.tid = 1, .pid = 1, .name = "one", .seen_ticks = 1000500},
        {.tid = 2, .pid = 1, .name = "two", .seen_ticks = 1090000},
        {.tid = 2, .pid = 3, .name = "other", .seen_ticks = 9000000},
        {.tid = 4, .pid = 4, .name = "kernel", .kernel = true},
    };
    argus_error_destroy(argus_writer_threads(input.writer, threads, 4));
    static const uint64_t frames[] = {0xffffffff80401000, 0xffffffff80402000, 0xffffffff80403000,
                                      0xffffffff80404000};
    add_names(input.writer, frames);
    for (uint64_t id = 1; id <= 4; id++)
        argus_error_destroy(argus_writer_stack(input.writer, id, frames, (size_t)id));
    for (size_t at = 1; at + STEP_BYTES <= size && at / STEP_BYTES < MOST_RECORDS; at += STEP_BYTES)
        add_step(&input, data + at);
    flush(&input, 0, 0);
    argus_error_destroy(argus_writer_end(input.writer, NULL, 0));
    argus_writer_destroy(input.writer);
}
