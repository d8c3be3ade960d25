/* The unprivileged side: what the commands start, stop, status, snapshot and record call. Nothing here prints.
 *
 * A connection belongs to one thread. While a connection that started a stream is open, the recording goes on; when it
 * closes, in whatever way, the recorder ends the file and itself.
 */
#ifndef ARGUS_RECORDER_CLIENT_H
#define ARGUS_RECORDER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"

struct recorder_client;

struct recorder_options {
    uint64_t ring_bytes;
    uint32_t rate_hz; /* cpu samples a second on each cpu; 0: none */
    bool stacks;
};

#define RECORDER_OPTIONS_MEMORY                                                                    \
    (struct recorder_options)                                                                      \
    {                                                                                              \
        .ring_bytes = 512ull << 20, .rate_hz = 99, .stacks = true                                  \
    }
#define RECORDER_OPTIONS_STREAM                                                                    \
    (struct recorder_options)                                                                      \
    {                                                                                              \
        .ring_bytes = 256ull << 20, .rate_hz = 99, .stacks = true                                  \
    }

enum recorder_mode { RECORDER_IDLE = 0, RECORDER_STREAM = 1, RECORDER_MEMORY = 2 };

struct recorder_status {
    enum recorder_mode mode;
    uid_t starter_uid;
    pid_t starter_pid, recorder_pid;
    uint32_t cpu_count;
    uint64_t started_wall_ns; /* since 1970 */
    uint64_t duration_ns;
    uint64_t ring_bytes;
    uint64_t records; /* in the file just written, or in the ring */
    uint64_t lost;    /* of these, what is missing */
    uint64_t stacks_lost;
    uint64_t bytes;      /* of the file */
    uint64_t emitted;    /* records since the start, kept or overwritten */
    uint64_t own_cpu_ns; /* cpu time of the recorder */
    char notes[1024];    /* what could not be attached and why, one a line */
};

/* Starts argus-recorder (through sudo, if we are not root) and connects to it. BUSY when one is recording already: the
 * message says since when, and who started it. */
struct argus_error *recorder_launch(struct recorder_client **ret);
/* Connects to the one that is running; NOT_FOUND when there is none. */
struct argus_error *recorder_connect(struct recorder_client **ret);
void recorder_close(struct recorder_client *client);

/* To poll: readable in between when the recorder has failed; recorder_stop() then returns its error. Borrowed. */
int recorder_poll_fd(const struct recorder_client *client);

/* `fd`: the file to stream to, borrowed; -1: into the ring in memory. On an error nothing is attached. */
struct argus_error *recorder_start(struct recorder_client *client,
                                   const struct recorder_options *options, int fd,
                                   struct recorder_status *ret);
/* `fd` -1: nothing is written (memory mode) or the stream's file is ended. */
struct argus_error *recorder_stop(struct recorder_client *client, int fd,
                                  struct recorder_status *ret);
struct argus_error *recorder_snapshot(struct recorder_client *client, int fd,
                                      struct recorder_status *ret);
struct argus_error *recorder_status(struct recorder_client *client, struct recorder_status *ret);

#endif
