/* From a request to a thread that is stopped at the place. All threads of the process are attached to (PTRACE_SEIZE stops none of
 * them) and get a breakpoint; a thread that is made meanwhile is attached to by the kernel (PTRACE_O_TRACECLONE) and gets one
 * before it runs. The first that comes, and has the right name, is kept; the others are let go at once.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "linux/small_file.h"
#include "linux/stepper.h"

#define MOST_LOOKS 20 /* for new threads */

struct step_tracee *step_tracee_of(struct stepper *stepper, pid_t tid)
{
    for (size_t i = 0; i < stepper->tracees.length; i++)
        if (stepper->tracees.data[i].tid == tid)
            return &stepper->tracees.data[i];
    return NULL;
}

static void forget(struct stepper *stepper, pid_t tid)
{
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    if (!tracee)
        return;
    for (int i = 0; i < STEP_START_PLACES; i++)
        step_breakpoint_clear(&tracee->places[i]);
    *tracee = stepper->tracees.data[--stepper->tracees.length];
}

/* --- may we? --- */

static bool status_number(uint32_t pid, const char *name, unsigned long *ret)
{
    char path[40], text[4096];
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    if (!small_file_read(path, text, sizeof(text)))
        return false;
    const char *at = strstr(text, name);
    *ret = at ? strtoul(at + strlen(name), NULL, 10) : 0;
    return at != NULL;
}

static void comm_of(pid_t tid, char ret[16])
{
    char path[40];
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
    if (!small_file_read(path, ret, 16))
        ret[0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
}

static struct argus_error *check_program(uint32_t pid)
{
    char path[40], magic[8];
    snprintf(path, sizeof(path), "/proc/%u/exe", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, magic, EI_CLASS + 1) : 0;
    if (fd >= 0)
        close(fd);
    if (got == EI_CLASS + 1 && memcmp(magic, ELFMAG, SELFMAG) == 0 && magic[EI_CLASS] == ELFCLASS32)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "process %u is a 32-bit program, which Argus cannot step", pid);
    return NULL;
}

static struct argus_error *check_process(const struct step_request *request)
{
    unsigned long tracer = 0, group = 0;
    uint32_t pid = request->pid;
    if (!status_number(pid, "Tgid:", &group))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u", pid);
    if (group != pid)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%u is a thread of process %lu: give the process, and the thread "
                                  "with --thread",
                                  pid, group);
    if (request->tid && !status_number(request->tid, "Tgid:", &group))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no thread %u", request->tid);
    if (group != pid)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "thread %u belongs to process %lu, not to process %u",
                                  request->tid, group, pid);
    status_number(request->tid ? request->tid : pid, "TracerPid:", &tracer);
    if (tracer) {
        char name[16];
        comm_of((pid_t)tracer, name);
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "process %u is traced already, by process %lu (%s): only one "
                                  "can do that at a time",
                                  pid, tracer, name);
    }
    return check_program(pid);
}

static struct argus_error *refusal(const struct step_request *request, pid_t tid, int failed)
{
    if (failed == ESRCH)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no thread %d", (int)tid);
    if (failed != EPERM && failed != EACCES)
        return argus_error_os(failed, "cannot step thread %d", (int)tid);
    char scope[8] = "";
    bool has_yama = small_file_read("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
    if (has_yama && scope[0] == '3')
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "process %u cannot be stepped by anybody: "
                                  "/proc/sys/kernel/yama/ptrace_scope is 3",
                                  request->pid);
    if (has_yama && scope[0] != '0' && geteuid() != 0)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "process %u may be stepped by root only: "
                                  "/proc/sys/kernel/yama/ptrace_scope is %c",
                                  request->pid, scope[0]);
    return argus_error_create(ARGUS_ERROR_PERMISSION,
                              "process %u may not be stepped: it is somebody else's, or the "
                              "system protects it",
                              request->pid);
}

/* --- attaching --- */

