/* The words of a copied stack: which of them may matter to the unwinder (snapshot.h has the rules),
 * and the slots that hold them.
 */
#ifndef ARGUS_BPF_SNAPSHOT_WORDS_H
#define ARGUS_BPF_SNAPSHOT_WORDS_H

#include "kernel_read.h"
#include "ring.h"

#define SNAPSHOT_MOST_WORDS (SNAPSHOT_MOST_BYTES / 8)
#define SNAPSHOT_PART       256  /* words */
#define SNAPSHOT_STEP       1024 /* divides every page size */
#define SNAPSHOT_HASH       0x9e3779b97f4a7c15ull
#define MAPPINGS_32_BIT     0x80000000ull
#define END_32_BIT          0x100000000ull

/* Sized by the recorder before loading; a value is a struct bpf_snapshot and its bytes. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(uint32_t));
    __uint(value_size, sizeof(struct bpf_snapshot));
} snapshots SEC(".maps");

/* The top bit says whether `distance` is below `bytes`, both being below 2^63 where it is. Without
 * a branch, because the verifier follows each in every round of a loop of thousands. */
static __always_inline uint64_t below(uint64_t distance, uint64_t bytes)
{
    return (distance - bytes) & ~distance;
}

/* The top bit says whether `word` may matter for unwinding. */
static __always_inline int64_t matters(const struct bpf_ranges *ranges, uint64_t word)
{
    uint64_t code = word & ranges->code_mask;
    uint64_t any = below(code - ranges->mappings, ranges->mappings_bytes) |
                   below(code - ranges->code, ranges->code_bytes) |
                   below(word - ranges->sp, SNAPSHOT_MOST_BYTES);
    asm volatile("" : "+r"(any));
    return (int64_t)any;
}

static __always_inline bool may_matter(const struct bpf_ranges *ranges, uint64_t word)
{
    return matters(ranges, word) < 0;
}

static __always_inline uint64_t hash_add(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * SNAPSHOT_HASH;
    return hash ^ hash >> 32;
}

/* The mappings of a 32-bit program lie in the upper half of its space, and text of ASCII is no
 * address there. */
static __always_inline struct bpf_ranges ranges_of(const struct mm_struct *mm, uint64_t sp,
                                                   bool is_32_bit)
{
    uint64_t base = mm->mmap_base;
    base = is_32_bit ? MAPPINGS_32_BIT : base - (base >> 4);
    return (struct bpf_ranges){
        .code = mm->start_code,
        .code_bytes = mm->end_code - mm->start_code,
        .mappings = base,
        .mappings_bytes = (is_32_bit ? END_32_BIT : mm->task_size) - base,
        .sp = sp,
        .code_mask = arch_code_mask(mm),
        .is_32_bit = is_32_bit,
    };
}

#endif
