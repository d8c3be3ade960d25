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
 * the end or the lock's release shows it later.
 */
#include "diagnose/file_locks.h"

#include <string.h>

#include "argus/record.h"
#include "base/lower_bound.h"
#include "graph/text/object_name.h"

#define FEWEST_TRIES     3              /* fewer are a loop only if it sleeps between two */
#define LONGEST_PAUSE_NS 5000000000ull  /* between two tries, if it is no sleep */
#define LONGEST_SLEEP_NS 60000000000ull /* between two tries, and after the last one */
#define LONGEST_CHILD_NS 1000000000ull  /* from a try until the end of the child that made it */
#define END_NS           100000000ull   /* until the try after a sleep that ended a hang */
#define MOST_HELD        32
#define MOST_HOLDERS     16
#define MOST_LOOKED      200      /* lock events around tries that may show an owner */
#define MOST_STEPS       4000000u /* of a search in a given time */

/* Locks of different families do not conflict. */
enum lock_family { FAMILY_FLOCK, FAMILY_FCNTL, FAMILY_NAME };

static enum lock_family family_of(const struct argus_file_lock *lock)
{
    return lock->kind == ARGUS_FILE_LOCK_FLOCK  ? FAMILY_FLOCK
           : lock->kind == ARGUS_FILE_LOCK_NAME ? FAMILY_NAME
                                                : FAMILY_FCNTL;
}

/* The lock that a thread requests. */
struct lock_request {
    uint64_t inode, first, last;
    uint32_t device, thread;
    enum lock_family family;
    bool any_device; /* the device is not known */
    bool exclusive;
};

struct held_table {
    const struct view *view;
    struct lock_request request;
    const struct argus_file_lock *held[MOST_HELD]; /* the latest one last */
    size_t count;
    uint64_t true_ns; /* the time of the last event */
};

static bool is_of_file(const struct lock_request *request, const struct argus_file_lock *lock)
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

static uint32_t process_of(const struct view *view, const struct argus_file_lock *lock)
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
               ? process_of(view, lock) == view->threads[request->thread].process
               : lock->thread == request->thread;
}

/* --- the table --- */

/* Whether `event` ended `lock`, which is in the table. */
static bool is_ended_by(const struct view *view, const struct argus_file_lock *lock,
                        const struct argus_file_lock *event)
{
    if (lock->kind == ARGUS_FILE_LOCK_NAME)
        return true;
    if (process_of(view, lock) == process_of(view, event))
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

static void take_event(struct held_table *table, const struct argus_file_lock *event)
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

static uint32_t parent_of(const struct view *view, uint32_t process, uint64_t time_ns)
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
    uint32_t process = process_of(view, lock);
    if (view->threads[lock->thread].end_ns > time_ns &&
        view->threads[lock->thread].start_ns <= time_ns)
        return lock->thread;
    bool is_alive =
        view->processes[process].end_ns > time_ns && view->processes[process].start_ns <= time_ns;
    if (!is_alive)
        process =
            lock->kind == ARGUS_FILE_LOCK_PROCESS ? ARGUS_NONE : parent_of(view, process, time_ns);
    return process == ARGUS_NONE ? ARGUS_NONE : view->processes[process].main_thread;
}

static uint32_t holder_at(struct held_table *table, uint64_t time_ns)
{
    uint32_t found = ARGUS_NONE;
    forget_unseen(table, time_ns);
    for (size_t i = table->count; i > 0 && found == ARGUS_NONE; i--)
        if (is_in_the_way(&table->request, table->held[i - 1]))
            found = living_holder(table->view, table->held[i - 1], time_ns);
    return found;
}

/* The holder that only later events (from index `from`) show: the thread that releases the lock, or
 * that has it in the kernel's list. A thread that newly gets the lock says nothing about who had it
 * before. */