static struct argus_error *set_places(struct stepper *stepper, struct step_tracee *tracee)
{
    if (!stepper->place)
        return NULL;
    int failed =
        step_breakpoint_set(tracee->tid, stepper->place, 0, tracee->stopped, &tracee->places[0]);
    if (failed && !tracee->stopped && failed != ESRCH && failed != ENOSPC && step_halt(tracee)) {
        failed = step_breakpoint_set(tracee->tid, stepper->place, 0, true, &tracee->places[0]);
        tracee->stopped = false;
        ptrace(PTRACE_CONT, tracee->tid, NULL, tracee->signal);
        tracee->signal = 0;
    }
    if (failed == ENOSPC)
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "no debug register of thread %d is free: a debugger or 'argus "
                                  "watchflag' has them all",
                                  (int)tracee->tid);
    if (failed && failed != ESRCH)
        return argus_error_os(failed, "cannot set a breakpoint in thread %d", (int)tracee->tid);
    return NULL;
}

static struct argus_error *attach(struct stepper *stepper, pid_t tid)
{
    const uintptr_t options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    struct step_tracee tracee = {.tid = tid};
    if (ptrace(PTRACE_SEIZE, tid, NULL, options) < 0)
        return refusal(stepper->request, tid, errno);
    if (!vec_push(&stepper->tracees, tracee)) {
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
        return argus_error_memory();
    }
    return NULL;
}

/* Threads come and go meanwhile; what a thread makes that we have is ours by itself. */
static struct argus_error *attach_new(struct stepper *stepper, uint32_t *ret_found)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/task", stepper->request->pid);
    DIR *tasks = opendir(path);
    struct argus_error *error = NULL;
    struct dirent *entry;
    *ret_found = 0;
    if (!tasks)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process %u has ended",
                                  stepper->request->pid);
    while (!error && (entry = readdir(tasks))) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || step_tracee_of(stepper, tid))
            continue;
        error = attach(stepper, tid);
        bool was_made = error && error->code == ARGUS_ERROR_PERMISSION && stepper->tracees.length;
        if (error && (error->code == ARGUS_ERROR_NOT_FOUND || was_made)) {
            argus_error_destroy(error); /* it has ended, or its maker's attachment has it already */
            error = NULL;
            continue;
        }
        ++*ret_found;
    }
    closedir(tasks);
    return error;
}

static struct argus_error *attach_all(struct stepper *stepper)
{
    uint32_t found = 1;
    struct argus_error *error = NULL;
    if (stepper->request->tid)
        return attach(stepper, (pid_t)stepper->request->tid);
    for (int i = 0; i < MOST_LOOKS && found && !error; i++)
        error = attach_new(stepper, &found);
    return error;
}

/* --- letting go --- */

bool step_halt(struct step_tracee *tracee)
{
    int status;
    if (tracee->stopped)
        return true;
    if (ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL) < 0)
        return false;
    while (waitpid(tracee->tid, &status, __WALL) < 0)
        if (errno != EINTR)
            return false;
    if (!WIFSTOPPED(status))
        return false;
    tracee->stopped = true;
    siginfo_t signal = {0};
    bool is_signal = step_event_of(status) == 0;
    if (is_signal && ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &signal) == 0 &&
        !step_breakpoint_is_hit(&signal))
        tracee->signal = WSTOPSIG(status);
    return true;
}

/* A hit that is on its way would end the process once nobody holds it back. */
static bool has_hit_pending(pid_t tid)
{
    struct __ptrace_peeksiginfo_args wanted = {.nr = 8};
    siginfo_t signals[8];
    long count = ptrace(PTRACE_PEEKSIGINFO, tid, &wanted, signals);
    for (long i = 0; i < count; i++)
        if (step_breakpoint_is_hit(&signals[i]))
            return true;
    return false;
}

