/* What a Go program waits for.
 *
 * The functions of a goroutine's stack tell how it waits. What a goroutine waits at (a channel, a
 * mutex) does not tell which other one should end that: Go keeps no owners. So the walk ends there,
 * except if the main goroutine waits for a descriptor, runs in another thread, or sleeps. All
 * goroutines are listed. */
#include <string.h>

#include "event/binary/elf_file.h"
#include "live/live_go.h"
#include "live/live_images.h"

enum {
    LOOKED_AT = 8, /* frames */
    MOST_GROUPS = 64,
    MOST_STACKS = 4096,
};

/* Functions of Go's scheduler in which a thread waits for a goroutine to run, or looks after the
 * others. */
static const char *const idle[] = {
    "runtime.stopm",  "runtime.findRunnable",   "runtime.findrunnable",
    "runtime.sysmon", "runtime.templateThread", "runtime.stoplockedm",
};

/* How a goroutine waits, by the beginning of a function's name; the innermost function that fits
 * counts. To add one: a row. */
static const struct {
    const char *function;
    enum argus_live_goroutine state;
} functions[] = {
    {"runtime.chanrecv", ARGUS_LIVE_GOROUTINE_RECEIVES},
    {"runtime.chansend", ARGUS_LIVE_GOROUTINE_SENDS},
    {"runtime.selectgo", ARGUS_LIVE_GOROUTINE_SELECTS},
    {"runtime.block", ARGUS_LIVE_GOROUTINE_BLOCKS},
    {"sync.(*Mutex)", ARGUS_LIVE_GOROUTINE_MUTEX},
    {"internal/sync.(*Mutex)", ARGUS_LIVE_GOROUTINE_MUTEX},
    {"sync.(*RWMutex)", ARGUS_LIVE_GOROUTINE_RWMUTEX},
    {"sync.(*WaitGroup)", ARGUS_LIVE_GOROUTINE_WAITGROUP},
    {"sync.(*Cond)", ARGUS_LIVE_GOROUTINE_COND},
    {"time.Sleep", ARGUS_LIVE_GOROUTINE_SLEEPS},
    {"internal/poll.(*FD).Write", ARGUS_LIVE_GOROUTINE_WRITES},
    {"internal/poll.(*FD).WaitWrite", ARGUS_LIVE_GOROUTINE_WRITES},
    {"net.(*netFD).connect", ARGUS_LIVE_GOROUTINE_WRITES},
    {"internal/poll.(*FD)", ARGUS_LIVE_GOROUTINE_READS},
    {"os/signal.signal_recv", ARGUS_LIVE_GOROUTINE_SIGNAL},
    {"runtime.gopark", ARGUS_LIVE_GOROUTINE_WAITS}, /* the last one: all waits end there */
};

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_idle_function(const char *function, const void *context)
{
    (void)context;
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
        if (begins_with(function, idle[i]))
            return true;
    return false;
}

bool live_go_is_idle(struct argus_live *live, uint32_t thread)
{
    uint64_t in_file;
    const struct argus_live_thread of = live->threads.data[thread];
    struct live_elf *file =
        of.pc ? live_elf(live, live_pid_of(live, thread), of.pc, &in_file) : NULL;
    return file && elf_file_go_code(file->elf, in_file) != ELF_NOT_GO &&
           live_stack_has(live, thread, LOOKED_AT, is_idle_function, NULL);
}

/* --- one goroutine --- */

struct stack {
    uint64_t addresses[LIVE_STACK_FRAMES];
    size_t count;
    bool is_cut;
};

static const char *name_of(struct argus_live *live, uint32_t pid, uint64_t address)
{
    struct argus_live_frame frame;
    live_stack_name(live, pid, address, true, &frame);
    return strtab_get(live->texts, frame.function);
}

static enum argus_live_goroutine by_function(const char *name)
{
    for (size_t row = 0; row < sizeof(functions) / sizeof(functions[0]); row++)
        if (begins_with(name, functions[row].function))
            return functions[row].state;
    return ARGUS_LIVE_GOROUTINE_WAITS;
}

/* WAITS: no function that tells more. A sync.RWMutex has a sync.Mutex in it, for which writers
 * wait. */
static enum argus_live_goroutine by_stack(struct argus_live *live, uint32_t pid,
                                          const struct stack *stack)
{
    enum argus_live_goroutine found = ARGUS_LIVE_GOROUTINE_WAITS;
    for (size_t i = 0; i < stack->count; i++) {
        const char *name = name_of(live, pid, stack->addresses[i]);
        enum argus_live_goroutine state = by_function(name);
        bool is_in_lock = found == ARGUS_LIVE_GOROUTINE_MUTEX &&
                          (begins_with(name, "sync.") || begins_with(name, "internal/sync."));
        if (found == ARGUS_LIVE_GOROUTINE_WAITS)
            found = state;
        else if (!is_in_lock)
            break;
        else if (state == ARGUS_LIVE_GOROUTINE_RWMUTEX)
            return state;
    }
    return found;
}

