/* Which kinds of records a trace lacks, and which answers a command therefore cannot give. Reasons:
 * the recorder fell back to perf_event, a category was switched off, or an old kernel refused a BPF
 * program. The trace's notes tell; the table is libargus/event/gaps.def. For traces of Darwin see
 * argus/abilities.h.
 */
#ifndef ARGUS_GAPS_H
#define ARGUS_GAPS_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A missing kind of record. All strings but `name` and `lack` are owned by the list. */
struct argus_gap {
    const char *name; /* "messages"; static */
    const char *lack; /* "messages", completes "this trace has no …"; static */
    bool partly;      /* only some of these records are missing; then `loss` is set */
    char *loss;       /* what their absence costs, "UDP messages have no receiver"; else NULL */
    char *reason;     /* why they are missing, "recorded through perf_event: …" */
    int kind;         /* row of the table */
};

struct argus_gaps {
    /* owned; in the order of the table, kinds that are missing completely first */
    struct argus_gap *items;
    size_t count;
};

/* Reads only the notes of the trace: O(notes). */
struct argus_error *argus_gaps_read(const struct argus_trace *trace, struct argus_gaps *ret);
/* The same from notes that are not in a trace yet. */
struct argus_error *argus_gaps_of_notes(const char *const *notes, size_t count,
                                        struct argus_gaps *ret);
void argus_gaps_deinit(struct argus_gaps *gaps);

/* Commands whose answers can be limited. */
enum argus_gap_command {
    ARGUS_GAP_DIAGNOSE,
    ARGUS_GAP_HANGS,
    ARGUS_GAP_SLICE,
    ARGUS_GAP_MESSAGES,
    ARGUS_GAP_CONTEXTS,
};

/* What an answer is about, as a set of bits. ANY is in every set. */
enum argus_gap_subject {
    ARGUS_GAP_ANY = 1,
    ARGUS_GAP_WAIT = 2,     /* a thread waited */
    ARGUS_GAP_INPUT = 4,    /* … in poll, read, recv, write or send */
    ARGUS_GAP_LOCK = 8,     /* … in a futex */
    ARGUS_GAP_TIMER = 16,   /* … in a sleep */
    ARGUS_GAP_DISK = 32,    /* … for a disk */
    ARGUS_GAP_SIGNAL = 64,  /* … for a signal or a child, or was stopped */
    ARGUS_GAP_KERNEL = 128, /* a kernel thread took part */
    ARGUS_GAP_RUN = 256,    /* a thread ran */
};

/* One thing that an answer cannot tell. */
struct argus_limit {
    const struct argus_gap *gap; /* borrowed from the list of gaps */
    char *text; /* owned; without the reason: "which thread … is guessed from wake-ups" */
};

struct argus_limits {
    struct argus_limit *items; /* owned; the most important first */
    size_t count;
};

/* What `command` cannot tell about `subjects` (a set of enum argus_gap_subject). `gaps` is
 * borrowed. */
struct argus_error *argus_limits_find(const struct argus_gaps *gaps, enum argus_gap_command command,
                                      uint32_t subjects, struct argus_limits *ret);
void argus_limits_deinit(struct argus_limits *limits);

/* One sentence with up to two limits that have the same reason, starting at `*at`, which is moved
 * behind them. The reason of the previous limit is not repeated. The caller owns the sentence. */
struct argus_error *argus_limits_sentence(const struct argus_limits *limits, size_t *at,
                                          char **ret);

#ifdef __cplusplus
}
#endif
#endif
