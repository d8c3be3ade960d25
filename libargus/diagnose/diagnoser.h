/* The state of a diagnosis, shared by the files of this folder. diagnose.c has the essay. */
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
    struct argus_account accounting;          /* the account of the hang */
    uint32_t baseline;                        /* a vertex of `baseline_graph` */
    const struct argus_graph *baseline_graph; /* NULL: no baseline */
    struct argus_path_part *comparison;       /* owned */
    size_t comparison_count;
    VEC(struct argus_path_step) path;
    VEC(struct argus_culprit) culprits;
    VEC(uint32_t) cycle;
    VEC(uint32_t) origin;
    VEC(struct argus_reason) uncertain;
    bool cycle_broken_by_timeout;
    bool guessed; /* a step of the path was a guess */
    bool stopped; /* an answer to a question stopped the diagnosis */
    /* The waits of the hung thread are explained together, by the one answer that all of them were
     * for. */
    bool waits_explained;
    /* The hung thread waited for a disk that another program kept busy: the threads that ended the
     * wait only passed on that the disk was done. */
    bool disk_explains;
};

/* [start_ns, end_ns): the part of the hang that a step of the diagnosis is about. */
struct window {
    uint64_t start_ns, end_ns;
};

static inline uint64_t window_ns(struct window window)
{
    return window.end_ns > window.start_ns ? window.end_ns - window.start_ns : 0;
}

/* What a thread did in a window, by its figures: the type, and the vertex with the largest part of
 * it. */
struct examined {
    struct argus_hang figures;
    bool abnormal;  /* one of the three types for at least half of the window */
    bool idle;      /* … but that was a home wait: no thread had sent it a request */
    bool in_pieces; /* not abnormal, but many waits make at least half of the window */
};

struct examined diagnoser_examine_thread(const struct diagnoser *d, uint32_t thread,
                                         struct window window);

/* --- culprits.c --- */

/* Appends a culprit, unless the vertex is one already. Copies `why`. */
struct argus_error *diagnoser_add_culprit(struct diagnoser *d, uint32_t vertex,
                                          enum argus_vertex_type type, struct window part,
                                          uint64_t ns, const struct argus_reason *why);
void culprit_deinit(struct argus_culprit *culprit);
/* Appends a step to the path; false without memory. */
bool diagnoser_add_step(struct diagnoser *d, uint32_t vertex, uint32_t edge, bool expected);
/* The index on the path of a vertex of `thread`; -1 if there is none. */
long diagnoser_find_step(const struct diagnoser *d, uint32_t thread);
/* Appends to what is uncertain. Copies `reason`. */
struct argus_error *diagnoser_add_uncertain(struct diagnoser *d, const struct argus_reason *reason);

/* --- cpu_users.c --- */

/* Blames a vertex that was runnable for most of `part`, and before it the threads that took the
 * CPUs or the quota. `normal`: how long it takes otherwise. */
struct argus_error *diagnoser_blame_no_cpu(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t run_ns, uint64_t runnable_ns,
                                           const struct argus_reason_normal *normal);

/* --- memory_users.c --- */

/* If the thread of `vertex` got no memory for most of `part`, blames it, and before it the process
 * that took most; `*ret_done` is set. */
struct argus_error *diagnoser_blame_memory(struct diagnoser *d, uint32_t vertex, uint8_t type,
                                           struct window part, bool *ret_done);

/* --- costly.c --- */

/* Finds the costly functions of `thread` in a window, from its samples, and its most frequent
 * stack, and puts both into the culprit. */
struct argus_error *costly_functions_find(struct diagnoser *d, uint32_t thread,
                                          struct window window, struct argus_culprit *culprit);
/* Frees them. */
void culprit_deinit_functions(struct argus_culprit *culprit);

/* --- the types --- */

struct argus_error *diagnose_long_running(struct diagnoser *d);
struct argus_error *diagnose_repeated_yield(struct diagnoser *d);
struct argus_error *diagnose_long_wait(struct diagnoser *d);

