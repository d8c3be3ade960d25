/* Waits inside a process of which no lock tells the end: conditions, semaphores, locks without an
 * owner.
 *
 * Which thread would signal, nothing tells. But if all other threads of the process have nothing to
 * do, except one, it is likely that one. And if all threads of the process wait in this way, with
 * no time-out, for words that no other process maps, then none of them can end the wait of another.
 */
#include <ctype.h>
#include <dirent.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/live_wait.h"

enum { LOOKED_AT = 8 /* frames */, BETWEEN_LOOKS_US = 100000, STATUS_BYTES = 4096 };

/* Signals 32 and 33, with which glibc ends threads and changes their IDs (nptl/internal-signals.h).
 */
static const uint64_t signals_of_libc = UINT64_C(3) << 31;

/* Whether the end of its wait is in the hands of `other`, by a rule that is no guess. */
static bool depends_on(struct argus_live *live, uint32_t thread, uint32_t other)
{
    const struct argus_live_wait wait = live_wait(live, thread);
    if (wait.kind == ARGUS_LIVE_MUTEX)
        return live_mutex_owner(live, thread) == other;
    return wait.kind == ARGUS_LIVE_JOIN && live_joined(live, thread) == other;
}

/* Whether another busy thread of the process waits for `thread`: then its chain leads here anyway.
 */
static bool is_behind_another(struct argus_live *live, const struct argus_live_process *of,
                              uint32_t waiter, uint32_t thread)
{
    for (uint32_t i = of->first_thread; i < of->first_thread + of->thread_count; i++)
        if (i != waiter && i != thread && depends_on(live, i, thread))
            return true;
    return false;
}

/* Functions of a runtime whose program's locks and waits are its own: which of the program's
 * threads ends them, its threads do not tell. To add one: a row, with the beginning of its name. */
static bool is_of_runtime(const char *function, const void *context)
{
    (void)context;
    static const char *const beginnings[] = {
        "ObjectMonitor::", "ObjectSynchronizer::", "Unsafe_Park",
        "Parker::park",    "runtime.futex",        "runtime.futexsleep"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static bool waits_in_runtime(struct argus_live *live, uint32_t thread)
{
    return live_stack_has(live, thread, LOOKED_AT, is_of_runtime, NULL);
}

static bool joins(struct argus_live *live, const struct argus_live_wait *wait, uint32_t joiner,
                  uint32_t thread)
{
    return wait->kind == ARGUS_LIVE_JOIN && live_joined(live, joiner) == thread;
}

/* Whether only a thread of the same process can end the wait. */
static bool is_inside(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    struct live_memory_id id;
    switch (wait->kind) {
    case ARGUS_LIVE_JOIN:
        return !wait->has_timeout;
    case ARGUS_LIVE_MUTEX:
    case ARGUS_LIVE_RWLOCK:
    case ARGUS_LIVE_CONDITION:
    case ARGUS_LIVE_FUTEX:
        return !wait->has_timeout &&
               (of.arg[1] & FUTEX_PRIVATE_FLAG ||
                !live_shared_memory(live_pid_of(live, thread), of.arg[0], &id));
    default:
        return false;
    }
}

static bool all_are_inside(struct argus_live *live, const struct argus_live_process *of)
{
    for (uint32_t i = of->first_thread; i < of->first_thread + of->thread_count; i++) {
        const struct argus_live_wait wait = live_wait(live, i);
        if (!is_inside(live, i, &wait) || waits_in_runtime(live, i))
            return false;
    }
    return true;
}

/* How often the thread has stopped running. */
static uint64_t switches_of(struct argus_live *live, uint32_t thread)
{
    char name[48], text[STATUS_BYTES];
    uint64_t own = 0, forced = 0;
    snprintf(name, sizeof(name), "task/%u/status", live->threads.data[thread].tid);
    live_read(live_pid_of(live, thread), name, text, sizeof(text));
    live_field(text, "voluntary_ctxt_switches:", 10, &own);
    live_field(text, "nonvoluntary_ctxt_switches:", 10, &forced);
    return own + forced;
}

static uint32_t thread_count_now(uint32_t pid)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    uint32_t count = 0;
    while (folder && (entry = readdir(folder)))
        count += isdigit((unsigned char)entry->d_name[0]) != 0;
    if (folder)
        closedir(folder);
    return count;
}

/* The threads were read one after the other, so a wake-up may have passed between two of them:
 * whether the process still has the same ones, and none has moved. */
static bool nothing_moves(struct argus_live *live, const struct argus_live_process *of)
{
    uint64_t *before = malloc(of->thread_count * sizeof(*before));
    bool is_same = before != NULL;
    for (uint32_t i = 0; is_same && i < of->thread_count; i++)
        before[i] = switches_of(live, of->first_thread + i);
    if (is_same)
        usleep(BETWEEN_LOOKS_US);
    is_same &= thread_count_now(of->pid) == of->thread_count;
    for (uint32_t i = 0; is_same && i < of->thread_count; i++)
        is_same = live_is_still_there(live, of->first_thread + i) &&
                  switches_of(live, of->first_thread + i) == before[i];
    free(before);
    return is_same;
}

/* Whether a signal or a timer could run a function of the process. */
static bool may_handle_signal(uint32_t pid)
{
    char text[STATUS_BYTES];
    uint64_t caught = 0;
    if (live_read(pid, "status", text, sizeof(text)) <= 0 ||
        !live_field(text, "SigCgt:", 16, &caught))
        return true;
    return caught & ~signals_of_libc || live_read(pid, "timers", text, sizeof(text)) > 0;
}

/* Whether its only thread waits for the same as `thread`: it cannot end that. */
static bool waits_for_same(struct argus_live *live, uint32_t process, uint32_t thread,
                           const struct live_memory_id *memory)
{
    const struct argus_live_process of = live->processes.data[process];
    const struct argus_live_wait wait = live_wait(live, of.first_thread);
    const struct argus_live_thread theirs = live->threads.data[of.first_thread],
                                   own = live->threads.data[thread];
    struct live_memory_id id;
    enum { PAGE_OFFSET = 4095 };
    return of.thread_count == 1 && wait.kind == live_wait(live, thread).kind &&
           ((theirs.arg[0] ^ own.arg[0]) & PAGE_OFFSET) == 0 &&
           live_shared_memory(of.pid, theirs.arg[0], &id) && id.inode == memory->inode &&
           strcmp(id.device, memory->device) == 0;
}

/* A word that processes share (a semaphore with a name, or of a pool of processes): the others that
 * have it. */
static void add_sharers(struct argus_live *live, uint32_t thread, struct live_candidates *ret)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint32_t own = of.process;
    struct live_memory_id id;
    if (of.arg[1] & FUTEX_PRIVATE_FLAG ||
        !live_shared_memory(live_pid_of(live, thread), of.arg[0], &id))
        return;
    for (uint32_t i = 0; i < live->processes.length; i++)
        if (i != own && live_maps(live->processes.data[i].pid, &id) && live_load(live, i) &&
            !waits_for_same(live, i, thread, &id))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
}

