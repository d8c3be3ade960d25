/* The diagnosis of the living system, without a recording (`argus why`).
 *
 * A thread that does not go on waits for something, and some thread can end that wait. /proc tells
 * what it waits for; the same /proc and the kernel's lists of sockets and file locks tell who has
 * the other end. The walk goes from thread to thread in this way, across processes, until it
 * reaches a thread that waits for no other one, a circle, or a place where nobody can know.
 *
 * Nothing is changed in the processes, and a walk stops none: memory is read by process_vm_readv(),
 * and the registers of a sleeping thread by /proc/PID/task/TID/syscall. Only running threads are
 * stopped for moments, if they are sampled and the kernel does not allow perf_event. So a killed
 * argus leaves nothing behind.
 *
 * On macOS, libproc, the registers of threads and the Mach ports of tasks tell the same, and the
 * task of a sampled thread is suspended for moments; the kernel resumes it if argus ends. The calls
 * for that have never run on a Mac (docs/macos.md).
 *
 * Precision comes before recall. A wait whose end nobody can know (a condition variable, an event
 * loop's own wait) ends the walk with the reason. A step that is only likely is marked as a guess.
 *
 * The objects belong to one thread. */
#ifndef ARGUS_LIVE_H
#define ARGUS_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_LIVE_NONE       UINT32_MAX
#define ARGUS_LIVE_NAME_BYTES 64 /* Linux keeps 15 characters of a name, macOS up to 63 */

enum argus_live_kind {
#define LIVE_KIND(name, id) ARGUS_LIVE_##name,
#include "argus/live_kinds.def"
#undef LIVE_KIND
    ARGUS_LIVE_KINDS
};

/* How the thread or process of the next step can end a wait. */
enum argus_live_link {
    ARGUS_LIVE_LINK_NONE,     /* there is no next step */
    ARGUS_LIVE_LINK_HOLDS,    /* it holds the lock */
    ARGUS_LIVE_LINK_JOINED,   /* its end is waited for */
    ARGUS_LIVE_LINK_WRITES,   /* it has the writing end open */
    ARGUS_LIVE_LINK_READS,    /* it has the reading end open */
    ARGUS_LIVE_LINK_PEER,     /* it has the other end of the connection */
    ARGUS_LIVE_LINK_ACCEPTS,  /* it has the listening socket */
    ARGUS_LIVE_LINK_CHILD,    /* it is the child whose end is waited for */
    ARGUS_LIVE_LINK_TRACES,   /* it is the tracer, which stopped the thread */
    ARGUS_LIVE_LINK_SERVES,   /* it serves the file system */
    ARGUS_LIVE_LINK_TERMINAL, /* it has the other side of the terminal */
    ARGUS_LIVE_LINK_BUS,      /* it has to answer the D-Bus call */
    ARGUS_LIVE_LINK_UNREAD,   /* it has not read what the waiting process sent to it */
    ARGUS_LIVE_LINK_SHARES,   /* a candidate only: it shares memory, in which it may have a lock */
    ARGUS_LIVE_LINK_CAUSES,   /* it is a child of the waiter, and only children can cause the events
                               */
    ARGUS_LIVE_LINK_ANSWERS,  /* a guess: on this connection, the waiter sent last */
    ARGUS_LIVE_LINK_BACKS,    /* it serves the file of which the disk consists (a loop device) */
    ARGUS_LIVE_LINK_OWNS,     /* it owns the selection of the X server (the clipboard) */
    ARGUS_LIVE_LINK_PROVIDES, /* it provides pages of the memory, by userfaultfd */
    ARGUS_LIVE_LINK_SIGNALS,  /* a guess: the only other thread of its process that is busy */
    ARGUS_LIVE_LINK_EXECUTES, /* it runs the program's main goroutine */
    ARGUS_LIVE_LINK_HEARD,    /* a guess: one of the few clients from which the server reads now */
    ARGUS_LIVE_LINK_REPLIES,  /* it has the right to answer the Mach message */
    ARGUS_LIVE_LINK_HALTED,   /* a guess: it has the other end of a connection, and was stopped */
    ARGUS_LIVE_LINK_QUEUED,   /* it has not accepted a connection which the waiter polls */
};

