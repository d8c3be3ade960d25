/* IntroPerf (Kim et al., SIGMETRICS 2014): infers from a trace's call stacks alone how long
 * functions took in which calling context.
 *
 * A thread's stacks are taken at moments: system calls, context switches, wake-ups, CPU samples. If
 * a function with the same callers is in two consecutive stacks, it is assumed to have run in
 * between (the paper's algorithm 2). So each moment ends some function instances and begins others.
 * The conservative length of an instance is from its first to its last moment; the aggressive
 * length is until the first moment without it. The instances of all threads are added up in one
 * calling context tree (PA-CCT), whose nodes are functions with the same callers. The first level
 * of the tree is the program (the process's name).
 *
 * Some moments need no recorded stack: when a system call returns or a thread is on a CPU again,
 * its user stack is the one before (ARGUS_MOMENT_RETURN).
 *
 * A function that is seen in a single sample has no conservative time, although a sample stands for
 * the time around it. So CPU samples move time from the function that continued to the functions
 * that were sampled (sampled.c).
 *
 * The times of a node are computed once, in times.c, and every output shows these: `own_ns` is what
 * its function took itself, `total_ns` adds its callees. A total is always the sum of the own times
 * below it. `inferred_ns` is the paper's total, without the shares by samples; only ARGUS_RANK_MEAN
 * uses it. The paper subtracts means from means, and the result can be negative.
 *
 * Own time is also divided by what the graph knows of the waits in it (ARGUS_WAITED_…). A worker
 * that waits for work has not become slow. A thread that waits for a reply is as slow as the
 * replying thread, whose context already has that time.
 *
 * Nothing is dropped: the life of each thread is the sum of the own times of its program's nodes
 * and of the time without a known stack (struct argus_context_program).
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

/* Where code lies. A library's file is named lib….so.N, or lies in one of the system's library
 * folders; any other shared object is a plug-in. */
enum argus_layer {
    ARGUS_LAYER_MAIN,    /* the program's own file */
    ARGUS_LAYER_LIBRARY, /* also the dynamic linker and the vdso */
    ARGUS_LAYER_PLUGIN,
    ARGUS_LAYER_KERNEL, /* the system call, or what the kernel did below it */
    /* no file is mapped there: code made at run time, or its mapping was not recorded */
    ARGUS_LAYER_UNKNOWN,
    ARGUS_LAYERS
};

enum argus_waited {
    ARGUS_WAITED_OTHERS, /* another thread of the trace ended the wait */
    ARGUS_WAITED_IDLE,   /* for something that did not come: a poll or lock timed out */
    ARGUS_WAITED_SLEPT,  /* its own sleep, or a poll that no thread of the trace ended */
    ARGUS_WAITED_CPU,    /* preempted: waited for a CPU */
    /* all other waits: disk, device, page faults, stopped, a child that is not analyzed. They count
     * as own work. */
    ARGUS_WAITED_DEVICE,
    /* in a language runtime's scheduler: the thread had no task. Which tasks waited is not seen. */
    ARGUS_WAITED_SCHEDULER,
    ARGUS_WAITED_KINDS
};

/* Why no stack is known for a part of a thread's life. */
enum argus_unseen {
    ARGUS_UNSEEN_EVER,   /* the thread has no stack at all */
    ARGUS_UNSEEN_BEFORE, /* before its first stack */
    ARGUS_UNSEEN_AFTER,  /* after its last stack */
    ARGUS_UNSEEN_OPEN,   /* a wait that had not ended when the trace did */
    ARGUS_UNSEEN_LOST,   /* records are missing */
    ARGUS_UNSEEN_KINDS
};

/* At what a stack was taken. The first numbers are those of enum argus_stack_why. */
enum argus_moment {
    ARGUS_MOMENT_RETURN = 0, /* no stack was taken: the previous one is valid until here */
    ARGUS_MOMENT_BLOCK = 1,
    ARGUS_MOMENT_WAKE = 2,
    ARGUS_MOMENT_FLAG = 3,
    ARGUS_MOMENT_CALL = 4,
    ARGUS_MOMENT_PREEMPTED = 5,
    ARGUS_MOMENT_SAMPLE,
    ARGUS_MOMENTS
};

