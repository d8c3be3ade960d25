/* What an arm64 instruction is about to store (Arm's manual, C4.1.94 "Loads and stores").
 *
 * An arm64 processor reports a watched access before it happens. So the flag's new value is
 * calculated from the instruction and the registers. Supported are stores of general registers,
 * ordered stores, pairs, and the atomic instructions of ARMv8.1. For any other instruction (loads,
 * stores of vector registers, `dc zva`) the record has the value before the access.
 *
 * A store-exclusive never succeeds while its address is watched: the return from the report clears
 * the exclusive monitor (B2.12.5, "an exception return clears the local monitor"), so the program
 * repeats the sequence for ever.
 *
 * The file that includes this one defines flag_register(registers, number): x0 to x30, and 31 for
 * sp. tests/recorder does so too.
 */
#ifndef ARGUS_BPF_FLAG_ARM64_H
#define ARGUS_BPF_FLAG_ARM64_H

#define ARM64_ZERO_REGISTER           31
#define ARM64_BITS(code, from, count) ((code) >> (from) & ((1u << (count)) - 1))

/* Bits 29 to 27 and 25 to 24; which of them count is in the mask. */
#define ARM64_EXCLUSIVE_MASK 0x3f000000u /* also ordered, and compare and swap */
#define ARM64_EXCLUSIVE      0x08000000u
#define ARM64_PAIR_MASK      0x3e000000u /* of general registers */
#define ARM64_PAIR           0x28000000u
#define ARM64_SINGLE_MASK    0x3e000000u
#define ARM64_SINGLE         0x38000000u
#define ARM64_ORDERED_MASK   0x3f200c00u /* stlur */
#define ARM64_ORDERED        0x19000000u

enum arm64_atomic { /* bits 14 to 12 */
                    ARM64_ADD,
                    ARM64_CLEAR,
                    ARM64_EXCLUSIVE_OR,
                    ARM64_SET,
                    ARM64_SIGNED_MAX,
                    ARM64_SIGNED_MIN,
                    ARM64_UNSIGNED_MAX,
                    ARM64_UNSIGNED_MIN,
};

struct arm64_flag {
    uint64_t address;
    uint64_t value; /* before the access */
    uint32_t bytes;
};

struct arm64_store {
    uint64_t address;
    uint64_t value;
    uint32_t bytes; /* 0: no supported store */
};

static __always_inline uint64_t arm64_ones(uint32_t bytes)
{
    return bytes < 8 ? (1ull << 8 * bytes) - 1 : ~0ull;
}

/* `bits` of `value`, from `from` on, as a signed number. */
static __always_inline int64_t arm64_signed(uint64_t value, uint32_t from, uint32_t bits)
{
    return (int64_t)(value << (64 - from - bits)) >> (64 - bits);
}

static __always_inline uint64_t arm64_operand(const void *registers, uint32_t number)
{
    return number == ARM64_ZERO_REGISTER ? 0 : flag_register(registers, number);
}

static __always_inline bool arm64_is_exclusive(uint32_t code)
{
    bool is_pair = ARM64_BITS(code, 21, 1) != 0;
    bool is_swap = is_pair && !ARM64_BITS(code, 31, 1); /* casp */
    return (code & ARM64_EXCLUSIVE_MASK) == ARM64_EXCLUSIVE && !ARM64_BITS(code, 23, 1) && !is_swap;
}

static __always_inline bool arm64_is_load(uint32_t code)
{
    return ARM64_BITS(code, 22, 1) != 0;
}

static __always_inline uint64_t arm64_atomic(uint32_t code, uint64_t old, uint64_t operand,
                                             uint32_t bytes)
{
    bool greater = arm64_signed(operand, 0, 8 * bytes) > arm64_signed(old, 0, 8 * bytes);
    bool above = operand > old;
    switch (ARM64_BITS(code, 12, 3)) {
    case ARM64_ADD:
        return old + operand;
    case ARM64_CLEAR:
        return old & ~operand;
    case ARM64_EXCLUSIVE_OR:
        return old ^ operand;
    case ARM64_SET:
        return old | operand;
    case ARM64_SIGNED_MAX:
        return greater ? operand : old;
    case ARM64_SIGNED_MIN:
        return greater ? old : operand;
    case ARM64_UNSIGNED_MAX:
        return above ? operand : old;
    default:
        return above ? old : operand;
    }
}

/* Ordered stores, and compare and swap. The new value is known if the instruction and the flag have
 * the same size. */
static __always_inline struct arm64_store arm64_ordered(uint32_t code, const void *registers,
                                                        const struct arm64_flag *flag)
{
    struct arm64_store store = {.address = flag_register(registers, ARM64_BITS(code, 5, 5)),
                                .value = arm64_operand(registers, ARM64_BITS(code, 0, 5)),
                                .bytes = 1u << ARM64_BITS(code, 30, 2)};
    bool swaps = ARM64_BITS(code, 21, 1) != 0;
    if (!ARM64_BITS(code, 23, 1) || (swaps ? store.bytes != flag->bytes : arm64_is_load(code)))
        store.bytes = 0;
    uint64_t expected = arm64_operand(registers, ARM64_BITS(code, 16, 5));
    if (swaps && (expected ^ flag->value) & arm64_ones(store.bytes))
        store.value = flag->value;
    return store;
}

