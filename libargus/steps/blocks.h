/* A run as a sequence of basic blocks, in which every loop is written down once.
 *
 * A block is a stretch of instructions that is entered at its first and left behind its last one, in whichever of the runs that
 * are compared: where one of them jumps into the middle of a stretch, it is two blocks in both. Its symbol is the key of its first
 * instruction and of the calls that led there, so a function that is called from two places has other blocks for each.
 *
 * Repetitions are taken out while the sequence grows: when its end has been there before, directly before, it is dropped. Inner
 * loops collapse first, and so a loop around them collapses although they go round differently often. A hash of every prefix
 * makes each comparison one subtraction, which keeps the whole linear but for a small factor.
 */
#ifndef ARGUS_STEPS_BLOCKS_H
#define ARGUS_STEPS_BLOCKS_H

#include "steps/run.h"

struct block {
    uint64_t symbol;
    uint32_t first_step, last_step; /* of the execution that is kept: the first */
    uint32_t before;                /* the block before with the same symbol, ARGUS_NONE: none */
    uint32_t
        again; /* the last of a loop that was taken out: the first block of the loop, else ARGUS_NONE */
};

struct blocks {
    VEC(struct block) all;
    VEC(uint64_t) prefix_hashes; /* one more than blocks */
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
