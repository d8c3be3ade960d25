/* The reading side of the rings that the BPF programs fill; shared.h has the rules. */
#ifndef ARGUS_RECORDER_LINUX_RINGS_H
#define ARGUS_RECORDER_LINUX_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/record.h"

#include "linux/shared.h"

struct rings {
    const struct argus_record *records; /* cpu_count * slot_count, mapped */
    const struct bpf_cpu *cpus;         /* cpu_count, mapped */
    uint32_t cpu_count, slot_count;
    uint64_t *next; /* for each cpu, the sequence number that rings_read() goes on with; owned */
};

/* The largest power of two of slots per CPU that fits into `ring_bytes`; at least 4096, and in
 * total at most what a BPF array can have. */
uint32_t rings_slot_count(uint64_t ring_bytes, uint32_t cpu_count);

/* Maps the arrays `ring_fd` and `cpus_fd`, which may be closed afterwards. */
struct argus_error *rings_init(struct rings *rings, int ring_fd, int cpus_fd, uint32_t cpu_count,
                               uint32_t slot_count);
void rings_deinit(struct rings *rings);

/* The number of records ever begun on `cpu`. */
uint64_t rings_head(const struct rings *rings, uint32_t cpu);
/* As backend_read(), backend_read_at() and backend_peek(). */
size_t rings_read(struct rings *rings, uint32_t cpu, struct argus_record *records, size_t room,
                  uint64_t *ret_lost);
size_t rings_read_at(const struct rings *rings, uint32_t cpu, uint64_t *next,
                     struct argus_record *records, size_t room, uint64_t *ret_lost);
size_t rings_peek(const struct rings *rings, uint32_t cpu, bool oldest,
                  struct argus_record *records, size_t room);

#endif
