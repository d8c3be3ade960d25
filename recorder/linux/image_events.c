/* Mappings as they are made: perf_event reports each executable one (PERF_RECORD_MMAP2, since
 * Linux 5.12 with its build id) of every process on a cpu, with the time on our clock. The event
 * itself is a dummy that counts nothing.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "linux/image_list.h"
#include "linux/pid_namespace.h"

#define BUFFER_PAGES 64

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

struct image_buffer {
    int fd; /* -1: none */
    struct perf_event_mmap_page *page;
};

struct image_events {
    uint32_t own_pid;
    /* These events have the IDs of this pid namespace, records those of the host. */
    bool ids_differ;
    uint64_t lost;
    size_t page_bytes;
    uint32_t cpu_count;
    struct image_buffer buffers[];
};

/* include/uapi/linux/perf_event.h, PERF_RECORD_MMAP2; then the path, and at the end the sample id.
 */
struct mmap2_record {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t address, length, file_offset;
    union {
        struct {
            uint32_t dev_major, dev_minor;
            uint64_t inode, inode_generation;
        };
        struct {
            uint8_t build_id_bytes, reserved[3];
            uint8_t build_id[20];
        };
    };
    uint32_t protection, flags;
    char path[];
};

/* PERF_RECORD_COMM; then the name, and at the end the sample id. */
struct comm_record {
    struct perf_event_header header;
    uint32_t pid, tid;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

union any_record {
    struct perf_event_header header;
    struct mmap2_record mmap2;
    struct comm_record comm;
    struct lost_record lost;
    char bytes[65536];
};

static int open_event(uint32_t cpu, bool build_id)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME,
        .sample_id_all = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .build_id = build_id,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool open_buffer(struct image_events *events, uint32_t cpu)
{
    struct image_buffer *buffer = &events->buffers[cpu];
    buffer->fd = open_event(cpu, true);
    if (buffer->fd < 0 && errno == EINVAL)
        buffer->fd = open_event(cpu, false);
    if (buffer->fd < 0)
        return false;
    buffer->page = mmap(NULL, (BUFFER_PAGES + 1) * events->page_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED, buffer->fd, 0);
    if (buffer->page != MAP_FAILED)
        return true;
    buffer->page = NULL;
    close(buffer->fd);
    buffer->fd = -1;
    return false;
}

struct argus_error *image_events_create(uint32_t cpu_count, struct image_events **ret)
{
    struct image_events *events = calloc(1, sizeof(*events) + cpu_count * sizeof(*events->buffers));
    if (!events)
        return argus_error_memory();
    events->cpu_count = cpu_count;
    events->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    events->own_pid = (uint32_t)getpid();
    events->ids_differ = pid_namespace_is_own();
    for (uint32_t cpu = 0; cpu < cpu_count; cpu++) {
        /* ENODEV: the CPU is offline */
        if (!open_buffer(events, cpu) && errno != ENODEV)
            events->lost++;
    }
    *ret = events;
    return NULL;
}

static void close_buffer(const struct image_events *events, struct image_buffer *buffer)
{
    if (!buffer->page)
        return;
    munmap(buffer->page, (BUFFER_PAGES + 1) * events->page_bytes);
    close(buffer->fd);
    buffer->page = NULL;
}

void image_events_cpu_came(struct image_events *events, uint32_t cpu)
{
    close_buffer(events, &events->buffers[cpu]);
    if (!open_buffer(events, cpu))
        events->lost++;
}

void image_events_destroy(struct image_events *events)
{
    if (!events)
        return;
    for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
        close_buffer(events, &events->buffers[cpu]);
    free(events);
}

/* sample_id_all puts the time into the last 8 bytes. */
static uint64_t time_of(const struct perf_event_header *record)
{
    uint64_t time_ns;
    memcpy(&time_ns, (const char *)record + record->size - sizeof(time_ns), sizeof(time_ns));
    return time_ns;
}

static struct argus_error *add_mapping(struct image_list *list, const struct mmap2_record *record)
{
    struct argus_image_entry image = {
        .pid = record->pid,
        .start = record->address,
        .end = record->address + record->length,
        .file_offset = record->file_offset,
        .mapped_ticks = time_of(&record->header),
    };
    if (record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        image.build_id_bytes = record->build_id_bytes <= 20 ? record->build_id_bytes : 0;
        memcpy(image.build_id, record->build_id, image.build_id_bytes);
    } else {
        image.dev_major = record->dev_major;
        image.dev_minor = record->dev_minor;
        image.inode = record->inode;
    }
    size_t path_bytes = record->header.size - sizeof(*record) - sizeof(uint64_t);
    struct argus_error *error = image_list_add(list, &image, record->path, path_bytes);
    if (!error && list->listener.on_image && memchr(record->path, '\0', path_bytes))
        list->listener.on_image(list->listener.context, &image, record->path);
    return error;
}

static struct argus_error *take_record(struct image_events *events, struct image_list *list,
                                       const union any_record *record)
{
    bool own = record->header.type == PERF_RECORD_MMAP2 && record->mmap2.pid == events->own_pid;
    if (events->ids_differ)
        return NULL;
    if (record->header.type == PERF_RECORD_MMAP2 && !own &&
        record->header.size > sizeof(record->mmap2) + sizeof(uint64_t))
        return add_mapping(list, &record->mmap2);
    bool exec = record->header.type == PERF_RECORD_COMM &&
                (record->header.misc & PERF_RECORD_MISC_COMM_EXEC) && list->listener.on_exec;
    if (exec && record->header.size > sizeof(record->comm) + sizeof(uint64_t))
        list->listener.on_exec(list->listener.context, record->comm.pid, time_of(&record->header));
    if (record->header.type == PERF_RECORD_LOST)
        events->lost += record->lost.lost;
    return NULL;
}

/* Copies out of the circular data area. */
static void copy_out(const char *data, size_t data_bytes, uint64_t from, void *ret, size_t bytes)
{
    size_t at = from % data_bytes, part = data_bytes - at < bytes ? data_bytes - at : bytes;
    memcpy(ret, data + at, part);
    memcpy((char *)ret + part, data, bytes - part);
}

static struct argus_error *collect_buffer(struct image_events *events, struct image_list *list,
                                          struct perf_event_mmap_page *page)
{
    const char *data = (const char *)page + events->page_bytes;
    size_t data_bytes = BUFFER_PAGES * events->page_bytes;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    struct argus_error *error = NULL;
    union any_record record;
    while (tail < head && !error) {
        copy_out(data, data_bytes, tail, &record.header, sizeof(record.header));
        if (record.header.size < sizeof(record.header))
            break;
        copy_out(data, data_bytes, tail, &record, record.header.size);
        error = take_record(events, list, &record);
        tail += record.header.size;
    }
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return error;
}

struct argus_error *image_events_collect(struct image_events *events, struct image_list *list)
{
    struct argus_error *error = NULL;
    for (uint32_t cpu = 0; cpu < events->cpu_count && !error; cpu++) {
        if (events->buffers[cpu].page)
            error = collect_buffer(events, list, events->buffers[cpu].page);
    }
    return error;
}

uint64_t image_events_lost(const struct image_events *events)
{
    return events->lost;
}
