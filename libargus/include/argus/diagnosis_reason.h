/* Why a vertex is a culprit, and what is uncertain in an answer: a kind and its numbers. The
 * analysis writes no sentences; libargus/report/reason_sentences.c has one for each kind, and
 * argus_report_diagnosis() prints them.
 *
 * To add a kind: a row in the enum, its sentence there, and whatever fields the sentence needs here
 * and in libargus/report/reason_words.c.
 */
#ifndef ARGUS_DIAGNOSIS_REASON_H
#define ARGUS_DIAGNOSIS_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum argus_reason_kind {
    ARGUS_REASON_NONE,

    /* --- what a culprit did: argus_culprit.why --- */
    ARGUS_REASON_WAITED,         /* vertex, ns, many, because, more */
    ARGUS_REASON_WAITED_ALONE,   /* no thread ended the wait: vertex, ns, many */
    ARGUS_REASON_CIRCLE,         /* it waited for `thread`, which waited for it: vertex, ns, more */
    ARGUS_REASON_SILENT,         /* it took the request of `waiter` and did not answer: vertex */
    ARGUS_REASON_FORGOT,         /* the same, and did not write the flag `name`: vertex, write */
    ARGUS_REASON_ENDED,          /* it ended without the write: waiter, ns, name, write */
    ARGUS_REASON_TRIED_LOCK,     /* vertex, ns, from_ns, because */
    ARGUS_REASON_IDLE_HOLDER,    /* of a lock: vertex, ns */
    ARGUS_REASON_UNSEEN_HOLDER,  /* of a lock: ns */
    ARGUS_REASON_POLLED,         /* a flag: vertex, stack, count, ns, because */
    ARGUS_REASON_RAN,            /* run_ns, whole_ns, normal, more */
    ARGUS_REASON_RAN_AND_WANTED, /* … and wanted_ns */
    ARGUS_REASON_NO_CPU,         /* run_ns, wanted_ns, whole_ns, because, normal */
    ARGUS_REASON_TOOK_CPU,       /* the CPU that `waiter` wanted: users[0], ns, cpu */
    ARGUS_REASON_TOOK_QUOTA,     /* the same for a quota */
    ARGUS_REASON_TOOK_DISK,      /* the disk for which `waiter` waited: users[0] */
    ARGUS_REASON_MAY_TAKE_DISK,  /* the same, of a file that others may have written */
    ARGUS_REASON_MEMORY,         /* argus_culprit.memory says it: report/memory_words.c */

    /* --- WAITED because --- */
    ARGUS_REASON_SLEPT,
    ARGUS_REASON_STOPPED,
    ARGUS_REASON_DISK,
    ARGUS_REASON_DISK_SERVED, /* as before; the kernel's `thread` serves it */
    ARGUS_REASON_DEVICE,
    ARGUS_REASON_DEVICE_SERVED, /* as before; the kernel's `thread` serves the device */
    ARGUS_REASON_NO_ENDER,
    ARGUS_REASON_NO_WAKEUPS, /* the trace has no records of them */
    ARGUS_REASON_NOT_SHOWN,
    ARGUS_REASON_TOO_DEEP,
    ARGUS_REASON_ANSWER_STOPPED,
    ARGUS_REASON_HOLDER_ABSENT, /* of the lock: thread */
    ARGUS_REASON_OPENER_ABSENT, /* of the other end: thread */
    ARGUS_REASON_IDLE_SUSPECT,  /* thread */
    ARGUS_REASON_OWN_TIMEOUT,
    ARGUS_REASON_USUAL_SUSPECTS, /* they did nothing unusual */
    ARGUS_REASON_NO_SUSPECT,
    ARGUS_REASON_NO_TASK,       /* the thread of a runtime whose tasks wait without threads */
    ARGUS_REASON_NO_TASKS,      /* … and none of its process's threads had one */
    ARGUS_REASON_ONLY_TASK,     /* … and only one task may run on it, which waited */
    ARGUS_REASON_REMOTE_LATE,   /* remote */
    ARGUS_REASON_REMOTE_SILENT, /* remote */

    /* --- WAITED more, CIRCLE more --- */
    ARGUS_REASON_DISK_USERS, /* users */
    ARGUS_REASON_TIMEOUT_ENDED,

    /* --- TRIED_LOCK because --- */
    ARGUS_REASON_LOCK_HOLDER_UNKNOWN,
    ARGUS_REASON_LOCK_CREATOR_UNKNOWN,
    ARGUS_REASON_LOCK_CREATOR_ENDED, /* thread */
    ARGUS_REASON_LOCK_OF_OWN_PROCESS,
    ARGUS_REASON_LOCK_HOLDER_ABSENT, /* thread */

    /* --- POLLED because --- */
    ARGUS_REASON_FLAG_SETTER_ENDED, /* name, write, thread */
    ARGUS_REASON_FLAG_SETTER_USUAL, /* the same */
    ARGUS_REASON_FLAG_NOT_ENOUGH,   /* the same, during the loop */
    ARGUS_REASON_FLAG_NEVER_SET,    /* name */
    ARGUS_REASON_FLAG_UNKNOWN,      /* vertex */
    ARGUS_REASON_CODE_TELLS,        /* the loop of the culprit */
    ARGUS_REASON_CODE_TELLS_STEPS,  /* the same, if only the loop itself leads to the variable */

    /* --- RAN more --- */
    ARGUS_REASON_ONLY_POLLED, /* because */

    /* --- NO_CPU because --- */
    ARGUS_REASON_CPU_IDLE,       /* held_ns */
    ARGUS_REASON_CPU_UNFAIR,     /* held_ns */
    ARGUS_REASON_THROTTLED,      /* held_ns, cpu */
    ARGUS_REASON_THROTTLED_USED, /* … and users */
    ARGUS_REASON_TOO_BUSY,
    ARGUS_REASON_OTHERS_RAN, /* cpu, users */

    /* --- what is uncertain: argus_diagnosis.uncertain --- */
    ARGUS_REASON_LOST_RECORDS, /* count */
    ARGUS_REASON_UNKNOWN_TIME, /* ns */
    ARGUS_REASON_GAP,          /* vertex, ns */
    ARGUS_REASON_WEAK_STEP,    /* vertex */
    ARGUS_REASON_NO_SAMPLES,   /* vertex */
    ARGUS_REASON_NO_SIMILAR,
    ARGUS_REASON_FLAG_UNTOUCHED,  /* name */
    ARGUS_REASON_FLAG_UNREAD,     /* name */
    ARGUS_REASON_STEPPED,         /* ns */
    ARGUS_REASON_GUESS_WAKER,     /* thread, waiter, because */
    ARGUS_REASON_GUESS_REMOTE,    /* remote */
    ARGUS_REASON_GUESS_PARENT,    /* thread; the child: other */
    ARGUS_REASON_GUESS_SETTER,    /* thread, waiter, name, write, vertex */
    ARGUS_REASON_GUESS_SUCCESSOR, /* the same: a thread of the name of the one that set it */
    ARGUS_REASON_GUESS_BY_CODE,   /* thread, waiter, loop, more */
    ARGUS_REASON_GUESS_TURN,      /* thread, waiter, name */
    ARGUS_REASON_GUESS_SYNCED,    /* thread, users[0] */
    ARGUS_REASON_RECORDING_TELLS, /* GUESS_BY_CODE more: loop */

    /* --- GUESS_WAKER because --- */
    ARGUS_REASON_WAS_SENT,
    ARGUS_REASON_HAS_NOT_READ,
    ARGUS_REASON_HANDED_ON,
    ARGUS_REASON_OWES_ANSWER,
    ARGUS_REASON_USES_WRITTEN_END,
    ARGUS_REASON_HAS_WRITTEN_END,
    ARGUS_REASON_STOPPED_RECEIVER,
    ARGUS_REASON_NO_OTHER_CHANNEL,
    ARGUS_REASON_IS_ASKED_CHILD,
    ARGUS_REASON_SETS_BY_CODE,
    ARGUS_REASON_SET_LAST,
    ARGUS_REASON_MADE_SET,
    ARGUS_REASON_READ_AFTER_SENT,
    ARGUS_REASON_HAD_REQUEST,
    ARGUS_REASON_PASSED_ON,
    ARGUS_REASON_LAST_CLIENT,
    ARGUS_REASON_HELD_LOCK,
    ARGUS_REASON_HELD_FILE_LOCK,
    ARGUS_REASON_ENDED_LATER,
    ARGUS_REASON_USES_OTHER_END,
    ARGUS_REASON_HAS_OTHER_END,
    ARGUS_REASON_USED_SAME_IPC,
    ARGUS_REASON_SHARES_WORD,
    ARGUS_REASON_JUST_CAUSED,
    ARGUS_REASON_SHARES_MEMORY,
    ARGUS_REASON_IS_CHILD,
    ARGUS_REASON_CHILD_HAS_PIPE,
    ARGUS_REASON_COMMUNICATED,
    ARGUS_REASON_ONLY_OTHER,
    ARGUS_REASON_ENDED_SIMILAR,
    ARGUS_REASON_SERVES_FILES,

    ARGUS_REASON_COUNT
};