static enum argus_live_goroutine state_of(struct argus_live *live, uint32_t pid,
                                          const struct goroutine *goroutine,
                                          const struct stack *stack)
{
    switch (goroutine->status) {
    case GO_RUNNABLE:
        return ARGUS_LIVE_GOROUTINE_READY;
    case GO_RUNNING:
        return ARGUS_LIVE_GOROUTINE_RUNS;
    case GO_SYSCALL:
        return ARGUS_LIVE_GOROUTINE_SYSCALL;
    case GO_DEAD:
        return ARGUS_LIVE_GOROUTINE_ENDED;
    default:
        return by_stack(live, pid, stack);
    }
}

/* --- the main goroutine --- */

static void by_descriptor(struct argus_live *live, uint32_t thread,
                          const struct goroutine *goroutine, bool writes,
                          struct argus_live_wait *wait, struct live_candidates *candidates)
{
    struct argus_live_wait found = {.fd = ARGUS_LIVE_NONE, .is_write = writes};
    if (!live_go_descriptor(live_pid_of(live, thread), goroutine, &found.fd))
        return;
    live_wait_for_fd(live, thread, &found);
    *wait = found;
    live_resolve(live, thread, wait, candidates);
    /* another goroutine of the program has the other end: it runs on any of the threads */
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].process == live->threads.data[thread].process) {
            candidates->count = 0;
            candidates->end = ARGUS_LIVE_END_UNKNOWN;
        }
}

/* Threads were read before the goroutines, which change their threads often: so it is read again.
 */
static void by_thread(struct argus_live *live, uint32_t thread, const struct goroutine *goroutine,
                      struct live_candidates *candidates)
{
    uint32_t process = live->threads.data[thread].process;
    uint32_t found = live_go_thread(live, process, goroutine);
    if (found == ARGUS_LIVE_NONE || found == thread)
        return;
    live_read_again(live, found);
    if (live_wait(live, found).kind == ARGUS_LIVE_GOROUTINE)
        return;
    candidates->link = ARGUS_LIVE_LINK_EXECUTES;
    live_candidate(candidates, process, found);
}

/* Whether the thread runs the main goroutine by now; `wait` is then what it waits for. */
static bool has_main_by_now(struct argus_live *live, uint32_t thread,
                            const struct goroutine *goroutine, struct argus_live_wait *wait)
{
    bool has = (goroutine->status == GO_RUNNING || goroutine->status == GO_SYSCALL) &&
               live_go_thread(live, live->threads.data[thread].process, goroutine) == thread;
    if (!has)
        return false;
    live_read_again(live, thread);
    const struct argus_live_wait now = live_wait(live, thread);
    if (now.kind == ARGUS_LIVE_GOROUTINE)
        return false;
    *wait = now;
    return true;
}

static void by_main(struct argus_live *live, uint32_t thread, bool follows,
                    const struct goroutine *goroutine, struct argus_live_wait *wait,
                    struct live_candidates *candidates)
{
    uint32_t pid = live_pid_of(live, thread);
    struct stack stack;
    stack.count = live_go_stack(live, pid, goroutine, stack.addresses, &stack.is_cut);
    wait->goroutine = state_of(live, pid, goroutine, &stack);
    wait->object = live_go_channel(pid, goroutine);
    if (wait->goroutine == ARGUS_LIVE_GOROUTINE_RUNS)
        candidates->end = ARGUS_LIVE_END_RUNS;
    if (!follows)
        return;
    switch (wait->goroutine) {
    case ARGUS_LIVE_GOROUTINE_RUNS:
    case ARGUS_LIVE_GOROUTINE_SYSCALL:
        by_thread(live, thread, goroutine, candidates);
        break;
    case ARGUS_LIVE_GOROUTINE_SLEEPS:
        wait->kind = ARGUS_LIVE_SLEEP;
        candidates->end = ARGUS_LIVE_END_SLEEPS;
        break;
    case ARGUS_LIVE_GOROUTINE_READS:
    case ARGUS_LIVE_GOROUTINE_WRITES:
        by_descriptor(live, thread, goroutine, wait->goroutine == ARGUS_LIVE_GOROUTINE_WRITES, wait,
                      candidates);
        break;
    default:
        break;
    }
}

