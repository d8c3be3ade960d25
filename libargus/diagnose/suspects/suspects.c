/* Finds the threads that should have ended a wait that was not ended in time.
 *
 * Nothing in the trace shows a wake-up that did not come. These show which thread it should have
 * come from, the best evidence first: the lock's holder; the receiver of a message that the waiter
 * sent just before; the path that ended a similar wait (the baseline); other users of the object;
 * the thread that the waiter made run last; threads that usually communicate with it. The table at
 * the end has the order. Evidence is used row by row, and only as far as needed: if a thread found
 * by a good row did something unusual, the user is not asked the questions of later rows.
 */
#include <string.h>

#include "base/lower_bound.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/hangs/nesting.h"
#include "diagnose/suspects/suspect_search.h"
#include "diagnose/vertex_deeds.h"
#include "graph/text/object_text.h"

#define MAX_LOOK_BACK     1000
#define MAX_PARTNER_STEPS 400
#define MAX_OUT           16
#define MIN_INTERACTIONS  3

/* Whether two processes are the same, or were started by the same one. */
static bool are_siblings(const struct view *view, uint32_t process, uint32_t other)
{
    return process == other ||
           view->processes[process].parent_pid == view->processes[other].parent_pid;
}

/* The thread with the role of `thread` when the wait began: itself while it lives, else another
 * living thread of the same name, whose process has the same parent: of shells there are many. */
static uint32_t find_living(const struct view *view, uint32_t thread, uint64_t time_ns)
{
    const struct argus_thread *t = &view->threads[thread];
    if (t->end_ns > time_ns)
        return thread;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct argus_thread *other = &view->threads[i];
        if (other->start_ns <= time_ns && other->end_ns > time_ns &&
            strcmp(other->name, t->name) == 0 && are_siblings(view, t->process, other->process) &&
            strcmp(view->processes[other->process].name, view->processes[t->process].name) == 0)
            return i;
    }
    return ARGUS_NONE;
}

bool suspect_search_add(struct suspect_search *search, uint32_t thread, enum argus_reason_kind why)
{
    const struct view *view = &search->d->view;
    const struct argus_vertex *waiter = &view->vertices[search->vertex];
    /* A loop ends when the thread that it waits for has ended. */
    bool is_loop = search->polls || waiter->flags & ARGUS_VERTEX_YIELDS;
    thread = find_living(view, thread, is_loop ? waiter->start_ns : waiter->end_ns);
    if (thread == ARGUS_NONE || thread == waiter->thread ||
        view->processes[view->threads[thread].process].kernel ||
        view->threads[thread].vertex_count == 0)
        return true;
    for (size_t i = 0; i < search->list->length; i++)
        if (search->list->data[i].thread == thread)
            return true;
    return vec_push(search->list,
                    (struct suspect){.thread = thread, .via = ARGUS_NONE, .why = why});
}

/* --- the lock's holder --- */

static struct argus_error *find_holder(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint64_t tid = view->vertices[search->vertex].wait.holder_tid;
    for (uint32_t i = 0; tid && i < view->thread_count; i++)
        if (view->threads[i].tid == tid &&
            find_living(view, i, view->vertices[search->vertex].end_ns) == i &&
            !suspect_search_add(search, i, ARGUS_REASON_HELD_LOCK))
            return argus_error_memory();
    uint32_t holder = file_lock_find_holder(view, search->vertex);
    if (holder == ARGUS_NONE || suspect_search_add(search, holder, ARGUS_REASON_HELD_FILE_LOCK))
        return NULL;
    return argus_error_memory();
}

/* --- the thread that ended it in the end --- */

uint32_t waker_thread(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return cause == ARGUS_NONE ? ARGUS_NONE : view->vertices[view->edges[cause].from].thread;
}

/* Whether `vertex` began at the end of a wait for work that had lasted until the hung thread's wait
 * was over. */
static bool was_idle(const struct suspect_search *search, uint32_t vertex)
{
    const struct view *view = &search->d->view;
    uint32_t before = argus_graph_previous(view->graph, vertex);
    uint64_t until_ns = timeline_wait_end(view, search->d->hang.vertex);
    return before != ARGUS_NONE && view->vertices[before].wait.kind == ARGUS_WAIT_POLL &&
           timeline_wait_end(view, before) >= until_ns && view->vertices[before].end_ns <= until_ns;
}

/* The thread that ended the wait. But a thread on the path that was idle all the time only passed
 * on a later message; then the sender of that message is taken, so that no circle closes at a
 * messenger. */