/* A function in one calling context: the path from the root to it. Node 0 is the root; a parent
 * comes before its children. Times are in ns and indexed by enum argus_estimate. */
struct argus_context_node {
    uint32_t parent;   /* ARGUS_NONE: the root */
    uint32_t depth;    /* the root is 0, a program 1, a thread's outermost function 2 */
    uint32_t function; /* index: argus_contexts_functions(); ARGUS_NONE for the root */
    uint32_t path;     /* path index if a stack ended here, else ARGUS_NONE */
    uint64_t count;    /* function instances; 0 for the root and the programs */
    uint64_t total_ns[ARGUS_ESTIMATES]; /* own_ns of it and of all nodes below it */
    /* what the function took itself. Of a program: time in which no function of it went on. */
    uint64_t own_ns[ARGUS_ESTIMATES];
    uint64_t waited_ns[ARGUS_ESTIMATES][ARGUS_WAITED_KINDS]; /* parts of own_ns */
    uint64_t inferred_ns[ARGUS_ESTIMATES]; /* total by stacks alone, as in the paper */
    int64_t sampled_ns; /* part of the conservative own_ns that samples added or, < 0, took away */
    double variance;    /* of sampled_ns, in ns * ns: the number of samples depends on chance */
    bool is_inlined;   /* at least once, it was part of its caller's code instead of being called */
    bool in_scheduler; /* below the outermost function of a language runtime's scheduler */
};

struct argus_context_function {
    /* "function", "file+0x1234" without a symbol, "[code made at run time]" if that has no names */
    const char *name;
    const char *image; /* path, "[kernel]", "[program]" for the first level, "" if none */
    uint8_t layer;     /* enum argus_layer */
    bool is_script;    /* argus_symbol_is_script() */
};

/* How long the threads in a node's own code waited for a process. The thread that ended a wait may
 * itself have been waiting: the time is charged to the process that was at work meanwhile, as the
 * diagnosis does for a hang (argus_account()). */
struct argus_context_wait {
    uint64_t ns;       /* charged to this process */
    uint64_t ended_ns; /* of the waits that this process ended itself */
    uint64_t count;    /* number of those waits */
    uint32_t node;
    uint32_t process; /* index: argus_graph_processes() */
};

/* The context of the threads that ended waits: for a lock, the holder that released it. */
struct argus_context_waker {
    uint64_t ns, count; /* of the waits */
    uint32_t node;      /* that waited */
    uint32_t waker;     /* node of the thread that ended them */
};

/* How long the threads of a program lived within the analyzed period: total_ns of its node plus
 * unseen_ns and wanted_cpu_ns, in both modes. */
struct argus_context_program {
    uint32_t node; /* 0: programs without any stack */
    uint32_t threads;
    uint64_t first_ns, last_ns; /* when its first thread began, and its last one ended */
    uint64_t thread_ns;
    uint64_t unseen_ns[ARGUS_UNSEEN_KINDS];
    uint64_t wanted_cpu_ns; /* without a known stack, they waited for a CPU */
};

struct argus_context_counts {
    uint64_t moments[ARGUS_MOMENTS];
    uint64_t cut;                      /* moments whose stack lacks its outermost frames */
    uint64_t cut_by[ARGUS_FRAME_ENDS]; /* the same by reason: enum argus_frame_end */
    /* of `cut`: continued by functions that the thread had in complete stacks */
    uint64_t grafted;
    /* moments whose stack does not reach the beginning of its thread, for lack of frame pointers */
    uint64_t rootless;
    uint64_t missing;   /* moments whose stack is not in the trace */
    uint64_t open_ns;   /* waits that had not ended when the trace did; not part of any latency */
    uint64_t instances; /* function instances */
    uint32_t threads, paths, images, functions; /* that occurred */
    uint32_t longest;                           /* frames of the longest path */
    double mean_frames;                         /* of the paths */
};

