/* If a thread waited for another thread, its context has not become slow by itself: the other
 * thread's contexts also contain that time, and are charged with it. A wait for something that did
 * not come is not slow either. The rest is the context's own time: running, disks, page faults, and
 * its own sleeps. A poll that was ended from outside the trace, by another machine or a watched
 * file, counts as a sleep: an event loop may wait for such events for any time, but each wait
 * should not be longer than in the base.
 *
 * A thread that a language runtime's scheduler has no task for waits for nobody: its tasks do, and
 * which of them is not in the trace (stack_beginnings.c). Nor is that time own work.
 *
 * Some locks, and answers, are waited for in pieces: the waiter looks again after a time-out. If
 * another thread ends the last piece, all of them are one wait for that thread (wait_pieces.h).
 *
 * There is one exception: a wait for a child process that was not chosen for the analysis counts as
 * own time. The parent does nothing else meanwhile, and the child's contexts are not in the tree.
 */
#include "context/context_waits.h"

#include "argus/slice.h"
#include "context/command_scope.h"
#include "context/led_lives.h"

/* Shorter waits (less than a ten-thousandth of the trace) are charged to the process that ended
 * them. So the work is bounded by the number of threads, and no visible share changes. */
#define SHORT 10000

/* The process whose thread ended the wait of `vertex`; ARGUS_NONE: none, the kernel, or unknown. */
static uint32_t ended_by(const struct waits *waits, uint32_t vertex)
{
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    const struct argus_thread *threads;
    const struct argus_process *processes;
    size_t count = argus_graph_vertices(waits->graph, &vertices);
    argus_graph_edges(waits->graph, &edges);
    argus_graph_threads(waits->graph, &threads);
    argus_graph_processes(waits->graph, &processes);
    if (vertex + 1 >= count || vertices[vertex + 1].thread != vertices[vertex].thread)
        return ARGUS_NONE;
    uint32_t cause = argus_graph_cause(waits->graph, vertex + 1);
    if (cause == ARGUS_NONE || edges[cause].kind == ARGUS_EDGE_TIMER ||
        edges[cause].kind == ARGUS_EDGE_BLOCK || edges[cause].kind == ARGUS_EDGE_WORK)
        return ARGUS_NONE;
    uint32_t thread = vertices[edges[cause].from].thread;
    if (thread == vertices[vertex].thread || processes[threads[thread].process].kernel)
        return ARGUS_NONE;
    return threads[thread].process;
}

static int kind_of_wait(const struct waits *waits, const struct argus_vertex *vertex,
                        uint32_t process)
{
    const struct argus_wait *wait = &vertex->wait;
    if (wait->kind == ARGUS_WAIT_STOPPED)
        return ARGUS_WAITED_DEVICE; /* the thread that resumes it did no work on its behalf */
    if (process != ARGUS_NONE)
        return wait->kind == ARGUS_WAIT_CHILD && !waits->chosen[process] ? ARGUS_WAITED_DEVICE
                                                                         : ARGUS_WAITED_OTHERS;
    if (wait->kind == ARGUS_WAIT_SLEEP)
        return ARGUS_WAITED_SLEPT;
    if (wait->by_timer || wait->outcome == ARGUS_OUTCOME_TIMED_OUT)
        return ARGUS_WAITED_IDLE;
    return wait->kind == ARGUS_WAIT_POLL ? ARGUS_WAITED_SLEPT : ARGUS_WAITED_DEVICE;
}

/* The row of a node and a process; NULL without memory. Valid until the next row is created. */
static struct argus_context_wait *row_of(struct waits *waits, uint32_t node, uint32_t process)
{
    uint64_t key = (uint64_t)node << 32 | process;
    uint32_t at = idmap_get(&waits->by_node, key);
    if (at == IDMAP_NONE) {
        at = (uint32_t)waits->table.length;
        struct argus_context_wait made = {.node = node, .process = process};
        if (!vec_push(&waits->table, made) || !idmap_put(&waits->by_node, key, at)) {
            waits->no_memory = true;
            return NULL;
        }
    }
    return &waits->table.data[at];
}

static void add(struct waits *waits, uint32_t node, uint32_t process, uint64_t ns)
{
    struct argus_context_wait *row = row_of(waits, node, process);
    if (row)
        row->ns += ns;
}

/* Charges what other processes did meanwhile. The thread's own time until it got a CPU, the
 * kernel's work and unknown time are charged to none. */
