/* The invariants of a graph, as a table, and the loops that verify them.
 *
 * The graph may come from a damaged file, so an invariant trusts only what it has checked itself:
 * it compares an index with the length of its array first. If the index is out of range, another
 * row of the table reports that.
 *
 * To add one: a function that tells whether the invariant holds for element `id` of a domain, and a
 * row. A test (tests/graph/test_check.c) damages a graph in every way it knows. An invariant for
 * which it has no way is not shown to find anything.
 */
#include "argus/inspect.h"
#include "graph/graph_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct check {
    const struct argus_graph *graph;
    uint64_t *made; /* owned: number of edges that each rule made */
    size_t vertices, edges, threads, stacks;
};

static bool in_array(uint64_t first, uint64_t count, size_t length)
{
    return first <= length && count <= length - first;
}

static const struct argus_vertex *vertex_of(const struct check *check, uint32_t id)
{
    return &check->graph->vertices.data[id];
}

static const struct argus_edge *edge_of(const struct check *check, uint32_t id)
{
    return &check->graph->edges.data[id];
}

static uint64_t until_ns(const struct argus_vertex *vertex)
{
    return vertex->wait.kind ? vertex->wait.end_ns : vertex->end_ns;
}

static bool is_stack(const struct check *check, uint32_t stack)
{
    return stack == ARGUS_NONE || stack < check->stacks;
}

/* --- vertices --- */

static bool vertex_thread(const struct check *check, uint32_t id)
{
    const struct argus_vertex *vertex = vertex_of(check, id);
    if (vertex->thread >= check->threads)
        return false;
    const struct argus_thread *thread = &check->graph->machine.threads.data[vertex->thread];
    return id >= thread->first_vertex && id - thread->first_vertex < thread->vertex_count;
}

static bool vertex_alive(const struct check *check, uint32_t id)
{
    return vertex_of(check, id)->repeat > 0;
}

static bool vertex_times(const struct check *check, uint32_t id)
{
    const struct argus_vertex *vertex = vertex_of(check, id);
    return vertex->start_ns <= vertex->end_ns && vertex->end_ns <= until_ns(vertex) &&
           until_ns(vertex) <= check->graph->end_ns;
}

static bool vertex_order(const struct check *check, uint32_t id)
{
    const struct argus_vertex *vertex = vertex_of(check, id);
    bool last = id + 1 == check->vertices || vertex[1].thread != vertex->thread;
    return last || vertex[1].start_ns >= until_ns(vertex);
}

static bool vertex_run(const struct check *check, uint32_t id)
{
    const struct argus_vertex *vertex = vertex_of(check, id);
    uint64_t lasted_ns = vertex->end_ns - vertex->start_ns;
    return vertex->start_ns > vertex->end_ns ||
           (vertex->run_ns <= lasted_ns && vertex->runnable_ns <= lasted_ns - vertex->run_ns);
}

static bool vertex_ops(const struct check *check, uint32_t id)
{
    const struct argus_vertex *vertex = vertex_of(check, id);
    return in_array(vertex->first_op, vertex->op_count, check->graph->ops.length);
}

static bool vertex_samples(const struct check *check, uint32_t id)
{
    const struct argus_vertex *vertex = vertex_of(check, id);
    if (!in_array(vertex->first_sample, vertex->sample_count, check->graph->samples.length))
        return false;
    const struct argus_sample *samples = check->graph->samples.data + vertex->first_sample;
    for (uint32_t i = 1; i < vertex->sample_count; i++)
        if (samples[i].time_ns < samples[i - 1].time_ns)
            return false;
    return true;
}

static bool vertex_wait(const struct check *check, uint32_t id)
{
    const struct argus_wait *wait = &vertex_of(check, id)->wait;
    return wait->kind <= ARGUS_WAIT_OTHER && wait->outcome <= ARGUS_OUTCOME_UNKNOWN &&
           is_stack(check, wait->user_stack) && is_stack(check, wait->kernel_stack) &&
           (wait->first_detail == ARGUS_NONE || wait->first_detail < check->graph->details.length);
}