static void drop_pending_hit(struct step_tracee *tracee)
{
    int status;
    siginfo_t signal;
    if (!has_hit_pending(tracee->tid) || ptrace(PTRACE_CONT, tracee->tid, NULL, tracee->signal) < 0)
        return;
    tracee->signal = 0;
    while (waitpid(tracee->tid, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (WIFSTOPPED(status) && step_event_of(status) == 0 &&
        ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &signal) == 0 &&
        !step_breakpoint_is_hit(&signal))
        tracee->signal = WSTOPSIG(status);
}

void step_release(struct step_tracee *tracee)
{
    bool is_there = step_halt(tracee);
    for (int i = 0; i < STEP_START_PLACES; i++)
        step_breakpoint_clear(&tracee->places[i]);
    if (!is_there)
        return;
    drop_pending_hit(tracee);
    ptrace(PTRACE_DETACH, tracee->tid, NULL, tracee->signal);
}

static void release_others(struct stepper *stepper, pid_t kept)
{
    for (size_t i = 0; i < stepper->tracees.length; i++)
        if (stepper->tracees.data[i].tid != kept)
            step_release(&stepper->tracees.data[i]);
    struct step_tracee *tracee = step_tracee_of(stepper, kept);
    if (tracee)
        stepper->tracees.data[0] = *tracee;
    stepper->tracees.length = tracee ? 1 : 0;
}

void step_leave(struct stepper *stepper)
{
    struct step_tracee *tracee = step_tracee_of(stepper, stepper->tid);
    for (int i = 0; i < STEP_RETURN_PLACES; i++)
        if (stepper->returns[i].tid) {
            if (tracee)
                step_halt(tracee);
            step_breakpoint_clear(&stepper->returns[i]);
        }
    if (stepper->pinned)
        sched_setaffinity(stepper->tid, sizeof(stepper->old_cpus), &stepper->old_cpus);
    release_others(stepper, 0);
}

/* --- waiting for one to come --- */

static bool is_wanted(const struct stepper *stepper, pid_t tid)
{
    char comm[16];
    if (!stepper->request->comm[0] || stepper->request->tid)
        return true;
    comm_of(tid, comm);
    return strcmp(comm, stepper->request->comm) == 0;
}

/* A stop that is not the one waited for: hands signals on, gives new threads their breakpoints. */
static struct argus_error *go_on(struct stepper *stepper, struct step_tracee *tracee, int status,
                                 bool is_hit)
{
    unsigned event = step_event_of(status);
    int signal = event || is_hit ? 0 : WSTOPSIG(status);
    struct argus_error *error = NULL;
    bool is_group_stop = event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    if (event == PTRACE_EVENT_STOP && !tracee->places[0].tid)
        error = set_places(stepper, tracee);
    tracee->stopped = false;
    ptrace(is_group_stop ? PTRACE_LISTEN : PTRACE_CONT, tracee->tid, NULL, signal);
    return error;
}

static struct argus_error *ended_by(const struct stepper *stepper, enum step_wait how)
{
    const struct step_request *request = stepper->request;
    if (how == STEP_WAIT_USER)
        return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
    if (how == STEP_WAIT_TIME && request->flags & STEP_FROM_ANYWHERE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "thread %u did not come back to the program's own code within "
                                  "%.3g s: it waits in a library or in the kernel",
                                  request->tid ? request->tid : request->pid,
                                  (double)request->arrive_ns / 1e9);
    if (how == STEP_WAIT_TIME)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "no thread%s%s of process %u came to that place within %.3g s",
                                  request->comm[0] ? " " : "", request->comm, request->pid,
                                  (double)request->arrive_ns / 1e9);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "process %u ended before a thread came to that place", request->pid);
}

static bool hit_breakpoint(pid_t tid, int status)
{
    siginfo_t signal;
    return step_event_of(status) == 0 && WSTOPSIG(status) == SIGTRAP &&
           ptrace(PTRACE_GETSIGINFO, tid, NULL, &signal) == 0 && step_breakpoint_is_hit(&signal);
}

