/* Stack snapshots: choosing the processes, and reading the snapshots (bpf/snapshot.h has the ring's
 * rules). */
#ifndef ARGUS_RECORDER_LINUX_SNAPSHOTS_H
#define ARGUS_RECORDER_LINUX_SNAPSHOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"
#include "linux/shared.h"
#include "linux/snapshot_store.h"
#include "server/backend.h"

struct bpf_object;

/* Whether any stack is to be copied. */
bool snapshots_wanted(const struct backend_options *options);
/* Before loading: sizes the maps and fills settings->unwind, snapshot_bytes and snapshot_slots, if
 * snapshots_wanted(). */
void snapshots_configure(struct bpf_object *object, const struct backend_options *options,
                         uint32_t cpu_count, struct bpf_settings *settings);
/* After loading, before attaching: passes the chosen processes to the programs. */
struct argus_error *snapshots_choose(struct bpf_object *object,
                                     const struct backend_options *options);

/* The reading side; zeroed: there are none. */
struct snapshots {
    const uint8_t *slots; /* mapped */
    size_t mapped_bytes, slot_bytes;
    uint32_t slots_of_cpu, cpu_count, stack_bytes;
    int places_fd;             /* borrowed */
    struct bpf_snapshot *copy; /* room for one; owned */
    struct snapshot_store store;
    uint64_t *taken; /* for each CPU: the number of the next snapshot to store; owned */
    bool hurry;      /* a CPU used many slots between the last two looks */
};

struct argus_error *snapshots_init(struct snapshots *snapshots, struct bpf_object *object,
                                   uint32_t cpu_count, uint64_t store_bytes);
void snapshots_deinit(struct snapshots *snapshots);

/* Stores the snapshots taken since the last call, if they are stored, and sets `hurry`. `cpus`: the
 * counters of the programs, one for each CPU. */
void snapshots_collect(struct snapshots *snapshots, const struct bpf_cpu *cpus);

/* Whether any snapshot was ever taken. */
bool snapshots_any(const struct snapshots *snapshots);

/* Clears each word of the stack that cannot be an address of code or of a stack: a trace must not
 * contain a program's numbers, texts and heap pointers. */
void snapshot_keep_addresses(uint8_t *stack, size_t bytes, const struct bpf_ranges *ranges);

/* `registers` as the programs copy them; a thread of a 32-bit program has those of i386. Those that
 * cannot be an address of code or of a stack are 0, for the same reason; an unwinder needs no
 * others. */
void snapshot_set_registers(struct argus_snapshot *snapshot,
                            const uint64_t registers[BPF_REGISTERS],
                            const struct bpf_ranges *ranges);

/* The snapshot with the ID `id`, with words that are no addresses cleared; valid until the next
 * call. False: not found or overwritten. */
bool snapshots_find(struct snapshots *snapshots, uint64_t id, struct argus_snapshot *ret);

#endif
