/* Whether the current thread's stack is one that was copied before, without looking at all of its
 * words.
 *
 * A name (snapshot.h) is made of all words that may matter to the unwinder: hundreds, most of them
 * left behind by earlier calls. But unwinding goes from word to word: the place of each is
 * determined by the registers and by the words before it. So if the registers are those of an
 * earlier copy, and so are all words of that copy that the unwinder may have read, then the stack
 * has the same frames, whatever its other words are. Of a copy, the positions of these words are
 * kept:
 *
 *   an address of the stack                     a saved frame pointer
 *   an address of code with a call before it    a return address; the program's code is read for
 *                                               it, once for each copy
 *
 * Then only the pieces of the stack that have such a word are copied, and only these words are
 * looked at.
 *
 * Behind the return address of a signal handler is an address of interrupted code, which no call
 * precedes; so all addresses there are kept (`known_kind` recognizes the code that returns from a
 * handler). Other addresses without a call are the beginnings of coroutines, behind which there is
 * nothing to unwind. Stacks with a missing page and those of 32-bit programs are not kept here. On
 * arm64 all addresses of code are kept.
 *
 * Only with stacks at every call, or at all waits of chosen processes (settings.known_sets): other
 * copies are too few for it to matter, and the kernel takes a quarter more time to verify the
 * programs with it.
 */
#ifndef ARGUS_BPF_KNOWN_COPY_H
#define ARGUS_BPF_KNOWN_COPY_H

#include "snapshot_words.h"

#define KNOWN_WORDS 254
#define KNOWN_PART  32 /* words */
#define SIGNAL_WORDS                                                                               \
    32 /* behind the return address of a signal handler, up to the interrupted one */

struct known_copy {
    uint64_t check;              /* of `key`, `sum` and `name`; 0: empty, or being written */
    uint64_t key;                /* of the registers */
    uint64_t sum;                /* of the words at `at` */
    uint64_t name;               /* of the copy, without frames of an interpreter */
    uint64_t place, place_check; /* of the snapshot with this name; see known_place() */
    uint64_t until;  /* so many bytes are copied at once: up to the last word. 0: single pieces */
    uint64_t pieces; /* a bit for each SNAPSHOT_STEP of the stack that has such a word */
    uint64_t count;
    uint64_t all_until; /* before this word all addresses are kept */
    uint64_t used; /* 1: it was found since entries of its set were last looked at to replace one */
    uint64_t plain; /* the process had no interpreter when interpreter_changes() was this */
    /* The lower halves of the words, and where they are, ascending. The last two are for the
     * verifier. */
    uint32_t low[KNOWN_WORDS + 2];
    uint16_t at[KNOWN_WORDS + 2];
};

/* By the registers: settings.known_sets sets of KNOWN_WAYS. Written without a lock: an entry that
 * two cpus write at a time does not agree with its `check`. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct known_copy);
} known_copies SEC(".maps");

/* The key of a stack's registers, by its lower bits; KNOWN_SEEN entries if there are known_copies.
 * Most stacks of a short-lived program never come again: it does not pay to read the code of each
 * of their words. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint64_t);
} known_seen SEC(".maps");

enum known_kind { KNOWN_NOTHING, KNOWN_RETURN, KNOWN_SIGNAL };

#if defined(__TARGET_ARCH_x86)

/* 1 if `byte` is 0, otherwise 0: without a branch. The verifier follows both ways of each branch, and there
 * would be two for each byte. */
static __always_inline uint64_t is_zero(uint64_t byte)
{
    asm volatile("" : "+r"(byte)); /* so that the compiler does not make a comparison of it */
    return (byte - 1) >> 63;
}

/* Whether `byte` is `opcode`, or a breakpoint or probe has replaced it. */
static __always_inline uint64_t is_opcode(uint64_t byte, uint64_t opcode)
{
    return is_zero(byte ^ opcode) | is_zero(byte ^ 0xcc);
}

/* Whether the bytes before an address may end in a call: E8 and 4 bytes, or FF /2 (Intel's manual,
 * volume 2, CALL). The byte nearest to the address is the upper one. */
