/* What looks wrong in a graph: the inspection tool of the Argus paper, and a proof of the graph's invariants.
 *
 * A graph can be wrong in two ways. It can contradict itself (an edge that goes backward in time): that is a fault of Argus or
 * of a file, and argus_graph_verify() finds it. And it can say less, or more, than what happened, because the records do not tell:
 * argus_inspect() lists the places where that is likely, so that a person can mend them with a rule (argus schema), a data flag
 * or another recording. The papers call the two kinds over-connection and under-connection.
 *
 * Everything here only reads the graph, and is O(vertices + edges), but for sorting what is shown.
 */
#ifndef ARGUS_INSPECT_H
#define ARGUS_INSPECT_H

#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- invariants --- */

/* One thing that holds for every vertex (edge, thread …) of a graph. */
struct argus_invariant {
    const char *name;        /* "vertex.times"; static */
    const char *description; /* a sentence: what holds; static */
    uint64_t checked;        /* for how many it was looked at */
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

/* Looks at every vertex, edge, thread, operation … of the graph, whose arrays may hold anything: ids are checked before they
 * are used. At most `most_examples` violations are told one by one. */
struct argus_error *argus_graph_verify(const struct argus_graph *graph, size_t most_examples,
                                       struct argus_verification *ret);
void argus_verification_deinit(struct argus_verification *verification);

/* --- applications --- */

/* The application of each process, as the index of the process that it began with; ARGUS_NONE for kernel threads. A process
 * belongs to its parent's application when it is a fork that goes by the parent's name, or when it was started from the same
 * executable, unless that is an interpreter. `*ret` has an entry for each process and is the caller's, for free(). */
struct argus_error *argus_applications(const struct argus_graph *graph, uint32_t **ret);

/* --- what looks wrong --- */

enum {
    ARGUS_INSPECT_PEERS = 6,    /* applications named for one thread; more are counted */
    ARGUS_INSPECT_EXAMPLES = 3, /* vertices named for one finding */
};

/* Where one segment that serves several could be cut: the deepest function that the stacks around their messages and wake-ups
 * have in common, and what it calls for each of them. Addresses in the example's process. */
struct argus_split_place {
    uint32_t vertex; /* whose stacks they are; ARGUS_NONE: there were no stacks */
    uint32_t
        stack; /* one of them: of a message or wake-up if there was one, else of the wait; or ARGUS_NONE */
    uint64_t inside;  /* in the common function; 0: the stacks have none (they are cut short) */
    uint64_t item[2]; /* in the functions that it calls for two of them; 0: unknown */
    bool exact;       /* false: the stacks are one and the same, so the loop may be further out */
};

/* Applications of one name that a thread deals with. */
struct argus_peer {
    uint64_t vertices; /* segments that deal with them */
    uint32_t process;  /* of the first of them: index */
    bool several;      /* there are more of that name */
};

/* A batching suspect: a thread with segments that deal with two or more other applications at a time. A segment that one
 * application caused, and that causes something in one other one, passes a request on: that is none. */
struct argus_batching {
    uint64_t vertices; /* such segments of the thread */
    uint64_t hears;    /* of them: that two or more applications caused */
    uint64_t answers;  /* of them: that caused something in two or more */
    uint64_t all;      /* segments of the thread */
    uint32_t thread;
    uint32_t most;                                /* applications in one of them */
    struct argus_peer peers[ARGUS_INSPECT_PEERS]; /* most frequent first */
    uint32_t peer_count, more_peers;
    uint32_t examples[ARGUS_INSPECT_EXAMPLES]; /* those with the most applications first */
    uint32_t example_count;
    struct argus_split_place place;
};

/* Why nobody is known to have ended a wait. */
enum argus_no_cause {
    ARGUS_NO_CAUSE_TIMER, /* the time was up, and nobody was seen to arm the timer, or to wake at all */
    ARGUS_NO_CAUSE_DEVICE, /* a device's interrupt, and nobody asked the device */
    ARGUS_NO_CAUSE_KERNEL, /* woken by the scheduler's own work or by a thread that is not recorded: culled */
    ARGUS_NO_CAUSE_UNSEEN, /* it ran again, and no record tells who woke it: a hidden waker, or a lost record */
    ARGUS_NO_CAUSE_LOST, /* records near it are missing */
    ARGUS_NO_CAUSES
};
const char *argus_no_cause_name(enum argus_no_cause why);

/* A thread of a program with wake-ups whose cause is not known. The recorder is left out: it does not record who wakes it. */
struct argus_unexplained {
    uint64_t counts[ARGUS_NO_CAUSES];
    uint64_t wakeups;   /* all of the thread's */
    uint64_t waited_ns; /* that ended in one of the last three ways */
    uint32_t thread;
    uint32_t examples[ARGUS_INSPECT_EXAMPLES]; /* vertices whose wait it was; the longest first */
    uint32_t example_count;
};

/* A missing-edge suspect: long waits of a thread in one place that ended without an edge, or polling there. */
struct argus_missing_edge {
    uint64_t waits;
    uint64_t total_ns, longest_ns;
    uint32_t thread;
    uint32_t stack; /* in which it waited, or ARGUS_NONE */
    bool polls;     /* it looks again and again: for a data flag, perhaps */
    uint32_t examples[ARGUS_INSPECT_EXAMPLES]; /* the longest first */
    uint32_t example_count;
};

struct argus_inspect_options {
    size_t limit;                  /* entries of each list */
    uint64_t long_ns;              /* a wait is long from here on */
    struct argus_symbols *symbols; /* to compare functions; NULL: addresses are compared */
};

struct argus_inspection {
    struct argus_batching *batching; /* owned; by `vertices` */
    size_t batching_count, batching_threads;
    uint64_t batching_vertices; /* in all threads */
    uint64_t relays;            /* segments that pass something on, for comparison */

    struct argus_unexplained *unexplained; /* owned; by `waited_ns` */
    size_t unexplained_count, unexplained_threads;
    uint64_t unexplained_totals[ARGUS_NO_CAUSES]; /* of all programs' threads */
    uint64_t kernel_unexplained; /* those of kernel threads and the recorder; not listed */
    uint64_t wakeups;            /* of programs' threads, the explained ones too */

    struct argus_missing_edge *missing; /* owned; by `total_ns` */
    size_t missing_count, missing_places;

    struct argus_loss *losses; /* owned; the largest, in time order */
    size_t loss_count, loss_total;
    uint64_t gap_vertices; /* with ARGUS_VERTEX_GAP */
};

struct argus_error *argus_inspect(const struct argus_graph *graph,
                                  const struct argus_inspect_options *options,
                                  struct argus_inspection *ret);
void argus_inspection_deinit(struct argus_inspection *inspection);

#ifdef __cplusplus
}
#endif
#endif