static void add_account(struct waits *waits, uint32_t thread, uint32_t node,
                        const struct argus_account *account)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_vertices(waits->graph, &vertices);
    argus_graph_threads(waits->graph, &threads);
    argus_graph_processes(waits->graph, &processes);
    for (size_t i = 0; i < account->count; i++) {
        const struct argus_stretch *stretch = &account->stretches[i];
        uint32_t other =
            stretch->vertex == ARGUS_NONE ? ARGUS_NONE : vertices[stretch->vertex].thread;
        if (other == ARGUS_NONE || other == thread || stretch->state == ARGUS_STRETCH_UNKNOWN ||
            processes[threads[other].process].kernel)
            continue;
        add(waits, node, threads[other].process, stretch->end_ns - stretch->start_ns);
    }
}

static void share_out(struct waits *waits, uint32_t thread, uint32_t node, uint32_t ender,
                      const struct waits_stretch *wait)
{
    struct argus_account account;
    uint64_t whole = argus_graph_end_ns(waits->graph) - argus_graph_start_ns(waits->graph);
    if (wait->to_ns - wait->from_ns < whole / SHORT) {
        add(waits, node, ender, wait->woken_ns - wait->from_ns);
        return;
    }
    if (waits->error)
        return;
    waits->error = argus_account(waits->graph, thread, wait->from_ns, wait->to_ns, &account);
    if (waits->error)
        return;
    add_account(waits, thread, node, &account);
    argus_account_deinit(&account);
}

/* A scheduler's thread without a task waits for any task: the thread that ends that wait was not
 * late. */
static int kind_at(const struct argus_context_node *node, int kind)
{
    bool is_wait =
        kind == ARGUS_WAITED_OTHERS || kind == ARGUS_WAITED_IDLE || kind == ARGUS_WAITED_SLEPT;
    return is_wait && node->in_scheduler ? ARGUS_WAITED_SCHEDULER : kind;
}

static bool is_led(struct waits *waits, uint32_t thread)
{
    uint32_t known = idmap_get(&waits->led_lives, thread);
    if (known == IDMAP_NONE) {
        const struct argus_thread *threads;
        argus_graph_threads(waits->graph, &threads);
        bool is_server = waits->scope && waits->scope[threads[thread].process] == SCOPE_SERVER;
        known = led_life_is(waits->graph, thread, is_server) ? 2 : 1;
        waits->no_memory |= !idmap_put(&waits->led_lives, thread, known);
    }
    return known == 2;
}

/* A thread waits at a node of `sleeps`. */
static void note_life(struct waits *waits, const struct waits_place *place, int estimate)
{
    uint32_t node = place->node[estimate];
    uint64_t key = (uint64_t)node << 32 | place->thread;
    struct idmap *seen = &waits->seen_lives[estimate];
    if (idmap_get(seen, key) != IDMAP_NONE)
        return;
    waits->no_memory |= !idmap_put(seen, key, 1);
    sleeps_add_life(&waits->sleeps[estimate], node,
                    led_life_ns(waits->graph, place->thread, place->from_ns),
                    is_led(waits, place->thread));
}

static void note_ns(struct waits *waits, struct tree *tree, struct waits_place place, int kind,
                    uint64_t ns)
{
    for (int k = 0; ns && k < ARGUS_ESTIMATES; k++) {
        struct argus_context_node *node = &tree->nodes.data[place.node[k]];
        int kind_here = kind_at(node, kind);
        node->waited_ns[k][kind_here] += ns;
        sleeps_note(&waits->sleeps[k], place.node[k], kind_here, ns);
        if (kind_here != ARGUS_WAITED_CPU)
            note_life(waits, &place, k);
    }
}

static void note_waker(struct waits *waits, uint32_t node, uint32_t waker, uint64_t ns)
{
    uint64_t key = (uint64_t)node << 32 | waker;
    uint32_t at = idmap_get(&waits->by_waker, key);
    if (at == IDMAP_NONE) {
        at = (uint32_t)waits->wakers.length;
        struct argus_context_waker made = {.node = node, .waker = waker};
        if (!vec_push(&waits->wakers, made) || !idmap_put(&waits->by_waker, key, at)) {
            waits->no_memory = true;
            return;
        }
    }
    waits->wakers.data[at].ns += ns;
    waits->wakers.data[at].count++;
}

/* A wait of a vertex, and the process that ended it, ARGUS_NONE if none did. Pieces of `pieces_ns`
 * in sum timed out before it. */