static uint32_t holder_told_later(const struct view *view, const struct lock_request *request,
                                  size_t from)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    for (size_t i = from; i < count; i++) {
        const struct argus_file_lock *lock = &locks[i];
        bool got = lock->what == ARGUS_FILE_LOCK_GOT;
        bool tells = got ? is_in_the_way(request, lock)
                         : lock->what == ARGUS_FILE_LOCK_RELEASED && overlaps(request, lock);
        if (!is_of_file(request, lock) || lock->thread == ARGUS_NONE || !tells)
            continue;
        if ((got && !lock->listed) ||
            argus_graph_calls_left_out(view->graph, locks[from].time_ns, lock->time_ns))
            break;
        if (!is_own(view, request, lock))
            return living_holder(view, lock, locks[from].time_ns);
    }
    return ARGUS_NONE;
}

/* --- tries --- */

/* Whether the call of a child process was a try of `thread`, its parent: the child ends soon after,
 * or the parent waits for its end. A program that starts others, of which each makes sure that a
 * folder exists, tries nothing. */
static bool is_try_of_parent(const struct view *view, const struct argus_file_lock *lock,
                             uint32_t thread)
{
    uint64_t end_ns = view->processes[process_of(view, lock)].end_ns;
    if (end_ns != UINT64_MAX && end_ns < lock->time_ns + LONGEST_CHILD_NS)
        return true;
    uint32_t v = timeline_before(view, thread, lock->time_ns + 1);
    return v != ARGUS_NONE && view->vertices[v].wait.kind == ARGUS_WAIT_CHILD;
}

/* Whether `thread` made the call, or a child process that it waits for. */
static bool is_by(const struct view *view, const struct argus_file_lock *lock, uint32_t thread)
{
    if (lock->thread == thread || lock->thread == ARGUS_NONE || lock->kind != ARGUS_FILE_LOCK_NAME)
        return lock->thread == thread;
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    return process->main_thread == thread &&
           view->processes[process_of(view, lock)].parent_pid == process->pid &&
           is_try_of_parent(view, lock, thread);
}

static bool is_try(const struct view *view, const struct argus_file_lock *lock, uint32_t thread)
{
    return lock->what == ARGUS_FILE_LOCK_REFUSED && is_by(view, lock, thread);
}

static size_t first_at(const struct argus_file_lock *locks, size_t count, uint64_t time_ns)
{
    size_t first;
    LOWER_BOUND(first, count, locks[first].time_ns < time_ns);
    return first;
}

static struct lock_request request_of(const struct argus_file_lock *lock)
{
    return (struct lock_request){.inode = lock->inode,
                                 .first = lock->first,
                                 .last = lock->last,
                                 .device = lock->device,
                                 .thread = lock->thread,
                                 .family = family_of(lock),
                                 .exclusive = lock->exclusive};
}

static const struct lock_tries no_tries = {.holder = ARGUS_NONE, .creator = ARGUS_NONE};

/* The first try that was found. */
static struct lock_tries tries_of(const struct argus_file_lock *lock)
{
    return (struct lock_tries){.inode = lock->inode,
                               .is_name = lock->kind == ARGUS_FILE_LOCK_NAME,
                               .device = lock->device,
                               .first_ns = lock->time_ns,
                               .last_ns = lock->time_ns,
                               .holder = ARGUS_NONE,
                               .creator = ARGUS_NONE};
}

static bool is_self_timed(const struct argus_vertex *vertex)
{
    return (vertex->flags & ARGUS_VERTEX_YIELDS) || vertex->wait.kind == ARGUS_WAIT_SLEEP ||
           vertex->wait.outcome == ARGUS_OUTCOME_TIMED_OUT;
}

/* Whether one more step may be taken. */
static bool take_step(uint64_t *steps)
{
    *steps -= *steps > 0;
    return *steps > 0;
}