/* Blames a busy vertex: says what it ran, or that it lacked a CPU instead. If it only polled a
 * variable, explains it by the thread that sets that variable, as diagnoser_explain_by_code(). */
struct argus_error *diagnoser_blame_running(struct diagnoser *d, uint32_t vertex,
                                            struct window part, uint64_t run_ns,
                                            uint64_t runnable_ns);
/* The message upon which the thread of `vertex`, a loop that polls a flag, last set the flag
 * itself: an edge; ARGUS_NONE: none. own_flag.c. */
uint32_t find_own_set(const struct view *view, uint32_t vertex);

/* --- polled_child.c --- */

/* The main thread of the child whose end the loop of `vertex` polls for in `part`; ARGUS_NONE. */
uint32_t find_polled_child(const struct view *view, uint32_t vertex, struct window part);
/* --- polled_lock.c --- */

/* Explains a loop of `vertex` that polls for a lock on a file, by what the holder did. */
struct argus_error *diagnoser_explain_polled_lock(struct diagnoser *d, uint32_t vertex,
                                                  struct window part,
                                                  const struct lock_tries *tries);
/* Whether `thread` waited for most of `part` in a wait that began before its first record.
 * `known_ns`: the time of `part` in which the trace shows what it did. */
bool diagnoser_is_unseen_holder(const struct diagnoser *d, uint32_t thread, struct window part,
                                uint64_t known_ns);
struct argus_error *diagnoser_blame_unseen_holder(struct diagnoser *d, uint32_t thread,
                                                  struct window part);
/* Blames the holder of a lock on a file that waited for requests meanwhile. */
struct argus_error *diagnoser_blame_idle_holder(struct diagnoser *d, uint32_t vertex,
                                                struct window part);
/* Explains a loop that yields: by the write of a flag that ended it; if there is none, the loop
 * itself is blamed. yields.c. */
struct argus_error *diagnoser_explain_yielding(struct diagnoser *d, uint32_t vertex,
                                               struct window part);
/* Blames the loop itself. */
struct argus_error *diagnoser_blame_yielding(struct diagnoser *d, uint32_t vertex,
                                             struct window part);
/* The same if the code of the loop has been read. Takes what `loop` owns. */
struct argus_error *diagnoser_blame_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                         struct argus_code_loop *loop);
/* Explains a loop by what `thread`, which should have ended it, did in `part`: a guess. */
struct argus_error *diagnoser_explain_by_setter(struct diagnoser *d, uint32_t vertex,
                                                struct window part, uint32_t thread);

/* --- untouched_flags.c --- */

/* Whether another thread of the process of `vertex` is recorded to have written the flag during the
 * part. */
bool flag_was_set_by_others(const struct view *view, uint32_t vertex, struct window part,
                            uint64_t address);
/* Whether accesses of the flag are recorded in the process of `vertex`, but none of the loop. */
bool flag_is_of_other_loop(const struct view *view, uint32_t vertex, struct window part,
                           uint64_t address);

/* Says which watched flags of the process were not touched, or not by the loop of `vertex`. */
struct argus_error *diagnoser_note_untouched_flags(struct diagnoser *d, uint32_t vertex,
                                                   struct window part);

/* --- forgotten_flag.c --- */

struct watched_flag;
/* The last write of a flag that the thread of the loop `vertex` read before, and that the loop
 * reads as far as the records tell: an edge; ARGUS_NONE: none. `awaited`: of this loop. */
uint32_t find_former_write(const struct view *view, uint32_t vertex, struct window part,
                           const struct watched_flag *awaited);
/* Explains a loop whose flag no thread wrote, by the thread that wrote it the last time: the edge
 * `write`, from that thread, or to it if the loop's thread had handed the flag over
 * (turned_flag.h). */
struct argus_error *diagnoser_explain_no_write(struct diagnoser *d, uint32_t vertex,
                                               struct window part, uint32_t write);
