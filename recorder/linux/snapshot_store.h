/* Snapshots of user stacks, copied out of the kernel's ring.
 *
 * That ring holds some hundred copies per CPU, each of maximum size: some seconds of a busy
 * desktop. A recording into memory covers minutes. So the copies are regularly moved here, without
 * words that are zero, which leaves about a tenth. There are two generations: when the younger one
 * is full, the older one is dropped.
 */
#ifndef ARGUS_RECORDER_LINUX_SNAPSHOT_STORE_H
#define ARGUS_RECORDER_LINUX_SNAPSHOT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"

struct snapshot_generation {
    struct idmap by_id;  /* → index of its first word */
    VEC(uint64_t) words; /* snapshot_store.c says which */
};

/* All zero is empty and keeps nothing. */
struct snapshot_store {
    struct snapshot_generation young, old;
    size_t most_words; /* of a generation */
};

void snapshot_store_init(struct snapshot_store *store, size_t bytes);
void snapshot_store_deinit(struct snapshot_store *store);

/* False without memory; then the snapshot is not kept. */
bool snapshot_store_put(struct snapshot_store *store, const struct argus_snapshot *snapshot);

/* `stack`: room for `room` bytes, to which ret->stack points then. False: not stored (any more). */
bool snapshot_store_find(const struct snapshot_store *store, uint64_t id, uint8_t *stack,
                         size_t room, struct argus_snapshot *ret);

#endif
