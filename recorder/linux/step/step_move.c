/* Executes one instruction, or runs to a breakpoint. Handles all other events meanwhile: signals,
 * stops, the end.
 *
 * Signals are delivered normally, and their handlers are not stepped: the thread runs until it is
 * back at the interrupted instruction with the same stack pointer. If that instruction is a system
 * call that the kernel restarts, the thread returns after it.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "linux/step/stepper.h"

enum stop_kind {
    STOP_TRAP,    /* a step, or a breakpoint */
    STOP_SIGNAL,  /* a signal from outside */
    STOP_NOTHING, /* continue in the same way */
    STOP_LISTEN,  /* group-stop: stopped by SIGSTOP or the like, until SIGCONT */
    STOP_IS_OVER, /* stepper->end says why */
};

void step_end(struct stepper *stepper, enum step_end end, const char *format, ...)
{
    va_list arguments;
    if (stepper->end)
        return;
    stepper->end = end;
    va_start(arguments, format);
    vsnprintf(stepper->end_text, sizeof(stepper->end_text), format, arguments);
    va_end(arguments);
}

static void end_of_thread(struct stepper *stepper, int status)
{
    stepper->tracees.length = 0;
    for (int i = 0; i < STEP_RETURN_PLACES; i++)
        step_breakpoint_clear(&stepper->returns[i]);
    step_breakpoint_clear(&stepper->way_out);
    step_breakpoint_clear(&stepper->over_watch);
    stepper->pinned = false;
    if (WIFSIGNALED(status))
        step_end(stepper, STEP_END_EXIT, "the process was ended by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        step_end(stepper, STEP_END_EXIT, "the thread ended");
}

static enum stop_kind kind_of_stop(struct stepper *stepper, int status)
{
    unsigned event = step_event_of(status);
    if (event == PTRACE_EVENT_EXEC) {
        step_end(stepper, STEP_END_EXEC, "the process executed another program");
        return STOP_IS_OVER;
    }
    if (event == PTRACE_EVENT_STOP)
        return WSTOPSIG(status) == SIGTRAP ? STOP_NOTHING : STOP_LISTEN;
    if (event)
        return STOP_NOTHING;
    return WSTOPSIG(status) == SIGTRAP ? STOP_TRAP : STOP_SIGNAL;
}

/* Continues the thread by `request`, and waits. */
static enum stop_kind go_and_wait(struct stepper *stepper, unsigned request, int signal,
                                  int *ret_signal)
{
    struct step_tracee *tracee = &stepper->tracees.data[0];
    int status = 0;
    pid_t tid;
    tracee->stopped = false;
    if (ptrace(request, stepper->tid, NULL, signal) < 0 && errno != ESRCH) {
        tracee->stopped = true;
        step_end(stepper, STEP_END_ERROR, "the thread cannot be stepped: %s", strerror(errno));
        return STOP_IS_OVER;
    }
    switch (step_wait_for(stepper, stepper->tid, &tid, &status)) {
    case STEP_WAIT_STOPPED:
        tracee->stopped = true;
        *ret_signal = WSTOPSIG(status);
        return kind_of_stop(stepper, status);
    case STEP_WAIT_ENDED:
        end_of_thread(stepper, status);
        return STOP_IS_OVER;
    case STEP_WAIT_TIME:
        step_end(stepper, STEP_END_TIME, "the time limit was reached");
        return STOP_IS_OVER;
    case STEP_WAIT_USER:
        step_end(stepper, STEP_END_USER, "interrupted");
        return STOP_IS_OVER;
    }
    return STOP_IS_OVER;
}

static bool read_registers(struct stepper *stepper)
{
    int status;
    if (step_registers_read(stepper->tid, stepper->registers))
        return true;
    /* Only SIGKILL can end a thread during a stop: the status has the signal. */
    if (waitpid(stepper->tid, &status, __WALL) == stepper->tid && !WIFSTOPPED(status))
        end_of_thread(stepper, status);
    step_end(stepper, STEP_END_EXIT, "the thread ended");
    return false;
}

static void say_signal(struct stepper *stepper, int signal)
{
    const struct step_item_event item = {.address = (uint64_t)signal};
    step_output_put(stepper->output, STEP_ITEM_SIGNAL, &item, sizeof(item), NULL, 0);
}

/* --- one instruction --- */

/* A SIGTRAP not caused by the stepper: from kill(), or from a breakpoint instruction in the code.
 * (A step over a system call has a code of its own: arch/x86/kernel/ptrace.c,
 * user_single_step_report().) */
static bool is_foreign_trap(struct stepper *stepper, uint64_t before)
{
    siginfo_t signal;
    bool is_trap = step_instruction_at(stepper, before).kind == STEP_IS_TRAP;
    if (step_pc(stepper->registers) != before && !is_trap)
        return false;
    return ptrace(PTRACE_GETSIGINFO, stepper->tid, NULL, &signal) == 0 &&
           (signal.si_code <= 0 || signal.si_code == SI_KERNEL ||
            (is_trap && signal.si_code == TRAP_BRKPT));
}

bool step_one(struct stepper *stepper)
{
    uint64_t before = step_pc(stepper->registers);
    unsigned request = PTRACE_SINGLESTEP;
    for (;;) {
        int signal;
        switch (go_and_wait(stepper, request, 0, &signal)) {
        case STOP_TRAP:
            if (!read_registers(stepper))
                return false;
            if (!is_foreign_trap(stepper, before))
                return true;
            signal = SIGTRAP;
            /* fall through */
        case STOP_SIGNAL:
            say_signal(stepper, signal);
            if (!read_registers(stepper) ||
                !step_run_to(stepper, step_pc(stepper->registers), 0, signal))
                return false;
            if (step_pc(stepper->registers) != before)
                return true; /* the instruction was executed */
            request = PTRACE_SINGLESTEP;
            break;
        case STOP_NOTHING:
            request = PTRACE_SINGLESTEP;
            break;
        case STOP_LISTEN:
            request = PTRACE_LISTEN;
            break;
        case STOP_IS_OVER:
            return false;
        }
    }
}

/* --- to an address --- */

/* Other tools may have debug registers of the thread, too. The watchpoint only makes stepping go on
 * earlier, so the breakpoint takes its register if no other one is free. */
static int set_return(struct stepper *stepper, uint64_t address, unsigned slot)
{
    struct step_breakpoint *breakpoint = &stepper->returns[slot];
    int failed = step_breakpoint_set(stepper->tid, address, (int)slot, true, breakpoint);
    if (failed != ENOSPC || !stepper->over_watch.tid)
        return failed;
    step_breakpoint_clear(&stepper->over_watch);
    return step_breakpoint_set(stepper->tid, address, (int)slot, true, breakpoint);
}

/* A loop returns to the same few addresses, so their breakpoints are kept, disabled. */
static struct step_breakpoint *breakpoint_at(struct stepper *stepper, uint64_t address)
{
    for (int i = 0; i < STEP_RETURN_PLACES; i++) {
        struct step_breakpoint *kept = &stepper->returns[i];
        if (kept->tid && kept->address == address) {
            step_breakpoint_enable(kept, true);
            return kept;
        }
    }
    unsigned slot = stepper->next_return++ % STEP_RETURN_PLACES;
    step_breakpoint_clear(&stepper->returns[slot]);
    int failed = set_return(stepper, address, slot);
    if (!failed)
        return &stepper->returns[slot];
    step_end(stepper, STEP_END_ERROR,
             failed == ENOSPC ? "no debug register of the thread is free: a debugger or 'argus "
                                "watchflag' has them all%s"
                              : "a breakpoint cannot be set: %s",
             failed == ENOSPC ? "" : strerror(failed));
    return NULL;
}

static bool has_come(struct stepper *stepper, uint64_t address, uint64_t stack_pointer)
{
    return step_pc(stepper->registers) == address &&
           step_stack_pointer(stepper->registers) > stack_pointer;
}

/* The function in which stepping began has ended other than by its own return. */
static bool has_left(struct stepper *stepper)
{
    uint64_t least = stepper->first_stack_pointer;
#if defined(__aarch64__)
    least--; /* a return pops nothing from the stack */
#endif
    if (!stepper->way_out.tid || !has_come(stepper, stepper->way_out.address, least))
        return false;
    step_end(stepper, STEP_END_RETURN,
             "the function was left by an exception or longjmp(), out of a call into a library");
    return true;
}

bool step_call_is_left(const struct stepper *stepper)
{
    uint64_t word;
    return stepper->over.stack_pointer &&
           step_memory_read(stepper->memory_fd, stepper->over.stack_pointer, &word, sizeof(word)) ==
               sizeof(word) &&
           word != stepper->over.return_address && !step_maps_is_probe(&stepper->maps, word);
}

/* Why the thread was stopped: to look whether the call was left. */
static bool take_left(struct stepper *stepper)
{
    stepper->is_over_left = step_call_is_left(stepper) && read_registers(stepper);
    return stepper->is_over_left;
}

static bool run_to(struct stepper *stepper, uint64_t address, uint64_t stack_pointer, int signal)
{
    unsigned request = PTRACE_CONT;
    for (;;) {
        int next = 0;
        switch (go_and_wait(stepper, request, signal, &next)) {
        case STOP_TRAP:
            if (!read_registers(stepper))
                return false;
            if (has_come(stepper, address, stack_pointer))
                return true;
            if (has_left(stepper))
                return false;
            if (stepper->over_watch.tid && take_left(stepper))
                return true;
            signal = is_foreign_trap(stepper, step_pc(stepper->registers)) ? SIGTRAP : 0;
            request = step_request_after(stepper->tid);
            break;
        case STOP_SIGNAL:
            say_signal(stepper, next);
            signal = next;
            request = PTRACE_CONT;
            break;
        case STOP_NOTHING:
            if (take_left(stepper))
                return true;
            signal = 0;
            request = PTRACE_CONT;
            break;
        case STOP_LISTEN:
            signal = 0;
            request = PTRACE_LISTEN;
            break;
        case STOP_IS_OVER:
            return false;
        }
    }
}

static bool settle(struct stepper *stepper)
{
    int status;
    if (step_settle(stepper, &status))
        return true;
    if (status && !WIFSTOPPED(status))
        end_of_thread(stepper, status);
    step_end(stepper, STEP_END_ERROR, "the thread cannot be stepped past a breakpoint");
    return false;
}

bool step_run_to(struct stepper *stepper, uint64_t address, uint64_t stack_pointer, int signal)
{
    struct step_breakpoint *breakpoint = breakpoint_at(stepper, address);
    if (!breakpoint)
        return false;
    if (step_pc(stepper->registers) == address)
        step_forget_resume(stepper->tid);
    bool is_guarded = stepper->way_out.tid && address != stepper->way_out.address;
    if (is_guarded)
        step_breakpoint_enable(&stepper->way_out, true);
    bool has_arrived = run_to(stepper, address, stack_pointer, signal);
    if (stepper->end)
        return false; /* step_leave() removes them */
    step_breakpoint_enable(breakpoint, false);
    if (is_guarded)
        step_breakpoint_enable(&stepper->way_out, false);
    return has_arrived && (stepper->is_over_left || settle(stepper));
}