static uint32_t first_waker(const struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint32_t next = timeline_next(view, search->vertex);
    uint32_t found = waker_thread(view, search->vertex);
    if (view->vertices[search->vertex].wait.kind == ARGUS_WAIT_POLL) /* another request ended it */
        return found;
    for (unsigned i = 0; next != ARGUS_NONE && i < NEAR_VERTICES; i++) {
        uint32_t cause = argus_graph_cause(view->graph, next);
        if (cause == ARGUS_NONE || view->edges[cause].kind == ARGUS_EDGE_TIMER)
            break;
        next = view->edges[cause].from;
        found = view->vertices[next].thread;
        if (diagnoser_find_step(search->d, found) < 0 || !was_idle(search, next))
            break;
    }
    return found;
}

/* A wait that continues after the window may have been ended later by the thread that should have
 * ended it before. */
static struct argus_error *find_waker(struct suspect_search *search)
{
    uint32_t waker = first_waker(search);
    bool satisfied =
        search->d->view.vertices[search->vertex].wait.outcome == ARGUS_OUTCOME_SATISFIED;
    if (!satisfied || waker == ARGUS_NONE ||
        suspect_search_add(search, waker, ARGUS_REASON_ENDED_LATER))
        return NULL;
    return argus_error_memory();
}

/* --- the object --- */

static size_t first_use(const struct argus_object_use *uses, size_t count, uint64_t inode)
{
    size_t first;
    LOWER_BOUND(first, count, uses[first].inode < inode);
    return first;
}

static bool add_users(struct suspect_search *search, uint64_t inode, bool writers_only)
{
    const struct argus_object_use *uses;
    size_t count = argus_graph_object_uses(search->d->view.graph, &uses);
    for (size_t i = first_use(uses, count, inode); inode && i < count && uses[i].inode == inode;
         i++)
        if ((uses[i].wrote || !writers_only) &&
            !suspect_search_add(search, uses[i].thread, ARGUS_REASON_USES_OTHER_END))
            return false;
    return true;
}

/* The other end of a socket is known by its own inode; both ends of a pipe have the same. An epoll
 * set has no other end: other users of it wait for the same things. */
static struct argus_error *find_object_users(struct suspect_search *search)
{
    const struct argus_wait *wait = &search->d->view.vertices[search->vertex].wait;
    if (wait->inode == 0 || object_is_epoll_set(wait->object_type) ||
        (add_users(search, wait->peer_inode, false) &&
         add_users(search, wait->inode, wait->kind == ARGUS_WAIT_READ)))
        return NULL;
    return argus_error_memory();
}

/* --- the last request --- */

/* An idle loop may have begun its pieces long before the hang, and not for its sake. */
static uint32_t first_piece_in_hang(const struct suspect_search *search, uint32_t vertex)
{
    const struct view *view = &search->d->view;
    uint32_t first = timeline_pieces(view, vertex).first;
    return view->vertices[first].end_ns >= search->d->hang.start_ns ? first : vertex;
}

uint32_t first_piece(const struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint32_t first = timeline_wait_begin(view, search->vertex);
    const struct argus_vertex *v = &view->vertices[first];
    bool clear = habit_is_clear(view->graph, v->wait.user_stack);
    if (v->thread != search->d->hang.thread || !clear)
        return first_piece_in_hang(search, first);
    uint32_t before = argus_graph_previous(view->graph, first);
    for (unsigned i = 0; i < MAX_LOOK_BACK && before != ARGUS_NONE &&
                         view->vertices[before].end_ns >= search->d->hang.start_ns;
         i++, before = argus_graph_previous(view->graph, before)) {
        const struct argus_wait *wait = &view->vertices[before].wait;
        if (wait->kind == v->wait.kind && wait->user_stack == v->wait.user_stack)
            first = before;
        else if (wait->kind != ARGUS_WAIT_NONE)
            break;
    }
    return first;
}

/* Waits by which a parent learns that its child lives or has ended. */
static bool awaits_child(const struct argus_wait *wait)
{
    return wait->kind == ARGUS_WAIT_CHILD || wait->kind == ARGUS_WAIT_POLL ||
           (wait->kind == ARGUS_WAIT_READ && object_is_pipe(wait->object_type));
}

/* Whether `edge` shows a parent no more than that its child lives or has ended: the program that
 * the child executes closes a pipe that the parent reads, or the child's state changes. */
static bool only_tells_parent(const struct view *view, const struct argus_edge *edge)
{
    uint32_t waiting = argus_graph_previous(view->graph, edge->to);
    uint32_t child = view->threads[view->vertices[edge->from].thread].process;
    uint32_t parent = view->threads[view->vertices[edge->to].thread].process;
    return edge->kind == ARGUS_EDGE_WAKE && !edge_is_message(edge) && child != parent &&
           view->processes[child].parent_pid == view->processes[parent].pid &&
           waiting != ARGUS_NONE && awaits_child(&view->vertices[waiting].wait);
}

