/* A diagnosis at work: what the files of this folder share. diagnose.c has the essay. */
#ifndef ARGUS_DIAGNOSE_DIAGNOSER_H
#define ARGUS_DIAGNOSE_DIAGNOSER_H

#include "argus/diagnose.h"
#include "base/vec.h"
#include "diagnose/file_locks.h"
#include "slice/ask.h"
#include "slice/timeline.h"

struct diagnoser {
    struct view view;
    struct argus_symbols *symbols; /* may be NULL */
    struct argus_diagnose_options options;
    struct ask_list questions;
    struct argus_hang hang;
    struct argus_account accounting;          /* of the hang */
    uint32_t baseline;                        /* of `baseline_graph` */
    const struct argus_graph *baseline_graph; /* NULL: no baseline */
    struct argus_path_part *comparison;       /* owned */
    size_t comparison_count;
    VEC(struct argus_path_step) path;
    VEC(struct argus_culprit) culprits;
    VEC(uint32_t) cycle;
    VEC(uint32_t) origin;
    VEC(char *) uncertain;
    bool cycle_broken_by_timeout;
    bool guessed; /* a step of the path */
    bool stopped; /* by an answer */
    /* The waits of the hung thread are explained together, by the answer that all were for. */
    bool waits_explained;
};

/* [start_ns, end_ns): the part of the hang that a step of the diagnosis is about. */
struct window {
    uint64_t start_ns, end_ns;
};

static inline uint64_t window_ns(struct window window)
{
    return window.end_ns > window.start_ns ? window.end_ns - window.start_ns : 0;
}

/* What a thread did in a window, by its figures: the type, the vertex with the largest part of it. */
struct examined {
    struct argus_hang figures;
    bool abnormal;  /* one of the three types for at least half of the window */
    bool idle;      /* … but it was a wait at home: nobody had asked it */
    bool in_pieces; /* not abnormal, but many waits make at least half of the window */
};

struct examined diagnoser_examine_thread(const struct diagnoser *d, uint32_t thread,
                                         struct window window);

/* --- culprits.c --- */

/* Appends a culprit; `why` is taken, NULL means no memory. A vertex that is one already is left as it is. */
struct argus_error *diagnoser_add_culprit(struct diagnoser *d, uint32_t vertex,
                                          enum argus_vertex_type type, struct window part,
                                          uint64_t ns, char *why);
/* Appends a step to the path; false without memory. */
bool diagnoser_add_step(struct diagnoser *d, uint32_t vertex, uint32_t edge, bool expected);
/* The index on the path of a vertex of `thread`; -1 if there is none. */
long diagnoser_find_step(const struct diagnoser *d, uint32_t thread);
/* Appends a sentence to what is uncertain; `text` is taken. */
struct argus_error *diagnoser_add_uncertain(struct diagnoser *d, char *text);

/* --- cpu_users.c --- */

/* Blames a vertex that wanted a cpu for most of `part`, and before it who took the cpus or the quota; `normal` is appended. */
struct argus_error *diagnoser_blame_no_cpu(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t run_ns, uint64_t runnable_ns,
                                           const char *normal);

/* --- costly.c --- */

/* Frees the strings of `count` functions, not the array. */
void costly_functions_free(struct argus_costly_function *functions, size_t count);

/* The costly functions of `thread` in a window, from its samples, into the culprit; and its most frequent stack. */
struct argus_error *costly_functions_find(struct diagnoser *d, uint32_t thread,
                                          struct window window, struct argus_culprit *culprit);

/* --- the types --- */

struct argus_error *diagnose_long_running(struct diagnoser *d);
struct argus_error *diagnose_repeated_yield(struct diagnoser *d);
struct argus_error *diagnose_long_wait(struct diagnoser *d);

/* Blames a busy vertex: what it ran, and whether it lacked a cpu rather. */
struct argus_error *diagnoser_blame_running(struct diagnoser *d, uint32_t vertex,
                                            struct window part, uint64_t run_ns,
                                            uint64_t runnable_ns);
/* The message upon which the thread of `vertex`, a loop that looks for a flag, set the flag itself the last time before: an
 * edge; ARGUS_NONE: none. own_flag.c. */
uint32_t find_own_set(const struct view *view, uint32_t vertex);

/* --- polled_child.c --- */

/* The main thread of the child that the loop of `vertex` asks for in `part`; ARGUS_NONE. */
uint32_t find_polled_child(const struct view *view, uint32_t vertex, struct window part);
/* --- polled_lock.c --- */

/* Explains a loop of `vertex` that looks for a lock on a file: by what the holder did. */
struct argus_error *diagnoser_explain_polled_lock(struct diagnoser *d, uint32_t vertex,
                                                  struct window part,
                                                  const struct lock_tries *tries);
/* Whether `thread`, of which `known_ns` of `part` are known, waited for most of it since before its first record. */
bool diagnoser_is_unseen_holder(const struct diagnoser *d, uint32_t thread, struct window part,
                                uint64_t known_ns);
struct argus_error *diagnoser_blame_unseen_holder(struct diagnoser *d, uint32_t thread,
                                                  struct window part);
/* Blames the holder of a lock on a file, which waited for requests meanwhile. */
struct argus_error *diagnoser_blame_idle_holder(struct diagnoser *d, uint32_t vertex,
                                                struct window part);
