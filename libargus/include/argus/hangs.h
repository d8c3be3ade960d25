/* Hangs: stretches of a thread's time in which somebody waited for it, and it did not look.
 *
 * An event loop is known by what its thread does: it comes back to a poll, select or epoll call again and again, or a
 * toolkit's probes tell of its turns. A hang is a stretch, as long as the threshold at least, in which it does not come back. A
 * thread that waits in its poll is idle, however long; so is one whose polls return at once because there is always something
 * to do (of the stretches between polls that returned at once only the first, the last and the longest are told). What the machine spent frozen for a suspend is not counted.
 *
 * What was *pending* is what came for the thread in that time and was not taken: messages, callbacks of other threads,
 * descriptors that the next poll found ready, UI events read behind. A hang with nothing pending, which the thread's own
 * timer set off, bothered nobody: it is listed behind the others (`urgency`). A person notices a window first.
 *
 * With nothing pending, a stretch is left out where nobody can have noticed it: a worker thread's, a wait for child processes, a wait
 * of a thread for which another one polls (diagnose/hangs/unnoticed.c).
 *
 * A wait inside a handler is told from the loop's own by call stacks (diagnose/hangs/nesting.c): it is no coming back, however often
 * the handler polls, unless it takes what the loop would take, as a modal dialog does.
 *
 * Other indicators point at a moment in which a program was found not to answer (see enum argus_indicator); they confirm
 * what is in the list, or add the stretch around their moment whatever its length.
 */
#ifndef ARGUS_HANGS_H
#define ARGUS_HANGS_H

#include "argus/graph.h"
#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shorter thresholds work as well; below some 250 ms a person hardly notices, and there are many such stretches. */
#define ARGUS_HANG_THRESHOLD_NS 2000000000ull

/* Why something is taken for a hang; the table says what each means. */
enum argus_indicator {
#define HANG_INDICATOR(symbol, find, name) ARGUS_INDICATOR_##symbol,
#include "argus/hang_indicators.def"
#undef HANG_INDICATOR
    ARGUS_INDICATORS
};

/* What a hang's type does not say by itself. The shares are of the hang's duration. */
enum argus_hang_nature {
    ARGUS_NATURE_PLAIN,
    ARGUS_NATURE_STOPPED, /* LongWait: stopped by a signal or a debugger for half of it */
    ARGUS_NATURE_NO_CPU,  /* LongRunning: wanted a cpu and had none for half of it */
    ARGUS_NATURE_PAGE_IN, /* waited for pages (of programs, mapped files, swap) for half of it, 10 times at least */
    ARGUS_NATURE_DISK, /* waited for pages, or for a disk inside a system call, for half of it */
    ARGUS_NATURE_IDLE, /* it was named, but only waited for input, and none was pending */
};

/* A stretch of one thread's time that is to be explained. */
/* Who is bothered by a hang, as far as the trace tells. */
enum argus_urgency {
    ARGUS_URGENCY_NOBODY,         /* its own timer set it off, and nothing was pending */
    ARGUS_URGENCY_SET_OFF,        /* another thread had set it off */
    ARGUS_URGENCY_WINDOW_SET_OFF, /* … of a thread that hands UI events to its program */
    ARGUS_URGENCY_PENDING,        /* something was pending */
    ARGUS_URGENCY_WINDOW_PENDING, /* … for a thread that hands UI events to its program */
};

struct argus_hang {
    uint64_t start_ns, end_ns;
    uint32_t thread;
    uint32_t vertex;     /* the spinning vertex: the one that makes up most of it */
    uint32_t indicators; /* bit for each enum argus_indicator that tells of it */
    uint8_t indicator;   /* enum argus_indicator: the first of them */
    uint8_t type;        /* enum argus_vertex_type of the whole hang */
    uint8_t nature;      /* enum argus_hang_nature */
    bool ongoing;        /* still so when the trace (or the process) ended */
    uint8_t urgency;     /* enum argus_urgency */
    uint64_t run_ns, runnable_ns, wait_ns,
        yield_ns; /* the thread's own time in it, adding up to the duration */
    uint64_t fault_ns, disk_ns, stopped_ns; /* parts of wait_ns: for pages, for a disk, stopped */
    uint32_t fault_count;                   /* waits for pages */
    uint64_t
        suspended_ns; /* the machine was suspended meanwhile for so long, which the duration does not count */
};

struct argus_hangs {
    struct argus_hang
        *items; /* owned; the most urgent first, then the longest first, ties by start */
    size_t count;
};

struct argus_hang_options {
    uint64_t threshold_ns;    /* 0: ARGUS_HANG_THRESHOLD_NS */
    const char *process_name; /* only this process (comm); NULL: all */
    const char *thread_name;  /* only threads of this name (comm); NULL: all */
    uint64_t pid, tid;        /* only these; 0: all */
    bool has_time; /* only what has a part in the time below; then the threshold is 50 ms at most */
    uint64_t time_ns, until_ns; /* of the trace clock, both inclusive */
    bool
        at_least_one; /* with something of the above: if no event loop hung, the LONGEST indicator */
    struct argus_symbols
        *symbols; /* borrowed; NULL: the indicators that need names of functions are left out */
};

struct argus_error *argus_hangs_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_hangs *ret);
void argus_hangs_deinit(struct argus_hangs *hangs);

/* The hang that a vertex names: it and its wait. */
struct argus_hang argus_hang_of_vertex(const struct argus_graph *graph, uint32_t vertex);

/* For people and JSON. The name of ARGUS_NATURE_PLAIN is NULL. */
const char *argus_indicator_name(enum argus_indicator indicator);
const char *argus_nature_name(enum argus_hang_nature nature);

/* --- what was looked at --- */

/* A thread that is an event loop. */
struct argus_loop {
    uint64_t start_ns, end_ns; /* the longest that it was idle in its wait */
    uint32_t thread;
};

struct argus_loops {
    struct argus_loop *items; /* owned; the longest idle first */
    size_t count;
};

/* The event loops among the threads that the options name. */
struct argus_error *argus_loops_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_loops *ret);
void argus_loops_deinit(struct argus_loops *loops);

/* --- what was pending --- */

enum argus_pending_kind {
    ARGUS_PENDING_MESSAGE,  /* sent to the thread, and taken late or never */
    ARGUS_PENDING_CALLBACK, /* another thread queued a callback for it */
    ARGUS_PENDING_READY,    /* a descriptor of which no sender is known: `ready` says which */
    ARGUS_PENDING_UI_EVENT, /* UI events that it read when it came back */
    ARGUS_PENDING_SET_OFF,  /* not pending: what it was busy with, or had begun the hang with */
};

/* What one thread sent, or one descriptor had. */
struct argus_pending {
    uint64_t first_ns;  /* when the first of it came; for READY and UI_EVENT when it was found */
    uint32_t count;     /* at least so many; several sends of one vertex count as one */
    uint32_t sender;    /* thread; ARGUS_NONE: unknown, or a device */
    uint32_t ui_events; /* bit for each enum argus_ui_event */
    bool unread;        /* not taken when the trace ended */
    uint8_t kind;       /* enum argus_pending_kind */
    struct argus_arrival ready;
};

struct argus_pendings {
    struct argus_pending *items; /* owned; what set the hang off first, then by `first_ns` */
    size_t count;
};

struct argus_error *argus_pending_find(const struct argus_graph *graph,
                                       const struct argus_hang *hang, struct argus_pendings *ret);
void argus_pendings_deinit(struct argus_pendings *pendings);

#ifdef __cplusplus
}
#endif
#endif
