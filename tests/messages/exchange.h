/* Shared declarations of the parts of exchange.c. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define WRITERS      3
#define BATCH_MAX    4
#define BUFFER_BYTES (1 << 20)
#define UNIT         4         /* bytes; the sizes of messages are multiples of 8 */
#define MESSAGE_MOST (1 << 14) /* of one writer */

/* In memory that all processes share. */
struct shared {
    _Atomic uint64_t sent, received; /* bytes */
    _Atomic uint32_t writers;        /* that have not ended */
};

/* A writer or the reader. */
struct side {
    const struct kind *kind;
    struct shared *shared;
    uint32_t writer;
    int fd;
    uint32_t count;
    uint64_t random;
    FILE *log;    /* owned */
    char *buffer; /* owned, BUFFER_BYTES */
    /* For a reader that cannot tell which message it got: the number of each writer's next message.
     * */
    uint32_t next[WRITERS];
    bool is_over;              /* the last message was received */
    uint32_t sizes[BATCH_MAX]; /* of the consecutive messages in buffer */
};

struct kind {
    const char *name;
    uint32_t largest;      /* message, in bytes */
    uint32_t largest_read; /* requested in one call */
    uint64_t in_flight;    /* bytes */
    bool peek, batch;
    void (*open)(int ret_fds[2]); /* 0 to read, 1 to write */
    /* Sends the first messages of buffer, in one call; returns bytes. */
    ssize_t (*send)(struct side *side, uint32_t count);
    /* Receives into buffer, in one call; returns bytes; 0: the end; -1 with EAGAIN or ETIMEDOUT: no
     * data for a while. */
    ssize_t (*receive)(struct side *side, size_t bytes, bool peek);
    /* Tells the reader that no more data comes; NULL: not needed. */
    void (*finish)(struct side *side);
};

extern const struct kind kinds[];
extern const size_t kind_count;

_Noreturn void fail(const char *what);
/* The number in a message at `offset`, a multiple of UNIT. */
uint32_t unit(uint32_t writer, uint32_t message, uint32_t offset);
/* A random number. */
uint32_t below(struct side *side, uint32_t limit);

#endif
