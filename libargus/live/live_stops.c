/* Samples by short stops, where the kernel does not allow perf_event (kernel.perf_event_paranoid
 * above 2, as Debian has it): ptrace(2) stops one thread, its registers are read, and it goes on. A
 * thread is stopped only while it runs, so that no system call is interrupted except one that
 * begins in that moment. If argus is killed, the kernel detaches it and the thread goes on, because
 * the thread was seized without PTRACE_O_EXITKILL.
 *
 * A thread that began to wait for a device in that moment stops only when the device has answered,
 * and until then cannot be detached by a request. But the kernel also detaches what an ending
 * thread has seized, so a thread of its own takes the samples, and gives up. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/parallel.h"
#include "live/live_sample.h"

enum {
    PAUSE_NS = 20000000,
    STOP_NS = 1000000000, /* a running thread stops much earlier, if it gets a CPU */
    LOOK_NS = 20000,      /* between two looks whether it has stopped */
    STAT_BYTES = 1024,
    STACK_BYTES = 16384,
};

#if defined(__aarch64__)
enum { STACK_POINTER = 31 };
#else
enum { STACK_POINTER = 7 };
#endif

static bool is_running(uint32_t pid, uint32_t tid)
{
    char text[STAT_BYTES];
    const char *state = live_stat_field(pid, tid, 3, text, sizeof(text));
    return state && *state == 'R';
}

static bool read_registers(uint32_t tid, struct live_moment *ret)
{
    struct user_regs_struct registers;
    struct iovec room = {&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &room) != 0 ||
        room.iov_len != sizeof(registers)) /* of a program of 32 bits */
        return false;
    *ret = (struct live_moment){.stack = NULL};
#if defined(__aarch64__)
    memcpy(ret->registers, registers.regs, 31 * sizeof(uint64_t));
    ret->registers[31] = registers.sp;
    ret->registers[32] = registers.pc;
    ret->known = (1ull << 33) - 1;
#else
    const uint64_t values[] = {
        registers.rax, registers.rdx, registers.rcx, registers.rbx, registers.rsi, registers.rdi,
        registers.rbp, registers.rsp, registers.r8,  registers.r9,  registers.r10, registers.r11,
        registers.r12, registers.r13, registers.r14, registers.r15, registers.rip};
    memcpy(ret->registers, values, sizeof(values));
    ret->known = (1ull << 17) - 1;
#endif
    return true;
}

/* Waits for the stop. A signal that comes first is delivered. False: the thread has ended, or does
 * not stop in time. */
static bool wait_for_stop(uint32_t tid)
{
    uint64_t end = live_now_ns() + STOP_NS;
    while (live_now_ns() < end) {
        int status;
        pid_t stopped = waitpid((pid_t)tid, &status, __WALL | WNOHANG);
        if ((stopped < 0 && errno != EINTR) || (stopped > 0 && !WIFSTOPPED(status)))
            return false;
        if (stopped > 0 && status >> 16 == PTRACE_EVENT_STOP)
            return true;
        if (stopped > 0)
            ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
        else
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    return false;
}

/* Copies what is mapped from the stack pointer on, up to a page's end. */
static void copy_stack(uint32_t pid, struct live_moment *moment, uint8_t *room)
{
    enum { PAGE = 4096 };
    uint64_t sp = moment->registers[STACK_POINTER];
    size_t bytes = PAGE - sp % PAGE;
    moment->stack = room;
    moment->stack_address = sp;
    while (moment->stack_bytes + bytes <= STACK_BYTES &&
           live_memory(pid, sp + moment->stack_bytes, room + moment->stack_bytes, bytes)) {
        moment->stack_bytes += bytes;
        bytes = PAGE;
    }
}

/* Seizes the thread, stops it, copies what unwinding needs, and lets it go on. False: not allowed.
 */
static bool stop_once(uint32_t pid, uint32_t tid, struct live_moment *ret, uint8_t *room)
{
    if (ptrace(PTRACE_SEIZE, tid, 0, 0) != 0)
        return false;
    bool has =
        ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && wait_for_stop(tid) && read_registers(tid, ret);
    if (has)
        copy_stack(pid, ret, room);
    ptrace(PTRACE_DETACH, tid, 0, 0);
    return has;
}

struct stops {
    uint32_t pid, tid;
    uint64_t duration_ns;
    live_take *take;
    void *context;
    bool is_allowed, has_taken;
};

static void *take_samples(void *context)
{
    struct stops *stops = context;
    uint64_t end = live_now_ns() + stops->duration_ns;
    uint8_t *room = malloc(STACK_BYTES);
    struct live_moment moment;
    stops->is_allowed = room != NULL;
    while (stops->is_allowed && live_now_ns() < end) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        if (!is_running(stops->pid, stops->tid))
            continue;
        stops->is_allowed = stop_once(stops->pid, stops->tid, &moment, room);
        if (stops->is_allowed)
            stops->take(stops->context, &moment);
        stops->has_taken |= stops->is_allowed;
    }
    free(room);
    return NULL;
}

bool live_stops(uint32_t pid, uint32_t tid, uint64_t duration_ns, live_take *take, void *context)
{
    struct stops stops = {pid, tid, duration_ns, take, context, false, false};
    pthread_t thread;
    if (!parallel_start(&thread, take_samples, &stops))
        return false;
    pthread_join(thread, NULL);
    return stops.is_allowed || stops.has_taken;
}