/* Why a path ends. */
enum argus_live_end {
    ARGUS_LIVE_END_RUNS,    /* the last thread runs, or wants a CPU */
    ARGUS_LIVE_END_SLEEPS,  /* … sleeps by its own clock */
    ARGUS_LIVE_END_STOPPED, /* … was stopped by a signal */
    ARGUS_LIVE_END_IDLE,    /* … waits for events, as in an event loop or a server */
    ARGUS_LIVE_END_PERSON,  /* … waits for input at a terminal */
    ARGUS_LIVE_END_DEVICE,  /* … waits for a disk or another device */
    ARGUS_LIVE_END_REMOTE,  /* … waits for another machine */
    ARGUS_LIVE_END_SIGNAL,  /* … waits for a signal, which any process could send */
    ARGUS_LIVE_END_ZOMBIE,  /* … has ended */
    ARGUS_LIVE_END_CIRCLE,  /* the last thread waits for an earlier one of the path */
    ARGUS_LIVE_END_NOBODY,  /* no process has the other end that could end the wait */
    ARGUS_LIVE_END_SEVERAL, /* several could end the wait, and nothing tells which one should */
    ARGUS_LIVE_END_UNKNOWN, /* the kind of wait does not tell who can end it */
    ARGUS_LIVE_END_DENIED,  /* this user may not look */
    ARGUS_LIVE_END_MUTUAL,  /* both ends of a connection wait for the other one to send */
    ARGUS_LIVE_END_STUCK, /* all threads of the process wait so that none can end another's wait */
    ARGUS_LIVE_END_LOST,  /* the mutex was taken by a thread that is not in the process any more */
    ARGUS_LIVE_END_LONG,  /* the path has too many steps */
};

/* Why something could not be read. */
enum argus_live_denied {
    ARGUS_LIVE_READABLE,
    ARGUS_LIVE_DENIED_OWNER,  /* the process belongs to another user */
    ARGUS_LIVE_DENIED_PTRACE, /* kernel.yama.ptrace_scope, or the process is not dumpable */
    ARGUS_LIVE_DENIED_TASK,   /* macOS: task_for_pid() is not allowed */
    ARGUS_LIVE_DENIED_32_BIT, /* a 32-bit program, whose system calls are not decoded */
};

struct argus_live_process {
    uint32_t pid, parent_pid;
    uint32_t tracer_pid; /* 0: none */
    uint32_t uid;
    char name[ARGUS_LIVE_NAME_BYTES]; /* Linux: comm of the main thread */
    uint32_t title;  /* what it calls itself (setproctitle); ID for argus_live_text(); 0: nothing */
    uint32_t frozen; /* the control group that is frozen; ID for argus_live_text(); 0: none */
    uint32_t first_thread, thread_count;
    enum argus_live_denied denied;
};

struct argus_live_thread {
    uint32_t tid;     /* of macOS's 64 bits, the lower half; 0: not known */
    uint32_t process; /* index */
    char name[ARGUS_LIVE_NAME_BYTES];
    char state;    /* of /proc/PID/stat: R, S, D, T, t, Z, …; macOS: R, S, D, T or ? */
    bool has_call; /* the thread waits in system call `call` (argus_live_call_name()) */
    uint32_t call; /* macOS: Mach traps have 0x2000 added */
    uint64_t arg[6];
    uint64_t sp, pc; /* 0: unknown */
    char wchan[32];  /* the kernel function in which it waits; "": unknown */
};

