/* Accounting: every moment of a thread's window belongs to one vertex.
 *
 * The walk goes backward from the window's end. The time in which the thread itself ran belongs to
 * its vertices. A wait belongs to the thread that ended it: the waker's thread is explained over
 * the same stretch, and so on recursively. The recursion never leaves the stretch, because what
 * happened before a wait began did not make it long. A wait that no other thread ended (by a timer
 * of its own, by a device, or never) stays a wait of its own.
 *
 *     editor   ======....................======      = runs   . waits
 *     speller  ......==........................==    the editor's wait: speller ran, then waited
 * for dictd dictd    ........========================      … which was busy: most of the stretch
 * belongs to it
 *
 * Two special cases keep bystanders from being blamed.
 *
 * A server that got a request at time t and answered at time e is responsible for all of [t, e),
 * even if the client woke up meanwhile for another reason. So if the waiting thread itself started
 * the vertex that answered, inside the window, that vertex explains everything since then
 * (asked_since()). The thread that receives the answer may be another one of the client's process
 * (asked_for_process()).
 *
 * A thread that polls many sources is woken by all of them, but only the last wake-up led to the
 * event that the window is about. So the earlier poll waits of such a thread are explained by the
 * thread that ended the last one. If that thread had not been asked, or comes at a rhythm of its
 * own (has_rhythm()), and merely waited for its clock or for input, the time stays with the poll
 * wait (`owner`): the poll did not wait for that.
 */
#include <string.h>

#include "argus/slice.h"
#include "base/vec.h"
#include "slice/timeline.h"

/* Deeper than any chain of waits between processes seen so far; only a limit for malformed
 * graphs. */
#define MAX_DEPTH 200
/* So many vertices of an answering thread are searched for the one that the asker started. */
#define MAX_LOOK_BACK 64

struct frame {
    uint64_t lo, hi; /* the stretch to explain; never empty */
    uint32_t thread;
    uint32_t edge; /* edge that led here */
    uint32_t link; /* that edge as a link of the account */
    /* vertex that keeps the time in which this thread only waited; ARGUS_NONE: the thread keeps
     * it */
    uint32_t owner;
    uint32_t owner_link;
    uint16_t depth;
};

enum sources { SOURCES_UNKNOWN, SOURCES_ONE, SOURCES_MANY };

struct walk {
    struct view view;
    VEC(struct frame) todo;
    VEC(struct argus_stretch) stretches;
    VEC(struct argus_link) links;
    uint8_t *sources; /* enum sources, by thread; computed when first needed */
};

/* The state of a frame while it is explained. */
struct cursor {
    struct frame frame;
    uint64_t at;          /* [at, hi) is explained */
    uint32_t vertex;      /* covers `at`, or is the last vertex before it */
    uint32_t responsible; /* edge that ended the last poll wait of a thread with many sources */
};

static bool emit(struct walk *walk, const struct frame *frame, uint32_t vertex, uint64_t from,
                 uint64_t to, enum argus_stretch_state state)
{
    if (from >= to)
        return true;
    return vec_push(&walk->stretches, (struct argus_stretch){.start_ns = from,
                                                             .end_ns = to,
                                                             .vertex = vertex,
                                                             .edge = frame->edge,
                                                             .link = frame->link,
                                                             .depth = frame->depth,
                                                             .state = (uint8_t)state});
}

/* Scales `part` of `whole` to `length`. */
static uint64_t scale(uint64_t part, uint64_t whole, uint64_t length)
{
    uint64_t scaled = (uint64_t)((unsigned __int128)part * length / whole);
    return scaled < length ? scaled : length;
}

/* Emits [from, to) of a vertex's own time. The order of states inside of it is not stored; waiting
 * for a cpu is assumed to come first, as it mostly does. */
static bool emit_own(struct walk *walk, const struct frame *frame, uint32_t vertex, uint64_t from,
                     uint64_t to)
{
    const struct argus_vertex *v = &walk->view.vertices[vertex];
    if (from >= to)
        return true;
    uint64_t whole = v->end_ns - v->start_ns;
    uint64_t runnable = scale(v->runnable_ns, whole, to - from);
    uint64_t run = scale(v->run_ns, whole, to - from);
    if (run > to - from - runnable)
        run = to - from - runnable;
    enum argus_stretch_state rest = ARGUS_STRETCH_RUNNING; /* interrupts that ran in its time */
    if (v->flags & ARGUS_VERTEX_YIELDS)
        rest = ARGUS_STRETCH_WAITING;
    else if (v->flags & ARGUS_VERTEX_GAP)
        rest = ARGUS_STRETCH_UNKNOWN;
    return emit(walk, frame, vertex, from, from + runnable, ARGUS_STRETCH_RUNNABLE) &&
           emit(walk, frame, vertex, from + runnable, from + runnable + run,
                ARGUS_STRETCH_RUNNING) &&
           emit(walk, frame, vertex, from + runnable + run, to, rest);
}

