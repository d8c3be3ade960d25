/* The protocol between the front end and argus-recorder: requests and replies of one fixed size
 * each, over a unix socket that keeps messages whole (SOCK_SEQPACKET). A descriptor (an output
 * file, a library) is passed with a request (SCM_RIGHTS), so the recorder never opens a path of the
 * user's.
 *
 * The recorder runs as root and the front end does not: every received message is checked here
 * before it is used.
 *
 * To add a request: a verb, a struct in the union of `struct request`, a check in protocol.c, a
 * handler in requests.c.
 */
#ifndef ARGUS_RECORDER_PROTOCOL_H
#define ARGUS_RECORDER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "argus/snapshot_key.h"
#include "category.h"
#include "flag_spec.h"
#include "interpreter_spec.h"
#include "probe_spec.h"

#ifdef __APPLE__
#define PROTOCOL_DIRECTORY "/var/run/argus"
#else
#define PROTOCOL_DIRECTORY "/run/argus"
#endif

#define PROTOCOL_MAGIC   0x51475241u /* "ARGQ" */
#define PROTOCOL_VERSION 9

#define PROTOCOL_RING_MIN      (1ull << 20)
#define PROTOCOL_RING_MAX      (1ull << 40)
#define PROTOCOL_FILE_RING_MIN (1ull << 20)
#define PROTOCOL_FILE_RING_MAX (1ull << 50)
#define PROTOCOL_RATE_MAX      10000u
#define PROTOCOL_COMM_BYTES    16 /* TASK_COMM_LEN: a name of 15 bytes and a NUL */
#define PROTOCOL_UNWIND_MAX    16
#define PROTOCOL_UNWIND_MIN    1024u /* bytes of a user stack */
#define PROTOCOL_UNWIND_LIMIT  65536u
#define PROTOCOL_HANG_MIN_MS   10u
#define PROTOCOL_HANG_MAX_MS   3600000u
#define PROTOCOL_PAGE          64 /* notes or cpus in one reply, at most */
#define PROTOCOL_TEXT_BYTES    4096

enum request_verb {
    REQUEST_START = 1,         /* stream and file ring: with a descriptor */
    REQUEST_STOP = 2,          /* memory mode: with a descriptor, writes a snapshot first */
    REQUEST_SNAPSHOT = 3,      /* with a descriptor */
    REQUEST_STATUS = 4,        /* the numbers */
    REQUEST_CPUS = 5,          /* the numbers, and those of some CPUs */
    REQUEST_NOTES = 6,         /* the numbers, and some of the notes */
    REQUEST_WATCH = 7,         /* this connection is told of hangs (see struct reply_hang) */
    REQUEST_WATCHED = 8,       /* from the watcher: the outcome of a hang */
    REQUEST_PROBE = 9,         /* before START, with a descriptor: a probe in that library */
    REQUEST_PROBE_ABSENT = 10, /* before START: a sentence about a probe that cannot be attached */
    REQUEST_FLAG_ADD = 11,     /* watches a data flag; `count` of the reply is its number */
    REQUEST_FLAG_REMOVE = 12,  /* page.first: its number */
    REQUEST_FLAGS = 13,        /* those that are watched or planned */
    /* Before START: the file of an interpreter whose frames are to be read. */
    REQUEST_INTERPRETER = 14,
    REQUEST_LAST = REQUEST_INTERPRETER,
};

enum request_flags {
    REQUEST_OWNED = 1 << 0, /* START: the recording ends when this connection closes */
};

/* Numbers that travel in requests and replies. */
enum recording_mode {
    RECORDING_STREAM = 1, /* a file that grows */
    RECORDING_MEMORY = 2, /* the ring in memory is all there is */
    RECORDING_RING = 3,   /* a file of a fixed size */
};

/* Which backend records; the order of preference. */
enum backend_kind {
    BACKEND_ANY = 0,
    BACKEND_BPF = 1,
    BACKEND_PERF = 2,
    BACKEND_KDEBUG = 3,
    BACKEND_KIND_COUNT = 4
};

/* Of a file: the key of the stacks that are copied into it. */
struct file_key {
    struct argus_snapshot_key key;
    /* 1: in the key ring of the user, too, so it is not lost if the recorder is killed. */
    uint32_t is_kept;
    uint32_t padding;
};