/* How long the thread waited in [start_ns, end_ns) until a time that it had chosen itself. */
static uint64_t slept_ns(const struct view *view, uint32_t thread, uint64_t start_ns,
                         uint64_t end_ns, uint64_t *steps)
{
    uint64_t sum_ns = 0;
    uint32_t first = timeline_before(view, thread, start_ns + 1);
    if (first == ARGUS_NONE && view->threads[thread].vertex_count)
        first = view->threads[thread].first_vertex; /* it began later */
    for (uint32_t v = first;
         v != ARGUS_NONE && view->vertices[v].start_ns < end_ns && take_step(steps);
         v = timeline_next(view, v)) {
        const struct argus_vertex *vertex = &view->vertices[v];
        bool yields = vertex->flags & ARGUS_VERTEX_YIELDS;
        uint64_t from_ns = yields ? vertex->start_ns : vertex->end_ns;
        uint64_t to_ns = timeline_wait_end(view, v);
        from_ns = from_ns > start_ns ? from_ns : start_ns;
        to_ns = to_ns < end_ns ? to_ns : end_ns;
        sum_ns += is_self_timed(vertex) && to_ns > from_ns ? to_ns - from_ns : 0;
    }
    return sum_ns;
}

/* Whether the thread sleeps for most of the time, itself or by a child process. False if the steps
 * do not suffice. */
static bool is_paced(const struct view *view, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                     uint64_t *steps)
{
    uint64_t sum_ns = slept_ns(view, thread, from_ns, to_ns, steps);
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    bool is_main = process->main_thread == thread;
    for (uint32_t i = 0;
         is_main && sum_ns * 2 < to_ns - from_ns && i < view->process_count && take_step(steps);
         i++) {
        const struct argus_process *child = &view->processes[i];
        if (child->parent_pid == process->pid && child->main_thread != ARGUS_NONE &&
            child->start_ns < to_ns && child->end_ns > from_ns)
            sum_ns += slept_ns(view, child->main_thread, from_ns, to_ns, steps);
    }
    return sum_ns * 2 >= to_ns - from_ns;
}

/* Whether a process was seen to create or remove the lock file, shortly before or after the tries.
 */
static bool has_owner(const struct view *view, const struct lock_tries *tries, uint64_t *steps)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    size_t at = first_at(locks, count, tries->first_ns);
    for (size_t i = at > MOST_LOOKED ? at - MOST_LOOKED : 0;
         i < count && i < at + MOST_LOOKED && take_step(steps); i++)
        if (locks[i].inode == tries->inode && locks[i].kind == ARGUS_FILE_LOCK_NAME &&
            (locks[i].what == ARGUS_FILE_LOCK_GOT || locks[i].what == ARGUS_FILE_LOCK_RELEASED))
            return true;
    return false;
}

/* A program may make sure twice that a folder exists, and sleep in between (mkdir -p). */
static bool is_loop(const struct view *view, uint32_t thread, const struct lock_tries *tries,
                    uint64_t *steps)
{
    uint64_t count = tries->count + tries->got;
    bool may_be_unpaced = !tries->is_name && count >= FEWEST_TRIES;
    if (!tries->count || count < 2 || tries->last_ns <= tries->first_ns)
        return false;
    if (tries->is_name && count < FEWEST_TRIES && !tries->got && !has_owner(view, tries, steps))
        return false;
    return may_be_unpaced || is_paced(view, thread, tries->first_ns, tries->last_ns, steps);
}

/* The end of the sleep after the last try, at most `end_ns`. The pauses of a loop may double, as
 * those of QLockFile: then the last one is longer than all before it. */
static uint64_t pause_end(const struct view *view, uint32_t thread, const struct lock_tries *tries,
                          uint64_t end_ns)
{
    uint32_t v = timeline_before(view, thread, tries->last_ns + 1);
    if (v == ARGUS_NONE || !is_self_timed(&view->vertices[v]))
        return tries->last_ns;
    uint64_t pause_ns = timeline_wait_end(view, v);
    pause_ns = pause_ns < end_ns ? pause_ns : end_ns;
    pause_ns = pause_ns > tries->last_ns ? pause_ns - tries->last_ns : 0;
    bool grows = pause_ns <= 2 * (tries->last_ns - tries->first_ns) && pause_ns <= LONGEST_SLEEP_NS;
    return grows ? tries->last_ns + pause_ns : tries->last_ns;
}

