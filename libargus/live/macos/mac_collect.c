/* Processes and threads of macOS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "event/darwin/darwin.h"
#include "live/macos/mac_state.h"

/* The instruction that enters the kernel: svc #0x80; syscall. */
static const uint8_t enters_arm64[4] = {0x01, 0x10, 0x00, 0xd4}, enters_x86_64[2] = {0x0f, 0x05};

enum {
    CODE_BYTES = 4,
    INDIRECT = 0, /* syscall(2): the number is its first argument (xnu bsd/dev/arm/systemcalls.c) */
    CLASS_SHIFT = 24, /* of rax (xnu osfmk/mach/i386/syscall_sw.h) */
    CLASS_MACH = 1,
    CLASS_UNIX = 2,
};

bool mac_call_number(const struct mac_thread *thread, const uint8_t code[4], uint32_t *ret)
{
    if (!thread->has_registers)
        return false;
    if (!thread->is_arm64) {
        uint32_t number = (uint32_t)thread->number & ((1u << CLASS_SHIFT) - 1);
        uint32_t class = (uint32_t)thread->number >> CLASS_SHIFT;
        *ret = class == CLASS_MACH ? DARWIN_TRAP + number : number;
        return memcmp(code + 2, enters_x86_64, sizeof(enters_x86_64)) == 0 &&
               (class == CLASS_MACH || class == CLASS_UNIX);
    }
    /* Mach traps have negative numbers (xnu osfmk/arm64/sleh.c, handle_svc) */
    int32_t number = (int32_t)thread->number;
    *ret = number < 0 ? DARWIN_TRAP - (uint32_t)number : (uint32_t)number;
    return memcmp(code, enters_arm64, sizeof(enters_arm64)) == 0;
}

static char state_of(const struct mac_thread *thread)
{
    static const char states[] = {[MAC_RUNNING] = 'R',
                                  [MAC_THREAD_STOPPED] = 'T',
                                  [MAC_WAITING] = 'S',
                                  [MAC_UNINTERRUPTIBLE] = 'D',
                                  [MAC_HALTED] = 'T'};
    return thread->run_state && thread->run_state < sizeof(states) ? states[thread->run_state]
                                                                   : '?';
}

/* A thread that runs has the number of some earlier call in its register. */
static void read_call(uint32_t pid, const struct mac_thread *thread, struct argus_live_thread *ret,
                      struct mac_known *known)
{
    uint8_t code[CODE_BYTES];
    if (ret->state == 'R' || !thread->has_registers ||
        !mac_memory(pid, thread->pc - CODE_BYTES, code, sizeof(code)) ||
        !mac_call_number(thread, code, &ret->call))
        return;
    bool is_indirect = thread->is_arm64 && ret->call == INDIRECT;
    if (is_indirect)
        ret->call = (uint32_t)thread->arg[0];
    ret->has_call = true;
    memcpy(ret->arg, thread->arg + is_indirect, sizeof(ret->arg));
    for (int i = 0; i < MAC_MORE_ARGUMENTS && 6 + i + is_indirect < MAC_ARGUMENTS; i++)
        known->more[i] = thread->arg[6 + i + is_indirect];
    if (!thread->is_arm64) /* behind the address to which the function of the call returns */
        mac_memory(pid, thread->sp + sizeof(uint64_t), known->more, sizeof(known->more));
}

static void take_thread(uint32_t pid, const struct mac_thread *thread,
                        struct argus_live_thread *ret, struct mac_known *known)
{
    *known = (struct mac_known){.id = thread->id,
                                .handle = thread->handle,
                                .fp = thread->fp,
                                .lr = thread->lr,
                                .ran_ns = thread->ran_ns,
                                .suspends = thread->suspends,
                                .is_arm64 = thread->is_arm64};
    ret->tid = (uint32_t)thread->id;
    ret->state = state_of(thread);
    snprintf(ret->name, sizeof(ret->name), "%s", thread->name);
    utf8_repair_name(ret->name, strlen(ret->name));
    if (thread->has_registers) {
        ret->pc = thread->pc;
        ret->sp = thread->sp;
    }
    read_call(pid, thread, ret, known);
}