/* The half of a pair in which `address` is. */
static __always_inline struct arm64_store arm64_pair(uint32_t code, const void *registers,
                                                     uint64_t address)
{
    struct arm64_store store = {.address = flag_register(registers, ARM64_BITS(code, 5, 5)),
                                .bytes = ARM64_BITS(code, 31, 1) ? 8 : 4};
    bool after = ARM64_BITS(code, 23, 2) == 1; /* the base is changed afterwards */
    if (!after)
        store.address += (uint64_t)(arm64_signed(code, 15, 7) * store.bytes);
    bool second = address >= store.address + store.bytes;
    store.value =
        arm64_operand(registers, second ? ARM64_BITS(code, 10, 5) : ARM64_BITS(code, 0, 5));
    store.address += second ? store.bytes : 0;
    if (arm64_is_load(code) || ARM64_BITS(code, 30, 1)) /* or one with memory tags */
        store.bytes = 0;
    return store;
}

/* What is added to the base register. */
static __always_inline uint64_t arm64_offset(uint32_t code, const void *registers, uint32_t size)
{
    if (ARM64_BITS(code, 24, 1))
        return (uint64_t)ARM64_BITS(code, 10, 12) << size;
    uint32_t mode = ARM64_BITS(code, 10, 2);
    if (!ARM64_BITS(code, 21, 1))
        return mode == 1
                   ? 0
                   : (uint64_t)arm64_signed(code, 12, 9); /* 1: the base is changed afterwards */
    if (mode != 2)                                        /* an atomic instruction */
        return 0;
    uint64_t offset = arm64_operand(registers, ARM64_BITS(code, 16, 5));
    if (!ARM64_BITS(code, 13, 1)) /* uxtw, sxtw */
        offset = ARM64_BITS(code, 15, 1) ? (uint64_t)arm64_signed(offset, 0, 32) : (uint32_t)offset;
    return ARM64_BITS(code, 12, 1) ? offset << size : offset;
}

static __always_inline struct arm64_store arm64_single(uint32_t code, const void *registers,
                                                       const struct arm64_flag *flag)
{
    uint32_t size = ARM64_BITS(code, 30, 2);
    struct arm64_store store = {.address = flag_register(registers, ARM64_BITS(code, 5, 5)) +
                                           arm64_offset(code, registers, size),
                                .value = arm64_operand(registers, ARM64_BITS(code, 0, 5)),
                                .bytes = 1u << size};
    bool is_atomic =
        !ARM64_BITS(code, 24, 1) && ARM64_BITS(code, 21, 1) && !ARM64_BITS(code, 10, 2);
    if (!is_atomic) {
        store.bytes = ARM64_BITS(code, 22, 2) ? 0 : store.bytes; /* a load */
        return store;
    }
    uint64_t operand = arm64_operand(registers, ARM64_BITS(code, 16, 5)) & arm64_ones(store.bytes);
    bool is_swap = ARM64_BITS(code, 12, 4) == 8;
    store.value = is_swap ? operand : arm64_atomic(code, flag->value, operand, store.bytes);
    if (store.bytes != flag->bytes || (ARM64_BITS(code, 15, 1) && !is_swap)) /* or ldapr */
        store.bytes = 0;
    return store;
}

static __always_inline struct arm64_store arm64_store_of(uint32_t code, const void *registers,
                                                         const struct arm64_flag *flag)
{
    if ((code & ARM64_EXCLUSIVE_MASK) == ARM64_EXCLUSIVE)
        return arm64_ordered(code, registers, flag);
    if ((code & ARM64_PAIR_MASK) == ARM64_PAIR)
        return arm64_pair(code, registers, flag->address);
    if ((code & ARM64_ORDERED_MASK) == ARM64_ORDERED)
        code &= ~(1u << 24); /* the rest is as with `stur` */
    else if ((code & ARM64_SINGLE_MASK) != ARM64_SINGLE)
        return (struct arm64_store){0};
    return arm64_single(code, registers, flag);
}

/* The value that the flag will have. */
static __always_inline uint64_t arm64_value_after(uint32_t code, const void *registers,
                                                  const struct arm64_flag *flag)
{
    struct arm64_store store = arm64_store_of(code, registers, flag);
    uint64_t before = flag->address - store.address, behind = store.address - flag->address;
    uint64_t mask = arm64_ones(store.bytes), value = store.value & mask;
    if (store.bytes && before < store.bytes)
        value = value >> 8 * before | (flag->value & ~(mask >> 8 * before));
    else if (store.bytes && behind < flag->bytes && behind < 8)
        value = value << 8 * behind | (flag->value & ~(mask << 8 * behind));
    else
        value = flag->value;
    return value & arm64_ones(flag->bytes);
}

#endif
