/* Threads that try to take a lock again and again, and sleep in between. No futex tells the lock
 * then; the code of the loop does (steps/loops/loop_flags.h), and glibc keeps the holder in memory.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

#include "live/live_sample.h"
#include "live/live_wait.h"

enum {
    TEXT_BYTES = 640,
    MOST_KINDS = 1024,
    HELD = 1,
    HELD_AND_WAITED_FOR = 2,
    HELD_BY_WRITER = 3, /* bits: PTHREAD_RWLOCK_WRPHASE, PTHREAD_RWLOCK_WRLOCKED */
};

/* pthread_mutex_t of glibc on 64-bit machines (sysdeps/nptl/bits/struct_mutex.h). */
struct mutex {
    uint32_t lock, count, owner;
    uint32_t users; /* at least one while it is held; musl's mutexes have 0 there, in all cases */
    uint32_t kind;  /* bits below MOST_KINDS */
};

/* The owner, if two looks agree. Of a robust or priority-inheriting one, the lock itself is its ID.
 * 0: none. */
static uint32_t mutex_owner(uint32_t pid, uint64_t address)
{
    struct mutex mutex, again;
    if (!live_memory(pid, address, &mutex, sizeof(mutex)) || !mutex.owner || !mutex.users ||
        mutex.kind >= MOST_KINDS)
        return 0;
    bool is_held = mutex.lock == HELD || mutex.lock == HELD_AND_WAITED_FOR ||
                   (mutex.lock & FUTEX_TID_MASK) == mutex.owner;
    return is_held && live_memory(pid, address, &again, sizeof(again)) &&
                   again.owner == mutex.owner && again.lock
               ? mutex.owner
               : 0;
}

/* pthread_rwlock_t of glibc (struct_rwlock.h). */
struct rwlock {
    uint32_t readers; /* bits 0 and 1: a writer has it, or takes it */
    uint32_t words[5];
    uint32_t writer;
};

static uint32_t rwlock_writer(uint32_t pid, uint64_t address)
{
    struct rwlock lock, again;
    return live_memory(pid, address, &lock, sizeof(lock)) && lock.readers & HELD_BY_WRITER &&
                   live_memory(pid, address, &again, sizeof(again)) && lock.writer == again.writer
               ? lock.writer
               : 0;
}

/* Whose locks have an owner, by the beginning of the function's name. To add a library: a row. */
static const struct {
    const char *beginning;
    uint32_t (*owner)(uint32_t pid, uint64_t address);
} libraries[] = {
    {"pthread_mutex_", mutex_owner},
    {"mtx_", mutex_owner},
    {"pthread_rwlock_", rwlock_writer},
};

/* A thread of another process has no such lock, unless it is in memory that both map. */
static uint32_t holder_of(struct argus_live *live, uint32_t thread, uint64_t address, uint32_t tid)
{
    struct live_memory_id id;
    uint32_t pid = live_pid_of(live, thread);
    uint32_t found = live_thread_of_own_id(live, live->threads.data[thread].process, tid);
    if (found == ARGUS_LIVE_NONE && !live_has_own_ids(pid) &&
        live_shared_memory(pid, address, &id)) {
        found = live_thread_of_tid(live, tid);
        if (found != ARGUS_LIVE_NONE && (live_has_own_ids(live_pid_of(live, found)) ||
                                         !live_maps(live_pid_of(live, found), &id)))
            found = ARGUS_LIVE_NONE;
    }
    return found == thread ? ARGUS_LIVE_NONE : found;
}

uint32_t live_lock_holder(struct argus_live *live, uint32_t thread, const char *taken_by,
                          uint64_t address)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (strncmp(taken_by, libraries[i].beginning, strlen(libraries[i].beginning)) != 0)
            continue;
        uint32_t tid = libraries[i].owner(live_pid_of(live, thread), address);
        return tid ? holder_of(live, thread, address, tid) : ARGUS_LIVE_NONE;
    }
    return ARGUS_LIVE_NONE;
}

static uint32_t text_of(struct argus_live *live, const struct argus_live_flag *flag)
{
    char text[TEXT_BYTES];
    const char *image = strtab_get(live->texts, flag->image);
    snprintf(text, sizeof(text), "'%s'%s%s", strtab_get(live->texts, flag->name),
             image[0] ? " of " : "", image);
    return live_text(live, text);
}

bool live_polled_mutex(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    struct argus_live_loop loop;
    const char *call = argus_live_call_name(&live->threads.data[thread]);
    if (wait->kind != ARGUS_LIVE_SLEEP || !call || strcmp(call, "futex") == 0)
        return false;
    live_loop_of(live, thread, &loop);
    const struct argus_live_flag *lock = NULL;
    for (uint32_t i = 0; i < loop.flag_count; i++)
        if (loop.flags[i].holder != ARGUS_LIVE_NONE && lock)
            return false;
        else if (loop.flags[i].holder != ARGUS_LIVE_NONE)
            lock = &loop.flags[i];
    if (!lock)
        return false;
    wait->kind = ARGUS_LIVE_POLLED_LOCK;
    wait->text = text_of(live, lock);
    *ret = (struct live_candidates){.link = ARGUS_LIVE_LINK_HOLDS,
                                    .end = ARGUS_LIVE_END_UNKNOWN,
                                    .is_guess = lock->is_holder_guess || loop.flag_count > 1 ||
                                                !loop.is_whole};
    live_candidate(ret, live->threads.data[lock->holder].process, lock->holder);
    return true;
}
