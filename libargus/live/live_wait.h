/* What a thread waits for, and who can end that. */
#ifndef ARGUS_LIVE_WAIT_H
#define ARGUS_LIVE_WAIT_H

#include "live/live_data.h"

enum { LIVE_CANDIDATES = 64 };

/* What could end a wait: processes, of which live_choose() takes a thread, or threads. */
struct live_candidates {
    struct {
        uint32_t process;
        uint32_t thread; /* ARGUS_LIVE_NONE: not known which of its threads */
    } items[LIVE_CANDIDATES];
    uint32_t count;
    enum argus_live_link link;
    enum argus_live_end end; /* if there are none */
    bool is_guess;
    bool is_any; /* each of them can end it, whatever it does now: nothing tells which one should */
    bool is_end_guess; /* `end` is only likely */
    /* when the first of the requests was sent that have been read since: the threads that work on
     * them have run since. By the monotonic clock; 0: not known */
    uint64_t asked_ns;
    bool is_asked_guess; /* the requests may have been sent earlier than that */
};

/* Adds one, unless it is there already. */
void live_candidate(struct live_candidates *candidates, uint32_t process, uint32_t thread);

/* What the thread waits for; its queues and names as well. */
struct argus_live_wait live_wait(struct argus_live *live, uint32_t thread);

/* The same for a descriptor that it waits for. Sets kind, object, text and queues of `wait`, whose
 * `fd` and `is_write` say which and for what. */
void live_wait_for_fd(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);

/* The same for a descriptor of a socket. */
void live_wait_for_socket(struct argus_live *live, const struct live_fd *fd,
                          struct argus_live_wait *wait);

/* What a wait in futex() is for: sets kind, object and lost owner of `wait`. */
void live_wait_in_futex(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);

/* What the kernel's function tells in which the thread waits. */
void live_wait_in_kernel(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait);

/* The living thread that has the mutex for which `thread` waits; ARGUS_LIVE_NONE: none that is
 * known. */
uint32_t live_mutex_owner(struct argus_live *live, uint32_t thread);

/* The living thread that has the lock at `address` of its process, which `thread` tries to take by
 * this function; ARGUS_LIVE_NONE: none that is known. */
uint32_t live_lock_holder(struct argus_live *live, uint32_t thread, const char *taken_by,
                          uint64_t address);

/* If a thread that sleeps tries again and again to take a lock whose holder is known: sets the kind
 * and the lock's name in `wait`, and fills `ret` with the holder. False: it does not. */
bool live_polled_mutex(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                       struct live_candidates *ret);

/* The thread whose end `thread` awaits in pthread_join(); ARGUS_LIVE_NONE: none that is known. */
uint32_t live_joined(struct argus_live *live, uint32_t thread);

/* Fills `ret` with the processes and threads that could end `wait` of `thread`, by the rule of its
 * kind. */
void live_resolve(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret);

/* Whether the thread sleeps for so long that it does not look at anything again and again: the loop
 * around it is not there to wait. */
bool live_sleeps_long(const struct argus_live *live, uint32_t thread);

/* For a thread that sleeps by its own clock: the processes with a lock for writing of a file that
 * its process has open (as databases do), or whose path is on the stack that ends at `sp` (as
 * package managers do). It may try to take that lock again and again; nothing proves it. */
void live_polled_locks(struct argus_live *live, uint32_t thread, uint64_t sp,
                       struct live_candidates *ret);

/* Calls `take` for each process that was started by the same process from the same program, shares
 * writable memory with `process`, and serves a client as it does: with its main thread, and a
 * thread of the client's process (ARGUS_LIVE_NONE: another machine's). */
typedef void live_sibling(void *context, uint32_t thread, uint32_t client);
void live_siblings(struct argus_live *live, uint32_t process, live_sibling *take, void *context);

/* Whether this wait of a server's thread is for the next request of some client. */
bool live_awaits_request(struct argus_live *live, const struct argus_live_wait *wait);
/* Whether the thread has run since the requests were sent, which have been read. One that has not
 * is not the one that works on them, but an idle one or one with another task. `asked_ns` 0: not
 * known. */
enum live_presence live_has_run_since(struct argus_live *live, uint32_t thread, uint64_t asked_ns);
/* The only thread of a server with a thread for each connection that serves one now, though all
 * seem idle, and has run since `asked_ns`, if that is known; ARGUS_LIVE_NONE: there is none, or
 * there are several. */
uint32_t live_serving_thread(struct argus_live *live, uint32_t process, uint64_t asked_ns);
/* Like live_siblings(), for threads: those that run the same code as `thread`, and wait for their
 * client, which may hold a lock of theirs. */
void live_sessions(struct argus_live *live, uint32_t thread, live_sibling *take, void *context);

/* Whether two threads were begun with the same function; also if a stack is not known whole. */
bool live_runs_same_code(struct argus_live *live, uint32_t a, uint32_t b);
/* The first of a process's workers if all of them are blocked, and wait for the same in the end;
 * ARGUS_LIVE_NONE: they are not, or nothing tells. */
uint32_t live_blocked_pool(struct argus_live *live, uint32_t process);

/* What is told about the choice of a thread. */
struct live_choice {
    bool is_guess;  /* it is only likely */
    bool is_shared; /* several processes have what is waited for */
    bool is_pool;   /* it stands for workers that are all blocked */
};

/* The thread of the candidates that has to act. ARGUS_LIVE_NONE: nothing tells which. */
uint32_t live_choose(struct argus_live *live, uint32_t waiter, const struct argus_live_wait *wait,
                     const struct live_candidates *candidates, struct live_choice *ret);

/* Whether the thread waits in a function of a runtime, whose program's waits are its own. */
bool live_waits_in_runtime(struct argus_live *live, uint32_t thread);

/* Whether all threads of the process wait so that none can end another's wait, and none moves.
 * `*ret_guess`: unless a signal's handler can. */
bool live_are_stuck(struct argus_live *live, uint32_t process, bool *ret_guess);

/* Of a word that processes share (a semaphore with a name, or of a pool of processes): adds the
 * others that have it. */
void live_add_sharers(struct argus_live *live, uint32_t thread, struct live_candidates *ret);

/* Whether a handler of a signal could write to a pipe of the process. */
bool live_may_signal_itself(const struct argus_live *live, uint32_t process);

/* Stopped as a whole, by a signal or the freezer: its main thread stands for all. */
bool live_is_halted(struct argus_live *live, uint32_t process);

/* If the thread is in an event loop that a handler of another one runs: sets its names in `step`.
 * `frames` are the step's. */
void live_nested_loop(const struct argus_live *live, const struct argus_live_frame *frames,
                      struct argus_live_step *step);

/* Whether such a wait is no work for others: it ends when somebody wants something. */
bool live_is_idle(enum argus_live_kind kind);

/* The rules, one for each kind of wait that other threads end (live_resolve.c). */
typedef void live_rule(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                       struct live_candidates *ret);

/* By kind; NULL: none. */
extern live_rule *const live_rules[ARGUS_LIVE_KINDS];

live_rule live_by_mutex, live_by_rwlock, live_by_join, live_by_condition, live_by_word;
live_rule live_by_pipe, live_by_fifo, live_by_socket, live_by_terminal;
live_rule live_by_events, live_by_eventfd, live_by_file_lock, live_by_child, live_by_tracer,
    live_by_fuse, live_by_disk, live_by_page, live_by_userfault;

#endif
