/* Finds what looks wrong in a graph (the inspection tool of the Argus paper), and checks the
 * graph's invariants.
 *
 * A graph can be wrong in two ways. It can contradict itself, for example with an edge that goes
 * backward in time: that is a bug of Argus or a damaged file, and argus_graph_verify() finds it. Or
 * it can have too many or too few edges, because the records do not tell what happened (the papers
 * say over-connection and under-connection): argus_inspect() lists the places where that is likely.
 * The user can correct them with a rule (argus schema), a data flag or another recording.
 *
 * All functions only read the graph and take O(vertices + edges), plus the sorting of what they
 * return.
 */
#ifndef ARGUS_INSPECT_H
#define ARGUS_INSPECT_H

#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- invariants --- */

/* A property that holds for every vertex (edge, thread …) of a graph. */
struct argus_invariant {
    const char *name;        /* "vertex.times"; static */
    const char *description; /* one sentence that states the property; static */
    uint64_t checked;        /* number of elements that were checked */
    uint64_t violations;
};

struct argus_violation {
    uint32_t invariant; /* index */
    char text[100];     /* "v12: …" */
};

struct argus_verification {
    struct argus_invariant *invariants; /* owned */
    size_t invariant_count;
    struct argus_violation *examples; /* owned: the first ones, by invariant */
    size_t example_count;
    uint64_t violations;
    uint64_t vertices, edges;
};

/* Checks every vertex, edge, thread, operation … of the graph. Its arrays may hold anything: IDs
 * are checked before they are used. Returns at most `most_examples` violations one by one. */
struct argus_error *argus_graph_verify(const struct argus_graph *graph, size_t most_examples,
                                       struct argus_verification *ret);
void argus_verification_deinit(struct argus_verification *verification);

/* --- applications --- */

/* The application of each process, as the index of the process that it began with; ARGUS_NONE for
 * kernel threads. A process belongs to its parent's application if it is a fork with the parent's
 * name, or if it was started from the same executable and that is not an interpreter. `*ret` has an
 * entry for each process; the caller frees it with free(). */
struct argus_error *argus_applications(const struct argus_graph *graph, uint32_t **ret);

/* --- what looks wrong --- */

enum {
    /* applications listed for one thread; further ones are only counted */
    ARGUS_INSPECT_PEERS = 6,
    ARGUS_INSPECT_EXAMPLES = 3, /* vertices listed for one finding */
};

/* Where one segment that serves several applications could be split: the deepest function that the
 * stacks of its messages and wake-ups have in common, and the functions that it calls for each of
 * them. Addresses are those of the example's process. */
struct argus_split_place {
    uint32_t vertex; /* whose stacks they are; ARGUS_NONE: no stacks */
    /* one of these stacks: of a message or wake-up, or if there is none, of the wait; or
     * ARGUS_NONE */
    uint32_t stack;
    /* an address in the common function; 0: the stacks have none in common (they are cut off) */
    uint64_t inside;
    uint64_t item[2]; /* addresses in the functions that it calls for two of them; 0: unknown */
    bool exact;       /* false: the stacks are identical, so the loop may be in a caller */
};

/* Applications with one name that a thread exchanges wake-ups or messages with. */
struct argus_peer {
    uint64_t vertices; /* segments in which it does */
    uint32_t process;  /* index of the first process with this name */
    bool several;      /* there are several processes with this name */
};

/* A batching suspect: a thread with segments that each serve two or more other applications. A
 * segment that one application caused, and that caused something in one other application, only
 * passes a request on and does not count. */
struct argus_batching {
    uint64_t vertices;          /* such segments of this thread */
    uint64_t caused_by_several; /* of these: caused by two or more applications */
    uint64_t causes_in_several; /* of these: caused something in two or more applications */
    uint64_t all;               /* all segments of the thread */
    uint32_t thread;
    uint32_t most;                                /* the most applications in one segment */
    struct argus_peer peers[ARGUS_INSPECT_PEERS]; /* most frequent first */
    uint32_t peer_count, more_peers;
    uint32_t examples[ARGUS_INSPECT_EXAMPLES]; /* segments with the most applications first */
    uint32_t example_count;
    struct argus_split_place place;
};

/* Why the cause of a wake-up is unknown. */
enum argus_no_cause {
    /* the wait timed out, and no record shows which thread armed the timer, or no wake-up was
     * recorded */
    ARGUS_NO_CAUSE_TIMER,
    ARGUS_NO_CAUSE_DEVICE, /* a device's interrupt, and no request to the device was recorded */
    /* culled: woken by the scheduler's own work or by a thread that is not recorded */
    ARGUS_NO_CAUSE_KERNEL,
    /* it ran again without a recorded wake-up: a hidden waker, or a lost record */
    ARGUS_NO_CAUSE_UNSEEN,
    ARGUS_NO_CAUSE_LOST, /* records near the wake-up are missing */
    ARGUS_NO_CAUSES
};
const char *argus_no_cause_name(enum argus_no_cause why);

/* A thread of a program with wake-ups of unknown cause. The recorder is left out, because it does
 * not record who wakes it. */
struct argus_unexplained {
    uint64_t counts[ARGUS_NO_CAUSES];
    uint64_t wakeups;   /* all wake-ups of the thread */
    uint64_t waited_ns; /* time in waits that ended for one of the last three reasons */
    uint32_t thread;
    /* vertices that ended in such a wait; the longest wait first */
    uint32_t examples[ARGUS_INSPECT_EXAMPLES];
    uint32_t example_count;
};

/* A missing-edge suspect: a thread's long waits in one place that ended without an edge, or that
 * poll there. */
struct argus_missing_edge {
    uint64_t waits;
    uint64_t total_ns, longest_ns;
    uint32_t thread;
    uint32_t stack; /* where it waited, or ARGUS_NONE */
    bool polls;     /* it polls again and again, perhaps for a data flag */
    uint32_t examples[ARGUS_INSPECT_EXAMPLES]; /* the longest first */
    uint32_t example_count;
};

struct argus_inspect_options {
    size_t limit;                  /* most entries of each list */
    uint64_t long_ns;              /* a wait of at least this length is long */
    struct argus_symbols *symbols; /* to compare functions; NULL: compare addresses */
};

struct argus_inspection {
    struct argus_batching *batching; /* owned; sorted by `vertices` */
    size_t batching_count, batching_threads;
    uint64_t batching_vertices; /* batching segments of all threads */
    uint64_t relays;            /* segments that pass a request on, for comparison */

    struct argus_unexplained *unexplained; /* owned; sorted by `waited_ns` */
    size_t unexplained_count, unexplained_threads;
    uint64_t unexplained_totals[ARGUS_NO_CAUSES]; /* totals of all programs' threads */
    /* the same for kernel threads and the recorder, which are not listed */
    uint64_t kernel_unexplained;
    uint64_t wakeups; /* all wake-ups of programs' threads, including explained ones */

    struct argus_missing_edge *missing; /* owned; sorted by `total_ns` */
    size_t missing_count, missing_places;

    struct argus_loss *losses; /* owned; the largest losses, in time order */
    size_t loss_count, loss_total;
    uint64_t gap_vertices; /* vertices with ARGUS_VERTEX_GAP */
};

struct argus_error *argus_inspect(const struct argus_graph *graph,
                                  const struct argus_inspect_options *options,
                                  struct argus_inspection *ret);
void argus_inspection_deinit(struct argus_inspection *inspection);

#ifdef __cplusplus
}
#endif
#endif
