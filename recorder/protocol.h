/* What the front end and argus-recorder say to each other: one fixed-size request, one fixed-size reply, over a unix
 * socket that keeps messages whole (SOCK_SEQPACKET). An output file travels beside the request as a descriptor
 * (SCM_RIGHTS), so that the recorder never opens a path of the user's.
 *
 * The recorder runs as root and the front end does not: everything received is checked here, before it is looked at.
 */
#ifndef ARGUS_RECORDER_PROTOCOL_H
#define ARGUS_RECORDER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

#define PROTOCOL_DIRECTORY "/run/argus"
#define PROTOCOL_SOCKET    PROTOCOL_DIRECTORY "/recorder.socket"
#define PROTOCOL_LOCK      PROTOCOL_DIRECTORY "/recorder.lock"

#define PROTOCOL_MAGIC   0x51475241u /* "ARGQ" */
#define PROTOCOL_VERSION 1

#define PROTOCOL_RING_MIN (1ull << 20)
#define PROTOCOL_RING_MAX (1ull << 40)
#define PROTOCOL_RATE_MAX 10000u

enum request_verb {
    REQUEST_START = 1,    /* with a descriptor: a stream; without: the ring in memory */
    REQUEST_STOP = 2,     /* memory mode: with a descriptor, a snapshot is written first */
    REQUEST_SNAPSHOT = 3, /* with a descriptor */
    REQUEST_STATUS = 4,
};

enum request_flags { REQUEST_STACKS = 1 << 0 };

struct request {
    uint32_t magic;
    uint16_t version;
    uint16_t verb;
    uint32_t flags;
    uint32_t rate_hz;    /* START: cpu samples a second, 0: none */
    uint64_t ring_bytes; /* START */
    uint64_t reserved[5];
};

struct reply {
    uint32_t magic;
    uint16_t version;
    uint16_t verb;  /* of the request */
    uint32_t error; /* 0: done; else 1 + enum argus_error_code, and `text` is the message */
    uint32_t mode;  /* enum recording_mode; 0: not recording */
    uint32_t starter_uid, starter_pid;
    uint32_t recorder_pid, cpu_count;
    uint64_t started_wall_ns; /* since 1970 */
    uint64_t duration_ns;
    uint64_t ring_bytes;
    uint64_t records, lost, stacks_lost, bytes, emitted; /* as struct recording_numbers */
    uint64_t own_cpu_ns;                                 /* cpu time of the recorder process */
    uint64_t reserved[6];
    char text[1024]; /* without an error: the notes, one a line; always with a NUL */
};

/* Checks what was received; `bytes` may point to anything. */
struct argus_error *request_parse(const void *bytes, size_t length, struct request *ret);
struct argus_error *reply_parse(const void *bytes, size_t length, struct reply *ret);

/* Sends one message of `length` bytes, with `fd` beside it unless it is -1. */
struct argus_error *message_send(int socket, const void *bytes, size_t length, int fd);
/* Receives one message; `*ret_length` 0: the other side has closed. `*ret_fd`: the descriptor that came with it, owned by
 * the caller, or -1; more than one are closed. `room` should be more than a message, so that a longer one shows. */
struct argus_error *message_receive(int socket, void *bytes, size_t room, size_t *ret_length,
                                    int *ret_fd);

#endif