static bool vertex_in(const struct check *check, uint32_t id)
{
    const uint32_t *first = check->graph->in_first;
    return (id > 0 || first[0] == 0) && first[id] <= first[id + 1] && first[id + 1] <= check->edges;
}

static bool vertex_out(const struct check *check, uint32_t id)
{
    const struct argus_graph *graph = check->graph;
    const uint32_t *first = graph->out_first;
    if ((id == 0 && first[0] != 0) || first[id] > first[id + 1] || first[id + 1] > check->edges)
        return false;
    for (uint32_t i = first[id]; i < first[id + 1]; i++) {
        uint32_t edge = graph->out_edges[i];
        if (edge >= check->edges || edge_of(check, edge)->from != id)
            return false;
        if (i == first[id])
            continue;
        uint32_t before = graph->out_edges[i - 1];
        uint64_t from_ns = edge_of(check, edge)->from_ns;
        uint64_t before_ns = edge_of(check, before)->from_ns;
        if (before_ns > from_ns || (before_ns == from_ns && before >= edge))
            return false;
    }
    return true;
}

/* --- edges --- */

static bool edge_ends(const struct check *check, uint32_t id)
{
    const struct argus_edge *edge = edge_of(check, id);
    return edge->from < check->vertices && edge->to < check->vertices && edge->from != edge->to;
}

static bool edge_cause(const struct check *check, uint32_t id)
{
    const struct argus_edge *edge = edge_of(check, id);
    /* edge_ends() reports it */
    if (edge->from >= check->vertices)
        return true;
    const struct argus_vertex *from = vertex_of(check, edge->from);
    return edge->from_ns >= from->start_ns && edge->from_ns <= from->end_ns;
}

static bool edge_effect(const struct check *check, uint32_t id)
{
    const struct argus_edge *edge = edge_of(check, id);
    if (edge->to >= check->vertices)
        return true;
    const struct argus_vertex *to = vertex_of(check, edge->to);
    return edge->to_ns >= to->start_ns && edge->to_ns <= to->end_ns;
}

static bool edge_forward(const struct check *check, uint32_t id)
{
    return edge_of(check, id)->from_ns <= edge_of(check, id)->to_ns;
}

static bool edge_kind(const struct check *check, uint32_t id)
{
    const struct argus_rule *rules;
    return edge_of(check, id)->kind < ARGUS_EDGE_KINDS &&
           edge_of(check, id)->rule < argus_graph_rules(check->graph, &rules);
}

static bool edge_stack(const struct check *check, uint32_t id)
{
    return is_stack(check, edge_of(check, id)->stack);
}

static bool edge_place(const struct check *check, uint32_t id)
{
    const struct argus_edge *edge = edge_of(check, id);
    const uint32_t *first = check->graph->in_first;
    if (edge->to >= check->vertices)
        return true;
    return id >= first[edge->to] && id < first[edge->to + 1];
}

static bool edge_order(const struct check *check, uint32_t id)
{
    const struct argus_edge *edge = edge_of(check, id);
    return id == 0 || edge[-1].to < edge->to ||
           (edge[-1].to == edge->to && edge[-1].to_ns <= edge->to_ns);
}

static bool edge_sequence(const struct check *check, uint32_t id)
{
    const struct argus_edge *edge = edge_of(check, id);
    if (edge->kind != ARGUS_EDGE_SEQUENCE || !edge_ends(check, id))
        return true;
    return edge->from + 1 == edge->to &&
           vertex_of(check, edge->from)->thread == vertex_of(check, edge->to)->thread;
}

/* --- the rest --- */

static bool thread_process(const struct check *check, uint32_t id)
{
    return check->graph->machine.threads.data[id].process < check->graph->machine.processes.length;
}

static bool thread_vertices(const struct check *check, uint32_t id)
{
    const struct argus_thread *thread = &check->graph->machine.threads.data[id];
    return in_array(thread->first_vertex, thread->vertex_count, check->vertices) &&
           (!thread->vertex_count ||
            check->graph->vertices.data[thread->first_vertex].thread == id);
}