/* Adds the thread that `vertex` made run last. */
static bool add_asked(struct suspect_search *search, uint32_t vertex, enum argus_reason_kind why)
{
    const struct view *view = &search->d->view;
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if (edge->kind == ARGUS_EDGE_SEQUENCE || edge->kind == ARGUS_EDGE_TIMER ||
            edge->kind == ARGUS_EDGE_FORK || edge->kind == ARGUS_EDGE_BLOCK || !edge->strong ||
            only_tells_parent(view, edge))
            continue;
        return suspect_search_add(search, view->vertices[edge->to].thread, why);
    }
    return true;
}

static struct argus_error *find_last_asked(struct suspect_search *search)
{
    uint32_t v = first_piece(search);
    for (unsigned i = 0; i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        if (!add_asked(search, v, ARGUS_REASON_JUST_CAUSED))
            return argus_error_memory();
        v = argus_graph_previous(search->d->view.graph, v);
    }
    return NULL;
}

/* --- the other threads of the process, for a lock --- */

static struct argus_error *find_siblings(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    const struct argus_vertex *v = &view->vertices[search->vertex];
    for (uint32_t i = 0; v->wait.kind == ARGUS_WAIT_FUTEX && i < view->thread_count; i++)
        if (view->threads[i].process == view->threads[v->thread].process &&
            !suspect_search_add(search, i, ARGUS_REASON_SHARES_MEMORY))
            return argus_error_memory();
    return NULL;
}

/* --- the children --- */

static struct argus_error *find_children(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    const struct argus_vertex *v = &view->vertices[search->vertex];
    uint64_t parent = view->processes[view->threads[v->thread].process].pid;
    for (uint32_t i = 0; v->wait.kind == ARGUS_WAIT_CHILD && i < view->process_count; i++)
        if (view->processes[i].parent_pid == parent &&
            view->processes[i].main_thread != ARGUS_NONE &&
            !suspect_search_add(search, view->processes[i].main_thread, ARGUS_REASON_IS_CHILD))
            return argus_error_memory();
    return NULL;
}

/* A loop in a handler, whatever it takes and does meanwhile. */
static struct argus_error *find_command(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    const struct argus_wait *wait = &view->vertices[search->vertex].wait;
    if (wait->kind != ARGUS_WAIT_POLL || timeline_next(view, search->vertex) != ARGUS_NONE)
        return NULL;
    uint32_t command = command_awaited(view, search->vertex);
    if (command == ARGUS_NONE || view->processes[command].main_thread == ARGUS_NONE ||
        suspect_search_add(search, view->processes[command].main_thread, ARGUS_REASON_IS_CHILD))
        return NULL;
    return argus_error_memory();
}

static bool has_writer(const struct suspect_search *search, uint64_t inode)
{
    const struct argus_object_use *uses;
    size_t count = argus_graph_object_uses(search->d->view.graph, &uses);
    uint32_t waiter = search->d->view.vertices[search->vertex].thread;
    for (size_t i = first_use(uses, count, inode); i < count && uses[i].inode == inode; i++)
        if (uses[i].wrote && uses[i].thread != waiter)
            return true;
    return false;
}

/* Whether what the thread made run last before the wait was a child. */
static bool has_just_started(const struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint32_t v = search->vertex;
    for (unsigned i = 0; i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        const uint32_t *out;
        size_t count = argus_graph_out_edges(view->graph, v, &out);
        for (size_t k = count; k > 0; k--) {
            uint8_t kind = view->edges[out[k - 1]].kind;
            if (kind != ARGUS_EDGE_SEQUENCE && kind != ARGUS_EDGE_TIMER)
                return kind == ARGUS_EDGE_FORK;
        }
        v = argus_graph_previous(view->graph, v);
    }
    return false;
}

/* If no thread is known to write to a pipe, a child may have inherited its writing end and not
 * written yet: the latest child is taken. The same holds for the descriptors of a poll, if the
 * thread has just started a child. */
static struct argus_error *find_inherited(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    const struct argus_vertex *v = &view->vertices[search->vertex];
    uint64_t pid = view->processes[view->threads[v->thread].process].pid;
    uint32_t latest = ARGUS_NONE;
    bool may_be =
        object_is_pipe(v->wait.object_type)
            ? !has_writer(search, v->wait.inode)
            : v->wait.kind == ARGUS_WAIT_POLL && !v->wait.inode && has_just_started(search);
    for (uint32_t i = 0; may_be && i < view->process_count; i++) {
        const struct argus_process *child = &view->processes[i];
        bool may_have = child->parent_pid == pid && child->main_thread != ARGUS_NONE &&
                        child->start_ns <= v->end_ns && child->end_ns > v->end_ns;
        if (may_have &&
            (latest == ARGUS_NONE || child->start_ns > view->processes[latest].start_ns))
            latest = i;
    }
    if (latest == ARGUS_NONE || suspect_search_add(search, view->processes[latest].main_thread,
                                                   ARGUS_REASON_CHILD_HAS_PIPE))
        return NULL;
    return argus_error_memory();
}