/* Explains a loop that yields: by the write of a flag that ended it, else it is blamed itself. yields.c. */
struct argus_error *diagnoser_explain_yielding(struct diagnoser *d, uint32_t vertex,
                                               struct window part);
/* Blames the loop itself. */
struct argus_error *diagnoser_blame_yielding(struct diagnoser *d, uint32_t vertex,
                                             struct window part);

/* --- late.c --- */

/* What the actual path over a window came to. */
struct late {
    uint32_t vertex;    /* that has the largest share; ARGUS_NONE: nothing but unknown */
    struct window part; /* from its first to its last stretch */
    uint64_t run_ns, runnable_ns, wait_ns; /* of its thread in the account */
    bool yields;
    uint32_t link; /* of the account: how the walk came there */
};

/* Finds in `account` whose share is largest, leaving out the normal work of `thread`, which is explained. */
struct argus_error *diagnoser_find_late(struct diagnoser *d, const struct argus_account *account,
                                        uint32_t thread, struct late *ret);
/* Appends the chain from the explained thread to `link`'s to the path, and `vertex` last. */
bool diagnoser_add_late_path(struct diagnoser *d, const struct argus_account *account,
                             uint32_t link, uint32_t vertex);
/* Blames the others that have a noteworthy share, after the root cause. */
struct argus_error *diagnoser_blame_other_shares(struct diagnoser *d);

/* --- suspects.c --- */

/* A thread that should have ended a wait, and how we know. */
struct suspect {
    uint32_t thread;
    uint32_t via;    /* the vertex that handed on what it had been asked; ARGUS_NONE: nobody did */
    const char *why; /* static: completes "… because" */
    bool guess;      /* also where the evidence that led there is sure */
};

typedef VEC(struct suspect) suspect_list;

struct suspect_search;

enum evidence_flags {
    EVIDENCE_VAGUE = 1,      /* it says who could have ended the wait, not who should have */
    EVIDENCE_COULD_ONLY = 2, /* not looked at where its own time-out ended the wait */
    EVIDENCE_OF_CHILD =
        4,             /* also looked at where the wait is for a child, which nobody else can end */
    EVIDENCE_SURE = 8, /* the records say so: a lock, a child, an object, a question */
    EVIDENCE_OF_LOCK = 16, /* also where it is for a lock on a file and its holder is known */
};

/* A kind of evidence: appends those who should have ended a wait. May ask. */
struct evidence {
    struct argus_error *(*find)(struct suspect_search *search);
    unsigned flags;
};

extern const struct evidence all_evidence[];
extern const size_t all_evidence_count;

/* --- baselines.c --- */

/* The best baseline for `vertex`: in the other trace, if there is one, else in this; `*ret_graph` NULL: none. */
struct argus_error *diagnoser_find_baseline(struct diagnoser *d, uint32_t vertex,
                                            struct argus_similar *ret,
                                            const struct argus_graph **ret_graph);
/* The hung vertex's normal case, for comparison: nobody needs to confirm it. */
struct argus_error *diagnoser_note_baseline(struct diagnoser *d);

/* --- paths_compared.c --- */

/* Compares what was expected with what happened. */
struct argus_error *diagnoser_compare_paths(struct diagnoser *d);

/* --- missing.c --- */

/* Where the walk from wait to wait is: at the wait of `vertex`, as far as it is in `window`. */
struct walk_position {
    uint32_t vertex;
    struct window window;
    /* The vertex on whose behalf it waits: a loop that polls a flag. ARGUS_NONE: its own. */
    uint32_t requester;
    bool ended; /* a root cause was found */
};

/* Explains a wait that nobody ended: on to the wait of whoever should have, or to the end. */
struct argus_error *diagnoser_explain_missing(struct diagnoser *d, struct walk_position *position);

/* --- long_wait.c --- */

/* Explains what the thread of position->vertex, which did something late at the end of the window, did until then. */
struct argus_error *diagnoser_explain_writer(struct diagnoser *d, struct walk_position *position);
/* The same where it did not write: its wait at the position is what should have been ended. */
struct argus_error *diagnoser_explain_missing_write(struct diagnoser *d,
                                                    struct walk_position *position);
/* Explains what `thread`, which should have ended the wait at the position, did instead, and goes on from there; `why` it should
 * have is static. missing.c, long_wait.c. */
struct argus_error *diagnoser_explain_missing_from(struct diagnoser *d,
                                                   struct walk_position *position, uint32_t thread,
                                                   const char *why);
struct argus_error *diagnoser_explain_missing_message(struct diagnoser *d,
                                                      struct walk_position *position,
                                                      uint32_t thread, const char *why);
/* The part of the wait of `vertex` that is in `window`. */
struct window wait_window(const struct view *view, uint32_t vertex, struct window window);
/* Blames a wait that is the end of the road. */
struct argus_error *diagnoser_blame_waiting(struct diagnoser *d, uint32_t vertex,
                                            struct window part, const char *because);
/* The path from index `first` on is a circle: all of it waits for each other. */
struct argus_error *diagnoser_close_circle(struct diagnoser *d, size_t first);

/* --- story.c --- */

/* Adds the cause and the summary to `found`, which is whole but for them. */
struct argus_error *tell_summary(struct argus_diagnosis *found, const struct view *view);
struct argus_error *diagnoser_tell_uncertain(struct diagnoser *d);

#endif
