/* Hangs, similar vertices, and Algorithm 1 of the Argus paper (DESIGN section 7). */
#ifndef ARGUS_DIAGNOSE_H
#define ARGUS_DIAGNOSE_H

#include "argus/diagnosis_reason.h"
#include "argus/hangs.h"
#include "argus/slice.h"
#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vertex that is similar to a given one. */
struct argus_similar {
    uint32_t vertex;  /* of the graph that was searched */
    double score;     /* 0 … 1 */
    uint64_t wait_ns; /* length of its wait */
    uint64_t busy_ns; /* time that it ran or wanted a CPU */
    /* its wait ended with another outcome or took less than half as long (a busy vertex: it was
     * busy for less than half as long), so it can be a baseline */
    bool different_outcome;
    struct argus_likeness likeness; /* what makes up the score */
};

struct argus_similars {
    /* owned; best baseline first: different outcome, score, then the most recent */
    struct argus_similar *items;
    size_t count;
};

struct argus_similar_options {
    size_t limit; /* 0: all that are similar enough, at most 4096 */
    /* how many vertices before it are compared as well (Argus paper, 5.4); 0: none */
    uint32_t context;
    const struct argus_graph *other; /* another trace's graph to search, borrowed; NULL: its own */
    struct argus_symbols *symbols,
        /* borrowed; NULL: stacks of another run of a program are compared by offsets in the page,
         * not by function */
        *other_symbols;
};

/* Finds vertices similar to `vertex`. One pass over the vertices searched; 2.7 million take less
 * than 1 s. */
struct argus_error *argus_similar_search(const struct argus_graph *graph, uint32_t vertex,
                                         const struct argus_similar_options *options,
                                         struct argus_similars *ret);
/* The same within the vertex's own graph, without context and symbols. */
struct argus_error *argus_similar_find(const struct argus_graph *graph, uint32_t vertex,
                                       size_t limit, struct argus_similars *ret);
void argus_similars_deinit(struct argus_similars *similars);

struct argus_costly_function {
    char *name;  /* owned; a script's function with its file: "save (editor.py)" */
    char *image; /* file name of the program, library or script, owned; "": unknown */
    bool script; /* part of a script: argus_symbol_is_script() */
    /* into its callers, wherever a sample has it: argus_symbols_named() says which ones count */
    bool inlined;
    bool base; /* part of a library that every program uses: C library, zlib … */
    /* samples with it innermost; with it anywhere; all samples */
    uint32_t self, inclusive, samples;
    uint64_t address; /* an address inside it; 0: unknown */
    bool is_return;   /* the address is a return address, behind a call */
};

/* Whether a culprit lacked a CPU, or kept another thread from one. */
enum argus_cpu_lack {
    ARGUS_CPU_ENOUGH, /* neither */
    ARGUS_CPU_BUSY,   /* it got no CPU, because others ran */
    ARGUS_CPU_QUOTA,  /* it got no CPU, because its control group had used up its CPU quota */
    ARGUS_CPU_PROBABLY_QUOTA,
    ARGUS_CPU_TOOK, /* it ran on the CPUs that the next culprit wanted */
    ARGUS_CPU_TOOK_QUOTA,
};

/* A thread that got no memory: what it did before it got some, and the process that took most. */
struct argus_memory_lack {
    uint64_t stalled_ns; /* in the culprit's part of the hang; 0: memory was no matter */
    /* of these: it freed pages of the machine, or of its control group at its limit; it moved
     * pages; it waited for pages that had been swapped out */
    uint64_t reclaim_ns, group_reclaim_ns, compaction_ns, swap_ns;
    uint64_t group, limit_bytes; /* the group at its limit (0: none), and its limit */
    char group_name[33];         /* "": not known */
    /* of the process that took most: the vertex of the thread that got none; ARGUS_NONE: this
     * culprit is that thread */
    uint32_t waiter;
    /* what it took, of what all took; by how much it grew, and to what */
    uint64_t taken_bytes, all_bytes, grown_bytes, size_bytes;
};

/* A function that writes a variable, by the program's code. */
struct argus_flag_writer {
    char *place; /* owned: "on_reconfigured (settings.c:29)" */
    /* ARGUS_NONE: of the waiter; else another one, which shares the variable's memory */
    uint32_t process;
    int64_t value;    /* the constant that it writes, if has_value */
    bool has_value;   /* else the value is computed */
    uint64_t signals; /* whose handler the function is: signal n is bit n - 1 */
    /* it gives the variable's address to a function of another file, is a callback that may get it,
     * writes an element of an array where the loop looks at one, or is only alike: it writes the
     * same member of some object */
    bool is_possible;
};

/* A variable that ends a loop. */
struct argus_loop_variable {
    char *name;  /* owned: "did_reconfigure", "window->0x18", without symbols "0x4060" */
    char *image; /* owned: file name of the program or library that has it; "": another one than the
                    loop's */
    char *command;    /* owned: the argus watchflag that records who sets it */
    char *watch_name; /* owned: `name` as argus watchflag takes it: it has no bit within a member */
    /* … of which the arguments are `image`, `watch_name` and these; watch_bytes 0: the name does
     * not lead to it, but the loop of this thread does (--loop) */
    uint64_t watch_pid, watch_tid; /* tid 0: not thread-local, or the main thread's loop */
    uint32_t watch_bytes;
    bool is_lock;                      /* the loop tries to take it; `writers` free it */
    struct argus_flag_writer *writers; /* owned; not those that only reset it */
    size_t writer_count;               /* 0: the code does not tell */
    bool has_more_writers; /* the search for them came to a limit: there may be others */
    uint32_t *threads;   /* owned: threads whose recorded stacks have such a function or a caller */
    size_t thread_count; /* … without the thread that waits */
};

