/* The records of a perf.data file. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "perf_data.h"
#include "tep_fields.h"

/* --- stacks --- */

/* A call chain has the frames of kernel and user one after another, each group behind a mark. */
static void split_chain(struct sink *sink, const struct perf_sample *sample,
                        struct foreign_event *event)
{
    uint64_t frames[2][ARGUS_STACK_MAX_FRAMES];
    size_t counts[2] = {0, 0};
    int part = -1; /* 0: kernel, 1: user; else: of no use */
    for (size_t i = 0; i < sample->chain_length; i++) {
        uint64_t frame;
        memcpy(&frame, &sample->chain[i], sizeof(frame)); /* may be unaligned */
        if (frame >= (uint64_t)PERF_CONTEXT_MAX)
            part = frame == (uint64_t)PERF_CONTEXT_KERNEL ? 0
                   : frame == (uint64_t)PERF_CONTEXT_USER ? 1
                                                          : -1;
        else if (part >= 0 && counts[part] < ARGUS_STACK_MAX_FRAMES)
            frames[part][counts[part]++] = frame;
    }
    event->kernel_stack = sink_stack(sink, frames[0], counts[0]);
    event->user_stack = sink_stack(sink, frames[1], counts[1]);
}

/* DWARF's numbers of x86-64 registers as perf's (arch/x86/include/uapi/asm/perf_regs.h). */
static const uint8_t x86_registers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

/* arm64 has DWARF's order: x0 to x30, sp, pc. */
static void keep_copied_stack(struct perf_file *perf, const struct perf_sample *sample,
                              struct foreign_event *event)
{
    bool is_arm = sink_header(perf->sink)->arch == ARGUS_ARCH_AARCH64;
    struct argus_snapshot snapshot = {
        .pid = sample->pid,
        .tid = sample->tid,
        .ticks = sample->time_ns,
        .register_count = is_arm ? ARGUS_SNAPSHOT_REGISTERS : sizeof(x86_registers),
        .end = sample->stack_bytes == sample->stack_asked_bytes ? ARGUS_SNAPSHOT_CUT
                                                                : ARGUS_SNAPSHOT_WHOLE,
        .stack = sample->stack,
        .stack_bytes = (uint32_t)sample->stack_bytes,
    };
    for (uint32_t i = 0; i < snapshot.register_count; i++)
        snapshot.registers[i] = sample->registers[is_arm ? i : x86_registers[i]];
    event->user_stack = sink_snapshot(perf->sink, &snapshot);
}

static void take_stacks(struct perf_file *perf, const struct perf_sample *sample,
                        struct foreign_event *event)
{
    if (sample->chain)
        split_chain(perf->sink, sample, event);
    if (sample->stack && sample->has_registers && sample->stack_bytes)
        keep_copied_stack(perf, sample, event);
}

/* --- samples --- */

static bool sample_number(const struct foreign_event *event, const char *name, uint64_t *ret)
{
    const struct perf_sample *sample = event->source;
    *ret = sample->ip;
    return strcmp(name, "ip") == 0;
}

static const char *sample_text(const struct foreign_event *event, const char *name)
{
    (void)event, (void)name;
    return NULL;
}

static bool sample_argument(const struct foreign_event *event, unsigned index, uint64_t *ret)
{
    (void)event, (void)index, (void)ret;
    return false;
}

static const struct foreign_fields sample_fields = {sample_number, sample_text, sample_argument};

/* A sample of a clock or counter says where its thread ran. */
static void take_cpu_sample(struct perf_file *perf, const struct perf_sample *sample)
{
    struct foreign_event event = {.name = "cpu_sample",
                                  .time_ns = sample->time_ns,
                                  .tid = sample->tid,
                                  .cpu = sample->cpu,
                                  .fields = &sample_fields,
                                  .source = sample};
    if (!sample->tid) /* the idle thread */
        return;
    take_stacks(perf, sample, &event);
    kernel_events_take(perf->events, &event);
}

