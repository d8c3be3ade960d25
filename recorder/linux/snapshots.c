#include "linux/snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "argus/record.h"

/* The least for each cpu: a machine with many cpus has room for a few stacks of each. */
#define LEAST_SLOTS 64

/* The share of the memory for records that snapshots may use in addition; all of it if each system
 * call has a snapshot. */
#define SHARE_OF_RING 4

/* A CPU that uses this share of its slots between two looks is looked at more often. */
#define SHARE_IN_HURRY 8

/* Each of 1.6 KB for each of KNOWN_WAYS. */
#define KNOWN_SETS 2048

static struct bpf_map *map_of(const struct bpf_object *object, const char *name)
{
    return bpf_object__find_map_by_name(object, name);
}

static uint32_t slot_bytes(uint32_t stack_bytes)
{
    return (uint32_t)sizeof(struct bpf_snapshot) + stack_bytes + SNAPSHOT_SLACK_BYTES;
}

/* A stream asks for each stack once, when it first sees it. It never sees it if that record is
 * lost; so there, too, a stack is copied again some time. */
#define STREAM_ROUNDS 64

/* A stack whose copy has become older than so many others is copied again. */
static uint32_t recent_copies(const struct backend_options *options, uint32_t slots)
{
    if (options->snapshot_bytes)
        return slots / 2;
    return slots < UINT32_MAX / STREAM_ROUNDS ? slots * STREAM_ROUNDS : UINT32_MAX;
}

bool snapshots_wanted(const struct backend_options *options)
{
    return (options->unwind_count || options->late_ns) &&
           options->categories & CATEGORY_BIT(CATEGORY_STACKS);
}

void snapshots_configure(struct bpf_object *object, const struct backend_options *options,
                         uint32_t cpu_count, struct bpf_settings *settings)
{
    if (!snapshots_wanted(options))
        return;
    if (options->late_ns) {
        settings->unwind |= UNWIND_LATE;
        settings->late_ns = options->late_ns;
    }
    for (uint32_t i = 0; i < options->unwind_count; i++)
        settings->unwind |= options->unwind[i].pid ? UNWIND_PIDS : UNWIND_NAMES;
    settings->snapshot_bytes = options->unwind_bytes & ~7u;
    uint64_t share = options->call_stacks ? 1 : SHARE_OF_RING;
    uint64_t slots = options->ring_bytes / share / cpu_count / slot_bytes(settings->snapshot_bytes);
    if (slots < LEAST_SLOTS)
        slots = LEAST_SLOTS;
    if (slots > UINT32_MAX / cpu_count / 2)
        slots = UINT32_MAX / cpu_count / 2;
    settings->snapshot_slots = (uint32_t)slots;
    settings->snapshot_recent = recent_copies(options, (uint32_t)slots);
    if (options->call_stacks || options->unwind_count) {
        settings->known_sets = KNOWN_SETS;
        bpf_map__set_max_entries(map_of(object, "known_copies"), KNOWN_SETS * KNOWN_WAYS);
        bpf_map__set_max_entries(map_of(object, "known_seen"), KNOWN_SEEN);
        bpf_map__set_max_entries(map_of(object, "known_ways_next"), KNOWN_NEXT);
    }
    struct bpf_map *map = map_of(object, "snapshots");
    bpf_map__set_max_entries(map, cpu_count * (uint32_t)slots);
    bpf_map__set_value_size(map, slot_bytes(settings->snapshot_bytes));
    /* an LRU map begins to drop entries before it is full */
    bpf_map__set_max_entries(map_of(object, "snapshot_places"), 2 * cpu_count * (uint32_t)slots);
}

struct argus_error *snapshots_choose(struct bpf_object *object,
                                     const struct backend_options *options)
{
    int map = bpf_map__fd(map_of(object, "unwind_targets"));
    for (uint32_t i = 0; i < options->unwind_count; i++) {
        struct bpf_unwind_target target = {.pid = options->unwind[i].pid};
        uint32_t value = 1;
        if (!target.pid) /* the kernel compares all 16 bytes */
            strncpy(target.comm, options->unwind[i].name, sizeof(target.comm) - 1);
        int failed = bpf_map_update_elem(map, &target, &value, BPF_ANY);
        if (failed)
            return argus_error_os(-failed,
                                  "cannot tell the BPF programs which processes' stacks to copy");
    }
    return NULL;
}