/* What a goroutine of a Go program does. */
enum argus_live_goroutine {
    ARGUS_LIVE_GOROUTINE_NONE, /* not known */
    ARGUS_LIVE_GOROUTINE_RUNS,
    ARGUS_LIVE_GOROUTINE_SYSCALL,  /* or in code of C */
    ARGUS_LIVE_GOROUTINE_READY,    /* waits for a thread */
    ARGUS_LIVE_GOROUTINE_ENDED,    /* the main one, by runtime.Goexit() */
    ARGUS_LIVE_GOROUTINE_RECEIVES, /* from here on: waits, for a channel, … */
    ARGUS_LIVE_GOROUTINE_SENDS,
    ARGUS_LIVE_GOROUTINE_SELECTS,
    ARGUS_LIVE_GOROUTINE_BLOCKS, /* select {} */
    ARGUS_LIVE_GOROUTINE_MUTEX,
    ARGUS_LIVE_GOROUTINE_RWMUTEX,
    ARGUS_LIVE_GOROUTINE_WAITGROUP,
    ARGUS_LIVE_GOROUTINE_COND,
    ARGUS_LIVE_GOROUTINE_SLEEPS,
    ARGUS_LIVE_GOROUTINE_READS, /* a descriptor, in Go's poller */
    ARGUS_LIVE_GOROUTINE_WRITES,
    ARGUS_LIVE_GOROUTINE_SIGNAL,
    ARGUS_LIVE_GOROUTINE_WAITS, /* for something else */
    ARGUS_LIVE_GOROUTINE_STATES
};

/* What a thread waits for. What does not apply is 0. */
struct argus_live_wait {
    enum argus_live_kind kind;
    bool is_write;       /* for room or a receiver, rather than for data */
    bool has_timeout;    /* the call ends by itself at some time */
    uint32_t fd;         /* ARGUS_LIVE_NONE: no descriptor */
    uint32_t lost_owner; /* of MUTEX: the thread ID in it, of which the process has no thread */
    uint32_t fd_count;   /* of EVENTS: how many descriptors are polled */
    /* address of the lock, inode of the file or socket (macOS: a number for it), process ID of the
     * child, the Mach port's name in the waiting task, … */
    uint64_t object;
    /* the file's path or the lock's type; ID for argus_live_text(); 0: none */
    uint32_t text;
    enum argus_live_goroutine goroutine; /* of GOROUTINE: what the main goroutine does */
    uint32_t device;      /* of DISK: its name; ID for argus_live_text(); 0: unknown */
    uint32_t in_flight;   /* of DISK: requests that the device has not answered */
    uint64_t unread_here; /* bytes that have arrived at a socket and are not read yet */
    /* bytes in the other end's queue; of a D-Bus call: of all clients; of a Mach port: messages */
    uint64_t unread_there;
};

struct argus_live_candidate {
    uint32_t thread;
    enum argus_live_link link;
    /* LINK_SHARES: a thread of the process that it serves; ARGUS_LIVE_NONE: unknown */
    uint32_t client;
};

struct argus_live_frame {
    uint64_t address;    /* a return address, except in the first frame */
    uint32_t function;   /* ID for argus_live_text(); 0: unknown */
    uint32_t image;      /* … of the file's name; 0: unknown */
    uint32_t file, line; /* … of the source file; 0: unknown */
    bool is_script;      /* a function of a Python program */
    bool is_left_out;    /* the image is not read: its file system may not answer */
};

struct argus_live_step {
    uint32_t thread;
    struct argus_live_wait wait;
    enum argus_live_link link; /* to the thread of the next step, or of the circle's first step */
    bool is_guess;             /* this link is only likely */
    bool is_goroutine;         /* what waits is the main goroutine of the thread's Go program */
    bool is_shared;            /* several processes have that other end; the next step is one */
    bool is_pool;              /* the next step stands for workers that are all blocked */
    bool went_on;              /* the thread was no longer in this call when the walk was over */
    uint32_t first_frame, frame_count;
    /* An event loop that a handler of another event loop runs: the library's function that runs it,
     * and the program's function that called that; IDs for argus_live_text(); 0: there is none. */
    uint32_t nested_loop, nested_caller;
    bool is_cut; /* the stack has more frames, which could not be found */
};

/* How a running thread was sampled. */
enum argus_live_sampler {
    ARGUS_LIVE_SAMPLER_NONE, /* not at all: neither is allowed */
    ARGUS_LIVE_SAMPLER_PERF, /* by perf_event, without a stop */
    /* by short stops: the kernel does not allow perf_event; on macOS, of the whole task */
    ARGUS_LIVE_SAMPLER_STOPS,
};

