/* Over-connection: a vertex that serves several peers one after the other is several vertices.
 *
 * A server that finds two requests in one turn of its loop answers both in one vertex: without a split, the answer to the
 * one would seem to be caused by the request of the other (paper, sections 3.1 and 4.2). So messages are looked at in the
 * order of their records, and a vertex is cut between two consecutive ones whose *peer sets* have nothing in common. A
 * peer set has at most two processes:
 *
 *   - the direct peer: the process at the other end, unless it is the thread's own;
 *   - the beneficiary: the process that the message is on behalf of, as far as that is known.
 *
 * Darwin's vouchers say who the beneficiary is; then two sends to one process that are for different requests are split as well.
 * Otherwise it travels with the messages. A thread acts for the process whose request it received last, or for the one
 * that this process acted for when it sent that; until then, and again when it has come back to its event loop (a wait in
 * poll or sleep, a callback's begin), for its own process. The thread goes on acting for the same one behind other
 * waits, since these lie within its work. What it sends is
 *
 *   - an answer, when the receiver is a *client*, whose request it has received in this vertex: on behalf of whom that
 *     request was. A client is who sent first; a process that the thread had sent to first is a *server* of its;
 *   - an answer as well, when the receiver was the beneficiary of such a request: on behalf of the receiver;
 *   - otherwise a request, on behalf of whose request in this vertex waits longest to be acted on: a broker reads several in one
 *     turn, and then sends them on in this order. That is likely, but not sure, so the edge from there is weak. When no request
 *     waits, it is on behalf of whom the thread acts for now.
 *
 *     receives from A  {A}   | sends to database, for A  {database, A} | receives from database, for A | sends to A  {A}
 *                            one vertex: each has A in common with the one before
 *     receives from A  {A}  CUT  receives from B  {B}  CUT  sends to A  {A}  CUT  sends to B  {B}
 *
 * Within a known batching loop (patterns.def, BATCHES, in the call stack of the wait that ends the vertex) every receive
 * behind a send begins the next item, also of the same peer, unless it is the answer to a request in this vertex.
 *
 * The edge between two pieces is the sequence edge, weak, named after the rule of the split. A piece that begins with
 * an answer has a strong edge from the piece that received the request (dispatch.request).
 *
 * What is unknown: a message without a pair has no peer and is passed over. Who was client and who server before the trace
 * began is guessed from the first message. A thread that works on several requests at once between two waits may act for
 * another one than is thought: then a cut is missing, or one too many, with a weak edge over it.
 */
#include "graph/rules/split.h"

#include "graph/build/builder.h"
#include "graph/build/talk.h"
#include "graph/patterns.h"
#include "graph/rules/voucher.h"

/* Processes that a thread remembers, the last ones that it had messages with. */
#define MOST_PEERS 16

struct peer {
    uint32_t process;
    uint32_t acts_for; /* when it sent its last request */
    uint32_t vertex;   /* in which that was received; ARGUS_NONE: never */
    uint32_t request;  /* the talk */
    bool acted_on;     /* something has been sent on behalf of that request */
    bool serves;       /* the thread sent first */
    bool asked;        /* and waits for an answer */
};

/* What one thread has talked about. */
struct company {
    struct peer peers[MOST_PEERS]; /* the latest first */
    uint32_t count;
    uint32_t vertex;   /* of its last message; ARGUS_NONE: none yet */
    uint32_t acts_for; /* process */
    uint32_t set[2];   /* of the last message in `vertex`; ARGUS_NONE: none */
    uint32_t behalf;   /* whom its voucher names; ARGUS_NONE: it does not */
    bool sent;         /* the last message was a send */
};

struct splitter {
    struct builder *builder;
    struct argus_graph *graph;
    struct company *companies; /* owned; by thread; made when first needed */
    uint32_t *company_of;      /* owned; by thread, ARGUS_NONE */
    size_t company_count, company_capacity;
    struct patterns patterns;
    struct cuts cuts;
};