/* What ends the loop of a culprit, by the program's code alone. */
struct argus_code_loop {
    char *place;                           /* owned: "wait_ready (settings.c:88)" */
    struct argus_loop_variable *variables; /* owned: any of them */
    size_t variable_count;                 /* 0: the code does not tell */
    bool is_whole; /* nothing else ends it, but the loop itself by counting */
};

/* A vertex whose own behaviour delayed the expected wake-up. */
struct argus_culprit {
    uint32_t vertex;
    uint8_t type; /* enum argus_vertex_type */
    uint8_t lack; /* enum argus_cpu_lack */
    /* LongWait: the other end of the connection on which it waited, an index into
     * argus_graph_remotes(); ARGUS_NONE: another wait, or not known */
    uint32_t remote;
    struct argus_memory_lack memory;
    bool took_disk; /* the disk for which another thread waited was busy with its requests */
    bool answered;  /* something came from `remote` */
    bool silent;    /* it took the request and went back to its wait for requests without a reply */
    uint64_t start_ns, end_ns; /* of its part in the hang */
    double share;              /* of the hang */
    uint32_t stack;            /* where it waited, or its most frequent sample; or ARGUS_NONE */
    /* owned; the one to look at first comes first, then by samples */
    struct argus_costly_function *functions;
    size_t function_count;
    /* owned; if the first function was inlined: the one with code of its own that takes its place
     * in the hang's signature; else NULL */
    char *code_function;
    /* of a loop that polls: the culprit's own, or the one that it should have ended */
    struct argus_code_loop loop;
    bool polled; /* LongRunning: it did nothing but poll the variables of `loop` */
    /* ARGUS_REASON_MEMORY: `memory` says it. argus_culprit_why() makes a sentence of both. */
    struct argus_reason why;
};

struct argus_path_step {
    uint32_t vertex;
    /* edge from this vertex to the previous one in the list; ARGUS_NONE for the first */
    uint32_t edge;
    bool expected; /* from the baseline: what should have happened, rather than what did */
    bool vague;    /* it only could have ended the wait of the previous step */
    bool polled;   /* it did not wait, but polled a variable that the next step should have set */
};

/* The part of one thread (by the names of process and thread) in the hang and in the baseline's
 * wait. */
struct argus_path_part {
    uint32_t actual; /* vertex with most of its part in the hang; ARGUS_NONE: it had none */
    uint32_t normal; /* the same for the baseline's wait; a vertex of `baseline_graph` */
    uint64_t actual_ns, normal_ns;
};

/* The answer. It owns everything in it that is not marked as borrowed. */
struct argus_diagnosis {
    struct argus_hang hang;
    uint32_t baseline; /* vertex of `baseline_graph`, or ARGUS_NONE */
    /* the hang's graph, or argus_diagnose_options.other; borrowed */
    const struct argus_graph *baseline_graph;
    /* The expected path against the actual one, the largest difference first; empty without a
     * baseline. */
    struct argus_path_part *comparison;
    size_t comparison_count;
    struct argus_path_step *path; /* from the spinning vertex backward */
    size_t path_count;
    struct argus_culprit *culprits; /* the root cause first */
    size_t culprit_count;
    uint32_t *cycle; /* vertices of a circular wait, in order; NULL: there is none */
    size_t cycle_count;
    bool cycle_broken_by_timeout;
    bool guessed; /* a step of the path is a guess, so the summary says "probably" */
    struct argus_account accounting; /* of [hang.start_ns, hang.end_ns) */
    uint32_t *origin;                /* LongRunning: the slice back to the input that started it */
    size_t origin_count;
    struct argus_asked *asked;
    size_t asked_count;
    /* owned: lost records, guesses, weak edges followed, missing symbols, no baseline */
    struct argus_reason *uncertain;
    size_t uncertain_count;
};

struct argus_diagnose_options {
    uint64_t threshold_ns; /* 0: ARGUS_HANG_THRESHOLD_NS */
    size_t max_depth;      /* how far to follow culprits of culprits; 0: 16 */
    /* vertices compared when searching baselines: see struct argus_similar_options */
    uint32_t context;
    /* The graph of a trace without the hang: baselines are looked for in it first. The diagnosis
     * borrows it as well; NULL: none. */
    const struct argus_graph *other;
    struct argus_symbols *other_symbols; /* borrowed; may be NULL */
};

/* Diagnoses `hang`. `symbols` is borrowed. If a question is open: ARGUS_ERROR_QUESTION, and `*ret`
 * holds what is known so far. */
struct argus_error *argus_diagnose(const struct argus_graph *graph, struct argus_symbols *symbols,
                                   const struct argus_hang *hang,
                                   const struct argus_diagnose_options *options,
                                   struct argus_asker asker, struct argus_diagnosis *ret);
void argus_diagnosis_deinit(struct argus_diagnosis *diagnosis);

/* A number that identifies a hang across runs: equal if the same program (by name) froze in the
 * same place. The place is where the thread waited, or the function with most of its samples.
 * `symbols` may be NULL: images are used in place of functions. */
uint64_t argus_hang_signature(const struct argus_graph *graph, struct argus_symbols *symbols,
                              const struct argus_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif
#endif
