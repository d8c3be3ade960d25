/* Finds the holder of a lock on a file at a moment, from the graph's records of calls and of the
 * kernel's list.
 *
 * A pass over the lock events of the file keeps a table of locks and their holders. A lock ends
 *   - with its release;
 *   - with its process (but a lock of flock() may live on in a child that has inherited the
 *     descriptor, or in the parent from which it was inherited);
 *   - unseen, before another process gets a lock that conflicts with it.
 * Only its removal ends a lock file; if its creator has ended, the creator's parent holds it
 * (mkdir(1) in a shell script).
 * A lock that is older than the trace is in the kernel's list at the beginning. If not, the list at
 * the end or the lock's release shows it later. A lease is in the list only.
 */
#include "diagnose/file_locks.h"

#include <string.h>

#include "argus/record.h"
#include "base/lower_bound.h"
#include "diagnose/lock_table.h"

static enum lock_family family_of(const struct argus_file_lock *lock)
{
    return lock->kind == ARGUS_FILE_LOCK_FLOCK   ? FAMILY_FLOCK
           : lock->kind == ARGUS_FILE_LOCK_NAME  ? FAMILY_NAME
           : lock->kind == ARGUS_FILE_LOCK_LEASE ? FAMILY_LEASE
                                                 : FAMILY_FCNTL;
}

bool lock_is_of_file(const struct lock_request *request, const struct argus_file_lock *lock)
{
    return lock->inode == request->inode &&
           (request->any_device || lock->device == request->device) &&
           family_of(lock) == request->family;
}

static bool exclude(const struct argus_file_lock *a, const struct argus_file_lock *b)
{
    return (a->exclusive || b->exclusive) && a->first <= b->last && b->first <= a->last;
}

static bool overlaps(const struct lock_request *request, const struct argus_file_lock *lock)
{
    return lock->first <= request->last && request->first <= lock->last;
}

static bool is_in_the_way(const struct lock_request *request, const struct argus_file_lock *lock)
{
    return (lock->exclusive || request->exclusive) && overlaps(request, lock);
}

static bool is_within(const struct argus_file_lock *lock, const struct argus_file_lock *range)
{
    return lock->first >= range->first && lock->last <= range->last;
}

uint32_t lock_process(const struct view *view, const struct argus_file_lock *lock)
{
    return view->threads[lock->thread].process;
}

/* fcntl() never refuses a process its own lock; flock() does, through another descriptor. A lock
 * file refuses its creator as well. */
static bool is_own(const struct view *view, const struct lock_request *request,
                   const struct argus_file_lock *lock)
{
    if (lock->kind == ARGUS_FILE_LOCK_NAME)
        return false;
    return lock->kind == ARGUS_FILE_LOCK_PROCESS
               ? lock_process(view, lock) == view->threads[request->thread].process
               : lock->thread == request->thread;
}

/* --- the table --- */

/* Whether `event` ended `lock`, which is in the table. */
static bool is_ended_by(const struct view *view, const struct argus_file_lock *lock,
                        const struct argus_file_lock *event)
{
    if (lock->kind == ARGUS_FILE_LOCK_NAME)
        return true;
    if (lock_process(view, lock) == lock_process(view, event))
        return is_within(lock, event);
    return event->what == ARGUS_FILE_LOCK_GOT && exclude(lock, event);
}

/* While the recorder leaves out system calls, a lock may be released unseen. */
static void forget_unseen(struct held_table *table, uint64_t time_ns)
{
    if (argus_graph_calls_left_out(table->view->graph, table->true_ns, time_ns))
        table->count = 0;
    table->true_ns = time_ns;
}

void held_take(struct held_table *table, const struct argus_file_lock *event)
{
    size_t kept = 0;
    bool got = event->what == ARGUS_FILE_LOCK_GOT;
    forget_unseen(table, event->time_ns);
    if (event->thread == ARGUS_NONE || !(got || event->what == ARGUS_FILE_LOCK_RELEASED))
        return;
    for (size_t i = 0; i < table->count; i++)
        if (!is_ended_by(table->view, table->held[i], event))
            table->held[kept++] = table->held[i];
    table->count = kept;
    if (!got || is_own(table->view, &table->request, event))
        return;
    if (table->count == MOST_HELD) /* the oldest one is dropped */
        memmove(table->held, table->held + 1, --table->count * sizeof(table->held[0]));
    table->held[table->count++] = event;
}

/* --- the holder --- */

uint32_t lock_parent_of(const struct view *view, uint32_t process, uint64_t time_ns)
{
    uint64_t pid = view->processes[process].parent_pid;
    for (uint32_t i = 0; pid > 1 && i < view->process_count; i++) {
        const struct argus_process *other = &view->processes[i];
        if (other->pid == pid && i != process && other->start_ns <= time_ns &&
            other->end_ns > time_ns)
            return i;
    }
    return ARGUS_NONE;
}

/* The thread that represents the holder of `lock` at `time_ns`; ARGUS_NONE: the holder has ended. A
 * program that locks a descriptor inherited from its parent and ends (flock(1)) does so for its
 * parent. */
static uint32_t living_holder(const struct view *view, const struct argus_file_lock *lock,
                              uint64_t time_ns)
{
    uint32_t process = lock_process(view, lock);
    if (view->threads[lock->thread].end_ns > time_ns &&
        view->threads[lock->thread].start_ns <= time_ns)
        return lock->thread;
    bool is_alive =
        view->processes[process].end_ns > time_ns && view->processes[process].start_ns <= time_ns;
    if (!is_alive)
        process = lock->kind == ARGUS_FILE_LOCK_PROCESS ? ARGUS_NONE
                                                        : lock_parent_of(view, process, time_ns);
    return process == ARGUS_NONE ? ARGUS_NONE : view->processes[process].main_thread;
}

