/* A run as a sequence of basic blocks in which every loop is written once.
 *
 * A block is a sequence of instructions that both runs enter only at its first instruction and
 * leave only after its last: if one run jumps into the middle of a sequence, that sequence is two
 * blocks in both. A block's symbol is the key of its first instruction and of the calls that led
 * there, so a function that is called from two places has different blocks for each.
 *
 * Repetitions are removed while the sequence grows: if its end equals what is directly before it,
 * it is dropped. Inner loops collapse first, so an outer loop collapses even if the number of inner
 * iterations varies. With a hash of every prefix, each comparison is one subtraction, so the whole
 * takes linear time up to a small factor.
 */
#ifndef ARGUS_STEPS_BLOCKS_H
#define ARGUS_STEPS_BLOCKS_H

#include "steps/run.h"

struct block {
    uint64_t symbol;
    uint32_t first_step, last_step; /* of the first execution, which is kept */
    uint32_t before;                /* the previous block with the same symbol; ARGUS_NONE: none */
    /* for the last block of a removed loop: the loop's first block; else ARGUS_NONE */
    uint32_t again;
};

struct blocks {
    VEC(struct block) all;
    VEC(uint64_t) prefix_hashes; /* one more element than blocks */
    struct idmap latest;         /* symbol → its last block */
};

/* The instructions at which blocks begin, by key. */
struct leaders {
    struct idmap keys;
};

bool leaders_add(struct leaders *leaders, const struct run *run);
void leaders_deinit(struct leaders *leaders);

struct argus_error *blocks_make(const struct run *run, const struct leaders *leaders,
                                struct blocks *ret);
void blocks_deinit(struct blocks *blocks);

#endif
