#include "linux/perf/self_tracepoint.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(uint32_t id)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof(attributes),
        .config = id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_RAW,
        .disabled = 1,
        .pinned = 1, /* stays while other events of this thread come and go */
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Reads only the first page of records, so that none wraps. */
static void visit_records(const struct perf_event_mmap_page *page, size_t page_bytes,
                          const struct self_tracepoint *what)
{
    const char *data = (const char *)page + page_bytes;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = 0;
    uint32_t raw_bytes;
    while (at + sizeof(struct perf_event_header) + sizeof(raw_bytes) <= head &&
           head <= page_bytes) {
        const struct perf_event_header *header = (const void *)(data + at);
        size_t before = sizeof(*header) + sizeof(raw_bytes);
        memcpy(&raw_bytes, header + 1, sizeof(raw_bytes));
        if (header->size < before)
            return;
        if (header->type == PERF_RECORD_SAMPLE && raw_bytes <= header->size - before)
            what->visit(what->context, (const char *)header + before, raw_bytes);
        at += header->size;
    }
}

void self_tracepoint_listen(const struct self_tracepoint *what)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    int fd = open_event(what->id);
    if (fd < 0)
        return;
    void *page = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED) {
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        what->act(what->context);
        ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
        visit_records(page, page_bytes, what);
        munmap(page, 2 * page_bytes);
    }
    close(fd);
}