static void keep_thread(struct argus_live *live, const struct argus_live_thread *thread,
                        const struct mac_known *known)
{
    /* the same index in both: so the second one only if there is memory for the first */
    if (!vec_push(&live->system->threads, *known))
        live->no_memory = true;
    else if (!vec_push(&live->threads, *thread)) {
        live->system->threads.length--;
        live->no_memory = true;
    } else
        live->processes.data[thread->process].thread_count++;
}

/* Of a process of another user the kernel does not tell the threads; one stands for them. */
static void read_threads(struct argus_live *live, uint32_t process)
{
    uint32_t pid = live->processes.data[process].pid;
    struct mac_thread *threads;
    size_t count = mac_threads(pid, &threads);
    struct argus_live_thread thread = {.process = process, .state = '?'};
    struct mac_known known = {.id = 0};
    for (size_t i = 0; i < count; i++) {
        thread = (struct argus_live_thread){.process = process};
        take_thread(pid, &threads[i], &thread, &known);
        keep_thread(live, &thread, &known);
    }
    free(threads);
    if (!count)
        keep_thread(live, &thread, &known);
}

bool live_load(struct argus_live *live, uint32_t index)
{
    struct argus_live_process *process = &live->processes.data[index];
    struct mac_process now;
    if (process->thread_count)
        return true;
    if (!mac_process(process->pid, &now))
        return false;
    process->uid = now.uid;
    process->parent_pid = now.parent;
    process->tracer_pid = now.flags & MAC_TRACED ? now.parent : 0;
    snprintf(process->name, sizeof(process->name), "%s", now.name);
    utf8_repair_name(process->name, strlen(process->name));
    process->denied = now.status == MAC_ZOMBIE ? ARGUS_LIVE_READABLE : mac_access(process->pid);
    process->first_thread = (uint32_t)live->threads.length;
    read_threads(live, index);
    return live->processes.data[index].thread_count > 0;
}

struct mac_known *mac_known(const struct argus_live *live, uint32_t thread)
{
    return &live->system->threads.data[thread];
}

static uint32_t thread_in(struct argus_live *live, uint32_t process, uint64_t id)
{
    if (!live_load(live, process))
        return ARGUS_LIVE_NONE;
    const struct argus_live_process *of = &live->processes.data[process];
    for (uint32_t i = of->first_thread; i < of->first_thread + of->thread_count; i++)
        if (mac_known(live, i)->id == id)
            return i;
    return ARGUS_LIVE_NONE;
}

uint32_t mac_thread_of_id(struct argus_live *live, uint32_t process, uint64_t id)
{
    uint32_t found = ARGUS_LIVE_NONE;
    if (!id || process != ARGUS_LIVE_NONE)
        return id ? thread_in(live, process, id) : ARGUS_LIVE_NONE;
    for (uint32_t i = 0; i < live->processes.length && found == ARGUS_LIVE_NONE; i++)
        found = thread_in(live, i, id);
    return found;
}

/* The ID of a process means its main thread, as on Linux. */
uint32_t live_thread_of_tid(struct argus_live *live, uint32_t tid)
{
    uint32_t process = live_process(live, tid);
    return process != ARGUS_LIVE_NONE ? live->processes.data[process].first_thread
                                      : mac_thread_of_id(live, ARGUS_LIVE_NONE, tid);
}

uint32_t live_parent_of(struct argus_live *live, uint32_t process)
{
    struct argus_live_process *of = &live->processes.data[process];
    struct mac_process now;
    if (!of->parent_pid && mac_process(of->pid, &now))
        of->parent_pid = now.parent;
    return of->parent_pid;
}

bool live_has_name(const struct argus_live *live, uint32_t process, const char *name)
{
    struct mac_process now;
    return mac_process(live->processes.data[process].pid, &now) && strcmp(now.name, name) == 0;
}