static bool emit_wait(struct walk *walk, const struct frame *frame, uint32_t vertex, uint64_t from,
                      uint64_t to)
{
    const struct argus_wait *wait = &walk->view.vertices[vertex].wait;
    bool unknown = wait->kind == ARGUS_WAIT_NONE || wait->outcome == ARGUS_OUTCOME_UNKNOWN;
    if (unknown)
        return emit(walk, frame, vertex, from, to, ARGUS_STRETCH_UNKNOWN);
    struct frame keeper = *frame;
    if (frame->owner != ARGUS_NONE) {
        keeper.link = frame->owner_link;
        keeper.edge = walk->links.data[keeper.link].edge;
        vertex = frame->owner;
    }
    return emit(walk, &keeper, vertex, from, to, ARGUS_STRETCH_WAITING);
}

static enum sources count_sources(const struct walk *walk, uint32_t thread)
{
    const struct argus_thread *t = &walk->view.threads[thread];
    uint32_t first = ARGUS_NONE;
    for (uint32_t v = t->first_vertex; v + 1 < t->first_vertex + t->vertex_count; v++) {
        if (walk->view.vertices[v].wait.kind != ARGUS_WAIT_POLL)
            continue;
        uint32_t edge = argus_graph_cause(walk->view.graph, v + 1);
        if (edge == ARGUS_NONE)
            continue;
        uint32_t waker = walk->view.vertices[walk->view.edges[edge].from].thread;
        if (waker == thread)
            continue;
        if (first != ARGUS_NONE && waker != first)
            return SOURCES_MANY;
        first = waker;
    }
    return SOURCES_ONE;
}

/* Whether the wait of `vertex` is a poll of a thread whose polls several threads have ended in this
 * trace. */
static bool has_many_sources(struct walk *walk, uint32_t vertex)
{
    const struct argus_vertex *v = &walk->view.vertices[vertex];
    if (v->wait.kind != ARGUS_WAIT_POLL)
        return false;
    uint8_t *known = &walk->sources[v->thread];
    if (*known == SOURCES_UNKNOWN)
        *known = (uint8_t)count_sources(walk, v->thread);
    return *known == SOURCES_MANY;
}

/* When `asker` started the work that led to the end of `edge`: the last time before `hi` at which
 * it made the waker's thread run. `lo` if that was earlier and the waker has worked on it since;
 * UINT64_MAX if it never did. */
static uint64_t asked_since(const struct walk *walk, uint32_t asker, const struct argus_edge *edge,
                            uint64_t lo, uint64_t hi, unsigned look_back)
{
    const struct view *view = &walk->view;
    uint32_t first = view->threads[view->vertices[edge->from].thread].first_vertex;
    uint32_t v = edge->from;
    for (unsigned i = 0; i < look_back;) {
        uint32_t cause = argus_graph_cause(view->graph, v);
        if (cause != ARGUS_NONE) {
            const struct argus_edge *began = &view->edges[cause];
            if (view->vertices[began->from].thread == asker && began->kind != ARGUS_EDGE_TIMER)
                return began->from_ns >= hi  ? UINT64_MAX
                       : began->from_ns > lo ? began->from_ns
                                             : lo;
        }
        if (v == first || view->vertices[v].start_ns <= lo)
            break;
        /* Pieces of a split vertex count as one. From an answer, go to its request and skip what is
         * in between. */
        bool piece = view->vertices[v].flags & ARGUS_VERTEX_PIECE;
        bool answers = piece && cause != ARGUS_NONE &&
                       view->edges[cause].kind == ARGUS_EDGE_DISPATCH &&
                       view->edges[cause].from < v;
        v = answers ? view->edges[cause].from : v - 1;
        i += !piece;
    }
    return UINT64_MAX;
}

/* The same for a thread that polls many sources: what it received may have been the answer to a
 * request of another thread of its process, which waits for it on this path. */