struct request_start {
    uint32_t mode;       /* enum recording_mode */
    uint32_t rate_hz;    /* cpu samples a second, 0: none */
    uint64_t ring_bytes; /* memory */
    uint64_t file_ring_bytes;
    uint32_t categories; /* bits */
    uint32_t backend;    /* enum backend_kind */
    uint32_t hang_ms; /* memory mode: an event loop away for this long is a hang; 0: do not watch */
    uint32_t unwind_count;
    uint32_t unwind_bytes;                                       /* of the user stack */
    uint32_t unwind_pids[PROTOCOL_UNWIND_MAX];                   /* 0: by name */
    char unwind_names[PROTOCOL_UNWIND_MAX][PROTOCOL_COMM_BYTES]; /* "": by pid */
    char hang_name[PROTOCOL_COMM_BYTES];                         /* "": every process */
    /* 1: stacks also at the start of system calls, and of preempted threads. */
    uint32_t call_stacks;
    uint32_t codec; /* enum argus_codec of files; 0: the best that the recorder has */
    /* Copy the stack of a thread that waited this long; 0: follow frame pointers only. */
    uint64_t late_ns;
    uint32_t max_overhead; /* in 1/10000 of the time of all CPUs; 0: no limit */
    uint32_t padding;
    struct file_key key; /* with a descriptor */
};

struct request_page {
    uint32_t first; /* the cpu or the note to begin with */
};

/* The watcher's report on the last hang, or on an earlier one. */
enum watched_outcome {
    /* The last hang was not kept: `reason` says why; the watcher is ready for the next. */
    WATCHED_NOT_KEPT = 0,
    WATCHED_KEPT = 1, /* an earlier hang that was TAKEN: its file is finished now */
    /* The last hang: its snapshot is written, the file is being finished; the watcher is ready for
     * the next. */
    WATCHED_TAKEN = 2,
    WATCHED_REMARK = 3,  /* about no hang: `reason` is a note for `argus status` */
    WATCHED_NO_HANG = 4, /* an earlier one that was TAKEN was none, and has no file */
    WATCHED_OUTCOMES
};

struct request_watched {
    uint32_t outcome; /* enum watched_outcome */
    char reason[256];
};

/* Names are only for the reader of the trace: the descriptor identifies the file. */
struct request_probe {
    uint64_t offset;
    uint32_t number; /* of the probe, below PROBE_LIMIT; in the records */
    uint32_t padding;
    struct probe_spec spec;
    char library[400], symbol[200], label[72];
};

struct request_absent {
    char text[1000];
};

/* A flag of one process; or (pid 0) a plan: a flag of every process that maps an image, now or
 * later. */
struct request_flag {
    /* A plan: relative to the start of the image's mapped code (may be negative). */
    uint64_t address;
    uint32_t pid;
    uint32_t bytes;             /* 1, 2, 4 or 8, and the flag's address is a multiple of it */
    uint32_t access;            /* enum flag_access */
    uint32_t semantics;         /* enum argus_flag_semantics */
    uint32_t step_count;        /* pointers to follow: each is read at the address so far … */
    uint32_t build_id_bytes;    /* a plan: 0: unknown */
    uint64_t steps[FLAG_STEPS]; /* … and this added to it */
    uint64_t code_offset;       /* a plan: of the image's code in its file */
    uint8_t build_id[20];       /* a plan */
    uint32_t padding;
    char image[400]; /* a plan: path */
    char label[200]; /* the user's name for it */
};

struct request {
    uint32_t magic;
    uint16_t version;
    uint16_t verb;
    uint32_t flags;
    uint32_t reserved;
    union {
        struct request_start start;
        struct file_key key; /* STOP, SNAPSHOT: with a descriptor */
        struct request_page page;
        struct request_watched watched;
        struct request_probe probe;
        struct request_absent absent;
        struct request_flag flag;
        struct interpreter_spec interpreter;
        uint8_t room[1008];
    };
};

struct reply_cpu {
    uint64_t emitted, lost;
    uint64_t oldest_ns; /* the trace clock at the oldest record kept; 0: none */
};

/* Sent unasked to the connection of the watcher: a hang has ended, or has lasted long enough to be
 * reported. */
