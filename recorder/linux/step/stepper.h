/* Steps one thread of another process by ptrace: declarations that the files step_*.c share.
 *
 * Guarantee: however stepping ends (the last step, Ctrl-C, the death of the front end), the thread
 * continues with unchanged registers, code, signals and CPU affinity. Other threads are never
 * stopped. The stepper is attached to them only while it waits for one of them to arrive at the
 * place.
 *
 * The one exception: SIGKILL for the stepper during a single step. The kernel then leaves the
 * processor's trap flag set (kernel/ptrace.c, exit_ptrace(), does not clear it), and the thread
 * gets a SIGTRAP. To avoid that, the stepper runs in its own session and ignores every other
 * signal.
 */
#ifndef ARGUS_RECORDER_LINUX_STEPPER_H
#define ARGUS_RECORDER_LINUX_STEPPER_H

#include <sched.h>

#include "argus/error.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "linux/step/step_breakpoint.h"
#include "linux/step/step_maps.h"
#include "linux/step/step_thread.h"

enum { STEP_START_PLACES = 2, STEP_RETURN_PLACES = 2 };

struct step_tracee {
    pid_t tid;
    bool stopped;
    int signal; /* to deliver when it continues; 0: none */
    pid_t made; /* the thread that it had created when it was halted, not yet added; 0: none */
    struct step_breakpoint places[STEP_START_PLACES];
};

/* A call: the stack pointer in the function's first instruction, and where it returns to. */
struct step_call {
    uint64_t stack_pointer, return_address;
};

/* A page of code, as it was when it was first executed. */
struct step_page {
    uint64_t address;
    size_t bytes;
    uint8_t *code; /* owned */
};

struct stepper {
    const struct step_request *request; /* borrowed */
    struct step_output *output;         /* borrowed */
    uid_t uid;                          /* for whom it steps: only that user's processes; 0: any */
    int control_fd;                     /* closed by the front end to end stepping; borrowed */
    int memory_fd;                      /* /proc/PID/mem */
    VEC(struct step_tracee) tracees;
    struct step_maps maps;
    uint64_t place;       /* address at which to begin */
    uint64_t wait;        /* the call that returns here ends it; 0: none */
    uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none */

    /* The stepped thread. */
    pid_t tid;
    uint64_t registers[STEP_REGISTERS_MOST];
    uint64_t first_stack_pointer, first_return;
    uint64_t stepped_start, stepped_end; /* the last range of application code */
    /* Breakpoints after library calls, kept because loops repeat. */
    struct step_breakpoint returns[STEP_RETURN_PLACES];
    unsigned next_return;
    /* Return of the first function: reached also when an exception leaves a library call. */
    struct step_breakpoint way_out;
    VEC(struct step_call) calls; /* of application code that have not returned */
    /* x86-64: where on the stack the call that is stepped over has its return address; 0: not
     * known. Another word there means that the call was left by an exception or longjmp(), if it is
     * not the kernel's for a return probe. */
    struct step_call over;
    /* Stops the thread at once when that word is written, if a debug register is free. */
    struct step_breakpoint over_watch;
    bool is_over_left;
    VEC(struct step_page) pages;
    struct idmap page_by_address; /* address / 4096 → pages */
    uint32_t last_page;
    uint64_t settle_place; /* arm64: of a `ret` instruction, see step_settle.c */
    cpu_set_t old_cpus;
    bool pinned;
    uint32_t steps;
    uint64_t started_ns;
    enum step_end end; /* 0: stepping continues; otherwise … */
    char end_text[400];
};

/* How waiting for the thread ended. */
enum step_wait {
    STEP_WAIT_STOPPED, /* the thread is stopped, with *ret_status */
    STEP_WAIT_ENDED,   /* the thread or its process has ended */
    STEP_WAIT_TIME,    /* the deadline has passed; the thread runs */
    STEP_WAIT_USER,    /* the front end has closed; the thread runs */
};

uint64_t step_now_ns(void);

/* Waits for `tid` (-1: any tracee). */
enum step_wait step_wait_for(const struct stepper *stepper, pid_t tid, pid_t *ret_tid,
                             int *ret_status);
/* PTRACE_EVENT_… of a stop; 0: it is a signal stop. */
unsigned step_event_of(int status);

/* Attaches to the process, waits until a thread arrives at the place, releases the others. On an
 * error all are released. */
struct argus_error *step_arrive(struct stepper *stepper);
/* Releases the thread, unchanged. */
void step_leave(struct stepper *stepper);
/* Stops a thread that runs. False: it has ended. */
bool step_halt(struct step_tracee *tracee);
/* Detaches from a thread: `tracee` may be stopped or running. */
void step_release(struct step_tracee *tracee);
struct step_tracee *step_tracee_of(struct stepper *stepper, pid_t tid);

/* Whether `address` is in application code within [start, end), behind an instruction that
 * calls. */
bool step_may_return_to(struct stepper *stepper, uint64_t address, uint64_t start, uint64_t end);
/* The return address, from the stack, of the innermost call that returns to application code within
 * [start, end). 0: none. */
uint64_t step_find_caller(struct stepper *stepper, const uint64_t *registers, uint64_t start,
                          uint64_t end);

/* Steps until there is a reason to end, and writes it. */
void step_run(struct stepper *stepper);

/* Notes why it ends; the first reason counts. */
void step_end(struct stepper *stepper, enum step_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Three ways to continue the thread and wait for it. False: stepping ends (stepper->end). They read
 * the registers again. One instruction: */
bool step_one(struct stepper *stepper);
/* To `address`, with a stack pointer above `stack_pointer` (0: any): for code that is not
 * stepped. With stepper->is_over_left it did not come there, but is stopped anywhere. */
bool step_run_to(struct stepper *stepper, uint64_t address, uint64_t stack_pointer, int signal);

/* Whether the call that is stepped over was left. The thread may run. */
bool step_call_is_left(const struct stepper *stepper);

/* Restores stepping and breakpoints in a thread that has just hit a breakpoint. False: the thread
 * has ended, with `*ret_status`, or that failed (0). */
bool step_settle(struct stepper *stepper, int *ret_status);
/* The ptrace request to continue a thread past a breakpoint that it may have hit. */
unsigned step_request_after(pid_t tid);

/* The instruction at `address`; writes its page the first time. */
struct step_instruction step_instruction_at(struct stepper *stepper, uint64_t address);
void step_pages_deinit(struct stepper *stepper);

/* Whether `address` is application code. Reads the maps again if it is in none. */
bool step_is_stepped(struct stepper *stepper, uint64_t address);

#endif
