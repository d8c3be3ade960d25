/* IntroPerf (Kim et al., SIGMETRICS 2014): how long functions took in which calling context, inferred from the call stacks of
 * a trace alone.
 *
 * A thread's stacks are taken at moments: system calls, context switches, wake-ups, cpu samples. A function that stands in
 * two stacks one after the other, with the same callers below it, is taken to have gone on in between (the paper's
 * algorithm 2). So each moment ends some function instances and begins others. An instance is at least as long as from its
 * first to its last moment (conservative), and at most until the first moment without it (aggressive). All
 * instances of all threads are added up in one calling context tree (PA-CCT), whose nodes are functions below the same
 * callers; the first level is the program (the process's name).
 *
 * Beside the recorded stacks there are moments for which no stack had to be taken: a system call returns, a thread is on a cpu
 * again. Its user stack is then what it was before (`returns`).
 *
 * A node's own time is its total without that of its children. In both modes the children's instances lie inside those of
 * the parent, so it is never negative. The paper subtracts means from means instead, which can be negative; ARGUS_RANK_MEAN does as
 * the paper does.
 *
 * A function that is seen in one sample alone has no time, conservatively, although a sample stands for the time around it: how much
 * that is, `sampled_ns` says beside (sampled.c). It is counted by the ranks that are not the paper's.
 *
 * Own time is also told apart by what the graph knows of the waits in it (ARGUS_WAITED_…): a worker that waits for work
 * has not become slow, and who waits for an answer is as slow as whoever answers, whose context has the time.
 *
 * A built object is read-only and may be read by several threads.
 */
#ifndef ARGUS_CONTEXTS_H
#define ARGUS_CONTEXTS_H

#include "argus/report.h"
#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

enum argus_estimate { ARGUS_CONSERVATIVE, ARGUS_AGGRESSIVE, ARGUS_ESTIMATES };

/* Where code lies. A library's file is named lib….so.N, or lies in one of the system's library folders; another shared object
 * is a plug-in. */
enum argus_layer {
    ARGUS_LAYER_MAIN,    /* the program's own file */
    ARGUS_LAYER_LIBRARY, /* also the dynamic linker and the vdso */
    ARGUS_LAYER_PLUGIN,
    ARGUS_LAYER_KERNEL,  /* the system call, or what the kernel did below it */
    ARGUS_LAYER_UNKNOWN, /* no file is mapped there: made at run time, or the mapping was not seen */
    ARGUS_LAYERS
};

enum argus_waited {
    ARGUS_WAITED_OTHERS, /* another thread of the trace ended the wait */
    ARGUS_WAITED_IDLE,   /* for something that did not come: a poll or lock that timed out */
    ARGUS_WAITED_SLEPT,  /* a sleep of its own, or a poll that nobody in the trace ended */
    ARGUS_WAITED_CPU,    /* preempted: for a cpu */
    ARGUS_WAITED_KINDS   /* the rest (disk, device, faults, stopped) counts as its own work */
};

/* What a stack was taken at. The first ones are numbers of enum argus_stack_why. */
enum argus_moment {
    ARGUS_MOMENT_RETURN = 0, /* no stack was taken: the one before goes on to here */
    ARGUS_MOMENT_BLOCK = 1,
    ARGUS_MOMENT_WAKE = 2,
    ARGUS_MOMENT_FLAG = 3,
    ARGUS_MOMENT_CALL = 4,
    ARGUS_MOMENT_PREEMPTED = 5,
    ARGUS_MOMENT_SAMPLE,
    ARGUS_MOMENTS
};

/* A function in one calling context: the path from the root to it. Node 0 is the root; a parent comes before its
 * children. Times are ns, by enum argus_estimate. */
struct argus_context_node {
    uint32_t parent;   /* ARGUS_NONE: the root */
    uint32_t depth;    /* the root is 0, a program 1, a thread's outermost function 2 */
    uint32_t function; /* of argus_contexts_functions(); the root's is ARGUS_NONE */
    uint32_t path;     /* its path index when a stack ended here, else ARGUS_NONE */
    uint64_t count;    /* function instances; 0: the root and the programs */
    uint64_t total_ns[ARGUS_ESTIMATES];
    uint64_t own_ns[ARGUS_ESTIMATES];       /* without children */
    uint64_t waited_ns[ARGUS_WAITED_KINDS]; /* of own_ns */
    int64_t sampled_ns; /* what cpu samples add to its conservative own time, or take from it */
};

struct argus_context_function {
    const char
        *name; /* "function", "file+0x1234" where it has no symbol, "0x7f…" where no file is */
    const char *image; /* path, "[kernel]", "[program]" for the first level, "" if none */
    uint8_t layer;     /* enum argus_layer */
};

/* How long the threads in a node's own code waited for a process. Who ended a wait may itself have waited for somebody: in the end
 * it was waited for who was at work meanwhile, as the diagnosis accounts for a hang (argus_account()). */
struct argus_context_wait {
    uint64_t ns;       /* waited for it in the end */
    uint64_t ended_ns; /* of the waits that it ended itself */
    uint64_t count;    /* of these */
    uint32_t node;
    uint32_t process; /* index: argus_graph_processes() */
};

struct argus_context_counts {
    uint64_t moments[ARGUS_MOMENTS];
    uint64_t cut;                      /* moments whose stack has no outermost frames */
    uint64_t cut_by[ARGUS_FRAME_ENDS]; /* the same by why: enum argus_frame_end */
    uint64_t
        grafted; /* of these, as many were put where they belong: below functions that the thread had in whole stacks */
    uint64_t
        rootless; /* moments whose stack does not reach the beginning of its thread: no frame pointers */
    uint64_t missing;   /* moments whose stack is not in the trace */
    uint64_t open_ns;   /* waits that had not ended with the trace; in no latency */
    uint64_t instances; /* function instances */
    uint32_t threads, paths, images, functions; /* that came */
    uint32_t longest;                           /* frames of the longest path */
    double mean_frames;                         /* of the paths */
};

