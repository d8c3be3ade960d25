/* Stepping one thread of somebody else's process, by ptrace: what the files step_*.c share.
 *
 * What is promised: the thread goes on with its registers, its code, its signals and its cpus as they were, whatever ends the
 * stepping: the last step, Ctrl-C, the death of the front end. Other threads are never stopped. They are attached to only while any
 * of them may be the one that comes to the place.
 *
 * The one hole: SIGKILL for this very process in the middle of a single step. The kernel leaves the processor's trap flag set then
 * (kernel/ptrace.c, exit_ptrace(), does not clear it), and the thread gets a SIGTRAP. So nobody should send that; the process is in
 * a session of its own, and holds still for every other signal.
 */
#ifndef ARGUS_RECORDER_LINUX_STEPPER_H
#define ARGUS_RECORDER_LINUX_STEPPER_H

#include <sched.h>

#include "argus/error.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "linux/step_breakpoint.h"
#include "linux/step_maps.h"
#include "linux/step_thread.h"

enum { STEP_START_PLACES = 2, STEP_RETURN_PLACES = 2 };

struct step_tracee {
    pid_t tid;
    bool stopped;
    int signal; /* that it gets when it goes on; 0: none */
    pid_t
        made; /* the thread that it had made when it was halted, and that nobody has noted yet; 0: none */
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
    int control_fd;                     /* closed by the front end when it is enough; borrowed */
    int memory_fd;                      /* /proc/PID/mem */
    VEC(struct step_tracee) tracees;
    struct step_maps maps;
    uint64_t place;       /* address where to begin */
    uint64_t wait;        /* the call that returns here ends it; 0: none */
    uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none */

    /* The one that is stepped. */
    pid_t tid;
    uint64_t registers[STEP_REGISTERS_MOST];
    uint64_t first_stack_pointer, first_return;
    uint64_t stepped_start, stepped_end; /* the range of application code it was last in */
    struct step_breakpoint
        returns[STEP_RETURN_PLACES]; /* of library calls, kept: a loop comes again */
    unsigned next_return;
    struct step_breakpoint
        way_out; /* where the first function returns: left by an exception, a library call does not */
    VEC(struct step_call) calls; /* of application code that have not returned */
    VEC(struct step_page) pages;
    struct idmap page_by_address; /* address / 4096 → pages */
    uint32_t last_page;
    uint64_t settle_place; /* arm64: of a `ret` instruction, see step_settle.c */
    cpu_set_t old_cpus;
    bool pinned;
    uint32_t steps;
    uint64_t started_ns;
    enum step_end end; /* 0: it goes on; otherwise … */
    char end_text[400];
};

/* How waiting for the thread ended. */
enum step_wait {
    STEP_WAIT_STOPPED, /* it is stopped, *ret_status says how */
    STEP_WAIT_ENDED,   /* it, or its process, has ended */
    STEP_WAIT_TIME,    /* the deadline: it runs */
    STEP_WAIT_USER,    /* the front end has closed: it runs */
};

uint64_t step_now_ns(void);

/* Waits for `tid` (-1: any tracee). */
enum step_wait step_wait_for(const struct stepper *stepper, pid_t tid, pid_t *ret_tid,
                             int *ret_status);
/* Why a stop is not one of a signal: PTRACE_EVENT_…; 0: it is. */
unsigned step_event_of(int status);

/* Attaches to the process, waits until a thread comes to the place, lets the others go. On an error all are let go. */
struct argus_error *step_arrive(struct stepper *stepper);
/* Lets the thread go as it was. */
void step_leave(struct stepper *stepper);
/* Stops a thread that runs. False: it has ended. */
bool step_halt(struct step_tracee *tracee);
/* Detaches from a thread: `tracee` may be stopped or running. */
void step_release(struct step_tracee *tracee);
struct step_tracee *step_tracee_of(struct stepper *stepper, pid_t tid);

/* The address of a call that the thread is inside of, from its stack: the innermost that returns to application code, within
 * [start, end). 0: none. */
uint64_t step_find_caller(struct stepper *stepper, const uint64_t *registers, uint64_t start,
                          uint64_t end);

/* Steps until there is a reason to end, which is put out. */
void step_run(struct stepper *stepper);

/* Notes why it ends; the first reason counts. */
void step_end(struct stepper *stepper, enum step_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The three ways to let the thread go on and wait for it. False: it ends (stepper->end). Registers are read again.
 * One instruction: */
bool step_one(struct stepper *stepper);
/* To `address`, with a stack pointer above `stack_pointer` (0: any): for what is not looked at. */
bool step_run_to(struct stepper *stepper, uint64_t address, uint64_t stack_pointer, int signal);

/* Makes a thread that has just hit a breakpoint one that can be stepped and that meets its breakpoints. False: it has ended, which
 * `*ret_status` tells, or could not be made so (0). */
bool step_settle(struct stepper *stepper, int *ret_status);
/* How a thread that may have hit a breakpoint goes on, past it. */
unsigned step_request_after(pid_t tid);

/* The instruction at `address`; its page is put out the first time. */
struct step_instruction step_instruction_at(struct stepper *stepper, uint64_t address);
void step_pages_deinit(struct stepper *stepper);

/* Is `address` application code? Reads the maps again when nothing is known of it. */
bool step_is_stepped(struct stepper *stepper, uint64_t address);

#endif