/* A thread that was made while we waited: the kernel tells its maker and itself, in any order. */
static struct step_tracee *known(struct stepper *stepper, pid_t tid)
{
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    if (!tracee && vec_push(&stepper->tracees, (struct step_tracee){.tid = tid}))
        tracee = &stepper->tracees.data[stepper->tracees.length - 1];
    if (tracee)
        tracee->stopped = true;
    return tracee;
}

static struct argus_error *wait_for_hit(struct stepper *stepper, pid_t *ret)
{
    struct argus_error *error = NULL;
    while (!error) {
        int status;
        pid_t tid;
        enum step_wait how = step_wait_for(stepper, -1, &tid, &status);
        if (how == STEP_WAIT_ENDED) {
            forget(stepper, tid);
            if (stepper->tracees.length)
                continue;
        }
        if (how != STEP_WAIT_STOPPED)
            return ended_by(stepper, how);
        struct step_tracee *tracee = known(stepper, tid);
        if (!tracee)
            return argus_error_memory();
        if (step_event_of(status) == PTRACE_EVENT_EXEC)
            return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                      "process %u executed another program before a thread came "
                                      "to that place",
                                      stepper->request->pid);
        bool is_hit = hit_breakpoint(tid, status);
        if (is_hit && is_wanted(stepper, tid)) {
            *ret = tid;
            return NULL;
        }
        error = go_on(stepper, tracee, status, is_hit);
    }
    return error;
}

/* --- where to --- */

/* The program of a process that has just begun: the place may be in a library, which its dynamic linker still has to map. */
static struct argus_error *run_until_mapped(struct stepper *stepper)
{
    pid_t tid = (pid_t)stepper->request->pid, got;
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    int status;
    for (;;) {
        if (step_maps_read(&stepper->maps) &&
            step_maps_resolve(&stepper->maps, &stepper->request->place, &stepper->place))
            return NULL;
        ptrace(PTRACE_SYSCALL, tid, NULL, tracee->signal);
        enum step_wait how = step_wait_for(stepper, tid, &got, &status);
        if (how == STEP_WAIT_ENDED)
            forget(stepper, tid);
        if (how != STEP_WAIT_STOPPED) {
            tracee->stopped = false;
            return argus_error_context(ended_by(stepper, how), "%s was never mapped",
                                       stepper->request->place.path);
        }
        bool is_syscall = step_event_of(status) || WSTOPSIG(status) == (SIGTRAP | 0x80);
        tracee->signal = is_syscall ? 0 : WSTOPSIG(status);
    }
}

static struct argus_error *wait_for_program(struct stepper *stepper)
{
    pid_t tid = (pid_t)stepper->request->pid, got;
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    int status;
    const struct step_item_waiting waiting = {.threads = 1};
    step_output_put(stepper->output, STEP_ITEM_WAITING, &waiting, sizeof(waiting), NULL, 0);
    step_output_flush(stepper->output);
    for (;;) {
        enum step_wait how = step_wait_for(stepper, tid, &got, &status);
        if (how == STEP_WAIT_ENDED)
            forget(stepper, tid);
        if (how != STEP_WAIT_STOPPED)
            return ended_by(stepper, how);
        tracee->stopped = true;
        if (step_event_of(status) == PTRACE_EVENT_EXEC)
            break;
        ptrace(PTRACE_CONT, tid, NULL, step_event_of(status) ? 0 : WSTOPSIG(status));
        tracee->stopped = false;
    }
    /* The program's memory is another one now, and perhaps its rights. */
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/mem", stepper->request->pid);
    close(stepper->memory_fd);
    stepper->memory_fd = open(path, O_RDWR | O_CLOEXEC);
    struct argus_error *error = check_program(stepper->request->pid);
    if (error)
        return error;
    ptrace(PTRACE_SETOPTIONS, tid, NULL,
           PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD);
    return run_until_mapped(stepper);
}

