/* Who should have ended a wait that was not ended, or not in time.
 *
 * Nothing in the trace shows a wake-up that did not come. What shows who it should have come from, best first:
 * the lock's holder; the path that ended a similar wait (the baseline); who else works on the object; whom the
 * waiter asked last; who usually asks it. The table below is the order; a new kind of evidence is a row.
 */
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnoser.h"
#include "diagnose/hangs.h"

/* A baseline with so much of the best one's score is as good as it. */
#define NEAR_SCORE        0.9
#define MIN_BASELINE      0.5
#define MAX_LOOK_BACK     1000
#define MAX_PARTNER_STEPS 400
#define MAX_OUT           16
#define MIN_DEALINGS      3
#define NEAR_VERTICES     4 /* the vertex itself and three before it: one request */
#define MAX_OPTIONS       5

struct lookout {
    struct diagnoser *d;
    uint32_t vertex; /* whose wait it is */
    suspect_list *list;
};

/* The thread that plays the part of `thread` when the wait began: itself while it lives, else its namesake. */
static uint32_t living(const struct view *view, uint32_t thread, uint64_t time_ns)
{
    const struct argus_thread *t = &view->threads[thread];
    if (t->end_ns > time_ns)
        return thread;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct argus_thread *other = &view->threads[i];
        if (other->start_ns <= time_ns && other->end_ns > time_ns &&
            strcmp(other->name, t->name) == 0 &&
            strcmp(view->processes[other->process].name, view->processes[t->process].name) == 0)
            return i;
    }
    return ARGUS_NONE;
}

static bool add_suspect(struct lookout *l, uint32_t thread, const char *why)
{
    const struct view *view = &l->d->view;
    const struct argus_vertex *waiter = &view->vertices[l->vertex];
    thread = living(view, thread, waiter->end_ns);
    if (thread == ARGUS_NONE || thread == waiter->thread ||
        view->processes[view->threads[thread].process].kernel ||
        view->threads[thread].vertex_count == 0)
        return true;
    for (size_t i = 0; i < l->list->length; i++)
        if (l->list->data[i].thread == thread)
            return true;
    return vec_push(l->list, (struct suspect){thread, why});
}

/* --- the lock's holder --- */

static struct argus_error *find_holder(struct lookout *l)
{
    const struct view *view = &l->d->view;
    uint64_t tid = view->vertices[l->vertex].wait.holder_tid;
    for (uint32_t i = 0; tid && i < view->thread_count; i++)
        if (view->threads[i].tid == tid && living(view, i, view->vertices[l->vertex].end_ns) == i &&
            !add_suspect(l, i, "it held the lock"))
            return argus_error_memory();
    return NULL;
}

/* --- who ended it in the end --- */

/* The thread that ended the wait of `vertex`; ARGUS_NONE. */
static uint32_t waker_thread(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return cause == ARGUS_NONE ? ARGUS_NONE : view->vertices[view->edges[cause].from].thread;
}

/* A wait that goes on behind the window may have been ended after it, as it should have been before. */
static struct argus_error *find_waker(struct lookout *l)
{
    uint32_t waker = waker_thread(&l->d->view, l->vertex);
    bool satisfied = l->d->view.vertices[l->vertex].wait.outcome == ARGUS_OUTCOME_SATISFIED;
    if (!satisfied || waker == ARGUS_NONE || add_suspect(l, waker, "it ended the wait much later"))
        return NULL;
    return argus_error_memory();
}

/* --- the baseline --- */

/* The candidates: the best one for each thread that ended such a wait, the best first. */
static size_t pick_options(const struct lookout *l, const struct argus_similars *similars,
                           const struct argus_similar **ret)
{
    const struct view *view = &l->d->view;
    size_t count = 0;
    for (size_t i = 0; i < similars->count && count < MAX_OPTIONS; i++) {
        const struct argus_similar *similar = &similars->items[i];
        uint32_t waker = waker_thread(view, similar->vertex);
        if (!similar->different_outcome || similar->score < MIN_BASELINE || waker == ARGUS_NONE ||
            waker == view->vertices[l->vertex].thread)
            continue;
        bool known = false;
        for (size_t j = 0; j < count; j++)
            known |= waker_thread(view, ret[j]->vertex) == waker;
        if (!known)
            ret[count++] = similar;
    }
    return count;
}

/* How many of the candidates are so good that a person should choose. */
static size_t count_near(const struct argus_similar *const *options, size_t count)
{
    size_t near = 0;
    while (near < count && options[near]->score >= NEAR_SCORE * options[0]->score)
        near++;
    return near;
}