/* Puts the last write of a flag and its thread into `ret`, as the cause of a loop; takes no memory
 * but for ret->name and ret->write.place, which the caller must free. */
struct argus_error *former_write_tell(struct diagnoser *d, uint32_t vertex, uint32_t edge,
                                      struct window part, const struct watched_flag *awaited,
                                      struct argus_reason *ret);

/* --- code_loop.c --- */

/* Reads from the program's code which variables end the loop of `vertex` in `part`; none, where it
 * does not tell. Errors: memory. */
struct argus_error *read_code_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                   struct argus_code_loop *ret);
void code_loop_free(struct argus_code_loop *loop);
/* The clause that tells what ends the loop: from its code, with or without a command that watches
 * the variable; or that this is not known. */
enum argus_reason_kind code_loop_reason(const struct argus_code_loop *loop);
/* "did_reconfigure"; "settings+0x4060" where there are no symbols. Returns `buffer`. */
const char *loop_variable_name(const struct argus_loop_variable *variable, char *buffer,
                               size_t bytes);

/* --- flag_setter.c --- */

/* Explains a loop by the only thread whose code sets the variable that ends it; if there is no such
 * thread, or it explains nothing, blames the loop. */
struct argus_error *diagnoser_explain_by_code(struct diagnoser *d, uint32_t vertex,
                                              struct window part);
/* The first half of it: `*ret_taken` if that thread explains the loop; then takes what `loop` owns.
 */
struct argus_error *diagnoser_try_setter(struct diagnoser *d, uint32_t vertex, struct window part,
                                         struct argus_code_loop *loop, bool *ret_taken);

/* --- late.c --- */

/* The sum of the actual path over a window. */
struct late {
    uint32_t vertex;    /* the vertex with the largest share; ARGUS_NONE: nothing is known */
    struct window part; /* from its first to its last stretch */
    uint64_t run_ns, runnable_ns, wait_ns; /* of its thread in the account */
    bool yields;
    uint32_t link; /* of the account: the link by which the walk reached it */
};

/* Finds the largest share in `account`, without the normal work of `thread`, which is already
 * explained. */
struct argus_error *diagnoser_find_late(struct diagnoser *d, const struct argus_account *account,
                                        uint32_t thread, struct late *ret);
/* Appends to the path the chain from the explained thread to the thread of `link`, and then
 * `vertex`. */
bool diagnoser_add_late_path(struct diagnoser *d, const struct argus_account *account,
                             uint32_t link, uint32_t vertex);
/* Blames the other threads with a noteworthy share, after the root cause. */
struct argus_error *diagnoser_blame_other_shares(struct diagnoser *d);

/* --- suspects.c --- */

/* A thread that should have ended a wait, and the evidence for it. */
struct suspect {
    uint32_t thread;
    /* the vertex that handed on the request that it had taken; ARGUS_NONE: none did */
    uint32_t via;
    bool woken; /* it handed it on without a message */
    enum argus_reason_kind why;
    bool owes;  /* it was sent a request, and has sent nothing back */
    bool guess; /* the suspect is a guess, even if the evidence that led to it is sure */
};

typedef VEC(struct suspect) suspect_list;

struct suspect_search;

enum evidence_flags {
    /* It shows which threads could have ended the wait, not which one should have. */
    EVIDENCE_VAGUE = 1,
    /* Not used if the wait's own time-out ended it. */
    EVIDENCE_COULD_ONLY = 2,
    /* Also used if the wait is for a child, which no other thread can end. */
    EVIDENCE_OF_CHILD = 4,
    /* The records show it: a lock, a child, an object, a request. */
    EVIDENCE_SURE = 8,
    /* Also used if the wait is for a lock on a file whose holder is known. */
    EVIDENCE_OF_LOCK = 16,
    /* It shows what the wait was for: a lock, a request, a child. Other evidence makes an edge of a
     * circular wait only if the waiter had asked for something. */
    EVIDENCE_OWED = 32,
};