static void take_tracepoint(struct perf_file *perf, const struct perf_sample *sample)
{
    struct tep_record record = {.ts = sample->time_ns,
                                .cpu = (int)sample->cpu,
                                .data = (void *)(uintptr_t)sample->raw,
                                .size = (int)sample->raw_bytes};
    struct tep_source source;
    struct foreign_event event;
    if (sample->raw_bytes < 8 || sample->raw_bytes > INT32_MAX ||
        !tep_event_of(perf->tep, &record, &source, &event))
        return;
    event.tid = sample->tid;
    take_stacks(perf, sample, &event);
    kernel_events_take(perf->events, &event);
}

static const struct perf_attr *attr_of(const struct perf_file *perf, const uint8_t *body,
                                       size_t bytes)
{
    const struct perf_attr *first = perf->attrs.data;
    uint64_t id;
    if (!perf->attrs.length) /* a pipe's first sample may come before its first event */
        return NULL;
    if (perf->attrs.length == 1 || !perf_read_id(first, body, bytes, &id))
        return first;
    uint32_t number = idmap_get(&perf->attr_of_id, id);
    return number == IDMAP_NONE ? NULL : &perf->attrs.data[number];
}

static struct argus_error *take_sample(struct perf_file *perf, const uint8_t *body, size_t bytes,
                                       uint64_t offset)
{
    const struct perf_attr *attr = attr_of(perf, body, bytes);
    struct perf_sample sample;
    if (!attr)
        return perf_error(offset, "a sample is of an event that the header does not list");
    if (!perf_read_sample(attr, body, bytes, &sample))
        return perf_error(offset, "a sample ends too early");
    sink_thread(perf->sink, sample.tid, sample.pid, 0, NULL, false);
    if (attr->type == PERF_TYPE_TRACEPOINT)
        take_tracepoint(perf, &sample);
    else if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_SOFTWARE ||
             attr->type >= PERF_TYPE_MAX)
        take_cpu_sample(perf, &sample);
    return NULL;
}

/* --- the other records --- */

/* The text at `at`, which ends with the record; NULL: it has no end. */
static const char *text_at(const uint8_t *body, size_t bytes, size_t at)
{
    return at < bytes && memchr(body + at, '\0', bytes - at) ? (const char *)body + at : NULL;
}

static uint32_t u32_at(const uint8_t *body, size_t at)
{
    uint32_t value;
    memcpy(&value, body + at, sizeof(value));
    return value;
}

static uint64_t u64_at(const uint8_t *body, size_t at)
{
    uint64_t value;
    memcpy(&value, body + at, sizeof(value));
    return value;
}

static void take_comm(struct perf_file *perf, const uint8_t *body, size_t bytes)
{
    const char *name = text_at(body, bytes, 8);
    struct perf_sample trailer;
    if (!name)
        return;
    sink_thread(perf->sink, u32_at(body, 4), u32_at(body, 0), 0, name, false);
    perf_read_trailer(perf, body, bytes, &trailer);
    struct argus_record place = {.timestamp = trailer.time_ns,
                                 .tid = u32_at(body, 4),
                                 .debugid = ARGUS_ID_NAME_THREAD,
                                 .cpu = trailer.cpu};
    sink_name(perf->sink, &place, name);
}

/* pid, ppid, tid, ptid, time. A thread has the process of its parent thread. */
static void take_fork(struct perf_file *perf, const uint8_t *body, size_t bytes)
{
    uint32_t pid = u32_at(body, 0), parent = u32_at(body, 4);
    (void)bytes;
    sink_thread(perf->sink, u32_at(body, 8), pid, pid == parent ? 0 : parent, NULL, false);
}

/* pid, tid, start, length, file offset, and the path at `path_at`. */
static void take_mapping(struct perf_file *perf, const uint8_t *body, size_t bytes,
                         struct argus_image_entry *image, size_t path_at)
{
    struct perf_sample trailer;
    image->path = text_at(body, bytes, path_at);
    image->pid = u32_at(body, 0);
    image->start = u64_at(body, 8);
    image->end = image->start + u64_at(body, 16);
    image->file_offset = u64_at(body, 24);
    if (!image->path || image->end < image->start || image->pid == UINT32_MAX)
        return;
    if (perf_read_trailer(perf, body, bytes, &trailer))
        image->mapped_ticks = trailer.time_ns;
    sink_image(perf->sink, image);
}

