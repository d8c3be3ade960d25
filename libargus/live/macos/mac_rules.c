/* The rules for macOS. */
#include <string.h>

#include "live/macos/mac_state.h"

/* To add a kind: a row, and its rule in a file. */
live_rule *const live_rules[ARGUS_LIVE_KINDS] = {
    [ARGUS_LIVE_MUTEX] = mac_by_lock,
    [ARGUS_LIVE_RWLOCK] = mac_by_lock,
    [ARGUS_LIVE_JOIN] = mac_by_lock,
    [ARGUS_LIVE_DISPATCH] = mac_by_lock,
    [ARGUS_LIVE_CONDITION] = live_by_condition,
    [ARGUS_LIVE_ULOCK] = live_by_condition,
    [ARGUS_LIVE_SEMAPHORE] = live_by_condition,
    [ARGUS_LIVE_PIPE] = live_by_pipe,
    [ARGUS_LIVE_UNIX_SOCKET] = live_by_socket,
    [ARGUS_LIVE_TCP] = live_by_socket,
    [ARGUS_LIVE_UDP] = live_by_socket,
    [ARGUS_LIVE_EVENTS] = live_by_events,
    [ARGUS_LIVE_MACH_REPLY] = mac_by_reply,
    [ARGUS_LIVE_MACH_SEND] = mac_by_queue,
    [ARGUS_LIVE_FILE_LOCK] = mac_by_file_lock,
    [ARGUS_LIVE_CHILD] = live_by_child,
    [ARGUS_LIVE_TRACED] = live_by_tracer,
    [ARGUS_LIVE_TERMINAL] = mac_by_terminal,
};

/* struct flock of fcntl(): offset, length, PID, type, whence. */
struct lock_words {
    int64_t start, length;
    int32_t pid;
    int16_t type, whence;
};

/* The kernel tells the holder of a fcntl() lock to whoever asks about the same range of the file
 * (F_GETLK), but of flock() and of locks of descriptors only that there is one. */
static uint32_t holder_by_range(struct argus_live *live, uint32_t thread, const char *path)
{
    enum { ARGUMENT = 2 };
    const struct argus_live_thread of = live->threads.data[thread];
    const char *call = argus_live_call_name(&of);
    struct lock_words lock;
    if (!call || strncmp(call, "fcntl", strlen("fcntl")) != 0 ||
        !mac_memory(live_pid_of(live, thread), of.arg[ARGUMENT], &lock, sizeof(lock)) ||
        lock.whence != 0)
        return 0;
    return mac_lock_holder(path, lock.start, lock.length, lock.type);
}

/* Otherwise those count that have the file open: one of them has the lock. */
void mac_by_file_lock(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                      struct live_candidates *ret)
{
    const char *path = strtab_get(live->texts, wait->text);
    const struct live_fd *fds;
    ret->link = ARGUS_LIVE_LINK_HOLDS;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (!path[0])
        return;
    uint32_t holder = live_process(live, holder_by_range(live, thread, path));
    if (holder != ARGUS_LIVE_NONE) {
        live_candidate(ret, holder, ARGUS_LIVE_NONE);
        return;
    }
    size_t count = live_fds_of(live, LIVE_FILE_PATH, live_path_key(path), &fds);
    for (size_t i = 0; i < count; i++)
        if (fds[i].process != live->threads.data[thread].process && live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
    ret->is_guess = true;
}

/* Input comes from a person. Who shows a terminal, no public interface tells. */
void mac_by_terminal(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                     struct live_candidates *ret)
{
    (void)live, (void)thread;
    ret->end = wait->is_write ? ARGUS_LIVE_END_UNKNOWN : ARGUS_LIVE_END_PERSON;
}
