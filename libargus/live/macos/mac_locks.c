/* Who holds a lock.
 *
 * An unfair lock's word is the name of its holder's thread port in the holder's task, with flags in
 * the lowest two bits (xnu bsd/sys/ulock.h, ulock_owner_value_to_port_name). Every thread has the
 * name of its own port in its thread-specific data, at slot 3 (xnu libsyscall/os/tsd.h,
 * __TSD_MACH_THREAD_SELF), and the kernel tells where these data begin
 * (THREAD_IDENTIFIER_INFO: thread_handle; libproc lists the same addresses). So memory alone leads
 * from the word to the thread. The following are such words:
 *
 *   os_unfair_lock (libplatform-375 src/os/lock.c), and the mutexes of libpthread with the option
 *     `ulock`
 *   dispatch_once_t while its function runs
 *   tl_exit_gate in struct pthread_s, while pthread_join() waits for that thread (libpthread-539
 *     src/pthread_cancelable.c): it has the name of the thread whose end is waited for
 *   dq_state of a dispatch queue (its lower half), if dispatch_sync() waits by kevent_id() for the
 *     filter EVFILT_WORKLOOP (libdispatch-1542 src/event/event_kevent.c,
 *     _dispatch_event_loop_wait_for_ownership): the kernel reads the owner there in the same way
 *     (xnu bsd/sys/event_private.h, EV_EXTIDX_WL_ADDR)
 *
 * Other pthread mutexes and read-write locks have the 64-bit ID of the holder or writer behind their
 * first 24 bytes, at the next multiple of 8 (libpthread-539 src/types_internal.h, m_tid and rw_tid).
 *
 * Turnstiles, by which the kernel itself follows such chains, no public interface tells: stackshots
 * have them (thread_turnstileinfo, thread_waitinfo), whose system call is private. */
#include <string.h>

#include "live/macos/mac_state.h"

enum {
    SELF_SLOT = 3,
    FLAG_BITS = 3,
    OPERATION_MASK = 0xff, /* UL_OPCODE_MASK */
    UNFAIR_LOCK = 2,       /* UL_UNFAIR_LOCK */
    UNFAIR_LOCK_SHARED = 4,
    PTHREAD_BYTES = 1024, /* struct pthread_s before its thread-specific data is shorter */
    HOLDER_AT = 24,
    OPTIONS_AT = 12,
    SHARED_BITS = 0x30, /* pshared of struct pthread_mutex_options_s: 1 is PTHREAD_PROCESS_SHARED */
    SHARED = 0x10,
    /* struct kevent_qos_s */
    EVENT_BYTES = 72,
    EVENT_FILTER = 8,
    EVENT_QUEUE = 16, /* udata */
    EVENT_FLAGS = 24,
    EVENT_ADDRESS = 48, /* ext[EV_EXTIDX_WL_ADDR] */
    WORKLOOP = -17,     /* EVFILT_WORKLOOP */
    SYNC_WAIT = 4,      /* NOTE_WL_SYNC_WAIT */
    MOST_CHANGES = 16,
    QUEUE_STATE = 56, /* dq_state in struct dispatch_queue_s */
};

static uint32_t self_of(struct argus_live *live, uint32_t thread)
{
    struct mac_known *known = mac_known(live, thread);
    uint64_t at = known->handle + SELF_SLOT * sizeof(uint64_t);
    if (!known->self && known->handle &&
        !mac_memory(live_pid_of(live, thread), at, &known->self, sizeof(known->self)))
        known->self = 0;
    return known->self;
}

uint32_t mac_thread_of_port(struct argus_live *live, uint32_t process, uint32_t name)
{
    const struct argus_live_process of = live->processes.data[process];
    if (!(name & ~(uint32_t)FLAG_BITS) || (name | FLAG_BITS) == UINT32_MAX) /* none; a dead one */
        return ARGUS_LIVE_NONE;
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++)
        if (self_of(live, i) && (self_of(live, i) | FLAG_BITS) == (name | FLAG_BITS))
            return i;
    return ARGUS_LIVE_NONE;
}

/* --- words with the name of a port --- */

static bool is_unfair(uint64_t operation)
{
    operation &= OPERATION_MASK;
    return operation == UNFAIR_LOCK || operation == UNFAIR_LOCK_SHARED;
}

/* The holder, if two looks agree; itself it cannot wait for. */
static uint32_t holder_by_word(struct argus_live *live, uint32_t thread, uint64_t address)
{
    uint32_t pid = live_pid_of(live, thread), word = 0, again = 0;
    if (!mac_memory(pid, address, &word, sizeof(word)))
        return ARGUS_LIVE_NONE;
    uint32_t holder = mac_thread_of_port(live, live->threads.data[thread].process, word);
    return holder != thread && mac_memory(pid, address, &again, sizeof(again)) && again == word
               ? holder
               : ARGUS_LIVE_NONE;
}

/* Whether the word is in the thread's own struct pthread_s. */
static bool is_of_thread(const struct argus_live *live, uint32_t thread, uint64_t address)
{
    uint64_t handle = mac_known(live, thread)->handle;
    return address < handle && handle - address < PTHREAD_BYTES;
}

