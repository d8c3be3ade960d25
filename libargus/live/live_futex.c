/* Futexes: a word in memory, of which the kernel knows only the address. Who has to change it, the
 * library tells whose word it is.
 *
 * The layouts are those of glibc 2.25 to 2.41 on 64-bit machines, which are part of its ABI, since
 * programs contain initialised locks (sysdeps/nptl/bits/struct_mutex.h, struct_rwlock.h):
 *
 *   pthread_mutex_t   +0 lock (0 free, 1 held, 2 held and waited for)   +8 owner's thread ID
 *                     robust and priority-inheriting ones: lock = owner's thread ID | bits
 *   pthread_rwlock_t  +8 and +12 the words that are waited for          +24 the writer's thread ID
 *   struct pthread    the thread's ID, cleared by the kernel at its end: pthread_join() waits for
 *                     that, with a futex that is not private, and with the ID as expected value
 *
 * Programs have locks of their own, too. Where the whole word is the ID of a thread of the process,
 * that thread probably has the lock.
 *
 * An owner counts only if a thread with this ID exists in the process (or, if the lock is shared,
 * in a process that maps the same memory), so that a word which is something else names nobody. */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#include "live/live_wait.h"

enum {
    MUTEX_OWNER = 8,
    RWLOCK_WORD_1 = 8,
    RWLOCK_WORD_2 = 12,
    RWLOCK_WRITER = 24,
    LOCKED_AND_WAITED_FOR = 2,
    LOOKED_AT = 8, /* frames */
    /* Smaller words may count something, such as readers; in a container, threads have such IDs.
     * The kernel itself leaves out these IDs when it begins again at the lowest (kernel/pid.c). */
    LEAST_ID = 300,
};

/* Functions that wait, by the beginning of their names without underscores. */
static const struct {
    const char *name;
    enum argus_live_kind kind;
} waiting[] = {
    {"pthread_mutex", ARGUS_LIVE_MUTEX},    {"pthread_rwlock", ARGUS_LIVE_RWLOCK},
    {"pthread_cond", ARGUS_LIVE_CONDITION}, {"pthread_join", ARGUS_LIVE_JOIN},
    {"pthread_clockjoin", ARGUS_LIVE_JOIN}, {"cnd_wait", ARGUS_LIVE_CONDITION},
    {"mtx_lock", ARGUS_LIVE_MUTEX},
};

/* Of C++ and Rust, by a part of their names: the type, and what it does. Their locks have no owner.
 */
static const struct {
    const char *type, *function;
    enum argus_live_kind kind;
} methods[] = {
    {"Mutex", "::lock", ARGUS_LIVE_MUTEX},       {"RwLock", "::read", ARGUS_LIVE_RWLOCK},
    {"RwLock", "::write", ARGUS_LIVE_RWLOCK},    {"RwLock", "::lock", ARGUS_LIVE_RWLOCK},
    {"Condvar", "::wait", ARGUS_LIVE_CONDITION},
};

static enum argus_live_kind kind_of_method(const char *name)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        const char *type = strstr(name, methods[i].type);
        if (type && strstr(type, methods[i].function))
            return methods[i].kind;
    }
    return ARGUS_LIVE_FUTEX;
}

static enum argus_live_kind kind_of_function(const char *name)
{
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
        if (strncmp(name, waiting[i].name, strlen(waiting[i].name)) == 0)
            return waiting[i].kind;
    return kind_of_method(name);
}

/* FUTEX if no frame tells. */
static enum argus_live_kind kind_by_stack(struct argus_live *live, uint32_t thread)
{
    uint64_t addresses[LIVE_STACK_FRAMES];
    bool is_cut;
    size_t count = live_stack(live, thread, addresses, &is_cut);
    for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
        struct argus_live_frame frame;
        live_stack_name(live, live_pid_of(live, thread), addresses[i], i > 0, &frame);
        enum argus_live_kind kind = kind_of_function(strtab_get(live->texts, frame.function));
        if (kind != ARGUS_LIVE_FUTEX)
            return kind;
    }
    return ARGUS_LIVE_FUTEX;
}