static bool waits_in_process(enum argus_live_kind kind)
{
    return kind == ARGUS_LIVE_FUTEX || kind == ARGUS_LIVE_CONDITION || kind == ARGUS_LIVE_MUTEX ||
           kind == ARGUS_LIVE_RWLOCK;
}

/* A lock's holder may wait for a condition or another lock. A thread that only sleeps is no more
 * likely to have it, so all of these may. */
static void add_possible_holders(struct argus_live *live, const struct argus_live_process *of,
                                 uint32_t waiter, const struct argus_live_wait *wait,
                                 struct live_candidates *ret)
{
    for (uint32_t i = 0; i < ret->count; i++)
        if (live_wait(live, ret->items[i].thread).kind != ARGUS_LIVE_SLEEP)
            return;
    for (uint32_t i = of->first_thread; ret->count && i < of->first_thread + of->thread_count;
         i++) {
        const struct argus_live_wait theirs = live_wait(live, i);
        if (i != waiter && waits_in_process(theirs.kind) && theirs.object != wait->object)
            live_candidate(ret, live->threads.data[i].process, i);
    }
}

/* A thread that waits for the end of the waiter is left out, and those for which the busy one
 * waits. */
void live_by_condition(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    const struct argus_live_process of = live->processes.data[process];
    ret->link = ARGUS_LIVE_LINK_SIGNALS;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    ret->is_guess = true;
    if (waits_in_runtime(live, thread))
        return;
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++) {
        const struct argus_live_wait theirs = live_wait(live, i);
        if (i != thread && !live_is_idle(theirs.kind) && !live_awaits_request(live, &theirs) &&
            !joins(live, &theirs, i, thread) && !is_behind_another(live, &of, thread, i))
            live_candidate(ret, process, i);
    }
    if (wait->kind != ARGUS_LIVE_CONDITION)
        add_possible_holders(live, &of, thread, wait, ret);
    add_sharers(live, thread, ret);
    if (!ret->count && all_are_inside(live, &of) && nothing_moves(live, &of)) {
        ret->end = ARGUS_LIVE_END_STUCK;
        ret->is_end_guess = may_handle_signal(of.pid);
    }
}