static struct argus_error *resolve(struct stepper *stepper)
{
    const struct step_request *request = stepper->request;
    if (!step_maps_read(&stepper->maps))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "process %u has no memory of its own: it is part of the kernel, "
                                  "or has ended",
                                  request->pid);
    if (request->flags & STEP_FROM_ANYWHERE ||
        step_maps_resolve(&stepper->maps, &request->place, &stepper->place))
        return NULL;
    if (!request->place.path[0])
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process %u has no code at address 0x%llx",
                                  request->pid, (unsigned long long)request->place.offset);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                              "process %u has no code of %s mapped at offset 0x%llx", request->pid,
                              request->place.path, (unsigned long long)request->place.offset);
}

/* --- threads that are inside already --- */

/* Gives a thread that is in the function (or anywhere in the application) a breakpoint where it comes back to it. Goes on with it
 * stopped or running as it was; *ret_is_there: it is in the code itself, and is left stopped. */
static void catch_inside(struct stepper *stepper, struct step_tracee *tracee, uint64_t start,
                         uint64_t end, bool *ret_is_there)
{
    uint64_t registers[STEP_REGISTERS_MOST];
    *ret_is_there = false;
    bool was_stopped = tracee->stopped;
    if (!step_halt(tracee) || !step_registers_read(tracee->tid, registers))
        return;
    uint64_t pc = step_pc(registers);
    if (pc >= start && pc < end && step_is_stepped(stepper, pc)) {
        *ret_is_there = true;
        return;
    }
    uint64_t caller = step_find_caller(stepper, registers, start, end);
    if (caller)
        step_breakpoint_set(tracee->tid, caller, 1, true, &tracee->places[1]);
    if (was_stopped)
        return;
    tracee->stopped = false;
    ptrace(PTRACE_CONT, tracee->tid, NULL, tracee->signal);
    tracee->signal = 0;
}

static pid_t catch_all_inside(struct stepper *stepper)
{
    bool anywhere = stepper->request->flags & STEP_FROM_ANYWHERE;
    uint64_t bytes = stepper->request->place.function_bytes;
    uint64_t start = anywhere ? 0 : stepper->place;
    uint64_t end = anywhere ? UINT64_MAX : stepper->place + bytes;
    for (size_t i = 0; i < stepper->tracees.length; i++) {
        struct step_tracee *tracee = &stepper->tracees.data[i];
        bool is_there;
        if (!is_wanted(stepper, tracee->tid))
            continue;
        catch_inside(stepper, tracee, start, end, &is_there);
        if (is_there)
            return tracee->tid;
        if (anywhere && !tracee->places[1].tid)
            return -1;
    }
    return 0;
}

/* --- all together --- */

static struct argus_error *arm(struct stepper *stepper)
{
    struct argus_error *error = NULL;
    bool is_weak = false;
    for (size_t i = 0; i < stepper->tracees.length && !error; i++) {
        struct step_tracee *tracee = &stepper->tracees.data[i];
        error = set_places(stepper, tracee);
        is_weak |= tracee->places[0].tid && tracee->places[0].fd < 0;
    }
    const struct step_item_waiting waiting = {
        .address = stepper->place, .threads = (uint32_t)stepper->tracees.length, .weak = is_weak};
    step_output_put(stepper->output, STEP_ITEM_WAITING, &waiting, sizeof(waiting), NULL, 0);
    step_output_flush(stepper->output);
    return error;
}

static struct argus_error *wait_for_thread(struct stepper *stepper, pid_t *ret)
{
    const struct step_request *request = stepper->request;
    struct argus_error *error = arm(stepper);
    *ret = 0;
    if (!error && request->flags & STEP_NEW_PROGRAM) {
        stepper->tracees.data[0].stopped = false;
        ptrace(PTRACE_CONT, stepper->tracees.data[0].tid, NULL, NULL);
    } else if (!error && request->flags & (STEP_INSIDE_AS_WELL | STEP_FROM_ANYWHERE)) {
        *ret = catch_all_inside(stepper);
    }
    if (!error && *ret < 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "nothing of the program's own code is on the stack of thread %u",
                                  request->tid ? request->tid : request->pid);
    return error || *ret ? error : wait_for_hit(stepper, ret);
}