/* A call stack that samples have in common. */
struct argus_live_sampled_stack {
    uint32_t samples;
    uint32_t kernel_samples;           /* those of them in the kernel */
    uint32_t first_frame, frame_count; /* in `frames` of the result */
    bool is_cut;
};

/* Of a function, in how many samples it ran, and in how many it or a function that it called. */
struct argus_live_sampled_function {
    uint32_t function, image; /* IDs for argus_live_text() */
    uint32_t own, all;
};

/* A variable that may end the loop. */
struct argus_live_flag {
    uint32_t name;        /* ID for argus_live_text(): "ready", "queue->head", "0x4060" */
    uint32_t image;       /* … of the file that has it */
    bool has_value;       /* its value is known: */
    uint64_t value;       /* … unsigned, … */
    uint32_t size_bytes;  /* … of this size */
    bool is_lock;         /* the loop tries to take it */
    uint32_t holder;      /* of a lock: the thread that has it; ARGUS_LIVE_NONE: unknown */
    bool is_holder_guess; /* which lock it is, only words on the stack tell */
};

#define ARGUS_LIVE_FLAGS 3

/* The loop in which a thread waits for variables. */
struct argus_live_loop {
    uint32_t flag_count; /* 0: no such loop was found */
    struct argus_live_flag flags[ARGUS_LIVE_FLAGS];
    struct argus_live_frame place; /* in the loop */
    bool is_whole;                 /* nothing else ends the loop, except a counter */
};

/* What a thread did for some time. */
struct argus_live_samples {
    enum argus_live_sampler sampler;
    /* the last two by the kernel's clock; macOS does not tell wanted_cpu_ns: 0 */
    uint64_t elapsed_ns, ran_ns, wanted_cpu_ns;
    uint32_t count;
    struct argus_live_sampled_stack *stacks; /* owned; the most frequent first */
    size_t stack_count;
    struct argus_live_sampled_function *functions; /* owned; by `own`, descending */
    size_t function_count;
    struct argus_live_frame *frames; /* owned */
    size_t frame_count;
    struct argus_live_loop loop; /* if nearly all samples are in one that only looks at variables */
};

/* Goroutines of a Go program with one call stack, without those of Go's runtime itself. */
struct argus_live_goroutines {
    uint64_t id; /* of the first one */
    uint32_t count;
    enum argus_live_goroutine state;
    uint32_t thread;                   /* that runs it; ARGUS_LIVE_NONE: none, or not known */
    uint32_t first_frame, frame_count; /* in `frames` of the answer; none while it runs */
    bool is_cut;
    bool has_channel; /* the channel at which the main goroutine waits is on the stack of one of
                         them */
};

struct argus_live_answer {
    struct argus_live_step *steps; /* at least one */
    size_t step_count;
    struct argus_live_frame *frames;
    size_t frame_count;
    enum argus_live_end end;
    bool is_end_guess; /* of END_STUCK: a signal's handler could end a wait */
    bool is_any;       /* of END_SEVERAL: each process that has the pipe can end the wait */
    uint32_t circle;   /* of END_CIRCLE: the step to which the last one leads */
    /* END_SEVERAL: threads that could end the last wait. END_SLEEPS: threads of processes with a
     * lock of a file that the sleeping process has open, or whose path is on its stack; it may try
     * to take the lock again and again. END_IDLE: processes that share memory with the last one,
     * and serve clients as it does. END_UNKNOWN: the same for threads */
    struct argus_live_candidate *candidates;
    size_t candidate_count;
    struct argus_live_goroutines *goroutines; /* of the last step's program; the main one first */
    size_t goroutine_count;
    uint32_t goroutines_left_out; /* that are in none of these */
    /* of argus_live_look_closer(), about the last step */
    struct argus_live_samples *samples; /* owned; NULL: it was not sampled */
    struct argus_live_loop loop;
};

