/* What a trace lacks, and which answers a command cannot give therefore: the recorder fell back to perf_event, a category was
 * switched off, or an old kernel refused one of the programs. The notes of the trace say it; the table is
 * libargus/event/gaps.def. Traces of Darwin have argus/abilities.h.
 */
#ifndef ARGUS_GAPS_H
#define ARGUS_GAPS_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Something that is missing. All strings but `name` and `lack` are owned by the list. */
struct argus_gap {
    const char *name; /* "messages"; static */
    const char *lack; /* "messages", ends "this trace has no …"; static */
    bool partly;      /* only some of its records are missing: */
    char *loss;       /* what is lost then, "UDP messages have no receiver"; else NULL */
    char *reason;     /* why, "recorded through perf_event: …" */
    int kind;         /* row of the table */
};

struct argus_gaps {
    struct argus_gap *items; /* owned, in the order of the table, what is missing in whole first */
    size_t count;
};

/* Only the notes are read: O(notes). */
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

/* What an answer is about; a set of bits. ANY is in every set. */
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

/* One thing that an answer does not tell. */
struct argus_limit {
    const struct argus_gap *gap; /* of the list that was asked; borrowed */
    char *text; /* without its reason, "which thread … is guessed from wake-ups"; owned */
};

struct argus_limits {
    struct argus_limit *items; /* owned; what matters most first */
    size_t count;
};

/* What `command` cannot say of `subjects` (a set of enum argus_gap_subject). `gaps` is borrowed. */
struct argus_error *argus_limits_find(const struct argus_gaps *gaps, enum argus_gap_command command,
                                      uint32_t subjects, struct argus_limits *ret);
void argus_limits_deinit(struct argus_limits *limits);

/* Up to two limits of one reason as one sentence, from `*at` on, which is moved behind them; owned by the caller. The reason
 * of the limit before is not repeated. */
struct argus_error *argus_limits_sentence(const struct argus_limits *limits, size_t *at,
                                          char **ret);

#ifdef __cplusplus
}
#endif
#endif
