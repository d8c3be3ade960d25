/* The unprivileged side of the recorder, for the commands start, stop, status, snapshot and record.
 * Nothing here prints.
 *
 * A connection belongs to one thread. While a connection that started a stream is open, the
 * recording goes on; when the connection closes for any reason, the recorder finishes the file and
 * exits.
 */
#ifndef ARGUS_RECORDER_CLIENT_H
#define ARGUS_RECORDER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "argus/error.h"
#include "argus/trace.h"
#include "protocol.h"

struct recorder_client;

enum recorder_mode {
    RECORDER_IDLE = 0,
    RECORDER_STREAM = 1, /* a file that grows */
    RECORDER_MEMORY = 2, /* the ring in memory */
    RECORDER_RING = 3,   /* a file of a fixed size */
};

struct recorder_unwind {
    uint32_t pid;  /* 0: by name */
    char name[16]; /* of the process or the thread, as the kernel has it; "": by pid */
};

#define RECORDER_PROBE_TABLES 8

struct recorder_options {
    enum recorder_mode mode;
    bool owned;               /* the recording ends when the connection closes */
    uint64_t ring_bytes;      /* memory */
    uint64_t file_ring_bytes; /* RECORDER_RING: the size of the file */
    uint32_t rate_hz;         /* cpu samples a second on each cpu; 0: none */
    uint32_t categories;      /* bits of enum category */
    enum backend_kind backend;
    enum argus_codec codec; /* of files; ARGUS_CODEC_NONE: the best that the recorder has */
    bool call_stacks;       /* stacks also at the start of system calls, and of preempted threads */
    /* RECORDER_MEMORY: an event loop away for this long is a hang; 0: do not watch */
    uint32_t hang_ms;
    char hang_name[16]; /* watch only this process; "": all processes */
    struct recorder_unwind unwind[16];
    uint32_t unwind_count, unwind_bytes;
    /* Copy the stack of a thread that waited this long; 0: follow frame pointers only. */
    uint64_t late_ns;
    uint32_t max_overhead; /* in 1/10000 of the time of all CPUs; 0: no limit */
    /* Paths of probe tables beyond the installed one; NULL: end of list. */
    const char *probe_tables[RECORDER_PROBE_TABLES];
    /* Paths of a user's rules; first NULL: the user's default rules. */
    const char *rule_files[RECORDER_PROBE_TABLES];
    /* Libraries whose hooks report by themselves; NULL: end of list. */
    const char *hook_libraries[RECORDER_PROBE_TABLES];
    struct request_flag flags[FLAG_PLANS]; /* for recorder_flag_add(), after the start */
    uint32_t flag_count;
    const char *program; /* the command that is recorded; NULL: none */
};

#define RECORDER_OPTIONS_MEMORY                                                                    \
    (struct recorder_options)                                                                      \
    {                                                                                              \
        .mode = RECORDER_MEMORY, .ring_bytes = 512ull << 20, .rate_hz = 99,                        \
        .categories = CATEGORIES_ALL, .unwind_bytes = 65536, .late_ns = 500000                     \
    }
#define RECORDER_OPTIONS_STREAM                                                                    \
    (struct recorder_options)                                                                      \
    {                                                                                              \
        .mode = RECORDER_STREAM, .owned = true, .ring_bytes = 256ull << 20, .rate_hz = 99,         \
        .categories = CATEGORIES_ALL, .unwind_bytes = 65536, .late_ns = 500000                     \
    }

struct recorder_status {
    enum recorder_mode mode;
    uid_t starter_uid;
    pid_t starter_pid, recorder_pid;
    pid_t watcher_pid; /* the process that is told of hangs; 0: none */
    uint32_t cpu_count;
    uint64_t started_wall_ns; /* since 1970 */
    uint64_t duration_ns;
    uint64_t ring_bytes, file_ring_bytes;
    uint64_t records; /* in the file just written, or in the ring */
    uint64_t lost;    /* how many of these are missing */
    uint64_t stacks_lost;
    uint64_t bytes;                          /* of the file */
    uint64_t emitted;                        /* records since the start, kept or overwritten */
    uint64_t own_cpu_ns;                     /* cpu time of the recorder */
    uint64_t start_cpu_ns;                   /* of own_cpu_ns, before the recording began */
    uint64_t oldest_ns;                      /* the trace clock at the oldest … */
    uint64_t newest_ns;                      /* … and at the newest record that is kept */
    uint32_t categories;                     /* bits of enum category */
    uint64_t category_rates[CATEGORY_COUNT]; /* records a second, lately */
    enum backend_kind backend;
    uint32_t rate_hz, hang_ms;
    uint32_t hangs_seen, hang_files, hangs_pending;
    /* Path of the file being written, "" in memory mode; set by recorder_status() and
     * recorder_stop(). */
    char path[PROTOCOL_TEXT_BYTES];
    bool file_gone; /* the file was removed during the recording */
    bool failed;    /* the recording has failed; a note says why */
    /* The limit, and what the last second has cost: in 1/10000; 0: no limit. What is left out now
     * because of it (bits of categories), and for how long. */
    uint32_t max_overhead, overhead, left_out;
    uint64_t left_ns[CATEGORY_COUNT];
    /* The file system of the file has taken nothing for so long; 0: nothing waits for it. */
    uint64_t waiting_ns;
    /* Of a file that was just written, and is to be completed (argus_unwind_file()); otherwise not
     * set. */
    struct argus_snapshot_key key;
    bool key_is_kept; /* the key of the file that is being written is in a key ring, too */
};

