/* Reading without stopping the writers.
 *
 * Slots are copied first and checked afterwards: a slot is valid if its `unused` was sequence + 1
 * in the copy and the head, loaded after copying, has not advanced by a whole round. A slot without
 * its number yet belongs to a program that was interrupted while writing: reading stops before it
 * and continues at the next call.
 */
#include "linux/rings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint32_t rings_slot_count(uint64_t ring_bytes, uint32_t cpu_count)
{
    uint64_t wanted = ring_bytes / sizeof(struct argus_record) / cpu_count;
    uint32_t slots = 4096;
    while ((uint64_t)slots * 2 <= wanted && (uint64_t)slots * 2 * cpu_count <= UINT32_MAX)
        slots *= 2;
    return slots;
}

static uint64_t records_bytes(const struct rings *rings)
{
    return (uint64_t)rings->cpu_count * rings->slot_count * sizeof(struct argus_record);
}

static uint64_t cpus_bytes(const struct rings *rings)
{
    return (uint64_t)rings->cpu_count * sizeof(struct bpf_cpu);
}

struct argus_error *rings_init(struct rings *rings, int ring_fd, int cpus_fd, uint32_t cpu_count,
                               uint32_t slot_count)
{
    *rings = (struct rings){.cpu_count = cpu_count, .slot_count = slot_count};
    rings->next = calloc(cpu_count, sizeof(*rings->next));
    if (!rings->next)
        return argus_error_memory();
    rings->records = mmap(NULL, records_bytes(rings), PROT_READ, MAP_SHARED, ring_fd, 0);
    rings->cpus = mmap(NULL, cpus_bytes(rings), PROT_READ, MAP_SHARED, cpus_fd, 0);
    if (rings->records == MAP_FAILED || rings->cpus == MAP_FAILED) {
        rings_deinit(rings);
        return argus_error_create(
            ARGUS_ERROR_UNSUPPORTED,
            "the kernel cannot map a BPF array (Linux 5.15 or later is needed)");
    }
    /* not for the process that writes the file: it may live longer than this one (outlet.h) */
    madvise((void *)rings->records, records_bytes(rings), MADV_DONTFORK);
    madvise((void *)rings->cpus, cpus_bytes(rings), MADV_DONTFORK);
    return NULL;
}

void rings_deinit(struct rings *rings)
{
    if (rings->records && rings->records != MAP_FAILED)
        munmap((void *)rings->records, records_bytes(rings));
    if (rings->cpus && rings->cpus != MAP_FAILED)
        munmap((void *)rings->cpus, cpus_bytes(rings));
    free(rings->next);
    *rings = (struct rings){0};
}

uint64_t rings_head(const struct rings *rings, uint32_t cpu)
{
    return __atomic_load_n(&rings->cpus[cpu].head, __ATOMIC_ACQUIRE);
}

/* The oldest sequence number whose slot no writer has begun to overwrite. */
static uint64_t oldest_kept(const struct rings *rings, uint32_t cpu)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    uint64_t head = rings_head(rings, cpu);
    return head > rings->slot_count ? head - rings->slot_count : 0;
}

/* Copies the slots of sequence numbers from `from` on, `count` of them, which may wrap. */
static void copy_slots(const struct rings *rings, uint32_t cpu, uint64_t from, size_t count,
                       struct argus_record *ret)
{
    const struct argus_record *slots = rings->records + (size_t)cpu * rings->slot_count;
    size_t first = from & (rings->slot_count - 1);
    size_t until_end = rings->slot_count - first;
    size_t part = count < until_end ? count : until_end;
    memcpy(ret, slots + first, part * sizeof(*ret));
    memcpy(ret + part, slots, (count - part) * sizeof(*ret));
}

/* The number of complete slots at the start of the `count` copied ones; clears their sequence
 * numbers. */
static size_t accept_slots(struct argus_record *records, uint64_t from, size_t count)
{
    size_t accepted = 0;
    while (accepted < count && records[accepted].unused == from + accepted + 1)
        records[accepted++].unused = 0;
    return accepted;
}

size_t rings_read_at(const struct rings *rings, uint32_t cpu, uint64_t *next,
                     struct argus_record *records, size_t room, uint64_t *ret_lost)
{
    uint64_t first_kept = oldest_kept(rings, cpu);
    *ret_lost = 0;
    if (*next < first_kept) {
        /* Leave room for records written during the copy, otherwise the next slots would be lost as
         * well. */
        uint64_t resume = first_kept + rings->slot_count / 8;
        *ret_lost = resume - *next;
        *next = resume;
    }
    uint64_t available = rings_head(rings, cpu) - *next;
    size_t count = available < room ? available : room;
    copy_slots(rings, cpu, *next, count, records);

    first_kept = oldest_kept(rings, cpu);
    size_t overwritten = first_kept > *next ? first_kept - *next : 0;
    if (overwritten > count)
        overwritten = count;
    *ret_lost += overwritten;
    *next += overwritten;
    size_t accepted = accept_slots(records + overwritten, *next, count - overwritten);
    if (overwritten)
        memmove(records, records + overwritten, accepted * sizeof(*records));
    *next += accepted;
    return accepted;
}

size_t rings_read(struct rings *rings, uint32_t cpu, struct argus_record *records, size_t room,
                  uint64_t *ret_lost)
{
    return rings_read_at(rings, cpu, &rings->next[cpu], records, room, ret_lost);
}

/* Copies `count` slots from `from` on. Returns the number of complete ones, of which the first is
 * at
 * `*ret_first`: those before it were overwritten meanwhile. */
static size_t copy_whole(const struct rings *rings, uint32_t cpu, uint64_t from, size_t count,
                         struct argus_record *ret, size_t *ret_first)
{
    copy_slots(rings, cpu, from, count, ret);
    uint64_t first_kept = oldest_kept(rings, cpu);
    size_t overwritten = first_kept > from ? first_kept - from : 0;
    if (overwritten > count)
        overwritten = count;
    *ret_first = overwritten;
    return accept_slots(ret + overwritten, from + overwritten, count - overwritten);
}

size_t rings_peek(const struct rings *rings, uint32_t cpu, bool oldest,
                  struct argus_record *records, size_t room)
{
    uint64_t from = oldest_kept(rings, cpu);
    uint64_t kept = rings_head(rings, cpu) - from;
    size_t count = kept < room ? kept : room, first;
    count = copy_whole(rings, cpu, oldest ? from : from + kept - count, count, records, &first);
    memmove(records, records + first, count * sizeof(*records));
    return count;
}
