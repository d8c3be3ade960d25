/* The machine that a trace is about: processes, threads, stacks, executable images; and the records in time order.
 *
 * A thread id can be used twice in one trace. So a thread here is one *life* of a thread id, and everything
 * refers to it by its index. Processes likewise. Names are those of the kernel (Linux: comm).
 *
 * All pointers and strings are borrowed from the object they were got from, and valid as long as it.
 * A built object is read-only and may be read by several threads.
 */
#ifndef ARGUS_EVENT_H
#define ARGUS_EVENT_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_NONE UINT32_MAX /* no such process, thread, vertex, edge, stack */

struct argus_process {
    uint64_t pid;
    uint64_t parent_pid; /* 0: unknown */
    uint64_t start_ns,
        end_ns; /* of its life as far as the trace saw it; start 0: before, end UINT64_MAX: after */
    const char *name;     /* comm of the main thread, the last one it had */
    uint32_t main_thread; /* thread index, ARGUS_NONE if the main thread was never seen */
    uint32_t forked_from; /* process index whose images it shares until it execs; ARGUS_NONE */
    bool kernel;          /* a kernel thread: never a culprit, but causality passes through it */
};

struct argus_thread {
    uint64_t tid;
    uint64_t start_ns, end_ns; /* as in struct argus_process */
    const char *name;          /* comm, the last one it had */
    uint32_t process;          /* process index, always valid */
    uint32_t first_vertex;     /* a thread's vertices are contiguous and in time order */
    uint32_t vertex_count;
    bool idle; /* the per-cpu idle thread (tid 0) */
};

/* A call stack, interned: the same frames have the same index. Innermost first, return addresses from frame 1. */
struct argus_stack {
    const uint64_t *frames;
    uint32_t count;
};

#ifdef __cplusplus
}
#endif
#endif