struct argus_error *snapshots_init(struct snapshots *snapshots, struct bpf_object *object,
                                   uint32_t cpu_count, uint64_t store_bytes)
{
    const struct bpf_map *map = map_of(object, "snapshots");
    size_t bytes = bpf_map__value_size(map), page = (size_t)sysconf(_SC_PAGESIZE);
    *snapshots = (struct snapshots){0};
    if (bytes <= sizeof(struct bpf_snapshot)) /* not configured: stacks are off */
        return NULL;
    *snapshots = (struct snapshots){
        .cpu_count = cpu_count,
        .slots_of_cpu = bpf_map__max_entries(map) / cpu_count,
        .slot_bytes = (bytes + 7) & ~(size_t)7, /* as the kernel rounds them */
        .places_fd = bpf_map__fd(map_of(object, "snapshot_places")),
        .stack_bytes = (uint32_t)(bytes - sizeof(struct bpf_snapshot) - SNAPSHOT_SLACK_BYTES),
        .copy = malloc(bytes),
        .taken = calloc(cpu_count, sizeof(*snapshots->taken)),
    };
    snapshot_store_init(&snapshots->store, store_bytes);
    if (!snapshots->copy || !snapshots->taken)
        return argus_error_memory();
    size_t total = snapshots->slot_bytes * bpf_map__max_entries(map);
    snapshots->mapped_bytes = (total + page - 1) / page * page;
    void *mapped = mmap(NULL, snapshots->mapped_bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
    if (mapped == MAP_FAILED)
        return argus_error_os(errno, "cannot map the stack snapshots");
    madvise(mapped, snapshots->mapped_bytes, MADV_DONTFORK); /* as in rings.c */
    snapshots->slots = mapped;
    return NULL;
}

void snapshots_deinit(struct snapshots *snapshots)
{
    if (snapshots->slots)
        munmap((void *)snapshots->slots, snapshots->mapped_bytes);
    free(snapshots->copy);
    free(snapshots->taken);
    snapshot_store_deinit(&snapshots->store);
    *snapshots = (struct snapshots){0};
}

/* Copies the slot; true if it was complete before and after the copy. */
static bool copy_slot(const struct snapshots *snapshots, uint32_t cpu, uint64_t number)
{
    size_t slot = (size_t)cpu * snapshots->slots_of_cpu + number % snapshots->slots_of_cpu;
    const struct bpf_snapshot *from =
        (const void *)(snapshots->slots + slot * snapshots->slot_bytes);
    if (__atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE) != number + 1)
        return false;
    uint32_t bytes = from->bytes;
    if (bytes > snapshots->stack_bytes)
        return false;
    memcpy(snapshots->copy, from, sizeof(*from) + bytes);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&from->sequence, __ATOMIC_RELAXED) == number + 1 &&
           snapshots->copy->bytes == bytes;
}

bool snapshots_any(const struct snapshots *snapshots)
{
    for (uint32_t cpu = 0; snapshots->slots && cpu < snapshots->cpu_count; cpu++) {
        size_t first = (size_t)cpu * snapshots->slots_of_cpu * snapshots->slot_bytes;
        if (((const struct bpf_snapshot *)(const void *)(snapshots->slots + first))->time_ns)
            return true;
    }
    return false;
}

static bool is_within(uint64_t word, uint64_t start, uint64_t bytes)
{
    return word - start < bytes;
}

/* Six letters, the last of them w to ~, have the value of an address at the end of the space, where
 * mappings are. An address that consists of letters is there only if a process maps half a
 * terabyte. */
static bool is_text(uint64_t word)
{
    for (; word; word >>= 8)
        if ((word & 0xff) < ' ' || (word & 0xff) > '~')
            return false;
    return true;
}

static bool is_address(const struct bpf_ranges *ranges, uint64_t word)
{
    uint64_t code = word & ranges->code_mask;
    bool is_mapped = is_within(code, ranges->mappings, ranges->mappings_bytes) &&
                     (ranges->is_32_bit || !is_text(code));
    return is_mapped || is_within(code, ranges->code, ranges->code_bytes) ||
           is_within(word, ranges->sp, SNAPSHOT_MOST_BYTES) || word == ARGUS_SNAPSHOT_GAP;
}

