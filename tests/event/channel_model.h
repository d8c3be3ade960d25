/* A model of the kernel's channels, with threads that race each other: the pairing is tested
 * against it.
 *
 * Each thread enters its call, does its operation, then reads the channel's position, then writes
 * its record; the threads take these steps in a random order. So positions and records can be late
 * in every possible way. The model knows the sender and the receiver of every byte.
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
    /* Per 100 steps: steps for the thread of the previous step; 0: the most races. */
    uint32_t hurry;
    uint32_t skip;  /* records that are left out at the beginning */
    uint32_t lose;  /* per 1000 records: lost records, reported as lost */
    uint32_t peek;  /* per 100 receives: those preceded by MSG_PEEK */
    uint32_t vague; /* per 100 sends into a buffer: those recorded late, and marked */
    /* Per 1000 steps: those that stop their thread for the next MODEL_STALL_STEPS. */
    uint32_t stall;
    uint32_t sizes; /* number of message sizes; 0: all from 1 to most_bytes */
    bool semaphore; /* eventfd */
    uint64_t seed;
};

struct model_result {
    struct argus_message_counts counts;
    uint64_t wrong;         /* exact pairs that are wrong */
    uint64_t wrong_guesses; /* ambiguous pairs that are wrong */
    uint64_t exact_bytes, ambiguous_bytes, received_bytes;
};

/* Runs a model and pairs its records. */
struct model_result model_run(const struct model_options *options);

#endif