/* A program that used a CPU, a quota or a disk. */
struct argus_reason_user {
    uint32_t thread;  /* ARGUS_NONE: not known */
    uint32_t count;   /* processes of its name */
    uint32_t percent; /* of what all others did */
    int32_t priority; /* of a user of a CPU; ARGUS_PRIORITY_NONE: not known */
    /* of a user of a disk */
    uint64_t inode; /* 0: no file, or not known */
    uint64_t bytes;
    bool writes;
};

/* Linux's priorities, as in records; lower runs first. ARGUS_PRIORITY_NONE, which is in no record:
 * a thread whose priority was never seen. */
#define ARGUS_PRIORITY_NONE  INT32_MIN
#define ARGUS_PRIORITY_NICE0 120
#define ARGUS_PRIORITY_USUAL 100 /* lower: real-time */

/* The CPUs that a thread wanted. */
struct argus_reason_cpu {
    uint64_t cpus;       /* those that it may use, a bit each; 0: all, or not known */
    uint32_t seen_cpu;   /* one of the CPUs in whose run queue it was */
    uint32_t seen_count; /* the number of these CPUs */
    bool seen_before;    /* none of these is known: seen_cpu is where it ran before */
    int32_t priority;
    uint64_t group, quota_ns, period_ns; /* its control group's inode; 0: none was seen */
    char group_name[33];                 /* "": not known */
};

