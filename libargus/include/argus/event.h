/* The recorded machine: its processes, threads, stacks and executable images, and the records in
 * time order.
 *
 * The kernel can reuse a thread ID within one trace. A thread here is therefore one *life* of a
 * thread ID, and everything refers to it by index. The same holds for processes. Names are those of
 * the kernel (Linux: comm).
 *
 * Pointers and strings are borrowed from the object that returned them and valid as long as it is.
 * A built object is read-only and may be read by several threads.
 */
#ifndef ARGUS_EVENT_H
#define ARGUS_EVENT_H

#include "argus/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_NONE UINT32_MAX /* no such process, thread, vertex, edge, stack */

/* Called from time to time during long work with 0.0 … 1.0. Returning false cancels the work
 * (ARGUS_ERROR_INTERRUPTED). */
typedef bool (*argus_progress)(void *context, const char *what, double share);

/* Whether files are still fetched from debuginfod servers, and if not, why. */
enum argus_fetch_end {
    ARGUS_FETCH_OPEN,        /* files are fetched when they are needed */
    ARGUS_FETCH_NO_LIBRARY,  /* libdebuginfod is not installed */
    ARGUS_FETCH_INTERRUPTED, /* the progress function returned false */
    /* the time for one command is used up, or a server did not answer in time */
    ARGUS_FETCH_TOO_LONG,
    ARGUS_FETCH_FAILED /* no server can be reached, or the cache cannot be written: `error` */
};

/* What was fetched from debuginfod servers for an answer (argus/symbols.h). */
struct argus_fetched {
    uint64_t files;   /* fetched, or found in the library's cache */
    uint64_t unknown; /* files that no server has */
    int error;        /* errno */
    enum argus_fetch_end end;
};

/* What a thread waits for when a system call blocks. */
enum argus_wait_kind {
    ARGUS_WAIT_NONE,    /* the vertex did not end in a wait: exit, callback end, end of the trace */
    ARGUS_WAIT_FUTEX,   /* locks, condition variables, joins */
    ARGUS_WAIT_POLL,    /* poll, select, epoll: usually an event loop's wait */
    ARGUS_WAIT_READ,    /* read, recv, accept: for incoming data */
    ARGUS_WAIT_WRITE,   /* write, send, connect: for room at the receiver */
    ARGUS_WAIT_SLEEP,   /* nanosleep, poll without descriptors */
    ARGUS_WAIT_CHILD,   /* wait4, waitid, vfork */
    ARGUS_WAIT_SIGNAL,  /* sigwait, pause */
    ARGUS_WAIT_DISK,    /* uninterruptible, in a file system call or fsync */
    ARGUS_WAIT_FAULT,   /* outside any system call: a page fault or similar */
    ARGUS_WAIT_STOPPED, /* SIGSTOP, a debugger, a frozen control group, the machine's sleep */
    ARGUS_WAIT_KERNEL,  /* a kernel thread's own wait */
    ARGUS_WAIT_OTHER,   /* another system call; its name tells which */
};

struct argus_process {
    uint64_t pid;
    uint64_t parent_pid; /* 0: unknown */
    uint64_t start_ns,
        /* its life as far as the trace shows it; start 0: began before the trace, end UINT64_MAX:
         * outlived it */
        end_ns;
    uint64_t exec_ns;     /* when it last executed another program; 0: not within this trace */
    const char *name;     /* the last comm of its main thread */
    uint32_t main_thread; /* thread index, ARGUS_NONE if the main thread was never seen */
    /* index of the process whose images it shares until it execs; or ARGUS_NONE */
    uint32_t forked_from;
    bool kernel;         /* a kernel thread: never a culprit, but causes are followed through it */
    bool serves_display; /* has the server's end of connections to a display open (X11, Wayland) */
};

struct argus_thread {
    uint64_t tid;
    uint64_t start_ns, end_ns; /* as in struct argus_process */
    const char *name;          /* its last comm */
    uint32_t process;          /* process index, always valid */
    uint32_t first_vertex;     /* a thread's vertices are contiguous and in time order */
    uint32_t vertex_count;
    bool idle; /* stands for the idle threads of all CPUs (tid 0); never has a vertex */
};

/* The name of a record's tracepoint, with "_start" or "_end" if it has both, e.g. "switch",
 * "syscall_start". NULL: `debugid` is in no table. Static. */
const char *argus_tracepoint_name(uint32_t debugid);

/* A record as text, without time, CPU and thread: "switch state=1 next=4712". A debugid without a
 * name is printed as a hexadecimal number with all arguments. Numbers that are addresses or ids are
 * hexadecimal. Always ends `buffer` with a NUL; returns `buffer`. */
const char *argus_record_text(const struct argus_record *record, enum argus_os os, char *buffer,
                              size_t buffer_bytes);

/* "button press" for an enum argus_ui_event, "queue" for an enum argus_probe_shape; "unknown" for
 * any other number. Static. */
const char *argus_ui_event_name(uint32_t kind);
const char *argus_probe_shape_name(uint32_t shape);

/* Name of a system call of the trace's OS and architecture. If unknown, "syscall_999" is written
 * into `buffer`. */
const char *argus_syscall_name(const struct argus_trace *trace, uint32_t number, char *buffer,
                               size_t buffer_bytes);

/* A call stack, interned: the same frames have the same index. Innermost first, return addresses
 * from frame 1. */
struct argus_stack {
    const uint64_t *frames;
    uint32_t count;
};

/* Adds a BUILD IDS chunk to the trace at `path`, with the build IDs of images that lack one, read
 * from the notes of their ELF files. The unprivileged front end calls it after a recording. Deleted
 * files are skipped. */
struct argus_error *argus_build_ids_append(const char *path);

#ifdef __cplusplus
}
#endif
#endif