static struct argus_error *ask_baseline(struct lookout *l, const struct argus_similar **similars,
                                        size_t count, uint32_t *ret)
{
    const struct view *view = &l->d->view;
    char texts[MAX_OPTIONS][320], text[128];
    struct argus_option options[MAX_OPTIONS];
    for (size_t i = 0; i < count; i++) {
        uint32_t waker = waker_thread(view, similars[i]->vertex);
        snprintf(texts[i], sizeof(texts[i]), "v%u, whose wait %s ended (%s)", similars[i]->vertex,
                 view->processes[view->threads[waker].process].name, similars[i]->why);
        options[i] = (struct argus_option){.text = texts[i], .vertex = similars[i]->vertex};
    }
    snprintf(text, sizeof(text), "Which of these is what v%u normally looks like?", l->vertex);
    struct argus_question question = {.kind = ARGUS_QUESTION_BASELINE,
                                      .text = text,
                                      .options = options,
                                      .option_count = count,
                                      .default_reason = "it is the most similar one"};
    int answer;
    struct argus_error *error = ask(&l->d->questions, &question, &answer);
    if (error)
        return error;
    l->d->stopped = answer == ARGUS_ANSWER_STOP;
    *ret = l->d->stopped ? ARGUS_NONE : similars[answer]->vertex;
    return NULL;
}

/* The threads of the path that ended the baseline's wait, the nearest first. Its own questions are answered by their
 * defaults: what matters here is who took part, and whoever did nothing unusual is passed over anyhow. */
static struct argus_error *add_expected_path(struct lookout *l, uint32_t baseline)
{
    const struct view *view = &l->d->view;
    uint32_t next = timeline_next(view, baseline);
    struct argus_slice_options options = {.from_ns = view->vertices[baseline].end_ns};
    struct argus_slice slice;
    if (next == ARGUS_NONE)
        return NULL;
    struct argus_error *error =
        argus_slice(view->graph, next, &options, argus_asker_auto(), &slice);
    if (error)
        return error;
    bool good = true;
    for (size_t i = 1; good && i < slice.step_count; i++)
        good = add_suspect(l, view->vertices[slice.steps[i].vertex].thread,
                           "it took part in ending a similar wait");
    argus_slice_deinit(&slice);
    return good ? NULL : argus_error_memory();
}

/* The one that was chosen comes first; the others follow, since a wait for many things can be ended by each. */
static struct argus_error *add_all_paths(struct lookout *l, const struct argus_similar **options,
                                         size_t count, uint32_t chosen)
{
    struct argus_error *error = add_expected_path(l, chosen);
    for (size_t i = 0; !error && i < count; i++)
        if (options[i]->vertex != chosen)
            error = add_expected_path(l, options[i]->vertex);
    return error;
}

static struct argus_error *find_baseline(struct lookout *l)
{
    struct argus_similars similars;
    const struct argus_similar *options[MAX_OPTIONS];
    struct argus_error *error = argus_similar_find(l->d->view.graph, l->vertex, 0, &similars);
    if (error)
        return error;
    size_t count = pick_options(l, &similars, options), near = count_near(options, count);
    uint32_t baseline = count > 0 ? options[0]->vertex : ARGUS_NONE;
    if (near > 1)
        error = ask_baseline(l, options, near, &baseline);
    if (!error && baseline != ARGUS_NONE)
        error = add_all_paths(l, options, count, baseline);
    argus_similars_deinit(&similars);
    if (l->d->baseline == ARGUS_NONE)
        l->d->baseline = baseline;
    return error;
}

/* --- the object --- */

static size_t first_use(const struct argus_object_use *uses, size_t count, uint64_t inode)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (uses[middle].inode < inode)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_users(struct lookout *l, uint64_t inode, bool writers_only)
{
    const struct argus_object_use *uses;
    size_t count = argus_graph_object_uses(l->d->view.graph, &uses);
    for (size_t i = first_use(uses, count, inode); inode && i < count && uses[i].inode == inode;
         i++)
        if ((uses[i].wrote || !writers_only) &&
            !add_suspect(l, uses[i].thread, "it works at the other end of what was waited for"))
            return false;
    return true;
}

/* A socket's other end is known by its own inode; both ends of a pipe have the same. */
static struct argus_error *find_object_users(struct lookout *l)
{
    const struct argus_wait *wait = &l->d->view.vertices[l->vertex].wait;
    if (wait->inode == 0 || (add_users(l, wait->peer_inode, false) &&
                             add_users(l, wait->inode, wait->kind == ARGUS_WAIT_READ)))
        return NULL;
    return argus_error_memory();
}

/* --- the last request --- */

/* Adds whom `vertex` made run last. */
static bool add_asked(struct lookout *l, uint32_t vertex, const char *why)
{
    const struct view *view = &l->d->view;
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if (edge->kind == ARGUS_EDGE_SEQUENCE || edge->kind == ARGUS_EDGE_TIMER ||
            edge->kind == ARGUS_EDGE_FORK || edge->kind == ARGUS_EDGE_BLOCK || !edge->strong)
            continue;
        return add_suspect(l, view->vertices[edge->to].thread, why);
    }
    return true;
}