struct reply_hang {
    uint32_t pid, tid;
    uint64_t start_ns, duration_ns; /* the trace clock */
    uint32_t ended;                 /* 0: it has not ended */
    char process[PROTOCOL_COMM_BYTES];
    uint32_t padding;
    /* 0: it is a hang. Otherwise the analysis has to tell; doubts with the same number are about
     * the same place of the program. */
    uint64_t doubt;
};

struct reply_flag {
    uint64_t address, hits;
    uint32_t number;
    uint32_t pid; /* 0: a plan; `hits` is the number of processes in which it was watched */
    uint32_t bytes, access, semantics;
    uint32_t writes; /* of the hits: those that changed the value, or with FLAG_WRITES all */
    char label[200];
};

struct reply {
    uint32_t magic;
    uint16_t version;
    uint16_t verb;  /* of the request; REQUEST_WATCH: this is a hang */
    uint32_t error; /* 0: success; else 1 + enum argus_error_code, and `text` is the message */
    uint32_t mode;  /* enum recording_mode; 0: not recording */
    uint32_t starter_uid, starter_pid;
    uint32_t recorder_pid, cpu_count;
    uint64_t started_wall_ns; /* since 1970 */
    uint64_t duration_ns;
    uint64_t ring_bytes;
    uint64_t records, lost, stacks_lost, bytes, emitted; /* as struct recording_numbers */
    uint64_t own_cpu_ns;                                 /* cpu time of the recorder process */
    uint64_t file_ring_bytes;
    uint64_t oldest_ns; /* the trace clock from which everything is kept … */
    uint64_t newest_ns; /* … and now */
    uint32_t categories, backend, rate_hz, hang_ms;
    uint64_t category_rates[16]; /* recent records a second, by enum category */
    uint32_t hangs_seen, hang_files;
    uint32_t watcher_pid;   /* 0: there is no watcher */
    uint32_t note_count;    /* number of all notes */
    uint32_t count;         /* CPUS, NOTES: number in this reply */
    uint32_t next;          /* … and the next `first`; 0: there are no more */
    uint32_t file_gone;     /* 1: the output file has been removed */
    uint32_t failed;        /* 1: the recording has failed; a note says why */
    uint64_t start_cpu_ns;  /* of own_cpu_ns, what was spent before the recording began */
    uint32_t hangs_pending; /* found, but not yet kept or rejected by the watcher */
    uint32_t reserved32;
    uint64_t
        waiting_ns; /* the file system has taken nothing of what waits for it; 0: nothing waits */
    uint32_t max_overhead, overhead; /* the limit, and what the last second has cost */
    uint32_t left_out;               /* bits of categories that are left out now … */
    uint32_t padding;
    uint64_t left_ns[16]; /* … and for how long */
    /* Of the file that is written. The key itself only in the reply to STOP: whoever completes the
     * file needs it. */
    struct file_key key;
    union {
        /* NUL-terminated. An error's message; STATUS, STOP: the path of the output file; NOTES:
         * notes, one per line. */
        char text[PROTOCOL_TEXT_BYTES];
        struct reply_cpu cpus[PROTOCOL_PAGE];
        struct reply_hang hang;
        struct reply_flag flags[FLAG_NUMBERS];
    };
};

/* "bpf"; "none" for an unknown number. */
const char *backend_kind_name(enum backend_kind kind);

/* Checks a received message; `bytes` may point to anything. */
struct argus_error *request_parse(const void *bytes, size_t length, struct request *ret);
struct argus_error *reply_parse(const void *bytes, size_t length, struct reply *ret);

/* Whether a request with a descriptor has what it needs to write to it. */
struct argus_error *file_key_check(const struct file_key *key);

/* Sends one message of `length` bytes, and `fd` with it unless it is -1. */
struct argus_error *message_send(int socket, const void *bytes, size_t length, int fd);
/* Reads the next message, and leaves it and its descriptors in the socket. `*ret_with_fd`: there
 * are some. UNSUPPORTED: this system cannot. Lengths as in message_receive(). */
struct argus_error *message_peek(int socket, void *bytes, size_t room, size_t *ret_length,
                                 bool *ret_with_fd);
/* Receives one message; `*ret_length` 0: the other side has closed. `*ret_fd`: the descriptor that
 * came with it, owned by the caller, or -1; further descriptors are closed. `room` should exceed
 * the largest message, so that a longer one is noticed. */
struct argus_error *message_receive(int socket, void *bytes, size_t room, size_t *ret_length,
                                    int *ret_fd);

#endif
