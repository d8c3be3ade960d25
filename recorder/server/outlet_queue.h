/* The memory that the recorder shares with the process that writes its file: a ring of orders. The
 * recorder appends, the process takes. Both counters only grow, and their remainder by OUTLET_ROOM
 * is a place in `data`. An order is never split at the end of the ring: an OUTLET_SKIP fills the
 * rest. */
#ifndef ARGUS_RECORDER_OUTLET_QUEUE_H
#define ARGUS_RECORDER_OUTLET_QUEUE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/outlet.h"

#define OUTLET_ROOM  (64u << 20)
#define OUTLET_PIECE (1u << 20) /* bytes of one order, at most */

enum outlet_kind {
    OUTLET_WRITE = 1,  /* `length` bytes follow */
    OUTLET_RESIZE = 2, /* to `offset` */
    OUTLET_SKIP = 3,   /* up to the end of the ring */
    OUTLET_CLOSE = 4,  /* the file: only now may some file systems report a failure */
};

struct outlet_order {
    uint64_t offset;
    uint64_t chunk_offset; /* WRITE: where the chunk begins that these bytes are a part of */
    uint32_t length;
    uint32_t kind;
};

struct outlet_queue {
    _Atomic uint64_t put, taken; /* bytes, ever */
    /* Written by the process: */
    _Atomic uint64_t failed_offset, cpu_ns;
    _Atomic uint32_t failed; /* an errno; 0: none. The process then drops all later orders */
    _Atomic uint32_t gone;   /* 1: the file has no name any more */
    uint8_t data[OUTLET_ROOM] __attribute__((aligned(64)));
};

/* The first message of the process: whether it has a file that it may write to. */
struct outlet_hello {
    uint32_t error;     /* 0; or 1 + enum argus_error_code, and `text` is the message */
    int32_t file;       /* the descriptor's number in that process */
    uint64_t file_size; /* the soft limit of the size of files; UINT64_MAX: none */
    char text[232];
};

/* The bytes that an order with `length` bytes takes in the ring. */
static inline uint64_t outlet_extent(uint32_t length)
{
    return (sizeof(struct outlet_order) + length + 7) & ~(uint64_t)7;
}

/* What the process does, from fork() to its end. `control`: the socket to the recorder. */
_Noreturn void outlet_process(const struct outlet_source *source, uid_t uid, int control,
                              struct outlet_queue *queue);

#endif
