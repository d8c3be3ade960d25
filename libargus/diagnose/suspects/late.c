/* The actual path: sums up the account of a wait. */
#include <string.h>

#include "base/idmap.h"
#include "diagnose/diagnoser.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/habits.h"

#define NOTEWORTHY_SHARE 0.1
#define BUSY_SHARE       0.2 /* of a hang that is mostly waiting */
#define MAX_CULPRITS     5

/* What one vertex has of an account. */
struct part {
    struct late sum; /* of the vertex alone */
    uint32_t thread;
};

struct parts {
    VEC(struct part) items; /* in time order */
    struct idmap by_vertex;
};

/* The user vertex on whose behalf the kernel thread of a vertex worked. A kernel thread is not
 * blamed: its work is a wait of that user thread. */
static uint32_t user_vertex(const struct diagnoser *d, const struct argus_account *account,
                            const struct argus_stretch *stretch)
{
    uint32_t vertex = stretch->vertex, link = stretch->link;
    while (vertex != ARGUS_NONE && timeline_is_kernel(&d->view, vertex) && link != ARGUS_NONE &&
           account->links[link].edge != ARGUS_NONE) {
        uint32_t to = d->view.edges[account->links[link].edge].to;
        uint32_t waiter = argus_graph_previous(d->view.graph, to);
        vertex = waiter != ARGUS_NONE ? waiter : to;
        link = account->links[link].parent;
    }
    return vertex;
}

static struct part *find_part(const struct diagnoser *d, struct parts *parts, uint32_t vertex,
                              const struct argus_stretch *stretch)
{
    uint32_t at = idmap_get(&parts->by_vertex, vertex);
    if (at != IDMAP_NONE)
        return &parts->items.data[at];
    at = (uint32_t)parts->items.length;
    struct part part = {.sum = {.vertex = vertex,
                                .part = {stretch->start_ns, stretch->end_ns},
                                .link = stretch->link},
                        .thread = d->view.vertices[vertex].thread};
    if (!vec_push(&parts->items, part) || !idmap_put(&parts->by_vertex, vertex, at))
        return NULL;
    return &parts->items.data[at];
}

static void add_stretch(const struct diagnoser *d, struct part *part,
                        const struct argus_stretch *stretch)
{
    uint64_t ns = stretch->end_ns - stretch->start_ns;
    const struct argus_vertex *v = &d->view.vertices[stretch->vertex];
    part->sum.part.end_ns = stretch->end_ns;
    bool is_kernels = stretch->vertex != part->sum.vertex;
    if (stretch->state == ARGUS_STRETCH_RUNNING && !is_kernels)
        part->sum.run_ns += ns;
    else if (stretch->state == ARGUS_STRETCH_RUNNABLE && !is_kernels)
        part->sum.runnable_ns += ns;
    else
        part->sum.wait_ns += ns;
    part->sum.yields |= is_yielding(&d->view, stretch->vertex) && stretch->start_ns < v->end_ns;
}

static bool sum_up(const struct diagnoser *d, const struct argus_account *account,
                   struct parts *ret)
{
    *ret = (struct parts){.items = {0}};
    for (size_t i = 0; i < account->count; i++) {
        const struct argus_stretch *stretch = &account->stretches[i];
        if (stretch->state == ARGUS_STRETCH_UNKNOWN || stretch->vertex == ARGUS_NONE)
            continue;
        uint32_t vertex = user_vertex(d, account, stretch);
        struct part *part = find_part(d, ret, vertex, stretch);
        if (!part)
            return false;
        add_stretch(d, part, stretch);
    }
    return true;
}

static uint64_t total(const struct late *late)
{
    return late->run_ns + late->runnable_ns + late->wait_ns;
}

/* How well `part` represents its thread's dominant state. */
static uint64_t weight(const struct late *part, const struct late *thread)
{
    if (part->yields)
        return total(part);
    return thread->wait_ns > thread->run_ns + thread->runnable_ns
               ? part->wait_ns
               : part->run_ns + part->runnable_ns;
}

static void add_sums(struct late *sum, const struct late *part)
{
    if (part->part.start_ns < sum->part.start_ns || total(sum) == 0)
        sum->part.start_ns = part->part.start_ns;
    if (part->part.end_ns > sum->part.end_ns)
        sum->part.end_ns = part->part.end_ns;
    sum->run_ns += part->run_ns;
    sum->runnable_ns += part->runnable_ns;
    sum->wait_ns += part->wait_ns;
}

/* Sums the parts of one thread; the sum's vertex is the one that represents best what the thread
 * did. */