struct recorder_cpu {
    uint64_t emitted, lost; /* records since the start; how many of them are in no file */
    uint64_t oldest_ns;     /* the trace clock at the oldest record in its ring; 0: it is empty */
};

/* Starts argus-recorder (through sudo if neither root nor capabilities allow it to record) and
 * connects to it. BUSY: another one is recording; the message says since when and who started it.
 */
struct argus_error *recorder_launch(struct recorder_client **ret);
/* Connects to the running recorder of this user, else to that of root; NOT_FOUND: none is running.
 */
struct argus_error *recorder_connect(struct recorder_client **ret);
void recorder_close(struct recorder_client *client);

/* A descriptor to poll: readable between requests if the recorder has failed; recorder_stop() then
 * returns the error. Borrowed. */
int recorder_poll_fd(const struct recorder_client *client);

/* Before recorder_start(): adds a probe in the library `fd` (borrowed), or a sentence about a probe
 * whose function is missing. */
struct argus_error *recorder_probe(struct recorder_client *client,
                                   const struct request_probe *probe, int fd);
struct argus_error *recorder_interpreter(struct recorder_client *client,
                                         const struct interpreter_spec *spec);
struct argus_error *recorder_probe_absent(struct recorder_client *client, const char *text);

/* `fd`: the file to write, borrowed; -1 for RECORDER_MEMORY. On an error nothing is attached. */
struct argus_error *recorder_start(struct recorder_client *client,
                                   const struct recorder_options *options, int fd,
                                   struct recorder_status *ret);
/* `fd` -1: memory mode writes nothing; a stream finishes its file. */
struct argus_error *recorder_stop(struct recorder_client *client, int fd,
                                  struct recorder_status *ret);
/* Asks again for about `patience_ms` while the recorder handles another request, such as a
 * snapshot; then the error is ARGUS_ERROR_BUSY. */
#define SNAPSHOT_PATIENCE_MS 3000
struct argus_error *recorder_snapshot(struct recorder_client *client, int fd, unsigned patience_ms,
                                      struct recorder_status *ret);
struct argus_error *recorder_status(struct recorder_client *client, struct recorder_status *ret);
/* Makes this connection the watcher of a recording with hang_ms. recorder_next_hang() waits for the
 * next hang, and fails when the recording has ended. The watcher may then request a snapshot, and
 * must call recorder_hang_done() with NOT_KEPT or TAKEN before it is told of another hang.
 * `reason`: as in struct request_watched; NULL: none. */
struct argus_error *recorder_watch(struct recorder_client *client);
struct argus_error *recorder_next_hang(struct recorder_client *client, struct reply_hang *ret);
struct argus_error *recorder_hang_done(struct recorder_client *client, enum watched_outcome outcome,
                                       const char *reason);
/* Whether the next hang has arrived already; ask before polling. */
bool recorder_has_hang(const struct recorder_client *client);

/* Data flags, while recording. `*ret_number` is for recorder_flag_remove(). Errors as in
 * linux/flags.h; PERMISSION: the process belongs to another user. */
struct argus_error *recorder_flag_add(struct recorder_client *client,
                                      const struct request_flag *wanted, uint32_t *ret_number);
struct argus_error *recorder_flag_remove(struct recorder_client *client, uint32_t number);
struct argus_error *recorder_flags(struct recorder_client *client,
                                   struct reply_flag ret[FLAG_NUMBERS], size_t *ret_count);

/* The header for a trace that this process writes itself: one CPU, the recorder's clock.
 * UNSUPPORTED: not on this system. */
struct argus_error *recorder_host_header(struct argus_trace_header *ret);

/* The notes of the recorder (what could not be attached and why, what failed later), one per line.
 * The caller frees it. */
struct argus_error *recorder_notes(struct recorder_client *client, char **ret);
/* One element for each CPU of the machine. The caller frees it. */
struct argus_error *recorder_cpus(struct recorder_client *client, struct recorder_cpu **ret,
                                  size_t *ret_count);

#endif