/* Whether the name begins so, without underscores. */
static bool begins_with(const char *function, const void *beginning)
{
    return strncmp(function + strspn(function, "_"), beginning, strlen(beginning)) == 0;
}

/* Whether one of the innermost functions has a name that begins so. */
static bool stack_names(struct argus_live *live, uint32_t thread, const char *beginning)
{
    return live_stack_has(live, thread, LOOKED_AT, begins_with, beginning);
}

static uint32_t word_at(struct argus_live *live, uint32_t thread, uint64_t address)
{
    uint32_t word = 0;
    live_memory(live_pid_of(live, thread), address, &word, sizeof(word));
    return word;
}

static bool is_private(const struct argus_live_thread *of)
{
    return of->arg[1] & FUTEX_PRIVATE_FLAG;
}

/* Whether both processes map the memory of the lock for which `thread` waits: a file, or memory
 * without a name that was shared before a fork. */
static bool maps_same(struct argus_live *live, uint32_t thread, uint32_t other)
{
    struct live_memory_id id;
    return live_shared_memory(live_pid_of(live, thread), live->threads.data[thread].arg[0], &id) &&
           live_maps(live_pid_of(live, other), &id);
}

/* The living thread that can have this lock, and calls itself `tid`. Of a lock that processes of
 * containers share, nobody is known. */
static uint32_t owner(struct argus_live *live, uint32_t thread, uint32_t tid)
{
    const struct argus_live_thread of = live->threads.data[thread];
    if (tid == 0)
        return ARGUS_LIVE_NONE;
    uint32_t found = live_thread_of_own_id(live, of.process, tid);
    if (found == thread)
        return ARGUS_LIVE_NONE;
    if (found != ARGUS_LIVE_NONE || is_private(&of) || live_has_own_ids(live_pid_of(live, thread)))
        return found;
    found = live_thread_of_tid(live, tid);
    return found != ARGUS_LIVE_NONE && !live_has_own_ids(live_pid_of(live, found)) &&
                   maps_same(live, thread, found)
               ? found
               : ARGUS_LIVE_NONE;
}

/* Whether the kernel keeps an owner in such words; or the program, with the kernel's bit for
 * waiters, as glibc does in robust mutexes. In musl's normal mutexes, EBUSY stands where others
 * have an owner. */
static bool is_owner_word(struct argus_live *live, uint32_t thread, uint32_t word)
{
    const struct argus_live_thread *of = &live->threads.data[thread];
    uint32_t operation = (uint32_t)of->arg[1] & FUTEX_CMD_MASK, tid = word & FUTEX_TID_MASK;
    if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2)
        return true;
    return word & FUTEX_WAITERS && tid != EBUSY &&
           (tid >= LEAST_ID || word_at(live, thread, of->arg[0] + MUTEX_OWNER) == tid);
}

/* The thread whose ID is the whole word, which did not change. It may be a count of something. */
static uint32_t owner_by_whole_word(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint32_t word = (uint32_t)of.arg[2], operation = (uint32_t)of.arg[1] & FUTEX_CMD_MASK;
    if ((operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) || word < LEAST_ID ||
        word_at(live, thread, of.arg[0]) != word || !live_is_still_there(live, thread))
        return ARGUS_LIVE_NONE;
    return owner(live, thread, word);
}

/* The owner's thread ID in the mutex for which `thread` still waits, if two looks agree: the lock
 * may go to another thread between two reads. 0: no owner. */
static uint32_t owner_in_memory(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint32_t word = word_at(live, thread, of.arg[0]), tid = word & FUTEX_TID_MASK;
    bool is_normal = !is_owner_word(live, thread, word);
    if (is_normal) {
        if (word != LOCKED_AND_WAITED_FOR || (uint32_t)of.arg[2] != LOCKED_AND_WAITED_FOR ||
            !(stack_names(live, thread, "pthread_mutex") || stack_names(live, thread, "mtx_lock")))
            return 0;
        tid = word_at(live, thread, of.arg[0] + MUTEX_OWNER);
    }
    bool is_same = word_at(live, thread, of.arg[0]) == word &&
                   (!is_normal || word_at(live, thread, of.arg[0] + MUTEX_OWNER) == tid);
    return is_same && live_is_still_there(live, thread) ? tid : 0;
}