static uint64_t asked_for_process(const struct walk *walk, const struct frame *frame,
                                  const struct argus_edge *edge, uint64_t hi)
{
    const struct view *view = &walk->view;
    uint64_t asked = asked_since(walk, frame->thread, edge, frame->lo, hi, MAX_LOOK_BACK);
    uint32_t link = frame->link;
    while (asked == UINT64_MAX && walk->links.data[link].edge != ARGUS_NONE) {
        uint32_t asker = view->vertices[view->edges[walk->links.data[link].edge].to].thread;
        if (view->threads[asker].process != view->threads[frame->thread].process)
            break;
        asked = asked_since(walk, asker, edge, frame->lo, hi, MAX_LOOK_BACK);
        link = walk->links.data[link].parent;
    }
    return asked;
}

/* Moves the cursor back to `time_ns` in the same thread. */
static void move_to(const struct walk *walk, struct cursor *cursor, uint64_t time_ns)
{
    cursor->at = time_ns;
    cursor->vertex = timeline_before(&walk->view, cursor->frame.thread, time_ns);
}

/* Makes a frame one wait deeper than `parent`, and its link. False without memory. */
static bool make_frame(struct walk *walk, const struct frame *parent, uint32_t edge,
                       struct frame *ret)
{
    *ret = *parent;
    ret->thread = walk->view.vertices[walk->view.edges[edge].from].thread;
    ret->edge = edge;
    ret->link = (uint32_t)walk->links.length;
    ret->depth++;
    return vec_push(&walk->links, (struct argus_link){.edge = edge, .parent = parent->link});
}

static bool push_frame(struct walk *walk, struct frame frame, uint64_t lo, uint64_t hi)
{
    frame.lo = lo;
    frame.hi = hi;
    return lo >= hi || vec_push(&walk->todo, frame);
}

/* Whether something other than a thread spends the time between cause and effect: a timer, a disk,
 * the start of a kernel worker. */
static bool takes_its_time(uint8_t kind)
{
    return kind == ARGUS_EDGE_TIMER || kind == ARGUS_EDGE_BLOCK || kind == ARGUS_EDGE_WORK;
}

/* Explains [from, to), a wait of `vertex` that ended by another thread's timer, armed at
 * edge->from_ns, or by a disk request of that thread. After that time there was nothing to do but
 * wait; before it, the other thread's work is the explanation. */
static bool explain_timer(struct walk *walk, struct cursor *cursor, uint32_t vertex, uint32_t edge,
                          uint64_t from, uint64_t to)
{
    const struct argus_edge *e = &walk->view.edges[edge];
    uint64_t armed = e->from_ns < from ? from : e->from_ns > to ? to : e->from_ns;
    if (walk->view.vertices[e->from].thread == cursor->frame.thread)
        armed = from;
    struct frame armer;
    if (!emit_wait(walk, &cursor->frame, vertex, armed, to))
        return false;
    return armed <= from ||
           (make_frame(walk, &cursor->frame, edge, &armer) && push_frame(walk, armer, from, armed));
}

/* Whether thread `waker` woke `vertex`. */
static bool is_woken_by(const struct walk *walk, uint32_t vertex, uint32_t waker)
{
    uint32_t cause = argus_graph_cause(walk->view.graph, vertex);
    return cause != ARGUS_NONE && walk->view.edges[cause].kind != ARGUS_EDGE_TIMER &&
           walk->view.vertices[walk->view.edges[cause].from].thread == waker;
}

/* Whether `waker` wakes the thread of `vertex` at a rhythm of its own: three times in the window,
 * and three times in the same time before the window, when nothing waited for it. */
static bool has_rhythm(const struct walk *walk, uint32_t vertex, uint32_t waker, uint64_t lo)
{
    const struct argus_vertex *vertices = walk->view.vertices;
    uint32_t first = walk->view.threads[vertices[vertex].thread].first_vertex;
    uint64_t newest = 0, oldest = 0;
    unsigned inside = 0;
    for (unsigned i = 0; i < MAX_LOOK_BACK; i++, vertex--) {
        uint64_t start = vertices[vertex].start_ns;
        if (start <= lo && (inside < 3 || lo - start > newest - oldest))
            return false;
        if (is_woken_by(walk, vertex, waker)) {
            if (start <= lo)
                return true;
            newest = inside++ == 0 ? start : newest;
            oldest = start;
            if (inside == 3) /* continue with the last ones before the window */
                vertex = timeline_before(&walk->view, vertices[vertex].thread, lo + 1) + 1;
        }
        if (vertex <= first)
            return false;
    }
    return false;
}

/* Whether the source thread of `edge` was already at `time_ns` doing the work that ended in `edge`:
 * it ran that vertex, or was in a wait inside of that work. A wait for input does not count, since
 * it means that the thread was idle. */
