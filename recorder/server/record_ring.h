/* Rings of records in the recorder's own memory, one for each cpu, for a backend that translates
 * the kernel's data into records. Writer and reader are the same thread.
 */
#ifndef ARGUS_RECORDER_RECORD_RING_H
#define ARGUS_RECORDER_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"

struct record_rings {
    /* Cpu_count * slot_count, mapped; a page takes memory when it is first written. */
    struct argus_record *records;
    uint64_t *heads, *next; /* for each cpu: sequence numbers to write and to read; owned */
    uint32_t cpu_count, slot_count;
};

/* `slot_count` is a power of two. */
struct argus_error *record_rings_init(struct record_rings *rings, uint32_t cpu_count,
                                      uint32_t slot_count);
void record_rings_deinit(struct record_rings *rings);

static inline void record_rings_push(struct record_rings *rings, const struct argus_record *record)
{
    uint64_t sequence = rings->heads[record->cpu]++;
    rings->records[(size_t)record->cpu * rings->slot_count + (sequence & (rings->slot_count - 1))] =
        *record;
}

/* As `read`, `read_at` and `peek` of backend.h. */
size_t record_rings_read(struct record_rings *rings, uint32_t cpu, struct argus_record *records,
                         size_t room, uint64_t *ret_lost);
size_t record_rings_read_at(const struct record_rings *rings, uint32_t cpu, uint64_t *next,
                            struct argus_record *records, size_t room, uint64_t *ret_lost);
size_t record_rings_peek(const struct record_rings *rings, uint32_t cpu, bool from_oldest,
                         struct argus_record *records, size_t room);

#endif