/* The last write of a flag before the loop that waits for it. */
struct argus_reason_write {
    bool is_known;
    bool is_turn;    /* the flag was handed over: changed, not set */
    bool is_within;  /* it was during the loop, and did not end it */
    uint64_t ago_ns; /* before the loop; is_within: after the loop had begun */
    char *place;     /* owned: "decode_done (decoder.c:88)"; NULL: not known */
};

/* How long the same work takes when it is quick. */
struct argus_reason_normal {
    bool is_known;
    bool is_of_other_trace;
    uint32_t vertex;
    uint64_t ns;
};

struct argus_code_loop;

/* Only the fields that the comment at its kind names have a meaning. */
struct argus_reason {
    uint8_t kind;     /* enum argus_reason_kind */
    uint8_t because;  /* the kind of the clause that gives the cause; it uses the same fields */
    uint8_t more;     /* the kind of a clause at the end; ARGUS_REASON_NONE: there is none */
    bool many;        /* many waits in a row */
    uint32_t vertex;  /* whose wait or time it is */
    uint32_t thread;  /* the thread that acted, or should have acted */
    uint32_t waiter;  /* the thread that waited for it */
    uint32_t other;   /* a third thread */
    uint32_t stack;   /* where a loop polls, of `vertex`; ARGUS_NONE: not known */
    uint32_t remote;  /* index into argus_graph_remotes() */
    uint64_t ns;      /* how long */
    uint64_t from_ns; /* the beginning of that time */
    uint64_t run_ns, wanted_ns, held_ns; /* ran, wanted a CPU, was held back from one */
    uint64_t whole_ns;                   /* of the hang */
    uint64_t count;
    char *name; /* owned: of a flag; NULL: not known */
    struct argus_reason_write write;
    struct argus_reason_normal normal;
    struct argus_reason_cpu cpu;
    struct argus_reason_user *users; /* owned; the one with the largest part first */
    size_t user_count;
    struct argus_code_loop *loop; /* owned; NULL: that of the culprit */
};

#ifdef __cplusplus
}
#endif
#endif