/* Adds the try after the sleep that follows the last refused one: with it the thread got the
 * lock. */
static void add_success(const struct view *view, uint32_t thread,
                        const struct argus_file_lock *last, uint64_t end_ns, struct lock_tries *ret)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    struct lock_request request = request_of(last);
    for (const struct argus_file_lock *lock = last + 1;
         lock < locks + count && lock->time_ns <= end_ns + END_NS; lock++) {
        if (!is_of_file(&request, lock) || lock->listed || !is_by(view, lock, thread))
            continue;
        if (lock->what == ARGUS_FILE_LOCK_GOT &&
            lock->time_ns - last->time_ns <= LONGEST_SLEEP_NS) {
            ret->got = true;
            ret->last_ns = lock->time_ns;
        }
        return;
    }
}

/* The last try of `thread` in the time, and the number of tries for the same file. NULL: too few
 * tries, or only in a part of the time. */
static const struct argus_file_lock *last_try(const struct view *view, uint32_t thread,
                                              uint64_t start_ns, uint64_t end_ns,
                                              struct lock_tries *ret)
{
    const struct argus_file_lock *locks, *last = NULL;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    size_t from = first_at(locks, count, start_ns), behind = first_at(locks, count, end_ns + 1);
    struct lock_request request = {0};
    uint64_t steps = MOST_STEPS;
    *ret = no_tries;
    for (size_t i = behind; i > from; i--) {
        const struct argus_file_lock *lock = &locks[i - 1];
        if (!is_try(view, lock, thread) || (last && !is_of_file(&request, lock)))
            continue;
        if (last && ret->first_ns - lock->time_ns > LONGEST_SLEEP_NS)
            break;
        if (!last) {
            last = lock;
            request = request_of(lock);
            *ret = tries_of(lock);
        }
        ret->first_ns = lock->time_ns;
        ret->count++;
    }
    if (last)
        add_success(view, thread, last, end_ns, ret);
    uint64_t until_ns = pause_end(view, thread, ret, end_ns);
    bool most = (until_ns - ret->first_ns) * 2 >= end_ns - start_ns;
    return most && is_loop(view, thread, ret, &steps) ? last : NULL;
}

bool lock_tries_detect(const struct view *view, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                       struct lock_tries *ret)
{
    return last_try(view, thread, start_ns, end_ns, ret) != NULL;
}

bool lock_tries_find_run(const struct view *view, uint32_t thread, uint64_t from_ns,
                         uint64_t *steps, struct lock_tries *ret)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    struct lock_request request = {0};
    *ret = no_tries;
    for (size_t i = first_at(locks, count, from_ns); i < count; i++) {
        const struct argus_file_lock *lock = &locks[i];
        if (!is_by(view, lock, thread) || lock->listed || lock->what == ARGUS_FILE_LOCK_RELEASED)
            continue;
        uint64_t gap_ns = ret->count ? lock->time_ns - ret->last_ns : 0;
        bool goes_on = ret->count && is_of_file(&request, lock) && gap_ns <= LONGEST_SLEEP_NS &&
                       (gap_ns <= LONGEST_PAUSE_NS ||
                        is_paced(view, thread, ret->last_ns, lock->time_ns, steps));
        bool refused = lock->what == ARGUS_FILE_LOCK_REFUSED;
        if (goes_on) {
            ret->last_ns = lock->time_ns;
            ret->got = !refused;
        }
        if (!(goes_on && refused) && is_loop(view, thread, ret, steps))
            return true;
        if (goes_on && refused) {
            ret->count++;
            continue;
        }
        *ret = no_tries;
        if (!refused)
            continue;
        request = request_of(lock);
        *ret = tries_of(lock);
        ret->count = 1;
    }
    return is_loop(view, thread, ret, steps);
}

/* How many tries failed because of each holder of the lock. */
struct holder_counts {
    uint32_t holder[MOST_HOLDERS];
    uint64_t tries[MOST_HOLDERS];
    size_t count;
};