static __always_inline bool ends_in_call(uint64_t before)
{
    uint64_t is_ff = 0;
#pragma unroll
    for (int i = 1; i <= 6; i++) /* FF is byte i, what it calls is told by the next one */
        is_ff |= is_opcode(before >> 8 * i & 0xff, 0xff) &
                 is_zero((before >> (8 * i + 8) & 0x38) ^ 0x10);
    return is_opcode(before >> 24 & 0xff, 0xe8) | is_ff;
}

/* mov $15 (rt_sigreturn), %rax or %eax, and syscall (0f 05) */
static __always_inline bool returns_from_signal(uint64_t code)
{
    return code == 0x0f0000000fc0c748ull || (code & 0xffffffffffffffull) == 0x050f0000000fb8ull;
}

/* What `word`, an address of code, may be. */
__attribute__((noinline)) uint64_t known_kind(uint64_t word)
{
    uint64_t around[2]; /* the bytes before and behind it */
    if (!settings.known_sets)
        return KNOWN_NOTHING;
    if (bpf_probe_read_user(around, sizeof(around), (const void *)(word - 8)))
        return KNOWN_RETURN; /* not in memory at present */
    if (returns_from_signal(around[1]))
        return KNOWN_SIGNAL;
    return ends_in_call(around[0]) ? KNOWN_RETURN : KNOWN_NOTHING;
}

#else

__attribute__((noinline)) uint64_t known_kind(uint64_t word)
{
    return word ? KNOWN_RETURN : KNOWN_NOTHING;
}

#endif

/* Which way was found after another stack, by known_next(). A program that goes round a loop has
 * the same stacks in the same order, so the way that is looked at first is nearly always right. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint32_t);
} known_ways_next SEC(".maps");

static __always_inline uint32_t *known_next(uint64_t key, uint64_t last_name)
{
    uint32_t index = hash_add(key, last_name) & (KNOWN_NEXT - 1);
    return bpf_map_lookup_elem(&known_ways_next, &index);
}

/* Not 0. Registers with which two stacks can be the same. */
static __always_inline uint64_t known_key(uint64_t process, struct pt_regs *regs)
{
    uint64_t sp = arch_stack_pointer(regs), frame = arch_frame_pointer(regs) - sp;
    uint64_t place = hash_add(arch_pc(regs), sp); /* at the same time as the process */
    return hash_add(hash_add(process, frame < SNAPSHOT_MOST_BYTES ? frame + 1 : 0), place) | 1;
}

static __always_inline struct known_copy *known_entry(uint64_t key, uint32_t way)
{
    uint32_t index = (key >> 8 & (settings.known_sets - 1)) * KNOWN_WAYS + way;
    return bpf_map_lookup_elem(&known_copies, &index);
}

/* Never 0. */
static __always_inline uint64_t known_check(uint64_t key, uint64_t sum, uint64_t name)
{
    return hash_add(hash_add(key, sum), name) | 1;
}

/* Copies those pieces of the stack that `snapshot` does not have yet. */
static __always_inline bool copy_pieces(struct bpf_snapshot *snapshot, uint64_t pieces)
{
    uint64_t sp = snapshot->registers[BPF_REGISTER_SP];
    uint64_t missing = pieces & ~snapshot->pieces;
    for (uint64_t i = 0; i < SNAPSHOT_MOST_BYTES / SNAPSHOT_STEP; i++) {
        uint64_t offset = i * SNAPSHOT_STEP, bytes = snapshot->bytes - offset;
        if (!(missing >> i) || offset >= settings.snapshot_bytes)
            break;
        if (!(missing >> i & 1))
            continue;
        if (offset >= snapshot->bytes)
            return false;
        bytes = at_most(bytes, SNAPSHOT_STEP);
        if (bpf_probe_read_user((uint8_t *)snapshot->stack + offset, bytes,
                                (const void *)(sp + offset)))
            return false;
    }
    snapshot->pieces |= pieces;
    return true;
}

/* Copies the words of `known`. One copy of many bytes is faster than several, each of which has to
 * allow and forbid access to user memory. */
