/* A server whose workers are all blocked. A request that its event loop has read then waits in a
 * queue of the process, which nobody sees, and no worker has run since it came. The loop is idle,
 * and not to blame; the workers are, if they all wait for the same.
 *
 * Workers run the same code: they were begun with the same function. One that waits for work,
 * sleeps or runs would take the request, so all of them must be blocked, except the one for which
 * the others wait. */
#include "live/live_wait.h"

enum { MOST_BLOCKED = 256, MOST_THREADS = 1024, LEAST_READERS = 2 };

/* What a blocked thread waits for: a thread, or a process, or only an object of this kind. */
struct target {
    uint32_t thread, process;
    enum argus_live_kind kind; /* RUNS of threads and processes */
    uint64_t object;
};

struct blocked {
    uint32_t thread;
    struct target target;
    bool is_message; /* it reads from or writes to others: a single one may have nothing to do */
};

struct pool {
    struct argus_live *live;
    uint32_t process;
    struct blocked all[MOST_BLOCKED];
    uint32_t count;
};

static bool is_message(enum argus_live_kind kind)
{
    return kind == ARGUS_LIVE_PIPE || kind == ARGUS_LIVE_UNIX_SOCKET || kind == ARGUS_LIVE_TCP ||
           kind == ARGUS_LIVE_UDP;
}

/* Kinds of waits that hold up work which a thread has begun. */
static bool holds_up(enum argus_live_kind kind)
{
    return is_message(kind) || kind == ARGUS_LIVE_MUTEX || kind == ARGUS_LIVE_RWLOCK ||
           kind == ARGUS_LIVE_FILE_LOCK || kind == ARGUS_LIVE_FIFO_OPEN ||
           kind == ARGUS_LIVE_CHILD || kind == ARGUS_LIVE_FUSE || kind == ARGUS_LIVE_REMOTE_FS ||
           kind == ARGUS_LIVE_DISK || kind == ARGUS_LIVE_FROZEN_FS;
}

/* False: only threads of the same process can end the wait, which may be how it gets its work. */
static bool find_target(const struct pool *pool, uint32_t thread,
                        const struct argus_live_wait *wait, struct target *ret)
{
    struct live_candidates found;
    live_resolve(pool->live, thread, wait, &found);
    *ret = (struct target){ARGUS_LIVE_NONE, ARGUS_LIVE_NONE, wait->kind, wait->object};
    if (found.count == 1 && !found.is_guess)
        *ret = (struct target){.thread = found.items[0].thread, .process = found.items[0].process};
    return ret->process != pool->process || ret->thread != ARGUS_LIVE_NONE;
}

static void collect(struct pool *pool)
{
    const struct argus_live_process of = pool->live->processes.data[pool->process];
    for (uint32_t i = of.first_thread;
         i < of.first_thread + of.thread_count && pool->count < MOST_BLOCKED; i++) {
        const struct argus_live_wait wait = live_wait(pool->live, i);
        struct blocked *to = &pool->all[pool->count];
        *to = (struct blocked){.thread = i, .is_message = is_message(wait.kind)};
        if (holds_up(wait.kind) && !live_awaits_request(pool->live, &wait) &&
            find_target(pool, i, &wait, &to->target))
            pool->count++;
    }
}

static const struct blocked *find(const struct pool *pool, uint32_t thread)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->all[i].thread == thread)
            return &pool->all[i];
    return NULL;
}

/* What it waits for in the end, through other blocked threads. In a circle: one of its threads, the
 * same for all that lead there. */
static struct target root_of(const struct pool *pool, const struct blocked *from)
{
    struct target at = from->target;
    const struct blocked *next;
    uint32_t steps = 0;
    while ((next = find(pool, at.thread)) && steps++ < pool->count)
        at = next->target;
    for (uint32_t first = at.thread; next && steps; steps--) {
        first = next->thread < first ? next->thread : first;
        next = find(pool, next->target.thread);
        at = (struct target){.thread = first, .process = pool->process};
    }
    return at;
}

static bool is_same(const struct target *a, const struct target *b)
{
    return a->thread == b->thread && a->process == b->process && a->kind == b->kind &&
           a->object == b->object;
}

/* Whether another thread runs the workers' code, and is not blocked: it would take the request. */
static bool has_free_worker(const struct pool *pool, const struct target *root)
{
    const struct argus_live_process of = pool->live->processes.data[pool->process];
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++)
        if (i != root->thread && !find(pool, i) &&
            live_runs_same_code(pool->live, i, pool->all[0].thread))
            return true;
    return false;
}

uint32_t live_blocked_pool(struct argus_live *live, uint32_t process)
{
    struct pool pool = {.live = live, .process = process};
    if (live->processes.data[process].thread_count > MOST_THREADS)
        return ARGUS_LIVE_NONE;
    collect(&pool);
    if (!pool.count || (pool.all[0].is_message && pool.count < LEAST_READERS))
        return ARGUS_LIVE_NONE;
    const struct target root = root_of(&pool, &pool.all[0]);
    for (uint32_t i = 1; i < pool.count; i++) {
        const struct target other = root_of(&pool, &pool.all[i]);
        if (!is_same(&root, &other) ||
            !live_runs_same_code(live, pool.all[i].thread, pool.all[0].thread))
            return ARGUS_LIVE_NONE;
    }
    return has_free_worker(&pool, &root) ? ARGUS_LIVE_NONE : pool.all[0].thread;
}