static uint32_t process_of(const struct splitter *splitter, uint32_t thread)
{
    return splitter->graph->machine.threads.data[thread].process;
}

uint32_t split_vertex_of(const struct argus_graph *graph, const uint32_t *new_id,
                         const struct talk *talk)
{
    uint32_t id = new_id[talk->slot];
    if (id < graph->vertices.length && graph->vertices.data[id].start_ns <= talk->time_ns &&
        talk->time_ns <= graph->vertices.data[id].end_ns)
        return graph->vertices.data[id].repeat == 1 ? id : ARGUS_NONE;
    id = graph_vertex_started(graph, talk->thread, talk->time_ns);
    bool inside = id != ARGUS_NONE && graph->vertices.data[id].start_ns <= talk->time_ns &&
                  talk->time_ns <= graph->vertices.data[id].end_ns;
    return inside && graph->vertices.data[id].repeat == 1 ? id : ARGUS_NONE;
}

static struct company *company_for(struct splitter *splitter, uint32_t thread)
{
    uint32_t *index = &splitter->company_of[thread];
    if (*index == ARGUS_NONE) {
        if (!vec_grow((void **)&splitter->companies, &splitter->company_capacity,
                      splitter->company_count, 1, sizeof(*splitter->companies)))
            return NULL;
        *index = (uint32_t)splitter->company_count++;
        splitter->companies[*index] = (struct company){
            .vertex = ARGUS_NONE,
            .acts_for = process_of(splitter, thread),
            .set = {ARGUS_NONE, ARGUS_NONE},
            .behalf = ARGUS_NONE,
        };
    }
    return &splitter->companies[*index];
}

/* Whether a thread comes back to its event loop between two of its vertices. */
static bool comes_home(const struct argus_graph *graph, uint32_t from, uint32_t to)
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

static void enter_vertex(const struct splitter *splitter, struct company *company, uint32_t vertex)
{
    if (company->vertex == vertex)
        return;
    if (company->vertex != ARGUS_NONE && comes_home(splitter->graph, company->vertex, vertex))
        company->acts_for = process_of(splitter, splitter->graph->vertices.data[vertex].thread);
    company->vertex = vertex;
    company->set[0] = company->set[1] = company->behalf = ARGUS_NONE;
}

static struct peer *find_peer(struct company *company, uint32_t process)
{
    for (uint32_t i = 0; i < company->count; i++)
        if (company->peers[i].process == process)
            return &company->peers[i];
    return NULL;
}

/* The peer, first in the list from now on; made when it is new. */
static struct peer *use_peer(struct company *company, uint32_t process, bool sends)
{
    const struct peer *found = find_peer(company, process);
    struct peer peer = {
        .process = process, .acts_for = process, .vertex = ARGUS_NONE, .serves = sends};
    uint32_t at = found ? (uint32_t)(found - company->peers) : company->count;
    if (found)
        peer = *found;
    else if (company->count == MOST_PEERS) /* the one that was used longest ago is forgotten */
        at--;
    else
        company->count++;
    for (; at > 0; at--)
        company->peers[at] = company->peers[at - 1];
    company->peers[0] = peer;
    return &company->peers[0];
}

/* One whose request in this vertex was on behalf of `process`. */
static const struct peer *find_behalf(const struct company *company, uint32_t process)
{
    for (uint32_t i = 0; i < company->count; i++)
        if (company->peers[i].vertex == company->vertex && company->peers[i].acts_for == process)
            return &company->peers[i];
    return NULL;
}

/* What one message tells: its peer set, and which request it answers. */
struct news {
    uint32_t set[2];
    uint32_t request;   /* talk, or ARGUS_NONE */
    bool is_likely;     /* `request` is likely, but not sure */
    bool is_asked_for;  /* a receive: the answer to a request of the thread's */
    bool other_request; /* by its voucher it is for another request than the message before */
};