static __always_inline bool copy_words(struct bpf_snapshot *snapshot,
                                       const struct known_copy *known)
{
    if (!(known->pieces & ~snapshot->pieces))
        return true;
    uint64_t until = known->until;
    if (!until)
        return copy_pieces(snapshot, known->pieces);
    if (until > snapshot->bytes)
        return false;
    uint64_t bytes = at_most(until, settings.snapshot_bytes);
    if (bpf_probe_read_user(snapshot->stack, bytes,
                            (const void *)snapshot->registers[BPF_REGISTER_SP]))
        return false;
    snapshot->pieces |= (1ull << (until / SNAPSHOT_STEP & 63)) - 1;
    return true;
}

/* The sum of the words of `known`, as they are in `snapshot`; false: their lower halves differ. Two
 * stacks with the same lower halves and the same sum only differ if upper halves change places. No
 * hash: each step of one waits for the step before, and that takes three times as long. */
static __always_inline bool sum_words(const struct bpf_snapshot *snapshot,
                                      const struct known_copy *known, uint64_t *ret_sum)
{
    uint64_t sum = 0, count = known->count;
    for (uint64_t i = 0; i < KNOWN_WORDS && i < count; i++) {
        uint64_t at = known->at[i];
        if (at >= settings.snapshot_bytes / 8)
            return false;
        asm volatile("" : "+r"(at));
        uint64_t word = snapshot->stack[at];
        if ((uint32_t)word != known->low[i])
            return false;
        sum += word;
    }
    *ret_sum = sum;
    return true;
}

/* The name of the copy in `way`, if the stack of the snapshot in slot `index`, of which only
 * registers are there, is the same; otherwise 0. */
__attribute__((noinline)) uint64_t known_match(uint32_t index, uint64_t key, uint32_t way)
{
    struct bpf_snapshot *snapshot = bpf_map_lookup_elem(&snapshots, &index);
    struct known_copy *known = known_entry(key, way & (KNOWN_WAYS - 1));
    if (!settings.known_sets || !snapshot || !known || !known->check || known->key != key)
        return 0;
    uint64_t name = known->name;
    uint64_t sum;
    if (!copy_words(snapshot, known) || !sum_words(snapshot, known, &sum) ||
        known_check(key, sum, name) != known->check)
        return 0;
    if (!known->used)
        known->used = 1;
    return name;
}

/* Adds KNOWN_PART words of the snapshot in slot `index` from word `first` on, and goes on with
 * `hash`. */
__attribute__((noinline)) uint64_t known_add(uint32_t index, uint32_t first, uint64_t hash,
                                             uint64_t key, uint32_t way)
{
    const struct bpf_snapshot *snapshot = bpf_map_lookup_elem(&snapshots, &index);
    struct known_copy *known = known_entry(key, way & (KNOWN_WAYS - 1));
    if (!settings.known_sets || !snapshot || !known || first > SNAPSHOT_MOST_WORDS)
        return hash;
    uint32_t words = snapshot->bytes / 8;
    for (uint64_t i = 0; i < KNOWN_PART; i++) {
        uint32_t at = first + i;
        if (at >= words || at >= settings.snapshot_bytes / 8)
            break;
        asm volatile("" : "+r"(at));
        uint64_t word = snapshot->stack[at], kind = KNOWN_RETURN;
        if (!may_matter(&snapshot->ranges, word))
            continue;
        if (word - snapshot->ranges.sp >= SNAPSHOT_MOST_BYTES && at >= known->all_until)
            kind = known_kind(word & snapshot->ranges.code_mask);
        if (kind == KNOWN_NOTHING)
            continue;
        if (kind == KNOWN_SIGNAL)
            known->all_until = at + SIGNAL_WORDS;
        uint64_t count = *(volatile uint64_t *)&known->count;
        uint64_t place = bounded(count, KNOWN_WORDS + 2);
        known->at[place] = at;
        known->low[place] = (uint32_t)word;
        known->sum += word;
        known->pieces |= 1ull << (at * 8 / SNAPSHOT_STEP & 63);
        known->until = (at + 1) * 8;
        *(volatile uint64_t *)&known->count = count + 1;
        hash = hash_add(hash, word ^ (uint64_t)at << 48);
    }
    return hash;
}