/* A kind of evidence: appends the threads that should have ended a wait. May ask the user. */
struct evidence {
    struct argus_error *(*find)(struct suspect_search *search);
    unsigned flags;
};

extern const struct evidence all_evidence[];
extern const size_t all_evidence_count;

/* --- baselines.c --- */

/* Finds the best baseline for `vertex`: in the other trace, if there is one, else in this one.
 * `*ret_graph` NULL: none. */
struct argus_error *diagnoser_find_baseline(struct diagnoser *d, uint32_t vertex,
                                            struct argus_similar *ret,
                                            const struct argus_graph **ret_graph);
/* Notes the hung vertex's normal case for comparison, without asking the user to confirm it. */
struct argus_error *diagnoser_note_baseline(struct diagnoser *d);

/* --- paths_compared.c --- */

/* Compares the expected path with the actual one. */
struct argus_error *diagnoser_compare_paths(struct diagnoser *d);

/* --- missing.c --- */

/* The position of the walk from wait to wait: the wait of `vertex`, as far as it is in `window`. */
struct walk_position {
    uint32_t vertex;
    struct window window;
    /* The vertex on whose behalf it waits, which is a loop that polls a flag. ARGUS_NONE: its
     * own. */
    uint32_t requester;
    bool ended; /* a root cause was found */
};

/* Explains a suspect that waits in `vertex` and polled for a lock file for most of the hang, by the
 * file's holder: a script whose tries write error messages to the waiter takes part in the last
 * piece of the wait with a pause only. `ret_done`: it was such a suspect. polled_lock.c. */
struct argus_error *diagnoser_explain_lock_loop(struct diagnoser *d, uint32_t vertex,
                                                struct walk_position *position, bool *ret_done);

/* Explains a wait that was not ended: continues to the wait of the thread that should have ended
 * it, or to a root cause. */
struct argus_error *diagnoser_explain_missing(struct diagnoser *d, struct walk_position *position);

/* --- long_wait.c --- */

/* Explains what the thread of position->vertex, which did something late at the end of the window,
 * did until then. */
struct argus_error *diagnoser_explain_writer(struct diagnoser *d, struct walk_position *position);
/* The same if it did not write: the thread's wait at the position is what should have been
 * ended. */
struct argus_error *diagnoser_explain_missing_write(struct diagnoser *d,
                                                    struct walk_position *position);
/* Explains what `thread`, which should have ended the wait at the position, did instead, and
 * continues from there. `why`: why it should have ended the wait. missing.c, long_wait.c. */
struct argus_error *diagnoser_explain_missing_from(struct diagnoser *d,
                                                   struct walk_position *position, uint32_t thread,
                                                   enum argus_reason_kind why);
struct argus_error *diagnoser_explain_missing_message(struct diagnoser *d,
                                                      struct walk_position *position,
                                                      uint32_t thread, enum argus_reason_kind why);
/* Explains what the thread that had a request for long did instead of answering. long_wait.c. */
struct answer_hold;
struct argus_error *diagnoser_explain_hold(struct diagnoser *d, struct walk_position *position,
                                           const struct answer_hold *hold);
/* The part of the wait of `vertex` that is in `window`. */
struct window wait_window(const struct view *view, uint32_t vertex, struct window window);
/* Blames a wait that is itself the root cause. `thread`: the one of which `because` tells;
 * ARGUS_NONE: of none. */
struct argus_error *diagnoser_blame_waiting(struct diagnoser *d, uint32_t vertex,
                                            struct window part, enum argus_reason_kind because,
                                            uint32_t thread);
/* Closes a circle: all threads on the path from index `first` on wait for each other. */
struct argus_error *diagnoser_close_circle(struct diagnoser *d, size_t first);

/* --- uncertain.c --- */

/* Adds what is uncertain in any answer: lost records, weak edges, missing samples. */
struct argus_error *diagnoser_note_uncertain(struct diagnoser *d);

#endif