uint32_t live_mutex_owner(struct argus_live *live, uint32_t thread)
{
    return owner(live, thread, owner_in_memory(live, thread));
}

uint32_t live_joined(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    return live_thread_of_own_id(live, of.process, (uint32_t)of.arg[2]);
}

static bool is_join(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint32_t tid = (uint32_t)of.arg[2];
    return !is_private(&of) && tid && word_at(live, thread, of.arg[0]) == tid &&
           live_joined(live, thread) != ARGUS_LIVE_NONE;
}

/* The owner in a normal mutex that is held, if no thread of the process has this ID, not even one
 * that has begun meanwhile. 0: another lock. */
static uint32_t lost_owner(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint32_t found;
    if (!is_private(&of) || is_owner_word(live, thread, word_at(live, thread, of.arg[0])) ||
        !stack_names(live, thread, "pthread_mutex_lock"))
        return 0;
    uint32_t tid = owner_in_memory(live, thread);
    return tid && live_find_own_id(live_pid_of(live, thread), tid, &found) == LIVE_ABSENT &&
                   owner_in_memory(live, thread) == tid
               ? tid
               : 0;
}

void live_wait_in_futex(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    wait->object = of.arg[0];
    wait->kind = is_join(live, thread) ? ARGUS_LIVE_JOIN : kind_by_stack(live, thread);
    /* a join that is over, and an unnamed lock whose word is its owner's ID */
    if (wait->kind == ARGUS_LIVE_JOIN && !is_join(live, thread))
        wait->kind = ARGUS_LIVE_FUTEX;
    if (wait->kind == ARGUS_LIVE_FUTEX &&
        is_owner_word(live, thread, word_at(live, thread, of.arg[0])) &&
        live_mutex_owner(live, thread) != ARGUS_LIVE_NONE)
        wait->kind = ARGUS_LIVE_MUTEX;
    if (wait->kind == ARGUS_LIVE_MUTEX)
        wait->lost_owner = lost_owner(live, thread);
}

static void found(struct argus_live *live, uint32_t thread, enum argus_live_link link,
                  struct live_candidates *ret)
{
    ret->link = link;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (thread != ARGUS_LIVE_NONE)
        live_candidate(ret, live->threads.data[thread].process, thread);
}

/* Of a lock without an owner in memory (Rust's), nothing is known but who is busy. */
void live_by_mutex(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                   struct live_candidates *ret)
{
    uint32_t holder = live_mutex_owner(live, thread);
    found(live, holder, ARGUS_LIVE_LINK_HOLDS, ret);
    if (holder != ARGUS_LIVE_NONE)
        return;
    if (wait->lost_owner)
        ret->end = ARGUS_LIVE_END_LOST;
    else
        live_by_condition(live, thread, wait, ret);
    ret->link = ARGUS_LIVE_LINK_HOLDS;
}

/* Readers are only counted. */
void live_by_rwlock(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    static const uint64_t words[] = {RWLOCK_WORD_1, RWLOCK_WORD_2};
    uint32_t writer = ARGUS_LIVE_NONE;
    bool is_glibc = stack_names(live, thread, "pthread_rwlock");
    for (size_t i = 0; i < 2 && is_glibc && writer == ARGUS_LIVE_NONE; i++) {
        uint64_t lock = wait->object - words[i];
        if (lock % sizeof(uint64_t) == 0)
            writer = owner(live, thread, word_at(live, thread, lock + RWLOCK_WRITER));
    }
    found(live, writer, ARGUS_LIVE_LINK_HOLDS, ret);
    if (writer == ARGUS_LIVE_NONE)
        live_by_condition(live, thread, wait, ret);
    ret->link = ARGUS_LIVE_LINK_HOLDS;
}

void live_by_word(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    uint32_t holder = owner_by_whole_word(live, thread);
    if (holder == ARGUS_LIVE_NONE) {
        live_by_condition(live, thread, wait, ret);
        return;
    }
    found(live, holder, ARGUS_LIVE_LINK_HOLDS, ret);
    ret->is_guess = true;
}

void live_by_join(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    (void)wait;
    found(live, live_joined(live, thread), ARGUS_LIVE_LINK_JOINED, ret);
}