static void note_ender(struct waits *waits, uint32_t vertex, uint32_t node, uint32_t process,
                       const struct waits_stretch *wait, uint64_t pieces_ns)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(waits->graph, &vertices);
    struct argus_context_wait *row = process == ARGUS_NONE ? NULL : row_of(waits, node, process);
    if (!row)
        return;
    row->ended_ns += wait->to_ns - wait->from_ns + pieces_ns;
    row->ns += pieces_ns;
    row->count++;
    if (wait->waker != ARGUS_NONE)
        note_waker(waits, node, wait->waker, wait->woken_ns - wait->from_ns + pieces_ns);
    share_out(waits, vertices[vertex].thread, node, process, wait);
}

/* A process has ended the wait at `place`: what timed out there just before was part of it. */
static void join_pieces(struct waits *waits, struct tree *tree, const struct wait_pieces *pieces,
                        const struct waits_place *place)
{
    for (int k = 0; k < ARGUS_ESTIMATES; k++) {
        uint64_t *waited_ns = tree->nodes.data[place->node[k]].waited_ns[k];
        if (waited_ns[ARGUS_WAITED_IDLE] < pieces->ns)
            continue;
        waited_ns[ARGUS_WAITED_IDLE] -= pieces->ns;
        waited_ns[ARGUS_WAITED_OTHERS] += pieces->ns;
        sleeps_join(&waits->sleeps[k], place->node[k], pieces);
    }
}

static bool has_pieces(const struct argus_vertex *vertex)
{
    return vertex->wait.kind == ARGUS_WAIT_FUTEX || vertex->wait.kind == ARGUS_WAIT_POLL;
}

/* Notes the wait that ends `vertex`. Returns how long its pieces were that timed out before. Where
 * it was interrupted by a signal, what it waited for did not happen: it has no pieces. */
static uint64_t note_piece(struct waits *waits, struct tree *tree, struct waits_thread *thread,
                           const struct waits_place *place, int kind, uint32_t vertex,
                           const struct waits_stretch *wait)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(waits->graph, &vertices);
    uint64_t pieces_ns = 0;
    if (has_pieces(&vertices[vertex]) && kind == ARGUS_WAITED_IDLE) {
        wait_pieces_add(&thread->pieces, waits->graph, place, vertex,
                        wait->woken_ns - wait->from_ns);
        return 0;
    }
    if (has_pieces(&vertices[vertex]) && kind == ARGUS_WAITED_OTHERS &&
        vertices[vertex].wait.outcome != ARGUS_OUTCOME_INTERRUPTED &&
        wait_pieces_go_on(&thread->pieces, waits->graph, place, vertex)) {
        join_pieces(waits, tree, &thread->pieces, place);
        pieces_ns = thread->pieces.ns;
    }
    thread->pieces.count = 0;
    return pieces_ns;
}

static void note_one(struct waits *waits, struct tree *tree, uint32_t vertex,
                     struct waits_place place, struct waits_stretch wait,
                     struct waits_thread *thread)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(waits->graph, &vertices);
    uint32_t process = ended_by(waits, vertex);
    bool in_scheduler = tree->nodes.data[place.node[ARGUS_CONSERVATIVE]].in_scheduler;
    int kind = kind_of_wait(waits, &vertices[vertex], process);
    if (in_scheduler && vertices[vertex].wait.kind == ARGUS_WAIT_FUTEX)
        kind = ARGUS_WAITED_SCHEDULER; /* also if nothing is known of its end */
    wait.woken_ns = vertices[vertex].wait.end_ns;
    if (wait.woken_ns < wait.from_ns || wait.woken_ns > wait.to_ns)
        wait.woken_ns = wait.to_ns;
    note_ns(waits, tree, place, kind, wait.woken_ns - wait.from_ns);
    note_ns(waits, tree, place, ARGUS_WAITED_CPU, wait.to_ns - wait.woken_ns);
    uint64_t pieces_ns = note_piece(waits, tree, thread, &place, kind, vertex, &wait);
    if (!in_scheduler)
        note_ender(waits, vertex, place.node[ARGUS_CONSERVATIVE], process, &wait, pieces_ns);
}

/* An iteration in a yield run. The waits in the run, except the last one, are not waits of the
 * graph: the thread's own timers ended them. */