uint32_t held_holder_at(struct held_table *table, uint64_t time_ns)
{
    uint32_t found = ARGUS_NONE;
    forget_unseen(table, time_ns);
    for (size_t i = table->count; i > 0 && found == ARGUS_NONE; i--)
        if (is_in_the_way(&table->request, table->held[i - 1]))
            found = living_holder(table->view, table->held[i - 1], time_ns);
    return found;
}

/* A thread that newly gets the lock says nothing about who had it before. */
uint32_t lock_holder_told_later(const struct view *view, const struct lock_request *request,
                                size_t from)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    for (size_t i = from; i < count; i++) {
        const struct argus_file_lock *lock = &locks[i];
        bool got = lock->what == ARGUS_FILE_LOCK_GOT;
        bool tells = got ? is_in_the_way(request, lock)
                         : lock->what == ARGUS_FILE_LOCK_RELEASED && overlaps(request, lock);
        if (!lock_is_of_file(request, lock) || lock->thread == ARGUS_NONE || !tells)
            continue;
        if ((got && !lock->listed) ||
            argus_graph_calls_left_out(view->graph, locks[from].time_ns, lock->time_ns))
            break;
        if (!is_own(view, request, lock))
            return living_holder(view, lock, locks[from].time_ns);
    }
    return ARGUS_NONE;
}

size_t file_locks_from(const struct argus_file_lock *locks, size_t count, uint64_t time_ns)
{
    size_t first;
    LOWER_BOUND(first, count, locks[first].time_ns < time_ns);
    return first;
}

struct lock_request lock_request_of(const struct argus_file_lock *lock)
{
    return (struct lock_request){.inode = lock->inode,
                                 .first = lock->first,
                                 .last = lock->last,
                                 .device = lock->device,
                                 .thread = lock->thread,
                                 .family = family_of(lock),
                                 .exclusive = lock->exclusive};
}

/* --- a wait --- */

/* Completes the request of a wait from what its end, or the kernel's list, showed. */
static void learn_request(const struct view *view, uint64_t since_ns, struct lock_request *request)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    for (size_t i = file_locks_from(locks, count, since_ns); i < count; i++) {
        bool own = locks[i].thread != ARGUS_NONE &&
                   lock_process(view, &locks[i]) == view->threads[request->thread].process;
        bool tells = locks[i].listed ? locks[i].what == ARGUS_FILE_LOCK_WAITS
                                     : locks[i].thread == request->thread;
        if (!own || !tells || !lock_is_of_file(request, &locks[i]))
            continue;
        uint32_t thread = request->thread;
        *request = lock_request_of(&locks[i]);
        request->thread = thread;
        return;
    }
}

/* A call that opens a file, or changes it by its path, may wait for the end of another process's
 * lease. Only the kernel's list tells. */
static bool request_of_lease(const struct view *view, uint32_t vertex, struct lock_request *ret)
{
    const struct argus_file_lock *locks;
    const struct argus_vertex *v = &view->vertices[vertex];
    size_t count = argus_graph_file_locks(view->graph, &locks);
    for (size_t i = file_locks_from(locks, count, v->end_ns); i < count; i++) {
        if (locks[i].time_ns > timeline_wait_end(view, vertex))
            break;
        if (locks[i].kind != ARGUS_FILE_LOCK_LEASE || locks[i].what != ARGUS_FILE_LOCK_WAITS ||
            locks[i].thread == ARGUS_NONE ||
            lock_process(view, &locks[i]) != view->threads[v->thread].process)
            continue;
        *ret = lock_request_of(&locks[i]);
        ret->thread = v->thread;
        return true;
    }
    return false;
}

static bool request_of_wait(const struct view *view, uint32_t vertex, struct lock_request *ret)
{
    char buffer[32];
    const struct argus_vertex *v = &view->vertices[vertex];
    if (v->wait.kind == ARGUS_WAIT_OTHER && request_of_lease(view, vertex, ret))
        return true;
    if (v->wait.syscall == ARGUS_NO_SYSCALL || !v->wait.inode)
        return false;
    const char *call =
        argus_syscall_name(argus_graph_trace(view->graph), v->wait.syscall, buffer, sizeof(buffer));
    *ret = (struct lock_request){.inode = v->wait.inode,
                                 .last = UINT64_MAX,
                                 .thread = v->thread,
                                 .family = strcmp(call, "flock") == 0 ? FAMILY_FLOCK : FAMILY_FCNTL,
                                 .any_device = true,
                                 .exclusive = true};
    return ret->family == FAMILY_FLOCK || strcmp(call, "fcntl") == 0;
}

uint32_t file_lock_find_holder(const struct view *view, uint32_t vertex)
{
    const struct argus_file_lock *locks;
    size_t i = 0, count = argus_graph_file_locks(view->graph, &locks);
    struct held_table table = {.view = view};
    if (!count || !request_of_wait(view, vertex, &table.request))
        return ARGUS_NONE;
    uint64_t since_ns = view->vertices[vertex].end_ns;
    learn_request(view, since_ns, &table.request);
    for (; i < count && locks[i].time_ns <= since_ns; i++)
        if (lock_is_of_file(&table.request, &locks[i]))
            held_take(&table, &locks[i]);
    uint32_t holder = held_holder_at(&table, since_ns);
    return holder != ARGUS_NONE || i == count ? holder
                                              : lock_holder_told_later(view, &table.request, i);
}