/* --- partners --- */

bool have_interacted(const struct view *view, uint32_t waiter, uint32_t other, unsigned times)
{
    const struct argus_thread *t = &view->threads[view->vertices[waiter].thread];
    unsigned interactions = 0;
    for (uint32_t v = waiter, i = 0; i < MAX_LOOK_BACK && interactions < times; v--, i++) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        interactions += cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WAKE &&
                        view->vertices[view->edges[cause].from].thread == other;
        const uint32_t *out;
        size_t count = argus_graph_out_edges(view->graph, v, &out);
        for (size_t j = 0; j < count && j < MAX_OUT; j++)
            interactions += view->edges[out[j]].kind == ARGUS_EDGE_WAKE &&
                            view->vertices[view->edges[out[j]].to].thread == other;
        if (v == t->first_vertex)
            break;
    }
    return interactions >= times;
}

/* Adds a partner. Several meetings are required: a parent that started it and waits for its end, or
 * a single meeting by chance, is no partner. */
static bool add_partner(struct suspect_search *search, uint32_t vertex)
{
    uint32_t other = search->d->view.vertices[vertex].thread;
    return !have_interacted(&search->d->view, search->vertex, other, MIN_INTERACTIONS) ||
           suspect_search_add(search, other, ARGUS_REASON_COMMUNICATED);
}

/* Finds threads that communicated with the waiter before: those that ended its waits or that it
 * made run, the latest first. */
static struct argus_error *find_partners(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint32_t v = search->vertex;
    for (unsigned i = 0; i < MAX_PARTNER_STEPS && v != ARGUS_NONE; i++) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        if (cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WAKE &&
            !add_partner(search, view->edges[cause].from))
            return argus_error_memory();
        const uint32_t *out;
        size_t count = argus_graph_out_edges(view->graph, v, &out);
        for (size_t j = 0; j < count && j < MAX_OUT; j++)
            if (view->edges[out[j]].kind == ARGUS_EDGE_WAKE &&
                !add_partner(search, view->edges[out[j]].to))
                return argus_error_memory();
        v = argus_graph_previous(view->graph, v);
    }
    return NULL;
}

/* --- the requester --- */

/* If no other thread is known: the thread that waits for this one may be the one that this one
 * waits for. */
static struct argus_error *find_requester(struct suspect_search *search)
{
    const struct view *view = &search->d->view;
    uint32_t v = search->vertex;
    for (unsigned i = 0; search->list->length == 0 && i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        v = argus_graph_previous(view->graph, v);
        if (cause == ARGUS_NONE || view->edges[cause].kind != ARGUS_EDGE_WAKE)
            continue;
        uint32_t requester = view->vertices[view->edges[cause].from].thread;
        if (diagnoser_find_step(search->d, requester) >= 0 &&
            !suspect_search_add(search, requester, ARGUS_REASON_ONLY_OTHER))
            return argus_error_memory();
    }
    return NULL;
}

/* To add evidence, add a row at its place: the best is first. From the first vague row on, evidence
 * only shows which threads could have ended the wait. If the wait's own time-out ended it, rows
 * with EVIDENCE_COULD_ONLY are skipped: the wait may have been for no thread at all. */
const struct evidence all_evidence[] = {
    {find_holder, EVIDENCE_SURE | EVIDENCE_OF_LOCK | EVIDENCE_OWED},
    {find_waker, EVIDENCE_SURE | EVIDENCE_OF_CHILD},
    {find_command, EVIDENCE_SURE | EVIDENCE_OWED},
    {find_asked, EVIDENCE_SURE | EVIDENCE_OWED},
    {find_unanswered, EVIDENCE_OWED},
    {find_baseline, 0},
    {find_object_users, EVIDENCE_SURE | EVIDENCE_COULD_ONLY},
    {find_openers, EVIDENCE_COULD_ONLY},
    {find_sharers, EVIDENCE_COULD_ONLY},
    {find_inherited, EVIDENCE_COULD_ONLY},
    {find_last_asked, EVIDENCE_COULD_ONLY},
    {find_siblings, EVIDENCE_VAGUE | EVIDENCE_COULD_ONLY},
    {find_children,
     EVIDENCE_VAGUE | EVIDENCE_COULD_ONLY | EVIDENCE_OF_CHILD | EVIDENCE_SURE | EVIDENCE_OWED},
    {find_partners, EVIDENCE_VAGUE | EVIDENCE_COULD_ONLY},
    {find_requester, EVIDENCE_VAGUE | EVIDENCE_COULD_ONLY},
};
const size_t all_evidence_count = sizeof(all_evidence) / sizeof(all_evidence[0]);