static void receive(const struct splitter *splitter, struct company *company, uint32_t index,
                    struct news *ret)
{
    struct talk *talk = &splitter->builder->talks->all.data[index];
    const struct talk *sent = &splitter->builder->talks->all.data[talk->partner];
    uint32_t self = process_of(splitter, talk->thread);
    uint32_t from = process_of(splitter, sent->thread);
    uint32_t acts_for = sent->acts_for != ARGUS_NONE ? sent->acts_for : from;
    acts_for = talk->behalf != ARGUS_NONE ? talk->behalf : acts_for;
    company->acts_for = acts_for;
    ret->set[0] = from == self ? acts_for : from;
    ret->set[1] = acts_for;
    if (from == self)
        return;
    struct peer *peer = use_peer(company, from, false);
    ret->is_asked_for = peer->asked;
    peer->acted_on = peer->asked;
    peer->asked = false;
    peer->acts_for = acts_for;
    peer->vertex = company->vertex;
    peer->request = index;
}

/* Whose request in this vertex has waited longest to be acted on; NULL: nobody's. The latest used are first in the list. */
static const struct peer *find_waiting(const struct company *company)
{
    for (uint32_t i = company->count; i > 0; i--) {
        const struct peer *peer = &company->peers[i - 1];
        if (peer->vertex == company->vertex && !peer->acted_on && !peer->serves)
            return peer;
    }
    return NULL;
}

/* Something is sent on behalf of `process`. */
static void act_on(struct company *company, uint32_t process)
{
    for (uint32_t i = 0; i < company->count; i++)
        if (company->peers[i].vertex == company->vertex && company->peers[i].acts_for == process)
            company->peers[i].acted_on = true;
}

static void request(struct company *company, struct talk *talk, struct news *ret)
{
    const struct peer *waiting = find_waiting(company);
    company->peers[0].asked = true;
    if (!waiting)
        return;
    ret->set[1] = talk->acts_for = waiting->acts_for;
    ret->request = waiting->request;
    ret->is_likely = true;
}

/* Whatever was thought: its voucher says on whose behalf a message is sent, and so which request it is for. */
static void believe_voucher(const struct company *company, struct talk *talk, struct news *ret)
{
    const struct peer *asked = find_behalf(company, talk->behalf);
    bool answers = ret->request != ARGUS_NONE && !ret->is_likely;
    ret->set[1] = talk->acts_for = talk->behalf;
    if (answers)
        return;
    ret->request = asked ? asked->request : ARGUS_NONE;
    ret->is_likely = false;
    ret->other_request = asked && company->behalf != ARGUS_NONE && company->behalf != talk->behalf;
}