static bool was_at_it(const struct walk *walk, const struct argus_edge *edge, uint64_t time_ns)
{
    const struct argus_vertex *vertices = walk->view.vertices;
    uint32_t v = timeline_before(&walk->view, vertices[edge->from].thread, time_ns + 1);
    uint32_t from = argus_graph_whole(walk->view.graph, edge->from);
    if (v != ARGUS_NONE && argus_graph_whole(walk->view.graph, v) == from)
        return true;
    return v != ARGUS_NONE && v + 1 == from && vertices[v].wait.kind != ARGUS_WAIT_POLL &&
           vertices[v].wait.kind != ARGUS_WAIT_READ;
}

/* Explains [from, to), a wait of `vertex` that another thread ended along `edge`. The cursor may
 * move back beyond `from` if that thread had been asked earlier. */
static bool explain_wake(struct walk *walk, struct cursor *cursor, uint32_t vertex, uint32_t edge,
                         uint64_t from, uint64_t to)
{
    const struct frame *frame = &cursor->frame;
    bool many = has_many_sources(walk, vertex);
    if (many && cursor->responsible != ARGUS_NONE &&
        was_at_it(walk, &walk->view.edges[cursor->responsible], from))
        edge = cursor->responsible;
    const struct argus_edge *e = &walk->view.edges[edge];
    uint64_t caused = e->from_ns < to ? e->from_ns : to;
    if (caused < from)
        caused = from;
    uint64_t asked = many ? asked_for_process(walk, frame, e, from)
                          : asked_since(walk, frame->thread, e, frame->lo, from, 1);
    struct frame waker;
    bool idles = many && (asked == UINT64_MAX ||
                          has_rhythm(walk, vertex, walk->view.vertices[e->from].thread, frame->lo));
    if (!make_frame(walk, frame, edge, &waker) ||
        !emit(walk, &waker, e->from, caused, to, ARGUS_STRETCH_RUNNING))
        return false;
    if (idles) {
        waker.owner = vertex;
        waker.owner_link = frame->link;
    }
    /* In the thread that is explained itself, time that it ran meanwhile stays its own. */
    bool jumps = asked != UINT64_MAX && frame->depth > 0 && (many || asked > frame->lo);
    if (jumps) {
        cursor->responsible = ARGUS_NONE;
        move_to(walk, cursor, asked);
        return push_frame(walk, waker, asked, caused);
    }
    if (many)
        cursor->responsible = edge;
    return push_frame(walk, waker, from, caused);
}

/* Explains [from, cursor->at): the wait of `vertex`, which ended (or was cut off) there. */
static bool explain_wait(struct walk *walk, struct cursor *cursor, uint32_t vertex, uint64_t from)
{
    uint64_t to = cursor->at;
    uint32_t next = timeline_next(&walk->view, vertex);
    uint32_t edge = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(walk->view.graph, next);
    cursor->at = from;
    if (edge == ARGUS_NONE || cursor->frame.depth >= MAX_DEPTH ||
        timeline_was_cut_short(&walk->view, vertex))
        return emit_wait(walk, &cursor->frame, vertex, from, to);
    if (takes_its_time(walk->view.edges[edge].kind))
        return explain_timer(walk, cursor, vertex, edge, from, to);
    if (walk->view.vertices[walk->view.edges[edge].from].thread == cursor->frame.thread)
        return emit_wait(walk, &cursor->frame, vertex, from, to);
    return explain_wake(walk, cursor, vertex, edge, from, to);
}

/* Explains [frame->lo, until), before the thread's first vertex: its creator was on its way to
 * create it. */