static void count_holder(struct holder_counts *holders, uint32_t holder)
{
    size_t i = 0;
    while (i < holders->count && holders->holder[i] != holder)
        i++;
    if (holder == ARGUS_NONE || i == MOST_HOLDERS)
        return;
    holders->holder[i] = holder;
    holders->tries[i]++;
    holders->count += i == holders->count;
}

static uint32_t most_frequent_holder(const struct holder_counts *holders)
{
    size_t best = 0;
    for (size_t i = 1; i < holders->count; i++)
        if (holders->tries[i] > holders->tries[best])
            best = i;
    return holders->count ? holders->holder[best] : ARGUS_NONE;
}

/* Whether a child of the trying program left the lock file behind: then the program waits for
 * nobody. */
static bool is_left_over(const struct view *view, uint32_t thread, const struct lock_tries *tries)
{
    uint32_t process = view->threads[thread].process;
    return tries->creator != ARGUS_NONE && tries->holder != ARGUS_NONE &&
           view->threads[tries->holder].process == process &&
           view->threads[tries->creator].process != process;
}

bool lock_tries_find(const struct view *view, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                     struct lock_tries *ret)
{
    const struct argus_file_lock *last = last_try(view, thread, start_ns, end_ns, ret), *locks;
    if (!last)
        return false;
    argus_graph_file_locks(view->graph, &locks);
    struct held_table table = {.view = view, .request = request_of(last)};
    struct holder_counts holders = {.count = 0};
    for (const struct argus_file_lock *lock = locks; lock <= last; lock++) {
        if (!is_of_file(&table.request, lock))
            continue;
        if (is_try(view, lock, thread) && lock->time_ns >= ret->first_ns)
            count_holder(&holders, holder_at(&table, lock->time_ns));
        else
            take_event(&table, lock);
    }
    ret->holder = most_frequent_holder(&holders);
    if (ret->is_name && table.count)
        ret->creator = table.held[table.count - 1]->thread;
    if (is_left_over(view, thread, ret))
        ret->holder = ARGUS_NONE;
    if (ret->holder == ARGUS_NONE)
        ret->holder = holder_told_later(view, &table.request, (size_t)(last - locks));
    return true;
}

uint32_t lock_script_find(const struct view *view, uint32_t vertex, uint64_t start_ns,
                          uint64_t end_ns, struct lock_tries *ret)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t script = parent_of(view, view->threads[v->thread].process, v->start_ns);
    uint32_t thread = script == ARGUS_NONE ? ARGUS_NONE : view->processes[script].main_thread;
    bool tries = thread != ARGUS_NONE && lock_tries_find(view, thread, start_ns, end_ns, ret);
    return tries && ret->is_name ? thread : ARGUS_NONE;
}

/* --- a wait --- */

/* Completes the request of a wait from what its end, or the kernel's list, showed. */
static void learn_request(const struct view *view, uint64_t since_ns, struct lock_request *request)
{
    const struct argus_file_lock *locks;
    size_t count = argus_graph_file_locks(view->graph, &locks);
    for (size_t i = first_at(locks, count, since_ns); i < count; i++) {
        bool own = locks[i].thread != ARGUS_NONE &&
                   process_of(view, &locks[i]) == view->threads[request->thread].process;
        bool tells = locks[i].listed ? locks[i].what == ARGUS_FILE_LOCK_WAITS
                                     : locks[i].thread == request->thread;
        if (!own || !tells || !is_of_file(request, &locks[i]))
            continue;
        uint32_t thread = request->thread;
        *request = request_of(&locks[i]);
        request->thread = thread;
        return;
    }
}

static bool request_of_wait(const struct view *view, uint32_t vertex, struct lock_request *ret)
{
    char buffer[32];
    const struct argus_vertex *v = &view->vertices[vertex];
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
        if (is_of_file(&table.request, &locks[i]))
            take_event(&table, &locks[i]);
    uint32_t holder = holder_at(&table, since_ns);
    return holder != ARGUS_NONE || i == count ? holder : holder_told_later(view, &table.request, i);
}
