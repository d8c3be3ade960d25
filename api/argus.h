/* The public C library of Argus: opens a trace, lists its hangs, and says why they happened.
 *
 *     struct argus_file *file;
 *     struct argus_error *error = argus_file_open("freeze.argus", NULL, &file);
 *
 * Link with `pkg-config --cflags --libs argus`. libargus(3) has an overview, and
 * examples/api/list_hangs.c is a whole program.
 *
 * Errors: a function that can fail returns `struct argus_error *`, and NULL means success. The
 * caller frees an error with argus_error_free(). After an error, out-parameters are unchanged. The
 * library never prints, exits or aborts.
 *
 * Ownership: what a function with `ret` as its last parameter creates belongs to the caller, who
 * ends it with the function of the same type that ends in _close or _free; NULL is allowed there.
 * All other pointers belong to the object that returned them, and are valid until that object ends.
 * A list or an answer keeps its file alive: objects may be ended in any order.
 *
 * Threads: a file and everything that was made from it may be used by one thread at a time.
 * Different files may be used by different threads at the same time. Ending an object is no use of
 * the others: any thread may do it, also while another one is in a call with another object of the
 * same file.
 *
 * Stability: within one API version (the number in the name libargus.so.1), functions are only
 * added, and structures only grow at their end. So a program never makes a structure of the library
 * itself, copies one or compares its size, except those that begin with `size_bytes`, which the
 * program sets to sizeof. An enum may get more values.
 *
 * Texts are UTF-8. Times are ns of the trace's clock; ns since 1970 where the name says "wall".
 * NULL stands for an unknown text, ARGUS_UNKNOWN for an unknown number.
 */
#ifndef ARGUS_API_H
#define ARGUS_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_API_VERSION 1
#define ARGUS_UNKNOWN     UINT64_MAX

/* Marks what the shared library exports. */
#define ARGUS_API __attribute__((visibility("default")))

/* The version of Argus, such as "0.9 (1a2b3c4)". Static. */
ARGUS_API const char *argus_library_version(void);

/* --- errors --- */

struct argus_error;

enum argus_failure {
    ARGUS_FAILURE_MEMORY = 1,
    ARGUS_FAILURE_IO = 2,        /* a file or folder could not be read */
    ARGUS_FAILURE_FORMAT = 3,    /* the file is no trace, or is damaged */
    ARGUS_FAILURE_VERSION = 4,   /* the trace was written by a newer Argus */
    ARGUS_FAILURE_USAGE = 5,     /* wrong argument */
    ARGUS_FAILURE_NOT_FOUND = 6, /* the trace has no such thing */
    ARGUS_FAILURE_PERMISSION = 7,
    ARGUS_FAILURE_UNSUPPORTED = 8, /* this build or system lacks what is needed */
    ARGUS_FAILURE_INTERRUPTED = 9, /* `go_on` returned false */
    ARGUS_FAILURE_OTHER = 10,
};

ARGUS_API enum argus_failure argus_error_failure(const struct argus_error *error);
/* One sentence without newline. */
ARGUS_API const char *argus_error_text(const struct argus_error *error);
ARGUS_API void argus_error_free(struct argus_error *error);

/* --- files --- */

struct argus_file;

struct argus_open_options {
    size_t size_bytes; /* sizeof(struct argus_open_options) */
    /* Called at most ten times a second by functions that take longer than half a second, in the
     * thread that called them. `what` is the current work, `share` the done part of it from 0 to 1,
     * or less than 0 if unknown. Returning false ends the call with ARGUS_FAILURE_INTERRUPTED.
     * NULL: not called. */
    bool (*go_on)(void *data, const char *what, double share);
    void *data;
};

/* What a trace is about. */
struct argus_file_info {
    const char *path;   /* as given to argus_file_open(); a first "~/" is the home folder's path */
    const char *format; /* such as "1.3" for an .argus file, "kdebug V2" */
    const char *os;     /* "linux" or "darwin" */
    const char *host;   /* system, release and machine */
    uint64_t cpus;
    uint64_t start_ns, end_ns; /* first and last record */
    uint64_t start_wall_ns;    /* time of day of start_ns */
    uint64_t records, lost;    /* records in the file, records that the recorder lost */
    bool complete;             /* false: the file was cut off or is damaged */
    bool imported; /* a trace of another tool, read through a copy in the user's cache */
};

/* Opens a trace of any format that the commands of Argus read, a file or (CTF) a folder, and builds
 * its graph. `options` may be NULL. Traces of other tools are imported by the program argus-import
 * into the user's cache; large graphs are kept next to it or in the cache, as the commands do. If
 * DEBUGINFOD_URLS is set, names of functions are fetched from these servers. */
ARGUS_API struct argus_error *argus_file_open(const char *path,
                                              const struct argus_open_options *options,
                                              struct argus_file **ret);
ARGUS_API void argus_file_close(struct argus_file *file);
ARGUS_API const struct argus_file_info *argus_file_info_get(const struct argus_file *file);
/* Warnings about the trace so far, one sentence each: damage, lost records. NULL after the last
 * one. */
ARGUS_API const char *argus_file_warning(const struct argus_file *file, size_t index);

/* --- hangs --- */

struct argus_hang_list;

struct argus_hang_filter {
    size_t size_bytes;     /* sizeof(struct argus_hang_filter) */
    const char *process;   /* only processes of this name; NULL: all */
    uint64_t pid;          /* only this process; 0: all */
    uint64_t threshold_ns; /* the shortest hang; 0: 2 s */
};