static bool note_turn(struct waits *waits, struct tree *tree, uint32_t number,
                      struct waits_place place, const struct waits_stretch *stretch,
                      struct waits_thread *thread)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(waits->graph, &vertices);
    const struct argus_vertex *vertex = &vertices[number];
    if (vertex->repeat < 2 || stretch->from_ns < vertex->start_ns ||
        stretch->to_ns > vertex->end_ns)
        return false;
    bool sleeps = vertex->wait.kind == ARGUS_WAIT_SLEEP;
    note_ns(waits, tree, place, sleeps ? ARGUS_WAITED_SLEPT : ARGUS_WAITED_IDLE,
            stretch->woken_ns - stretch->from_ns);
    note_ns(waits, tree, place, ARGUS_WAITED_CPU, stretch->to_ns - stretch->woken_ns);
    if (has_pieces(vertex))
        wait_pieces_add(&thread->pieces, waits->graph, &place, number,
                        stretch->woken_ns - stretch->from_ns);
    return true;
}

/* Notes the waits of the graph's vertices in a period. Returns how much time they cover. */
static uint64_t note_vertices(struct waits *waits, struct tree *tree, struct waits_place place,
                              const struct waits_stretch *stretch, struct waits_thread *thread)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    uint64_t noted_ns = 0, to_ns = stretch->to_ns;
    argus_graph_vertices(waits->graph, &vertices);
    argus_graph_threads(waits->graph, &threads);
    uint32_t first = threads[place.thread].first_vertex, count = threads[place.thread].vertex_count;
    for (uint32_t i = thread->cursor; i < count && vertices[first + i].end_ns < to_ns; i++) {
        const struct argus_vertex *vertex = &vertices[first + i];
        /* the time from the wake-up until it got a CPU is part of the wait, but counts as waiting
         * for a CPU */
        bool is_last = i + 1 == count || vertex[1].end_ns >= to_ns;
        struct waits_stretch wait = {
            .from_ns = vertex->end_ns > stretch->from_ns ? vertex->end_ns : stretch->from_ns,
            .to_ns = is_last || vertex->wait.end_ns > to_ns ? to_ns : vertex->wait.end_ns,
            .waker = is_last ? stretch->waker : ARGUS_NONE,
        };
        if (vertex->wait.kind == ARGUS_WAIT_NONE || wait.from_ns >= wait.to_ns)
            continue;
        note_one(waits, tree, first + i, place, wait, thread);
        noted_ns += wait.to_ns - wait.from_ns;
    }
    return noted_ns;
}

void waits_note(struct waits *waits, struct tree *tree, struct waits_place place,
                const struct waits_stretch *stretch, struct waits_thread *thread)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    uint64_t whole_ns = stretch->to_ns - stretch->from_ns;
    argus_graph_vertices(waits->graph, &vertices);
    argus_graph_threads(waits->graph, &threads);
    if (stretch->preempted) {
        note_ns(waits, tree, place, ARGUS_WAITED_CPU, whole_ns);
        return;
    }
    uint32_t first = threads[place.thread].first_vertex, count = threads[place.thread].vertex_count;
    while (thread->cursor < count &&
           vertices[first + thread->cursor].wait.end_ns <= stretch->from_ns)
        thread->cursor++;
    if (thread->cursor < count &&
        note_turn(waits, tree, first + thread->cursor, place, stretch, thread))
        return;
    uint64_t noted_ns = note_vertices(waits, tree, place, stretch, thread);
    uint64_t late_ns = noted_ns ? 0 : stretch->to_ns - stretch->woken_ns;
    note_ns(waits, tree, place, ARGUS_WAITED_DEVICE, whole_ns - noted_ns - late_ns);
    note_ns(waits, tree, place, ARGUS_WAITED_CPU, late_ns);
}

static int by_waker(const void *left, const void *right)
{
    const struct argus_context_waker *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->waker < b->waker ? -1 : a->waker > b->waker;
}

static int by_node(const void *left, const void *right)
{
    const struct argus_context_wait *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

struct argus_error *waits_finish(struct waits *waits)
{
    struct argus_error *error = waits->error;
    waits->error = NULL;
    if (waits->table.length)
        qsort(waits->table.data, waits->table.length, sizeof(*waits->table.data), by_node);
    if (waits->wakers.length)
        qsort(waits->wakers.data, waits->wakers.length, sizeof(*waits->wakers.data), by_waker);
    return error;
}

void waits_deinit(struct waits *waits)
{
    argus_error_destroy(waits->error);
    vec_deinit(&waits->table);
    idmap_deinit(&waits->by_node);
    idmap_deinit(&waits->led_lives);
    for (int k = 0; k < ARGUS_ESTIMATES; k++) {
        sleeps_deinit(&waits->sleeps[k]);
        idmap_deinit(&waits->seen_lives[k]);
    }
    vec_deinit(&waits->wakers);
    idmap_deinit(&waits->by_waker);
}