static bool callback_place(const struct check *check, uint32_t id)
{
    const struct argus_callback *callback = &check->graph->callbacks.data[id];
    if (callback->vertex >= check->vertices || callback->what > ARGUS_CALLBACK_MARK)
        return false;
    return id == 0 || callback[-1].vertex < callback->vertex ||
           (callback[-1].vertex == callback->vertex && callback[-1].time_ns <= callback->time_ns);
}

static bool detail_place(const struct check *check, uint32_t id)
{
    const struct argus_wait_detail *detail = &check->graph->details.data[id];
    return detail->kind <= ARGUS_DETAIL_FROZEN &&
           (detail->next == ARGUS_NONE ||
            (detail->next < check->graph->details.length && detail->next != id));
}

static bool sample_stacks(const struct check *check, uint32_t id)
{
    const struct argus_sample *sample = &check->graph->samples.data[id];
    return is_stack(check, sample->user_stack) && is_stack(check, sample->kernel_stack);
}

static bool use_place(const struct check *check, uint32_t id)
{
    const struct argus_object_use *use = &check->graph->uses.data[id];
    return use->thread < check->threads &&
           (id == 0 || use[-1].inode < use->inode ||
            (use[-1].inode == use->inode && use[-1].thread < use->thread));
}

static bool visit_place(const struct check *check, uint32_t id)
{
    const struct argus_visits *visits = &check->graph->visits.data[id];
    return visits->thread < check->threads && visits->first_ns <= visits->last_ns &&
           (id == 0 || visits[-1].thread < visits->thread ||
            (visits[-1].thread == visits->thread && visits[-1].first_ns <= visits->first_ns));
}

static bool unread_place(const struct check *check, uint32_t id)
{
    const struct argus_unread *unread = &check->graph->unread.data[id];
    return unread->sender < check->threads && unread->receiver < check->threads &&
           (id == 0 || unread[-1].receiver < unread->receiver ||
            (unread[-1].receiver == unread->receiver && unread[-1].sent_ns <= unread->sent_ns));
}

static bool rule_count(const struct check *check, uint32_t id)
{
    const struct argus_rule *rules;
    argus_graph_rules(check->graph, &rules);
    return strcmp(rules[id].stage, "edge") != 0 || rules[id].count == check->made[id];
}

static bool whole_adjacency(const struct check *check, uint32_t id)
{
    (void)id;
    return check->graph->in_first[check->vertices] == check->edges &&
           check->graph->out_first[check->vertices] == check->edges;
}

static bool whole_threads(const struct check *check, uint32_t id)
{
    (void)id;
    uint64_t sum = 0;
    for (size_t i = 0; i < check->threads; i++)
        sum += check->graph->machine.threads.data[i].vertex_count;
    return sum == check->vertices;
}

static bool whole_times(const struct check *check, uint32_t id)
{
    (void)id;
    return check->graph->start_ns <= check->graph->end_ns;
}

/* --- the table --- */

/* What an invariant is about. Each domain has its own kind of id, by which violations are
 * reported. */
enum domain {
    OF_GRAPH,
    OF_THREAD,
    OF_VERTEX,
    OF_EDGE,
    OF_CALLBACK,
    OF_DETAIL,
    OF_SAMPLE,
    OF_USE,
    OF_VISITS,
    OF_UNREAD,
    OF_RULE
};

struct invariant {
    const char *name;
    enum domain domain;
    bool (*holds)(const struct check *check, uint32_t id);
    const char *description;
};