/* Two words of a 32-bit program; clears those that are no address. */
static uint64_t keep_32_bit(const struct bpf_ranges *ranges, uint64_t words)
{
    uint64_t low = is_address(ranges, words & UINT32_MAX) ? UINT32_MAX : 0;
    uint64_t high = is_address(ranges, words >> 32) ? (uint64_t)UINT32_MAX << 32 : 0;
    return words == ARGUS_SNAPSHOT_GAP ? words : words & (low | high);
}

void snapshot_keep_addresses(uint8_t *stack, size_t bytes, const struct bpf_ranges *ranges)
{
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, stack + at, sizeof(word));
        if (ranges->is_32_bit)
            word = keep_32_bit(ranges, word);
        else if (!is_address(ranges, word))
            word = 0;
        memcpy(stack + at, &word, sizeof(word));
    }
}

/* i386's numbers (System V ABI, Intel386 supplement, table 2.14) in x86-64's, and the program
 * counter behind them. */
static const uint8_t i386_registers[] = {0, 2, 1, 3, 7, 6, 4, 5, BPF_REGISTER_PC};

void snapshot_set_registers(struct argus_snapshot *snapshot,
                            const uint64_t registers[BPF_REGISTERS],
                            const struct bpf_ranges *ranges)
{
    bool is_32_bit = ranges->is_32_bit;
    snapshot->register_count = is_32_bit ? sizeof(i386_registers) : BPF_REGISTERS;
    for (uint32_t i = 0; i < snapshot->register_count; i++) {
        uint64_t value = registers[is_32_bit ? i386_registers[i] : i];
        bool is_pc = i == snapshot->register_count - 1;
        snapshot->registers[i] = is_pc || is_address(ranges, value) ? value : 0;
    }
}

/* The snapshot that copy_slot() has copied. */
static struct argus_snapshot describe_copy(struct snapshots *snapshots)
{
    struct bpf_snapshot *copy = snapshots->copy;
    snapshot_keep_addresses((uint8_t *)copy->stack, copy->bytes, &copy->ranges);
    struct argus_snapshot described = {
        .id = copy->id,
        .pid = copy->pid,
        .tid = copy->tid,
        .ticks = copy->time_ns,
        .end = (enum argus_snapshot_end)copy->end,
        .stack = (const uint8_t *)copy->stack,
        .stack_bytes = copy->bytes,
    };
    snapshot_set_registers(&described, copy->registers, &copy->ranges);
    return described;
}

static void collect_cpu(struct snapshots *snapshots, uint32_t cpu, uint64_t head)
{
    uint64_t next = snapshots->taken[cpu];
    if (head - next > snapshots->slots_of_cpu)
        next = head - snapshots->slots_of_cpu;
    for (; next != head; next++) {
        if (!copy_slot(snapshots, cpu, next))
            continue;
        struct argus_snapshot snapshot = describe_copy(snapshots);
        snapshot_store_put(&snapshots->store, &snapshot);
    }
}

void snapshots_collect(struct snapshots *snapshots, const struct bpf_cpu *cpus)
{
    snapshots->hurry = false;
    for (uint32_t cpu = 0; snapshots->slots && cpu < snapshots->cpu_count; cpu++) {
        uint64_t head = __atomic_load_n(&cpus[cpu].snapshot_head, __ATOMIC_ACQUIRE);
        snapshots->hurry |= head - snapshots->taken[cpu] > snapshots->slots_of_cpu / SHARE_IN_HURRY;
        if (snapshots->store.most_words)
            collect_cpu(snapshots, cpu, head);
        snapshots->taken[cpu] = head;
    }
}

static bool find_in_ring(struct snapshots *snapshots, uint64_t id)
{
    uint64_t place;
    if (bpf_map_lookup_elem(snapshots->places_fd, &id, &place) < 0)
        return false;
    uint32_t cpu = (uint32_t)(place >> 48);
    return cpu < snapshots->cpu_count && copy_slot(snapshots, cpu, place & ((1ull << 48) - 1)) &&
           snapshots->copy->id == id;
}

bool snapshots_find(struct snapshots *snapshots, uint64_t id, struct argus_snapshot *ret)
{
    if (!snapshots->slots)
        return false;
    if (find_in_ring(snapshots, id)) {
        *ret = describe_copy(snapshots);
        return true;
    }
    return snapshot_store_find(&snapshots->store, id, (uint8_t *)snapshots->copy->stack,
                               snapshots->stack_bytes, ret);
}
