/* Call stacks by frame pointers, which Apple's platforms require of all code: each frame begins with
 * the caller's frame pointer and the return address.
 *
 * A thread in a system call is in a function of libsystem_kernel that makes no frame of its own, so
 * its return address is in the link register (arm64), or on top of the stack (x86-64). Of a thread
 * that runs, nothing tells whether the innermost function has made its frame yet: its caller may be
 * missing. Return addresses of arm64e code have a signature in their upper bits, which is removed. */
#include <string.h>
#include <time.h>

#include "live/live_sample.h"
#include "live/macos/mac_state.h"

enum {
    WORD = 8,
    ADDRESS_BITS = 47, /* of user memory (xnu osfmk/mach/arm/vm_param.h, i386/vm_param.h) */
    PAUSE_NS = 20000000,
    STACK_BYTES = 16384,
    /* places of registers in struct live_moment */
    AT_PC = 0,
    AT_FP = 1,
};

struct walk {
    const struct live_moment *moment;
    uint32_t pid;
    uint64_t *frames;
    size_t count;
};

static uint64_t plain(uint64_t address)
{
    return address & ((1ull << ADDRESS_BITS) - 1);
}

static bool read_frame(const struct walk *walk, uint64_t address, uint64_t ret[2])
{
    const struct live_moment *moment = walk->moment;
    uint64_t at = address - moment->stack_address;
    if (!moment->stack || address < moment->stack_address || moment->stack_bytes < 2 * WORD ||
        at > moment->stack_bytes - 2 * WORD)
        return mac_memory(walk->pid, address, ret, 2 * WORD);
    memcpy(ret, moment->stack + at, 2 * WORD);
    return true;
}

static void add(struct walk *walk, uint64_t address)
{
    if (address && walk->count < LIVE_STACK_FRAMES)
        walk->frames[walk->count++] = address;
}

/* Up to the frame pointer 0 of the outermost function. False: it was not reached. */
static bool go_up(struct walk *walk, uint64_t fp)
{
    uint64_t frame[2];
    while (fp && walk->count < LIVE_STACK_FRAMES) {
        if (fp % WORD || !read_frame(walk, fp, frame))
            return false;
        uint64_t next = plain(frame[0]);
        add(walk, plain(frame[1]));
        if (next && next <= fp) /* a stack grows down */
            return false;
        fp = next;
    }
    return fp == 0;
}

size_t live_stack(struct argus_live *live, uint32_t thread, uint64_t ret[LIVE_STACK_FRAMES],
                  bool *ret_cut)
{
    const struct argus_live_thread of = live->threads.data[thread];
    const struct mac_known known = *mac_known(live, thread);
    const struct live_moment none = {.stack = NULL};
    struct walk walk = {&none, live_pid_of(live, thread), ret, 0};
    uint64_t caller = known.lr;
    *ret_cut = false;
    if (!of.pc)
        return 0;
    add(&walk, plain(of.pc));
    if (of.has_call && !known.is_arm64 && !mac_memory(walk.pid, of.sp, &caller, sizeof(caller)))
        caller = 0;
    if (of.has_call)
        add(&walk, plain(caller));
    *ret_cut = !go_up(&walk, known.fp);
    return walk.count;
}

/* --- threads that run --- */

size_t live_stack_at(struct argus_live *live, uint32_t pid, const struct live_moment *moment,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut)
{
    struct walk walk = {moment, pid, ret, 0};
    (void)live;
    add(&walk, plain(moment->registers[AT_PC]));
    *ret_cut = !go_up(&walk, moment->registers[AT_FP]);
    return walk.count;
}

/* macOS has no samples of other processes for everybody: kperf is the recorder's. */
bool live_perf(uint32_t tid, uint64_t duration_ns, live_take *take, void *context)
{
    (void)tid, (void)duration_ns, (void)take, (void)context;
    return false;
}

/* One look while the task is held. It goes on before the look is used, and also if argus ends. */
static bool look(uint32_t pid, uint32_t tid, uint8_t stack[STACK_BYTES], struct live_moment *ret)
{
    struct mac_thread thread = {.handle = 0};
    uint32_t token;
    if (!mac_hold(pid, &token))
        return false;
    bool is_read = mac_thread(pid, tid, &thread) && thread.has_registers;
    *ret = (struct live_moment){.stack_address = thread.sp, .stack = stack};
    for (size_t bytes = STACK_BYTES; is_read && bytes && !ret->stack_bytes; bytes /= 2)
        ret->stack_bytes = mac_memory(pid, thread.sp, stack, bytes) ? bytes : 0;
    mac_release(token);
    ret->registers[AT_PC] = thread.pc;
    ret->registers[AT_FP] = thread.fp;
    return is_read;
}

/* The whole task is held for each look, because the kernel resumes a task whose holder ends, but no
 * single thread. */
bool live_stops(uint32_t pid, uint32_t tid, uint64_t duration_ns, live_take *take, void *context)
{
    static const struct timespec pause = {0, PAUSE_NS};
    uint8_t stack[STACK_BYTES];
    struct live_moment moment;
    uint64_t end = live_now_ns() + duration_ns;
    bool is_allowed = mac_access(pid) == ARGUS_LIVE_READABLE;
    while (is_allowed && live_now_ns() < end) {
        if (mac_is_running(pid, tid) && look(pid, tid, stack, &moment))
            take(context, &moment);
        nanosleep(&pause, NULL);
    }
    return is_allowed;
}