static void send(const struct splitter *splitter, struct company *company, uint32_t index,
                 struct news *ret)
{
    struct talk *talk = &splitter->builder->talks->all.data[index];
    uint32_t self = process_of(splitter, talk->thread);
    uint32_t to = process_of(splitter, splitter->builder->talks->all.data[talk->partner].thread);
    if (talk->behalf != ARGUS_NONE)
        company->acts_for = talk->behalf;
    talk->acts_for = company->acts_for;
    ret->set[0] = to == self ? company->acts_for : to;
    ret->set[1] = company->acts_for;
    if (to == self)
        return;
    struct peer *peer = use_peer(company, to, true);
    const struct peer *behalf = find_behalf(company, to);
    if (peer->vertex == company->vertex && !peer->serves) {
        ret->set[1] = talk->acts_for = peer->acts_for;
        ret->request = peer->request;
    } else if (behalf) {
        ret->set[1] = talk->acts_for = to;
        ret->request = behalf->request;
    } else {
        request(company, talk, ret);
    }
    if (talk->behalf != ARGUS_NONE)
        believe_voucher(company, talk, ret);
    act_on(company, talk->acts_for);
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

/* By which rule the vertex is to be cut before the message; 0: it is not. */
static uint32_t cut_flag(struct splitter *splitter, const struct company *company,
                         const struct talk *talk, const struct news *news)
{
    if (company->set[0] == ARGUS_NONE || !talk->cut_ns)
        return 0;
    if (is_disjoint(company->set, news->set) || news->other_request)
        return ARGUS_VERTEX_PEERS;
    bool next_item = talk->receives && company->sent && !news->is_asked_for;
    return next_item && is_batch(splitter, company->vertex) ? ARGUS_VERTEX_BATCHED : 0;
}

/* The edge from the piece that received the request to the one that begins with its answer. */
static bool add_request_edge(struct splitter *splitter, const struct talk *answer,
                             const struct news *news)
{
    const struct talk *asked = &splitter->builder->talks->all.data[news->request];
    struct argus_edge edge = {
        .from_ns = asked->time_ns,
        .to_ns = answer->cut_ns,
        .from = asked->slot,
        .to = answer->slot,
        .kind = ARGUS_EDGE_DISPATCH,
        .strong = !news->is_likely,
        .rule = RULE_DISPATCH_REQUEST,
        .stack = ARGUS_NONE,
    };
    return builder_add_edge(splitter->builder, &edge);
}

static bool look_at(struct splitter *splitter, const uint32_t *new_id, uint32_t index)
{
    struct talk *talk = &splitter->builder->talks->all.data[index];
    uint32_t vertex =
        talk->partner == ARGUS_NONE ? ARGUS_NONE : split_vertex_of(splitter->graph, new_id, talk);
    if (vertex == ARGUS_NONE)
        return true;
    struct company *company = company_for(splitter, talk->thread);
    if (!company)
        return false;
    struct news news = {.request = ARGUS_NONE};
    enter_vertex(splitter, company, vertex);
    if (talk->receives)
        receive(splitter, company, index, &news);
    else
        send(splitter, company, index, &news);
    uint32_t flag = cut_flag(splitter, company, talk, &news);
    company->set[0] = news.set[0];
    company->set[1] = news.set[1];
    company->behalf = talk->behalf;
    company->sent = !talk->receives;
    if (!flag)
        return true;
    struct cut cut = {.vertex = vertex, .talk = index, .flag = flag};
    return vec_push(&splitter->cuts.cuts, cut) &&
           (news.request == ARGUS_NONE || add_request_edge(splitter, talk, &news));
}

/* The process with id `pid` at that time; ARGUS_NONE: none is known. `last`: id → the last process with it. */
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

/* Processes have their final numbers only now. */
static bool find_beneficiaries(struct builder *builder)
{
    struct idmap last = {0};
    const struct argus_graph *graph = builder->graph;
    bool done = true;
    for (size_t i = 0;
         done && vouchers_seen(builder->vouchers) && i < graph->machine.processes.length; i++)
        done = idmap_put(&last, graph->machine.processes.data[i].pid, (uint32_t)i);
    for (size_t i = 0; i < builder->talks->all.length; i++) {
        struct talk *talk = &builder->talks->all.data[i];
        talk->behalf =
            talk->behalf ? process_with(graph, &last, talk->behalf, talk->time_ns) : ARGUS_NONE;
    }
    idmap_deinit(&last);
    return done;
}

bool rule_split(struct builder *builder, uint32_t *new_id, size_t slots)
{
    struct splitter splitter = {
        .builder = builder, .graph = builder->graph, .patterns = {.graph = builder->graph}};
    size_t threads = builder->graph->machine.threads.length;
    splitter.company_of = malloc((threads + 1) * sizeof(*splitter.company_of));
    bool done = splitter.company_of && find_beneficiaries(builder);
    for (size_t i = 0; done && i < threads; i++)
        splitter.company_of[i] = ARGUS_NONE;
    for (size_t i = 0; done && i < builder->talks->all.length; i++)
        done = look_at(&splitter, new_id, (uint32_t)i);
    done = done && rule_cut_calls(builder, new_id, &splitter.cuts);
    done =
        done && !splitter.patterns.no_memory && pieces_make(builder, &splitter.cuts, new_id, slots);
    patterns_deinit(&splitter.patterns);
    free(splitter.companies);
    free(splitter.company_of);
    vec_deinit(&splitter.cuts.cuts);
    vec_deinit(&builder->talks->all);
    return done;
}
