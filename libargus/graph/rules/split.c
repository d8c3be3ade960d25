/* Over-connection: a vertex that serves several peers one after the other becomes several vertices.
 *
 * A server that finds two requests in one turn of its loop answers both in one vertex. Without a
 * split, the answer to one request would seem to be caused by the other request (paper, sections
 * 3.1 and 4.2). So messages are examined in the order of their records, and a vertex is cut between
 * two consecutive messages whose *peer sets* have nothing in common. A peer set has at most two
 * processes:
 *
 * - the direct peer: the process at the other end, unless it is the thread's own process;
 * - the beneficiary: the process that the message is on behalf of, if it is known.
 *
 * Darwin's vouchers name the beneficiary. With them, two sends to one process are split as well if
 * they are for different requests.
 *
 * Otherwise the beneficiary is passed on from message to message. A thread acts for the process
 * whose request it received last, or, if that process acted for another one when it sent the
 * request, for that one. Before its first request, and after it has returned to its event loop (a
 * wait in poll or sleep, or the begin of a callback), it acts for its own process. Other waits lie
 * within its work and change nothing. A message that it sends is
 *
 * - an answer, if the receiver is a *client* whose request was received in this vertex. It is on
 *   behalf of the beneficiary of that request. A process that sends first is a client; a process
 *   that this thread sent to first is one of its *servers*;
 * - also an answer, if the receiver was the beneficiary of such a request. It is on behalf of the
 *   receiver;
 * - otherwise a request. It is on behalf of the request in this vertex that has waited longest to
 *   be acted on: a broker reads several requests in one turn, and then sends them on in this order.
 *   That is likely but not certain, so the edge from there is weak. If no request waits, it is on
 *   behalf of the process that the thread acts for.
 *
 * Example:
 *
 *   receives from A                {A}
 *   sends to database, for A       {database, A}   one vertex: each message has A in common
 *   receives from database, for A  {database, A}   with the one before
 *   sends to A                     {A}
 *
 *   receives from A  {A}  CUT  receives from B  {B}  CUT  sends to A  {A}  CUT  sends to B  {B}
 *
 * In a known batching loop (patterns.def, BATCHES, in the call stack of the wait that ends the
 * vertex), every receive after a send begins the next item, even from the same peer, unless it is
 * the answer to a request in this vertex.
 *
 * The edge between two pieces is the sequence edge; it is weak and has the name of the rule that
 * split the vertex. A piece that begins with an answer has a strong edge from the piece that
 * received the request (dispatch.request).
 *
 * Limits: a message without a pair has no known peer and is skipped. Which process was client and
 * which server before the trace began is guessed from the first message. If a thread works on
 * several requests at once between two waits, it may act for another one than assumed; then a cut
 * is missing, or there is one too many, with a weak edge across it.
 */
#include "graph/rules/split.h"

#include "graph/build/builder.h"
#include "graph/build/cut_points.h"
#include "graph/patterns.h"
#include "graph/rules/voucher.h"

/* A thread remembers so many processes: those with which it exchanged the latest messages. */
#define MOST_PEERS 16

struct peer {
    uint32_t process;
    uint32_t acts_for; /* the process that it acted for when it sent its last request */
    uint32_t vertex;   /* in which that request was received; ARGUS_NONE: never */
    uint32_t request;  /* cut point of that request */
    bool acted_on;     /* something has been sent on behalf of that request */
    bool serves;       /* it is a server: the thread sent to it first */
    bool asked;        /* the thread waits for an answer from it */
};

/* What one thread has exchanged messages about. */
struct peer_state {
    struct peer peers[MOST_PEERS]; /* most recently used first */
    uint32_t count;
    uint32_t vertex;   /* of the thread's last message; ARGUS_NONE: none yet */
    uint32_t acts_for; /* the process that the thread acts for */
    uint32_t set[2];   /* peer set of the last message in `vertex`; ARGUS_NONE: none */
    uint32_t behalf;   /* the process that the last message's voucher names; ARGUS_NONE: none */
    bool sent;         /* the last message was a send */
};

struct splitter {
    struct builder *builder;
    struct argus_graph *graph;
    struct peer_state *states; /* owned; created when a thread first needs one */
    uint32_t *state_of;        /* owned; index into `states` by thread, or ARGUS_NONE */
    size_t state_count, state_capacity;
    struct patterns patterns;
    struct cuts cuts;
};

static uint32_t process_of(const struct splitter *splitter, uint32_t thread)
{
    return splitter->graph->machine.threads.data[thread].process;
}

