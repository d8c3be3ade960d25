#include "server/record_ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t records_bytes(const struct record_rings *rings)
{
    return (size_t)rings->cpu_count * rings->slot_count * sizeof(*rings->records);
}

static struct argus_error *no_memory(void)
{
    return argus_error_create(ARGUS_ERROR_MEMORY,
                              "there is not enough memory for the ring: choose a smaller one with "
                              "--ring-size");
}

struct argus_error *record_rings_init(struct record_rings *rings, uint32_t cpu_count,
                                      uint32_t slot_count)
{
    *rings = (struct record_rings){.cpu_count = cpu_count, .slot_count = slot_count};
    /* Memory is used only as the ring fills. A shortage must be found now, not then. */
    if (records_bytes(rings) / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES) / 2)
        return no_memory();
    rings->heads = calloc(cpu_count, sizeof(*rings->heads));
    rings->next = calloc(cpu_count, sizeof(*rings->next));
    void *records = mmap(NULL, records_bytes(rings), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rings->records = records == MAP_FAILED ? NULL : records;
    if (rings->heads && rings->next && rings->records)
        return NULL;
    record_rings_deinit(rings);
    return no_memory();
}

void record_rings_deinit(struct record_rings *rings)
{
    if (rings->records)
        munmap(rings->records, records_bytes(rings));
    free(rings->heads);
    free(rings->next);
    *rings = (struct record_rings){0};
}

static uint64_t oldest(const struct record_rings *rings, uint32_t cpu)
{
    uint64_t head = rings->heads[cpu];
    return head > rings->slot_count ? head - rings->slot_count : 0;
}

/* `count` records from sequence number `from` on, which may wrap. */
static void copy_slots(const struct record_rings *rings, uint32_t cpu, uint64_t from, size_t count,
                       struct argus_record *ret)
{
    const struct argus_record *slots = rings->records + (size_t)cpu * rings->slot_count;
    size_t first = from & (rings->slot_count - 1), until_end = rings->slot_count - first;
    size_t part = count < until_end ? count : until_end;
    memcpy(ret, slots + first, part * sizeof(*ret));
    memcpy(ret + part, slots, (count - part) * sizeof(*ret));
}

size_t record_rings_read_at(const struct record_rings *rings, uint32_t cpu, uint64_t *next,
                            struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    uint64_t first = oldest(rings, cpu);
    *ret_lost = first > *next ? first - *next : 0;
    *next += *ret_lost;
    uint64_t unread = rings->heads[cpu] - *next;
    size_t count = unread < room ? unread : room;
    copy_slots(rings, cpu, *next, count, records);
    *next += count;
    return count;
}

size_t record_rings_read(struct record_rings *rings, uint32_t cpu, struct argus_record *records,
                         size_t room, uint64_t *ret_lost)
{
    return record_rings_read_at(rings, cpu, &rings->next[cpu], records, room, ret_lost);
}

size_t record_rings_peek(const struct record_rings *rings, uint32_t cpu, bool from_oldest,
                         struct argus_record *records, size_t room)
{
    uint64_t from = oldest(rings, cpu), kept = rings->heads[cpu] - from;
    size_t count = kept < room ? kept : room;
    copy_slots(rings, cpu, from_oldest ? from : from + kept - count, count, records);
    return count;
}