bool live_go_wait(struct argus_live *live, uint32_t thread, bool follows,
                  struct argus_live_wait *wait, struct live_candidates *candidates,
                  struct goroutines *ret)
{
    *ret = (struct goroutines){0};
    if (wait->kind != ARGUS_LIVE_GOROUTINE)
        return false;
    *candidates = (struct live_candidates){.end = ARGUS_LIVE_END_UNKNOWN};
    if (!live_go_read(live, live_pid_of(live, thread), live->threads.data[thread].pc, ret)) {
        live_go_deinit(ret);
        return true;
    }
    if (has_main_by_now(live, thread, &ret->items.data[0], wait)) {
        live_go_deinit(ret);
        return false;
    }
    by_main(live, thread, follows, &ret->items.data[0], wait, candidates);
    return true;
}

/* --- all of them --- */

/* Those of Go's runtime itself: the function that they began with is one of it. Of a stack that
 * ends before that, nothing is known. */
static bool is_of_runtime(struct argus_live *live, uint32_t pid, const struct stack *stack)
{
    size_t first = stack->count;
    const char *name = "";
    bool is_whole = !stack->is_cut;
    while (first > 0) {
        name = name_of(live, pid, stack->addresses[--first]);
        if (name[0] && !begins_with(name, "runtime.goexit"))
            break;
        is_whole |= name[0] != '\0';
    }
    return is_whole && begins_with(name, "runtime.") && !begins_with(name, "runtime.main") &&
           !begins_with(name, "runtime.gopark");
}

struct grouping {
    struct argus_live *live;
    uint32_t process, pid;
    struct live_go_groups *groups;
    uint64_t channel; /* of the main goroutine; 0: none */
};

/* A goroutine that runs, or is in a system call, has no stack here; the main one stands alone. */
static bool fits(const struct grouping *grouping, const struct argus_live_goroutines *group,
                 const struct stack *stack, enum argus_live_goroutine state)
{
    if (group->frame_count != stack->count ||
        (!stack->count && (group->id == 1 || group->state != state)))
        return false;
    for (size_t i = 0; i < stack->count; i++)
        if (grouping->groups->frames.data[group->first_frame + i].address != stack->addresses[i])
            return false;
    return true;
}

static void add_group(const struct grouping *grouping, const struct goroutine *goroutine,
                      const struct stack *stack, enum argus_live_goroutine state)
{
    struct argus_live *live = grouping->live;
    struct argus_live_goroutines group = {
        .id = goroutine->id,
        .count = 1,
        .state = state,
        .thread = goroutine->status == GO_RUNNING || goroutine->status == GO_SYSCALL
                      ? live_go_thread(live, grouping->process, goroutine)
                      : ARGUS_LIVE_NONE,
        .first_frame = (uint32_t)grouping->groups->frames.length,
        .frame_count = (uint32_t)stack->count,
        .is_cut = stack->is_cut,
        .has_channel =
            goroutine->id != 1 && live_go_refers_to(grouping->pid, goroutine, grouping->channel),
    };
    for (size_t i = 0; i < stack->count; i++) {
        struct argus_live_frame frame;
        live_stack_name(live, grouping->pid, stack->addresses[i], true, &frame);
        if (!vec_push(&grouping->groups->frames, frame))
            live->no_memory = true;
    }
    if (!vec_push(&grouping->groups->items, group))
        live->no_memory = true;
}

static void take_one(const struct grouping *grouping, const struct goroutine *goroutine)
{
    struct live_go_groups *groups = grouping->groups;
    struct stack stack;
    stack.count =
        live_go_stack(grouping->live, grouping->pid, goroutine, stack.addresses, &stack.is_cut);
    if (is_of_runtime(grouping->live, grouping->pid, &stack))
        return;
    enum argus_live_goroutine state = state_of(grouping->live, grouping->pid, goroutine, &stack);
    for (size_t i = 0; i < groups->items.length; i++)
        if (fits(grouping, &groups->items.data[i], &stack, state)) {
            groups->items.data[i].count++;
            groups->items.data[i].thread = ARGUS_LIVE_NONE; /* each has another one */
            groups->items.data[i].has_channel |=
                live_go_refers_to(grouping->pid, goroutine, grouping->channel);
            return;
        }
    if (groups->items.length < MOST_GROUPS)
        add_group(grouping, goroutine, &stack, state);
    else
        groups->left_out++;
}

void live_go_group(struct argus_live *live, uint32_t process, const struct goroutines *goroutines,
                   struct live_go_groups *ret)
{
    struct grouping grouping = {live, process, live->processes.data[process].pid, ret, 0};
    *ret = (struct live_go_groups){.left_out = goroutines->left_out};
    if (goroutines->items.length)
        grouping.channel = live_go_channel(grouping.pid, &goroutines->items.data[0]);
    for (size_t i = 0; i < goroutines->items.length && !live->no_memory; i++) {
        if (i < MOST_STACKS)
            take_one(&grouping, &goroutines->items.data[i]);
        else
            ret->left_out++;
    }
}
