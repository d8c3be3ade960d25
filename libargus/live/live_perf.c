/* Samples by perf_event: the kernel copies a thread's registers and the innermost part of its stack
 * at each tick of its CPU time, without a stop. Outer frames are read from the process when the
 * sample is taken out of the ring, at most POLL_NS later. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/live_sample.h"

enum {
    RING_PAGES = 64, /* 256 KiB, below the default of kernel.perf_event_mlock_kb */
    PAGE = 4096,
    FREQUENCY_HZ = 199,
    STACK_BYTES = 16384,
    POLL_NS = 20000000, /* 4 samples */
    MOST_RECORD = 65536,
};

#if defined(__aarch64__)
/* perf's numbers are DWARF's: x0 … x30, sp, pc (asm/perf_regs.h). */
static const uint8_t registers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
enum { STACK_POINTER = 31 };
#else
/* perf's number (asm/perf_regs.h) of each of DWARF's registers: rax rdx rcx rbx rsi rdi rbp rsp r8
 * … r15, pc. */
static const uint8_t registers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
enum { STACK_POINTER = 7 };
#endif

enum { REGISTERS = sizeof(registers) };

struct ring {
    int fd;
    uint8_t *data; /* the page of pointers, then the ring */
    uint8_t record[MOST_RECORD];
};

static uint64_t register_mask(void)
{
    uint64_t mask = 0;
    for (int i = 0; i < REGISTERS; i++)
        mask |= 1ull << registers[i];
    return mask;
}

static int open_event(uint32_t tid)
{
    struct perf_event_attr attributes = {.size = sizeof(attributes),
                                         .type = PERF_TYPE_SOFTWARE,
                                         .config = PERF_COUNT_SW_CPU_CLOCK,
                                         .freq = 1,
                                         .sample_freq = FREQUENCY_HZ,
                                         .sample_type =
                                             PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                         .sample_regs_user = register_mask(),
                                         .sample_stack_user = STACK_BYTES};
    int fd =
        (int)syscall(SYS_perf_event_open, &attributes, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    attributes.exclude_kernel = 1;
    return fd >= 0 || errno != EACCES ? fd
                                      : (int)syscall(SYS_perf_event_open, &attributes, (pid_t)tid,
                                                     -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool open_ring(struct ring *ring, uint32_t tid)
{
    ring->fd = open_event(tid);
    if (ring->fd < 0)
        return false;
    void *data =
        mmap(NULL, (RING_PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    ring->data = data;
    if (data != MAP_FAILED)
        return true;
    close(ring->fd);
    return false;
}

static uint64_t number_at(const uint8_t *at)
{
    uint64_t number;
    memcpy(&number, at, sizeof(number));
    return number;
}

static unsigned position_of(int register_of_perf)
{
    return (unsigned)__builtin_popcountll(register_mask() & ((1ull << register_of_perf) - 1));
}

/* abi, registers, size of the stack, stack, the size that is valid (perf_event_open(2)). A sample
 * in the kernel has the registers with which the thread entered it. */
static bool parse_sample(const struct perf_event_header *header, const uint8_t *body,
                         struct live_moment *ret)
{
    size_t bytes = header->size - sizeof(*header), at = sizeof(uint64_t);
    *ret = (struct live_moment){.is_in_kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
                                                PERF_RECORD_MISC_KERNEL};
    if (bytes < sizeof(uint64_t) || number_at(body) == PERF_SAMPLE_REGS_ABI_NONE ||
        bytes < at + (REGISTERS + 1) * sizeof(uint64_t))
        return false;
    for (int i = 0; i < REGISTERS; i++)
        ret->registers[i] = number_at(body + at + position_of(registers[i]) * sizeof(uint64_t));
    ret->known = (1ull << REGISTERS) - 1;
    at += REGISTERS * sizeof(uint64_t);
    uint64_t room = number_at(body + at);
    at += sizeof(uint64_t);
    if (!room || room > bytes - at || bytes - at - room < sizeof(uint64_t))
        return true;
    uint64_t valid = number_at(body + at + room);
    ret->stack = body + at;
    ret->stack_bytes = valid < room ? valid : room;
    ret->stack_address = ret->registers[STACK_POINTER];
    return true;
}

/* Pages may be larger than PAGE: where the ring begins, and its size, the kernel says. */
static void copy_out(const struct ring *ring, uint64_t from, void *ret, size_t bytes)
{
    const struct perf_event_mmap_page *page = (const void *)ring->data;
    const uint8_t *data = ring->data + page->data_offset;
    size_t size = page->data_size, at = from % size;
    size_t first = bytes < size - at ? bytes : size - at;
    memcpy(ret, data + at, first);
    memcpy((uint8_t *)ret + first, data, bytes - first);
}

static void drain(struct ring *ring, live_take *take, void *context)
{
    struct perf_event_mmap_page *page = (void *)ring->data;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
    struct live_moment moment;
    while (at + sizeof(struct perf_event_header) <= head) {
        struct perf_event_header header;
        copy_out(ring, at, &header, sizeof(header));
        if (header.size < sizeof(header) || header.size > head - at)
            break;
        copy_out(ring, at + sizeof(header), ring->record, header.size - sizeof(header));
        if (header.type == PERF_RECORD_SAMPLE && parse_sample(&header, ring->record, &moment))
            take(context, &moment);
        at += header.size;
    }
    __atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

bool live_perf(uint32_t tid, uint64_t duration_ns, live_take *take, void *context)
{
    struct ring *ring = malloc(sizeof(*ring));
    if (!ring || !open_ring(ring, tid)) {
        free(ring);
        return false;
    }
    uint64_t end = live_now_ns() + duration_ns;
    while (live_now_ns() < end) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
        drain(ring, take, context);
    }
    munmap(ring->data, (RING_PAGES + 1) * PAGE);
    close(ring->fd);
    free(ring);
    return true;
}