/* The kernel's own process has the ID 0, and is not listed. */
bool live_is_kernels(struct argus_live *live, uint32_t process)
{
    return live->processes.data[process].pid == 0;
}

static bool read_again(const struct argus_live *live, uint32_t thread,
                       struct argus_live_thread *ret, struct mac_known *known)
{
    uint32_t pid = live_pid_of(live, thread);
    struct mac_thread *threads;
    size_t count = mac_threads(pid, &threads);
    bool is_found = false;
    *ret = (struct argus_live_thread){.process = live->threads.data[thread].process};
    for (size_t i = 0; i < count && !is_found; i++) {
        is_found = threads[i].handle == mac_known(live, thread)->handle;
        if (is_found)
            take_thread(pid, &threads[i], ret, known);
    }
    free(threads);
    return is_found;
}

bool live_is_still_there(const struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread *was = &live->threads.data[thread];
    struct argus_live_thread now;
    struct mac_known known;
    return read_again(live, thread, &now, &known) && now.has_call == was->has_call &&
           now.call == was->call && memcmp(now.arg, was->arg, sizeof(now.arg)) == 0 &&
           now.sp == was->sp && known.ran_ns == mac_known(live, thread)->ran_ns;
}

uint64_t live_moves(const struct argus_live *live, uint32_t thread)
{
    struct argus_live_thread now;
    struct mac_known known;
    return read_again(live, thread, &now, &known) ? known.ran_ns : 0;
}

void live_run_time(const struct argus_live *live, uint32_t thread, uint64_t *ret_ran,
                   uint64_t *ret_wanted)
{
    *ret_ran = live_moves(live, thread);
    *ret_wanted = 0; /* macOS does not tell how long a thread wanted a CPU */
}

void live_settle(struct argus_live *live, uint32_t thread)
{
    enum { LOOKS = 12, PAUSE_US = 2000 };
    uint64_t begin = live_now_ns(), ran = mac_known(live, thread)->ran_ns, ran_then = ran;
    struct argus_live_thread waiting = {.state = 0};
    struct mac_known known_waiting = {.id = 0};
    for (int i = 0; live->threads.data[thread].state == 'R' && i < LOOKS; i++) {
        struct argus_live_thread now;
        struct mac_known known;
        usleep(PAUSE_US);
        if (!read_again(live, thread, &now, &known))
            break;
        ran_then = known.ran_ns;
        if (now.has_call && now.state == 'S') {
            waiting = now;
            known_waiting = known;
        }
    }
    if (waiting.state && 2 * (ran_then - ran) < live_now_ns() - begin) {
        live->threads.data[thread] = waiting;
        *mac_known(live, thread) = known_waiting;
    }
}

struct argus_error *live_read_processes(struct argus_live *live)
{
    uint32_t *pids;
    size_t count = mac_pids(&pids);
    live->system = calloc(1, sizeof(*live->system));
    live->no_memory |= !live->system;
    for (size_t i = 0; i < count; i++) {
        struct argus_live_process process = {.pid = pids[i]};
        if (!pids[i] || pids[i] == (uint32_t)getpid())
            continue;
        if (!idmap_put(&live->by_pid, process.pid, (uint32_t)live->processes.length) ||
            !vec_push(&live->processes, process))
            live->no_memory = true;
    }
    free(pids);
    return live->no_memory ? argus_error_memory() : NULL;
}

void live_system_close(struct argus_live *live)
{
    if (!live->system)
        return;
    mac_close_tasks();
    mac_images_deinit(live->system);
    vec_deinit(&live->system->threads);
    vec_deinit(&live->system->rights);
    vec_deinit(&live->system->rights_by_name);
    free(live->system);
}

bool live_memory(uint32_t pid, uint64_t address, void *ret, size_t bytes)
{
    return mac_memory(pid, address, ret, bytes);
}