static struct argus_error *find_last_asked(struct lookout *l)
{
    uint32_t v = l->vertex;
    for (unsigned i = 0; i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        if (!add_asked(l, v, "the waiting thread had just made it run"))
            return argus_error_memory();
        v = argus_graph_previous(l->d->view.graph, v);
    }
    return NULL;
}

/* --- the other threads of the process, for a lock --- */

static struct argus_error *find_siblings(struct lookout *l)
{
    const struct view *view = &l->d->view;
    const struct argus_vertex *v = &view->vertices[l->vertex];
    for (uint32_t i = 0; v->wait.kind == ARGUS_WAIT_FUTEX && i < view->thread_count; i++)
        if (view->threads[i].process == view->threads[v->thread].process &&
            !add_suspect(l, i, "it shares memory with the waiting thread"))
            return argus_error_memory();
    return NULL;
}

/* --- the children --- */

static struct argus_error *find_children(struct lookout *l)
{
    const struct view *view = &l->d->view;
    const struct argus_vertex *v = &view->vertices[l->vertex];
    uint64_t parent = view->processes[view->threads[v->thread].process].pid;
    for (uint32_t i = 0; v->wait.kind == ARGUS_WAIT_CHILD && i < view->process_count; i++)
        if (view->processes[i].parent_pid == parent &&
            view->processes[i].main_thread != ARGUS_NONE &&
            !add_suspect(l, view->processes[i].main_thread, "it is the child that was waited for"))
            return argus_error_memory();
    return NULL;
}

/* --- partners --- */

/* Whether the two threads made each other run several times: a parent that started it and waits for its end, or a chance
 * meeting, is no partner. */
static bool are_partners(const struct view *view, uint32_t waiter, uint32_t other)
{
    const struct argus_thread *t = &view->threads[view->vertices[waiter].thread];
    unsigned dealings = 0;
    for (uint32_t v = waiter, i = 0; i < MAX_LOOK_BACK && dealings < MIN_DEALINGS; v--, i++) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        dealings += cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WAKE &&
                    view->vertices[view->edges[cause].from].thread == other;
        const uint32_t *out;
        size_t count = argus_graph_out_edges(view->graph, v, &out);
        for (size_t j = 0; j < count && j < MAX_OUT; j++)
            dealings += view->edges[out[j]].kind == ARGUS_EDGE_WAKE &&
                        view->vertices[view->edges[out[j]].to].thread == other;
        if (v == t->first_vertex)
            break;
    }
    return dealings >= MIN_DEALINGS;
}

static bool add_partner(struct lookout *l, uint32_t vertex)
{
    uint32_t other = l->d->view.vertices[vertex].thread;
    return !are_partners(&l->d->view, l->vertex, other) ||
           add_suspect(l, other, "it had dealings with the waiting thread before");
}

/* Whoever dealt with the thread before: those that ended its waits or that it made run, the latest first. */
static struct argus_error *find_partners(struct lookout *l)
{
    const struct view *view = &l->d->view;
    uint32_t v = l->vertex;
    for (unsigned i = 0; i < MAX_PARTNER_STEPS && v != ARGUS_NONE; i++) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        if (cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WAKE &&
            !add_partner(l, view->edges[cause].from))
            return argus_error_memory();
        const uint32_t *out;
        size_t count = argus_graph_out_edges(view->graph, v, &out);
        for (size_t j = 0; j < count && j < MAX_OUT; j++)
            if (view->edges[out[j]].kind == ARGUS_EDGE_WAKE &&
                !add_partner(l, view->edges[out[j]].to))
                return argus_error_memory();
        v = argus_graph_previous(view->graph, v);
    }
    return NULL;
}

/* --- who asked --- */

/* When nobody else is known: the thread that waits for this one may be whom this one waits for. */
static struct argus_error *find_asker(struct lookout *l)
{
    const struct view *view = &l->d->view;
    uint32_t v = l->vertex;
    for (unsigned i = 0; l->list->length == 0 && i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        v = argus_graph_previous(view->graph, v);
        if (cause == ARGUS_NONE || view->edges[cause].kind != ARGUS_EDGE_WAKE)
            continue;
        uint32_t asker = view->vertices[view->edges[cause].from].thread;
        if (path_find(l->d, asker) >= 0 &&
            !add_suspect(l, asker, "it is the only thread known to have dealt with it"))
            return argus_error_memory();
    }
    return NULL;
}

struct argus_error *find_suspects(struct diagnoser *d, uint32_t vertex, suspect_list *ret)
{
    static struct argus_error *(*const evidence[])(struct lookout *) = {
        find_holder,   find_waker,    find_baseline, find_object_users, find_last_asked,
        find_siblings, find_children, find_partners, find_asker,
    };
    struct lookout lookout = {.d = d, .vertex = vertex, .list = ret};
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && !d->stopped && i < sizeof(evidence) / sizeof(evidence[0]); i++)
        error = evidence[i](&lookout);
    return error;
}