/* A moment as it is used, in order of time. */
struct argus_context_moment {
    uint64_t time_ns, tid;
    uint32_t node; /* of argus_contexts_nodes(), where the stack ends */
    uint32_t call; /* number of the system call that the thread is in; ARGUS_NONE: none */
    uint8_t kind;  /* enum argus_moment */
};

/* Is told each moment; false leaves it out. */
typedef bool (*argus_context_observer)(void *context, const struct argus_context_moment *moment);

struct argus_contexts_options {
    const char *process; /* only processes of this name, or with this id; NULL: all */
    uint32_t vertex;     /* only this vertex with its wait; ARGUS_NONE: all */
    bool no_samples;     /* leave cpu samples out */
    bool no_returns;     /* only moments with a recorded stack */
    bool kernel;         /* the kernel's functions too, not only the system call */
    bool
        late_names; /* argus_contexts_name_shown() will ask servers for names, for what is printed alone */
    argus_context_observer observe; /* NULL: nobody */
    void *observe_context;
};

#define ARGUS_CONTEXTS_OPTIONS                                                                     \
    (struct argus_contexts_options)                                                                \
    {                                                                                              \
        .vertex = ARGUS_NONE                                                                       \
    }

struct argus_contexts;

/* Reads the trace of `graph` once. Both are borrowed, and have to outlive it. ARGUS_ERROR_NOT_FOUND: no stack in what was chosen. */
struct argus_error *argus_contexts_create(const struct argus_graph *graph,
                                          struct argus_symbols *symbols,
                                          const struct argus_contexts_options *options,
                                          argus_progress progress, void *context,
                                          struct argus_contexts **ret);
void argus_contexts_destroy(struct argus_contexts *contexts);

/* Borrowed, all of them. */
size_t argus_contexts_nodes(const struct argus_contexts *contexts,
                            const struct argus_context_node **ret);
size_t argus_contexts_functions(const struct argus_contexts *contexts,
                                const struct argus_context_function **ret);
size_t argus_contexts_waits(const struct argus_contexts *contexts, /* by node, the longest first */
                            const struct argus_context_wait **ret);
const struct argus_context_counts *argus_contexts_counts(const struct argus_contexts *contexts);
const struct argus_graph *argus_contexts_graph(const struct argus_contexts *contexts);

/* --- ranking --- */

/* What a context costs: the sum over the functions of its path of what each has more than its equivalent in the base. */
enum argus_rank {
    ARGUS_RANK_BLAME, /* own time but for waits for others and idle ones; of sleeps, what the base's do not explain */
    ARGUS_RANK_TOTAL, /* own time */
    ARGUS_RANK_MEAN, /* the paper's: means less the means of the children; a path that the base lacks has all of its own */
    ARGUS_RANKS
};

struct argus_ranking_options {
    enum argus_estimate estimate;
    enum argus_rank rank;
    bool every; /* every path, not only the dearest of those with the same bottleneck */
};

struct argus_ranked_path {
    double cost_ns;
    uint32_t node;       /* where the path ends */
    uint32_t bottleneck; /* the node of the path with the highest share of the cost */
    uint32_t others;     /* further paths with this bottleneck */
    bool is_new;         /* the base has no such path */
};

struct argus_ranking {
    struct argus_ranked_path *paths; /* owned; the dearest first */
    size_t count;
    double *costs;                       /* owned; of each node by itself */
    uint32_t *base_node;                 /* owned; the equivalent node of the base, or ARGUS_NONE */
    uint32_t paths_of_base, paths_equal; /* of the base; of these, as many are in both */
    uint32_t programs_missing;           /* programs that the base has not */
};

/* `base` NULL: no base. Two nodes are equivalent if their paths have the same functions in the same order: the same name
 * in a file of the same name, so that another build or place of it does not matter. */
struct argus_error *argus_contexts_rank(const struct argus_contexts *contexts,
                                        const struct argus_contexts *base,
                                        const struct argus_ranking_options *options,
                                        struct argus_ranking *ret);
void argus_ranking_deinit(struct argus_ranking *ranking);

/* --- output --- */

struct argus_contexts_report {
    const struct argus_contexts *contexts, *base; /* `base` NULL: none */
    const struct argus_ranking *ranking;
    struct argus_ranking_options options;
    const char *base_path; /* of its trace; NULL: none */
    size_t top;            /* contexts */
    bool tree;             /* JSON: all nodes too */
};

struct argus_error *argus_report_contexts(const struct argus_sink *sink,
                                          const struct argus_contexts_report *report, bool json);
/* One line a path: functions from the outermost on, ';' between them, and its own time in us (flamegraph.pl, inferno). */
struct argus_error *argus_report_contexts_folded(const struct argus_sink *sink,
                                                 const struct argus_contexts_report *report);
/* https://www.speedscope.app/file-format-schema.json, type "sampled": a profile for each program, of weights in ns. */
struct argus_error *argus_report_contexts_speedscope(const struct argus_sink *sink,
                                                     const struct argus_contexts_report *report);
/* For contexts made with `late_names`, before they are printed as text or (`json`) without the whole tree: functions of these rows that
 * have no name get one from the servers that `symbols` may ask. */
struct argus_error *argus_contexts_name_shown(struct argus_contexts *contexts,
                                              const struct argus_contexts_report *report,
                                              bool json);
const char *argus_layer_name(enum argus_layer layer);
const char *argus_moment_name(enum argus_moment moment);

#ifdef __cplusplus
}
#endif
#endif
