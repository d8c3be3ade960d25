/* A context in which a thread waited has not become slow by itself when somebody else let it wait: the time is that
 * one's, and in that one's contexts it is found as well. What is not slow either is a wait for something that did not
 * come. What remains is the context's own: running, wanting a cpu, disks, page faults, and its own sleeps.
 *
 * The one exception: waiting for a child that was not chosen to be looked at. Who starts a program and waits for it does
 * nothing else meanwhile, and the child's contexts are not there to show it.
 */
#include "context/context_waits.h"

#define OWN_WORK ARGUS_WAITED_KINDS

/* The process whose thread ended the wait of `vertex`; ARGUS_NONE: nobody, the kernel, or not known. */
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
        return OWN_WORK; /* whoever lets it go on again has not done anything for it */
    if (process != ARGUS_NONE)
        return wait->kind == ARGUS_WAIT_CHILD && !waits->chosen[process] ? (int)OWN_WORK
                                                                         : ARGUS_WAITED_OTHERS;
    if (wait->kind == ARGUS_WAIT_SLEEP)
        return ARGUS_WAITED_SLEPT;
    bool nothing_came = wait->by_timer || wait->outcome == ARGUS_OUTCOME_TIMED_OUT;
    return nothing_came ? ARGUS_WAITED_IDLE : (int)OWN_WORK;
}

static void add(struct waits *waits, uint32_t node, uint32_t process, uint64_t ns)
{
    uint64_t key = (uint64_t)node << 32 | process;
    uint32_t at = idmap_get(&waits->by_node, key);
    if (at == IDMAP_NONE) {
        at = (uint32_t)waits->table.length;
        struct argus_context_wait made = {.node = node, .process = process};
        if (!vec_push(&waits->table, made) || !idmap_put(&waits->by_node, key, at)) {
            waits->no_memory = true;
            return;
        }
    }
    waits->table.data[at].ns += ns;
    waits->table.data[at].count++;
}

static void note_one(struct waits *waits, struct tree *tree, uint32_t vertex, uint32_t node,
                     uint64_t ns)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(waits->graph, &vertices);
    uint32_t process = ended_by(waits, vertex);
    int kind = kind_of_wait(waits, &vertices[vertex], process);
    if (kind < ARGUS_WAITED_KINDS)
        tree->nodes.data[node].waited_ns[kind] += ns;
    if (process != ARGUS_NONE)
        add(waits, node, process, ns);
}

void waits_note(struct waits *waits, struct tree *tree, uint32_t thread, uint32_t node,
                uint64_t from_ns, uint64_t to_ns, uint32_t *cursor)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    argus_graph_vertices(waits->graph, &vertices);
    argus_graph_threads(waits->graph, &threads);
    uint32_t first = threads[thread].first_vertex, count = threads[thread].vertex_count;
    while (*cursor < count && vertices[first + *cursor].wait.end_ns <= from_ns)
        (*cursor)++;
    for (uint32_t i = *cursor; i < count && vertices[first + i].end_ns < to_ns; i++) {
        const struct argus_vertex *vertex = &vertices[first + i];
        uint64_t begin_ns = vertex->end_ns > from_ns ? vertex->end_ns : from_ns;
        /* the way from the wake-up to a cpu is part of the wait */
        bool is_last = i + 1 == count || vertex[1].end_ns >= to_ns;
        uint64_t end_ns = is_last || vertex->wait.end_ns > to_ns ? to_ns : vertex->wait.end_ns;
        if (vertex->wait.kind != ARGUS_WAIT_NONE && begin_ns < end_ns)
            note_one(waits, tree, first + i, node, end_ns - begin_ns);
    }
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

void waits_finish(struct waits *waits)
{
    if (waits->table.length)
        qsort(waits->table.data, waits->table.length, sizeof(*waits->table.data), by_node);
}

void waits_deinit(struct waits *waits)
{
    vec_deinit(&waits->table);
    idmap_deinit(&waits->by_node);
}
