/* Which buffers (sk_buff) in the queues of unix sockets already have a record of their send.
 *
 * A sender does not know its buffer: it looks for it in the receiver's queue, among those without a
 * claim (message_unix.h). So a buffer must not lose its claim as long as it is in the queue, and a
 * claim should not outlive its buffer, because the kernel uses addresses again. Two things make
 * this hard. The receiver is seen before the kernel takes the buffer out of the queue; and each
 * side can be delayed at any instruction, for any time under a hypervisor, while the other one
 * continues.
 *
 * Each buffer therefore has one 64-bit word, which is changed by atomic operations only:
 *
 *   bits 63..24  name: a hash of the buffer's address, of the socket that sent it, and of its
 * length bits 23..2   turn: grows with each change, so that a change fails when another one came
 * first bit 1        consumed: its last bytes are being received, and it may be in the queue or not
 *   bit 0        received: some of it was received, or looked at, before its sender claimed it
 *
 * A word without a mark is a claim. The mark "consumed" is removed when the receiving thread is
 * seen next (in its next copy, or at the end of its call) and the buffer is out of the queue. Until
 * then it is unknown whether the buffer is the old one or a new one at the same address, so the
 * record of a sender that claims it is marked doubtful.
 */
#ifndef ARGUS_BPF_MESSAGE_CLAIM_H
#define ARGUS_BPF_MESSAGE_CLAIM_H

#include "message_record.h"

#define MESSAGE_CLAIMS 8192 /* a power of two */

#define CLAIM_RECEIVED 1ull
#define CLAIM_CONSUMED 2ull
#define CLAIM_MARKS    (CLAIM_RECEIVED | CLAIM_CONSUMED)
#define CLAIM_TURN     4ull
#define CLAIM_TURNS    0xfffffcull
#define CLAIM_NAME     (~0xffffffull)

/* Two places for the buffers with one hash. */
struct message_claims {
    uint64_t way[2];
    uint64_t taken;  /* the last bit: which was taken last */
    uint64_t unused; /* padding, so that no entry crosses a cache line */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MESSAGE_CLAIMS);
    __type(key, uint32_t);
    __type(value, struct message_claims);
} claims SEC(".maps");

static __always_inline struct message_claims *claims_of(uint64_t buffer)
{
    uint32_t key = (buffer * 0x9e3779b97f4a7c15ull >> 40) & (MESSAGE_CLAIMS - 1);
    return bpf_map_lookup_elem(&claims, &key);
}

static __always_inline uint64_t claim_name(uint64_t buffer)
{
    const void *place = (const void *)buffer;
    uint64_t sender = kernel_word(kernel_place(sk_buff, place, sk));
    uint64_t bytes = kernel_read(sk_buff, place, len);
    uint64_t hash = (sender ^ bytes << 40) * 0x9e3779b97f4a7c15ull;
    hash = (hash ^ hash >> 32 ^ buffer) * 0xc2b2ae3d27d4eb4full;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;
    return (hash & CLAIM_NAME) | 1ull << 24; /* never 0, which is an empty place */
}

static __always_inline bool claim_is(uint64_t word, uint64_t name)
{
    return (word & CLAIM_NAME) == name;
}

/* The word of `buffer`, 0: it has none. */
static __always_inline uint64_t claim_word(uint64_t buffer, uint64_t name)
{
    const struct message_claims *set = claims_of(buffer);
    if (!set)
        return 0;
    uint64_t first = *(volatile const uint64_t *)&set->way[0];
    uint64_t second = *(volatile const uint64_t *)&set->way[1];
    return claim_is(first, name) ? first : claim_is(second, name) ? second : 0;
}

/* Makes `before` to a word of `name` with `marks`; false: it was not `before` any more. `name` 0
 * empties the place. */
static __always_inline bool claim_change(uint64_t *way, uint64_t before, uint64_t name,
                                         uint64_t marks)
{
    uint64_t after = name | ((before + CLAIM_TURN) & CLAIM_TURNS) | marks;
    return __sync_val_compare_and_swap(way, before, after) == before;
}

/* The slot for a buffer without a word: an empty one, or the one that was not taken last, so that
 * no word is lost within the time of a race. */
static __always_inline uint64_t *claim_place(struct message_claims *set)
{
    if (!(set->way[0] & CLAIM_NAME))
        return &set->way[0];
    if (!(set->way[1] & CLAIM_NAME))
        return &set->way[1];
    return set->taken++ & 1 ? &set->way[0] : &set->way[1];
}

/* Gives a buffer whose word was `before` (0: none) a word with `marks`. False: another CPU was
 * faster. */
static __always_inline bool claim_put(uint64_t buffer, uint64_t name, uint64_t before,
                                      uint64_t marks)
{
    struct message_claims *set = claims_of(buffer);
    if (!set)
        return true;
    uint64_t *way = claim_is(set->way[0], name)   ? &set->way[0]
                    : claim_is(set->way[1], name) ? &set->way[1]
                                                  : claim_place(set);
    uint64_t now = *(volatile uint64_t *)way;
    if (claim_is(now, name) ? now != before : before != 0)
        return false;
    return claim_change(way, now, name, marks);
}

/* Empties the place of `word`, unless it has changed since it was read. */
static __always_inline void claim_end(uint64_t buffer, uint64_t word)
{
    struct message_claims *set = claims_of(buffer);
    if (!set || !word)
        return;
    if (set->way[0] == word)
        claim_change(&set->way[0], word, 0, 0);
    else if (set->way[1] == word)
        claim_change(&set->way[1], word, 0, 0);
}

#endif
