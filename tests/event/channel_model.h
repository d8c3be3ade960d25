/* Channels as the kernel has them, with threads that race each other: what the pairing is tested against.
 *
 * Each thread enters its call, does its operation, then reads the channel's position, then writes its record; the threads take
 * these steps in a random order. So positions and records are late in all the ways in which they can be. The model knows for
 * every byte who sent it, and who received it.
 */
#ifndef ARGUS_TESTS_CHANNEL_MODEL_H
#define ARGUS_TESTS_CHANNEL_MODEL_H

#include "event/pairing/pairing.h"

#define MODEL_MOST_THREADS 8
#define MODEL_STALL_STEPS  400

struct model_options {
    uint8_t kind; /* enum argus_channel: pipe, unix stream, udp, tcp, eventfd or mqueue */
    uint32_t senders, receivers;
    uint32_t messages;   /* of all senders together */
    uint32_t most_bytes; /* of one message */
    uint32_t
        hurry; /* of 100 steps, so many go to the thread that had the last one: 0 is the wildest race */
    uint32_t skip;  /* records that are left out at the beginning */
    uint32_t lose;  /* of 1000 records, so many are lost, and said to be */
    uint32_t peek;  /* of 100 receives, so many are preceded by a look */
    uint32_t vague; /* of 100 sends into a buffer, so many are on record late, and marked */
    uint32_t stall; /* of 1000 steps, so many stop their thread for the next MODEL_STALL_STEPS */
    uint32_t sizes; /* there are so many sizes of messages; 0: all from 1 to most_bytes */
    bool semaphore; /* eventfd */
    uint64_t seed;
};

struct model_result {
    struct argus_message_counts counts;
    uint64_t wrong;         /* exact pairs that are not so */
    uint64_t wrong_guesses; /* ambiguous ones that are not so */
    uint64_t exact_bytes, ambiguous_bytes, received_bytes;
};

/* Runs a model and pairs its records. */
struct model_result model_run(const struct model_options *options);

#endif