static bool explain_before(struct walk *walk, const struct frame *frame, uint64_t until)
{
    const struct argus_thread *t = &walk->view.threads[frame->thread];
    if (t->vertex_count == 0) {
        uint32_t from = frame->edge != ARGUS_NONE ? walk->view.edges[frame->edge].from : ARGUS_NONE;
        return emit(walk, frame, from, frame->lo, until, ARGUS_STRETCH_UNKNOWN);
    }
    uint32_t edge = argus_graph_cause(walk->view.graph, t->first_vertex);
    if (edge == ARGUS_NONE || frame->depth >= MAX_DEPTH ||
        walk->view.vertices[walk->view.edges[edge].from].thread == frame->thread)
        return emit(walk, frame, t->first_vertex, frame->lo, until, ARGUS_STRETCH_UNKNOWN);
    uint64_t caused = walk->view.edges[edge].from_ns;
    caused = caused < frame->lo ? frame->lo : caused > until ? until : caused;
    if (!emit(walk, frame, t->first_vertex, caused, until, ARGUS_STRETCH_RUNNABLE))
        return false;
    struct frame creator;
    return make_frame(walk, frame, edge, &creator) && push_frame(walk, creator, frame->lo, caused);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A kernel worker explains nothing before its work was queued: that time belongs to the thread that
 * queued it. Raises the frame's begin to that moment. */
static bool leave_to_queuer(struct walk *walk, struct frame *frame, uint32_t vertex)
{
    uint32_t edge = frame->depth > 0 && frame->depth < MAX_DEPTH
                        ? argus_graph_cause(walk->view.graph, vertex)
                        : ARGUS_NONE;
    if (edge == ARGUS_NONE || walk->view.edges[edge].kind != ARGUS_EDGE_WORK ||
        walk->view.edges[edge].from_ns <= frame->lo ||
        walk->view.vertices[walk->view.edges[edge].from].thread == frame->thread)
        return true;
    uint64_t lo = frame->lo;
    struct frame queuer;
    frame->lo = walk->view.edges[edge].from_ns;
    return make_frame(walk, frame, edge, &queuer) && push_frame(walk, queuer, lo, frame->lo);
}

static bool explain_frame(struct walk *walk, struct frame frame)
{
    struct cursor cursor = {.frame = frame, .at = frame.hi, .responsible = ARGUS_NONE};
    cursor.vertex = timeline_before(&walk->view, frame.thread, frame.hi);
    while (cursor.at > frame.lo) {
        uint32_t vertex = cursor.vertex;
        if (vertex == ARGUS_NONE)
            return explain_before(walk, &frame, cursor.at);
        const struct argus_vertex *v = &walk->view.vertices[vertex];
        if (cursor.at > v->end_ns) {
            if (!explain_wait(walk, &cursor, vertex, later(v->end_ns, frame.lo)))
                return false;
            continue;
        }
        uint64_t from = later(v->start_ns, frame.lo);
        if (!emit_own(walk, &frame, vertex, from, cursor.at))
            return false;
        cursor.at = from < cursor.at ? from : cursor.at;
        if (!leave_to_queuer(walk, &frame, vertex))
            return false;
        cursor.frame.lo = frame.lo;
        cursor.vertex =
            vertex > walk->view.threads[frame.thread].first_vertex ? vertex - 1 : ARGUS_NONE;
    }
    return true;
}

static int compare_stretches(const void *a, const void *b)
{
    const struct argus_stretch *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Merges adjacent stretches with the same content. Returns the new count. */
static size_t join_stretches(struct argus_stretch *stretches, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct argus_stretch *last = kept ? &stretches[kept - 1] : NULL;
        if (last && last->vertex == stretches[i].vertex && last->state == stretches[i].state)
            last->end_ns = stretches[i].end_ns;
        else
            stretches[kept++] = stretches[i];
    }
    return kept;
}

static bool run_walk(struct walk *walk, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
    struct frame first = {.thread = thread, .edge = ARGUS_NONE, .owner = ARGUS_NONE};
    struct argus_link none = {.edge = ARGUS_NONE, .parent = ARGUS_NONE};
    if (!walk->sources || !vec_push(&walk->links, none) || !push_frame(walk, first, from_ns, to_ns))
        return false;
    while (walk->todo.length > 0)
        if (!explain_frame(walk, walk->todo.data[--walk->todo.length]))
            return false;
    return true;
}

struct argus_error *argus_account(const struct argus_graph *graph, uint32_t thread,
                                  uint64_t from_ns, uint64_t to_ns, struct argus_account *ret)
{
    struct walk walk = {.view = view_of(graph)};
    if (thread >= walk.view.thread_count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no thread with index %u",
                                  thread);
    walk.sources = calloc(walk.view.thread_count, 1);
    bool done = run_walk(&walk, thread, from_ns, to_ns);
    free(walk.sources);
    vec_deinit(&walk.todo);
    if (!done) {
        vec_deinit(&walk.stretches);
        vec_deinit(&walk.links);
        return argus_error_memory();
    }
    struct argus_stretch *stretches = walk.stretches.data;
    size_t count = walk.stretches.length;
    if (count > 0)
        qsort(stretches, count, sizeof(*stretches), compare_stretches);
    *ret = (struct argus_account){.stretches = stretches,
                                  .count = join_stretches(stretches, count),
                                  .links = walk.links.data,
                                  .link_count = walk.links.length};
    return NULL;
}

void argus_account_deinit(struct argus_account *account)
{
    free(account->stretches);
    free(account->links);
    *account = (struct argus_account){0};
}
