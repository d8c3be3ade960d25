/* Hangs: periods in which a thread did not respond although something waited for it.
 *
 * An event loop is recognized by what its thread does: it returns to a poll, select or epoll call
 * again and again, or a toolkit's probes report its iterations. A hang is a period, at least as
 * long as the threshold, in which the thread does not return to that call. A thread that waits in
 * its poll is idle, however long it waits. A busy thread whose polls return at once does not hang
 * either (of the periods between such polls, only the first, the last and the longest are
 * reported). Time in which the machine was suspended is not counted.
 *
 * *Pending* is what arrived for the thread in that time and was not taken: messages, callbacks
 * queued by other threads, descriptors that the next poll found ready, UI events that were read
 * afterwards. A hang that the thread's own timer set off, with nothing pending, affected no one: it
 * is listed last (`urgency`). Hangs of threads with windows are listed first, because people notice
 * them first.
 *
 * With nothing pending, a period is left out if no one can have noticed it: a worker thread's
 * period, a wait for child processes, a wait of a thread for which another thread polls
 * (diagnose/hangs/unnoticed.c).
 *
 * Call stacks distinguish a wait inside a handler from the loop's own wait
 * (diagnose/hangs/nesting.c). A handler's wait does not count as a return to the loop, however
 * often the handler polls, unless the handler takes what the loop would take, as a modal dialog
 * does.
 *
 * Other indicators name a moment at which a program was found unresponsive (see enum
 * argus_indicator). They confirm a hang in the list, or add the period around that moment, whatever
 * its length.
 */
#ifndef ARGUS_HANGS_H
#define ARGUS_HANGS_H

#include "argus/graph.h"
#include "argus/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Shorter thresholds work as well. Below about 250 ms a person hardly notices a hang, and there are
 * many such periods. */
#define ARGUS_HANG_THRESHOLD_NS 2000000000ull

/* Why a period is taken for a hang; the table describes each indicator. */
enum argus_indicator {
#define HANG_INDICATOR(symbol, find, name) ARGUS_INDICATOR_##symbol,
#include "argus/hang_indicators.def"
#undef HANG_INDICATOR
    ARGUS_INDICATORS
};

/* What the type of a hang alone does not tell. The shares are of the hang's duration. */
enum argus_hang_nature {
    ARGUS_NATURE_PLAIN,
    ARGUS_NATURE_STOPPED, /* LongWait: stopped by a signal or a debugger for at least half of it */
    ARGUS_NATURE_NO_CPU,  /* LongRunning: wanted a CPU and had none for at least half of it */
    /* waited for pages (of programs, mapped files, swap) for at least half of it, at least 10
     * times */
    ARGUS_NATURE_PAGE_IN,
    /* waited for pages, or for a disk inside a system call, for at least half of it */
    ARGUS_NATURE_DISK,
    ARGUS_NATURE_IDLE, /* the user named it, but it only waited for input, and none was pending */
};

/* Whom a hang affects, as far as the trace tells. */
enum argus_urgency {
    ARGUS_URGENCY_NOBODY,  /* the thread's own timer set it off, and nothing was pending */
    ARGUS_URGENCY_SET_OFF, /* another thread or a device set it off */
    /* the same, of a thread that hands UI events to its program */
    ARGUS_URGENCY_WINDOW_SET_OFF,
    ARGUS_URGENCY_PENDING, /* something was pending */
    /* something was pending for a thread that hands UI events to its program, or its own request
     * was, for a thread that hung itself; or a key or button set it off, and something was pending
     * in another hang of the thread */
    ARGUS_URGENCY_WINDOW_PENDING,
};

