/* Hangs, similar vertices, and Algorithm 1 of the Argus paper (DESIGN section 7). */
#ifndef ARGUS_DIAGNOSE_H
#define ARGUS_DIAGNOSE_H

#include "argus/hangs.h"
#include "argus/slice.h"
#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A vertex like another one. */
struct argus_similar {
    uint32_t vertex;  /* of the graph that was searched */
    double score;     /* 0 … 1 */
    uint64_t wait_ns; /* of its wait */
    uint64_t busy_ns; /* that it ran, or wanted a cpu */
    bool
        different_outcome; /* its wait ended otherwise, or took less than half; of a busy vertex: it was busy for less than half. Can be a baseline */
    char why[200];         /* what made the score */
};

struct argus_similars {
    struct argus_similar
        *items; /* owned; best baseline first: different outcome, score, then the most recent */
    size_t count;
};

struct argus_similar_options {
    size_t limit; /* 0: all that are worth it, at most 4096 */
    uint32_t
        context; /* so many vertices before it are compared as well (Argus paper, 5.4); 0: none */
    const struct argus_graph *other; /* another trace's graph to search, borrowed; NULL: its own */
    struct argus_symbols *symbols,
        *other_symbols; /* borrowed; NULL: stacks of another life of a program are compared by
                                                      offsets in the page, not by function */
};

/* Vertices like `vertex`. One pass over the vertices searched: 2.7 million take less than a second. */
struct argus_error *argus_similar_search(const struct argus_graph *graph, uint32_t vertex,
                                         const struct argus_similar_options *options,
                                         struct argus_similars *ret);
/* The same within one graph, without context and symbols. */
struct argus_error *argus_similar_find(const struct argus_graph *graph, uint32_t vertex,
                                       size_t limit, struct argus_similars *ret);
void argus_similars_deinit(struct argus_similars *similars);

struct argus_costly_function {
    char *name;  /* owned; of a script with its file: "save (editor.py)" */
    char *image; /* file name of the program, library or script, owned; "": unknown */
    bool script; /* of a script: argus_symbol_is_script() */
    bool base;   /* of a library that every program has: C library, zlib … */
    uint32_t self, inclusive, samples; /* samples with it innermost; anywhere; in all */
    uint64_t address;                  /* a place in it; 0: none is known */
    bool is_return;                    /* which is behind a call */
};

/* What a culprit has to do with a cpu that somebody had none of. */
enum argus_cpu_lack {
    ARGUS_CPU_ENOUGH, /* nothing */
    ARGUS_CPU_BUSY,   /* it got none, because others ran */
    ARGUS_CPU_QUOTA,  /* … because the cpu quota of its control group was used up */
    ARGUS_CPU_PROBABLY_QUOTA,
    ARGUS_CPU_TOOK, /* it ran on the cpus that the next culprit wanted */
    ARGUS_CPU_TOOK_QUOTA,
};

/* A variable that ends a loop. */
struct argus_loop_variable {
    char *name; /* owned: "did_reconfigure", "window->0x18", without symbols "0x4060" */
    char *
        image; /* owned: file name of the program or library that has it; "": another one than the loop's */
    char *
        command; /* owned: the argus watchflag that records who sets it; "": the name does not suffice */
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
    bool silent;  /* it took the request and went back to its wait for requests without an answer */
    uint64_t start_ns, end_ns; /* of its part in the hang */
    double share;              /* of the hang */
    uint32_t stack;            /* where it waited, or its most frequent sample; ARGUS_NONE */
    struct argus_costly_function *functions; /* owned; the one to look at first, then by samples */
    size_t function_count;
    struct argus_code_loop loop; /* RepeatedYield */
    char *why;                   /* owned: one sentence */
};

struct argus_path_step {
    uint32_t vertex;
    uint32_t
        edge; /* that leads from this vertex to the one before it in the list; ARGUS_NONE for the first */
    bool expected; /* from the baseline (what should have happened), not from what did */
    bool vague;    /* one that only could have ended the wait of the step before */
};

/* One thread's part (by the names of process and thread) in the hang and in the baseline's wait. */
struct argus_path_part {
    uint32_t actual; /* vertex with most of it in the hang; ARGUS_NONE: it had no part */
    uint32_t normal; /* the same of the baseline's wait, of the graph `baseline_graph` */
    uint64_t actual_ns, normal_ns;
};

/* The answer. Everything is owned by it. */
struct argus_diagnosis {
    struct argus_hang hang;
    uint32_t baseline; /* vertex of `baseline_graph`, or ARGUS_NONE */
    const struct argus_graph
        *baseline_graph; /* the hang's, or argus_diagnose_options.other; borrowed */
    /* The expected path against the actual one, the largest difference first; empty without a baseline. */
    struct argus_path_part *comparison;
    size_t comparison_count;
    struct argus_path_step *path; /* from the spinning vertex back */
    size_t path_count;
    struct argus_culprit *culprits; /* the root cause first */
    size_t culprit_count;
    uint32_t *cycle; /* vertices of a circular wait, in order; NULL if none */
    size_t cycle_count;
    bool cycle_broken_by_timeout;
    bool guessed; /* a step of the path is a guess: the summary says "probably" */
    struct argus_account accounting; /* of [hang.start_ns, hang.end_ns) */
    uint32_t *origin;                /* LongRunning: the slice back to the input that began it */
    size_t origin_count;
    struct argus_asked *asked;
    size_t asked_count;
    char *
        *uncertain; /* sentences: lost records, weak edges followed, missing symbols, no baseline */
    size_t uncertain_count;
    char *summary; /* one sentence that a non-expert understands */
    char *cause;   /* its clause about the reason: "it waited for B, which slept" */
};

struct argus_diagnose_options {
    uint64_t threshold_ns; /* 0: ARGUS_HANG_THRESHOLD_NS */
    size_t max_depth;      /* culprits of culprits; 0: 16 */
    uint32_t context;      /* for finding baselines: as in struct argus_similar_options */
    /* Of a trace in which all went well: baselines are looked for there first. Borrowed by the diagnosis too; NULL: none. */
    const struct argus_graph *other;
    struct argus_symbols *other_symbols; /* borrowed; may be NULL */
};

/* Diagnoses `hang`. `symbols` is borrowed. On an open question: ARGUS_ERROR_QUESTION and `*ret` with what is known so far. */
struct argus_error *argus_diagnose(const struct argus_graph *graph, struct argus_symbols *symbols,
                                   const struct argus_hang *hang,
                                   const struct argus_diagnose_options *options,
                                   struct argus_asker asker, struct argus_diagnosis *ret);
void argus_diagnosis_deinit(struct argus_diagnosis *diagnosis);

/* A number by which hangs are compared: the same program (by name) froze in the same place, in any run of it. The place is where the
 * thread waited, or the function that took most of its samples. `symbols` may be NULL: images take the place of functions. */
uint64_t argus_hang_signature(const struct argus_graph *graph, struct argus_symbols *symbols,
                              const struct argus_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif
#endif