uint32_t split_vertex_of(const struct argus_graph *graph, const uint32_t *new_id,
                         const struct cut_point *point)
{
    uint32_t id = new_id[point->slot];
    if (id < graph->vertices.length && graph->vertices.data[id].start_ns <= point->time_ns &&
        point->time_ns <= graph->vertices.data[id].end_ns)
        return graph->vertices.data[id].repeat == 1 ? id : ARGUS_NONE;
    id = graph_vertex_started(graph, point->thread, point->time_ns);
    bool inside = id != ARGUS_NONE && graph->vertices.data[id].start_ns <= point->time_ns &&
                  point->time_ns <= graph->vertices.data[id].end_ns;
    return inside && graph->vertices.data[id].repeat == 1 ? id : ARGUS_NONE;
}

static struct peer_state *state_for(struct splitter *splitter, uint32_t thread)
{
    uint32_t *index = &splitter->state_of[thread];
    if (*index == ARGUS_NONE) {
        if (!vec_grow((void **)&splitter->states, &splitter->state_capacity, splitter->state_count,
                      1, sizeof(*splitter->states)))
            return NULL;
        *index = (uint32_t)splitter->state_count++;
        splitter->states[*index] = (struct peer_state){
            .vertex = ARGUS_NONE,
            .acts_for = process_of(splitter, thread),
            .set = {ARGUS_NONE, ARGUS_NONE},
            .behalf = ARGUS_NONE,
        };
    }
    return &splitter->states[*index];
}

/* Whether the thread returns to its event loop between two of its vertices. */
static bool returns_to_loop(const struct argus_graph *graph, uint32_t from, uint32_t to)
{
    for (uint32_t v = from; v < to; v++) {
        uint8_t wait = graph->vertices.data[v].wait.kind;
        uint32_t flags = graph->vertices.data[v + 1].flags;
        bool begins = (flags & ARGUS_VERTEX_SPLIT) && !(flags & ARGUS_VERTEX_CONTINUES);
        if (wait == ARGUS_WAIT_POLL || wait == ARGUS_WAIT_SLEEP || begins)
            return true;
    }
    return false;
}

static void enter_vertex(const struct splitter *splitter, struct peer_state *state, uint32_t vertex)
{
    if (state->vertex == vertex)
        return;
    if (state->vertex != ARGUS_NONE && returns_to_loop(splitter->graph, state->vertex, vertex))
        state->acts_for = process_of(splitter, splitter->graph->vertices.data[vertex].thread);
    state->vertex = vertex;
    state->set[0] = state->set[1] = state->behalf = ARGUS_NONE;
}

static struct peer *find_peer(struct peer_state *state, uint32_t process)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->peers[i].process == process)
            return &state->peers[i];
    return NULL;
}

/* Finds or adds the peer, and moves it to the front of the list. */
static struct peer *use_peer(struct peer_state *state, uint32_t process, bool sends)
{
    const struct peer *found = find_peer(state, process);
    struct peer peer = {
        .process = process, .acts_for = process, .vertex = ARGUS_NONE, .serves = sends};
    uint32_t at = found ? (uint32_t)(found - state->peers) : state->count;
    if (found)
        peer = *found;
    else if (state->count == MOST_PEERS) /* drop the least recently used one */
        at--;
    else
        state->count++;
    for (; at > 0; at--)
        state->peers[at] = state->peers[at - 1];
    state->peers[0] = peer;
    return &state->peers[0];
}

/* A peer whose request in this vertex was on behalf of `process`; NULL: none. */
static const struct peer *find_behalf(const struct peer_state *state, uint32_t process)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->peers[i].vertex == state->vertex && state->peers[i].acts_for == process)
            return &state->peers[i];
    return NULL;
}

/* What one message tells: its peer set, and the request that it answers. */
struct message_facts {
    uint32_t set[2];
    uint32_t request; /* cut point of the request, or ARGUS_NONE */
    bool is_likely;   /* `request` is likely but not certain */
    /* of a receive: it answers a request of this thread */
    bool is_asked_for;
    /* its voucher says that it is for another request than the previous message */
    bool other_request;
};

