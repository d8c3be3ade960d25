/* After a breakpoint hit an arm64 kernel steps over the instruction itself: it has disabled the
 * thread's breakpoints, and the thread's next step enables them again and is not reported (Linux,
 * arch/arm64/kernel/hw_breakpoint.c, breakpoint_handler() and reinstall_suspended_bps(); not with a
 * breakpoint of ptrace, but with one of perf_event). So PTRACE_SINGLESTEP after a hit lets the
 * thread run on, and after PTRACE_CONT no breakpoint is hit any more.
 *
 * So the stepper spends that step on a harmless instruction. With all other signals blocked, the
 * thread is set to a `ret` somewhere in its code, with 0 as return address. The unreported step
 * ends at address 0, where there is no code. The resulting SIGSEGV stops the thread under ptrace,
 * which never delivers it. Then the registers are restored. (A `ret` that returns to itself until
 * the thread is stopped is no alternative: thread and stepper share a CPU, and the thread would run
 * for whole time slices.) If the stepper is killed in these microseconds, the process ends. A
 * process that ignored SIGSEGV no longer does: the kernel resets that.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "linux/step/stepper.h"

#if defined(__aarch64__)

#define RET              0xd65f03c0u
#define PSTATE_BTYPE     0xc00u /* set after an indirect branch, which may not lead to a `ret` */
#define MOST_TRIES       100
#define NOWHERE          0u
#define PIECE_BYTES      4096u
#define KERNEL_SET_BYTES 8u

enum { X30 = 30, PC = 32, PSTATE = 33, GENERAL_COUNT = 34 };

static bool find_in(struct stepper *stepper, const struct step_map *map)
{
    static uint32_t code[PIECE_BYTES / sizeof(uint32_t)];
    for (uint64_t at = map->start; at < map->end; at += PIECE_BYTES) {
        size_t bytes = step_memory_read(stepper->memory_fd, at, code, sizeof(code));
        for (size_t i = 0; i < bytes / sizeof(code[0]); i++)
            if (code[i] == RET) {
                stepper->settle_place = at + i * sizeof(code[0]);
                return true;
            }
    }
    return false;
}

static bool is_found(const struct stepper *stepper)
{
    uint32_t code;
    return stepper->settle_place &&
           step_memory_read(stepper->memory_fd, stepper->settle_place, &code, sizeof(code)) ==
               sizeof(code) &&
           code == RET;
}

static bool find_place(struct stepper *stepper)
{
    if (is_found(stepper))
        return true;
    struct step_maps maps = {.pid = stepper->request->pid, .request = stepper->request};
    bool found = false;
    if (step_maps_read(&maps))
        for (size_t i = 0; i < maps.maps.length && !found; i++)
            found = maps.maps.data[i].flags & STEP_MAP_EXECUTABLE &&
                    find_in(stepper, &maps.maps.data[i]);
    step_maps_deinit(&maps);
    return found;
}

static bool transfer(unsigned request, pid_t tid, uint64_t *registers)
{
    struct iovec general = {registers, GENERAL_COUNT * sizeof(*registers)};
    return ptrace(request, tid, NT_PRSTATUS, &general) == 0;
}

/* Continues by a step, and waits for the next stop. */
static bool go_on(pid_t tid, uint64_t *ret_registers, int *ret_status)
{
    if (ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL) < 0)
        return false;
    while (waitpid(tid, ret_status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    return WIFSTOPPED(*ret_status) && transfer(PTRACE_GETREGSET, tid, ret_registers);
}

/* Other stops (PTRACE_EVENT_STOP) come before the step. */
static bool spend_step(struct stepper *stepper, const uint64_t *registers, int *ret_status)
{
    uint64_t moved[GENERAL_COUNT];
    memcpy(moved, registers, sizeof(moved));
    moved[PC] = stepper->settle_place;
    moved[X30] = NOWHERE;
    moved[PSTATE] &= ~(uint64_t)PSTATE_BTYPE;
    if (!transfer(PTRACE_SETREGSET, stepper->tid, moved))
        return false;
    for (int i = 0; i < MOST_TRIES && moved[PC] != NOWHERE; i++)
        if (!go_on(stepper->tid, moved, ret_status))
            return false;
    return moved[PC] == NOWHERE;
}

bool step_settle(struct stepper *stepper, int *ret_status)
{
    siginfo_t signal;
    uint64_t registers[GENERAL_COUNT], old_set, others = ~(1ull << (SIGSEGV - 1));
    pid_t tid = stepper->tid;
    *ret_status = 0;
    if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &signal) < 0 || !step_breakpoint_is_hit(&signal))
        return true;
    if (!find_place(stepper) || !transfer(PTRACE_GETREGSET, tid, registers) ||
        ptrace(PTRACE_GETSIGMASK, tid, KERNEL_SET_BYTES, &old_set) < 0 ||
        ptrace(PTRACE_SETSIGMASK, tid, KERNEL_SET_BYTES, &others) < 0)
        return false;
    bool spent = spend_step(stepper, registers, ret_status);
    transfer(PTRACE_SETREGSET, tid, registers);
    ptrace(PTRACE_SETSIGMASK, tid, KERNEL_SET_BYTES, &old_set);
    return spent;
}

unsigned step_request_after(pid_t tid)
{
    siginfo_t signal;
    bool is_hit =
        ptrace(PTRACE_GETSIGINFO, tid, NULL, &signal) == 0 && step_breakpoint_is_hit(&signal);
    return is_hit ? PTRACE_SINGLESTEP : PTRACE_CONT;
}

#else

bool step_settle(struct stepper *stepper, int *ret_status)
{
    (void)stepper;
    *ret_status = 0;
    return true;
}

unsigned step_request_after(pid_t tid)
{
    (void)tid;
    return PTRACE_CONT;
}

#endif