/* Pieces that are missing between others are copied with them unless they are many: a piece takes
 * 15 to 30 ns, and another call of the helper 40. */
static __always_inline uint64_t known_until(const struct known_copy *known)
{
    uint64_t pieces = known->pieces, whole = known->until / SNAPSHOT_STEP + 1, there = 0;
    for (uint64_t i = 0; i < SNAPSHOT_MOST_BYTES / SNAPSHOT_STEP; i++)
        there += pieces >> i & 1;
    return whole <= 2 * there + 2 ? known->until : 0;
}

/* Completes a copy, which has all its words now. */
static __always_inline void known_finish(struct known_copy *known)
{
    if (known->count > KNOWN_WORDS)
        return;
    known->until = known_until(known);
    arch_store_last(&known->check, known_check(known->key, known->sum, known->name));
}

/* The place of the snapshot with `name`, as noted for the copy in `way`. Another cpu may have
 * replaced the copy meanwhile, so the two belong together only if the check says so. */
static __always_inline bool known_place(uint64_t key, uint32_t way, uint64_t name,
                                        uint64_t *ret_place)
{
    const struct known_copy *known = known_entry(key, way);
    if (!known)
        return false;
    *ret_place = known->place;
    return known->place_check == hash_add(name, *ret_place);
}

static __always_inline void known_note_place(uint64_t key, uint32_t way, uint64_t name,
                                             uint64_t place)
{
    struct known_copy *known = known_entry(key, way);
    if (!known)
        return;
    known->place = place;
    known->place_check = hash_add(name, place);
}

/* Whether the process of the copy in `way` had no interpreter at `changes`. */
static __always_inline bool known_is_plain(uint64_t key, uint32_t way, uint64_t changes)
{
    const struct known_copy *known = known_entry(key, way);
    return known && known->key == key && known->plain == changes;
}

static __always_inline void known_note_plain(uint64_t key, uint32_t way, uint64_t changes)
{
    struct known_copy *known = known_entry(key, way);
    if (known && known->key == key)
        known->plain = changes;
}

/* Whether a stack with these registers was copied before; now one is. */
static __always_inline bool known_was_seen(uint64_t key)
{
    uint32_t index = key >> 8 & (KNOWN_SEEN - 1);
    uint64_t *seen = bpf_map_lookup_elem(&known_seen, &index);
    bool was_seen = seen && *seen == key;
    if (seen)
        *seen = key;
    return was_seen;
}

/* The way for a new copy: one that was not used lately. A program that never has the same stack
 * again replaces only such. */
static __always_inline uint32_t known_way(uint64_t key, uint64_t number)
{
    uint32_t first = number & (KNOWN_WAYS - 1);
#pragma unroll
    for (uint32_t i = 0; i < KNOWN_WAYS; i++) {
        uint32_t way = (first + i) & (KNOWN_WAYS - 1);
        struct known_copy *known = known_entry(key, way);
        if (known && !known->used)
            return way;
        if (known)
            known->used = 0;
    }
    return first;
}

/* Keeps the whole copy in slot `index`, the cpu's `number`, and returns its name; 0: such a stack
 * is not kept. */
static __always_inline uint64_t known_keep(const struct bpf_snapshot *snapshot, uint32_t index,
                                           uint64_t key, uint64_t number)
{
    if (!settings.known_sets || snapshot->end == BPF_SNAPSHOT_MISSING ||
        snapshot->ranges.is_32_bit || !known_was_seen(key))
        return 0;
    uint32_t way = known_way(key, number), words = snapshot->bytes / 8;
    struct known_copy *known = known_entry(key, way);
    uint64_t hash = key;
    if (!known)
        return 0;
    known->check = 0;
    known->pieces = known->count = known->all_until = known->used = known->until = 0;
    known->key = key;
    known->sum = known->plain = 0;
    for (uint64_t first = 0; first < SNAPSHOT_MOST_WORDS; first += KNOWN_PART) {
        if (first >= words)
            break;
        hash = known_add(index, first, hash, key, way);
    }
    uint64_t name = hash | 1ull << 63;
    known->name = name;
    known_finish(known);
    return name;
}

#endif