static void receive(const struct splitter *splitter, struct peer_state *state, uint32_t index,
                    struct message_facts *ret)
{
    struct cut_point *point = &splitter->builder->cut_points->all.data[index];
    const struct cut_point *sent = &splitter->builder->cut_points->all.data[point->partner];
    uint32_t self = process_of(splitter, point->thread);
    uint32_t from = process_of(splitter, sent->thread);
    uint32_t acts_for = sent->acts_for != ARGUS_NONE ? sent->acts_for : from;
    acts_for = point->behalf != ARGUS_NONE ? point->behalf : acts_for;
    state->acts_for = acts_for;
    ret->set[0] = from == self ? acts_for : from;
    ret->set[1] = acts_for;
    if (from == self)
        return;
    struct peer *peer = use_peer(state, from, false);
    ret->is_asked_for = peer->asked;
    peer->acted_on = peer->asked;
    peer->asked = false;
    peer->acts_for = acts_for;
    peer->vertex = state->vertex;
    peer->request = index;
}

/* The peer whose request in this vertex has waited longest to be acted on; NULL: none. The most
 * recently used peers are first in the list. */
static const struct peer *find_waiting(const struct peer_state *state)
{
    for (uint32_t i = state->count; i > 0; i--) {
        const struct peer *peer = &state->peers[i - 1];
        if (peer->vertex == state->vertex && !peer->acted_on && !peer->serves)
            return peer;
    }
    return NULL;
}

/* Marks the requests on behalf of `process` as acted on. */
static void act_on(struct peer_state *state, uint32_t process)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->peers[i].vertex == state->vertex && state->peers[i].acts_for == process)
            state->peers[i].acted_on = true;
}

static void request(struct peer_state *state, struct cut_point *point, struct message_facts *ret)
{
    const struct peer *waiting = find_waiting(state);
    state->peers[0].asked = true;
    if (!waiting)
        return;
    ret->set[1] = point->acts_for = waiting->acts_for;
    ret->request = waiting->request;
    ret->is_likely = true;
}

/* A voucher overrides what was inferred: it names the process on whose behalf the message is sent,
 * and so the request that the message is for. */
static void apply_voucher(const struct peer_state *state, struct cut_point *point,
                          struct message_facts *ret)
{
    const struct peer *asked = find_behalf(state, point->behalf);
    bool answers = ret->request != ARGUS_NONE && !ret->is_likely;
    ret->set[1] = point->acts_for = point->behalf;
    if (answers)
        return;
    ret->request = asked ? asked->request : ARGUS_NONE;
    ret->is_likely = false;
    ret->other_request = asked && state->behalf != ARGUS_NONE && state->behalf != point->behalf;
}

static void send(const struct splitter *splitter, struct peer_state *state, uint32_t index,
                 struct message_facts *ret)
{
    struct cut_point *point = &splitter->builder->cut_points->all.data[index];
    uint32_t self = process_of(splitter, point->thread);
    uint32_t to =
        process_of(splitter, splitter->builder->cut_points->all.data[point->partner].thread);
    if (point->behalf != ARGUS_NONE)
        state->acts_for = point->behalf;
    point->acts_for = state->acts_for;
    ret->set[0] = to == self ? state->acts_for : to;
    ret->set[1] = state->acts_for;
    if (to == self)
        return;
    struct peer *peer = use_peer(state, to, true);
    const struct peer *behalf = find_behalf(state, to);
    if (peer->vertex == state->vertex && !peer->serves) {
        ret->set[1] = point->acts_for = peer->acts_for;
        ret->request = peer->request;
    } else if (behalf) {
        ret->set[1] = point->acts_for = to;
        ret->request = behalf->request;
    } else {
        request(state, point, ret);
    }
    if (point->behalf != ARGUS_NONE)
        apply_voucher(state, point, ret);
    act_on(state, point->acts_for);
}

static bool is_disjoint(const uint32_t a[2], const uint32_t b[2])
{
    return a[0] != b[0] && a[0] != b[1] && a[1] != b[0] && a[1] != b[1];
}

static bool is_batch(struct splitter *splitter, uint32_t vertex)
{
    const struct argus_vertex *v = &splitter->graph->vertices.data[vertex];
    return patterns_innermost(&splitter->patterns, v->wait.user_stack, v->thread, v->end_ns,
                              PATTERN_BATCHES);
}

/* The rule by which the vertex is to be cut before the message, as a vertex flag; 0: no cut. */
static uint32_t cut_flag(struct splitter *splitter, const struct peer_state *state,
                         const struct cut_point *point, const struct message_facts *facts)
{
    if (state->set[0] == ARGUS_NONE || !point->cut_ns)
        return 0;
    if (is_disjoint(state->set, facts->set) || facts->other_request)
        return ARGUS_VERTEX_PEERS;
    bool next_item = point->receives && state->sent && !facts->is_asked_for;
    return next_item && is_batch(splitter, state->vertex) ? ARGUS_VERTEX_BATCHED : 0;
}