static struct late sum_thread(const struct parts *parts, uint32_t thread, bool waits_only)
{
    struct late sum = {.vertex = ARGUS_NONE};
    const struct late *best = NULL;
    for (size_t i = 0; i < parts->items.length; i++) {
        struct late part = parts->items.data[i].sum;
        if (parts->items.data[i].thread != thread)
            continue;
        if (waits_only && !part.yields)
            part.run_ns = part.runnable_ns = 0;
        add_sums(&sum, &part);
    }
    for (size_t i = 0; i < parts->items.length; i++) {
        const struct late *part = &parts->items.data[i].sum;
        if (parts->items.data[i].thread == thread &&
            (!best || weight(part, &sum) > weight(best, &sum)))
            best = part;
    }
    if (!best)
        return sum;
    sum.vertex = best->vertex;
    sum.link = best->link;
    sum.yields = best->yields && total(best) >= total(&sum) / 2;
    return sum;
}

static int compare_late(const void *a, const void *b)
{
    const struct late *x = a, *y = b;
    if (total(x) != total(y))
        return total(x) > total(y) ? -1 : 1;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

typedef VEC(struct late) late_list;

/* Makes one sum for each thread, the largest first. Of `thread` itself only the waits count. */
static bool sum_threads(const struct diagnoser *d, const struct argus_account *account,
                        uint32_t thread, late_list *ret)
{
    struct parts parts;
    struct idmap done = {0};
    bool good = sum_up(d, account, &parts);
    for (size_t i = 0; good && i < parts.items.length; i++) {
        uint32_t of = parts.items.data[i].thread;
        if (idmap_get(&done, of) != IDMAP_NONE)
            continue;
        struct late sum = sum_thread(&parts, of, of == thread);
        good = idmap_put(&done, of, 0) && (total(&sum) == 0 || vec_push(ret, sum));
    }
    if (good && ret->length > 0)
        qsort(ret->data, ret->length, sizeof(*ret->data), compare_late);
    idmap_deinit(&done);
    idmap_deinit(&parts.by_vertex);
    vec_deinit(&parts.items);
    return good;
}

struct argus_error *diagnoser_find_late(struct diagnoser *d, const struct argus_account *account,
                                        uint32_t thread, struct late *ret)
{
    late_list sums = {0};
    bool good = sum_threads(d, account, thread, &sums);
    *ret = sums.length > 0 ? sums.data[0] : (struct late){.vertex = ARGUS_NONE};
    vec_deinit(&sums);
    return good ? NULL : argus_error_memory();
}

bool diagnoser_add_late_path(struct diagnoser *d, const struct argus_account *account,
                             uint32_t link, uint32_t vertex)
{
    VEC(uint32_t) edges = {0};
    bool good = true;
    for (; good && link != ARGUS_NONE && account->links[link].edge != ARGUS_NONE;
         link = account->links[link].parent)
        good = vec_push(&edges, account->links[link].edge);
    /* The source thread of each edge is on the path with the vertex whose wait the next edge
     * ended. */
    for (size_t i = edges.length; good && i > 1; i--) {
        uint32_t to = d->view.edges[edges.data[i - 2]].to;
        uint32_t waiter = argus_graph_previous(d->view.graph, to);
        good = diagnoser_add_step(d, waiter != ARGUS_NONE ? waiter : to, edges.data[i - 1], false);
    }
    uint32_t last = edges.length > 0 ? edges.data[0] : ARGUS_NONE;
    bool there = d->path.length > 0 && d->path.data[d->path.length - 1].vertex == vertex;
    if (good && !there)
        good = diagnoser_add_step(d, vertex, last, false);
    vec_deinit(&edges);
    return good;
}

static bool ended_by_itself(const struct argus_vertex *v)
{
    return v->wait.kind == ARGUS_WAIT_SLEEP || v->wait.by_device ||
           v->wait.outcome == ARGUS_OUTCOME_SATISFIED;
}

/* Whether it was a server in its home wait until a request came. */
static bool was_idle(const struct diagnoser *d, const struct late *late)
{
    const struct argus_vertex *v = &d->view.vertices[late->vertex];
    return v->thread != d->hang.thread && v->wait.kind == ARGUS_WAIT_POLL &&
           v->wait.outcome == ARGUS_OUTCOME_SATISFIED && is_home_wait(&d->view, late->vertex);
}

/* Whether the wait of `vertex` was a pause of the hung thread's loop, in a child process: sleep(1)
 * in a shell script that tries to create a lock file. */
static bool is_pause_of_loop(const struct diagnoser *d, uint32_t vertex)
{
    struct lock_tries tries;
    const struct argus_vertex *v = &d->view.vertices[vertex];
    uint32_t process = d->view.threads[v->thread].process;
    uint32_t hung = d->view.threads[d->hang.thread].process;
    return d->hang.type == ARGUS_TYPE_REPEATED_YIELD && v->wait.kind == ARGUS_WAIT_SLEEP &&
           process != hung &&
           d->view.processes[process].parent_pid == d->view.processes[hung].pid &&
           lock_tries_detect(&d->view, d->hang.thread, d->hang.start_ns, d->hang.end_ns, &tries) &&
           tries.is_name;
}

/* Whether the hung thread's waits for swapped pages are in its lack of memory, which is blamed. */
static bool is_lack_of_memory(const struct diagnoser *d, const struct argus_vertex *v)
{
    if (v->thread != d->hang.thread || v->wait.kind != ARGUS_WAIT_FAULT)
        return false;
    for (size_t i = 0; i < d->culprits.length; i++)
        if (d->culprits.data[i].memory.swap_ns)
            return true;
    return false;
}

static struct argus_error *blame_share(struct diagnoser *d, const struct late *late)
{
    const struct argus_vertex *v = &d->view.vertices[late->vertex];
    bool explained = d->hang.type == ARGUS_TYPE_REPEATED_YIELD && v->thread == d->hang.thread;
    struct lock_tries tries;
    if (late->yields || (explained && lock_tries_detect(&d->view, v->thread, d->hang.start_ns,
                                                        d->hang.end_ns, &tries)))
        return explained ? NULL : diagnoser_blame_yielding(d, late->vertex, late->part);
    if (late->run_ns + late->runnable_ns >= late->wait_ns)
        return diagnoser_blame_running(d, late->vertex, late->part, late->run_ns,
                                       late->runnable_ns);
    if (!ended_by_itself(v) || was_idle(d, late) || is_pause_of_loop(d, late->vertex) ||
        is_lack_of_memory(d, v) || (d->waits_explained && v->thread == d->hang.thread))
        return NULL;
    struct argus_reason why = {.kind = ARGUS_REASON_WAITED_ALONE,
                               .vertex = late->vertex,
                               .ns = late->wait_ns,
                               .many = argus_vertex_wait_ns(v) < late->wait_ns / 2};
    return diagnoser_add_culprit(d, late->vertex, ARGUS_TYPE_LONG_WAIT, late->part, late->wait_ns,
                                 &why);
}

/* Whether the hung thread mostly waited, but also ran or wanted a CPU for so long that this is a
 * cause of its own. */
static bool is_also_busy(const struct diagnoser *d)
{
    uint64_t busy_ns = d->hang.run_ns + d->hang.runnable_ns;
    return d->hang.type == ARGUS_TYPE_LONG_WAIT &&
           (double)busy_ns >= BUSY_SHARE * (double)(d->hang.end_ns - d->hang.start_ns);
}

/* The hung thread's own share comes first, if it is larger than that of the wait's culprit. */
static void order_own_share(struct diagnoser *d, size_t before)
{
    struct argus_culprit *all = d->culprits.data;
    for (size_t i = before; before > 0 && i < d->culprits.length; i++) {
        struct argus_culprit own = all[i];
        if (d->view.vertices[own.vertex].thread != d->hang.thread || own.share <= all[0].share)
            continue;
        memmove(&all[1], &all[0], i * sizeof(*all));
        all[0] = own;
        return;
    }
}

struct argus_error *diagnoser_blame_other_shares(struct diagnoser *d)
{
    late_list sums = {0};
    uint64_t hang_ns = d->hang.end_ns - d->hang.start_ns;
    size_t before = d->culprits.length;
    uint32_t only_waits = is_also_busy(d) ? ARGUS_NONE : d->hang.thread;
    struct argus_error *error =
        sum_threads(d, &d->accounting, only_waits, &sums) ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < sums.length && d->culprits.length < MAX_CULPRITS; i++) {
        if ((double)total(&sums.data[i]) < NOTEWORTHY_SHARE * (double)hang_ns)
            break;
        uint32_t thread = d->view.vertices[sums.data[i].vertex].thread;
        bool is_own = thread == d->hang.thread;
        if (d->disk_explains && !is_own)
            continue;
        if (diagnoser_find_step(d, thread) < 0 || (is_own && !d->cycle.length))
            error = blame_share(d, &sums.data[i]);
    }
    if (!error && is_also_busy(d))
        order_own_share(d, before);
    vec_deinit(&sums);
    return error;
}