static void take_mmap(struct perf_file *perf, const uint8_t *body, size_t bytes)
{
    struct argus_image_entry image = {0};
    take_mapping(perf, body, bytes, &image, 32);
}

/* Either the file's device and inode, or its build ID; then protection and flags. */
static void take_mmap2(struct perf_file *perf, uint16_t misc, const uint8_t *body, size_t bytes)
{
    struct argus_image_entry image = {0};
    bool is_code = u32_at(body, 56) & 4; /* PROT_EXEC */
    if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        image.build_id_bytes = body[32] <= 20 ? body[32] : 20;
        memcpy(image.build_id, body + 36, image.build_id_bytes);
    } else {
        image.dev_major = u32_at(body, 32);
        image.dev_minor = u32_at(body, 36);
        image.inode = u64_at(body, 40);
    }
    if (is_code)
        take_mapping(perf, body, bytes, &image, 64);
}

static void take_lost(struct perf_file *perf, const uint8_t *body, size_t bytes, size_t count_at)
{
    struct perf_sample trailer;
    perf_read_trailer(perf, body, bytes, &trailer);
    sink_lost(perf->sink, trailer.cpu, trailer.time_ns, u64_at(body, count_at));
}

/* perf record --switch-events: what runs next, but not why the thread stopped. The tracepoint says
 * more. */
static void take_switch(struct perf_file *perf, uint16_t misc, const uint8_t *body, size_t bytes)
{
    struct perf_sample of_previous;
    if (perf->has_switches || !(misc & PERF_RECORD_MISC_SWITCH_OUT) ||
        !perf_read_trailer(perf, body, bytes, &of_previous))
        return;
    struct argus_record record = {.timestamp = of_previous.time_ns,
                                  .arg = {misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
                                              ? ARGUS_LINUX_STATE_RUNNING
                                              : ARGUS_LINUX_STATE_INTERRUPTIBLE,
                                          u32_at(body, 4)},
                                  .tid = of_previous.tid,
                                  .debugid = ARGUS_ID_SWITCH,
                                  .cpu = of_previous.cpu};
    sink_record(perf->sink, &record);
}

/* The smallest body of each kind. */
static size_t least_bytes(uint32_t type)
{
    switch (type) {
    case PERF_RECORD_MMAP:
        return 33;
    case PERF_RECORD_MMAP2:
        return 65;
    case PERF_RECORD_LOST:
        return 16;
    case PERF_RECORD_COMM:
        return 9;
    case PERF_RECORD_FORK:
        return 24;
    case PERF_RECORD_LOST_SAMPLES:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return 8;
    default:
        return 0;
    }
}

struct argus_error *perf_take_record(struct perf_file *perf, const uint8_t *record, size_t bytes,
                                     uint64_t offset)
{
    struct perf_event_header header;
    memcpy(&header, record, sizeof(header));
    const uint8_t *body = record + sizeof(header);
    size_t length = bytes - sizeof(header);
    if (length < least_bytes(header.type))
        return perf_error(offset, "a record is too short for its kind");
    switch (header.type) {
    case PERF_RECORD_SAMPLE:
        return take_sample(perf, body, length, offset);
    case PERF_RECORD_MMAP:
        take_mmap(perf, body, length);
        break;
    case PERF_RECORD_MMAP2:
        take_mmap2(perf, header.misc, body, length);
        break;
    case PERF_RECORD_COMM:
        take_comm(perf, body, length);
        break;
    case PERF_RECORD_FORK:
        take_fork(perf, body, length);
        break;
    case PERF_RECORD_LOST:
        take_lost(perf, body, length, 8);
        break;
    case PERF_RECORD_LOST_SAMPLES:
        take_lost(perf, body, length, 0);
        break;
    case PERF_RECORD_SWITCH_CPU_WIDE:
        take_switch(perf, header.misc, body, length);
        break;
    default:
        if (perf_is_compressed(header.type))
            return perf_take_compressed(perf, header.type, body, length, offset);
        break;
    }
    return NULL;
}