static const struct invariant invariants[] = {
    {"graph.adjacency", OF_GRAPH, whole_adjacency,
     "incoming and outgoing lists name as many edges as there are"},
    {"graph.threads", OF_GRAPH, whole_threads, "the threads have all vertices between them"},
    {"graph.times", OF_GRAPH, whole_times, "the trace begins before it ends"},
    {"thread.process", OF_THREAD, thread_process, "its process exists"},
    {"thread.vertices", OF_THREAD, thread_vertices, "its vertices exist and are its own"},
    {"vertex.thread", OF_VERTEX, vertex_thread, "it is among the vertices of its thread"},
    {"vertex.alive", OF_VERTEX, vertex_alive, "it stands for at least one segment"},
    {"vertex.times", OF_VERTEX, vertex_times, "it begins, ends and stops waiting in this order"},
    {"vertex.order", OF_VERTEX, vertex_order,
     "its wait ends before its thread's next vertex begins"},
    {"vertex.run", OF_VERTEX, vertex_run, "it does not run for longer than it lasts"},
    {"vertex.ops", OF_VERTEX, vertex_ops, "its operations exist"},
    {"vertex.samples", OF_VERTEX, vertex_samples, "its samples exist and are in time order"},
    {"vertex.wait", OF_VERTEX, vertex_wait,
     "its wait has a kind, an outcome and stacks that exist"},
    {"vertex.in", OF_VERTEX, vertex_in, "its incoming edges are in range"},
    {"vertex.out", OF_VERTEX, vertex_out,
     "its outgoing edges are its own, each once, in time order"},
    {"edge.ends", OF_EDGE, edge_ends, "it joins two vertices that exist"},
    {"edge.cause", OF_EDGE, edge_cause, "its cause is inside the vertex that it leaves"},
    {"edge.effect", OF_EDGE, edge_effect, "its effect is inside the vertex that it leads to"},
    {"edge.forward", OF_EDGE, edge_forward, "it does not go backward in time"},
    {"edge.kind", OF_EDGE, edge_kind, "its kind and its rule exist"},
    {"edge.stack", OF_EDGE, edge_stack, "its stack exists"},
    {"edge.place", OF_EDGE, edge_place, "it is among the incoming edges of the vertex it leads to"},
    {"edge.order", OF_EDGE, edge_order, "edges are sorted by target and time"},
    {"edge.sequence", OF_EDGE, edge_sequence, "a sequence edge joins neighbours of one thread"},
    {"callback.place", OF_CALLBACK, callback_place, "its vertex exists, and they are in order"},
    {"detail.place", OF_DETAIL, detail_place, "the next detail of the same wait exists"},
    {"sample.stacks", OF_SAMPLE, sample_stacks, "its stacks exist"},
    {"use.place", OF_USE, use_place, "its thread exists, and they are in order"},
    {"visits.place", OF_VISITS, visit_place, "their thread exists, and they are in order"},
    {"unread.place", OF_UNREAD, unread_place, "its threads exist, and they are in order"},
    {"rule.count", OF_RULE, rule_count, "an edge rule counts the edges that it made"},
};
enum { INVARIANTS = sizeof(invariants) / sizeof(*invariants) };

static size_t domain_size(const struct check *check, enum domain domain)
{
    const struct argus_rule *rules;
    switch (domain) {
    case OF_THREAD:
        return check->threads;
    case OF_VERTEX:
        return check->vertices;
    case OF_EDGE:
        return check->edges;
    case OF_CALLBACK:
        return check->graph->callbacks.length;
    case OF_DETAIL:
        return check->graph->details.length;
    case OF_SAMPLE:
        return check->graph->samples.length;
    case OF_USE:
        return check->graph->uses.length;
    case OF_VISITS:
        return check->graph->visits.length;
    case OF_UNREAD:
        return check->graph->unread.length;
    case OF_RULE:
        return argus_graph_rules(check->graph, &rules);
    case OF_GRAPH:
        break;
    }
    return 1;
}

static void describe(const struct check *check, const struct invariant *row, uint32_t id,
                     char *buffer, size_t bytes)
{
    const struct argus_rule *rules;
    char who[64] = "the graph";
    argus_graph_rules(check->graph, &rules);
    if (row->domain == OF_THREAD)
        snprintf(who, sizeof(who), "thread %" PRIu64, check->graph->machine.threads.data[id].tid);
    else if (row->domain == OF_VERTEX)
        snprintf(who, sizeof(who), "v%" PRIu32, id);
    else if (row->domain == OF_EDGE)
        snprintf(who, sizeof(who), "edge %" PRIu32 " (v%" PRIu32 " to v%" PRIu32 ")", id,
                 edge_of(check, id)->from, edge_of(check, id)->to);
    else if (row->domain == OF_RULE)
        snprintf(who, sizeof(who), "rule %s", rules[id].name);
    else if (row->domain != OF_GRAPH)
        snprintf(who, sizeof(who), "%.*s %" PRIu32, (int)strcspn(row->name, "."), row->name, id);
    snprintf(buffer, bytes, "%s: not true that %s", who, row->description);
}

