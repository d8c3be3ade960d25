/* Finds the loops that try to get a lock on a file, or to create a lock file, again and again. */
#include "argus/record.h"
#include "diagnose/file_locks.h"
#include "diagnose/lock_table.h"

#define FEWEST_TRIES     3              /* fewer are a loop only if it sleeps between two */
#define LONGEST_PAUSE_NS 5000000000ull  /* between two tries, if it is no sleep */
#define LONGEST_SLEEP_NS 60000000000ull /* between two tries, and after the last one */
#define LONGEST_CHILD_NS 1000000000ull  /* from a try until the end of the child that made it */
#define END_NS           100000000ull   /* until the try after a sleep that ended a hang */
#define MOST_HOLDERS     16
#define MOST_LOOKED      200      /* lock events around tries that may show an owner */
#define MOST_STEPS       4000000u /* of a search in a given time */

/* Whether the call of a child process was a try of `thread`, its parent: the child ends soon after,
 * or the parent waits for its end. A program that starts others, of which each makes sure that a
 * folder exists, tries nothing. */
static bool is_try_of_parent(const struct view *view, const struct argus_file_lock *lock,
                             uint32_t thread)
{
    uint64_t end_ns = view->processes[lock_process(view, lock)].end_ns;
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
           view->processes[lock_process(view, lock)].parent_pid == process->pid &&
           is_try_of_parent(view, lock, thread);
}

static bool is_try(const struct view *view, const struct argus_file_lock *lock, uint32_t thread)
{
    return lock->what == ARGUS_FILE_LOCK_REFUSED && is_by(view, lock, thread);
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
    size_t at = file_locks_from(locks, count, tries->first_ns);
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
    struct lock_request request = lock_request_of(last);
    for (const struct argus_file_lock *lock = last + 1;
         lock < locks + count && lock->time_ns <= end_ns + END_NS; lock++) {
        if (!lock_is_of_file(&request, lock) || lock->listed || !is_by(view, lock, thread))
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
    size_t from = file_locks_from(locks, count, start_ns),
           behind = file_locks_from(locks, count, end_ns + 1);
    struct lock_request request = {0};
    uint64_t steps = MOST_STEPS;
    *ret = no_tries;
    for (size_t i = behind; i > from; i--) {
        const struct argus_file_lock *lock = &locks[i - 1];
        if (!is_try(view, lock, thread) || (last && !lock_is_of_file(&request, lock)))
            continue;
        if (last && ret->first_ns - lock->time_ns > LONGEST_SLEEP_NS)
            break;
        if (!last) {
            last = lock;
            request = lock_request_of(lock);
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
    for (size_t i = file_locks_from(locks, count, from_ns); i < count; i++) {
        const struct argus_file_lock *lock = &locks[i];
        if (!is_by(view, lock, thread) || lock->listed || lock->what == ARGUS_FILE_LOCK_RELEASED)
            continue;
        uint64_t gap_ns = ret->count ? lock->time_ns - ret->last_ns : 0;
        bool goes_on = ret->count && lock_is_of_file(&request, lock) &&
                       gap_ns <= LONGEST_SLEEP_NS &&
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
        request = lock_request_of(lock);
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
    struct held_table table = {.view = view, .request = lock_request_of(last)};
    struct holder_counts holders = {.count = 0};
    for (const struct argus_file_lock *lock = locks; lock <= last; lock++) {
        if (!lock_is_of_file(&table.request, lock))
            continue;
        if (is_try(view, lock, thread) && lock->time_ns >= ret->first_ns)
            count_holder(&holders, held_holder_at(&table, lock->time_ns));
        else
            held_take(&table, lock);
    }
    ret->holder = most_frequent_holder(&holders);
    if (ret->is_name && table.count)
        ret->creator = table.held[table.count - 1]->thread;
    if (is_left_over(view, thread, ret))
        ret->holder = ARGUS_NONE;
    if (ret->holder == ARGUS_NONE)
        ret->holder = lock_holder_told_later(view, &table.request, (size_t)(last - locks));
    return true;
}

uint32_t lock_script_find(const struct view *view, uint32_t vertex, uint64_t start_ns,
                          uint64_t end_ns, struct lock_tries *ret)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t script = lock_parent_of(view, view->threads[v->thread].process, v->start_ns);
    uint32_t thread = script == ARGUS_NONE ? ARGUS_NONE : view->processes[script].main_thread;
    bool tries = thread != ARGUS_NONE && lock_tries_find(view, thread, start_ns, end_ns, ret);
    return tries && ret->is_name ? thread : ARGUS_NONE;
}
