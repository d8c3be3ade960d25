/* Servers with a thread for each connection (MariaDB). Which thread serves which connection,
 * nothing tells while the thread does something else than to wait for its client. But the threads
 * of connections run the same code: their stacks have the same outermost frames as those that wait
 * for the next request of a client now. If one thread alone shares most of these frames, it serves
 * the client in question. Those that have not run since that client asked serve others. */
#include "live/live_wait.h"

enum { LEAST_COMMON = 3, MOST_SESSIONS = 32 };

struct stack {
    uint64_t frames[LIVE_STACK_FRAMES];
    size_t count;
};

static bool read_stack(struct argus_live *live, uint32_t thread, struct stack *ret)
{
    bool is_cut;
    ret->count = live_stack(live, thread, ret->frames, &is_cut);
    return ret->count && !is_cut;
}

static size_t common_frames(const struct stack *a, const struct stack *b)
{
    size_t common = 0;
    while (common < a->count && common < b->count &&
           a->frames[a->count - 1 - common] == b->frames[b->count - 1 - common])
        common++;
    return common;
}

bool live_runs_same_code(struct argus_live *live, uint32_t a, uint32_t b)
{
    struct stack own, other;
    if (!read_stack(live, a, &own) || !read_stack(live, b, &other))
        return true;
    size_t common = common_frames(&own, &other);
    if (common >= LEAST_COMMON || common + 1 < LEAST_COMMON)
        return common >= LEAST_COMMON;
    /* two calls in the function that the thread was begun with */
    return common < own.count && common < other.count &&
           live_code_start(live, live_pid_of(live, a), own.frames[own.count - 1 - common]) ==
               live_code_start(live, live_pid_of(live, b), other.frames[other.count - 1 - common]);
}

bool live_awaits_request(struct argus_live *live, const struct argus_live_wait *wait)
{
    const struct live_socket *socket =
        (wait->kind == ARGUS_LIVE_UNIX_SOCKET || wait->kind == ARGUS_LIVE_TCP) && !wait->is_write
            ? live_socket(live, wait->object)
            : NULL;
    return socket && !socket->unread && live_is_accepted(live, socket);
}

/* The first thread of the process that waits for a client's next request. */
static uint32_t idle_session(struct argus_live *live, const struct argus_live_process *of)
{
    for (uint32_t i = of->first_thread; i < of->first_thread + of->thread_count; i++) {
        const struct argus_live_wait wait = live_wait(live, i);
        if (live_awaits_request(live, &wait))
            return i;
    }
    return ARGUS_LIVE_NONE;
}

uint32_t live_serving_thread(struct argus_live *live, uint32_t process, uint64_t asked_ns)
{
    const struct argus_live_process of = live->processes.data[process];
    uint32_t session = of.thread_count > 1 ? idle_session(live, &of) : ARGUS_LIVE_NONE;
    uint32_t best = ARGUS_LIVE_NONE;
    size_t most = LEAST_COMMON - 1;
    struct stack wanted, stack;
    if (session == ARGUS_LIVE_NONE || !read_stack(live, session, &wanted))
        return ARGUS_LIVE_NONE;
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++) {
        const struct argus_live_wait wait = live_wait(live, i);
        if (live_awaits_request(live, &wait) ||
            live_has_run_since(live, i, asked_ns) == LIVE_ABSENT || !read_stack(live, i, &stack))
            continue;
        size_t common = common_frames(&wanted, &stack);
        if (common == most)
            best = ARGUS_LIVE_NONE; /* of several, nothing tells which */
        if (common <= most)
            continue;
        most = common;
        best = i;
    }
    return best;
}

/* A thread of the process at the other end of a connection. */
static uint32_t client_of(struct argus_live *live, const struct argus_live_wait *wait,
                          uint32_t process)
{
    const struct live_socket *socket = live_socket(live, wait->object);
    const struct live_fd *fds;
    size_t count =
        socket && socket->peer ? live_fds_of(live, LIVE_FILE_SOCKET, socket->peer, &fds) : 0;
    for (size_t i = 0; i < count; i++)
        if (fds[i].process != process && live_load(live, fds[i].process))
            return live->processes.data[fds[i].process].first_thread;
    return ARGUS_LIVE_NONE;
}

void live_sessions(struct argus_live *live, uint32_t thread, live_sibling *take, void *context)
{
    uint32_t process = live->threads.data[thread].process, taken = 0;
    const struct argus_live_process of = live->processes.data[process];
    struct stack own, stack;
    if (!read_stack(live, thread, &own))
        return;
    for (uint32_t i = of.first_thread;
         i < of.first_thread + of.thread_count && taken < MOST_SESSIONS; i++) {
        const struct argus_live_wait wait = live_wait(live, i);
        if (i == thread || !live_awaits_request(live, &wait) || !read_stack(live, i, &stack) ||
            common_frames(&own, &stack) < LEAST_COMMON)
            continue;
        take(context, i, client_of(live, &wait, process));
        taken++;
    }
}