/* On the same cpu as we are a stop costs no wake-up of another one: it is twice as fast. */
static void pin(struct stepper *stepper)
{
    cpu_set_t one;
    if (sched_getaffinity(stepper->tid, sizeof(stepper->old_cpus), &stepper->old_cpus) < 0)
        return;
    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&one) == 0; cpu--)
        if (CPU_ISSET(cpu, &stepper->old_cpus))
            CPU_SET(cpu, &one);
    stepper->pinned = sched_setaffinity(stepper->tid, sizeof(one), &one) == 0;
    if (stepper->pinned && sched_setaffinity(0, sizeof(one), &one) < 0)
        return; /* slower, and nothing else */
}

static void say_begin(struct stepper *stepper)
{
    struct timespec now;
    struct step_item_begin begin = {
        .pid = stepper->request->pid, .tid = (uint32_t)stepper->tid, .address = stepper->place};
    clock_gettime(CLOCK_REALTIME, &now);
    begin.wall_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    comm_of(stepper->tid, begin.comm);
    step_output_put(stepper->output, STEP_ITEM_BEGIN, &begin, sizeof(begin), NULL, 0);
}

/* The thread's stack from its pointer up, and every map: what it takes to unwind it. */
static void say_stack(struct stepper *stepper)
{
    struct step_item_stack item = {.address = step_stack_pointer(stepper->registers)};
    uint8_t *stack = malloc(STEP_STACK_BYTES);
    size_t bytes =
        stack ? step_memory_read(stepper->memory_fd, item.address, stack, STEP_STACK_BYTES) : 0;
    step_output_put(stepper->output, STEP_ITEM_STACK, &item, sizeof(item), stack, bytes);
    free(stack);
}

static struct argus_error *begin(struct stepper *stepper, pid_t tid)
{
    stepper->tid = tid;
    release_others(stepper, tid);
    struct step_tracee *tracee = step_tracee_of(stepper, tid);
    for (int i = 0; i < STEP_START_PLACES; i++)
        step_breakpoint_clear(&tracee->places[i]);
    ptrace(PTRACE_SETOPTIONS, tid, NULL, PTRACE_O_TRACEEXEC);
    if (!step_registers_read(tid, stepper->registers))
        return ended_by(stepper, STEP_WAIT_ENDED);
    if (!step_maps_read(&stepper->maps))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "process %u has ended",
                                  stepper->request->pid);
    step_maps_resolve(&stepper->maps, &stepper->request->wait, &stepper->wait);
    pin(stepper);
    say_begin(stepper);
    step_maps_put(&stepper->maps, stepper->output);
    say_stack(stepper);
    return NULL;
}

static struct argus_error *open_memory(struct stepper *stepper)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/mem", stepper->request->pid);
    stepper->memory_fd = open(path, O_RDWR | O_CLOEXEC);
    if (stepper->memory_fd >= 0)
        return NULL;
    return refusal(stepper->request, (pid_t)stepper->request->pid, errno);
}

struct argus_error *step_arrive(struct stepper *stepper)
{
    const struct step_request *request = stepper->request;
    pid_t tid = 0;
    struct argus_error *error = check_process(request);
    if (request->arrive_ns)
        stepper->deadline_ns = step_now_ns() + request->arrive_ns;
    if (!error)
        error = attach_all(stepper);
    if (!error)
        error = open_memory(stepper);
    if (!error)
        error = request->flags & STEP_NEW_PROGRAM ? wait_for_program(stepper) : resolve(stepper);
    if (!error)
        error = wait_for_thread(stepper, &tid);
    if (!error)
        error = begin(stepper, tid);
    if (error)
        step_leave(stepper);
    return error;
}