void mac_wait_in_ulock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    wait->object = of.arg[1];
    wait->kind = ARGUS_LIVE_ULOCK;
    if (!is_unfair(of.arg[0]))
        return;
    uint32_t holder = holder_by_word(live, thread, wait->object);
    wait->kind = holder != ARGUS_LIVE_NONE && is_of_thread(live, holder, wait->object)
                     ? ARGUS_LIVE_JOIN
                     : ARGUS_LIVE_MUTEX;
}

/* --- dispatch queues --- */

/* The word that tells the queue's owner, if the call waits for it. 0: it does not. The address is
 * in one of the call's events, if libdispatch lets the kernel look for the owner; else it is that
 * of the queue, of which each event has the address, and a distance (libdispatch-1542
 * src/queue_internal.h, _DISPATCH_QUEUE_CLASS_HEADER). */
static uint64_t queue_word(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    uint8_t event[EVENT_BYTES];
    uint64_t word = 0, queue = 0;
    bool waits = false;
    for (uint64_t i = 0; i < of.arg[2] && i < MOST_CHANGES; i++) {
        int16_t filter;
        uint32_t flags;
        uint64_t address;
        if (!mac_memory(live_pid_of(live, thread), of.arg[1] + i * sizeof(event), event,
                        sizeof(event)))
            return 0;
        memcpy(&filter, event + EVENT_FILTER, sizeof(filter));
        memcpy(&flags, event + EVENT_FLAGS, sizeof(flags));
        memcpy(&address, event + EVENT_ADDRESS, sizeof(address));
        if (filter != WORKLOOP)
            continue;
        memcpy(&queue, event + EVENT_QUEUE, sizeof(queue));
        waits |= (flags & SYNC_WAIT) != 0;
        word = address ? address : word;
    }
    return !waits ? 0 : word ? word : queue ? queue + QUEUE_STATE : 0;
}

void mac_wait_in_kevent(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const char *name = argus_live_call_name(&live->threads.data[thread]);
    bool is_workloop = name && strcmp(name, "kevent_id") == 0;
    wait->kind = ARGUS_LIVE_KQUEUE;
    if (!is_workloop)
        wait->fd = (uint32_t)live->threads.data[thread].arg[0];
    else if ((wait->object = queue_word(live, thread)))
        wait->kind = ARGUS_LIVE_DISPATCH;
}

/* --- holders --- */

/* A holder's ID, which is unique in the whole system: a lock in shared memory may be held by
 * another process. */
static uint32_t holder_by_id(struct argus_live *live, uint32_t thread, uint64_t lock,
                             bool is_shared)
{
    uint64_t at = (lock + HOLDER_AT + 7) & ~7ull, id = 0, again = 0;
    uint32_t pid = live_pid_of(live, thread), process = live->threads.data[thread].process;
    if (!mac_memory(pid, at, &id, sizeof(id)))
        return ARGUS_LIVE_NONE;
    uint32_t holder = mac_thread_of_id(live, process, id);
    if (holder == ARGUS_LIVE_NONE && is_shared)
        holder = mac_thread_of_id(live, ARGUS_LIVE_NONE, id);
    return holder != thread && mac_memory(pid, at, &again, sizeof(again)) && again == id
               ? holder
               : ARGUS_LIVE_NONE;
}

static bool is_shared_mutex(struct argus_live *live, uint32_t thread, uint64_t lock)
{
    uint32_t options = 0;
    return mac_memory(live_pid_of(live, thread), lock + OPTIONS_AT, &options, sizeof(options)) &&
           (options & SHARED_BITS) == SHARED;
}

static uint32_t holder_of(struct argus_live *live, uint32_t thread)
{
    struct argus_live_wait wait = live_wait(live, thread);
    const char *name = argus_live_call_name(&live->threads.data[thread]);
    if (!name)
        return ARGUS_LIVE_NONE;
    if (strncmp(name, "psynch_rw", strlen("psynch_rw")) == 0)
        return holder_by_id(live, thread, wait.object, true);
    if (strcmp(name, "psynch_mutexwait") == 0)
        return holder_by_id(live, thread, wait.object, is_shared_mutex(live, thread, wait.object));
    return holder_by_word(live, thread, wait.object);
}

uint32_t live_mutex_owner(struct argus_live *live, uint32_t thread)
{
    return holder_of(live, thread);
}

uint32_t live_joined(struct argus_live *live, uint32_t thread)
{
    return holder_of(live, thread);
}

void mac_by_lock(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                 struct live_candidates *ret)
{
    uint32_t holder = holder_of(live, thread);
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (holder != ARGUS_LIVE_NONE)
        live_candidate(ret, live->threads.data[holder].process, holder);
    else if (wait->kind != ARGUS_LIVE_JOIN)
        live_by_condition(live, thread, wait, ret);
    ret->link = wait->kind == ARGUS_LIVE_JOIN ? ARGUS_LIVE_LINK_JOINED : ARGUS_LIVE_LINK_HOLDS;
}