/* Adds the edge from the piece that received the request to the piece that begins with its
 * answer. */
static bool add_request_edge(struct splitter *splitter, const struct cut_point *answer,
                             const struct message_facts *facts)
{
    const struct cut_point *asked = &splitter->builder->cut_points->all.data[facts->request];
    struct argus_edge edge = {
        .from_ns = asked->time_ns,
        .to_ns = answer->cut_ns,
        .from = asked->slot,
        .to = answer->slot,
        .kind = ARGUS_EDGE_DISPATCH,
        .strong = !facts->is_likely,
        .rule = RULE_DISPATCH_REQUEST,
        .stack = ARGUS_NONE,
    };
    return builder_add_edge(splitter->builder, &edge);
}

static bool handle_message(struct splitter *splitter, const uint32_t *new_id, uint32_t index)
{
    struct cut_point *point = &splitter->builder->cut_points->all.data[index];
    uint32_t vertex =
        point->partner == ARGUS_NONE ? ARGUS_NONE : split_vertex_of(splitter->graph, new_id, point);
    if (vertex == ARGUS_NONE)
        return true;
    struct peer_state *state = state_for(splitter, point->thread);
    if (!state)
        return false;
    struct message_facts facts = {.request = ARGUS_NONE};
    enter_vertex(splitter, state, vertex);
    if (point->receives)
        receive(splitter, state, index, &facts);
    else
        send(splitter, state, index, &facts);
    uint32_t flag = cut_flag(splitter, state, point, &facts);
    state->set[0] = facts.set[0];
    state->set[1] = facts.set[1];
    state->behalf = point->behalf;
    state->sent = !point->receives;
    if (!flag)
        return true;
    struct cut cut = {.vertex = vertex, .point = index, .flag = flag};
    return vec_push(&splitter->cuts.cuts, cut) &&
           (facts.request == ARGUS_NONE || add_request_edge(splitter, point, &facts));
}

/* The process with the id `pid` at that time; ARGUS_NONE: not known. `last`: id → the last process
 * that had it. */
static uint32_t process_with(const struct argus_graph *graph, const struct idmap *last,
                             uint32_t pid, uint64_t time_ns)
{
    const struct argus_process *processes = graph->machine.processes.data;
    uint32_t process = idmap_get(last, pid);
    while (process != IDMAP_NONE && processes[process].start_ns > time_ns) {
        while (process > 0 && processes[process - 1].pid != pid)
            process--;
        process = process ? process - 1 : IDMAP_NONE;
    }
    return process == IDMAP_NONE ? ARGUS_NONE : process;
}

/* Replaces pids by process indices, which are final only now. */
static bool find_beneficiaries(struct builder *builder)
{
    struct idmap last = {0};
    const struct argus_graph *graph = builder->graph;
    bool done = true;
    for (size_t i = 0;
         done && vouchers_seen(builder->vouchers) && i < graph->machine.processes.length; i++)
        done = idmap_put(&last, graph->machine.processes.data[i].pid, (uint32_t)i);
    for (size_t i = 0; i < builder->cut_points->all.length; i++) {
        struct cut_point *point = &builder->cut_points->all.data[i];
        point->behalf =
            point->behalf ? process_with(graph, &last, point->behalf, point->time_ns) : ARGUS_NONE;
    }
    idmap_deinit(&last);
    return done;
}

bool rule_split(struct builder *builder, uint32_t *new_id, size_t slots)
{
    struct splitter splitter = {
        .builder = builder, .graph = builder->graph, .patterns = {.graph = builder->graph}};
    size_t threads = builder->graph->machine.threads.length;
    splitter.state_of = malloc((threads + 1) * sizeof(*splitter.state_of));
    bool done = splitter.state_of && find_beneficiaries(builder);
    for (size_t i = 0; done && i < threads; i++)
        splitter.state_of[i] = ARGUS_NONE;
    for (size_t i = 0; done && i < builder->cut_points->all.length; i++)
        done = handle_message(&splitter, new_id, (uint32_t)i);
    done = done && rule_cut_calls(builder, new_id, &splitter.cuts);
    done =
        done && !splitter.patterns.no_memory && pieces_make(builder, &splitter.cuts, new_id, slots);
    patterns_deinit(&splitter.patterns);
    free(splitter.states);
    free(splitter.state_of);
    vec_deinit(&splitter.cuts.cuts);
    vec_deinit(&builder->cut_points->all);
    return done;
}