/* --- the loops --- */

static bool check_begin(struct check *check, const struct argus_graph *graph)
{
    const struct argus_rule *rules;
    size_t count = argus_graph_rules(graph, &rules);
    *check = (struct check){
        .graph = graph,
        .made = calloc(count + 1, sizeof(*check->made)),
        .vertices = graph->vertices.length,
        .edges = graph->edges.length,
        .threads = graph->machine.threads.length,
        .stacks = graph->stacks.stacks.length,
    };
    if (!check->made)
        return false;
    for (size_t i = 0; i < check->edges; i++)
        if (graph->edges.data[i].rule < count)
            check->made[graph->edges.data[i].rule]++;
    return true;
}

/* Counts the violations of one row. `ret` gets the ids of the first `most` of them. */
static uint64_t count_violations(const struct check *check, const struct invariant *row,
                                 uint32_t *ret, size_t most)
{
    size_t size = domain_size(check, row->domain);
    uint64_t count = 0;
    for (size_t id = 0; id < size; id++) {
        if (row->holds(check, (uint32_t)id))
            continue;
        if (count < most)
            ret[count] = (uint32_t)id;
        count++;
    }
    return count;
}

static void verify_row(const struct check *check, size_t index, uint32_t *ids, size_t most,
                       struct argus_verification *verification)
{
    const struct invariant *row = &invariants[index];
    size_t room = most - verification->example_count;
    uint64_t count = count_violations(check, row, ids, room);
    verification->invariants[index] = (struct argus_invariant){
        .name = row->name,
        .description = row->description,
        .checked = domain_size(check, row->domain),
        .violations = count,
    };
    verification->violations += count;
    for (size_t i = 0; i < count && i < room; i++) {
        struct argus_violation *example = &verification->examples[verification->example_count++];
        example->invariant = (uint32_t)index;
        describe(check, row, ids[i], example->text, sizeof(example->text));
    }
}

struct argus_error *argus_graph_verify(const struct argus_graph *graph, size_t most_examples,
                                       struct argus_verification *ret)
{
    struct check check;
    *ret = (struct argus_verification){
        .invariants = calloc(INVARIANTS, sizeof(*ret->invariants)),
        .invariant_count = INVARIANTS,
        .examples = calloc(most_examples + 1, sizeof(*ret->examples)),
        .vertices = graph->vertices.length,
        .edges = graph->edges.length,
    };
    uint32_t *ids = calloc(most_examples + 1, sizeof(*ids));
    bool ready = ret->invariants && ret->examples && ids && check_begin(&check, graph);
    for (size_t i = 0; ready && i < INVARIANTS; i++)
        verify_row(&check, i, ids, most_examples, ret);
    free(ids);
    if (ready) {
        free(check.made);
        return NULL;
    }
    argus_verification_deinit(ret);
    return argus_error_memory();
}

void argus_verification_deinit(struct argus_verification *verification)
{
    free(verification->invariants);
    free(verification->examples);
    *verification = (struct argus_verification){0};
}

const char *graph_check(const struct argus_graph *graph, char *buffer, size_t buffer_bytes)
{
    struct argus_verification verification;
    struct argus_error *error = argus_graph_verify(graph, 1, &verification);
    if (error) {
        snprintf(buffer, buffer_bytes, "not checked: %s", error->message);
        argus_error_destroy(error);
        return buffer;
    }
    bool right = verification.violations == 0;
    if (!right)
        snprintf(buffer, buffer_bytes, "%s", verification.examples[0].text);
    argus_verification_deinit(&verification);
    return right ? NULL : buffer;
}
