/* Whether all threads of a process wait so that none of them can end another's wait. */
#include <ctype.h>
#include <dirent.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/live_wait.h"

enum { BETWEEN_LOOKS_US = 100000, STATUS_BYTES = 4096 };

/* Signals 32 and 33, with which glibc ends threads and changes their IDs (nptl/internal-signals.h).
 */
static const uint64_t signals_of_libc = UINT64_C(3) << 31;

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
        if (!is_inside(live, i, &wait) || live_waits_in_runtime(live, i))
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

bool live_are_stuck(struct argus_live *live, uint32_t process, bool *ret_guess)
{
    const struct argus_live_process of = live->processes.data[process];
    if (!all_are_inside(live, &of) || !nothing_moves(live, &of))
        return false;
    *ret_guess = may_handle_signal(of.pid);
    return true;
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
void live_add_sharers(struct argus_live *live, uint32_t thread, struct live_candidates *ret)
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