/* A moment as the inference uses it, in time order. */
struct argus_context_moment {
    uint64_t time_ns, tid;
    uint32_t node; /* where the stack ends; index: argus_contexts_nodes() */
    uint32_t call; /* number of the system call in progress; ARGUS_NONE: none */
    uint8_t kind;  /* enum argus_moment */
};

/* Called for each moment; returning false leaves it out. */
typedef bool (*argus_context_observer)(void *context, const struct argus_context_moment *moment);

struct argus_contexts_options {
    const char *process; /* only processes with this name or ID; NULL: all */
    uint32_t vertex;     /* only this vertex and its wait; ARGUS_NONE: all */
    /* if the trace says which command was recorded: only its processes, and others that it waited
     * for; unless `process` is none of them, or `vertex` chooses */
    bool of_command;
    /* by process of the graph: also those that are true, and no others if `of_command` finds no
     * command; may be NULL; borrowed for the call */
    const bool *story;
    const struct argus_graph *other; /* of the trace to compare with, may be NULL; borrowed */
    bool no_samples;                 /* leave cpu samples out */
    bool no_returns;                 /* only moments with a recorded stack */
    bool kernel;                     /* include the kernel's functions, not only the system call */
    /* allow argus_contexts_name_shown() to ask servers for names of what is printed */
    bool late_names;
    argus_context_observer observe; /* may be NULL */
    void *observe_context;
};

#define ARGUS_CONTEXTS_OPTIONS                                                                     \
    (struct argus_contexts_options)                                                                \
    {                                                                                              \
        .vertex = ARGUS_NONE                                                                       \
    }

struct argus_contexts;

/* Reads the trace of `graph` once. Both are borrowed and must outlive the result.
 * ARGUS_ERROR_NOT_FOUND: the chosen part of the trace has no stack. */
struct argus_error *argus_contexts_create(const struct argus_graph *graph,
                                          struct argus_symbols *symbols,
                                          const struct argus_contexts_options *options,
                                          argus_progress progress, void *context,
                                          struct argus_contexts **ret);
void argus_contexts_destroy(struct argus_contexts *contexts);

/* All of them are borrowed. */
size_t argus_contexts_nodes(const struct argus_contexts *contexts,
                            const struct argus_context_node **ret);
size_t argus_contexts_functions(const struct argus_contexts *contexts,
                                const struct argus_context_function **ret);
/* of a node, the longest first */
size_t argus_contexts_waits(const struct argus_contexts *contexts,
                            const struct argus_context_wait **ret);
/* the same for the contexts that ended them; only threads that are analyzed */
size_t argus_contexts_wakers(const struct argus_contexts *contexts,
                             const struct argus_context_waker **ret);
/* in the order of their nodes */
size_t argus_contexts_programs(const struct argus_contexts *contexts,
                               const struct argus_context_program **ret);
const struct argus_context_counts *argus_contexts_counts(const struct argus_contexts *contexts);
const struct argus_graph *argus_contexts_graph(const struct argus_contexts *contexts);

/* --- ranking --- */

/* The cost of a context: for each function of its path, the time by which it exceeds its equivalent
 * in the base, added up. */
enum argus_rank {
    /* own time except waits for others and for a CPU; sleeps, and with a base also waits that timed
     * out, count as far as they exceed the base's */
    ARGUS_RANK_BLAME,
    ARGUS_RANK_TOTAL, /* own time */
    /* the paper's: means minus the means of the children; a path that the base lacks counts in
     * full */
    ARGUS_RANK_MEAN,
    ARGUS_RANKS
};

struct argus_ranking_options {
    enum argus_estimate estimate;
    enum argus_rank rank;
    /* list every path, not only the most expensive one of each bottleneck, and one for those that
     * differ only above the culprit */
    bool every;
};