/* A period in which a thread did not respond. */
struct argus_hang_info {
    const char *process, *thread; /* names, as the kernel has them */
    uint64_t pid, tid;
    uint64_t start_ns, end_ns, start_wall_ns;
    const char *type;      /* "LongWait", "LongRunning" or "RepeatedYield" */
    const char *nature;    /* such as "stopped", "no cpu"; NULL: nothing special */
    const char *indicator; /* why it is taken for a hang */
    bool ongoing;          /* it had not ended when the trace did */
    bool awaited;          /* something waited for the thread */
    uint64_t run_ns, runnable_ns, wait_ns, yield_ns; /* these add up to the duration */
    uint64_t vertex; /* of the graph: 1234 for v1234; ARGUS_UNKNOWN: none */
};

/* The hangs that `argus hangs` lists, the most urgent first. `filter` may be NULL. */
ARGUS_API struct argus_error *argus_hang_list_create(struct argus_file *file,
                                                     const struct argus_hang_filter *filter,
                                                     struct argus_hang_list **ret);
ARGUS_API void argus_hang_list_free(struct argus_hang_list *list);
ARGUS_API size_t argus_hang_list_count(const struct argus_hang_list *list);
/* NULL: there are fewer hangs. */
ARGUS_API const struct argus_hang_info *argus_hang_list_get(const struct argus_hang_list *list,
                                                            size_t index);

/* --- the diagnosis of a hang --- */

struct argus_answer;

/* A step of the path from the thread that hung back to the root cause. */
struct argus_answer_step {
    const char *process, *thread;
    uint64_t pid, tid;
    const char *text; /* what the thread did */
    const char *edge; /* how it caused the previous step: "wake-up", "message"; NULL: the first */
    bool strong;      /* the edge is certain */
    bool expected;    /* from a normal case: what should have happened */
    bool vague;       /* it only could have ended the wait of the previous step */
    uint64_t vertex;
};

struct argus_answer_culprit {
    const char *process, *thread;
    uint64_t pid, tid;
    const char *type;
    const char *why;           /* what it did, a sentence without its end */
    const char *function;      /* the function to look at first; NULL: unknown */
    const char *image;         /* its program, library or script; NULL: unknown */
    uint64_t start_ns, end_ns; /* its part in the hang */
    double share;              /* of the hang, 0 to 1 */
    uint64_t vertex;
};

/* Diagnoses hang `index` of the list. Where the trace leaves a choice, the default is taken, and
 * the choice is one of the doubts. */
ARGUS_API struct argus_error *argus_answer_create(struct argus_hang_list *list, size_t index,
                                                  struct argus_answer **ret);
ARGUS_API void argus_answer_free(struct argus_answer *answer);
/* One sentence. */
ARGUS_API const char *argus_answer_summary(const struct argus_answer *answer);
/* Whether a part of it is a guess; the summary then says "probably". */
ARGUS_API bool argus_answer_is_guess(const struct argus_answer *answer);
/* All that `argus diagnose` prints, as text and as JSON (share/argus/schema/diagnose.json). */
ARGUS_API const char *argus_answer_text(const struct argus_answer *answer);
ARGUS_API const char *argus_answer_json(const struct argus_answer *answer);
/* NULL after the last one: the steps from the thread that hung on, the culprits with the root cause
 * first, and what is uncertain. */
ARGUS_API const struct argus_answer_step *argus_answer_step_get(const struct argus_answer *answer,
                                                                size_t index);
ARGUS_API const struct argus_answer_culprit *
argus_answer_culprit_get(const struct argus_answer *answer, size_t index);
ARGUS_API const char *argus_answer_doubt(const struct argus_answer *answer, size_t index);

/* --- calling contexts --- */

struct argus_context_list;

struct argus_context_filter {
    size_t size_bytes;       /* sizeof(struct argus_context_filter) */
    const char *process;     /* only processes of this name or ID; NULL: all, or those of the
                               * recorded command */
    struct argus_file *base; /* a trace in which all went well; NULL: none. Borrowed for the call,
                              * in which it is used as the other file is: by no other thread */
    bool aggressive;         /* a function ends with the first stack without it */
    size_t most;             /* the longest list; 0: 100 */
};

/* A path of functions, and what it costs. */
struct argus_context_info {
    /* own time of the path's functions, or what it exceeds the base's by, without callers that
     * count in another path */
    double cost_ns;
    uint64_t own_ns, total_ns; /* of the innermost function: without and with its callees */
    uint64_t calls;
    bool is_new;    /* the base has no such path */
    bool by_chance; /* the cost is within the measurement's error */
    size_t frames;  /* number of functions */
    size_t culprit; /* index of the function with the highest share of the cost */
};

struct argus_context_frame {
    const char *function;
    const char *image; /* path of its program or library; NULL: unknown */
};

/* The costliest calling contexts, as `argus contexts` ranks them. ARGUS_FAILURE_NOT_FOUND: the
 * trace has no call stacks. */
ARGUS_API struct argus_error *argus_context_list_create(struct argus_file *file,
                                                        const struct argus_context_filter *filter,
                                                        struct argus_context_list **ret);
ARGUS_API void argus_context_list_free(struct argus_context_list *list);
ARGUS_API size_t argus_context_list_count(const struct argus_context_list *list);
/* NULL: there are fewer. */
ARGUS_API const struct argus_context_info *
argus_context_list_get(const struct argus_context_list *list, size_t index);
/* Frame 0 is the program, frame 1 the outermost function. NULL: there are fewer. */
ARGUS_API const struct argus_context_frame *
argus_context_list_frame(const struct argus_context_list *list, size_t index, size_t frame);

#ifdef __cplusplus
}
#endif
#endif