enum argus_live_display {
    ARGUS_LIVE_DISPLAY_NONE,    /* no X server was found */
    ARGUS_LIVE_DISPLAY_ANSWERS, /* the windows were asked for a sign of life (_NET_WM_PING) */
    ARGUS_LIVE_DISPLAY_DENIED,  /* the X server does not let this user in */
    ARGUS_LIVE_DISPLAY_SILENT,  /* the X server itself does not answer */
};

/* A program's window on the X server. */
struct argus_live_window {
    uint32_t thread; /* main thread of its process; ARGUS_LIVE_NONE: unknown */
    uint32_t title;  /* ID for argus_live_text() */
    bool pings;      /* it has promised to answer pings, … */
    bool answers;    /* … and did so */
};

/* Where to begin if nobody says which process is frozen. */
struct argus_live_overview {
    enum argus_live_display display;
    uint32_t server; /* main thread of the X server, if it is silent; ARGUS_LIVE_NONE */
    bool
        has_wayland; /* programs are connected to a Wayland compositor, whose windows nobody sees */
    struct argus_live_window *windows; /* owned */
    size_t window_count;
    /* Main threads to look at, the most suspicious first: of windows that do not answer, of a
     * silent X server, then those that wait for something which another thread should have ended.
     * Owned. */
    uint32_t *threads;
    size_t thread_count;
};

struct argus_live;

/* Looks at the system. Reads only which processes there are; the rest is read when a walk needs it.
 */
struct argus_error *argus_live_open(struct argus_live **ret);
void argus_live_close(struct argus_live *live);

/* The process `pid` is stopped by the debugger in which argus runs: what its threads did before
 * that is the question, so they count as waiting in the calls in which they were stopped. */
void argus_live_debugged(struct argus_live *live, uint32_t pid);

/* The thread to start with: `word` is the ID of a process or thread, or a process's name. Of
 * several processes of one name, the one that is an ancestor of all others. NOT_FOUND; USAGE:
 * several. */
struct argus_error *argus_live_find(struct argus_live *live, const char *word, uint32_t *ret);

/* Looks for what is frozen: takes about a second. The caller frees with
 * argus_live_overview_deinit(). */
struct argus_error *argus_live_look_around(struct argus_live *live,
                                           struct argus_live_overview *ret);
void argus_live_overview_deinit(struct argus_live_overview *overview);

/* Walks from `thread` to the end. The caller frees with argus_live_answer_deinit(). */
struct argus_error *argus_live_walk(struct argus_live *live, uint32_t thread,
                                    struct argus_live_answer *ret);
void argus_live_answer_deinit(struct argus_live_answer *answer);

/* Looks at what the last thread of the path does. If it runs, or went on while the walk lasted, it
 * is sampled for `duration_ns`. If it sleeps by its own clock, its code may tell the variable at
 * which it looks again and again. perf_event is used if the kernel allows it; otherwise the thread
 * is stopped for less than a millisecond, 50 times a second, but only while it runs. If argus is
 * killed meanwhile, the kernel lets the thread go on. */
struct argus_error *argus_live_look_closer(struct argus_live *live, uint64_t duration_ns,
                                           struct argus_live_answer *answer);

/* What a thread waits for, without a walk. */
struct argus_live_wait argus_live_wait_of(struct argus_live *live, uint32_t thread);

/* Borrowed until the next call that takes a non-const `live`. */
const struct argus_live_thread *argus_live_thread_at(const struct argus_live *live,
                                                     uint32_t thread);
const struct argus_live_process *argus_live_process_at(const struct argus_live *live,
                                                       uint32_t process);
/* "" for 0. */
const char *argus_live_text(const struct argus_live *live, uint32_t text);

/* The ID in JSON of a kind, end or link: "unix_socket". Static. */
const char *argus_live_kind_id(enum argus_live_kind kind);
const char *argus_live_end_id(enum argus_live_end end);
const char *argus_live_link_id(enum argus_live_link link);

/* The name of a thread's system call; NULL: it is in none. Static. */
const char *argus_live_call_name(const struct argus_live_thread *thread);

#ifdef __cplusplus
}
#endif
#endif