/* A period of one thread's time that is to be explained. */
struct argus_hang {
    uint64_t start_ns, end_ns;
    uint32_t thread;
    uint32_t vertex;     /* the spinning vertex: the one that covers most of the hang */
    uint32_t indicators; /* a bit for each enum argus_indicator that reports it */
    uint8_t indicator;   /* enum argus_indicator: the first that reports it */
    uint8_t type;        /* enum argus_vertex_type of the whole hang */
    uint8_t nature;      /* enum argus_hang_nature */
    bool ongoing;        /* it had not ended when the trace (or the process) ended */
    uint8_t urgency;     /* enum argus_urgency */
    uint64_t run_ns, runnable_ns, wait_ns,
        yield_ns; /* how the thread spent the hang; these add up to the duration */
    /* parts of wait_ns: waits for pages, for a disk, while stopped */
    uint64_t fault_ns, disk_ns, stopped_ns;
    uint64_t stepped_ns;  /* part of stopped_ns: while Argus itself stepped a thread that polls */
    uint32_t fault_count; /* number of waits for pages */
    /* time in which the machine was suspended; not part of the duration */
    uint64_t suspended_ns;
};

struct argus_hangs {
    /* owned; the most urgent first, then the longest first, ties by start */
    struct argus_hang *items;
    size_t count;
};

struct argus_hang_options {
    uint64_t threshold_ns;    /* 0: ARGUS_HANG_THRESHOLD_NS */
    const char *process_name; /* only this process (comm); NULL: all */
    const char *thread_name;  /* only threads of this name (comm); NULL: all */
    uint64_t pid, tid;        /* only these; 0: all */
    bool has_time; /* only hangs that overlap the time below; the threshold is then at most 50 ms */
    uint64_t time_ns, until_ns; /* of the trace clock, both inclusive */
    /* with one of the selections above: if no event loop hung, apply the LONGEST indicator */
    bool at_least_one;
    /* borrowed; NULL: indicators that need function names are skipped */
    struct argus_symbols *symbols;
};

/* The threshold that applies, without regard to `has_time`. */
static inline uint64_t argus_hang_threshold_ns(const struct argus_hang_options *options)
{
    return options->threshold_ns ? options->threshold_ns : ARGUS_HANG_THRESHOLD_NS;
}

struct argus_error *argus_hangs_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_hangs *ret);
void argus_hangs_deinit(struct argus_hangs *hangs);

/* The hang that a vertex stands for: the vertex and its wait. */
struct argus_hang argus_hang_of_vertex(const struct argus_graph *graph, uint32_t vertex);

/* For people and JSON. */
const char *argus_indicator_name(enum argus_indicator indicator);

/* --- which threads were examined --- */

/* A thread that is an event loop. */
struct argus_loop {
    uint64_t start_ns, end_ns; /* its longest idle wait */
    uint64_t idle_ns;          /* all of them, within the time that the options select */
    uint32_t thread;
};

struct argus_loops {
    struct argus_loop *items; /* owned; the longest idle first */
    size_t count;
};

/* The event loops among the threads that the options select. */
struct argus_error *argus_loops_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_loops *ret);
void argus_loops_deinit(struct argus_loops *loops);

/* --- what was pending --- */

enum argus_pending_kind {
    ARGUS_PENDING_MESSAGE,  /* sent to the thread, and received late or never */
    ARGUS_PENDING_CALLBACK, /* another thread queued a callback for it */
    ARGUS_PENDING_READY,    /* a descriptor was ready, sender unknown: `ready` says which one */
    ARGUS_PENDING_UI_EVENT, /* UI events that it read when it returned to its loop */
    ARGUS_PENDING_SET_OFF,  /* not pending: the work that it was doing, or that started the hang */
};

/* What one sender sent, or one descriptor had. */
struct argus_pending {
    /* when the first of it arrived; for READY and UI_EVENT, when it was found */
    uint64_t first_ns;
    uint32_t count;     /* at least this many; several sends of one vertex count as one */
    uint32_t sender;    /* thread; ARGUS_NONE: unknown, or a device */
    uint32_t ui_events; /* a bit for each enum argus_ui_event */
    bool unread;        /* never received: struct argus_unread */
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