struct argus_ranked_path {
    double cost_ns;
    double elsewhere_ns; /* with a base: of the callers that count in another entry instead */
    uint32_t node;       /* where the path ends */
    uint32_t bottleneck; /* the node of the path with the highest share of the cost */
    uint32_t others;     /* further paths with this bottleneck */
    /* bottlenecks that this entry stands for, in paths that differ only above the culprit; the
     * other members are those of the most expensive one */
    uint32_t ways;
    bool has_one_caller; /* all ways have the same nearest function outside the C library */
    bool is_new;         /* the base has no such path */
    bool by_function;    /* is_new, but the bottleneck's function is in other paths of the base */
    bool by_chance;      /* the cost is not beyond chance_ns */
    /* twice (with `spread`: three times) the standard deviation of the cost, by the number of CPU
     * samples, and by the base's waits for devices */
    double chance_ns;
    bool chance_of_waits; /* more by the waits than by the samples */
    /* with a base: by_chance because it is less than a thousandth of the run's time, which differs
     * by more from run to run */
    bool is_minor;
    /* > 0: the cost is the CPU time of the bottleneck and its callees, so many functions, of which
     * none alone is beyond chance */
    uint32_t spread;
};

/* What a node that the base lacks has in common with other contexts of the base: its share of what
 * the same function took there. */
struct argus_moved {
    double ns;       /* is subtracted from the node's cost */
    double own_ns;   /* all own time */
    double cpu_ns;   /* part of it */
    double variance; /* of it, in ns * ns */
};

struct argus_ranking {
    /* owned; the most expensive first, those by chance after them, those without a cost last */
    struct argus_ranked_path *paths;
    size_t count;
    double *costs;                       /* owned; of each node alone */
    uint32_t *base_node;                 /* owned; the equivalent node of the base, or ARGUS_NONE */
    uint32_t paths_of_base, paths_equal; /* paths of the base; paths that are in both */
    uint32_t programs_missing;           /* programs that the base lacks */
    /* owned; by node, and by node of the base: is part of some `moved`. NULL unless the traces have
     * other builds of some file. */
    struct argus_moved *moved;
    bool *is_moved;
    /* owned; by node of the base: a node of the same function that the base lacks, or ARGUS_NONE */
    uint32_t *like;
};

/* `base` NULL: no base. Two nodes are equivalent if their paths have the same functions in the same
 * order. A function is the same if its name and its file's name are: another build or another
 * folder does not matter. If the base has no file or program of that name, but one whose name
 * differs only in numbers, that is taken for another version of it. Paths that only one of two
 * builds has are compared by function (`moved`). */
struct argus_error *argus_contexts_rank(const struct argus_contexts *contexts,
                                        const struct argus_contexts *base,
                                        const struct argus_ranking_options *options,
                                        struct argus_ranking *ret);
void argus_ranking_deinit(struct argus_ranking *ranking);

/* --- output --- */

struct argus_contexts_report {
    const struct argus_contexts *contexts, *base; /* `base` may be NULL */
    const struct argus_ranking *ranking;
    struct argus_ranking_options options;
    const char *base_path; /* path of the base's trace; NULL: none */
    size_t top;            /* number of contexts to list */
    bool tree;             /* JSON: include all nodes */
};

struct argus_error *argus_report_contexts(const struct argus_sink *sink,
                                          const struct argus_contexts_report *report, bool json);
/* One line per path: its functions, outermost first, separated by ';', then its own time in us
 * (flamegraph.pl, inferno). */
struct argus_error *argus_report_contexts_folded(const struct argus_sink *sink,
                                                 const struct argus_contexts_report *report);
/* Writes https://www.speedscope.app/file-format-schema.json, type "sampled": one profile per
 * program, weights in ns. */
struct argus_error *argus_report_contexts_speedscope(const struct argus_sink *sink,
                                                     const struct argus_contexts_report *report);
/* For contexts made with `late_names`, to call before these rows are printed as text, or (`json`)
 * as JSON without the whole tree. Functions of these rows that have no name get one from the
 * servers that `symbols` may ask. */
struct argus_error *argus_contexts_name_shown(struct argus_contexts *contexts,
                                              const struct argus_contexts_report *report,
                                              bool json);
const char *argus_layer_name(enum argus_layer layer);
const char *argus_moment_name(enum argus_moment moment);

#ifdef __cplusplus
}
#endif
#endif
